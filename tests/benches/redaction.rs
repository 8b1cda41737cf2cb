//! How often ordinary source lines are taken for secrets, how many planted credentials and how many secrets of the corpus in
//! `tests/safety/secrets` are not found, and what a look costs beside counting tokens and hashing. With folders as arguments:
//! `cargo bench -p e2e --bench redaction -- FOLDER...`; every line that is hit goes to standard error, with what was taken for
//! a secret. More lines than one in 20,000 fail. Lines of private keys are counted separately: a key in a folder with tests
//! has the form of a private key, and nothing shows that it is unused.

#![expect(clippy::print_stdout, reason = "a bench prints")]
#![expect(clippy::print_stderr, reason = "lines of somebody else's sources are no figures")]

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use e2e::Rng;
use e2e::credentials::planted;
use e2e::secret_corpus::{Half, entries, recall};
use strata_base::hash::ContentHash;
use strata_tokens::counting::{TokenCounter, Tokenizer};
use strata_tokens::redaction::find_secrets;

/// So many credentials are planted.
const PLANTED: usize = 200_000;
/// Each figure is the best of so many runs.
const RUNS: usize = 5;

/// Of so many ordinary lines one may be taken for a secret.
const LINES: usize = 20_000;

fn main() -> ExitCode {
    missed();
    corpus();
    let mut exit = ExitCode::SUCCESS;
    for folder in std::env::args().skip(1).filter(|argument| !argument.starts_with("--")) {
        let mut files = Vec::new();
        collect(Path::new(&folder), &mut files);
        files.sort();
        let read = |path: PathBuf| Some((fs::read_to_string(&path).ok()?, path));
        let texts: Vec<(String, PathBuf)> = files.into_iter().filter_map(read).collect();
        if !is_rarely_hit(Path::new(&folder), &texts) {
            exit = ExitCode::FAILURE;
        }
        cost(&texts);
    }
    exit
}

fn missed() {
    let mut rng = Rng::new(1);
    let is_missed = |number: usize, rng: &mut Rng| {
        let one = planted(rng, number);
        let left = without_secrets(&one.text);
        one.secrets.iter().any(|secret| left.contains(secret.as_str()))
    };
    let missed = (0..PLANTED).filter(|number| is_missed(*number, &mut rng)).count();
    println!("{missed} of {PLANTED} planted credentials are not found");
}

/// Prints the share of the corpus that is found.
fn corpus() {
    let entries = entries();
    for (half, name) in [(Half::Development, "development"), (Half::HeldBack, "held-back")] {
        let (recall, missed) = recall(&entries, half, without_secrets);
        let share = recall.found as f64 * 100.0 / recall.all as f64;
        println!(
            "{} of {} secrets in the {name} half of the corpus are found, {share:.1} %",
            recall.found, recall.all
        );
        for one in missed {
            eprintln!("  {one}");
        }
    }
}

fn without_secrets(text: &str) -> String {
    let mut left = text.to_owned();
    for hit in find_secrets(text).iter().rev() {
        left.replace_range(hit.range.clone(), " ");
    }
    left
}

fn is_rarely_hit(folder: &Path, texts: &[(String, PathBuf)]) -> bool {
    let lines: usize = texts.iter().map(|(text, _)| text.lines().count()).sum();
    let (mut hit_lines, mut key_lines) = (0, 0);
    for (text, path) in texts {
        let mut last = 0;
        for hit in find_secrets(text) {
            let line = text[..hit.range.start].matches('\n').count() + 1;
            let is_key = hit.rule.contains("private-key");
            key_lines += usize::from(is_key && line != last);
            hit_lines += usize::from(!is_key && line != last);
            last = line;
            eprintln!("  {}:{line} {} {}", path.display(), hit.rule, &text[hit.range]);
        }
    }
    let name = folder.file_name().unwrap_or(folder.as_os_str()).display();
    println!(
        "{name}: {hit_lines} of {lines} lines, 1 in {}, and {key_lines} lines of private keys",
        lines / hit_lines.max(1)
    );
    hit_lines * LINES <= lines
}

fn cost(texts: &[(String, PathBuf)]) {
    let told = |what: &str, time: Duration| {
        let bytes: usize = texts.iter().map(|(text, _)| text.len()).sum();
        println!("  {what}: {:.0} MB/s", bytes as f64 / 1e6 / time.as_secs_f64());
    };
    told("looking for secrets", best(texts, |text| find_secrets(text).len()));
    told("hashing", best(texts, |text| usize::from(ContentHash::from_text(text).to_bytes()[0])));
    told("copying", best(texts, |text| black_box(text.as_bytes().to_vec()).len()));
    // A counter remembers what it has counted: once through is all there is to measure.
    let counter = TokenCounter::default();
    told("counting tokens", once(texts, |text| counter.count(Tokenizer::O200k, text)));
}

fn best(texts: &[(String, PathBuf)], look: impl Fn(&str) -> usize) -> Duration {
    (0..RUNS).map(|_| once(texts, &look)).min().unwrap_or_default()
}

fn once(texts: &[(String, PathBuf)], look: impl Fn(&str) -> usize) -> Duration {
    let start = Instant::now();
    for (text, _) in texts {
        black_box(look(black_box(text)));
    }
    start.elapsed()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && entry.file_name() != ".git" {
            collect(&entry.path(), files);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
}
