//! What the score of a passage depends on, and the weights for each kind of request.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::symbols::{each_name_word, mentions_code};

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

            /// Returns the higher value of each feature.
            pub(super) fn max(&self, other: &Self) -> Self {
                Self { $($name: self.$name.max(other.$name),)* }
            }
        }
    };
}

features! {
    /// BM25 score of the passage's text, relative to the best one.
    text_match,
    /// Weight of the request's words in the names of the passage's definition and its containers, relative to the best
    /// one.
    name_match,
    /// Share of the request's words that the passage contains, by weight.
    query_coverage,
    /// Whether the request spells the name of the passage's definition.
    exact_name,
    /// Share of the words in the definition's own name that occur in the request.
    name_coverage,
    /// How prominently the best passages mention the passage's definition.
    mentions,
    /// Whether a stack trace in the request points at the passage: 1 for the innermost frame.
    stack_frame,
    /// BM25 score of the whole file, relative to the best one.
    file_text_match,
    /// Relevance of the file by path, names and references.
    file_relevance,
    /// Whether the request contains the file's path.
    file_named,
    /// Logarithm of the passage's length.
    length,
    /// Similarity of the request to the subject of an earlier commit that changed the file.
    similar_commit,
    /// Recency of the file's last change.
    file_recency,
    /// Average recency of the passage's lines.
    line_recency,
    /// Whether the file is open.
    file_open,
    /// Whether this is the first passage of its file, which usually contains the imports.
    first_passage,
    /// Logarithm of the file's size: in a larger file, a smaller part is relevant.
    file_size,
    /// Whether the file has a role, such as tests, that the request does not ask for.
    unrequested_role,
    /// Whether the passage is a test module inside a source file, and the request does not ask for tests.
    inline_test,
}

/// The kind of a request. Commits that answer a request to change code also touch recently changed code and imports,
/// while an answer to a question cites the code that does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// Asks to explain code.
    Question,
    /// Describes a fault or a wish at length, often with names and a stack trace.
    Report,
    /// Asks to change code.
    Change,
}

impl Intent {
    pub(super) fn classify(text: &str) -> Self {
        if text.split_whitespace().nth(REPORT_WORD_THRESHOLD).is_some() {
            Self::Report
        } else if is_question(text) {
            Self::Question
        } else {
            Self::Change
        }
    }

    pub(super) fn weights(self) -> &'static Features {
        match self {
            Self::Question => &QUESTION_WEIGHTS,
            Self::Report => &REPORT_WEIGHTS,
            Self::Change => &CHANGE_WEIGHTS,
        }
    }
}

/// Whether a request says by itself what it is about: a report, or a question that names code. Of recorded requests to
/// change code, 4,000 tokens show 80 % of the places to change if Strata also searches with the two requests before,
/// and 78 % if not; of reports 59 and 64 %.
pub fn is_self_contained(text: &str) -> bool {
    match Intent::classify(text) {
        Intent::Report => true,
        Intent::Question => mentions_code(text),
        Intent::Change => false,
    }
}

/// Returns the part of a token limit that is worth filling with code for a request: all of it for a report, two thirds
/// for a change, and half for a question. Beyond 4,000 tokens, another thousand shows 7 % more of the places that
/// answers to reports changed, and 3 % more for other changes. Of the places that answers to questions cite, 3,000
/// tokens show 53 % and 4,000 tokens 56 %, but of the lines shown, 15 % and 13 % are cited (`docs/content.md`).
pub fn worthwhile_token_limit(text: &str, limit: usize) -> usize {
    match Intent::classify(text) {
        Intent::Report => limit,
        Intent::Change => limit / 3 * 2,
        Intent::Question => limit / 2,
    }
}

/// A request with more words than this is a report.
const REPORT_WORD_THRESHOLD: usize = 60;

/// Words that begin a question. "Do" is not among them: "do the same there" asks for a change.
const QUESTION_WORDS: [&str; 11] =
    ["how", "what", "where", "why", "which", "who", "when", "does", "is", "are", "explain"];

/// Whether a short text asks to explain code: it ends with a question mark or begins with a question word, and does not
/// ask for a change.
fn is_question(text: &str) -> bool {
    let text = text.trim();
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let begins_as_question = words.first().is_some_and(|first| is_one_of(first, &QUESTION_WORDS));
    text.lines().nth(3).is_none() && (begins_as_question || text.ends_with('?')) && !asks_for_change(&words)
}

