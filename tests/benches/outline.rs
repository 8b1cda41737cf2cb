//! What the symbol map of a directory costs, next to bare tree-sitter parsing of the same files in the same run:
//! `cargo bench -p e2e --bench outline -- DIR [ROUNDS]`.
//!
//! Rounds are interleaved and each phase is a process of its own, so that its peak of memory is its own; what is printed are
//! medians. Bare parsing has its texts in memory and the system's allocator. The map starts from the directory: it walks, reads, parses, outlines,
//! links references, ranks, and chooses blocks for a budget (bytes / 4 stand for tokens). A cold map finds an
//! empty cache on disk and a warm one what the cold one kept, which is written after the map is there and given by itself.
//!
//! Trees to measure need nothing but a registry: `pip download --no-binary :all: --no-deps django==5.2.8` and unpack it; for a
//! large set of Rust sources `cargo new --lib fetch && cd fetch && cargo add ra_ap_rust-analyzer && cargo vendor`, then
//! `mkdir ../rust-analyzer && mv vendor/ra_ap_* ../rust-analyzer`.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::print_stderr, reason = "a bench says how it is called")]

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use e2e::process::Process;
use strata_app::model::index::{BuildProgress, Index, IndexInputs};
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::symbols::{
    FileRelevance, FileSymbols, LexicalIndex, MapRequest, ReferenceGraph, RelevanceQuery, Seeds, SymbolIndex,
    build_map, relevant_files,
};
use strata_grammars::LanguageId;
use strata_host::outline_cache::OutlineCache;
use strata_host::roots::Roots;
use strata_host::walk::{WalkOptions, walk};
use tree_sitter::Parser;

const MAP_BUDGET: usize = 64_000;

/// What runs in a process of its own, and what it is measured against.
const PHASES: [(&str, usize, &str); 6] = [
    ("bare", 1, "bare 1"),
    ("bare", 2, "bare 2"),
    ("cold", 1, "bare 1"),
    ("cold", 2, "bare 2"),
    ("warm", 1, "cold 1"),
    ("warm", 2, "cold 2"),
];

/// Measurements by name; times in milliseconds.
type Measurements = BTreeMap<String, f64>;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &*arguments.iter().map(String::as_str).collect::<Vec<_>>() {
        ["--phase", name, threads, root, cache] => {
            let threads = threads.parse().unwrap_or(NonZeroUsize::MIN);
            phase(name, threads, Path::new(root), Path::new(cache));
        }
        [root] => compare(Path::new(root), 5),
        [root, rounds] => compare(Path::new(root), rounds.parse().unwrap_or(5)),
        _ => eprintln!("usage: cargo bench -p e2e --bench outline -- DIR [ROUNDS]"),
    }
}

fn compare(root: &Path, rounds: usize) {
    if !root.is_dir() {
        eprintln!(
            "{} is no folder (`cargo bench` runs in the folder of its crate: give the whole path)",
            root.display()
        );
        process::exit(2);
    }
    let mut all: BTreeMap<String, BTreeMap<String, Vec<f64>>> = BTreeMap::new();
    for _ in 0..rounds {
        let Ok(cache) = tempfile::tempdir() else { return eprintln!("no temporary directory") };
        for (name, threads, _) in PHASES {
            // The cold map of a new cache; the warm one finds what that kept.
            let cache = cache.path().join(threads.to_string());
            let of_phase = all.entry(format!("{name} {threads}")).or_default();
            for (figure, value) in child(name, threads, root, &cache) {
                of_phase.entry(figure).or_default().push(value);
            }
        }
    }
    let medians: BTreeMap<&str, Measurements> = all
        .iter_mut()
        .map(|(phase, figures)| {
            (&**phase, figures.iter_mut().map(|(name, values)| (name.clone(), median(values))).collect())
        })
        .collect();
    let figure = |phase: &str, name: &str| medians.get(phase)?.get(name).copied();
    let show = |phase: &str, name: &str| figure(phase, name).unwrap_or(f64::NAN);
    println!(
        "{} files listed, {} outlined, {:.1} MB of text, {} symbols, {} names mentioned",
        show("cold 2", "listed"),
        show("cold 2", "outlined"),
        show("bare 2", "bytes") / 1e6,
        show("cold 2", "symbols"),
        show("cold 2", "mentioned"),
    );
    println!(
        "whole map {:.2} MB; chosen {} blocks, about {} tokens; kept on disk {:.1} MB",
        show("cold 2", "map bytes") / 1e6,
        show("cold 2", "blocks"),
        show("cold 2", "tokens"),
        show("cold 2", "disk bytes") / 1e6,
    );
    println!("{:<10} {:>10} {:>12} {:>8}   wall, in times of", "", "wall", "processor", "peak");
    for (name, threads, reference) in PHASES {
        let phase = format!("{name} {threads}");
        println!(
            "{phase:<10} {:>7.1} ms {:>9.1} ms {:>5.0} MB   {:.2} {reference}",
            show(&phase, "wall"),
            show(&phase, "processor"),
            show(&phase, "peak KiB") / 1024.0,
            show(&phase, "wall") / show(reference, "wall"),
        );
    }
    for phase in ["cold 2", "warm 2"] {
        print!("{phase}:");
        for part in ["walk", "outlines", "links", "map", "keep", "read", "parsed"] {
            if let Some(value) = figure(phase, part) {
                print!(" {part} {value:.1}");
            }
        }
        println!();
    }
    let (Ok(roots), Ok(cache)) = (Roots::single(root), tempfile::tempdir()) else { return };
    let (cancel, cache) = (Cancel::new(), OutlineCache::in_directory(cache.path().to_owned()));
    if let Ok((index, _)) = Index::build(&IndexInputs::new(&roots, &cache, &cancel), |_| ()) {
        between_files(&index.symbols, &index.files, rounds);
    }
}

