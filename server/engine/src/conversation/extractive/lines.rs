//! The material of a summary: lines and files with their values. Knows no section.

use crate::conversation::conversation_facts::FileState;

use super::budget::Budget;

/// The topic of a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Part {
    /// The first thing the user asked for.
    FirstRequest,
    /// Requests between the first and the last.
    Requests,
    /// The last thing the user asked for.
    LastRequest,
    /// Demands and prohibitions of the user.
    Constraints,
    /// Decisions.
    Decisions,
    /// Plans.
    Plans,
    /// Findings.
    Findings,
    /// Finished work.
    Completed,
    /// Failed approaches.
    Failures,
    /// The tasks that are not done, on one line.
    Remaining,
    /// Failures that were not repaired.
    Errors,
    /// Commands that ran.
    Commands,
    /// How much was looked at.
    Explored,
    /// Descriptions of concepts.
    Concepts,
    /// The files that took most of the work.
    MostWorked,
    /// Files that were changed.
    Changed,
    /// Files that were only read.
    Read,
    /// Descriptions of files.
    FileNotes,
    /// The code that was written to files.
    Changes,
    /// The code that was written last.
    LastChange,
    /// Finished tasks.
    TasksDone,
    /// Tasks that were started.
    TasksActive,
    /// Tasks that were not started.
    TasksOpen,
    /// The last tool calls.
    LastCalls,
    /// The assistant's last message.
    LastWords,
    /// The first thing to do next.
    NextStep,
}

impl Part {
    /// Value of the `rank`th best line of this part relative to other parts: required lines first, and some of everything else.
    /// The values are tuned on recorded sessions.
    pub(super) fn worth(self, rank: usize) -> u32 {
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

/// One line, or one file of a line that several share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line {
    /// Its part.
    pub part: Part,
    /// Its value; higher is selected first.
    pub worth: u32,
    /// Its content.
    pub content: Content,
}

/// The content of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// A line of its own, without the mark of a list.
    Text(String),
    /// A file. Files with the same state share a line.
    File {
        /// The last operation on it.
        state: FileState,
        path: String,
    },
}

/// How wide lines may be, in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Widths {
    /// The first and the last request.
    pub whole_request: usize,
    /// Other requests.
    pub request: usize,
    /// Anything else that is quoted.
    pub quotation: usize,
    /// Maximum characters of command lines and subjects of calls.
    pub subject: usize,
}

impl Widths {
    /// Allows a fifth of the budget for a request that is kept whole, and little enough for other lines that several of each kind
    /// fit. Assumes four characters per token and six per word.
    pub(super) fn of(budget: &Budget) -> Self {
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
