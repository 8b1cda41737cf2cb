//! Assembles one prompt from a session and the texts of its files. The content is gathered, fitted into the token
//! limit, ordered, written as a request body and validated. The session is not modified: its new state is part of the
//! result and takes effect when the prompt is recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_code::document::DocumentSync;
use strata_code::symbols::MapMember;
use strata_conversation::compaction::{DROP_OLDEST_LIMIT_FACTOR, RequestSize};
use strata_conversation::providers::{self, Envelope, Format};
use strata_conversation::tool_result_archival::expected_turns;
use strata_tokens::cost::{
    CacheAccount, Prices, SentRequest, expected_reuse_price, extended_lifetime_probability,
};
use strata_tokens::models::StructureCounts;

use crate::session::Session;
use crate::tiers::ripple::tier_target;
use crate::tiers::{LayoutPreferences, LayoutReuse, LayoutRules, PolicyChoice, PolicyOutput};
use crate::wire::{self, Body, RenderedBody};

use super::excerpt_piece;
use super::fit::{self, ContentPlan, OptionalTokenCounts};
use super::gather::{self, PromptContent};
use super::measure::Measure;
use super::piece::{self, Source};
use super::reply::{
    AssembleError, AssembledPrompt, Breakpoint, Coverage, LargePart, PreparedPrompt, PromptCost, TierReport,
    TokenReport, Warning, WarningCode,
};
use super::request::{PromptRequest, PromptServices, Request};
use super::used_files::used_files;
use super::workspace::{IndexState, Workspace};
use crate::layout::{ItemKey, Layout, Part, Tier, spans};

/// Assembles the prompt that `prompt_request` requests. `session` is unchanged, even on success.
///
/// # Errors
/// Returns an [`AssembleError`] if the request is empty or invalid, or does not fit.
pub fn assemble(
    workspace: &Workspace<'_>,
    session: &Session,
    prompt_request: &PromptRequest,
    services: PromptServices<'_>,
) -> Result<PreparedPrompt, AssembleError> {
    check_request(&prompt_request.request)?;
    assemble_allowing_empty(workspace, session, prompt_request, services)
}

/// Assembles a prompt like [`assemble`], but also accepts an empty request. [`Request::Nothing`] measures the prompt
/// without a new message.
///
/// # Errors
/// Returns an [`AssembleError`] if the prompt is invalid or does not fit, but never [`AssembleError::Empty`].
pub fn assemble_allowing_empty(
    workspace: &Workspace<'_>,
    session: &Session,
    prompt_request: &PromptRequest,
    services: PromptServices<'_>,
) -> Result<PreparedPrompt, AssembleError> {
    assemble_with_rules(workspace, session, prompt_request, services, |_| ())
}

/// Assembles a prompt like [`assemble_allowing_empty`], after `adjust` has changed the layout rules. Tests of small
/// prompts need other sizes than real prompts.
pub(super) fn assemble_with_rules(
    workspace: &Workspace<'_>,
    session: &Session,
    prompt_request: &PromptRequest,
    services: PromptServices<'_>,
    adjust: impl FnOnce(&mut LayoutRules),
) -> Result<PreparedPrompt, AssembleError> {
    let settings = services.settings;
    let model_name = prompt_request.model.as_deref().unwrap_or(&settings.model);
    let resolved = services.models.resolve(model_name);
    let measure = Measure::for_request(&resolved, prompt_request, session, services);
    let ttl = prompt_request.ttl.unwrap_or(settings.cache.ttl);
    let prices = Prices::for_model(&resolved.model, ttl);
    let preferences = LayoutPreferences {
        request: prompt_request.policy,
        session: session.policy,
        setting: settings.cache.policy,
    };
    let chosen = preferences.choose(&resolved.model, workspace.index);
    let format = measure.format(prompt_request);
    let pauses_ms = session.cache.pace.trend().pauses_ms;
    let mut rules = LayoutRules {
        target: tier_target(measure.cache_minimum()),
        ttl: ttl.shortest(),
        prices,
        extended_is_needed: extended_lifetime_probability(pauses_ms, &prices),
        carriers: format.breakpoint_targets(),
        identity: cache_identity(prompt_request, &resolved.model.id, format),
        deltas: settings.cache.delta_mode(),
        reuse: LayoutReuse::Maximal,
        later_price: Some(
            // Few breakpoints ask for the extended lifetime.
            expected_reuse_price(pauses_ms, &Prices { extended: None, ..prices })
                * expected_turns(session.cache.pace.prompt_count()),
        ),
        now_ms: prompt_request.now_ms,
    };
    adjust(&mut rules);
    let assembler =
        Assembler { workspace, session, prompt_request, measure: &measure, chosen, format, rules };
    let complete = ContentPlan::complete(measure.map_budget(), measure.list_budget());
    let attempt = assembler.try_plan(&complete);
    let tokens = attempt.tokens();
    let FittedPlan { plan, attempt, minimal_tokens } = assembler.fit(complete, attempt)?;
    let mut prepared =
        assembler.finish(&plan, attempt, measure.request_size(tokens, minimal_tokens.unwrap_or(tokens)))?;
    if let Some(message) = resolved.warning() {
        let warning = Warning { code: WarningCode::UnknownModel, message, path: None };
        prepared.reply.warnings.insert(0, warning);
    }
    Ok(prepared)
}

