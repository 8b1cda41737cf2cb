//! How much of what a commit changes stands in a prompt that was made of its subject alone, in the tree before it:
//! Strata's excerpts, BM25 over windows of 50 lines (of all text files, and of source that is no test, which knows what the measure
//! counts), and aider's ranked map, given the same words and the same budgets in the same run.
//! `cargo bench -p e2e --bench content -- [--aider PYTHON] [--commits N] [--speed DIR] REPOSITORY...`.
//!
//! REPOSITORY is any git repository, bare or not. Of each the last N (300) commits count that are no merges and touch 1 to 6 files of
//! source that is no test. What counts is the share of their hunks that are shown in full, the mean over the commits of a repository, then
//! over repositories. Only hunks in such files count, and only in files that were there before. A hunk is shown in full when all old lines
//! that it touches are shown; where it only adds lines, the one before and the one after them. Everything that
//! shows code counts against the budget, with the line that names its file; four characters are a token. What is known about the history is
//! what was known before the commit. The constants of the ranking were tuned on flask and requests; other repositories are held out.
//!
//! PYTHON is an interpreter that has aider-chat installed; without one its row is left out. Of aider's map the lines of code
//! count that it shows. DIR is a tree on which the time of an answer is measured.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::print_stderr, reason = "a bench says how it is called")]

mod aider;
mod history;
mod ours;
mod speed;
mod windows;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aider::Aider;
use history::{Commit, Repository, Tree, is_source};
use ours::Excerpts;

const BUDGETS: [usize; 4] = [2_000, 8_000, 16_000, 32_000];
const COMMITS: usize = 300;

/// Lines of files, from 0.
#[derive(Debug, Default)]
pub(crate) struct ShownLines(BTreeMap<String, Vec<Range<u32>>>);

/// The share of hunks at each budget.
#[derive(Clone, Copy, Debug, Default)]
struct Shares([f64; BUDGETS.len()]);

#[derive(Debug, Default)]
struct Totals {
    commits: usize,
    excerpts: Shares,
    /// BM25 over all text files.
    plain: Shares,
    /// BM25 over source that is no test.
    source: Shares,
    aider: Option<Shares>,
    ranking: Vec<Duration>,
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (mut python, mut wanted, mut trees, mut repositories) = (None, COMMITS, Vec::new(), Vec::new());
    while let Some(argument) = arguments.next() {
        match &*argument {
            "--aider" => python = arguments.next().map(PathBuf::from),
            "--commits" => wanted = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(wanted),
            "--speed" => trees.extend(arguments.next().map(PathBuf::from)),
            _ => repositories.push(PathBuf::from(argument)),
        }
    }
    if repositories.is_empty() && trees.is_empty() {
        eprintln!(
            "usage: cargo bench -p e2e --bench content -- [--aider PYTHON] [--commits N] [--speed DIR] REPOSITORY..."
        );
        return;
    }
    let mut all = Vec::new();
    if !repositories.is_empty() {
        let budgets = BUDGETS.map(|budget| format!("{budget:>9}"));
        println!("{:<34}{:>8}{}", "hunks shown in full, tokens", "commits", budgets.concat());
    }
    for path in &repositories {
        let Some((repository, commits)) = Repository::open(path, wanted) else {
            eprintln!("{}: no git repository", path.display());
            continue;
        };
        let totals = measure(repository, &commits, python.as_deref());
        totals.print(&name_of(path));
        all.push(totals);
    }
    if all.len() > 1 {
        Totals::mean(&all).print("mean");
    }
    for tree in &trees {
        speed::measure(tree);
    }
}

