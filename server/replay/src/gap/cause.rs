//! Why a session costs more than its bound.

use std::fmt;

use serde::Serialize;

/// A cause of costs above the bound.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GapCause {
    KeptFiles,
    KeptOutlines,
    KeptUpdates,
    Wording,
    FirstWrites,
    Returned,
    Updates,
    Volatile,
    Deselected,
    Shed,
    Rebuilt,
    OutdatedText,
    Conversation,
    Expired,
    NoBreakpoint,
    Uncached,
    UnreadInside,
    UnreadEnd,
    UnreadLast,
    LongPrompts,
}

impl GapCause {
    /// All causes, in table order.
    pub(crate) const ALL: [Self; 20] = [
        Self::KeptFiles,
        Self::KeptOutlines,
        Self::KeptUpdates,
        Self::Wording,
        Self::FirstWrites,
        Self::Returned,
        Self::Updates,
        Self::Volatile,
        Self::Deselected,
        Self::Shed,
        Self::Rebuilt,
        Self::OutdatedText,
        Self::Conversation,
        Self::Expired,
        Self::NoBreakpoint,
        Self::Uncached,
        Self::UnreadInside,
        Self::UnreadEnd,
        Self::UnreadLast,
        Self::LongPrompts,
    ];
}

impl fmt::Display for GapCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KeptFiles => "read: file texts beyond the smallest version",
            Self::KeptOutlines => "read: outdated outlines, and outlines of selected files",
            Self::KeptUpdates => "read: updates",
            Self::Wording => "read: headings and legend",
            Self::FirstWrites => "first writes beyond those of the bound",
            Self::Returned => "written: returned after an absence",
            Self::Updates => "written: updates",
            Self::Volatile => "never cached: current versions",
            Self::Deselected => "written again: follows a deselected or deleted file",
            Self::Shed => "written again: follows content omitted from a full window",
            Self::Rebuilt => "written again: rebuilt because of a full window",
            Self::OutdatedText => {
                "written again: outdated text removed, because later prompts would have read it"
            }
            Self::Conversation => "written again: conversation or system prompt changed",
            Self::Expired => "written again: cache expired",
            Self::NoBreakpoint => "written again: after the last breakpoint before the break",
            Self::Uncached => "written again: after the last breakpoint of the previous prompt",
            Self::UnreadInside => "write fee, not read by the next prompt: before an inner breakpoint",
            Self::UnreadEnd => "write fee, not read by the next prompt: before the last breakpoint",
            Self::UnreadLast => "write fee of the session's last prompt",
            Self::LongPrompts => "higher price of long prompts",
        })
    }
}