/// Returns a hash of everything whose change invalidates the provider's whole cache: model, dialect and declared tools
/// (Anthropic, "Prompt caching", "What invalidates the cache"). That page also lists images, but in recorded sessions
/// an image only invalidated the content after it.
/// The choice of tools is not part of the hash: with Anthropic, changing this invalidates the cached messages only.
fn cache_identity(prompt_request: &PromptRequest, model: &str, format: Format) -> ContentHash {
    let invalidating = serde_json::to_string(&(model, format, &prompt_request.tools)).unwrap_or_default();
    ContentHash::from_text(&invalidating)
}

pub(super) fn check_request(request: &Request) -> Result<(), AssembleError> {
    match request {
        Request::Nothing => Err(AssembleError::Empty),
        Request::Prompt { text, images } if text.trim().is_empty() && images.is_empty() => {
            Err(AssembleError::Empty)
        }
        Request::Prompt { .. } => Ok(()),
        Request::ToolResults(results) if results.is_empty() => Err(AssembleError::Empty),
        Request::ToolResults(_) => Ok(()),
    }
}

/// The layout that results from one [`ContentPlan`], with its size in tokens.
struct LayoutAttempt {
    output: PolicyOutput,
    rendered: RenderedBody,
    members: Vec<MapMember>,
    /// Files that belong in the map but do not fit into its budget.
    unmapped: Vec<FileKey>,
    /// Number of map blocks in the prompt.
    blocks: usize,
    map_budget: usize,
    truncated: usize,
    /// Call ids of tool results in the request that answer no pending tool call.
    unmatched: Vec<String>,
    structure: usize,
    tools: usize,
}

impl LayoutAttempt {
    fn tokens(&self) -> usize {
        self.output.layout.tokens() + self.structure + self.tools
    }
}

struct FittedPlan {
    plan: ContentPlan,
    attempt: LayoutAttempt,
    /// Tokens of the prompt with the whole conversation but no optional content; `None` if nothing had to be dropped.
    minimal_tokens: Option<usize>,
}

impl FittedPlan {
    fn complete(plan: ContentPlan, attempt: LayoutAttempt) -> Self {
        Self { plan, attempt, minimal_tokens: None }
    }
}

/// When a prompt is rebuilt because it did not fit, Strata leaves a share of the token limit free (1 divided by this
/// number), so that later prompts can keep the new layout.
const REBUILT_PROMPT_HEADROOM_DIVISOR: usize = 12;

struct Assembler<'a> {
    workspace: &'a Workspace<'a>,
    session: &'a Session,
    prompt_request: &'a PromptRequest,
    measure: &'a Measure<'a>,
    chosen: PolicyChoice,
    format: Format,
    rules: LayoutRules,
}

