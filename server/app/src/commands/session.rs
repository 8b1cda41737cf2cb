//! `session.*`: opens, stores, forks and exports whole conversations. The store persists sessions, and the
//! main loop keeps track of the open ones.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strata_base::json;
use strata_conversation::conversation_facts::Step;
use strata_conversation::exchange::{self, ConversationFormat, ExportOrigin};
use strata_conversation::history::{History, Message, MessageId, NewMessage};
use strata_conversation::providers::Format;
use strata_host::store::{self, SessionInfo, StoreError};
use strata_prompt::session::Session;
use strata_prompt::wire::{self, Body};
use strata_tokens::redaction::SecretRedactor;

use super::{
    Access, Command, CommandError, Context, DeferredReply, Effect, Empty, MAIN_SESSION, NoArguments, imported,
};
use crate::model::session_store::{SessionStore, SessionStoreError};

/// A stored session to open.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoadParams {
    /// Id of the session to open.
    pub id: String,
    /// Whether to open the session read-only, for example because another server writes to it. Defaults to `false`.
    #[serde(default)]
    pub read_only: bool,
}

/// Options for copying a session.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ForkParams {
    /// Number of the last message to copy. Defaults to the last message of the conversation.
    pub until: Option<MessageId>,
    /// Name of the new session. Defaults to none.
    #[serde(default)]
    pub name: String,
}

/// A new name for a session.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameParams {
    /// New name of the session. An empty string removes the name.
    pub name: String,
    /// Id of the session to rename. Defaults to the session that the command runs in.
    pub id: Option<String>,
}

/// A session to delete.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteParams {
    /// Id of the session to delete. Defaults to the session that the command runs in.
    pub id: Option<String>,
}

/// Format of an exported conversation.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    /// Strata's own format: JSON Lines with one message per line, including all metadata.
    #[default]
    Jsonl,
    /// The messages that the model sees, as an Anthropic request body.
    Anthropic,
    /// The messages that the model sees, as an OpenAI request body.
    OpenAi,
    /// The messages that the model sees, as Markdown.
    Markdown,
    /// The messages that the model sees, as a transcript of Claude Code.
    #[serde(rename = "claude_code")]
    ClaudeCode,
    /// The messages that the model sees, as a rollout file of Codex.
    Codex,
    /// The messages that the model sees, as a session of Gemini CLI.
    #[serde(rename = "gemini_cli")]
    GeminiCli,
    /// The messages that the model sees, as an export of opencode.
    Opencode,
}

/// A session and the format to export it in.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportParams {
    /// Format of the export. Defaults to `jsonl`.
    #[serde(default)]
    pub format: ExportFormat,
    /// Id of the session to export. Defaults to the session that the command runs in.
    pub id: Option<String>,
}

/// A recorded conversation to import.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportParams {
    /// A conversation that another program recorded, or the output of `strata.session.export`.
    pub text: String,
    /// Name of the new session. Defaults to none.
    #[serde(default)]
    pub name: String,
}

/// The session that is now current.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenReply {
    /// Id of the session.
    pub id: String,
    /// Number of messages in the session.
    pub messages: usize,
    /// Whether the session is open read-only.
    pub read_only: bool,
}

/// The imported session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ImportReply {
    /// Id of the new session.
    pub id: String,
    /// Number of imported messages.
    pub messages: usize,
    /// Format that was recognized in the text.
    pub form: ConversationFormat,
    /// Number of lines in the text that contain no message.
    pub skipped: usize,
}

/// An exported session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExportReply {
    /// Format of the exported text.
    pub format: ExportFormat,
    /// The exported conversation.
    pub text: String,
}

/// The open and stored sessions of the workspace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sessions {
    /// Sessions that have not been saved, then saved ones, most recently written first.
    pub sessions: Vec<ListedSession>,
}

/// An open or stored session.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedSession {
    /// Id of the session, as used in requests.
    pub id: String,
    /// Name given by the user. Empty if there is none.
    pub name: String,
    /// When the session was created, in milliseconds since 1970. `null` if it has not been saved.
    pub created_ms: Option<u64>,
    /// When the session was last written to, in milliseconds since 1970. `null` if it has not been saved.
    pub updated_ms: Option<u64>,
    /// Number of messages in the session.
    pub messages: usize,
    /// Beginning of the first message.
    pub preview: String,
    /// Whether the session is open in this server.
    pub open: bool,
    /// Whether this is the current session.
    pub current: bool,
    /// Whether the session is open read-only.
    pub read_only: bool,
}

