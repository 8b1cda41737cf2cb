//! `context.*`: controls automatic context, which is code that Strata adds to questions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::key::FileKey;
use strata_code::excerpts::ExcerptReason;
use strata_conversation::selection::LineRange;
use strata_prompt::assembly::PromptRequest;
use strata_prompt::excerpts::ExcerptStanding;
use strata_prompt::layout::ExcerptKey;
use strata_prompt::settings::ContextSettings;

use super::{Access, Command, CommandError, Context, IndexNeed, NoArguments};
use crate::model::workspace_context::system_context;

/// Excerpts that a command applies to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExcerptParams {
    /// Definitions (`src/a.py#Session.send`) or lines (`src/a.py#L10-40`), named as in the reply to
    /// `strata.prompt.assemble`.
    excerpts: Vec<String>,
}

/// The excerpts that a command changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExcerptChange {
    /// Names of the changed excerpts.
    changed: Vec<ExcerptKey>,
}

/// Token limit of automatic context to set for this session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AutoParams {
    /// Token limit for code to add to each question. 0 turns automatic context off. If absent, automatic context is
    /// turned off if it is on, and otherwise set to the setting `context.auto_budget`, or to 6,000 tokens if that is 0.
    budget: Option<usize>,
}

/// The new token limit of automatic context.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AutoReply {
    /// Token limit for code to add to each question. 0 means that automatic context is off.
    budget: usize,
    /// The new limit, as a sentence for the user.
    message: String,
}

/// The question to list excerpts for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ListParams {
    /// Question to select excerpts for. Defaults to the last prompt.
    prompt: Option<String>,
    /// Token limit for code to select. Defaults to the session's limit, or else to the setting `context.auto_budget`.
    auto_budget: Option<usize>,
}

/// The excerpts in the context of a session, and those that were dismissed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExcerptList {
    /// Token limit for code that could be selected for the question. 0 means that automatic context is off.
    auto_budget: usize,
    /// Pinned excerpts, then those selected for the question (best first), then those kept from earlier questions.
    excerpts: Vec<ListedExcerpt>,
    /// Dismissed excerpts, which are not suggested again.
    dismissed: Vec<ExcerptKey>,
}

/// An excerpt, and why it is in the prompt.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedExcerpt {
    /// Name of the excerpt, in the form that `strata.context.pin` accepts.
    excerpt: ExcerptKey,
    /// Path of the file, relative to the workspace folder.
    path: FileKey,
    /// URI of the file. Absent if no editor could open it.
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    /// Current line range of the excerpt. Absent if its code no longer exists in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<LineRange>,
    /// Why Strata selected the excerpt. Absent if the user pinned an excerpt that Strata had not selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<ExcerptReason>,
    /// Why the excerpt is in the prompt: pinned, or chosen for the last or an earlier question.
    standing: ExcerptStanding,
    /// Number of tokens in the excerpt.
    tokens: usize,
}

pub(super) struct PinExcerpts;

impl Command for PinExcerpts {
    const NAME: &str = "strata.context.pin";
    const SUMMARY: &str = "Pins excerpts, so that every prompt contains them.";
    type Args = ExcerptParams;
    type Reply = ExcerptChange;

    fn run(params: ExcerptParams, context: &mut Context<'_>) -> Result<ExcerptChange, CommandError> {
        change_excerpts(&params, context, |context, key| {
            context.session.excerpts.pin(key);
            true
        })
    }
}

pub(super) struct UnpinExcerpts;

impl Command for UnpinExcerpts {
    const NAME: &str = "strata.context.unpin";
    const SUMMARY: &str = "Unpins excerpts.";
    type Args = ExcerptParams;
    type Reply = ExcerptChange;

    fn run(params: ExcerptParams, context: &mut Context<'_>) -> Result<ExcerptChange, CommandError> {
        change_excerpts(&params, context, |context, key| context.session.excerpts.pinned.remove(&key))
    }
}

pub(super) struct DismissExcerpts;

impl Command for DismissExcerpts {
    const NAME: &str = "strata.context.dismiss";
    const SUMMARY: &str = "Removes excerpts from prompts and stops suggesting them in this session.";
    type Args = ExcerptParams;
    type Reply = ExcerptChange;

    fn run(params: ExcerptParams, context: &mut Context<'_>) -> Result<ExcerptChange, CommandError> {
        change_excerpts(&params, context, |context, key| {
            context.session.excerpts.dismiss(key);
            true
        })
    }
}

pub(super) struct RestoreExcerpts;

