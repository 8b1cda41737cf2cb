//! Made-up secrets in typical files, and names of files and of definitions, written by someone who had not read the rules
//! of the screen. The data is in `tests/safety/secrets`, in which [`SPLIT`] interrupts long words, so that secret scanners
//! do not report it.

use serde_json::Value;

/// Interrupts long words in the data.
const SPLIT: char = '\u{b7}';

/// A file with secrets.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What kind of secret it is, such as `npm-token`.
    pub kind: String,
    pub half: Half,
    /// Path of the file.
    pub path: String,
    pub text: String,
    /// Parts of the text that a model must not see. A key has one for each line.
    pub secrets: Vec<String>,
}

/// The use of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Half {
    /// The rules were adjusted to it.
    Development,
    /// It was held back while the rules were written.
    HeldBack,
}

/// A share of the secrets that a screen finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recall {
    pub found: usize,
    pub all: usize,
}

impl Recall {
    /// Returns the share in tenths of a percent, rounded down.
    pub fn per_mille(self) -> usize {
        self.found * 1000 / self.all.max(1)
    }
}

/// Returns the files with secrets.
pub fn entries() -> Vec<Entry> {
    include_str!("../safety/secrets/corpus.jsonl").lines().map(entry).collect()
}

/// Returns names of files, each with whether it suggests secrets.
pub fn file_names() -> impl Iterator<Item = (&'static str, bool)> {
    let lines = include_str!("../safety/secrets/names.txt").lines();
    lines.filter_map(|line| line.split_once('\t')).map(|(name, kind)| (name, kind == "secret"))
}

/// Returns names of definitions that are not secrets.
pub fn identifiers() -> impl Iterator<Item = &'static str> {
    include_str!("../safety/secrets/identifiers.txt").lines().filter(|name| !name.is_empty())
}

/// Counts the secrets of a half that are not in the screened texts, and returns those that are, with their kind and path.
pub fn recall(entries: &[Entry], half: Half, screen: impl Fn(&str) -> String) -> (Recall, Vec<String>) {
    let (mut recall, mut missed) = (Recall { found: 0, all: 0 }, Vec::new());
    for entry in entries.iter().filter(|entry| entry.half == half) {
        let screened = screen(&entry.text);
        for secret in &entry.secrets {
            recall.all += 1;
            if screened.contains(secret) {
                missed.push(format!("{} ({}): {secret}", entry.kind, entry.path));
            } else {
                recall.found += 1;
            }
        }
    }
    (recall, missed)
}

fn entry(line: &str) -> Entry {
    let value: Value = serde_json::from_str(line).expect("a line of the corpus is JSON");
    let text = |name: &str| joined(value[name].as_str().expect("a field of the corpus is text"));
    let secrets = value["secrets"].as_array().expect("secrets are a list");
    let lines = secrets.iter().filter_map(Value::as_str).flat_map(str::lines).map(joined);
    Entry {
        kind: text("kind"),
        half: if text("half") == "development" { Half::Development } else { Half::HeldBack },
        path: text("path"),
        text: text("text"),
        // The first and the last line of a key are the same for all keys.
        secrets: lines.filter(|line| !line.is_empty() && !line.starts_with("-----")).collect(),
    }
}

fn joined(text: &str) -> String {
    text.chars().filter(|c| *c != SPLIT).collect()
}