impl ListedSession {
    /// Returns the session's name, or else its preview.
    pub fn display_name(&self) -> &str {
        if self.name.is_empty() { &self.preview } else { &self.name }
    }
}

/// The tool calls of a session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Steps {
    /// Tool calls, oldest first.
    pub steps: Vec<Step>,
    /// Paths of the files that were read, most recently read last.
    pub files_read: Vec<String>,
}

pub struct StartSession;

impl Command for StartSession {
    const NAME: &str = "strata.session.new";
    const SUMMARY: &str = "Starts a session and makes it current.";
    type Args = NoArguments;
    type Reply = OpenReply;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<OpenReply, CommandError> {
        open(Arc::new(Session::new(SessionStore::new_id()?)), context)
    }
}

pub struct ResetSession;

impl Command for ResetSession {
    const NAME: &str = "strata.session.reset";
    const SUMMARY: &str = "Starts a session with the same selected files and makes it current.";
    type Args = NoArguments;
    type Reply = OpenReply;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<OpenReply, CommandError> {
        let mut session = context.session.clone();
        session.start_new_conversation(SessionStore::new_id()?);
        open(Arc::new(session), context)
    }
}

pub struct LoadSession;

impl Command for LoadSession {
    const NAME: &str = "strata.session.load";
    const SUMMARY: &str = "Opens a stored session and makes it current.";
    type Args = LoadParams;
    type Reply = OpenReply;

    fn run(params: LoadParams, context: &mut Context<'_>) -> Result<OpenReply, CommandError> {
        if let Some(session) = context.sessions.get(params.id.as_str()).cloned() {
            return open(session, context);
        }
        let access = if params.read_only { store::SessionAccess::Read } else { store::SessionAccess::Write };
        let session = context.services.store.load(&params.id, access)?;
        open(session, context)
    }
}

pub struct ForkSession;

impl Command for ForkSession {
    const NAME: &str = "strata.session.fork";
    const SUMMARY: &str = "Starts a session with a copy of this session's messages and makes it current.";
    type Args = ForkParams;
    type Reply = OpenReply;

    fn run(params: ForkParams, context: &mut Context<'_>) -> Result<OpenReply, CommandError> {
        let mut session = context.session.copy_with_id(SessionStore::new_id()?);
        if let Some(until) = params.until {
            session.truncate_after(until)?;
        }
        let session = Arc::new(session);
        let (from, copy, now_ms) = (Arc::clone(&context.session.id), Arc::clone(&session), context.now_ms);
        context.schedule_write(move |store| {
            store.fork(&from, &copy, &params.name, now_ms)?;
            Ok(())
        });
        open(session, context)
    }
}

pub struct ListSessions;

impl Command for ListSessions {
    const NAME: &str = "strata.session.list";
    const SUMMARY: &str = "Lists the sessions, most recently used first.";
    const ACCESS: Access = Access::Reads;
    type Args = NoArguments;
    type Reply = Sessions;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<Sessions, CommandError> {
        let stored = context.services.store.list()?;
        let unsaved = context.sessions.iter().filter(|session| {
            !session.history.messages().is_empty()
                && !stored.iter().any(|info| *info.id.as_str() == *session.id)
        });
        let unsaved = unsaved.map(|session| {
            let preview =
                session.history.messages().first().map(|message| message.text()).unwrap_or_default();
            let preview = strata_conversation::conversation_facts::one_line(&preview, 120);
            ListedSession {
                name: String::new(),
                created_ms: None,
                updated_ms: None,
                messages: session.history.messages().len(),
                preview,
                ..list_entry(&session.id, context)
            }
        });
        let unsaved: Vec<ListedSession> = unsaved.collect();
        let saved = stored.iter().filter(|info| info.messages > 0).map(|info| {
            let SessionInfo { id, name, created_ms, updated_ms, messages, preview } = info.clone();
            let (created_ms, updated_ms) = (Some(created_ms), Some(updated_ms));
            ListedSession {
                name,
                created_ms,
                updated_ms,
                messages,
                preview,
                ..list_entry(id.as_str(), context)
            }
        });
        Ok(Sessions { sessions: unsaved.into_iter().chain(saved).collect() })
    }
}

pub struct ListSteps;

impl Command for ListSteps {
    const NAME: &str = "strata.session.steps";
    const SUMMARY: &str = "Lists the tool calls of the session.";
    const ACCESS: Access = Access::Reads;
    type Args = NoArguments;
    type Reply = Steps;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<Steps, CommandError> {
        let (session, tools) = (&context.session, &context.snapshot.settings.tools);
        let steps = session.trail.exploration_steps(&session.history, tools);
        Ok(Steps { steps, files_read: session.trail.files_read(&session.history, tools) })
    }
}

