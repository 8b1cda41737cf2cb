//! How many of the definitions that a commit changes stand in the symbol map of the tree before it as a signature, at several
//! sizes, beside aider's map of the same tree: `cargo bench -p e2e --bench map -- [--aider PYTHON] [--commits N] [--svg FILE]
//! DIR...`. And whether a map holds what it must: `cargo bench -p e2e --bench map -- --focus DIR...` asks the server for a map of
//! 1,000 tokens with each file of the repositories in focus, and for maps of 1,000 random budgets.
//!
//! DIR is a git repository. Of each the last N (300) commits count that are no merges and change 1 to 6 source files that
//! are no tests, documents or new. The first line of the message is the question. A definition counts when an old line of a
//! hunk is in it and in none inside it; of an insertion the lines on both sides must be. It is visible when its file's part of
//! the map has a line with the beginning of its signature, up to the name. Both maps are weighed by the count that aider has
//! without a model: four characters are a token. `words` is a map for the question (`strata map --about`), `stable` one that
//! knows nothing of it, as prompts have; aider is given the words. Shares are means over commits, then over repositories.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::print_stderr, reason = "a bench says how it is called")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on must fail")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use e2e::{Rng, Server};
use serde_json::json;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::outline::{locate_symbols, parse};
use strata_code::symbols::{
    FileRelevance, FileSymbols, LexicalIndex, Manifests, MapRequest, QuestionWords, ReferenceGraph,
    RelevanceQuery, Seeds, SymbolIndex, build_map, mentioned_files, rank_files_for_question,
};
use strata_grammars::LanguageId;

/// Sizes that are compared, in tokens.
const SIZES: [usize; 5] = [1_000, 2_000, 4_000, 8_000, 64_000];
/// Sizes of the curve, in tokens.
const CURVE: [usize; 9] = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000];
/// The map that must hold any file in focus, in tokens.
const FOCUSED: usize = 1_000;
/// How many random budgets there are, evenly over the powers of two between these.
const RANDOM: usize = 1_000;
const LEAST: f64 = 16.0;
const MOST: f64 = 65_536.0;
/// Files above it have no outline.
const MAX_FILE: usize = 1 << 20;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (mut aider, mut wanted, mut svg, mut focus, mut repositories) = (None, 300, None, false, Vec::new());
    while let Some(argument) = arguments.next() {
        match &*argument {
            "--aider" => aider = arguments.next().map(PathBuf::from),
            "--commits" => wanted = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(wanted),
            "--focus" => focus = true,
            "--svg" => svg = arguments.next().map(PathBuf::from),
            _ => repositories.push(PathBuf::from(argument)),
        }
    }
    if repositories.is_empty() {
        eprintln!(
            "usage: cargo bench -p e2e --bench map -- [--aider PYTHON] [--commits N] [--svg FILE] DIR..."
        );
        return;
    }
    if focus {
        repositories.iter().for_each(|repository| check_focus(repository, RANDOM / repositories.len()));
        return;
    }
    let sizes: Vec<usize> = if svg.is_some() { CURVE.to_vec() } else { SIZES.to_vec() };
    let mut header = format!("{:<14}{:>8}  {:<8}", "visible", "commits", "map");
    sizes.iter().for_each(|size| write!(header, "{size:>9}").unwrap());
    println!("{header}");
    let mut total: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for repository in &repositories {
        let commits = commits(repository, wanted);
        let shares = measure(repository, &commits, &sizes, aider.as_deref());
        for (name, shares) in &shares {
            print(&name_of(repository), commits.len(), name, shares);
            let sums = total.entry(name).or_insert_with(|| vec![0.0; sizes.len()]);
            sums.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share / repositories.len() as f64);
        }
    }
    for (name, shares) in &total {
        print("mean", 0, name, shares);
    }
    if let Some(file) = svg {
        let labels = [("words", "for the question"), ("stable", "stable"), ("aider", "aider's")];
        let curves: Vec<_> =
            labels.into_iter().filter_map(|(name, label)| Some((label, total.get(name)?))).collect();
        std::fs::write(&file, picture(&sizes, &curves)).unwrap();
    }
}

