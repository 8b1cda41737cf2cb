//! Counts that are kept while a text is edited, against a count of the whole text after each edit: 100,000 edits with
//! `STRATA_LONG=1`.

use std::env;

use e2e::Rng;
use ropey::Rope;
use strata_engine::tokens::counting::{CountedText, TokenCounter, Tokenizer};

/// What is typed: code, and what the split patterns and the places of cuts are sensitive to.
const TYPED: &[&str] = &[
    "",
    "",
    "",
    "x",
    " ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "/",
    "//\n",
    "\n/",
    "    ",
    "\t",
    " \n ",
    ")\n",
    "é",
    "語",
    "😀",
    "\u{301}",
    "\u{a0}",
    "\u{2028}",
    "don't",
    "    let value = compute(1, \"x\");\n",
    "# a comment\n\n\n",
    "}\n\n\n\n    }",
    "'''",
    "1234567",
];

/// How many edits: 100,000 with `STRATA_LONG=1`.
fn edits() -> usize {
    if env::var_os("STRATA_LONG").is_some() { 100_000 } else { 1_000 }
}

/// A text with its counts in both encodings.
struct Edited {
    counter: TokenCounter,
    text: Rope,
    counts: [(Tokenizer, CountedText); 2],
}

impl Edited {
    fn new(text: &str) -> Self {
        let (counter, text) = (TokenCounter::new(), Rope::from_str(text));
        let counts = [Tokenizer::O200k, Tokenizer::Cl100k]
            .map(|tokenizer| (tokenizer, CountedText::new(&counter, tokenizer, &text)));
        Self { counter, text, counts }
    }

    #[track_caller]
    fn replace(&mut self, start: usize, end: usize, typed: &str) {
        let gone = self.text.char_to_byte(start)..self.text.char_to_byte(end);
        self.text.remove(start..end);
        self.text.insert(start, typed);
        let whole = self.text.to_string();
        for (tokenizer, kept) in &mut self.counts {
            kept.edited(&self.counter, &self.text, gone.clone(), typed.len());
            assert_eq!(
                kept.tokens(&self.text),
                self.counter.count(*tokenizer, &whole),
                "{tokenizer:?}: {typed:?}"
            );
        }
    }
}

#[test]
fn a_count_that_is_kept_is_the_count_of_the_whole() {
    let source = include_str!("token_recounts.rs").repeat(4);
    let mut rng = Rng::new(7);
    let mut edited = Edited::new(&source);
    for _ in 0..edits() {
        let length = edited.text.len_chars();
        if length < source.len() / 2 {
            edited.replace(length, length, &source);
        }
        let start = rng.below(length + 1);
        // Mostly a few characters, at times many lines.
        let most = if rng.below(20) == 0 { 2_000 } else { 30 };
        let end = (start + rng.below(most)).min(length);
        let typed = TYPED[rng.below(TYPED.len())].repeat(1 + rng.below(4) * rng.below(4));
        edited.replace(start, end, &typed);
    }
}
