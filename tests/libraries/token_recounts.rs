//! Recounts of a text while it is edited, against a count of the whole text after each edit: 100,000 edits with
//! `STRATA_LONG=1`.

use e2e::{Rng, is_long};
use strata_base::hash::ContentHash;
use strata_tokens::counting::{TokenCounter, Tokenizer};

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
    if is_long() { 100_000 } else { 1_000 }
}

/// The encodings that count exactly.
const EXACT: [Tokenizer; 2] = [Tokenizer::O200k, Tokenizer::Cl100k];

#[test]
fn a_recount_is_the_count_of_the_whole() {
    let source = include_str!("token_recounts.rs").repeat(4);
    let counter = TokenCounter::default();
    for tokenizer in EXACT {
        counter.count(tokenizer, &source);
    }
    let mut rng = Rng::new(7);
    let mut text: Vec<char> = source.chars().collect();
    let (mut before, mut hash) = (source.clone(), ContentHash::from_text(&source));
    for _ in 0..edits() {
        if text.len() < source.len() / 2 {
            text.extend(source.chars());
        }
        let start = rng.below(text.len() + 1);
        // Mostly a few characters, at times many lines.
        let most = if rng.below(20) == 0 { 2_000 } else { 30 };
        let end = (start + rng.below(most)).min(text.len());
        let typed = TYPED[rng.below(TYPED.len())].repeat(1 + rng.below(4) * rng.below(4));
        text.splice(start..end, typed.chars());
        let after: String = text.iter().collect();
        let after_hash = ContentHash::from_text(&after);
        for tokenizer in EXACT {
            let recount = counter.recount(tokenizer, (&before, hash), (&after, after_hash));
            assert_eq!(recount, TokenCounter::default().count(tokenizer, &after), "{tokenizer:?}: {typed:?}");
        }
        (before, hash) = (after, after_hash);
    }
}
