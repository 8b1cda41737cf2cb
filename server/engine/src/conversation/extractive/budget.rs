//! How long a summary may be.

/// How long a summary may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Budget {
    /// Tokens, at most.
    pub tokens: usize,
    /// Words between white space: a minimum if there is enough material, and a maximum.
    pub words: Option<(usize, usize)>,
}

impl Budget {
    pub(super) fn allows(&self, text: &str, count: &dyn Fn(&str) -> usize) -> bool {
        let words = || text.split_whitespace().count();
        self.words.is_none_or(|(_, most)| words() <= most) && count(text) <= self.tokens
    }
}
