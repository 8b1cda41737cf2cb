//! How many of the files that a commit touched are among the first ten that its message leads to, in the
//! tree before it: Strata's `relevant`, plain BM25 over paths and symbols, and aider's ranked map, given the same words in
//! the same run. `cargo bench -p e2e --bench relevance -- [--aider PYTHON] [--commits N] DIR...`.
//!
//! DIR is any git repository, bare or not. Of each the last N (300) commits count that are no merges, touch 1 to 8
//! source files and at least one file that was there before. PYTHON is an interpreter that has aider-chat
//! installed; without one its column is left out.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::print_stderr, reason = "a bench says how it is called")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::symbols::{
    FileRelevance, FileSymbols, LexicalIndex, Manifests, ReferenceGraph, RelevanceQuery, SymbolIndex,
    relevant_files,
};
use strata_grammars::LanguageId;

/// How many of the first files count.
const FIRST: usize = 10;
/// Files above it have no outline.
const MAX_FILE: usize = 1 << 20;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (mut aider, mut wanted, mut repositories) = (None, 300, Vec::new());
    while let Some(argument) = arguments.next() {
        match &*argument {
            "--aider" => aider = arguments.next().map(PathBuf::from),
            "--commits" => wanted = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(wanted),
            _ => repositories.push(PathBuf::from(argument)),
        }
    }
    if repositories.is_empty() {
        eprintln!("usage: cargo bench -p e2e --bench relevance -- [--aider PYTHON] [--commits N] DIR...");
        return;
    }
    if aider.is_none() {
        println!("without --aider PYTHON: aider's ranking is left out");
    }
    println!(
        "{:<24}{:>8}{:>10}{:>10}{:>10}{:>12}",
        "recall@10", "commits", "strata", "bm25", "aider", "to better"
    );
    let mut total = Recall::default();
    for repository in &repositories {
        let Some(commits) = commits(repository, wanted) else {
            eprintln!("{}: no git repository", repository.display());
            continue;
        };
        let sums = measure(repository, &commits, aider.as_deref());
        sums.print(&name_of(repository));
        total.add(&sums);
    }
    total.print("all");
    if let Some(count) = u32::try_from(total.commits).ok().filter(|count| *count > 0) {
        println!(
            "a commit: {:.1?} for references, {:.1?} for the words of all files, {:.1?} for an answer",
            total.linking / count,
            total.wording / count,
            total.answering / count
        );
    }
}

/// A commit that counts.
struct Commit {
    parent: String,
    text: String,
    touched: BTreeSet<String>,
}

#[derive(Default)]
struct Recall {
    commits: usize,
    ours: f64,
    plain: f64,
    aider: Option<f64>,
    linking: Duration,
    wording: Duration,
    answering: Duration,
}

impl Recall {
    fn add(&mut self, other: &Self) {
        self.commits += other.commits;
        self.ours += other.ours;
        self.plain += other.plain;
        if let Some(aider) = other.aider {
            *self.aider.get_or_insert(0.0) += aider;
        }
        self.linking += other.linking;
        self.wording += other.wording;
        self.answering += other.answering;
    }

    fn print(&self, name: &str) {
        let count = self.commits.max(1) as f64;
        let aider = self.aider.map_or_else(|| "-".to_owned(), |aider| format!("{:.3}", aider / count));
        let better = self.plain.max(self.aider.unwrap_or(0.0));
        println!(
            "{name:<24}{:>8}{:>10.3}{:>10.3}{aider:>10}{:>11.2}x",
            self.commits,
            self.ours / count,
            self.plain / count,
            self.ours / better.max(f64::MIN_POSITIVE),
        );
    }
}

fn measure(repository: &Path, commits: &[Commit], aider: Option<&Path>) -> Recall {
    let mut blobs = Blobs::new(repository);
    let mut aider = aider.and_then(|python| Aider::start(python, repository));
    let mut sums = Recall { commits: commits.len(), aider: aider.as_ref().map(|_| 0.0), ..Recall::default() };
    for commit in commits {
        let tree = Tree::read(repository, &commit.parent, &mut blobs);
        let timer = Instant::now();
        let references = ReferenceGraph::build(&tree.symbols, &tree.manifests);
        sums.linking += timer.elapsed();
        let timer = Instant::now();
        let lexical = LexicalIndex::build(&tree.symbols, &tree.files);
        sums.wording += timer.elapsed();
        let timer = Instant::now();
        let query = RelevanceQuery { text: &commit.text, ..RelevanceQuery::default() };
        let ours = relevant_files(&tree.symbols, &FileRelevance::new(&lexical, &references, &query), FIRST);
        sums.answering += timer.elapsed();
        let ours: Vec<&str> = ours.iter().map(|file| file.file.as_str()).collect();
        sums.ours += recall(&ours, &commit.touched);
        let plain = plain_bm25(&tree, &commit.text);
        sums.plain += recall(&plain, &commit.touched);
        if let (Some(aider), Some(sum)) = (&mut aider, &mut sums.aider) {
            let ranked = aider.rank(commit).unwrap_or_default();
            let ranked: Vec<&str> = ranked.iter().map(String::as_str).collect();
            *sum += recall(&ranked, &commit.touched);
        }
    }
    sums
}

