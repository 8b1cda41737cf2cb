//! The length limits of a summary.

/// Length limits of a summary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SummaryBudget {
    /// Token limit for the summary.
    pub tokens: usize,
    /// Minimum and maximum number of words, which are separated by white space. A summary may have fewer words
    /// if there is not enough to summarize.
    pub words: Option<(usize, usize)>,
}

impl SummaryBudget {
    pub(super) fn allows(&self, text: &str, count: &dyn Fn(&str) -> usize) -> bool {
        let words = || text.split_whitespace().count();
        self.words.is_none_or(|(_, most)| words() <= most) && count(text) <= self.tokens
    }
}
