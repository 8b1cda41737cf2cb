//! Prints how fast tokens are counted, against tiktoken-rs in the same run, and how long the worst texts
//! take: `cargo run --release -p strata-engine --example count_tokens -- DIRECTORY [EXTENSION]`.
//!
//! Exits with a failure when any count differs.
#![expect(clippy::print_stdout, reason = "printing is what a measurement is for")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "an example may read files and clocks; the engine may not"
)]
#![expect(clippy::expect_used, reason = "a measurement that cannot run should say so at once")]

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use strata_engine::tokens::{TokenCounter, Tokenizer};

const ROUNDS: usize = 5;
const MB: usize = 1_000_000;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(directory) = arguments.next() else {
        println!("usage: count_tokens DIRECTORY [EXTENSION]");
        return ExitCode::FAILURE;
    };
    let extension = arguments.next().unwrap_or_else(|| "py".to_owned());
    let mut texts = Vec::new();
    collect(Path::new(&directory), &extension, &mut texts);
    texts.sort();
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{} files, {:.1} MB", texts.len(), bytes as f64 / MB as f64);

    let mut different = 0;
    for tokenizer in [Tokenizer::O200k, Tokenizer::Cl100k] {
        different += against_tiktoken(tokenizer, &texts, bytes);
    }
    worst_cases(&texts);
    recount(&texts);
    if different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Interleaved rounds over all files, each with a counter that remembers nothing yet.
fn against_tiktoken(tokenizer: Tokenizer, texts: &[String], bytes: usize) -> usize {
    let (load, loaded) = timed(|| TokenCounter::new().warm_up(tokenizer));
    loaded.expect("the vocabulary loads");
    let (reference_load, reference) = timed(|| match tokenizer {
        Tokenizer::Cl100k => tiktoken_rs::cl100k_base(),
        _ => tiktoken_rs::o200k_base(),
    });
    let reference = reference.expect("tiktoken-rs loads");
    let (mut ours, mut theirs, mut different) = (Vec::new(), Vec::new(), 0);
    let mut again = Vec::new();
    for _ in 0..ROUNDS {
        let counter = TokenCounter::new();
        let (time, counts) = timed(|| count_each(&counter, tokenizer, texts));
        ours.push(time);
        again.push(timed(|| count_each(&counter, tokenizer, texts)).0);
        let (time, expected) =
            timed(|| texts.iter().map(|text| reference.count_ordinary(text)).collect::<Vec<_>>());
        theirs.push(time);
        different = counts.iter().zip(&expected).filter(|(count, expected)| count != expected).count();
    }
    let speed = |times: &mut Vec<Duration>| bytes as f64 / MB as f64 / median(times).as_secs_f64();
    let (ours, again, theirs) = (speed(&mut ours), speed(&mut again), speed(&mut theirs));
    println!(
        "{tokenizer:?}: {ours:.0} MB/s, remembered {again:.0} MB/s, tiktoken-rs {theirs:.0} MB/s, ratio {:.1}; \
         {different} files differ; load {} ms (tiktoken-rs {} ms)",
        ours / theirs,
        load.as_millis(),
        reference_load.as_millis(),
    );
    different
}

fn count_each(counter: &TokenCounter, tokenizer: Tokenizer, texts: &[String]) -> Vec<usize> {
    texts.iter().map(|text| counter.count(tokenizer, text)).collect()
}

/// One megabyte of what breaks other counters, as a multiple of one megabyte of the files.
fn worst_cases(texts: &[String]) {
    let mut source = String::new();
    for text in texts {
        if source.len() >= MB {
            break;
        }
        source.push_str(text);
    }
    let fresh = |text: &str| {
        let mut times: Vec<Duration> = (0..ROUNDS)
            .map(|_| {
                let counter = TokenCounter::new();
                timed(|| counter.count(Tokenizer::O200k, text)).0
            })
            .collect();
        median(&mut times).as_secs_f64() * 1e3 * MB as f64 / text.len() as f64
    };
    let base = fresh(&source);
    println!("1 MB of these files: {base:.1} ms");
    let mut state = 1_u64;
    let random: String = (0..MB)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b'a' + (state >> 33) as u8 % 26)
        })
        .collect();
    let one = |pattern: &str| pattern.repeat(MB / pattern.len());
    let cases = [
        ("letter", one("a")),
        ("capital", one("A")),
        ("space", one(" ")),
        ("tab", one("\t")),
        ("newline", one("\n")),
        ("CRLF", one("\r\n")),
        ("no-break space", one("\u{a0}")),
        ("dash", one("-")),
        ("slash", one("/")),
        ("digit", one("1")),
        ("emoji", one("😀")),
        ("combining mark", one("\u{301}")),
        ("ideograph", one("語")),
        ("e + mark", one("e\u{301}")),
        ("case changes", one("aB")),
        ("apostrophes", one("'s")),
        ("word, no space", one("abcdefgh")),
        ("random letters", random),
    ];
    for (name, text) in &cases {
        let time = fresh(text);
        println!("  1 MB, {name}: {time:.1} ms, {:.1} x", time / base);
    }
}

/// A count after one line of a large text changed.
fn recount(texts: &[String]) {
    let mut text = String::new();
    for other in texts {
        if text.len() >= MB {
            break;
        }
        text.push_str(other);
    }
    let counter = TokenCounter::new();
    let (full, _) = timed(|| counter.count(Tokenizer::O200k, &text));
    let mut times = Vec::new();
    for i in 0..ROUNDS * 5 {
        let middle = text[..text.len() * (i + 1) / 30].rfind('\n').map_or(0, |newline| newline + 1);
        text.insert_str(middle, &format!("edited line {i}\n"));
        times.push(timed(|| counter.count(Tokenizer::O200k, &text)).0);
    }
    println!(
        "{:.1} MB: {:.1} ms at first, {:.2} ms after an edit of one line",
        text.len() as f64 / MB as f64,
        full.as_secs_f64() * 1e3,
        median(&mut times).as_secs_f64() * 1e3
    );
}

fn collect(directory: &Path, extension: &str, texts: &mut Vec<String>) {
    let entries = std::fs::read_dir(directory).expect("the directory can be read");
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, extension, texts);
        } else if path.extension().is_some_and(|found| found == extension) {
            texts.extend(std::fs::read_to_string(&path));
        }
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}
