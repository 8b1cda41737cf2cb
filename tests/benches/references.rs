//! What `references` answers next to an oracle that knows the language: for Python jedi, for TypeScript the compiler:
//! `cargo bench -p e2e --bench references -- [--misses] PROGRAM... -- DIR...`. PROGRAM and its arguments are called with a
//! directory after them and print what refers to what (`tests/benches/peers/references_python.py`,
//! `references_typescript.mjs`); a PROGRAM that ends in `.json` is such a print, kept.
//!
//! A pair is a name and a file that refers to one of its definitions. Recall is the share of the oracle's pairs that are
//! answered, precision the share of the answered pairs that are the oracle's, guesses counted. With and without the
//! pairs of a definition and its own file, which are easily had; and for `Type.name`, one definition at a time. Pairs of which the
//! oracle itself cannot say what they mean are said apart.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::print_stderr, reason = "a bench says how it is called")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on must fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::Value;
use strata_app::model::index::{Index, IndexInputs};
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::references::{
    Confidence, FileScopesCache, ReferenceQuery, ReferenceReport, ReferenceSources, find_references,
};
use strata_host::index::{index_threads, run_on_threads};
use strata_host::outline_cache::OutlineCache;
use strata_host::roots::Roots;

fn main() {
    let mut arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let shows_misses = arguments.first().is_some_and(|first| first == "--misses");
    if shows_misses {
        arguments.remove(0);
    }
    let mut halves = arguments.splitn(2, |argument| argument == "--");
    let (Some([program, rest @ ..]), Some(directories)) = (halves.next(), halves.next()) else {
        eprintln!("usage: cargo bench -p e2e --bench references -- [--misses] PROGRAM... -- DIR...");
        return;
    };
    for directory in directories {
        let directory = PathBuf::from(directory).canonicalize().unwrap();
        let oracle = Oracle::ask(program, rest, &directory);
        measure(&directory, &oracle, shows_misses);
    }
}

/// A definition by the oracle's account.
struct Definition {
    name: String,
    container: Option<String>,
    kind: String,
    path: String,
    files: BTreeSet<String>,
}

struct Oracle {
    definitions: Vec<Definition>,
    /// Files in which some mention of a name means nothing that it knows.
    unknown: BTreeMap<String, BTreeSet<String>>,
}

impl Oracle {
    fn ask(program: &str, arguments: &[String], directory: &Path) -> Self {
        let print = if program.ends_with(".json") {
            std::fs::read(program).unwrap()
        } else {
            let mut command = Command::new(program);
            let output = command.args(arguments).arg(directory).stderr(Stdio::inherit()).output().unwrap();
            assert!(output.status.success(), "{program} failed");
            output.stdout
        };
        let print: Value = serde_json::from_slice(&print).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let set = |value: &Value| value.as_array().unwrap().iter().map(text).collect::<BTreeSet<_>>();
        let definition = |value: &Value| Definition {
            name: text(&value["name"]),
            container: value["container"].as_str().map(str::to_owned),
            kind: text(&value["kind"]),
            path: text(&value["path"]),
            files: set(&value["files"]),
        };
        Self {
            definitions: print["definitions"].as_array().unwrap().iter().map(definition).collect(),
            unknown: print["unknown"].as_object().unwrap().iter().map(|(n, f)| (n.clone(), set(f))).collect(),
        }
    }
}

/// Pairs that are the oracle's, ours, and both; ours that it knows nothing of.
#[derive(Default)]
struct PairCounts {
    expected: usize,
    answered: usize,
    both: usize,
    guessed: usize,
    unknown: usize,
}

impl PairCounts {
    fn add(&mut self, expected: &BTreeSet<String>, answer: &Answer, unknown: &BTreeSet<String>) {
        let ours: BTreeSet<&String> = answer.files.keys().collect();
        self.expected += expected.len();
        self.answered += ours.len();
        self.both += ours.iter().filter(|file| expected.contains(**file)).count();
        self.guessed += answer.files.values().filter(|found| **found == Confidence::Guess).count();
        self.unknown +=
            ours.iter().filter(|file| !expected.contains(**file) && unknown.contains(**file)).count();
    }

    fn print(&self, what: &str) {
        let share = |part: usize, of: usize| if of == 0 { 1.0 } else { part as f64 / of as f64 };
        println!(
            "  {what:<34} recall {:.3}  precision {:.3} ({:.3} of what the oracle knows)  {} pairs, {} answered, {} of them guesses",
            share(self.both, self.expected),
            share(self.both, self.answered),
            share(self.both, self.answered - self.unknown),
            self.expected,
            self.answered,
            self.guessed,
        );
    }
}

/// The files of an answer.
struct Answer {
    files: BTreeMap<String, Confidence>,
}

