//! How fast tokens are counted, next to tiktoken-rs in the same run: `cargo bench -p e2e --bench tokens -- DIR...`.
//!
//! Counts every text below the directories. Rounds are interleaved, what is printed are medians, and each count begins with a
//! counter that remembers nothing: "first" is a pass over all texts, "steady" a pass over texts that are not known but
//! whose words are (half of them, after the others were counted). A text that is known costs its hash. Then come
//! megabytes that are hard to count. Times are of the processor. Peaks of memory are those of a process each.
//!
//! `-- --answer` serves `tests/benches/peers/tiktoken_diff`: it reads texts (a length in four bytes, then UTF-8) and
//! writes a line with the two counts of each.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::print_stderr, reason = "a bench says how it is called")]

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

use e2e::Times;
use e2e::process::Process;
use strata_base::hash::ContentHash;
use strata_tokens::counting::{TokenCounter, Tokenizer};
use tiktoken_rs::CoreBPE;

const ROUNDS: usize = 5;
const MB: usize = 1_000_000;
/// Lines that are edited in a megabyte.
const EDITS: usize = 2_000;
/// Larger files are no source code.
const LARGEST: u64 = 4 << 20;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &*arguments.iter().map(String::as_str).collect::<Vec<_>>() {
        ["--answer"] => {
            if let Err(error) = answer(&mut io::stdin().lock(), &mut io::stdout().lock()) {
                eprintln!("{error}");
                std::process::exit(1);
            }
        }
        ["--peak", who, directories @ ..] => peak(who, &texts(directories)),
        [] => eprintln!("usage: cargo bench -p e2e --bench tokens -- DIR..."),
        directories => report(directories),
    }
}

fn report(directories: &[&str]) {
    let texts = texts(directories);
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{} texts, {:.1} MB; medians of {ROUNDS}", texts.len(), bytes as f64 / MB as f64);
    for tokenizer in [Tokenizer::O200k, Tokenizer::Cl100k] {
        against_tiktoken(tokenizer, &texts);
    }
    for who in ["strata", "tiktoken-rs", "nobody"] {
        let own = env::current_exe().map(Command::new);
        let output = own.and_then(|mut own| own.arg("--peak").arg(who).args(directories).output());
        print!(
            "{}",
            output.map_or_else(
                |error| error.to_string(),
                |done| String::from_utf8_lossy(&done.stdout).into_owned()
            )
        );
    }
    let source = megabyte_of(&texts);
    hard(&source);
    edits(&source);
}

/// Both over all texts, and whether they agree.
fn against_tiktoken(tokenizer: Tokenizer, texts: &[String]) {
    let Some(reference) = reference(tokenizer) else { return println!("tiktoken-rs does not load") };
    // Not every second one: names of files alternate, too.
    let is_first = |at: usize| at.wrapping_mul(2_654_435_761) >> 16 & 1 == 0;
    let (one, other): (Vec<_>, Vec<_>) = texts.iter().enumerate().partition(|(at, _)| is_first(*at));
    let halves = [one, other].map(|half| half.into_iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>());
    let all: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (mut first, mut steady, mut known) = (Vec::new(), Vec::new(), Vec::new());
    let (mut theirs, mut theirs_steady) = (Vec::new(), Vec::new());
    let mut different = 0;
    for _ in 0..ROUNDS {
        let counter = TokenCounter::default();
        let (time, counts) = timed(|| count_each(&counter, tokenizer, &all));
        first.push(speed(&all, time));
        known.push(speed(&all, timed(|| count_each(&counter, tokenizer, &all)).0));
        let counter = TokenCounter::default();
        count_each(&counter, tokenizer, &halves[0]);
        steady.push(speed(&halves[1], timed(|| count_each(&counter, tokenizer, &halves[1])).0));
        let (time, expected) =
            timed(|| all.iter().map(|text| reference.count_ordinary(text)).collect::<Vec<_>>());
        theirs.push(speed(&all, time));
        let (time, _) = timed(|| halves[1].iter().map(|text| reference.count_ordinary(text)).sum::<usize>());
        theirs_steady.push(speed(&halves[1], time));
        different = counts.iter().zip(&expected).filter(|(count, expected)| count != expected).count();
    }
    let [first, steady, known, theirs, theirs_steady] =
        [first, steady, known, theirs, theirs_steady].map(median);
    println!(
        "{tokenizer:?}: first {first:.0} MB/s = {:.1} x tiktoken-rs ({theirs:.0}), steady {steady:.0} MB/s = {:.1} x, known texts \
         {known:.0} MB/s; {different} texts differ",
        first / theirs,
        steady / theirs_steady,
    );
}

fn count_each(counter: &TokenCounter, tokenizer: Tokenizer, texts: &[&str]) -> Vec<usize> {
    texts.iter().map(|text| counter.count(tokenizer, text)).collect()
}

/// One count of everything in a process of its own, and how much memory that took at most.
fn peak(who: &str, texts: &[String]) {
    match who {
        "strata" => drop(count_each(
            &TokenCounter::default(),
            Tokenizer::O200k,
            &texts.iter().map(String::as_str).collect::<Vec<_>>(),
        )),
        "tiktoken-rs" => {
            let Some(reference) = reference(Tokenizer::O200k) else { return };
            std::hint::black_box(texts.iter().map(|text| reference.count_ordinary(text)).sum::<usize>());
        }
        _ => {}
    }
    println!(
        "peak memory, {who} counting: {}",
        Process::own().peak().map_or_else(|| "unknown".to_owned(), |kib| format!("{kib} KiB"))
    );
}

