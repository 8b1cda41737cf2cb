//! What the score of a passage depends on, and the weights for each kind of request.

/// Declares the features of a passage, all between 0 and 1 or logarithms.
macro_rules! features {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The features of a passage, or their weights.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub(super) struct Features {
            $($(#[$doc])* pub(super) $name: f64,)*
        }

        impl Features {
            /// Returns the sum of the features, each multiplied by its weight.
            pub(super) fn weighted(&self, weights: &Self) -> f64 {
                0.0 $(+ self.$name * weights.$name)*
            }
        }
    };
}

features! {
    /// BM25 score of the passage's text, relative to the best one.
    words,
    /// Weight of the request's words in the names of the passage's definition and its containers, relative to the best
    /// one.
    names,
    /// Share of the request's words that the passage contains, by weight.
    covered,
    /// Whether the request spells the name of the passage's definition.
    exact,
    /// How prominently the best passages mention the passage's definition.
    called,
    /// Whether a stack trace in the request points at the passage: 1 for the innermost frame.
    frame,
    /// BM25 score of the whole file, relative to the best one.
    file_words,
    /// Relevance of the file by path, names and references.
    file,
    /// Similarity of the request to the subject of an earlier commit that changed the file.
    past,
    /// Recency of the file's last change.
    recent,
    /// Whether the file is open.
    open,
    /// Whether this is the first passage of its file, which usually contains the imports.
    first,
    /// Logarithm of the file's size: in a larger file, a smaller part is relevant.
    size,
    /// Whether the file has a role, such as tests, that the request does not ask for.
    aside,
    /// Whether the passage is a test module inside a source file, and the request does not ask for tests.
    inline_test,
}

/// The kind of a request. Commits that answer a request to change code also touch its history and imports, while an
/// answer to a question cites the code that does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// Asks to explain code.
    Question,
    /// Asks to change code, or reports a fault.
    Change,
}

impl Intent {
    /// Classifies a request by its form.
    pub(super) fn of(text: &str) -> Self {
        if is_question(text) { Self::Question } else { Self::Change }
    }

    pub(super) fn weights(self) -> &'static Features {
        match self {
            Self::Question => &QUESTION,
            Self::Change => &CHANGE,
        }
    }
}

/// Whether a text is one question: it ends with a question mark or begins with a question word.
fn is_question(text: &str) -> bool {
    const WORDS: [&str; 12] =
        ["how", "what", "where", "why", "which", "who", "when", "does", "do", "is", "are", "explain"];
    let text = text.trim();
    let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    text.lines().count() <= 3 && (text.ends_with('?') || WORDS.contains(&&*first))
}

/// Weights for a change: the log odds that a commit about the request changes the passage, from a logistic regression on
/// the histories of flask and requests.
const CHANGE: Features = Features {
    words: 2.91,
    names: 1.45,
    covered: 0.75,
    exact: 0.0,
    called: 0.0,
    frame: 0.0,
    file_words: 0.78,
    file: 1.22,
    past: 1.53,
    recent: 0.85,
    open: 0.85,
    first: 1.19,
    size: -0.77,
    aside: -4.62,
    inline_test: -1.0,
};

/// Weights for a question.
const QUESTION: Features =
    Features { exact: 3.0, called: 2.0, past: 0.0, recent: 0.0, first: 0.0, size: -0.38, ..CHANGE };