/// Whether lowercase words contain a request such as "can you rename it". "Can you explain it" and "how can we run it" are
/// questions.
fn asks_for_change(words: &[String]) -> bool {
    const MODALS: [&str; 4] = ["can", "could", "would", "will"];
    const PRONOUNS: [&str; 3] = ["you", "we", "i"];
    const VERBS_OF_EXPLAINING: [&str; 10] =
        ["explain", "tell", "describe", "show", "clarify", "find", "see", "check", "understand", "summarize"];
    words.windows(3).enumerate().any(|(index, window)| {
        let [modal, pronoun, verb] = window else { return false };
        let before = index.checked_sub(1).and_then(|before| words.get(before));
        is_one_of(modal, &MODALS)
            && is_one_of(pronoun, &PRONOUNS)
            && !is_one_of(verb, &VERBS_OF_EXPLAINING)
            && !before.is_some_and(|before| is_one_of(before, &QUESTION_WORDS))
    })
}

fn is_one_of(word: &str, list: &[&str]) -> bool {
    list.contains(&word)
}

// The weights were fitted by coordinate search for the share of needed lines that 2,000, 4,000 and 8,000 tokens show, on
// the development halves of three public sets (`docs/content.md`). A weight that brought nothing is 0.

/// Weights for a change, fitted on 212 requests and commit subjects of people in 13 repositories.
const CHANGE_WEIGHTS: Features = Features {
    text_match: 2.2,
    name_match: 1.45,
    query_coverage: 0.56,
    exact_name: 0.5,
    name_coverage: 0.0,
    mentions: 0.25,
    stack_frame: 4.0,
    file_text_match: 0.78,
    file_relevance: 1.22,
    file_named: 4.0,
    length: 0.0,
    similar_commit: 1.53,
    file_recency: 1.53,
    line_recency: 2.0,
    file_open: 0.85,
    first_passage: 0.6,
    file_size: -0.77,
    unrequested_role: -1.7,
    inline_test: -1.0,
};

/// Weights for a report, fitted on 34 issues of SWE-bench Lite in three repositories.
const REPORT_WEIGHTS: Features = Features {
    text_match: 2.9,
    query_coverage: 0.75,
    exact_name: 1.0,
    name_coverage: 0.6,
    mentions: 0.75,
    stack_frame: 2.7,
    file_text_match: 1.05,
    file_relevance: 1.65,
    file_named: 0.8,
    file_recency: 1.15,
    first_passage: 1.6,
    file_size: -0.38,
    unrequested_role: -4.6,
    ..CHANGE_WEIGHTS
};

/// Weights for a question, fitted on 179 questions of SWE-QA in six repositories.
const QUESTION_WEIGHTS: Features = Features {
    text_match: 1.96,
    name_match: 1.47,
    query_coverage: 0.38,
    exact_name: 0.75,
    mentions: 1.35,
    stack_frame: 0.0,
    file_text_match: 1.05,
    file_relevance: 1.65,
    file_named: 0.0,
    length: -0.81,
    similar_commit: 0.0,
    file_recency: 0.0,
    line_recency: 0.0,
    first_passage: -0.3,
    file_size: -0.51,
    unrequested_role: -0.58,
    ..CHANGE_WEIGHTS
};

/// Words that say what kind of answer a question asks for, not what it is about.
const ANSWER_KIND_WORDS: &str = "purpose mechanism relationship role impact effect influence architecture architectural \
    design rationale pattern approach strategy structure structural logic implementation implement located define \
    determine ensure enable interact interaction integrate integration dependency depend chain flow behavior behaviour \
    process handle provide prevent maintain specific specifically codebase code repository framework system component \
    function method class module object instance data control enforce preserve reconcile affect cause performance \
    overhead different multiple existing whether base use allow perform during across within without instead rather \
    directly underlying internal core custom explain describe work";

/// Whether a stem says what kind of answer is wanted.
pub(super) fn is_answer_kind_word(stem: &str) -> bool {
    static STEMS: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
        let mut stems = FxHashSet::default();
        each_name_word(ANSWER_KIND_WORDS, |word| {
            stems.insert(word.to_owned());
        });
        stems
    });
    STEMS.contains(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polite_request_for_a_change_is_not_a_question() {
        for text in [
            "Can we use tokio instead of async-std?",
            "Looks good. Could you add a footer to both pages?",
            "Would you please rename `Retry`?",
            "rename the field",
            "do the same for the other one",
        ] {
            assert_eq!(Intent::classify(text), Intent::Change, "{text}");
        }
        for text in [
            "Can you explain what the footer does?",
            "how can I run the tests",
            "Where can we configure the timeout?",
            "Which class sends requests, and can it retry?",
            "Do we close the connection?",
        ] {
            assert_eq!(Intent::classify(text), Intent::Question, "{text}");
        }
    }
}