pub struct RenameSession;

impl Command for RenameSession {
    const NAME: &str = "strata.session.rename";
    const SUMMARY: &str = "Renames a session.";
    const ACCESS: Access = Access::Stores;
    type Args = RenameParams;
    type Reply = DeferredReply<Empty>;

    fn run(params: RenameParams, context: &mut Context<'_>) -> Result<DeferredReply<Empty>, CommandError> {
        let id = id_or_current(params.id, context);
        let current_session = (*id == *context.session.id).then(|| context.session.clone());
        let (id, now_ms) = (id.parse()?, context.now_ms);
        Ok(context.schedule_write_with_reply(move |store| {
            if let Some(current_session) = current_session {
                store.ensure_stored(&current_session, now_ms)?;
            }
            store.with_store(|store| store.rename(&id, &params.name))?;
            Ok(Empty {})
        }))
    }
}

pub struct DeleteSession;

impl Command for DeleteSession {
    const NAME: &str = "strata.session.delete";
    const SUMMARY: &str = "Deletes a session.";
    const ACCESS: Access = Access::Stores;
    type Args = DeleteParams;
    type Reply = DeferredReply<Empty>;

    fn run(params: DeleteParams, context: &mut Context<'_>) -> Result<DeferredReply<Empty>, CommandError> {
        let id = id_or_current(params.id, context);
        let is_current = *id == *context.session.id;
        if !is_current && context.sessions.contains(id.as_str()) {
            let message = format!("session `{id}` is open; to delete it, pass \"session\": \"{id}\"");
            return Err(CommandError::failed(message));
        }
        if is_current {
            context.effects.push(Effect::Close(Arc::clone(&context.session.id)));
        }
        Ok(context.schedule_write_with_reply(move |store| {
            match store.delete(&id) {
                // The session has no messages yet, so it was never stored and only needs to be closed.
                Err(SessionStoreError::Store(StoreError::NoSession(_))) if is_current => {}
                deleted => deleted?,
            }
            Ok(Empty {})
        }))
    }
}

pub struct ExportSession;

impl Command for ExportSession {
    const NAME: &str = "strata.session.export";
    const SUMMARY: &str = "Exports a session as text.";
    const ACCESS: Access = Access::Stores;
    type Args = ExportParams;
    type Reply = ExportReply;

    fn run(params: ExportParams, context: &mut Context<'_>) -> Result<ExportReply, CommandError> {
        let id = id_or_current(params.id, context);
        let format = params.format;
        let text = match format {
            ExportFormat::Jsonl => {
                if *id == *context.session.id {
                    context.services.store.ensure_stored(context.session, context.now_ms)?;
                }
                let name = id.parse()?;
                let mut lines = Vec::new();
                context.services.store.with_store(|store| store.export(&name, &mut lines))?;
                String::from_utf8_lossy(&lines).into_owned()
            }
            ExportFormat::Anthropic => export_sent_messages(&id, Format::Anthropic, context)?,
            ExportFormat::OpenAi => export_sent_messages(&id, Format::OpenAi, context)?,
            ExportFormat::Markdown => export_sent_messages(&id, Format::Markdown, context)?,
            ExportFormat::ClaudeCode => export_for_agent(&id, ConversationFormat::ClaudeCode, context)?,
            ExportFormat::Codex => export_for_agent(&id, ConversationFormat::Codex, context)?,
            ExportFormat::GeminiCli => export_for_agent(&id, ConversationFormat::GeminiCli, context)?,
            ExportFormat::Opencode => export_for_agent(&id, ConversationFormat::Opencode, context)?,
        };
        Ok(ExportReply { format, text })
    }
}

pub struct ImportSession;

impl Command for ImportSession {
    const NAME: &str = "strata.session.import";
    const SUMMARY: &str =
        "Creates a session from the output of `strata.session.export` or another program's recording.";
    const ACCESS: Access = Access::Stores;
    const SCREENED: bool = false;
    type Args = ImportParams;
    type Reply = DeferredReply<ImportReply>;

