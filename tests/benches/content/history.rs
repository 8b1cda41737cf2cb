//! The history of a repository: its commits with what they change, and the trees before them.

use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::excerpts::{LineAges, PastCommit};
use strata_code::symbols::{FileSymbols, LexicalIndex, Manifests, ReferenceGraph, SymbolIndex};
use strata_grammars::LanguageId;

/// Files above it have no outline.
const MAX_FILE: usize = 1 << 20;
/// Commits of more files are left out, as `strata_host::git` leaves them out.
const MAX_PATHS: usize = 100;
/// How many commits before one are looked at, as `strata_host::git` looks at them.
const MAX_COMMITS: u32 = 400;
/// How many commits before one say when lines were added, as `strata_host::git` reads them.
const LINE_COMMITS: u32 = 10;
/// How many commits of the whole history are known by what they changed.
const MAX_HISTORY: &str = "8000";

/// A commit that counts.
#[derive(Debug)]
pub(crate) struct Commit {
    pub(crate) parent: String,
    pub(crate) subject: String,
    pub(crate) hunks: Vec<Hunk>,
}

/// A place that a commit changes, by lines of the file before it, from 0.
#[derive(Debug)]
pub(crate) struct Hunk {
    pub(crate) path: String,
    pub(crate) lines: Range<u32>,
}

/// What is known about the history at a commit.
pub(crate) struct Past {
    pub(crate) recency: BTreeMap<FileKey, u32>,
    pub(crate) line_ages: BTreeMap<FileKey, LineAges>,
    pub(crate) commits: Vec<PastCommit>,
}

/// The tree of a commit, as far as anyone ranks by it.
pub(crate) struct Tree {
    pub(crate) texts: BTreeMap<String, Arc<str>>,
    pub(crate) symbols: SymbolIndex,
    pub(crate) references: ReferenceGraph,
    pub(crate) lexical: LexicalIndex,
}

/// A commit of the past.
struct Known {
    parents: Vec<String>,
    seconds: i64,
    /// Its subject, and what it changed against its first parent.
    past: PastCommit,
}

type Changes = HashMap<String, Known>;

/// A repository, asked through git.
pub(crate) struct Repository {
    path: PathBuf,
    blobs: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
    texts: HashMap<String, Option<Arc<str>>>,
    outlined: HashMap<(String, FileKey), Option<Arc<FileSymbols>>>,
    changes: Changes,
}

