//! `strata sessions`: manages the stored conversations of a workspace. Prints lists, conversations and exports to
//! standard output, and other messages to standard error.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use strata_app::commands::compaction::RunParams;
use strata_app::commands::memory::{SearchMemory, SearchParams};
use strata_app::commands::session::{
    DeleteParams, DeleteSession, ExportFormat, ExportParams, ExportReply, ExportSession, ForkParams,
    ForkSession, ImportParams, ImportSession, ListSessions, RenameParams, RenameSession, Sessions,
};
use strata_app::commands::{CommandError, ConversationSize, MessageId, NoArguments, Reply};
use strata_app::runtime::headless::{HeadlessWorkspace, SessionAccess, SessionSource};

use crate::arguments::{SessionsArguments, SessionsCommand};
use crate::failure::Failure;
use crate::input;
use crate::output::{self, count, pluralize};
use crate::reply::{self, ReplyFormat};
use crate::repository;
use crate::search_results;
use crate::when::format_time;
use strata_app::table::{Align, Table};

/// Argument of `--session` that stands for the most recently used session.
pub(crate) const LATEST: &str = "latest";

/// Argument of `--session` that stands for the session that an editor shows.
pub(crate) const EDITOR_SESSION: &str = "editor";

/// Maximum characters of a name or a preview to show.
pub(crate) const MAX_NAME_CHARS: usize = 60;

struct SessionManager {
    headless: HeadlessWorkspace,
    reply_format: ReplyFormat,
}

