//! How long a cold symbol map of a directory takes, next to bare tree-sitter parsing of the same files in
//! the same run: interleaved rounds, medians. `cargo bench -p e2e --bench outline -- DIR [ROUNDS]`.
//!
//! Bare parsing has its texts in memory; the map starts from the directory: it walks, reads, parses,
//! outlines, links references, ranks, and chooses blocks for a budget. Tokens are bytes / 4 here.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::print_stderr, reason = "a bench says how it is called")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use strata_engine::cancel::Cancel;
use strata_engine::key::FileKey;
use strata_engine::symbols::{
    FileSymbols, MapRequest, References, Seeds, SymbolIndex, file_list, map_within,
};
use strata_grammars::LanguageId;
use tree_sitter::Parser;

/// Files above it are listed by name only.
const MAX_FILE: u64 = 1 << 20;
const MAP_BUDGET: usize = 64_000;
const LIST_BUDGET: usize = 4_000;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let Some(root) = arguments.next().map(PathBuf::from) else {
        eprintln!("usage: cargo bench -p e2e --bench outline -- DIR [ROUNDS]");
        return;
    };
    let rounds = arguments.next().and_then(|rounds| rounds.parse().ok()).unwrap_or(5);
    // The first run of the process, so that its peak of memory is the map's own.
    let map = cold_map(&root, 2);
    let peak = peak_memory();
    let texts: Vec<(LanguageId, String)> = files(&root)
        .into_iter()
        .filter_map(|(path, key)| Some((language(&key)?, fs::read_to_string(path).ok()?)))
        .collect();
    println!(
        "{} files, {:.1} MB, {} symbols, {} names mentioned",
        map.index.len(),
        texts.iter().map(|(_, text)| text.len()).sum::<usize>() as f64 / 1e6,
        map.index.symbol_count(),
        map.index.iter().map(|(_, file)| file.outline.references.iter().count()).sum::<usize>(),
    );
    let whole: usize = map.index.iter().map(|(_, file)| file.block.text.len()).sum();
    println!(
        "whole map {:.2} MB; chosen {} blocks, about {} tokens; list {} names, {} directories, about {} tokens",
        whole as f64 / 1e6,
        map.blocks,
        map.tokens,
        map.list.names,
        map.list.directories,
        map.list.tokens,
    );
    println!("first: {}", map.first.join(", "));

    let mut bare = Vec::new();
    let mut one = Vec::new();
    let mut two = Vec::new();
    for _ in 0..rounds {
        bare.push(timed(|| parse_all(&texts)));
        one.push(timed(|| cold_map(&root, 1)));
        two.push(timed(|| cold_map(&root, 2)));
    }
    let (bare, one, two) = (median(bare), median(one), median(two));
    for (name, (time, busy)) in
        [("bare tree-sitter, 1 thread", bare), ("cold map, 1 thread", one), ("cold map, 2 threads", two)]
    {
        println!(
            "{name:<29}{time:>10.1?}  {:.2}x  processor {busy:>10.1?}  {:.2}x",
            time.as_secs_f64() / bare.0.as_secs_f64(),
            busy.as_secs_f64() / bare.1.as_secs_f64(),
        );
    }
    for (part, time) in map.parts {
        println!("  {part:<27}{time:>10.1?}");
    }
    if let Some(peak) = peak {
        println!("peak memory of a cold map    {:>7} MB", peak / 1024);
    }
}

struct Map {
    index: SymbolIndex,
    blocks: usize,
    tokens: usize,
    first: Vec<String>,
    list: strata_engine::symbols::FileList,
    parts: Vec<(&'static str, Duration)>,
}

fn cold_map(root: &Path, threads: usize) -> Map {
    let start = Instant::now();
    let mut parts = Vec::new();
    let mut done = start;
    let mut part = |name| {
        parts.push((name, done.elapsed()));
        done = Instant::now();
    };
    let files = files(root);
    part("walk");
    let next = AtomicUsize::new(0);
    let read = || {
        let mut found = Vec::new();
        while let Some((path, key)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(language) = language(key) else { continue };
            let Ok(text) = fs::read_to_string(path) else { continue };
            if let Ok(symbols) = FileSymbols::read(language, key, &text, &Cancel::new()) {
                found.push((key.clone(), Arc::new(symbols)));
            }
        }
        found
    };
    let found: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(read)).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect()
    });
    part("read, parse, outline");
    let index: SymbolIndex = found.into_iter().collect();
    let graph = References::build(&index, &Arc::default());
    part("index, references");
    let ranking = graph.rank(&Seeds::default());
    let ranked = ranking.files();
    let nothing = BTreeSet::new();
    let request = MapRequest { budget: MAP_BUDGET, kept: &[], ranked, without: &nothing };
    let count = |text: &str| text.len().div_ceil(4);
    let map = map_within(&index, &request, &count);
    part("rank, map");
    let keys: Vec<FileKey> = files.into_iter().map(|(_, key)| key).collect();
    let list = file_list(&keys, &[], LIST_BUDGET, &count);
    part("file list");
    Map {
        blocks: map.blocks.len(),
        tokens: map.total,
        first: ranked.iter().take(8).map(ToString::to_string).collect(),
        index,
        list,
        parts,
    }
}

fn parse_all(texts: &[(LanguageId, String)]) -> usize {
    let mut parser = Parser::new();
    let mut nodes = 0;
    for (language, text) in texts {
        if parser.set_language(&language.grammar()).is_ok()
            && let Some(tree) = parser.parse(text, None)
        {
            nodes += tree.root_node().descendant_count();
        }
    }
    nodes
}

fn language(key: &FileKey) -> Option<LanguageId> {
    LanguageId::by_path(key.as_str(), "")
}

fn files(root: &Path) -> Vec<(PathBuf, FileKey)> {
    let mut found = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_dir() {
                directories.push(path);
            } else if kind.is_file()
                && entry.metadata().is_ok_and(|data| data.len() <= MAX_FILE)
                && let Ok(below) = path.strip_prefix(root)
            {
                let key = FileKey::from(&*below.to_string_lossy());
                found.push((path, key));
            }
        }
    }
    found.sort_by(|(_, a), (_, b)| a.cmp(b));
    found
}

/// The time on the wall, and the processor's.
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, Duration) {
    let (start, busy) = (Instant::now(), processor_time());
    std::hint::black_box(work());
    (start.elapsed(), processor_time().saturating_sub(busy))
}

fn median(times: Vec<(Duration, Duration)>) -> (Duration, Duration) {
    let (mut wall, mut busy): (Vec<_>, Vec<_>) = times.into_iter().unzip();
    let middle = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    };
    (middle(&mut wall), middle(&mut busy))
}

/// What all threads of the process have used so far, in steps of a hundredth of a second; zero where the
/// system does not tell. On a busy machine it says more than the wall.
fn processor_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// The process's peak of resident memory in KiB, where the system tells.
fn peak_memory() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