/// Every file in focus of a small map; then random files in focus of maps of random size, weighed again by tiktoken-rs.
fn check_focus(repository: &Path, random: usize) {
    let state = tempfile::tempdir().unwrap();
    let mut server = Server::with_folder(repository, state.path(), json!({ "model": "gpt-4o" }));
    while server.command("server.status", json!({})).unwrap()["index"] != "ready" {
        std::thread::sleep(Duration::from_millis(100));
    }
    let tiktoken = tiktoken_rs::o200k_base().unwrap();
    let listing = git(repository, &["ls-files", "-z"]);
    let files: Vec<&str> =
        listing.split('\0').filter(|file| repository.join(file).is_file() && !file.is_empty()).collect();
    let (mut held, mut refused, mut missed, mut exceeded) = (0, 0, 0, 0);
    let mut ask = |file: &str, budget: usize| match server
        .command("symbols.map", json!({ "budget": budget, "focus": [file] }))
    {
        Ok(map) if map["files"].as_array().unwrap().iter().any(|found| found["path"] == *file) => {
            let tokens = tiktoken.encode_ordinary(map["text"].as_str().unwrap()).len();
            (1, 0, 0, usize::from(tokens > budget))
        }
        Err(error) if error.message.contains("tokens do not hold what the map is about") => (0, 1, 0, 0),
        other => {
            println!("  {file} in {budget} tokens: {other:?}");
            (0, 0, 1, 0)
        }
    };
    let mut add = |(one, two, three, four): (usize, usize, usize, usize)| {
        (held, refused, missed, exceeded) = (held + one, refused + two, missed + three, exceeded + four);
    };
    for file in &files {
        add(ask(file, FOCUSED));
    }
    let mut rng = Rng::new(11);
    for _ in 0..random {
        let share_of_one = (rng.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        let budget = (LEAST * (MOST / LEAST).powf(share_of_one)) as usize;
        add(ask(files[rng.bits() as usize % files.len()], budget));
    }
    println!(
        "{:<14} {} files in focus of {FOCUSED} tokens and {random} of random budgets: {held} held, {refused} refused, {missed} \
         missed, {exceeded} exceeded",
        name_of(repository),
        files.len()
    );
}

fn print(name: &str, commits: usize, map: &str, shares: &[f64]) {
    let count = if commits == 0 { String::new() } else { commits.to_string() };
    let mut line = format!("{name:<14}{count:>8}  {map:<8}");
    shares.iter().for_each(|share| write!(line, "{share:>9.3}").unwrap());
    println!("{line}");
}

/// What a commit does to the tree before it.
struct Commit {
    parent: String,
    subject: String,
    /// The lines that are touched, from 0, by file: those replaced, or the two around an insertion.
    touched: BTreeMap<String, Vec<Vec<usize>>>,
}

/// A definition as it may be seen in a map: the file, and its signature up to the name.
type Target = (String, String);

fn measure(
    repository: &Path,
    commits: &[Commit],
    sizes: &[usize],
    aider: Option<&Path>,
) -> BTreeMap<&'static str, Vec<f64>> {
    let mut blobs = Blobs::new(repository);
    let mut aider = aider.map(|python| Aider::start(python, repository));
    let mut sums: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    let mut counted = 0.0;
    for commit in commits {
        let tree = Tree::read(repository, &commit.parent, &mut blobs);
        let targets = targets(&tree, commit, &mut blobs);
        if targets.is_empty() {
            continue;
        }
        counted += 1.0;
        let mut add = |name: &'static str, maps: &[String]| {
            let sums = sums.entry(name).or_insert_with(|| vec![0.0; sizes.len()]);
            for (sum, map) in sums.iter_mut().zip(maps) {
                *sum += visible(&targets, map);
            }
        };
        add("words", &tree.maps(sizes, Some(&commit.subject)));
        add("stable", &tree.maps(sizes, None));
        if let Some(aider) = &mut aider {
            add("aider", &aider.maps(commit, sizes));
        }
    }
    sums.values_mut().flatten().for_each(|sum| *sum /= f64::max(counted, 1.0));
    sums
}

