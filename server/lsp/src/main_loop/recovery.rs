//! What is left to do after an event whose handler failed, so that no request waits forever and no text is silently wrong. Says what,
//! does nothing.

use std::sync::Arc;

use strata_engine::key::FileKey;

use super::tasks::opened;
use crate::event::{Event, Waits};
use crate::invalid_notification::InvalidNotification;

/// What is left to do after an event that could not be handled.
pub(super) enum Recovery {
    /// The state is as it was, and that is all.
    Nothing,
    /// What was said of a document is lost, and with it what its text is.
    Document(InvalidNotification),
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

impl Recovery {
    /// What would be left to do for this event, which comes while this session is shown.
    pub(super) fn of(event: &Event, shown: &Arc<str>) -> Self {
        match event {
            Event::Opened(item) => lost("textDocument/didOpen", item.uri.as_str()),
            Event::Changed(params) => lost("textDocument/didChange", params.text_document.uri.as_str()),
            Event::Saved(params) => lost("textDocument/didSave", params.text_document.uri.as_str()),
            Event::Closed(params) => lost("textDocument/didClose", params.text_document.uri.as_str()),
            Event::InvalidNotification(invalid_notification) => Self::Document(invalid_notification.clone()),
            Event::FilesChanged(_)
            | Event::FilesCameOrWent(_)
            | Event::FilesRenamed(_)
            | Event::FoldersChanged(_)
            | Event::Seen(_)
            | Event::Watched(_) => Self::Files,
            Event::Parsed(key, _) => Self::Parse(key.clone()),
            Event::Indexed(run, _) => Self::Index(*run),
            Event::Metered(_) => Self::Meter,
            Event::Drafted(session, number, _) => Self::Compaction(session.clone(), *number),
            Event::Aged(session, _) => Self::Ageing(session.clone()),
            Event::Measured(session, _) => Self::Measuring(session.clone()),
            Event::CommandDone(session, done) => Self::Turn {
                session: session.clone(),
                compaction: match done.waits {
                    Waits::Compaction(number) => Some(number),
                    Waits::Caller(..) | Waits::Nobody => None,
                },
                shown: Arc::clone(shown),
                opened: opened(&done.effects).collect(),
            },
            // Whoever waits for an answer hears that there is none when the event is dropped.
            Event::Initialize(..)
            | Event::Initialized
            | Event::Named(_)
            | Event::ClientDoesNotWatch
            | Event::SettingsChanged(_)
            | Event::Settings(..)
            | Event::WorkspaceSettings(..)
            | Event::ProgressCancelled(_)
            | Event::Asked(..)
            | Event::Command(_)
            | Event::Show(_)
            | Event::IndexSoFar(..)
            | Event::Goodbye => Self::Nothing,
        }
    }
}

fn lost(method: &str, uri: &str) -> Recovery {
    Recovery::Document(InvalidNotification {
        method: method.to_owned(),
        uri: Some(uri.to_owned()),
        problem: "an internal error".to_owned(),
    })
}
