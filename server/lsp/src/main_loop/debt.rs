//! What is owed for a piece of mail: what has to be done when nothing came of it, so that nobody waits for ever and no text is
//! silently wrong. Says what, does nothing.

use std::sync::Arc;

use strata_engine::key::FileKey;

use super::tasks::opened;
use crate::mail::{Mail, Waits};
use crate::misread::Misread;

/// Something to be done when a piece of mail could not be handled.
pub(super) enum Debt {
    /// The state is as it was, and that is all.
    Nothing,
    /// What was said of a document is lost, and with it what its text is.
    Document(Misread),
    /// Files may be others than before.
    Files,
    /// A buffer is not being parsed any more.
    Parse(FileKey),
    /// The index run of this number is over.
    Index(u64),
    /// The meter is not being read any more.
    Meter,
    /// The compaction of this number is over in this session.
    Compaction(String, u64),
    /// Nobody sums up tool results of this session any more.
    Ageing(String),
    /// Nobody counts the next request of this session any more.
    Measuring(String),
    /// A task of a session is over.
    Turn {
        /// The session.
        session: String,
        /// The compaction that the task was to put in place.
        compaction: Option<u64>,
        /// The session that was shown before.
        shown: Arc<str>,
        /// The sessions that the task opened.
        opened: Vec<Arc<str>>,
    },
}

impl Debt {
    /// What is owed for this piece of mail, which comes while this session is shown.
    pub(super) fn of(mail: &Mail, shown: &Arc<str>) -> Self {
        match mail {
            Mail::Opened(item) => lost("textDocument/didOpen", item.uri.as_str()),
            Mail::Changed(params) => lost("textDocument/didChange", params.text_document.uri.as_str()),
            Mail::Saved(params) => lost("textDocument/didSave", params.text_document.uri.as_str()),
            Mail::Closed(params) => lost("textDocument/didClose", params.text_document.uri.as_str()),
            Mail::Misread(misread) => Self::Document(misread.clone()),
            Mail::FilesChanged(_)
            | Mail::FilesCameOrWent(_)
            | Mail::FilesRenamed(_)
            | Mail::FoldersChanged(_)
            | Mail::Seen(_)
            | Mail::Watched(_) => Self::Files,
            Mail::Parsed(key, _) => Self::Parse(key.clone()),
            Mail::Indexed(run, _) => Self::Index(*run),
            Mail::Metered(_) => Self::Meter,
            Mail::Drafted(session, number, _) => Self::Compaction(session.clone(), *number),
            Mail::Aged(session, _) => Self::Ageing(session.clone()),
            Mail::Measured(session, _) => Self::Measuring(session.clone()),
            Mail::CommandDone(session, done) => Self::Turn {
                session: session.clone(),
                compaction: match done.waits {
                    Waits::Compaction(number) => Some(number),
                    Waits::Caller(..) | Waits::Nobody => None,
                },
                shown: Arc::clone(shown),
                opened: opened(&done.effects).collect(),
            },
            // Whoever waits for an answer hears that there is none when the mail is dropped.
            Mail::Initialize(..)
            | Mail::Initialized
            | Mail::Named(_)
            | Mail::ClientDoesNotWatch
            | Mail::SettingsChanged(_)
            | Mail::Settings(..)
            | Mail::WorkspaceSettings(..)
            | Mail::ProgressCancelled(_)
            | Mail::Asked(..)
            | Mail::Command(_)
            | Mail::Show(_)
            | Mail::IndexSoFar(..)
            | Mail::Goodbye => Self::Nothing,
        }
    }
}

fn lost(method: &str, uri: &str) -> Debt {
    Debt::Document(Misread {
        method: method.to_owned(),
        uri: Some(uri.to_owned()),
        problem: "an internal error".to_owned(),
    })
}
