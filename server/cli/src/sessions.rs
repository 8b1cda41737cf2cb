//! `strata sessions`: manages the stored conversations of a workspace. Prints lists, conversations and exports to
//! standard output, and other messages to standard error.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use strata_app::commands::compaction::RunParams;
use strata_app::commands::memory::{Search, SearchParams};
use strata_app::commands::session::{
    Delete, DeleteParams, Export, ExportFormat, ExportParams, ExportReply, Fork, ForkParams, Import,
    ImportParams, ListSessions, Rename, RenameParams, Sessions,
};
use strata_app::commands::{CommandError, MessageId, NoArguments, Reply, Size};
use strata_app::runtime::headless::{Access, HeadlessWorkspace, SessionSource};

use crate::arguments::{SessionsArguments, SessionsCommand};
use crate::failure::Failure;
use crate::input;
use crate::output::{self, count, counted};
use crate::reply::{self, Audience};
use crate::repository;
use crate::search_results;
use crate::when::moment;
use strata_app::table::{Align, Table};

/// Argument of `--session` that stands for the most recently used session.
pub(crate) const LATEST: &str = "latest";

/// Argument of `--session` that stands for the session that an editor shows.
pub(crate) const EDITOR: &str = "editor";

/// Maximum characters of a name or a preview to show.
pub(crate) const SHOWN: usize = 60;

struct StoredSessions {
    headless: HeadlessWorkspace,
    audience: Audience,
}