/// Runs one phase in a process of its own and reads what it prints.
fn child(name: &str, threads: usize, root: &Path, cache: &Path) -> Measurements {
    let Ok(program) = env::current_exe() else { return Measurements::new() };
    let mut command = Command::new(program);
    command.args(["--phase", name, &threads.to_string()]).args([root, cache]).stderr(Stdio::inherit());
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    let lines = String::from_utf8_lossy(&output).into_owned();
    let figure = |line: &str| line.rsplit_once('=').and_then(|(n, v)| Some((n.to_owned(), v.parse().ok()?)));
    lines.lines().filter_map(figure).collect()
}

/// What is worked out over the outlines of all files: medians.
fn between_files(index: &SymbolIndex, files: &[FileKey], rounds: usize) {
    let manifests = Arc::default();
    let each = |work: &dyn Fn()| median(&mut (0..rounds.max(5)).map(|_| timed(work)).collect::<Vec<_>>());
    let show = |part: &str, time: f64| println!("{part:<27}{time:>10.2} ms");
    let graph = ReferenceGraph::build(index, &manifests);
    show("references built", each(&|| drop(ReferenceGraph::build(index, &manifests))));
    // The file most others refer to, as if a name were mentioned in it that was not before.
    let ranking = graph.rank(&Seeds::default());
    if let Some((edited, key)) = ranking.files.first().and_then(|key| Some((with_mention(index, key)?, key)))
    {
        let keys = std::slice::from_ref(key);
        show("references after an edit", each(&|| drop(graph.updated(&edited, keys))));
    }
    let some = ranking.files.get(100..103).unwrap_or_default();
    let seeds = Seeds { selected: some, ..Seeds::default() };
    show("rank around three files", each(&|| drop(graph.rank(&seeds))));
    show("words of all files", each(&|| drop(LexicalIndex::build(index, files))));
    let lexical = LexicalIndex::build(index, files);
    let text =
        "Fix redirect handling in the session middleware\n\nThe cookie of `SessionMiddleware` was lost.";
    let query = RelevanceQuery { text, ..RelevanceQuery::default() };
    let relevant = || relevant_files(index, &FileRelevance::new(&lexical, &graph, &query), 20);
    drop(relevant());
    show("files relevant to a text", each(&|| drop(relevant())));
}

/// An index in which a file mentions one name more.
fn with_mention(index: &SymbolIndex, key: &FileKey) -> Option<SymbolIndex> {
    let mut edited = index.clone();
    let mut symbols = FileSymbols::clone(index.get(key)?);
    let mentioned = index.values().flat_map(|file| file.outline.symbols.iter().map(|symbol| &*symbol.name));
    let known = |name: &str| symbols.outline.references.iter().any(|known| known == name);
    let fresh = mentioned.into_iter().find(|name| name.len() > 8 && !known(name))?;
    symbols.outline.references = symbols.outline.references.iter().chain([fresh]).collect();
    edited.extend([(key.clone(), Arc::new(symbols))]);
    Some(edited)
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    milliseconds(start.elapsed())
}

#[expect(unsafe_code, reason = "as the binary does it")]
fn phase(name: &str, threads: NonZeroUsize, root: &Path, cache: &Path) {
    let mut figures = match name {
        "bare" => bare(root, threads),
        _ => {
            // SAFETY: a phase is all that its process does.
            unsafe { strata_grammars::allocator::use_mimalloc() };
            map(root, threads, cache)
        }
    };
    if let Some(peak) = peak_memory() {
        figures.insert("peak KiB".to_owned(), peak);
    }
    for (name, value) in figures {
        println!("{name}={value}");
    }
}