/// Without a model aider counts so.
fn weigh(text: &str) -> usize {
    text.chars().count() / 4
}

/// The share of definitions that a map shows.
fn visible(targets: &BTreeSet<Target>, map: &str) -> f64 {
    let mut files: HashMap<&str, Vec<String>> = HashMap::new();
    let mut file = "";
    for line in map.lines() {
        match line.chars().next() {
            None | Some('⋮') => {}
            Some(' ' | '│') => files.entry(file).or_default().push(words(line.trim_start_matches('│'))),
            Some(_) => file = line.trim_end_matches(':'),
        }
    }
    let is_shown = |(path, signature): &&Target| {
        files.get(&**path).is_some_and(|lines| lines.iter().any(|line| has(line, signature)))
    };
    targets.iter().filter(is_shown).count() as f64 / targets.len() as f64
}

/// Whether a line has some text that ends with a name.
fn has(line: &str, signature: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(signature)
        .any(|(at, _)| !line[at + signature.len()..].starts_with(is_name) && !line[..at].ends_with(is_name))
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The definitions that a commit changes.
fn targets(tree: &Tree, commit: &Commit, blobs: &mut Blobs) -> BTreeSet<Target> {
    let mut targets = BTreeSet::new();
    for (path, touched) in &commit.touched {
        let Some((language, hash)) = LanguageId::by_path(path, "").zip(tree.hashes.get(path)) else {
            continue;
        };
        let Some(text) = blobs.text(hash) else { continue };
        let syntax = parse(language, &text, None, &Cancel::new()).unwrap();
        let symbols = locate_symbols(&syntax, &text, &Cancel::new()).unwrap();
        let starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let line_of = |byte: usize| starts.partition_point(|start| *start <= byte) - 1;
        let mut hidden_below = None;
        let mut spans = Vec::new();
        for found in &symbols {
            if hidden_below.is_some_and(|depth| found.symbol.depth > depth) {
                continue;
            }
            let word = format!("{:?}", found.symbol.kind);
            hidden_below = matches!(&*word, "Function" | "Method").then_some(found.symbol.depth);
            if matches!(&*word, "Impl" | "Module" | "Field" | "Variant") {
                continue;
            }
            let line = line_of(found.name_range.start);
            let signature = words(&text[starts[line]..found.name_range.end]);
            let last = line_of(found.range.end.saturating_sub(1).max(found.range.start));
            spans.push((line_of(found.range.start), last, signature));
        }
        for lines in touched {
            let both = lines.len() == 2 && lines[1] == usize::MAX;
            let places: Vec<Vec<usize>> = if both {
                vec![vec![lines[0], lines[0] + 1]]
            } else {
                lines.iter().map(|l| vec![*l]).collect()
            };
            for place in places {
                let around =
                    |span: &&(usize, usize, String)| place.iter().all(|l| (span.0..=span.1).contains(l));
                if let Some((.., signature)) = spans.iter().filter(around).min_by_key(|span| span.1 - span.0)
                {
                    targets.insert((path.clone(), signature.clone()));
                }
            }
        }
    }
    targets
}

/// The last commits of a repository that count, newest first.
fn commits(repository: &Path, wanted: usize) -> Vec<Commit> {
    let log = git(repository, &["log", "--no-merges", "--min-parents=1", "--format=%H%x00%P%x00%s"]);
    let mut commits = Vec::new();
    for entry in log.lines() {
        let parts: Vec<&str> = entry.split('\0').collect();
        let [commit, parent, subject] = &*parts else { continue };
        let names =
            git(repository, &["diff-tree", "-r", "-z", "--no-renames", "--name-status", parent, commit]);
        let mut fields = names.split('\0');
        let mut sources = Vec::new();
        while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
            if is_source(path) {
                sources.push((status.to_owned(), path.to_owned()));
            }
        }
        if !(1..=6).contains(&sources.len()) {
            continue;
        }
        let mut touched = BTreeMap::new();
        for (_, path) in sources.into_iter().filter(|(status, _)| status != "A") {
            let diff =
                git(repository, &["diff", "-U0", "--no-renames", "--no-color", parent, commit, "--", &path]);
            let hunks: Vec<Vec<usize>> = diff.lines().filter_map(hunk).collect();
            if !hunks.is_empty() {
                touched.insert(path, hunks);
            }
        }
        if !touched.is_empty() {
            let (parent, subject) = ((*parent).to_owned(), (*subject).to_owned());
            commits.push(Commit { parent, subject, touched });
        }
        if commits.len() == wanted {
            break;
        }
    }
    commits
}

