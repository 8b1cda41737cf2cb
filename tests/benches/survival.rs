//! How long outlines of broken, deep, odd and ambiguous texts take and how much memory, by language. `cargo bench -p e2e --bench survival
//! -- [MUTATIONS | FROM..TO] [LANGUAGE]...`, so that several processes can share the mutations. A text that takes more work than the limit is given up and counted.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::ops::Range;
use std::time::{Duration, Instant};

use e2e::Rng;
use e2e::mutation::mutated;
use e2e::process::Process;
use strata_base::cancel::Cancel;
use strata_code::outline::Outline;
use strata_grammars::LanguageId;

/// Nested this deep, in every language.
const DEEP: usize = 60_000;

const NESTS: [(&str, &str, &str); 10] = [
    ("(", "1", ")"),
    ("[", "1", "]"),
    ("{", "1", "}"),
    ("let x: A<", "B", ">"),
    ("A<", "B", ">"),
    ("type X = { a: ", "B", " }"),
    ("f(", "1", ")"),
    ("if x { ", "1", " }"),
    ("a ? b : ", "1", ""),
    ("- ", "1", ""),
];

/// Bytes of a text that repeats a few of [`WORDS`].
const REPEATED: usize = 50_000;

const WORDS: [&str; 64] = [
    "<", ">", "(", ")", "[", "]", "{", "}", "a", "b ", "::", "if ", "=>", "*", "&", "`", "\"", "#", "!", "?",
    "|", "..", ",", ";", ":", "=", "->", "+", "-", "/", "~", "@", "$", "%", "^", "\n", " ", "\\", "'", "fn ",
    "let ", "for ", "in ", "as ", "1", "<a", "</", "${", "|||", "&&", "do ", "end ", "type ", "new ", "==",
    "await ", "async ", "return ", "class ", "not ", "lambda ", "else ", "case ", "match ",
];

#[expect(unsafe_code, reason = "what makes it safe is to do it first")]
fn main() {
    // SAFETY: nothing of tree-sitter's was made yet.
    unsafe { strata_grammars::allocator::use_mimalloc() };
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let wanted_seeds = arguments.iter().find_map(|argument| seeds(argument)).unwrap_or(0..1_000);
    let wanted: Vec<&String> = arguments.iter().filter(|argument| seeds(argument).is_none()).collect();
    println!("deep texts are nested {DEEP} times");
    println!(
        "{:<12}{:>10}{:>9}{:>9}{:>10}{:>9}  {:>9}{:>9}  {:>9}{:>9}{:>9}",
        "",
        "mutations",
        "MB",
        "mean",
        "slowest",
        "given up",
        "deep",
        "given up",
        "repeated",
        "given up",
        "peak MB"
    );
    for language in LanguageId::all() {
        if !wanted.is_empty() && !wanted.iter().any(|name| **name == language.name) {
            continue;
        }
        let others = LanguageId::all().filter(|other| *other != language).map(|language| language.fixture);
        let own = std::iter::repeat_n(language.fixture, 3 * LanguageId::COUNT);
        let fixtures: Vec<&str> = own.chain(others).collect();
        let odd = Times::of(language, wanted_seeds.clone().map(|seed| mutated(&fixtures, seed)));
        let deep = Times::of(
            language,
            NESTS.iter().flat_map(|(open, inside, close)| {
                let (open, close) = (open.repeat(DEEP), close.repeat(DEEP));
                [format!("x = {open}{inside}{close}"), format!("type x = {open}{inside}{close};"), open]
            }),
        );
        let repeated = Times::of(language, wanted_seeds.clone().step_by(10).map(repeated));
        println!(
            "{:<12}{:>10}{:>9.1}{:>9.2?}{:>10.1?}{:>9}  {:>9.1?}{:>9}  {:>9.1?}{:>9}{:>9.0}",
            language.name,
            odd.texts,
            odd.bytes as f64 / 1e6,
            odd.all / u32::try_from(odd.texts.max(1)).unwrap_or(u32::MAX),
            odd.slowest,
            odd.given_up,
            deep.slowest,
            deep.given_up,
            repeated.slowest,
            repeated.given_up,
            Process::own().peak().map_or(f64::NAN, |kib| kib as f64 * 1024.0 / 1e6),
        );
    }
}

/// One to four words, over and over.
fn repeated(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let words: String = (0..=rng.below(4)).map(|_| WORDS[rng.below(WORDS.len())]).collect();
    words.repeat(REPEATED / words.len() + 1)
}

/// `1000`, or `1000..2000`.
fn seeds(argument: &str) -> Option<Range<u64>> {
    let (from, to) = argument.split_once("..").unwrap_or(("0", argument));
    Some(from.parse().ok()?..to.parse().ok()?)
}

#[derive(Default)]
struct Times {
    texts: usize,
    bytes: usize,
    all: Duration,
    slowest: Duration,
    given_up: usize,
}

impl Times {
    fn of(language: LanguageId, texts: impl Iterator<Item = String>) -> Self {
        let mut times = Self::default();
        for text in texts {
            let start = Instant::now();
            let outline = Outline::read(language, &text, &Cancel::new());
            times.given_up += usize::from(!outline.is_ok_and(|outline| outline.unparsed.is_none()));
            times.texts += 1;
            times.bytes += text.len();
            times.all += start.elapsed();
            times.slowest = times.slowest.max(start.elapsed());
        }
        times
    }
}