/// One megabyte of what breaks other counters, as a multiple of one megabyte of source code.
fn hard(source: &str) {
    let fresh = |text: &str| {
        let times = (0..ROUNDS).map(|_| {
            let counter = TokenCounter::default();
            milliseconds(timed(|| counter.count(Tokenizer::O200k, text)).0) * MB as f64 / text.len() as f64
        });
        median(times.collect())
    };
    let base = fresh(source);
    println!("1 MB of the texts: {base:.1} ms; 1 MB of");
    let mut state = 1_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let letters: String = (0..MB).map(|_| char::from(b'a' + u8::try_from(next(26)).unwrap_or(0))).collect();
    let hexadecimal: String =
        (0..MB / 16).map(|_| format!("{:08x}{:08x}", next(1 << 30), next(1 << 30))).collect();
    let one = |pattern: &str| pattern.repeat(MB / pattern.len());
    let cases = [
        ("a letter", one("a")),
        ("a capital", one("A")),
        ("spaces", one(" ")),
        ("tabs", one("\t")),
        ("newlines", one("\n")),
        ("CRLF", one("\r\n")),
        ("no-break spaces", one("\u{a0}")),
        ("dashes", one("-")),
        ("equals signs", one("=")),
        ("slashes", one("/")),
        ("a digit", one("1")),
        ("an emoji", one("😀")),
        ("joined emoji", one("👩\u{200d}💻")),
        ("a combining mark", one("\u{301}")),
        ("a letter and a mark", one("e\u{301}")),
        ("an ideograph", one("語")),
        ("two cases", one("aB")),
        ("apostrophes", one("'s")),
        ("one word", one("abcdefgh")),
        ("dashes and plusses", one("-+")),
        ("spaces, then tabs", one(" \t")),
        ("random letters", letters),
        ("random hexadecimal", hexadecimal),
    ];
    for (name, text) in &cases {
        let time = fresh(text);
        println!("  {name}: {time:.1} ms, {:.1} x", time / base);
    }
}

/// Counts after one line of a megabyte changed.
fn edits(source: &str) {
    let (counter, tokenizer) = (TokenCounter::default(), Tokenizer::O200k);
    let mut lines: Vec<String> = source.split_inclusive('\n').map(str::to_owned).collect();
    let mut before = source.to_owned();
    let mut hash = ContentHash::from_text(&before);
    counter.count_hashed(tokenizer, &before, hash);
    let (mut times, mut wrong, mut checked) = (Vec::new(), 0, 0);
    for edit in 0..EDITS {
        // Lines all over the text, not one after the other.
        let line = edit * 7_919 % lines.len();
        lines[line] = format!("    edited = line({edit})\n");
        let after = lines.concat();
        let after_hash = ContentHash::from_text(&after);
        let start = Instant::now();
        let count = counter.recount(tokenizer, (&before, hash), (&after, after_hash));
        times.push(start.elapsed());
        if edit % 100 == 0 {
            checked += 1;
            wrong += usize::from(count != TokenCounter::default().count(tokenizer, &after));
        }
        (before, hash) = (after, after_hash);
    }
    println!(
        "recount after an edit of one line in {:.1} MB: {}; {wrong} of {checked} counts that were checked are wrong",
        before.len() as f64 / MB as f64,
        times.into_iter().collect::<Times>(),
    );
}

fn reference(tokenizer: Tokenizer) -> Option<CoreBPE> {
    match tokenizer {
        Tokenizer::Cl100k => tiktoken_rs::cl100k_base().ok(),
        _ => tiktoken_rs::o200k_base().ok(),
    }
}

/// Answers each text with its counts.
fn answer(input: &mut impl Read, output: &mut impl Write) -> io::Result<()> {
    let counter = TokenCounter::default();
    let mut length = [0; 4];
    loop {
        match input.read_exact(&mut length) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return output.flush(),
            Err(error) => return Err(error),
        }
        let mut content = vec![0; usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX)];
        input.read_exact(&mut content)?;
        let text = String::from_utf8(content).map_err(io::Error::other)?;
        let [o200k, cl100k] =
            [Tokenizer::O200k, Tokenizer::Cl100k].map(|tokenizer| counter.count(tokenizer, &text));
        writeln!(output, "{o200k} {cl100k}")?;
    }
}

/// Every text below the directories, in an order that does not depend on the machine.
fn texts(directories: &[&str]) -> Vec<String> {
    let mut texts = Vec::new();
    let mut open: Vec<PathBuf> =
        directories.iter().rev().map(|directory| Path::new(directory).to_owned()).collect();
    while let Some(path) = open.pop() {
        let Ok(entries) = fs::read_dir(&path) else {
            let small = fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= LARGEST);
            texts.extend(
                small.then(|| fs::read_to_string(&path).ok()).flatten().filter(|text| !text.contains('\0')),
            );
            continue;
        };
        let mut below: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| !path.is_symlink()).collect();
        below.sort_unstable_by(|a, b| b.cmp(a));
        open.extend(below);
    }
    texts
}

fn megabyte_of(texts: &[String]) -> String {
    let mut source = String::new();
    for text in texts.iter().filter(|text| text.len() < MB / 10) {
        source.push_str(text);
        if source.len() >= MB {
            break;
        }
    }
    source
}

/// The time that this thread worked, where the system tells it; else the time that passed.
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let (start, worked) = (Instant::now(), processor_time());
    let result = work();
    let took = worked.zip(processor_time()).map(|(before, after)| after.saturating_sub(before));
    (took.unwrap_or_else(|| start.elapsed()), result)
}

/// What this thread has used so far. On a busy machine it says more than the wall.
fn processor_time() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    stat.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

fn speed(texts: &[&str], time: Duration) -> f64 {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    bytes as f64 / MB as f64 / time.as_secs_f64()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