impl Command for RestoreExcerpts {
    const NAME: &str = "strata.context.restore";
    const SUMMARY: &str = "Suggests dismissed excerpts again.";
    type Args = NoArguments;
    type Reply = ExcerptChange;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<ExcerptChange, CommandError> {
        let changed: Vec<ExcerptKey> = context.session.excerpts.dismissed.iter().cloned().collect();
        if !std::mem::take(&mut context.session.excerpts.dismissed).is_empty() {
            context.session.mark_changed();
        }
        Ok(ExcerptChange { changed })
    }
}

pub(super) struct SetAutoBudget;

impl Command for SetAutoBudget {
    const NAME: &str = "strata.context.auto";
    const SUMMARY: &str = "Sets the token limit of automatic context in this session, or toggles it.";
    const SHOWS_OUTCOME: bool = true;
    type Args = AutoParams;
    type Reply = AutoReply;

    fn run(params: AutoParams, context: &mut Context<'_>) -> Result<AutoReply, CommandError> {
        let old_budget = effective_auto_budget(context);
        let configured = context.snapshot.settings.context.auto_budget;
        let enabled_budget = if configured > 0 { configured } else { ContextSettings::AUTO_BUDGET };
        let new_budget = params.budget.unwrap_or(if old_budget > 0 { 0 } else { enabled_budget });
        context.session.auto_budget = Some(new_budget);
        context.session.mark_changed();
        let message = match new_budget {
            0 => "Automatic context is off.".to_owned(),
            tokens => format!("Automatic context is on: up to {tokens} tokens of code per question."),
        };
        Ok(AutoReply { budget: new_budget, message })
    }
}

pub(super) struct ListExcerpts;

impl Command for ListExcerpts {
    const NAME: &str = "strata.context.list";
    const SUMMARY: &str = "Lists the excerpts for a question, or those in the last prompt.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Glance;
    type Args = ListParams;
    type Reply = ExcerptList;

    fn run(params: ListParams, context: &mut Context<'_>) -> Result<ExcerptList, CommandError> {
        let next = context.session.next_request(context.now_ms);
        let auto_budget = params.auto_budget.or(next.auto_budget);
        let request = match params.prompt {
            Some(text) => PromptRequest::prompt(text).request,
            None => next.request.clone(),
        };
        let prompt_request = PromptRequest { request, auto_budget, ..next };
        let Context { snapshot, session, cancel, .. } = context;
        let symbols = snapshot.symbols(cancel)?;
        let system = system_context(snapshot, session);
        let relevance = snapshot.relevance(session, &prompt_request);
        let selection =
            snapshot.excerpts(session, &prompt_request, &symbols, relevance.as_ref(), &system, cancel)?;
        let excerpts = selection.items.into_iter().map(|item| {
            let (_, tokens) = snapshot.count_text_tokens(&item.body, prompt_request.model.as_deref());
            ListedExcerpt {
                path: item.key.file.clone(),
                uri: snapshot.editor_uri(&item.key.file),
                lines: item.lines.and_then(|lines| LineRange::new(lines.start + 1, lines.end)),
                reason: item.reason,
                standing: item.standing,
                excerpt: item.key,
                tokens,
            }
        });
        Ok(ExcerptList {
            excerpts: excerpts.collect(),
            dismissed: session.excerpts.dismissed.iter().cloned().collect(),
            auto_budget: auto_budget.unwrap_or_else(|| effective_auto_budget(context)),
        })
    }
}

/// Returns the token limit of automatic context: the session's own limit, or else the setting `context.auto_budget`.
fn effective_auto_budget(context: &Context<'_>) -> usize {
    context.session.auto_budget.unwrap_or(context.snapshot.settings.context.auto_budget)
}

fn change_excerpts(
    params: &ExcerptParams,
    context: &mut Context<'_>,
    mut change: impl FnMut(&mut Context<'_>, ExcerptKey) -> bool,
) -> Result<ExcerptChange, CommandError> {
    let mut changed = Vec::new();
    for (at, text) in params.excerpts.iter().enumerate() {
        let field = format!("excerpts[{at}]");
        let text = text.strip_prefix("excerpt:").unwrap_or(text);
        let parsed_key =
            text.parse::<ExcerptKey>().map_err(|error| CommandError::invalid(&field, &error.to_string()))?;
        let key = ExcerptKey { file: context.resolve_file(&field, parsed_key.file.as_str())?, ..parsed_key };
        if change(context, key.clone()) {
            changed.push(key);
        }
    }
    if !changed.is_empty() {
        context.session.mark_changed();
    }
    Ok(ExcerptChange { changed })
}