/// The old lines of `@@ -A,B +C,D @@`; of an insertion the line before it and a mark.
fn hunk(line: &str) -> Option<Vec<usize>> {
    let old = line.strip_prefix("@@ -")?.split(' ').next()?;
    let (start, count) = old.split_once(',').unwrap_or((old, "1"));
    let (start, count): (usize, usize) = (start.parse().ok()?, count.parse().ok()?);
    Some(match count {
        0 => vec![start.saturating_sub(1), usize::MAX],
        _ => (start - 1..start - 1 + count).collect(),
    })
}

fn is_source(path: &str) -> bool {
    let language = LanguageId::by_path(path, "");
    language.is_some_and(|language| !language.is_document() && !language.is_test_file(path))
}

/// The tree of a commit.
struct Tree {
    files: Vec<FileKey>,
    hashes: BTreeMap<String, String>,
    symbols: SymbolIndex,
    references: ReferenceGraph,
    lexical: LexicalIndex,
}

impl Tree {
    fn read(repository: &Path, commit: &str, blobs: &mut Blobs) -> Self {
        let listing = git(repository, &["ls-tree", "-r", "-z", commit]);
        let (mut files, mut hashes) = (Vec::new(), BTreeMap::new());
        let (mut symbols, mut manifests) = (BTreeMap::new(), Vec::new());
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
            hashes.insert(path.to_owned(), hash.to_owned());
            files.push(key);
        }
        let manifests = manifests.iter().filter_map(|(key, text)| Some((key, text.as_deref()?)));
        let manifests = Arc::new(Manifests::read(manifests));
        let symbols: SymbolIndex = symbols.into_iter().collect();
        let references = ReferenceGraph::build(&symbols, &manifests);
        let lexical = LexicalIndex::build(&symbols, &files);
        Self { files, hashes, symbols, references, lexical }
    }

    /// Our maps of some sizes, for a question or for none.
    fn maps(&self, sizes: &[usize], question: Option<&str>) -> Vec<String> {
        let seeds = Seeds::default();
        let query = question.map(|text| RelevanceQuery { text, ..RelevanceQuery::default() });
        let relevance = query.map(|query| FileRelevance::new(&self.lexical, &self.references, &query));
        let ranking = match &relevance {
            Some(relevance) => rank_files_for_question(relevance, &self.references, &seeds),
            None => self.references.rank(&seeds),
        };
        let words = relevance.as_ref().map(QuestionWords::new);
        let required =
            question.map(|text| mentioned_files(text, &self.files, &self.references)).unwrap_or_default();
        let without = BTreeSet::new();
        let map = |budget: &usize| {
            let request = MapRequest {
                budget: *budget,
                kept: &[],
                required: &required,
                ranking: &ranking,
                about: words.as_ref(),
                without: &without,
            };
            let map = build_map(&self.symbols, &self.references, &request, &weigh);
            let text: String = map.blocks.iter().map(|block| &*block.text).collect();
            assert!(weigh(&text) <= *budget + map.blocks.len(), "{budget}");
            text
        };
        sizes.iter().map(map).collect()
    }
}

/// The blobs of a repository, each outlined once.
struct Blobs {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    outlined: HashMap<(String, FileKey), Option<Arc<FileSymbols>>>,
}