fn recall(ranked: &[&str], touched: &BTreeSet<String>) -> f64 {
    let found = ranked.iter().take(FIRST).filter(|path| touched.contains(**path)).count();
    found as f64 / touched.len().max(1) as f64
}

/// BM25 with its usual constants (k1 = 1.2, b = 0.75) over one bag of words a file: those of its path and of
/// the names it defines.
fn plain_bm25<'a>(tree: &'a Tree, text: &str) -> Vec<&'a str> {
    let documents: Vec<Vec<String>> = tree
        .files
        .iter()
        .map(|key| {
            let mut words = plain_words(key.as_str());
            if let Some(symbols) = tree.symbols.get(key) {
                words.extend(symbols.outline.symbols.iter().flat_map(|symbol| plain_words(&symbol.name)));
            }
            words
        })
        .collect();
    let average = documents.iter().map(Vec::len).sum::<usize>() as f64 / documents.len().max(1) as f64;
    let counts: Vec<HashMap<&str, f64>> = documents
        .iter()
        .map(|words| {
            let mut counts = HashMap::new();
            words.iter().for_each(|word| *counts.entry(word.as_str()).or_insert(0.0) += 1.0);
            counts
        })
        .collect();
    let (k1, b) = (1.2, 0.75);
    let mut scores = vec![0.0; documents.len()];
    for word in plain_words(text).into_iter().collect::<BTreeSet<_>>() {
        let frequency = counts.iter().filter(|counts| counts.contains_key(word.as_str())).count() as f64;
        let idf = (1.0 + (documents.len() as f64 - frequency + 0.5) / (frequency + 0.5)).ln();
        for ((score, counts), words) in scores.iter_mut().zip(&counts).zip(&documents) {
            let tf = counts.get(word.as_str()).copied().unwrap_or(0.0);
            *score += idf * tf * (k1 + 1.0) / (tf + k1 * (1.0 - b + b * words.len() as f64 / average));
        }
    }
    let mut ranked: Vec<(f64, &str)> =
        scores.into_iter().zip(tree.files.iter().map(FileKey::as_str)).collect();
    ranked.sort_by(|(a, a_path), (b, b_path)| b.total_cmp(a).then_with(|| a_path.cmp(b_path)));
    ranked.into_iter().map(|(_, path)| path).collect()
}