impl Assembler<'_> {
    /// Returns the first plan that fits: `complete` (already tried in `attempt`), `complete` without anything kept from
    /// the last layout, or a plan that drops as little as possible.
    fn fit(&self, complete: ContentPlan, attempt: LayoutAttempt) -> Result<FittedPlan, AssembleError> {
        let limit = self.measure.prompt_limit();
        if let Some(stray) = attempt.unmatched.first() {
            return Err(AssembleError::NoSuchCall(stray.clone()));
        }
        if attempt.tokens() <= limit {
            return Ok(FittedPlan::complete(complete, attempt));
        }
        // A kept log contains outdated texts, while a rebuilt log contains each text once. For a policy without a log,
        // rebuilding would only repeat the first attempt.
        let has_log = attempt.output.expected_cached.is_some();
        let complete = complete.without_layout_reuse();
        if has_log {
            let attempt = self.try_plan(&complete);
            if attempt.tokens() <= limit {
                return Ok(FittedPlan::complete(complete, attempt));
            }
        }
        let optional_tokens = self.optional_token_counts();
        let minimal_attempt = self.try_plan(&ContentPlan::minimal(optional_tokens.files.keys().cloned()));
        let minimal_tokens = Some(minimal_attempt.tokens());
        let mut plan =
            match fit::largest_fitting_plan(&complete, &optional_tokens, minimal_attempt.tokens(), limit) {
                Some(plan) => plan,
                None => self.without_old_exchanges(&complete, &optional_tokens, &minimal_attempt, limit),
            };
        // Prefer to keep the log: the content that it already omits can be omitted again at no cost.
        if has_log {
            let with_reuse = plan.clone().with_layout_reuse();
            let attempt = self.try_plan(&with_reuse);
            if attempt.tokens() <= limit {
                return Ok(FittedPlan { plan: with_reuse, attempt, minimal_tokens });
            }
            plan = plan.with_headroom(limit / REBUILT_PROMPT_HEADROOM_DIVISOR);
        }
        loop {
            let attempt = self.try_plan(&plan);
            let tokens = attempt.tokens();
            if tokens <= limit {
                return Ok(FittedPlan { plan, attempt, minimal_tokens });
            }
            plan = match plan.reduce_by(tokens - limit, &optional_tokens) {
                Some(smaller) => smaller,
                None => return Err(self.too_large_error(&attempt, limit)),
            };
        }
    }

    /// Returns a plan for a conversation that does not fit even without optional content. The plan limits the
    /// conversation to twice the tokens at which compaction starts (`docs/prompt.md`), or to fewer in a small window.
    /// It plans the optional content as usual.
    fn without_old_exchanges(
        &self,
        complete: &ContentPlan,
        optional_tokens: &OptionalTokenCounts,
        minimal_attempt: &LayoutAttempt,
        limit: usize,
    ) -> ContentPlan {
        let history = part_tokens(minimal_attempt).get(&Part::History).copied().unwrap_or_default();
        let fixed = minimal_attempt.tokens().saturating_sub(history);
        let settings = self.measure.settings();
        let profile = settings.compaction.active_profile(&settings.tool_output);
        let size = self.measure.request_size(0, 0);
        let trigger = profile.trigger.token_limit(size.window, size.limit);
        let max_history =
            trigger.map_or(usize::MAX, |trigger| trigger.saturating_mul(DROP_OLDEST_LIMIT_FACTOR));
        let history_limit = limit.saturating_sub(fixed).min(max_history);
        let minimal_plan =
            ContentPlan::minimal(optional_tokens.files.keys().cloned()).with_history_limit(history_limit);
        let minimal_attempt = self.try_plan(&minimal_plan);
        match fit::largest_fitting_plan(complete, optional_tokens, minimal_attempt.tokens(), limit) {
            Some(plan) => plan.with_history_limit(history_limit),
            None => minimal_plan,
        }
    }

    fn try_plan(&self, plan: &ContentPlan) -> LayoutAttempt {
        let count = self.measure.counter();
        let PromptContent { content, members, unmapped, truncated, unmatched } = gather::gather_content(
            self.workspace,
            self.session,
            self.prompt_request,
            self.measure,
            plan,
            &count,
        );
        let blocks = content.map.len();
        let rules = LayoutRules { reuse: plan.reuse, ..self.rules };
        let output = self.chosen.policy.policy().lay_out(&self.session.cache.tiers, &content, &rules);
        let tools = &self.prompt_request.tools;
        // Requests with the same beginning should share a cache. A session id would not work as the key, because it is
        // random.
        let cache_key = ContentHash::from_text(&content.system).to_string();
        let (model, breakpoints) = (self.measure.model_id(), self.measure.breakpoint_mode());
        let tool_choice = self.prompt_request.tool_choice;
        let envelope = Envelope { model, tools, tool_choice, cache_key: Some(&cache_key), breakpoints };
        let rendered = wire::render(&output.layout, self.format, &envelope);
        let structure = self.measure.count_structure(StructureCounts {
            messages: rendered.messages,
            tools: tools.len(),
            tool_round_trips: count_round_trips(&output.layout),
        });
        let tools = self.measure.count_tools(tools);
        let map_budget = plan.map_budget;
        LayoutAttempt {
            output,
            rendered,
            members,
            unmapped,
            blocks,
            map_budget,
            truncated,
            unmatched,
            structure,
            tools,
        }
    }

    fn optional_token_counts(&self) -> OptionalTokenCounts {
        let count = self.measure.counter();
        let file_tokens = |(key, extent)| {
            let file = self.workspace.texts.get(key)?;
            let pieces = piece::file_pieces(key, file, extent, &count);
            Some((FileKey::clone(key), pieces.iter().map(|piece| piece.tokens).sum()))
        };
        let excerpts =
            self.workspace.excerpts.placed_excerpts().map(|item| excerpt_piece::piece(item, &count).tokens);
        OptionalTokenCounts {
            files: self.session.selection.selected.iter().filter_map(file_tokens).collect(),
            excerpts: excerpts.collect(),
        }
    }

    fn too_large_error(&self, attempt: &LayoutAttempt, limit: usize) -> AssembleError {
        let largest = largest_parts(part_tokens(attempt));
        let model = self.measure.model_id().to_owned();
        let window = self.measure.input_window();
        AssembleError::TooLarge { model, tokens: attempt.tokens(), limit, window, largest }
    }

    fn finish(
        &self,
        plan: &ContentPlan,
        attempt: LayoutAttempt,
        size: RequestSize,
    ) -> Result<PreparedPrompt, AssembleError> {
        if let (Body::Json(body), true) =
            (&attempt.rendered.body, self.prompt_request.request != Request::Nothing)
        {
            let violations = providers::check(self.format, body);
            if !violations.is_empty() {
                return Err(AssembleError::Invalid { violations });
            }
        }
        let parts = part_tokens(&attempt);
        let tokens = TokenReport {
            total: attempt.tokens(),
            parts,
            expected: self.measure.predict_bill(attempt.tokens()),
            limit: self.measure.prompt_limit(),
            room: self.measure.provider_limit(),
            window: self.measure.input_window(),
            output_reserve: self.measure.output_reserve(),
        };
        let sent = SentRequest {
            spans: spans(&attempt.output.layout, 0),
            at_ms: self.rules.now_ms,
            identity: self.rules.identity,
            prices: self.rules.prices,
            lifetimes: self.measure.lifetimes(),
        };
        let predicted = CacheAccount::predict(self.session.cache_account(), &sent);
        let reply = AssembledPrompt {
            id: None,
            predicted,
            cost: PromptCost::new(predicted, &sent),
            model: self.measure.model_id().to_owned(),
            format: self.format,
            policy: self.chosen.policy,
            tokens,
            tiers: tier_reports(&attempt.output.layout),
            breakpoints: breakpoints(&attempt.output.layout),
            files: used_files(&attempt.output.layout, self.workspace),
            system_files: self.workspace.system_context.files(),
            coverage: Coverage {
                blocks: attempt.blocks,
                names: attempt.output.file_list.names,
                directories: attempt.output.file_list.collapsed,
                map_budget: attempt.map_budget,
            },
            warnings: self.warnings(plan, &attempt),
            shed: plan.omitted_files().to_vec(),
            body: attempt.rendered.body,
        };
        Ok(PreparedPrompt {
            excerpts: self
                .session
                .excerpts
                .state_after_prompt(self.workspace.excerpts, &attempt.output.layout),
            reply,
            size,
            chosen: self.chosen,
            layout: Arc::new(attempt.output.layout),
            sent,
            expected_cached: attempt.output.expected_cached,
            rebuilt: plan.reuse == LayoutReuse::None,
            options: PromptRequest { request: Request::Nothing, ..self.prompt_request.clone() }.into(),
            message: self.prompt_request.request.message(),
            tiers: attempt.output.new_state,
            members: self.next_map_members(plan, attempt.members),
        })
    }

    /// Returns the map members after this prompt. Shrinking the map for this prompt alone does not change its members.
    fn next_map_members(&self, plan: &ContentPlan, shown: Vec<MapMember>) -> Vec<MapMember> {
        if plan.map_budget < self.measure.map_budget() && !self.session.map_members.is_empty() {
            self.session.map_members.clone()
        } else {
            shown
        }
    }

    fn warnings(&self, plan: &ContentPlan, attempt: &LayoutAttempt) -> Vec<Warning> {
        let selected = &self.session.selection.selected;
        let mut warnings = Vec::new();
        for key in plan.omitted_files() {
            let message = format!("{} was left out of this prompt because it does not fit", key.notice());
            warnings.push(Warning { code: WarningCode::Shed, message, path: Some(key.clone()) });
        }
        for (key, reason) in self.workspace.unreadable.iter().filter(|(key, _)| selected.contains_key(*key)) {
            let message = format!("{} is selected but cannot be shown: {reason}", key.notice());
            warnings.push(Warning { code: WarningCode::Unreadable, message, path: Some(key.clone()) });
        }
        for (key, ranges) in &self.session.selection.missing {
            let ranges: Vec<String> = ranges.iter().map(ToString::to_string).collect();
            let message = format!(
                "{} no longer has the selected lines {}, so they were left out of this prompt; select lines again",
                key.notice(),
                ranges.join(", ")
            );
            warnings.push(Warning { code: WarningCode::LinesMissing, message, path: Some(key.clone()) });
        }
        let placed = self.workspace.excerpts.placed_excerpts().count();
        if let dropped @ 1.. = placed.saturating_sub(plan.excerpts) {
            let (excerpts, they) =
                if dropped == 1 { ("excerpt was", "it does") } else { ("excerpts were", "they do") };
            let message = format!(
                "{dropped} {excerpts} left out of this prompt because {they} not fit; lower autoBudget to choose fewer"
            );
            warnings.push(Warning { code: WarningCode::Shed, message, path: None });
        }
        if let not_read @ 1.. = self.workspace.excerpts.not_read {
            let files = if not_read == 1 { "file was" } else { "files were" };
            let message = format!(
                "{not_read} less relevant {files} not searched for excerpts, because the more relevant files are large"
            );
            warnings.push(Warning { code: WarningCode::Shed, message, path: None });
        }
        let omitted_files: BTreeSet<&FileKey> = plan.omitted_files().iter().collect();
        let excerpts = self.workspace.excerpts.items.iter();
        let mut texts: BTreeMap<&FileKey, (&Source, usize)> =
            excerpts.map(|item| (&item.key.file, (&item.source, item.redacted))).collect();
        texts.extend(selected.keys().filter_map(|key| {
            let file = self.workspace.texts.get(key)?;
            Some((key, (&file.source, if omitted_files.contains(key) { 0 } else { file.redacted.len() })))
        }));
        for (key, (source, _)) in &texts {
            let message = match source {
                Source::Buffer { sync: DocumentSync::OutOfStep { reason }, .. } => {
                    let name = key.notice();
                    Some(format!("the buffer of {name} may be out of sync with the editor: {reason}"))
                }
                Source::Disk { out_of_step: Some(reason), .. } => {
                    let name = key.notice();
                    Some(format!(
                        "the text of {name} in the editor may differ from the file on disk: {reason}"
                    ))
                }
                Source::Buffer { .. } | Source::Disk { .. } | Source::Given => None,
            };
            if let Some(message) = message {
                warnings.push(Warning { code: WarningCode::OutOfStep, message, path: Some((*key).clone()) });
            }
        }
        for (key, (_, redacted)) in &texts {
            if *redacted > 0 {
                let message = if *redacted == 1 {
                    format!(
                        "1 secret in {} was replaced by a placeholder; see strata.redaction.list",
                        key.notice()
                    )
                } else {
                    format!(
                        "{redacted} secrets in {} were replaced by placeholders; see strata.redaction.list",
                        key.notice()
                    )
                };
                warnings.push(Warning { code: WarningCode::Redacted, message, path: Some((*key).clone()) });
            }
        }
        // The default budget leaves out most files, whose names are in the list.
        let is_chosen = self.measure.settings().symbols.map_budget == Some(plan.map_budget);
        if let (Some(first), true) = (attempt.unmapped.first(), is_chosen) {
            let others = attempt.unmapped.len() - 1;
            let others = if others == 0 { String::new() } else { format!(" and {others} more") };
            let message = format!(
                "the symbol map is limited to {} tokens and has no room for {}{others}; raise symbols.map_budget",
                plan.map_budget,
                first.notice()
            );
            warnings.push(Warning { code: WarningCode::MapFull, message, path: Some(first.clone()) });
        }
        if attempt.truncated > 0 {
            let message = format!(
                "the conversation does not fit, so its oldest messages ({}) were left out of this prompt; shorten the conversation",
                attempt.truncated
            );
            warnings.push(Warning { code: WarningCode::HistoryTruncated, message, path: None });
        }
        if self.workspace.index == IndexState::Building {
            let message = "the repository is still being indexed; the map is incomplete".to_owned();
            warnings.push(Warning { code: WarningCode::IndexIncomplete, message, path: None });
        }
        warnings
    }
}