pub(crate) fn run(arguments: &SessionsArguments) -> Result<ExitCode, Failure> {
    let headless = repository::open_stored(&arguments.repository)?;
    let mut sessions = SessionManager { headless, reply_format: arguments.reply_format };
    match &arguments.command {
        SessionsCommand::List => sessions.list()?,
        SessionsCommand::Show { id } => {
            let id = sessions.resolve_id(id)?;
            sessions.show(&id)?;
        }
        SessionsCommand::Export { id, format, output } => {
            let id = sessions.resolve_id(id)?;
            sessions.export(&id, (*format).into(), output.as_deref())?;
        }
        SessionsCommand::Import { files } => {
            return process_each(files, |file| {
                sessions.import(file).map_err(|error| error.with_message_prefix(&input::display_name(file)))
            });
        }
        SessionsCommand::Search { words, limit } => {
            let query = SearchParams { query: words.join(" "), limit: *limit };
            sessions.reply_format.print_reply(
                &sessions.headless.call::<SearchMemory>(query)?,
                search_results::print_results,
            )?;
        }
        SessionsCommand::Delete { ids } => {
            return process_each(ids, |id| {
                let id = sessions.resolve_id(id)?;
                sessions.delete(&id)
            });
        }
        SessionsCommand::Rename { id, name } => {
            let id = sessions.resolve_id(id)?;
            let renaming = RenameParams { id: Some(id.clone()), name: name.clone() };
            let reply = sessions.headless.call::<RenameSession>(renaming)?;
            sessions
                .reply_format
                .print_sentence(&reply, |_| Ok(format!("renamed session {id} to \"{name}\"")))?;
        }
        SessionsCommand::Fork { id, until, name } => {
            let id = sessions.resolve_id(id)?;
            sessions.fork(&id, *until, name)?;
        }
        SessionsCommand::Compact { id, profile } => {
            let id = sessions.resolve_id(id)?;
            sessions.compact(&id, profile.as_deref())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Calls `work` for each item, and continues after errors. The exit code reports whether any call failed.
fn process_each<T>(
    items: &[T],
    mut work: impl FnMut(&T) -> Result<(), Failure>,
) -> Result<ExitCode, Failure> {
    let mut code = ExitCode::SUCCESS;
    for item in items {
        match work(item) {
            Ok(()) => {}
            Err(Failure::Message(message)) => {
                output::print_message(&format!("error: {message}"));
                code = ExitCode::FAILURE;
            }
            Err(output_closed @ Failure::OutputClosed) => return Err(output_closed),
        }
    }
    Ok(code)
}

/// Returns the id of the session that an editor shows.
pub(crate) fn editor_session_id(headless: &mut HeadlessWorkspace) -> Result<String, Failure> {
    headless.attach_editors();
    headless.editor_session()?.ok_or_else(|| {
        Failure::new(format!("no editor shows a stored session of {}", headless.folder().display()))
    })
}

impl SessionManager {
    /// Returns the id of the session with this id or name, of the most recently used one for `latest`, or of the one that
    /// an editor shows for `editor`.
    fn resolve_id(&mut self, text: &str) -> Result<String, Failure> {
        if text == EDITOR_SESSION {
            return editor_session_id(&mut self.headless);
        }
        if text != LATEST {
            return Ok(self.headless.resolve_session_name(text)?);
        }
        let newest = self.headless.newest_session()?;
        newest.ok_or_else(|| {
            Failure::new(format!("no stored sessions for {}", self.headless.folder().display()))
        })
    }

    fn list(&mut self) -> Result<(), Failure> {
        let reply = self.headless.call::<ListSessions>(NoArguments {})?;
        self.reply_format.print_reply(&reply, |list| self.print_list(list))
    }

    fn print_list(&self, Sessions { sessions }: &Sessions) -> Result<(), Failure> {
        if sessions.is_empty() {
            output::print_message(&format!("no stored sessions for {}", self.headless.folder().display()));
            return Ok(());
        }
        let mut table = Table::new([Align::Left, Align::Left, Align::Right, Align::Left]);
        table.add_row(["session", "last used (UTC)", "messages", "about"].map(str::to_owned));
        for session in sessions {
            let about = output::shorten(session.display_name(), MAX_NAME_CHARS);
            table.add_row([
                session.id.clone(),
                session.updated_ms.map(format_time).unwrap_or_default(),
                count(session.messages),
                about,
            ]);
        }
        reply::print_table(&table)
    }

    fn show(&mut self, id: &str) -> Result<(), Failure> {
        let reply = self.run_export(id, ExportFormat::Markdown)?;
        self.reply_format.print_reply(&reply, |reply| {
            output::print_text(&format!("{}\n", reply.text.trim_end_matches('\n')))
        })
    }

    fn run_export(&mut self, id: &str, format: ExportFormat) -> Result<Reply<ExportReply>, CommandError> {
        self.headless.call::<ExportSession>(ExportParams { id: Some(id.to_owned()), format })
    }

    fn export(&mut self, id: &str, format: ExportFormat, to: Option<&Path>) -> Result<(), Failure> {
        let reply = self.run_export(id, format)?;
        self.reply_format.print_reply(&reply, |reply| {
            let text = format!("{}\n", reply.text.trim_end_matches('\n'));
            let Some(path) = to else { return output::write_result(|out| out.write_all(text.as_bytes())) };
            fs::write(path, text).map_err(|error| {
                Failure::new(error.to_string()).with_message_prefix(&input::display_name(path))
            })?;
            output::print_message(&format!("exported session {id} to {}", path.display()));
            Ok(())
        })
    }

    fn import(&mut self, file: &Path) -> Result<(), Failure> {
        let text = input::read_file(file)?;
        let reply = self.headless.call::<ImportSession>(ImportParams { text, name: String::new() });
        let reply = reply.map_err(|error| match error {
            // The command has a single argument, whose name means nothing to the user.
            CommandError::InvalidParams { message, .. } => Failure::Message(message),
            error => error.into(),
        })?;
        let file = input::display_name(file);
        self.reply_format.print_sentence(&reply, |reply| {
            let reply = reply.get()?;
            let skipped = match reply.skipped {
                0 => String::new(),
                lines => format!(", {} without a message", pluralize(lines, "line")),
            };
            Ok(format!("{file}: session {}, {}{skipped}", reply.id, pluralize(reply.messages, "message")))
        })
    }

    fn delete(&mut self, id: &str) -> Result<(), Failure> {
        let reply = self.headless.call::<DeleteSession>(DeleteParams { id: Some(id.to_owned()) })?;
        self.reply_format.print_sentence(&reply, |_| Ok(format!("deleted session {id}")))
    }

    fn fork(&mut self, id: &str, until: Option<u64>, name: &str) -> Result<(), Failure> {
        self.headless.open_session(SessionSource::Stored(id, SessionAccess::Read))?;
        let copying = ForkParams { until: until.map(MessageId), name: name.to_owned() };
        let reply = self.headless.call::<ForkSession>(copying)?;
        self.reply_format.print_sentence(&reply, |reply| {
            Ok(format!("session {} starts with {} of {id}", reply.id, pluralize(reply.messages, "message")))
        })
    }

    fn compact(&mut self, id: &str, profile: Option<&str>) -> Result<(), Failure> {
        self.headless.open_session(SessionSource::Stored(id, SessionAccess::Write))?;
        let reply = self.headless.compact(RunParams { profile: profile.map(str::to_owned) })?;
        self.reply_format.print_reply(&reply, |reply| {
            let (profile, before, after) =
                (&reply.profile, format_size(reply.before), format_size(reply.after));
            output::print_message(&format!("compacted session {id} with {profile}: {before}, now {after}"));
            for note in &reply.notes {
                output::print_message(&format!("note: {note}"));
            }
            Ok(())
        })
    }
}

pub(crate) fn format_size(size: Option<ConversationSize>) -> String {
    let ConversationSize { messages, tokens } = size.unwrap_or_default();
    format!("{} of {}", pluralize(messages, "message"), pluralize(tokens, "token"))
}