/// Runs of letters and digits, divided before capitals, in lower case.
fn plain_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in text.chars() {
        let starts = small && c.is_uppercase();
        small = c.is_lowercase();
        if starts || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The last commits of a repository that count, newest first.
fn commits(repository: &Path, wanted: usize) -> Option<Vec<Commit>> {
    let log = git(repository, &["log", "--no-merges", "--min-parents=1", "--format=%H%x00%P%x00%B%x01"])?;
    let mut commits = Vec::new();
    for entry in log.split('\u{1}') {
        let mut parts = entry.trim_start().splitn(3, '\0');
        let (Some(commit), Some(parent), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let touched =
            git(repository, &["diff-tree", "-r", "-z", "--no-renames", "--name-status", parent, commit])?;
        let mut fields = touched.split('\0');
        let (mut sources, mut existed) = (0, BTreeSet::new());
        while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
            sources += usize::from(is_source(path));
            if status != "A" {
                existed.insert(path.to_owned());
            }
        }
        if (1..=8).contains(&sources) && !existed.is_empty() {
            commits.push(Commit {
                parent: parent.to_owned(),
                text: text.trim().to_owned(),
                touched: existed,
            });
        }
        if commits.len() == wanted {
            break;
        }
    }
    Some(commits)
}

fn is_source(path: &str) -> bool {
    LanguageId::by_path(path, "").is_some_and(|language| !language.is_document())
}

/// The tree of a commit, as far as anyone ranks by it.
struct Tree {
    files: Vec<FileKey>,
    symbols: SymbolIndex,
    manifests: Arc<Manifests>,
}

impl Tree {
    fn read(repository: &Path, commit: &str, blobs: &mut Blobs) -> Self {
        let listing = git(repository, &["ls-tree", "-r", "-z", commit]).unwrap_or_default();
        let (mut files, mut symbols, mut manifests) = (Vec::new(), BTreeMap::new(), Vec::new());
        for entry in listing.split('\0') {
            let Some((facts, path)) = entry.split_once('\t') else { continue };
            let Some(hash) = facts.split(' ').nth(2).filter(|_| facts.contains(" blob ")) else { continue };
            let key = FileKey::from(path);
            if let Some(found) = blobs.symbols(hash, &key) {
                symbols.extend([(key.clone(), found)]);
            }
            if Manifests::is_manifest(&key) {
                manifests.push((key.clone(), blobs.text(hash)));
            }
            files.push(key);
        }
        let manifests = manifests.iter().filter_map(|(key, text)| Some((key, text.as_deref()?)));
        Self {
            files,
            symbols: symbols.into_iter().collect(),
            manifests: Arc::new(Manifests::read(manifests)),
        }
    }
}

/// The blobs of a repository, each outlined once.
struct Blobs {
    process: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
    outlined: HashMap<(String, FileKey), Option<Arc<FileSymbols>>>,
}

impl Blobs {
    fn new(repository: &Path) -> Self {
        let command = Command::new("git")
            .arg("-C")
            .arg(repository)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let process = command.ok().and_then(|mut child| {
            let (input, output) = (child.stdin.take()?, child.stdout.take()?);
            Some((child, input, BufReader::new(output)))
        });
        Self { process, outlined: HashMap::new() }
    }

    fn symbols(&mut self, hash: &str, key: &FileKey) -> Option<Arc<FileSymbols>> {
        let language = LanguageId::by_path(key.as_str(), "")?;
        let known = (hash.to_owned(), key.clone());
        if let Some(symbols) = self.outlined.get(&known) {
            return symbols.clone();
        }
        let text = self.text(hash).filter(|text| text.len() <= MAX_FILE);
        let symbols =
            text.and_then(|text| FileSymbols::read(language, key, &text, &Cancel::new()).ok()).map(Arc::new);
        self.outlined.insert(known, symbols.clone());
        symbols
    }

    fn text(&mut self, hash: &str) -> Option<String> {
        let (_, input, output) = self.process.as_mut()?;
        writeln!(input, "{hash}").ok()?;
        input.flush().ok()?;
        let mut header = String::new();
        output.read_line(&mut header).ok()?;
        let size: usize = header.trim().rsplit(' ').next()?.parse().ok()?;
        let mut bytes = vec![0; size + 1];
        output.read_exact(&mut bytes).ok()?;
        bytes.pop();
        String::from_utf8(bytes).ok()
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        if let Some((mut child, input, _)) = self.process.take() {
            drop(input);
            let _ended = child.wait();
        }
    }
}

/// aider's ranking, asked through its own interpreter over a clone of its own.
struct Aider {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    _checkout: tempfile::TempDir,
}

impl Aider {
    fn start(python: &Path, repository: &Path) -> Option<Self> {
        let checkout = tempfile::tempdir().ok()?;
        let cloned = Command::new("git")
            .args(["clone", "--quiet", "--shared", "--no-checkout"])
            .arg(repository)
            .arg(checkout.path())
            .status();
        cloned.ok().filter(std::process::ExitStatus::success)?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/aider_rank.py");
        let mut child = Command::new(python)
            .arg(script)
            .arg(checkout.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let (input, output) = (child.stdin.take()?, child.stdout.take()?);
        Some(Self { child, input: Some(input), output: BufReader::new(output), _checkout: checkout })
    }

    fn rank(&mut self, commit: &Commit) -> Option<Vec<String>> {
        let question = serde_json::json!({ "parent": commit.parent, "text": commit.text });
        writeln!(self.input.as_mut()?, "{question}").ok()?;
        let mut line = String::new();
        self.output.read_line(&mut line).ok()?;
        let answer: serde_json::Value = serde_json::from_str(&line).ok()?;
        let ranked = answer.get("ranked")?.as_array()?.iter();
        Some(ranked.filter_map(|path| path.as_str().map(str::to_owned)).collect())
    }
}

impl Drop for Aider {
    fn drop(&mut self) {
        self.input = None;
        let _ended = self.child.wait();
    }
}

fn git(repository: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(repository).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The folder's name; of a folder called `repo` or `.git` the one around it.
fn name_of(repository: &Path) -> String {
    let parts = repository.components().rev().map(|part| part.as_os_str().to_string_lossy().into_owned());
    parts.into_iter().find(|part| part != "repo" && part != ".git").unwrap_or_default()
}