fn part_tokens(attempt: &LayoutAttempt) -> BTreeMap<Part, usize> {
    let mut part_tokens = attempt.output.layout.part_tokens();
    part_tokens.insert(Part::Structure, attempt.structure);
    if attempt.tools > 0 {
        part_tokens.insert(Part::Tools, attempt.tools);
    }
    part_tokens
}

/// Returns the three largest parts of a prompt, largest first.
pub(crate) fn largest_parts(part_tokens: BTreeMap<Part, usize>) -> Vec<LargePart> {
    let mut parts: Vec<LargePart> =
        part_tokens.into_iter().map(|(part, tokens)| LargePart { name: part.to_string(), tokens }).collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.tokens));
    parts.truncate(3);
    parts
}

fn tier_reports(layout: &Layout) -> Vec<TierReport> {
    let mut tiers: BTreeMap<Tier, (BTreeSet<&ItemKey>, usize, usize)> = BTreeMap::new();
    for block in layout.blocks() {
        let (items, tokens, marks) = tiers.entry(block.tier).or_default();
        items.extend(&block.items);
        *tokens += block.tokens;
        *marks += usize::from(block.mark.is_some());
    }
    tiers
        .into_iter()
        .map(|(tier, (items, tokens, marks))| TierReport {
            tier,
            items: items.len(),
            tokens,
            marked: marks > 0,
        })
        .collect()
}

fn breakpoints(layout: &Layout) -> Vec<Breakpoint> {
    let mut prefix_tokens = 0;
    let mut breakpoints = Vec::new();
    for block in layout.blocks() {
        prefix_tokens += block.tokens;
        if block.mark.is_some() {
            breakpoints.push(Breakpoint { tier: block.tier, prefix_tokens });
        }
    }
    breakpoints
}

/// Counts the tool round trips in a prompt. Each tool result completes one.
fn count_round_trips(layout: &Layout) -> usize {
    layout.blocks().filter(|block| block.content.is_tool_result()).count()
}
