//! `here.*`: commands on the current document, for editors that cannot pass arguments or that drop replies. Each one
//! runs another command with the document filled in, and replies with a message that is shown to the user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::external::ExternalText;
use strata_base::key::FileKey;
use strata_conversation::selection::{Choice, LineRange};
use strata_host::uri;

use super::selected_question::FileQuestion;
use super::send::SendParams;
use super::{
    Access, AnswerDocument, Command, CommandError, Context, DeferredReply, IndexNeed, files, prompt,
};
use crate::format;
use crate::model::documents;
use crate::model::meter;

/// The document that a command applies to, and optionally a range in it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CurrentDocument {
    /// URI or path of the document. Defaults to the document that the client mentioned last.
    uri: Option<String>,
    /// Range in the document, as editors report it. Only `select`, `toggle` and `ask` use it, and they ignore an empty
    /// range.
    range: Option<TextRange>,
}

/// A range in a document, as in the Language Server Protocol.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextRange {
    /// Start of the range, inclusive.
    start: TextPosition,
    /// End of the range, exclusive.
    end: TextPosition,
}

/// A position in a document, as in the Language Server Protocol.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextPosition {
    /// Line number, counted from 0.
    line: u32,
    /// Character offset in the line, counted from 0.
    character: u32,
}

/// The outcome of a command, as a message for the user.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct HereReply {
    /// Message to show to the user, as a sentence.
    message: String,
    /// Path of the file that a prompt or an answer was written to. Absent for other commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// URI of the file that a prompt or an answer was written to. Absent for other commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
}

impl CurrentDocument {
    fn key(&self, context: &Context<'_>) -> Result<FileKey, CommandError> {
        let snapshot = context.snapshot;
        let Some(uri) = self.uri.as_deref().or(snapshot.recent_documents.latest()) else {
            return Err(CommandError::failed("no current file: open a file in the editor and try again"));
        };
        if let Some(key) = snapshot.key_of(uri) {
            return Ok(key);
        }
        snapshot.resolve(uri).map_err(|error| match &self.uri {
            Some(_) => CommandError::invalid("uri", &error.to_string()),
            None => CommandError::failed(error.to_string()),
        })
    }

    fn lines(&self) -> Option<LineRange> {
        let position = |at: TextPosition| (at.line, at.character);
        self.range.and_then(|range| documents::lines_in_range(position(range.start)..position(range.end)))
    }
}

impl From<String> for HereReply {
    fn from(message: String) -> Self {
        Self { message, path: None, uri: None }
    }
}

pub(super) struct SelectDocument;

impl Command for SelectDocument {
    const NAME: &str = "strata.here.select";
    const SUMMARY: &str = "Selects the current document, or a range of its lines, and shows a message.";
    const SHOWS_OUTCOME: bool = true;
    type Args = CurrentDocument;
    type Reply = HereReply;

    fn run(document: CurrentDocument, context: &mut Context<'_>) -> Result<HereReply, CommandError> {
        let key = document.key(context)?;
        files::SelectFiles::run(files::FilePathsParams::for_document(&key, document.lines()), context)
            .map_err(without_argument_name)?;
        Ok(describe_selection(&key, context).into())
    }
}

pub(super) struct DeselectDocument;

impl Command for DeselectDocument {
    const NAME: &str = "strata.here.deselect";
    const SUMMARY: &str = "Deselects the current document and shows a message.";
    const SHOWS_OUTCOME: bool = true;
    type Args = CurrentDocument;
    type Reply = HereReply;

    fn run(document: CurrentDocument, context: &mut Context<'_>) -> Result<HereReply, CommandError> {
        let key = document.key(context)?;
        let before = context.session.selection.choice(&key);
        files::DeselectFiles::run(files::FilePathsParams::for_document(&key, None), context)
            .map_err(without_argument_name)?;
        Ok(match before {
            Choice::Selected => format!("{}: removed from the model's context", key.notice()),
            Choice::Deselected | Choice::Excluded => format!("{}: was not selected", key.notice()),
        }
        .into())
    }
}

pub(super) struct ToggleDocument;

impl Command for ToggleDocument {
    const NAME: &str = "strata.here.toggle";
    const SUMMARY: &str = "Selects the current document, or deselects it if selected, and shows a message.";
    const SHOWS_OUTCOME: bool = true;
    type Args = CurrentDocument;
    type Reply = HereReply;

    fn run(document: CurrentDocument, context: &mut Context<'_>) -> Result<HereReply, CommandError> {
        let key = document.key(context)?;
        match context.session.selection.choice(&key) {
            Choice::Selected => DeselectDocument::run(document, context),
            Choice::Deselected | Choice::Excluded => SelectDocument::run(document, context),
        }
    }
}

pub(super) struct ExcludeDocument;

impl Command for ExcludeDocument {
    const NAME: &str = "strata.here.exclude";
    const SUMMARY: &str = "Excludes the current document from prompts and shows a message.";
    const SHOWS_OUTCOME: bool = true;
    type Args = CurrentDocument;
    type Reply = HereReply;

    fn run(document: CurrentDocument, context: &mut Context<'_>) -> Result<HereReply, CommandError> {
        let key = document.key(context)?;
        files::ExcludeFiles::run(files::FilePathsParams::for_document(&key, None), context)
            .map_err(without_argument_name)?;
        Ok(format!("{}: excluded, hidden from the model", key.notice()).into())
    }
}