impl Repository {
    /// A repository with the last of its commits that count, newest first.
    pub(crate) fn open(path: &Path, wanted: usize) -> Option<(Self, Vec<Commit>)> {
        let commits = commits(path, wanted)?;
        let mut blobs =
            git(path, &["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let pipes = (blobs.stdin.take()?, BufReader::new(blobs.stdout.take()?));
        let repository = Self {
            path: path.to_owned(),
            blobs: Some((blobs, pipes.0, pipes.1)),
            texts: HashMap::new(),
            outlined: HashMap::new(),
            changes: changes(path)?,
        };
        Some((repository, commits))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Commits since the last change of each file at a commit, along first parents, and the last commits along all, as
    /// `strata_host::git` reads them.
    pub(crate) fn past(&mut self, commit: &str) -> Past {
        let line_ages = self.line_ages(commit);
        Past { recency: self.recency(commit), line_ages, commits: self.commits_before(commit) }
    }

    fn line_ages(&mut self, commit: &str) -> BTreeMap<FileKey, LineAges> {
        let mut ages: BTreeMap<FileKey, LineAges> = BTreeMap::new();
        let mut commit = commit.to_owned();
        for age in 0..LINE_COMMITS {
            let Some(Known { parents, past, .. }) = self.changes.get(&commit) else { break };
            let (Some(parent), files) = (parents.first().cloned(), past.files.clone()) else { break };
            for key in files.into_iter().take(MAX_PATHS) {
                let before = self.text(&format!("{parent}:{}", key.as_str())).unwrap_or_default();
                ages.entry(key).or_default().add_change(age, &before);
            }
            commit = parent;
        }
        ages
    }

    fn recency(&self, commit: &str) -> BTreeMap<FileKey, u32> {
        let mut recency = BTreeMap::new();
        let mut commit = Some(commit);
        for age in 0..MAX_COMMITS {
            let Some(Known { parents, past, .. }) = commit.and_then(|commit| self.changes.get(commit)) else {
                break;
            };
            for key in &past.files {
                recency.entry(key.clone()).or_insert(age);
            }
            commit = parents.first().map(String::as_str);
        }
        recency
    }

    fn commits_before(&self, commit: &str) -> Vec<PastCommit> {
        let mut commits = Vec::new();
        let mut waiting = BinaryHeap::from([(i64::MAX, commit)]);
        let mut known = HashSet::from([commit]);
        let mut looked_at = 0;
        while let Some((_, commit)) = waiting.pop().filter(|_| looked_at < MAX_COMMITS) {
            let Some(Known { parents, past, .. }) = self.changes.get(commit) else { continue };
            for parent in parents.iter().map(String::as_str).filter(|parent| known.insert(parent)) {
                waiting.extend(self.changes.get(parent).map(|found| (found.seconds, parent)));
            }
            if parents.len() < 2 {
                looked_at += 1;
                commits.extend((1..=MAX_PATHS).contains(&past.files.len()).then(|| past.clone()));
            }
        }
        commits
    }

    pub(crate) fn tree(&mut self, commit: &str) -> Tree {
        let listing = output(&self.path, &["ls-tree", "-r", "-z", commit]).unwrap_or_default();
        let (mut files, mut texts, mut symbols, mut manifests) =
            (Vec::new(), BTreeMap::new(), BTreeMap::new(), Vec::new());
        for entry in listing.split('\0') {
            let Some((facts, path)) = entry.split_once('\t') else { continue };
            let Some(hash) = facts.split(' ').nth(2).filter(|_| facts.contains(" blob ")) else { continue };
            let key = FileKey::from(path);
            if let Some(text) = self.text(hash) {
                if let Some(found) = self.symbols(hash, &key, &text) {
                    symbols.extend([(key.clone(), found)]);
                }
                if Manifests::is_manifest(&key) {
                    manifests.push((key.clone(), Arc::clone(&text)));
                }
                texts.insert(path.to_owned(), text);
            }
            files.push(key);
        }
        let symbols: SymbolIndex = symbols.into_iter().collect();
        let manifests = Arc::new(Manifests::read(manifests.iter().map(|(key, text)| (key, &**text))));
        let references = ReferenceGraph::build(&symbols, &manifests);
        let lexical = LexicalIndex::build(&symbols, &files);
        Tree { texts, symbols, references, lexical }
    }

    fn symbols(&mut self, hash: &str, key: &FileKey, text: &str) -> Option<Arc<FileSymbols>> {
        let language = LanguageId::by_path(key.as_str(), "")?;
        let read = || FileSymbols::read(language, key, text, &Cancel::new()).ok().map(Arc::new);
        self.outlined.entry((hash.to_owned(), key.clone())).or_insert_with(read).clone()
    }

    /// The text of a blob; nothing where it is large or no text.
    fn text(&mut self, hash: &str) -> Option<Arc<str>> {
        if let Some(known) = self.texts.get(hash) {
            return known.clone();
        }
        let text =
            self.read(hash).filter(|text| text.len() <= MAX_FILE && !text.contains('\0')).map(Arc::from);
        self.texts.insert(hash.to_owned(), text.clone());
        text
    }

    fn read(&mut self, hash: &str) -> Option<String> {
        let (_, input, output) = self.blobs.as_mut()?;
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

impl Drop for Repository {
    fn drop(&mut self) {
        if let Some((mut child, input, _)) = self.blobs.take() {
            drop(input);
            let _ended = child.wait();
        }
    }
}

/// Whether a file is source that is no test.
pub(crate) fn is_source(path: &str) -> bool {
    LanguageId::by_path(path, "")
        .is_some_and(|language| !language.is_document() && !language.is_test_file(path))
}

/// The last commits that count, newest first.
fn commits(path: &Path, wanted: usize) -> Option<Vec<Commit>> {
    let mut child = git(path, &["-c", "core.quotePath=false", "log", "--no-merges", "--min-parents=1"])
        .args([
            "--no-renames",
            "--no-color",
            "--no-ext-diff",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "-p",
            "-U0",
        ])
        .arg("--format=%x01%P%x00%s")
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut output = BufReader::new(child.stdout.take()?);
    let mut commits = Vec::new();
    let (mut commit, mut diff): (Option<Commit>, Diff) = (None, Diff::default());
    let mut line = Vec::new();
    while commits.len() < wanted {
        line.clear();
        let ended = output.read_until(b'\n', &mut line).ok()? == 0;
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches('\n');
        if ended || text.starts_with('\u{1}') {
            let before = std::mem::take(&mut diff);
            if let Some(mut commit) = commit.take()
                && (1..=6).contains(&before.sources)
                && !before.hunks.is_empty()
            {
                commit.hunks = before.hunks;
                commits.push(commit);
            }
            let Some((parent, subject)) = text.strip_prefix('\u{1}').and_then(|text| text.split_once('\0'))
            else {
                break;
            };
            commit =
                Some(Commit { parent: parent.to_owned(), subject: subject.to_owned(), hunks: Vec::new() });
        } else {
            diff.read(text);
        }
    }
    let _ended = child.kill();
    let _ended = child.wait();
    Some(commits)
}

/// A diff, read line by line.
#[derive(Debug, Default)]
struct Diff {
    hunks: Vec<Hunk>,
    /// How many files of source it touches.
    sources: usize,
    before: Option<String>,
    /// The file that hunks belong to, when they count.
    file: Option<String>,
    /// How many lines of the present hunk are still to come.
    left: u32,
}

impl Diff {
    fn read(&mut self, line: &str) {
        if self.left > 0 {
            self.left -= u32::from(!line.starts_with('\\'));
        } else if let Some(path) = line.strip_prefix("--- ") {
            self.before = path.strip_prefix("a/").map(str::to_owned);
        } else if let Some(path) = line.strip_prefix("+++ ") {
            let after = path.strip_prefix("b/").map(str::to_owned);
            let path = self.before.clone().or_else(|| after.clone());
            self.sources += usize::from(path.is_some_and(|path| is_source(&path)));
            self.file = self.before.take().filter(|path| after.is_some() && is_source(path));
        } else if let Some(hunk) = line.strip_prefix("@@ -") {
            let mut numbers = hunk.split(' ').take(2).map(range);
            let (Some(Some((start, old))), Some(Some((_, new)))) = (numbers.next(), numbers.next()) else {
                return;
            };
            self.left = old + new;
            // Where nothing is taken away, `start` is the line before what is added.
            let lines =
                if old == 0 { start.saturating_sub(1)..start + 1 } else { start - 1..start - 1 + old };
            self.hunks.extend(self.file.clone().map(|path| Hunk { path, lines }));
        }
    }
}

/// `12,3` or `12`, after a sign or not.
fn range(text: &str) -> Option<(u32, u32)> {
    let text = text.trim_start_matches('+');
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((start.parse().ok()?, count.parse().ok()?))
}

/// What each commit changed against its first parent.
fn changes(path: &Path) -> Option<Changes> {
    let log = output(
        path,
        &[
            "log",
            "-n",
            MAX_HISTORY,
            "--diff-merges=first-parent",
            "--no-renames",
            "--name-only",
            "-z",
            "--format=%x01%H %P%x03%ct%x03%s%x02",
        ],
    )?;
    let mut changes = HashMap::new();
    for entry in log.split('\u{1}') {
        let Some((head, paths)) = entry.split_once('\u{2}') else { continue };
        let mut parts = head.splitn(3, '\u{3}');
        let (Some(commits), Some(seconds), Some(subject)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let mut commits = commits.split(' ').filter(|commit| !commit.is_empty()).map(str::to_owned);
        let Some(commit) = commits.next() else { continue };
        let seconds = seconds.parse().unwrap_or_default();
        let paths = paths.split('\0').map(|path| path.trim_matches('\n')).filter(|path| !path.is_empty());
        let past = PastCommit { subject: subject.to_owned(), files: paths.map(FileKey::from).collect() };
        changes.insert(commit, Known { parents: commits.collect(), seconds, past });
    }
    Some(changes)
}

fn git(repository: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(repository).args(arguments);
    command
}

fn output(repository: &Path, arguments: &[&str]) -> Option<String> {
    let output = git(repository, arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
