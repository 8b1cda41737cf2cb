//! The lines of a summary, with their topics and values.

use crate::conversation_facts::FileState;

use super::budget::SummaryBudget;

/// What a line of a summary is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum LineTopic {
    /// The user's first request.
    FirstRequest,
    /// The user's requests between the first and the last.
    Requests,
    /// The user's last request.
    LastRequest,
    Constraints,
    Decisions,
    Plans,
    Findings,
    Completed,
    /// Failed approaches.
    Failures,
    /// Unfinished tasks, on one line.
    Remaining,
    /// Errors that were not repaired.
    Errors,
    /// Commands with their outcomes.
    Commands,
    /// Number of calls of each tool.
    Explored,
    /// Names of types, functions or settings, each with a sentence that explains it.
    Concepts,
    /// Files with the most edits.
    MostWorked,
    /// Files that were changed.
    Changed,
    /// Files that were only read.
    Read,
    /// Descriptions of files.
    FileNotes,
    /// First lines of the code last written to each file.
    Changes,
    /// First lines of the code in the last change to any file.
    LastChange,
    TasksDone,
    TasksActive,
    /// Tasks that were not started.
    TasksOpen,
    /// The last tool calls.
    LastCalls,
    /// The assistant's last message.
    LastWords,
    /// The task or error to work on next.
    NextStep,
}

impl LineTopic {
    /// Returns the value of a line of this part, comparable across parts. `rank` is 0 for the best line of the
    /// part. Values decrease with the rank, so that every part gets some lines. They were tuned on recorded
    /// sessions.
    pub(super) fn value_at_rank(self, rank: usize) -> u32 {
        let (best, decay) = match self {
            Self::LastRequest => (1_000, 0),
            Self::FirstRequest => (990, 0),
            Self::Changed => (960, 1),
            Self::Errors => (900, 25),
            Self::TasksActive => (880, 10),
            Self::TasksOpen => (860, 10),
            Self::NextStep => (850, 0),
            Self::Remaining => (655, 0),
            Self::LastWords | Self::LastChange => (800, 0),
            Self::Constraints => (740, 14),
            Self::Requests => (720, 6),
            Self::Decisions => (720, 16),
            Self::Completed => (710, 25),
            Self::Findings => (700, 30),
            Self::Read => (690, 3),
            Self::LastCalls => (680, 0),
            Self::FileNotes => (675, 12),
            Self::Changes => (665, 30),
            Self::MostWorked => (670, 0),
            Self::Failures | Self::Plans => (660, 35),
            Self::Commands => (650, 40),
            Self::Concepts => (640, 40),
            Self::Explored => (600, 0),
            Self::TasksDone => (600, 20),
        };
        let rank = u32::try_from(rank).unwrap_or(u32::MAX / 1_000);
        best * 100 / (100 + decay * rank)
    }
}

/// A line of a summary, or a file on a line that several files share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SummaryLine {
    pub part: LineTopic,
    /// Value of the line. Lines with higher values are selected first.
    pub worth: u32,
    pub content: LineContent,
}

/// Content of a [`SummaryLine`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum LineContent {
    /// A separate line, without its list mark.
    Text(String),
    /// A file. Files with the same state share a line.
    File {
        /// State to report for the file, such as edited or read.
        state: FileState,
        path: String,
    },
}

/// Maximum widths of lines, in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LineWidths {
    /// Width of the first and the last request.
    pub whole_request: usize,
    /// Width of other requests.
    pub request: usize,
    /// Width of other quoted text.
    pub quotation: usize,
    /// Width of command lines and subjects of calls.
    pub subject: usize,
}

impl LineWidths {
    /// Derives widths from `budget`: a fifth of it for the first or last request, and small shares for other
    /// lines, so that several of each kind fit. Assumes four characters per token and six per word.
    pub(super) fn from_budget(budget: &SummaryBudget) -> Self {
        let by_words = budget.words.map_or(usize::MAX, |(_, most)| most.saturating_mul(6));
        let characters = budget.tokens.saturating_mul(4).min(by_words);
        Self {
            whole_request: (characters / 5).clamp(80, 2_000),
            request: (characters / 24).clamp(80, 400),
            quotation: (characters / 32).clamp(80, 240),
            subject: (characters / 48).clamp(60, 120),
        }
    }
}
