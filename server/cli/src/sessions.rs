//! `strata sessions`: manages the stored conversations of a workspace. Prints lists, conversations and exports to
//! standard output, and other messages to standard error.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::{Value, json};
use strata_app::commands::CommandError;
use strata_app::runtime::headless::{Access, HeadlessWorkspace, SessionSource};

use crate::arguments::{SessionForm, SessionsArguments, SessionsCommand};
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

/// Maximum characters of a name or a preview to show.
pub(crate) const SHOWN: usize = 60;

/// The fields used from the reply to `strata.session.list`.
#[derive(Deserialize)]
pub(crate) struct List {
    pub(crate) sessions: Vec<ListedSession>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedSession {
    pub(crate) id: String,
    name: String,
    pub(crate) updated_ms: Option<u64>,
    messages: usize,
    preview: String,
}

impl ListedSession {
    /// Returns the session's name, or else its preview.
    pub(crate) fn about(&self) -> &str {
        if self.name.is_empty() { &self.preview } else { &self.name }
    }
}

/// The fields used from the reply to `strata.session.export`.
#[derive(Deserialize)]
struct ExportedSession {
    text: String,
}

/// The fields used from the replies to `strata.session.import` and `strata.session.fork`.
#[derive(Deserialize)]
struct NewSession {
    id: String,
    messages: usize,
    #[serde(default)]
    skipped: usize,
}

/// The fields used from the reply to `strata.compaction.run`.
#[derive(Deserialize)]
struct CompactedSession {
    profile: String,
    before: Size,
    after: Size,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Deserialize)]
struct Size {
    messages: usize,
    tokens: usize,
}

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
            sessions.export(&id, *format, output.as_deref())?;
        }
        SessionsCommand::Import { files } => {
            return each(files, |file| {
                sessions.import(file).map_err(|error| error.about(&input::name(file)))
            });
        }
        SessionsCommand::Search { words, limit } => {
            let reply =
                sessions.run("strata.memory.search", json!({ "query": words.join(" "), "limit": limit }))?;
            sessions.audience.show(reply, search_results::show)?;
        }
        SessionsCommand::Delete { ids } => {
            return each(ids, |id| {
                let id = sessions.named(id)?;
                sessions.delete(&id)
            });
        }
        SessionsCommand::Rename { id, name } => {
            let id = sessions.named(id)?;
            let reply = sessions.run("strata.session.rename", json!({ "id": id, "name": name }))?;
            sessions.audience.say(reply, |_| Ok(format!("renamed session {id} to \"{name}\"")))?;
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

impl StoredSessions {
    fn run(&mut self, command: &str, arguments: Value) -> Result<Value, Failure> {
        Ok(self.headless.run(command, arguments)?)
    }

    /// Returns the id of the session with this id or name, or of the most recently used one for `latest`.
    fn named(&self, text: &str) -> Result<String, Failure> {
        if text != LATEST {
            return Ok(self.headless.session_named(text)?);
        }
        let newest = self.headless.newest_session()?;
        newest.ok_or_else(|| {
            Failure::said(format!("no stored sessions for {}", self.headless.folder().display()))
        })
    }

    fn list(&mut self) -> Result<(), Failure> {
        let reply = self.run("strata.session.list", json!({}))?;
        self.audience.show(reply, |reply| self.tell_list(output::understood(reply)?))
    }

    fn tell_list(&self, List { sessions }: List) -> Result<(), Failure> {
        if sessions.is_empty() {
            output::tell(&format!("no stored sessions for {}", self.headless.folder().display()));
            return Ok(());
        }
        let mut table = Table::new([Align::Left, Align::Left, Align::Right, Align::Left]);
        table.row(["session", "last used (UTC)", "messages", "about"].map(str::to_owned));
        for session in sessions {
            let about = output::clipped(session.about(), SHOWN);
            table.row([
                session.id,
                session.updated_ms.map(moment).unwrap_or_default(),
                count(session.messages),
                about,
            ]);
        }
        reply::table(&table)
    }

    fn show(&mut self, id: &str) -> Result<(), Failure> {
        let reply = self.run("strata.session.export", json!({ "id": id, "format": "markdown" }))?;
        self.audience.show(reply, |reply| {
            let ExportedSession { text } = output::understood(reply)?;
            output::text(&format!("{}\n", text.trim_end_matches('\n')))
        })
    }

    fn export(&mut self, id: &str, format: SessionForm, to: Option<&Path>) -> Result<(), Failure> {
        let reply = self.run("strata.session.export", json!({ "id": id, "format": format.name() }))?;
        self.audience.show(reply, |reply| {
            let ExportedSession { text } = output::understood(reply)?;
            let text = format!("{}\n", text.trim_end_matches('\n'));
            let Some(path) = to else { return output::result(|out| out.write_all(text.as_bytes())) };
            fs::write(path, text)
                .map_err(|error| Failure::said(error.to_string()).about(&input::name(path)))?;
            output::tell(&format!("exported session {id} to {}", path.display()));
            Ok(())
        })
    }

    fn import(&mut self, file: &Path) -> Result<(), Failure> {
        let text = input::file(file)?;
        let reply = self.headless.run("strata.session.import", json!({ "text": text }));
        let reply = reply.map_err(|error| match error {
            // The command has a single argument, whose name means nothing to the user.
            CommandError::InvalidParams { message, .. } => Failure::Said(message),
            error => error.into(),
        })?;
        let file = input::name(file);
        self.audience.say(reply, |reply| {
            let NewSession { id, messages, skipped } = output::understood(reply)?;
            let skipped = match skipped {
                0 => String::new(),
                lines => format!(", {} without a message", counted(lines, "line")),
            };
            Ok(format!("{file}: session {id}, {}{skipped}", counted(messages, "message")))
        })
    }

    fn delete(&mut self, id: &str) -> Result<(), Failure> {
        let reply = self.run("strata.session.delete", json!({ "id": id }))?;
        self.audience.say(reply, |_| Ok(format!("deleted session {id}")))
    }

    fn fork(&mut self, id: &str, until: Option<u64>, name: &str) -> Result<(), Failure> {
        self.headless.open_session(SessionSource::Stored(id, Access::Read))?;
        let reply = self.run("strata.session.fork", json!({ "until": until, "name": name }))?;
        self.audience.say(reply, |reply| {
            let NewSession { id: new, messages, .. } = output::understood(reply)?;
            Ok(format!("session {new} starts with {} of {id}", counted(messages, "message")))
        })
    }

    fn compact(&mut self, id: &str, profile: Option<&str>) -> Result<(), Failure> {
        self.headless.open_session(SessionSource::Stored(id, Access::Write))?;
        let reply = self.run("strata.compaction.run", json!({ "profile": profile }))?;
        self.audience.say_all(reply, |reply| {
            let CompactedSession { profile, before, after, notes } = output::understood(reply)?;
            let size = |Size { messages, tokens }: Size| {
                format!("{} of {}", counted(messages, "message"), counted(tokens, "token"))
            };
            let done =
                format!("compacted session {id} with {profile}: {}, now {}", size(before), size(after));
            Ok(std::iter::once(done).chain(notes.iter().map(|note| format!("note: {note}"))).collect())
        })
    }
}
