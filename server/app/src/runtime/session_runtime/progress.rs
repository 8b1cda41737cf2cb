//! Work whose progress is shown to the user, who may cancel it.

/// Names work to the client. Front ends convert it to the form of their protocol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProgressToken {
    Number(i32),
    Text(String),
}

/// Work that takes a while and shows its progress, numbered separately for each kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TrackedWork {
    Indexing(u64),
    Compacting(u64),
    AskingModel(u64),
}

impl TrackedWork {
    /// Returns the progress token of the work.
    pub fn token(self) -> ProgressToken {
        ProgressToken::Text(match self {
            Self::Indexing(number) => format!("strata/index/{number}"),
            Self::Compacting(number) => format!("strata/compaction/{number}"),
            Self::AskingModel(number) => format!("strata/ask/{number}"),
        })
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Indexing(_) => "Indexing",
            Self::Compacting(_) => "Compacting the conversation",
            Self::AskingModel(_) => "Asking the model",
        }
    }
}