pub(super) struct IncludeDocument;

impl Command for IncludeDocument {
    const NAME: &str = "strata.here.include";
    const SUMMARY: &str = "Includes the current document again if it is excluded, and shows a message.";
    const SHOWS_OUTCOME: bool = true;
    type Args = CurrentDocument;
    type Reply = HereReply;

    fn run(document: CurrentDocument, context: &mut Context<'_>) -> Result<HereReply, CommandError> {
        let key = document.key(context)?;
        let before = context.session.selection.choice(&key);
        files::IncludeFiles::run(files::FilePathsParams::for_document(&key, None), context)
            .map_err(without_argument_name)?;
        Ok(match before {
            Choice::Excluded => format!("{}: no longer excluded", key.notice()),
            Choice::Selected | Choice::Deselected => format!("{}: was not excluded", key.notice()),
        }
        .into())
    }
}

pub(super) struct WritePromptPreview;

impl Command for WritePromptPreview {
    const NAME: &str = "strata.here.preview";
    const SUMMARY: &str = "Writes the next prompt to a file, and opens it in the editor or shows its path.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Prompt;
    const SHOWS_OUTCOME: bool = true;
    type Args = CurrentDocument;
    type Reply = HereReply;

    fn run(_: CurrentDocument, context: &mut Context<'_>) -> Result<HereReply, CommandError> {
        let preview = prompt::PreviewPrompt::run(prompt::AssembleParams::default(), context)?;
        let file = context.services.previews.write(&context.session.id, &preview.text)?;
        let uri = uri::file_uri(&file);
        let path = file.display().to_string();
        let shown_path = ExternalText::new(&path).notice();
        let message = format!("The prompt ({}) is in {shown_path}", format::tokens(preview.tokens));
        Ok(HereReply { message, path: Some(path), uri })
    }
}

pub(super) struct AskAboutDocument;

impl Command for AskAboutDocument {
    const NAME: &str = "strata.here.ask";
    const SUMMARY: &str = "Asks the model in `provider.*` the question in the selected comment, or to explain the selected \
                           code. Opens the complete answer in the editor.";
    const ACCESS: Access = Access::Reads;
    const INDEX: IndexNeed = IndexNeed::Prompt;
    const SHOWS_OUTCOME: bool = true;
    type Args = CurrentDocument;
    type Reply = DeferredReply<HereReply>;

    fn run(
        document: CurrentDocument,
        context: &mut Context<'_>,
    ) -> Result<DeferredReply<HereReply>, CommandError> {
        let key = document.key(context)?;
        let selection = &context.session.selection;
        if selection.choice(&key) == Choice::Excluded {
            return Err(CommandError::failed(format!(
                "{} is excluded from the model's context; include it again to ask about it",
                key.notice()
            )));
        }
        let file = context.snapshot.text(&key, selection);
        let file = file.map_err(|error| CommandError::failed(error.to_string()))?;
        let choice = selection.choice(&key);
        let question = FileQuestion::new(&key, &file.text, document.lines(), choice);
        let page = AnswerDocument { previews: context.services.previews.clone(), question: question.title };
        SendParams::with_read_tools(question.prompt).start_job(Some(page), context)?;
        Ok(DeferredReply::default())
    }
}

pub(super) struct ShowContextSummary;

impl Command for ShowContextSummary {
    const NAME: &str = "strata.here.status";
    const SUMMARY: &str = "Shows a one-line summary of the context.";
    const ACCESS: Access = Access::Reads;
    const SHOWS_OUTCOME: bool = true;
    type Args = CurrentDocument;
    type Reply = HereReply;

    fn run(_: CurrentDocument, context: &mut Context<'_>) -> Result<HereReply, CommandError> {
        let Context { snapshot, session, sessions, services, now_ms, cancel, .. } = context;
        let status = meter::measure_context(snapshot, session, services.store.persistence(), *now_ms, cancel)
            .ok_or_else(|| CommandError::failed("the size of the context is unknown"))?;
        let name = if session.id == *sessions.current_id() { "main" } else { &*session.id };
        Ok(status.summary(name, session.selection.selected.len()).into())
    }
}

/// Describes which part of a document is selected, its size in tokens, and its share of the model's window.
fn describe_selection(key: &FileKey, context: &Context<'_>) -> String {
    let (snapshot, selection) = (context.snapshot, &context.session.selection);
    let label = format!("{}: in the model's context", key.notice());
    let Some(extent) = selection.selected.get(key) else { return label };
    let extent_text = format::extent(extent);
    let Ok(file) = snapshot.text(key, selection) else { return format!("{label} {extent_text}") };
    let tokens = snapshot.count_file_tokens(key, &file, extent);
    let window = snapshot.models.resolve(&snapshot.settings.model).model.max_input.max(1);
    let share = tokens as f64 * 100.0 / window as f64;
    format!("{label} {extent_text}, {} ({share:.1} % of the window)", format::tokens(tokens))
}

/// Removes the name of the argument from an error, because it means nothing to a user who passed no arguments.
fn without_argument_name(error: CommandError) -> CommandError {
    match error {
        CommandError::InvalidParams { message, .. } => CommandError::failed(message),
        other => other,
    }
}
