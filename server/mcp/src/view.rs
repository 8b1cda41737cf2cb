//! The tools' view: the workspace as it is on disk now, and one session. A stored session is opened for each call and
//! released afterwards, so that an agent sees the user's current selection and no editor waits for an agent.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use serde_json::Value;
use strata_app::commands::{self, CommandDefinition, CommandError};
use strata_app::model::index::OutlineProgress;
use strata_app::runtime::headless::{Cancel, HeadlessWorkspace, SessionAccess, SessionSource};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SessionChoice {
    /// The server's own session, which no one else sees and which ends with the server.
    Own,
    /// The stored session that was written last, determined at each call. If there is none, the server's own session.
    Newest,
    /// The session that an editor shows at each call. If none is shown, or nothing of it is stored yet, the server's own
    /// session.
    Editor,
    /// The stored session with this name.
    Stored(String),
}

pub(crate) struct WorkspaceView {
    headless: HeadlessWorkspace,
    session_choice: SessionChoice,
    /// Whether a stored session is open.
    has_stored_session: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CallNeeds {
    pub(crate) access: commands::Access,
    pub(crate) index: RequiredIndex,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum RequiredIndex {
    Nothing,
    /// An index of all files.
    All,
    /// What this command needs.
    For(&'static CommandDefinition),
}

impl WorkspaceView {
    /// Creates a view with its own session in memory.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the session cannot be created.
    pub(crate) fn new(
        mut headless: HeadlessWorkspace,
        session_choice: SessionChoice,
    ) -> Result<Self, CommandError> {
        headless.open_session(SessionSource::InMemory)?;
        Ok(Self { headless, session_choice, has_stored_session: false })
    }

    pub(crate) fn headless(&self) -> &HeadlessWorkspace {
        &self.headless
    }

    pub(crate) fn headless_mut(&mut self) -> &mut HeadlessWorkspace {
        &mut self.headless
    }

    pub(crate) fn session_choice(&self) -> &SessionChoice {
        &self.session_choice
    }

    /// Runs `work` on the current files and session.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the files or the session cannot be read, and [`CommandError::Cancelled`] once
    /// `cancel` is set.
    pub(crate) fn prepare_and_run<T>(
        &mut self,
        needs: CallNeeds,
        cancel: &Cancel,
        progress: impl FnMut(OutlineProgress),
        work: impl FnOnce(&mut Self) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        cancel.check()?;
        self.headless.set_cancel(cancel);
        match needs.index {
            RequiredIndex::Nothing => {}
            RequiredIndex::All => self.headless.index(progress)?,
            RequiredIndex::For(command) => {
                self.headless.attach_editors();
                self.headless.prepare(command, progress)?;
            }
        }
        self.headless.attach_editors();
        self.open_session(needs.access)?;
        let result = catch_unwind(AssertUnwindSafe(|| work(self)));
        // Release the session even after a panic, because an editor may be waiting for it.
        if self.has_stored_session {
            self.headless.release_session();
        }
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }

    pub(crate) fn run(&mut self, command: &str, arguments: Value) -> Result<Value, CommandError> {
        self.headless.run(command, arguments)
    }

    fn open_session(&mut self, access: commands::Access) -> Result<(), CommandError> {
        let id = match &self.session_choice {
            SessionChoice::Own => return Ok(()),
            SessionChoice::Stored(id) => Some(id.clone()),
            SessionChoice::Newest => self.headless.newest_session()?,
            SessionChoice::Editor => self.headless.editor_session()?,
        };
        let Some(id) = id else {
            if std::mem::replace(&mut self.has_stored_session, false) {
                self.headless.open_session(SessionSource::InMemory)?;
            }
            return Ok(());
        };
        let access =
            if access == commands::Access::Changes { SessionAccess::Write } else { SessionAccess::Read };
        match self.headless.open_session(SessionSource::Stored(&id, access)) {
            Err(error) if error.is_session_in_use() => Err(CommandError::failed(format!(
                "session `{id}` is open in another program (usually an editor), and only that program can change it: ask the user to make the change there"
            ))),
            opened => {
                opened?;
                self.has_stored_session = true;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::path::PathBuf;
    use std::process::Command;

    use serde_json::json;
    use strata_app::runtime::headless::Settings;

    use super::*;

    /// Environment variable with the folder of the test, set only in the child process.
    const FOLDER: &str = "FOLDER_OF_THE_TEST";

    #[test]
    fn a_session_is_released_after_a_panic() {
        let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else {
            let folder = tempfile::tempdir().unwrap();
            let mut child = Command::new(env::current_exe().unwrap());
            child.args(["view::tests::a_session_is_released_after_a_panic", "--exact"]);
            child.env(FOLDER, folder.path()).env("STRATA_STATE_DIR", folder.path().join("state"));
            let output = child.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
            return;
        };
        let open = || {
            let headless = HeadlessWorkspace::open(&folder, Settings::default()).unwrap();
            headless.open_store().unwrap();
            headless
        };
        let mut editor = open();
        editor.open_session(SessionSource::StoredOrNew("shared")).unwrap();
        editor.run("strata.history.add", json!({ "role": "user", "content": "Why?" })).unwrap();
        drop(editor);
        let mut view = WorkspaceView::new(open(), SessionChoice::Stored("shared".to_owned())).unwrap();
        let needs = CallNeeds { access: commands::Access::Changes, index: RequiredIndex::Nothing };
        let mut panicking_call = || {
            view.prepare_and_run(needs, &Cancel::new(), |_| (), |_| -> Result<(), _> { panic!("on purpose") })
        };
        assert!(catch_unwind(AssertUnwindSafe(&mut panicking_call)).is_err());
        open().open_session(SessionSource::Stored("shared", SessionAccess::Write)).unwrap();
    }
}
