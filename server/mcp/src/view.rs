//! The tools' view: the workspace as it is on disk now, and one session. A stored session is opened for each call and released
//! afterwards, so that an agent sees the user's current selection, and no editor waits for an agent.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use serde_json::Value;
use strata_app::commands::{self, CommandError};
use strata_app::headless::{Access, Cancel, HeadlessWorkspace};
use strata_app::index::Progress;

/// The session that tools are about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// A session of the server's own, which no one else sees and which ends with it.
    Own,
    /// The stored one that was written to last, at the time of each call; one of the server's own while there is none.
    Newest,
    /// The stored one of this name.
    Stored(String),
}

pub(crate) struct View {
    headless: HeadlessWorkspace,
    subject: Subject,
    /// Whether a stored session is open.
    opened: bool,
}

/// The preparation that a call needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    pub(crate) access: commands::Access,
    /// Whether it needs an up-to-date index.
    pub(crate) index: bool,
}

impl View {
    /// Begins with a session of its own.
    ///
    /// # Errors
    /// [`CommandError`] when that cannot be made.
    pub(crate) fn new(mut headless: HeadlessWorkspace, subject: Subject) -> Result<Self, CommandError> {
        headless.begin_in_memory()?;
        Ok(Self { headless, subject, opened: false })
    }

    pub(crate) fn headless(&self) -> &HeadlessWorkspace {
        &self.headless
    }

    pub(crate) fn headless_mut(&mut self) -> &mut HeadlessWorkspace {
        &mut self.headless
    }

    pub(crate) fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Runs work on the current files and session.
    ///
    /// # Errors
    /// [`CommandError`], [`CommandError::Cancelled`] once `cancel` is up.
    pub(crate) fn look<T>(
        &mut self,
        needs: Needs,
        cancel: &Cancel,
        progress: impl FnMut(Progress),
        work: impl FnOnce(&mut Self) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        cancel.check()?;
        self.headless.set_cancel(cancel);
        if needs.index {
            self.headless.refresh(progress)?;
        }
        self.open(needs.access)?;
        let done = catch_unwind(AssertUnwindSafe(|| work(self)));
        // After a panic, too: an editor waits for the session.
        if self.opened {
            self.headless.release();
        }
        done.unwrap_or_else(|panic| resume_unwind(panic))
    }

    pub(crate) fn run(&mut self, command: &str, arguments: Value) -> Result<Value, CommandError> {
        self.headless.run(command, arguments)
    }

    fn open(&mut self, access: commands::Access) -> Result<(), CommandError> {
        let id = match &self.subject {
            Subject::Own => return Ok(()),
            Subject::Stored(id) => Some(id.clone()),
            Subject::Newest => self.headless.newest_session()?,
        };
        let Some(id) = id else {
            if std::mem::replace(&mut self.opened, false) {
                self.headless.begin_in_memory()?;
            }
            return Ok(());
        };
        let access = if access == commands::Access::Changes { Access::Write } else { Access::Read };
        if !self.headless.reopen(&id, access)? {
            return Err(CommandError::failed(format!(
                "session `{id}` is open in an editor, which alone can change it: ask the user to do it there"
            )));
        }
        self.opened = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::path::PathBuf;
    use std::process::Command;

    use serde_json::json;
    use strata_app::headless::Settings;

    use super::*;

    /// Set in the process that is started again, where sessions are kept below a folder of the test's own.
    const FOLDER: &str = "FOLDER_OF_THE_TEST";

    #[test]
    fn a_session_is_let_go_after_a_panic() {
        let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else {
            let folder = tempfile::tempdir().unwrap();
            let mut again = Command::new(env::current_exe().unwrap());
            again.args(["view::tests::a_session_is_let_go_after_a_panic", "--exact"]);
            again.env(FOLDER, folder.path()).env("STRATA_STATE_DIR", folder.path().join("state"));
            let output = again.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
            return;
        };
        let open = || {
            let headless = HeadlessWorkspace::open(&folder, Settings::default()).unwrap();
            headless.open_store().unwrap();
            headless
        };
        let mut editor = open();
        editor.resume_or_begin("shared").unwrap();
        editor.run("strata.history.add", json!({ "role": "user", "content": "Why?" })).unwrap();
        drop(editor);
        let mut view = View::new(open(), Subject::Stored("shared".to_owned())).unwrap();
        let needs = Needs { access: commands::Access::Changes, index: false };
        let mut look =
            || view.look(needs, &Cancel::new(), |_| (), |_| -> Result<(), _> { panic!("on purpose") });
        assert!(catch_unwind(AssertUnwindSafe(&mut look)).is_err());
        assert!(open().reopen("shared", Access::Write).unwrap());
    }
}