impl Answer {
    fn of(report: &ReferenceReport) -> Self {
        let mut files = BTreeMap::new();
        for hit in &report.hits {
            let best = files.entry(hit.file.as_str().to_owned()).or_insert(hit.confidence);
            *best = (*best).max(hit.confidence);
        }
        Self { files }
    }

    fn without(&self, own: &BTreeSet<String>) -> Self {
        Self {
            files: self
                .files
                .iter()
                .filter(|(f, _)| !own.contains(*f))
                .map(|(f, c)| (f.clone(), *c))
                .collect(),
        }
    }
}

fn measure(directory: &Path, oracle: &Oracle, shows_misses: bool) {
    let roots = Roots::single(directory).unwrap();
    let (cache, cancel) = (tempfile::tempdir().unwrap(), Cancel::new());
    let cache = OutlineCache::in_directory(cache.path().to_owned());
    let (index, _) = Index::build(&IndexInputs::new(&roots, &cache, &cancel), |_| ()).unwrap();
    let texts = Texts { directory, known: Mutex::default() };
    let threads = index_threads();
    let sources = ReferenceSources {
        index: &index.symbols,
        graph: &index.references,
        names: &FileScopesCache::default(),
        texts: &|key| texts.text(key),
        each_part: &|search| run_on_threads(threads, search),
    };
    let ask = |name: &str, path: Option<&FileKey>| {
        find_references(sources, &ReferenceQuery::new(name, path), &Cancel::new()).unwrap()
    };
    let listed: BTreeSet<&str> = index.symbols.keys().map(strata_base::key::FileKey::as_str).collect();
    let nothing = BTreeSet::new();

    let mut by_name: BTreeMap<&str, Vec<&Definition>> = BTreeMap::new();
    for definition in oracle.definitions.iter().filter(|definition| listed.contains(&*definition.path)) {
        by_name.entry(&definition.name).or_default().push(definition);
    }
    let (mut all, mut beyond) = (PairCounts::default(), PairCounts::default());
    let mut misses: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    let begun = Instant::now();
    for (name, definitions) in &by_name {
        let answer = Answer::of(&ask(name, None));
        let unknown = oracle.unknown.get(*name).unwrap_or(&nothing);
        let expected: BTreeSet<String> = definitions.iter().flat_map(|one| one.files.clone()).collect();
        let own: BTreeSet<String> = definitions.iter().map(|one| one.path.clone()).collect();
        all.add(&expected, &answer, unknown);
        beyond.add(&expected.difference(&own).cloned().collect(), &answer.without(&own), unknown);
        let kind = definitions.first().map_or("", |one| &*one.kind);
        for file in expected.iter().filter(|file| !answer.files.contains_key(*file)) {
            misses.entry(("missed", kind)).or_default().push(format!("{name} in {file}"));
        }
        for (file, confidence) in answer.files.iter().filter(|(file, _)| !expected.contains(*file)) {
            let what = match (confidence, unknown.contains(file)) {
                (_, true) => "unknown to the oracle",
                (Confidence::Guess, _) => "wrong guess",
                (Confidence::Certain, _) => "wrong",
            };
            misses.entry((what, kind)).or_default().push(format!("{name} in {file}"));
        }
    }
    let took = begun.elapsed() / u32::try_from(by_name.len().max(1)).unwrap();
    let (mut single, mut single_beyond) = (PairCounts::default(), PairCounts::default());
    for definition in by_name.values().flatten() {
        let name = match &definition.container {
            Some(container) => format!("{container}.{}", definition.name),
            None => definition.name.clone(),
        };
        let path = FileKey::from(&*definition.path);
        let answer = Answer::of(&ask(&name, Some(&path)));
        let unknown = oracle.unknown.get(&definition.name).unwrap_or(&nothing);
        single.add(&definition.files, &answer, unknown);
        let own = BTreeSet::from([definition.path.clone()]);
        single_beyond.add(
            &definition.files.difference(&own).cloned().collect(),
            &answer.without(&own),
            unknown,
        );
    }
    println!("{}: {} names, {took:.2?} a query", directory.display(), by_name.len());
    all.print("name -> files");
    beyond.print("  but those that define it");
    single.print("definition -> files");
    single_beyond.print("  but its own");
    for ((what, kind), pairs) in &misses {
        println!("  {what}, {kind}: {}", pairs.len());
        for pair in pairs.iter().filter(|_| shows_misses) {
            println!("    {pair}");
        }
    }
}

/// The files of a directory, each read once.
struct Texts<'a> {
    directory: &'a Path,
    known: Mutex<BTreeMap<FileKey, Option<Arc<str>>>>,
}

impl Texts<'_> {
    fn text(&self, key: &FileKey) -> Option<Arc<str>> {
        let mut known = self.known.lock().unwrap();
        let read = || std::fs::read_to_string(self.directory.join(key.as_str())).ok().map(Arc::from);
        known.entry(key.clone()).or_insert_with(read).clone()
    }
}