impl Blobs {
    fn new(repository: &Path) -> Self {
        let mut process = Command::new("git")
            .arg("-C")
            .arg(repository)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        Self { process, input, output, outlined: HashMap::new() }
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
        writeln!(self.input, "{hash}").unwrap();
        self.input.flush().unwrap();
        let mut header = String::new();
        self.output.read_line(&mut header).unwrap();
        let size: usize = header.trim().rsplit(' ').next()?.parse().ok()?;
        let mut bytes = vec![0; size + 1];
        self.output.read_exact(&mut bytes).unwrap();
        bytes.pop();
        String::from_utf8(bytes).ok()
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        let _killed = self.process.kill();
        let _ended = self.process.wait();
    }
}

/// aider's maps, asked through its own interpreter over a clone of its own.
struct Aider {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    _checkout: tempfile::TempDir,
}

impl Aider {
    fn start(python: &Path, repository: &Path) -> Self {
        let checkout = tempfile::tempdir().unwrap();
        let clone = ["clone", "--quiet", "--shared", "--no-checkout"];
        let cloned = Command::new("git").args(clone).arg(repository).arg(checkout.path()).status();
        assert!(cloned.unwrap().success());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/aider_signatures.py");
        let mut child = Command::new(python)
            .arg(script)
            .arg(checkout.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, _checkout: checkout }
    }

    fn maps(&mut self, commit: &Commit, sizes: &[usize]) -> Vec<String> {
        let question =
            serde_json::json!({ "parent": commit.parent, "text": commit.subject, "budgets": sizes });
        writeln!(self.input.as_mut().unwrap(), "{question}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
        serde_json::from_value(answer["maps"].clone()).unwrap()
    }
}

impl Drop for Aider {
    fn drop(&mut self) {
        self.input = None;
        let _ended = self.child.wait();
    }
}

fn git(repository: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(repository).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The folder's name; of a folder called `repo` or `.git` the one around it.
fn name_of(repository: &Path) -> String {
    let parts = repository.components().rev().map(|part| part.as_os_str().to_string_lossy().into_owned());
    parts.into_iter().find(|part| part != "repo" && part != ".git").unwrap_or_default()
}

/// The curves as a picture.
fn picture(sizes: &[usize], curves: &[(&str, &Vec<f64>)]) -> String {
    let (width, height, left, bottom) = (640.0, 320.0, 56.0, 44.0);
    let first = (sizes[0] as f64).ln();
    let last = (sizes[sizes.len() - 1] as f64).ln();
    let x = |size: usize| left + ((size as f64).ln() - first) / (last - first) * (width - left - 120.0);
    let y = |share: f64| 16.0 + (1.0 - share) * (height - bottom - 16.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let y = y(share);
        let right = x(sizes[sizes.len() - 1]);
        writeln!(svg, "<line x1=\"{left}\" x2=\"{right:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>")
            .unwrap();
        writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{share:.2}</text>",
            left - 8.0,
            y + 4.0
        )
        .unwrap();
    }
    for &size in sizes {
        let label = if size < 1_000 { size.to_string() } else { format!("{}k", size / 1_000) };
        writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
            x(size),
            height - 24.0
        )
        .unwrap();
    }
    for ((name, shares), colour) in curves.iter().zip(["#0b63b5", "#b54a0b", "#666666"]) {
        let points: Vec<String> = sizes
            .iter()
            .zip(*shares)
            .map(|(size, share)| format!("{:.1},{:.1}", x(*size), y(*share)))
            .collect();
        writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            points.join(" ")
        )
        .unwrap();
        let end = shares.last().copied().unwrap_or_default();
        // Both of ours end at the same place.
        let shift = if *name == "stable" { 14.0 } else { 0.0 };
        writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{name}</text>",
            x(sizes[sizes.len() - 1]) + 8.0,
            y(end) + 4.0 + shift
        )
        .unwrap();
    }
    writeln!(svg, "<text x=\"{left}\" y=\"{:.1}\">tokens of the map; changed definitions that are visible as a signature</text>\n</svg>", height - 6.0).unwrap();
    svg
}