/// Parses all texts and drops the trees.
fn bare(root: &Path, threads: NonZeroUsize) -> Measurements {
    let texts = texts(root);
    let bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
    let (start, busy) = (Instant::now(), processor_time());
    let next = AtomicUsize::new(0);
    let parse = || {
        let mut parser = Parser::new();
        while let Some((language, text)) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            if parser.set_language(&language.grammar()).is_ok() {
                std::hint::black_box(parser.parse(text, None));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.get() {
            scope.spawn(parse);
        }
    });
    figures([
        ("wall", milliseconds(start.elapsed())),
        ("processor", milliseconds(processor_time().saturating_sub(busy))),
        ("bytes", bytes as f64),
    ])
}

/// From a directory to a map, as the server does it.
fn map(root: &Path, threads: NonZeroUsize, cache: &Path) -> Measurements {
    let (start, busy) = (Instant::now(), processor_time());
    let mut parts = Vec::new();
    let mut done = start;
    let mut part = |name| {
        parts.push((name, milliseconds(done.elapsed())));
        done = Instant::now();
    };
    let Ok(roots) = Roots::single(root) else { return Measurements::new() };
    let cache = OutlineCache::in_directory(cache.to_owned());
    let cancel = Cancel::new();
    let means = IndexInputs { threads, ..IndexInputs::new(&roots, &cache, &cancel) };
    let built = Index::build(&means, |step| match step {
        BuildProgress::Listed(_) => part("walk"),
        BuildProgress::Outlined(progress) if progress.done == progress.total => part("outlines"),
        BuildProgress::Outlined(_) => {}
    });
    let Ok((index, remembered)) = built else { return Measurements::new() };
    part("links");
    let nothing = BTreeSet::new();
    let request = MapRequest {
        budget: MAP_BUDGET,
        kept: &[],
        required: &[],
        ranking: &index.references.rank(&Seeds::default()),
        about: None,
        without: &nothing,
    };
    let count = |text: &str| text.len().div_ceil(4);
    let map = build_map(&index.symbols, &index.references, &request, &count);
    part("map");
    let wall = start.elapsed();
    let busy = processor_time().saturating_sub(busy);
    let peak = peak_memory();
    let last = Instant::now();
    remembered.save(&cache);
    let files = || index.symbols.values();
    let mut all = figures([
        ("wall", milliseconds(wall)),
        ("processor", milliseconds(busy)),
        ("keep", milliseconds(last.elapsed())),
        ("listed", index.files.len() as f64),
        ("outlined", index.symbols.len() as f64),
        ("symbols", files().map(|file| file.outline.symbols.len()).sum::<usize>() as f64),
        ("mentioned", files().map(|file| file.outline.references.iter().count()).sum::<usize>() as f64),
        ("map bytes", files().map(|file| file.block.text.len()).sum::<usize>() as f64),
        ("blocks", map.blocks.len() as f64),
        ("tokens", map.total as f64),
        ("read", index.efforts.read as f64),
        ("parsed", index.efforts.parsed as f64),
        ("disk bytes", cache.size().map_or(0.0, |extent| extent.bytes as f64)),
        ("map peak KiB", peak.unwrap_or(0.0)),
    ]);
    all.extend(parts.into_iter().map(|(name, value)| (name.to_owned(), value)));
    all
}

/// The texts of the files that have an outline.
fn texts(root: &Path) -> Vec<(LanguageId, String)> {
    let Ok(roots) = Roots::single(root) else { return Vec::new() };
    let Ok(walked) = walk(&roots, &WalkOptions::default(), &Cancel::new()) else { return Vec::new() };
    let mut texts = Vec::new();
    for entry in walked.entries.iter().filter(|entry| entry.name_only.is_none()) {
        let path: PathBuf = root.join(entry.key.as_str());
        let Ok(text) = fs::read_to_string(path) else { continue };
        let first_line = text.lines().next().unwrap_or_default();
        if let Some(language) = LanguageId::by_path(entry.key.as_str(), first_line) {
            texts.push((language, text));
        }
    }
    // The largest first, as for the map: no thread is left alone with one of them.
    texts.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    texts
}

fn figures<const N: usize>(all: [(&str, f64); N]) -> Measurements {
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// What all threads of the process have used so far; zero where the system does not tell.
fn processor_time() -> Duration {
    Process::own().processor().unwrap_or_default()
}

/// The process's peak of resident memory in KiB, where the system tells.
fn peak_memory() -> Option<f64> {
    Process::own().peak().map(|kib| kib as f64)
}