    fn run(
        params: ImportParams,
        context: &mut Context<'_>,
    ) -> Result<DeferredReply<ImportReply>, CommandError> {
        if params.text.lines().next().is_some_and(|line| line.contains("\"strataSession\"")) {
            let text = lines_without_secrets(&params.text, &context.snapshot.screen);
            return Ok(context.schedule_write_with_reply(move |store| {
                let imported = store.with_store(|store| store.import(text.as_bytes()))?;
                let id = imported.handle.id.as_str().to_owned();
                Ok(ImportReply {
                    id,
                    messages: imported.messages,
                    form: ConversationFormat::Strata,
                    skipped: 0,
                })
            }));
        }
        let imported = imported::read_imported_conversation(&params.text, &context.snapshot.screen)?;
        let mut session = Session::new(SessionStore::new_id()?);
        let messages = imported.messages.into_iter().map(|message| {
            let content = super::history::truncate_tool_results(message.content, &session, context);
            NewMessage { content, ..message }
        });
        let messages: Vec<NewMessage> = messages.collect();
        session.set_history(messages);
        let (id, messages) = (session.id.to_string(), session.history.messages().len());
        let session = Arc::new(session);
        context.effects.push(Effect::Open(Arc::clone(&session)));
        let (form, skipped, now_ms) = (imported.form, imported.skipped, context.now_ms);
        let name = context.snapshot.screen.redact_text(&params.name).into_owned();
        Ok(context.schedule_write_with_reply(move |store| {
            store.add(&session, &name, now_ms)?;
            Ok(ImportReply { id, messages, form, skipped })
        }))
    }
}

fn open(session: Arc<Session>, context: &mut Context<'_>) -> Result<OpenReply, CommandError> {
    let (id, messages) = (session.id.to_string(), session.history.messages().len());
    let read_only = context.services.store.access(&id) == Some(store::SessionAccess::Read);
    context.effects.push(Effect::Open(Arc::clone(&session)));
    context.effects.push(Effect::Show(Arc::clone(&session.id)));
    Ok(OpenReply { id, messages, read_only })
}

fn list_entry(id: &str, context: &Context<'_>) -> ListedSession {
    ListedSession {
        id: id.to_owned(),
        name: String::new(),
        created_ms: None,
        updated_ms: None,
        messages: 0,
        preview: String::new(),
        open: context.sessions.contains(id),
        current: **context.sessions.current_id() == *id,
        read_only: context.services.store.access(id) == Some(store::SessionAccess::Read),
    }
}

/// Returns the id of the session that the arguments name, or else of the session that the command runs in.
fn id_or_current(id: Option<String>, context: &Context<'_>) -> String {
    match id.as_deref() {
        None | Some(MAIN_SESSION) => context.session.id.to_string(),
        Some(id) => id.to_owned(),
    }
}

/// Renders the messages of a session that the model sees, in a provider's format.
fn export_sent_messages(id: &str, format: Format, context: &Context<'_>) -> Result<String, CommandError> {
    let history = history_of_session(id, context)?;
    let messages: Vec<&Message> = history.sent_messages().map(|message| &**message).collect();
    Ok(match wire::request_body(messages, format, &context.snapshot.settings.model) {
        Body::Text(text) => text,
        Body::Json(body) => body.to_string(),
    })
}

/// Writes what the model sees of a session as a file of another agent.
fn export_for_agent(
    id: &str,
    form: ConversationFormat,
    context: &Context<'_>,
) -> Result<String, CommandError> {
    let history = history_of_session(id, context)?;
    let folder =
        context.snapshot.roots.first().map(|root| root.real.display().to_string()).unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    let origin = ExportOrigin { session: id, folder: &folder, version, now_ms: context.now_ms };
    let text = exchange::write_conversation(form, history.sent_messages().map(|message| &**message), &origin);
    text.ok_or_else(|| CommandError::failed("conversations cannot be exported in this format"))
}

fn history_of_session(id: &str, context: &Context<'_>) -> Result<History, CommandError> {
    match context.sessions.get(id) {
        _ if *id == *context.session.id => Ok(context.session.history.clone()),
        Some(session) => Ok(session.history.clone()),
        None => {
            let name = id.parse()?;
            let stored = context.services.store.with_store(|store| store.load_session(&name))?;
            let messages = stored.messages.into_iter().map(Arc::unwrap_or_clone);
            Ok(History::restore(messages, MessageId(stored.next_id)))
        }
    }
}

/// Replaces secrets with placeholders in a stored session (JSON Lines). Leaves lines that are not JSON unchanged,
/// because the store reports them.
fn lines_without_secrets(text: &str, screen: &SecretRedactor) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match json::from_str::<Value>(line) {
            Ok(mut value) => {
                screen.redact_value(&mut value);
                out.push_str(&value.to_string());
                out.push('\n');
            }
            Err(_) => out.push_str(line),
        }
    }
    out
}
