//! What a summary is made of: lines and files, each with what it is worth. Knows no section.

use crate::conversation::conversation_facts::FileState;

use super::budget::Budget;

/// What a line is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Part {
    /// The first thing the user asked for.
    FirstRequest,
    /// What the user asked for between the first and the last.
    Requests,
    /// The last thing the user asked for.
    LastRequest,
    /// What the user demands or forbids.
    Constraints,
    /// What was decided.
    Decisions,
    /// What was planned.
    Plans,
    /// What was found out.
    Findings,
    /// What was done.
    Completed,
    /// What did not work.
    Failures,
    /// The tasks that are not done, on one line.
    Remaining,
    /// What failed and was not repaired.
    Errors,
    /// What was run.
    Commands,
    /// How much was looked at.
    Explored,
    /// What things are.
    Concepts,
    /// The files that took most of the work.
    MostWorked,
    /// Files that were changed.
    Changed,
    /// Files that were only read.
    Read,
    /// What files are.
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
    /// What the assistant said last.
    LastWords,
    /// What to do first.
    NextStep,
}

impl Part {
    /// What the `rank`th best line of this part is worth, compared with lines of other parts: what must be
    /// kept comes first, and of everything else some. The figures are tuned on recorded sessions.
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
    /// What it is about.
    pub part: Part,
    /// What it is worth: the larger, the sooner it is taken.
    pub worth: u32,
    /// What it says.
    pub content: Content,
}

/// What a line says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// A line of its own, without the mark of a list.
    Text(String),
    /// A file; those of one state share a line.
    File {
        /// What was done last with it.
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
    /// Command lines, and what a call was about.
    pub subject: usize,
}

impl Widths {
    /// A fifth of the budget for a request that is kept whole, and so much for other lines that several of
    /// each kind find room. A token is about four characters, a word six.
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