pub(crate) fn run(arguments: &SessionsArguments) -> Result<ExitCode, Failure> {
    let headless = repository::open_stored(&arguments.repository)?;
    let mut sessions = StoredSessions { headless, audience: arguments.audience };
    match &arguments.command {
        SessionsCommand::List => sessions.list()?,
        SessionsCommand::Show { id } => {
            let id = sessions.named(id)?;
            sessions.show(&id)?;
        }
        SessionsCommand::Export { id, format, output } => {
            let id = sessions.named(id)?;
            sessions.export(&id, (*format).into(), output.as_deref())?;
        }
        SessionsCommand::Import { files } => {
            return each(files, |file| {
                sessions.import(file).map_err(|error| error.about(&input::name(file)))
            });
        }
        SessionsCommand::Search { words, limit } => {
            let query = SearchParams { query: words.join(" "), limit: *limit };
            sessions.audience.show(&sessions.headless.call::<Search>(query)?, search_results::show)?;
        }
        SessionsCommand::Delete { ids } => {
            return each(ids, |id| {
                let id = sessions.named(id)?;
                sessions.delete(&id)
            });
        }
        SessionsCommand::Rename { id, name } => {
            let id = sessions.named(id)?;
            let renaming = RenameParams { id: Some(id.clone()), name: name.clone() };
            let reply = sessions.headless.call::<Rename>(renaming)?;
            sessions.audience.say(&reply, |_| Ok(format!("renamed session {id} to \"{name}\"")))?;
        }
        SessionsCommand::Fork { id, until, name } => {
            let id = sessions.named(id)?;
            sessions.fork(&id, *until, name)?;
        }
        SessionsCommand::Compact { id, profile } => {
            let id = sessions.named(id)?;
            sessions.compact(&id, profile.as_deref())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Calls `work` for each item, and continues after errors. The exit code reports whether any call failed.
fn each<T>(all: &[T], mut work: impl FnMut(&T) -> Result<(), Failure>) -> Result<ExitCode, Failure> {
    let mut code = ExitCode::SUCCESS;
    for one in all {
        match work(one) {
            Ok(()) => {}
            Err(Failure::Said(message)) => {
                output::tell(&format!("error: {message}"));
                code = ExitCode::FAILURE;
            }
            Err(nobody_reads @ Failure::NobodyReads) => return Err(nobody_reads),
        }
    }
    Ok(code)
}

/// Returns the id of the session that an editor shows.
pub(crate) fn in_editor(headless: &mut HeadlessWorkspace) -> Result<String, Failure> {
    headless.attach();
    headless.editor_session()?.ok_or_else(|| {
        Failure::said(format!("no editor shows a stored session of {}", headless.folder().display()))
    })
}

impl StoredSessions {
    /// Returns the id of the session with this id or name, of the most recently used one for `latest`, or of the one that
    /// an editor shows for `editor`.
    fn named(&mut self, text: &str) -> Result<String, Failure> {
        if text == EDITOR {
            return in_editor(&mut self.headless);
        }
        if text != LATEST {
            return Ok(self.headless.session_named(text)?);
        }
        let newest = self.headless.newest_session()?;
        newest.ok_or_else(|| {
            Failure::said(format!("no stored sessions for {}", self.headless.folder().display()))
        })
    }

    fn list(&mut self) -> Result<(), Failure> {
        let reply = self.headless.call::<ListSessions>(NoArguments {})?;
        self.audience.show(&reply, |list| self.tell_list(list))
    }

    fn tell_list(&self, Sessions { sessions }: &Sessions) -> Result<(), Failure> {
        if sessions.is_empty() {
            output::tell(&format!("no stored sessions for {}", self.headless.folder().display()));
            return Ok(());
        }
        let mut table = Table::new([Align::Left, Align::Left, Align::Right, Align::Left]);
        table.row(["session", "last used (UTC)", "messages", "about"].map(str::to_owned));
        for session in sessions {
            let about = output::clipped(session.about(), SHOWN);
            table.row([
                session.id.clone(),
                session.updated_ms.map(moment).unwrap_or_default(),
                count(session.messages),
                about,
            ]);
        }
        reply::table(&table)
    }

    fn show(&mut self, id: &str) -> Result<(), Failure> {
        let reply = self.exported(id, ExportFormat::Markdown)?;
        self.audience.show(&reply, |reply| output::text(&format!("{}\n", reply.text.trim_end_matches('\n'))))
    }

    fn exported(&mut self, id: &str, format: ExportFormat) -> Result<Reply<ExportReply>, CommandError> {
        self.headless.call::<Export>(ExportParams { id: Some(id.to_owned()), format })
    }

    fn export(&mut self, id: &str, format: ExportFormat, to: Option<&Path>) -> Result<(), Failure> {
        let reply = self.exported(id, format)?;
        self.audience.show(&reply, |reply| {
            let text = format!("{}\n", reply.text.trim_end_matches('\n'));
            let Some(path) = to else { return output::result(|out| out.write_all(text.as_bytes())) };
            fs::write(path, text)
                .map_err(|error| Failure::said(error.to_string()).about(&input::name(path)))?;
            output::tell(&format!("exported session {id} to {}", path.display()));
            Ok(())
        })
    }

    fn import(&mut self, file: &Path) -> Result<(), Failure> {
        let text = input::file(file)?;
        let reply = self.headless.call::<Import>(ImportParams { text, name: String::new() });
        let reply = reply.map_err(|error| match error {
            // The command has a single argument, whose name means nothing to the user.
            CommandError::InvalidParams { message, .. } => Failure::Said(message),
            error => error.into(),
        })?;
        let file = input::name(file);
        self.audience.say(&reply, |reply| {
            let reply = reply.get()?;
            let skipped = match reply.skipped {
                0 => String::new(),
                lines => format!(", {} without a message", counted(lines, "line")),
            };
            Ok(format!("{file}: session {}, {}{skipped}", reply.id, counted(reply.messages, "message")))
        })
    }

    fn delete(&mut self, id: &str) -> Result<(), Failure> {
        let reply = self.headless.call::<Delete>(DeleteParams { id: Some(id.to_owned()) })?;
        self.audience.say(&reply, |_| Ok(format!("deleted session {id}")))
    }

    fn fork(&mut self, id: &str, until: Option<u64>, name: &str) -> Result<(), Failure> {
        self.headless.open_session(SessionSource::Stored(id, Access::Read))?;
        let copying = ForkParams { until: until.map(MessageId), name: name.to_owned() };
        let reply = self.headless.call::<Fork>(copying)?;
        self.audience.say(&reply, |reply| {
            Ok(format!("session {} starts with {} of {id}", reply.id, counted(reply.messages, "message")))
        })
    }

    fn compact(&mut self, id: &str, profile: Option<&str>) -> Result<(), Failure> {
        self.headless.open_session(SessionSource::Stored(id, Access::Write))?;
        let reply = self.headless.compact(RunParams { profile: profile.map(str::to_owned) })?;
        self.audience.show(&reply, |reply| {
            let (profile, before, after) = (&reply.profile, size(reply.before), size(reply.after));
            output::tell(&format!("compacted session {id} with {profile}: {before}, now {after}"));
            for note in &reply.notes {
                output::tell(&format!("note: {note}"));
            }
            Ok(())
        })
    }
}

/// Formats the size of a conversation.
pub(crate) fn size(size: Option<Size>) -> String {
    let Size { messages, tokens } = size.unwrap_or_default();
    format!("{} of {}", counted(messages, "message"), counted(tokens, "token"))
}