fn measure(mut repository: Repository, commits: &[Commit], python: Option<&Path>) -> Totals {
    let mut aider = python.and_then(|python| Aider::start(python, repository.path()));
    let excerpts = Excerpts::default();
    let mut totals = Totals { aider: aider.as_ref().map(|_| Shares::default()), ..Totals::default() };
    for commit in commits {
        let tree = repository.tree(&commit.parent);
        let hunks: Vec<_> = commit.hunks.iter().filter(|hunk| tree.texts.contains_key(&*hunk.path)).collect();
        if hunks.is_empty() {
            continue;
        }
        totals.commits += 1;
        let share = |shown: &ShownLines| {
            let full = hunks.iter().filter(|hunk| shown.holds(&hunk.path, &hunk.lines, &tree)).count();
            full as f64 / hunks.len() as f64
        };
        let past = repository.past(&commit.parent);
        let ranked = excerpts.rank(&tree, &commit.subject, &past);
        totals.ranking.push(ranked.time);
        let plain = windows::rank(&tree, &commit.subject, |_| true);
        let source = windows::rank(&tree, &commit.subject, is_source);
        for (at, budget) in BUDGETS.into_iter().enumerate() {
            totals.excerpts.add(at, share(&ranked.shown(budget)));
            totals.plain.add(at, share(&plain.shown(budget)));
            totals.source.add(at, share(&source.shown(budget)));
            if let (Some(aider), Some(shares)) = (&mut aider, &mut totals.aider) {
                shares.add(at, share(&aider.shown(commit, budget, &tree)));
            }
        }
    }
    totals
}

impl ShownLines {
    fn add(&mut self, path: &str, lines: Range<u32>) {
        self.0.entry(path.to_owned()).or_default().push(lines);
    }

    /// Whether all of some lines of a file are shown, as far as the file has them.
    fn holds(&self, path: &str, lines: &Range<u32>, tree: &Tree) -> bool {
        let count = tree.texts.get(path).map_or(0, |text| text.lines().count());
        let end = lines.end.min(u32::try_from(count).unwrap_or(u32::MAX));
        let start = lines.start.min(end.saturating_sub(1));
        let shown = self.0.get(path).map_or(&[][..], Vec::as_slice);
        start < end && (start..end).all(|line| shown.iter().any(|range| range.contains(&line)))
    }
}

impl Shares {
    fn add(&mut self, at: usize, share: f64) {
        if let Some(sum) = self.0.get_mut(at) {
            *sum += share;
        }
    }

    fn scaled(self, factor: f64) -> Self {
        Self(self.0.map(|share| share * factor))
    }
}

impl Totals {
    /// The mean over repositories, as if each had one commit.
    fn mean(all: &[Self]) -> Self {
        let mut mean = Self { commits: 1, ..Self::default() };
        let weight = 1.0 / all.len() as f64;
        let sum = |into: &mut Shares, shares: Shares, commits: usize| {
            for (at, share) in shares.scaled(weight / commits.max(1) as f64).0.into_iter().enumerate() {
                into.add(at, share);
            }
        };
        for totals in all {
            sum(&mut mean.excerpts, totals.excerpts, totals.commits);
            sum(&mut mean.plain, totals.plain, totals.commits);
            sum(&mut mean.source, totals.source, totals.commits);
            if let Some(aider) = totals.aider {
                sum(mean.aider.get_or_insert_default(), aider, totals.commits);
            }
            mean.ranking.extend(&totals.ranking);
        }
        mean
    }

    fn print(&self, name: &str) {
        let row = |program: &str, shares: Shares| {
            let shares =
                shares.scaled(1.0 / self.commits.max(1) as f64).0.map(|share| format!("{share:>9.3}"));
            println!("{:<34}{:>8}{}", format!("{name}: {program}"), self.commits, shares.concat());
        };
        row("strata", self.excerpts);
        row("BM25, all files", self.plain);
        row("BM25, source only", self.source);
        if let Some(aider) = self.aider {
            row("aider's map", aider);
        }
        let ratios = |of: Shares| -> String {
            self.excerpts
                .0
                .iter()
                .zip(of.0)
                .map(|(ours, theirs)| format!("{:>8.2}x", ours / theirs))
                .collect()
        };
        let times: e2e::Times = self.ranking.iter().copied().collect();
        println!("{:<42}{}", "    strata to BM25, all files", ratios(self.plain));
        println!(
            "{:<42}{}   {:.1?} a question, p95 {:.1?}",
            "    strata to BM25, source only",
            ratios(self.source),
            times.percentile(50),
            times.percentile(95)
        );
    }
}

/// The folder's name; of a folder called `repo` or `.git` the one around it.
fn name_of(repository: &Path) -> String {
    let parts = repository.components().rev().map(|part| part.as_os_str().to_string_lossy().into_owned());
    parts.into_iter().find(|part| part != "repo" && part != ".git").unwrap_or_default()
}

/// Four characters are a token.
fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

/// The line that names the place of some lines, as it counts for every program.
fn heading(path: &str, lines: &Range<u32>) -> String {
    format!("{path}:{}-{}\n", lines.start + 1, lines.end)
}
