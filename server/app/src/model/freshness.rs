//! What the reader of a reply must know about the age of the texts in it: which of them are unsaved, which files have
//! changed since the reader saw them, and whether the texts are from an editor. Remembers what a client has read, by
//! hashes.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_host::disk::{Stamp, quick_stamp};

use crate::model::live_view::{EditorViewState, MAX_MTIME_LAG_MS, UnsavedText};
use crate::model::snapshot::Snapshot;

/// Maximum number of files that a client has read to remember. The one read longest ago is forgotten.
const MAX_REMEMBERED_READS: usize = 2_000;
/// Maximum number of files to list in each part of a note.
const MAX_LISTED_FILES: usize = 20;
/// Tools whose replies contain texts of files.
const READING_TOOLS: [&str; 3] = ["files_read", "outline", "grep"];

/// What the reader of a reply must know about its texts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Freshness {
    /// Files in the reply whose text is unsaved in an editor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsaved: Vec<UnsavedFile>,
    /// Files that have changed since an earlier reply showed them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<FileKey>,
    /// What changed about the view, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub news: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct UnsavedFile {
    pub path: FileKey,
    #[serde(flatten)]
    pub text: UnsavedText,
}

/// The files that a client has read, and the problems of the view that have been reported to it.
#[derive(Debug, Default)]
pub(crate) struct ReadLog {
    files: BTreeMap<FileKey, ReadRecord>,
    /// Number of reads so far.
    reads: u64,
    /// Number of editors that the client knows of.
    editors: usize,
    /// Problems of the view that have been reported to the client.
    problems: Vec<String>,
}

#[derive(Debug)]
struct ReadRecord {
    /// Hash of the text that the client has seen, or that was reported to it. `None` if the file could not be read.
    hash: Option<ContentHash>,
    version: TextVersion,
    last_read: u64,
}

/// Tells cheaply whether a text may have changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TextVersion {
    /// A buffer, by the number of its text.
    Buffer(u64),
    Disk(Stamp),
    Missing,
}

impl Freshness {
    /// Whether there is nothing to know.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Omits files that must not be named.
    pub(crate) fn without_files(mut self, hidden: &BTreeSet<String>) -> Self {
        self.unsaved.retain(|file| !hidden.contains(file.path.as_str()));
        self.changed.retain(|key| !hidden.contains(key.as_str()));
        self
    }

    /// Returns what a reader must know, as sentences.
    pub fn sentences(&self) -> Vec<String> {
        let listed = |names: Vec<String>| match names.split_at_checked(MAX_LISTED_FILES) {
            Some((first, more)) if !more.is_empty() => {
                format!("{} and {} more", first.join(", "), more.len())
            }
            _ => names.join(", "),
        };
        let mut sentences = self.news.clone();
        if !self.unsaved.is_empty() {
            let names = self.unsaved.iter().map(|file| {
                let UnsavedText { version, editor, disk_changed, out_of_sync } = &file.text;
                let editor = editor.as_deref().map(|name| format!(" in {name}")).unwrap_or_default();
                let conflict =
                    if *disk_changed { ", while another program changed the file on disk" } else { "" };
                let doubt = if *out_of_sync { ", may be out of sync with the editor" } else { "" };
                format!("{} (version {version}{editor}{conflict}{doubt})", file.path.notice())
            });
            sentences.push(format!("unsaved: {}", listed(names.collect())));
        }
        if !self.changed.is_empty() {
            let names = self.changed.iter().map(|key| key.notice().to_string()).collect();
            sentences.push(format!("changed since you read it: {}", listed(names)));
        }
        sentences
    }
}

impl ReadLog {
    /// Records how the view is, so that only later changes are news.
    pub(crate) fn set_view_baseline(&mut self, view: &EditorViewState) {
        self.take_view_changes(view);
    }

    /// Returns what the reader of a reply must know, and records what the reply shows. The call began at `began_ms`.
    pub(crate) fn freshness(
        &mut self,
        tool: &str,
        reply: &Value,
        view: &EditorViewState,
        snapshot: &Snapshot,
        began_ms: u64,
    ) -> Freshness {
        let mut changed = self.take_changed_files(snapshot);
        if READING_TOOLS.contains(&tool) {
            for key in files_in_reply(reply, snapshot) {
                if self.record_read(key.clone(), snapshot, began_ms) && !changed.contains(&key) {
                    changed.push(key);
                }
            }
        }
        let is_mentioned = |key: &FileKey| mentions_name(reply, key.as_str());
        let unsaved = view.unsaved.iter().filter(|(key, _)| is_mentioned(key));
        let unsaved = unsaved.map(|(key, text)| UnsavedFile { path: key.clone(), text: text.clone() });
        Freshness { unsaved: unsaved.collect(), changed, news: self.take_view_changes(view) }
    }

    /// Returns what changed about the view since the last call.
    fn take_view_changes(&mut self, view: &EditorViewState) -> Vec<String> {
        let mut news = Vec::new();
        let editors_before = std::mem::replace(&mut self.editors, view.editors);
        if view.editors > editors_before {
            news.push(format!("view: {view}"));
        } else if view.editors < editors_before {
            news.push(format!(
                "an editor has ended, so its files are shown as they are on disk; view: {view}"
            ));
        }
        news.extend(view.problems.iter().filter(|problem| !self.problems.contains(problem)).cloned());
        self.problems.clone_from(&view.problems);
        news
    }

    /// Returns the files that have changed since the client read them or was told so.
    fn take_changed_files(&mut self, snapshot: &Snapshot) -> Vec<FileKey> {
        let mut changed = Vec::new();
        for (key, read) in &mut self.files {
            let version = TextVersion::new(key, snapshot);
            if version == read.version {
                continue;
            }
            let hash = snapshot.text_hash(key);
            if hash != read.hash {
                changed.push(key.clone());
            }
            (read.hash, read.version) = (hash, version);
        }
        changed
    }

    /// Records that the client has read a file. Returns whether the file may have changed meanwhile.
    fn record_read(&mut self, key: FileKey, snapshot: &Snapshot, began_ms: u64) -> bool {
        let version = TextVersion::new(&key, snapshot);
        let hash = snapshot.text_hash(&key);
        let is_recent = match version {
            TextVersion::Disk(stamp) => {
                stamp.mtime_ns / 1_000_000 + MAX_MTIME_LAG_MS > i64::try_from(began_ms).unwrap_or(i64::MAX)
            }
            TextVersion::Buffer(_) => false,
            TextVersion::Missing => true,
        };
        self.reads += 1;
        self.files.insert(key, ReadRecord { hash, version, last_read: self.reads });
        if self.files.len() > MAX_REMEMBERED_READS {
            let oldest = self.files.iter().min_by_key(|(_, read)| read.last_read);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.files.remove(&oldest);
            }
        }
        is_recent
    }
}

impl TextVersion {
    fn new(key: &FileKey, snapshot: &Snapshot) -> Self {
        if let Some(generation) = snapshot.documents.generation(key) {
            return Self::Buffer(generation);
        }
        quick_stamp(&snapshot.roots, key).map_or(Self::Missing, Self::Disk)
    }
}

/// Returns the files whose texts a reply shows.
fn files_in_reply(reply: &Value, snapshot: &Snapshot) -> Vec<FileKey> {
    let files = reply["files"].as_array().into_iter().flatten().chain([reply]);
    files.filter_map(|file| snapshot.resolve(file["path"].as_str()?).ok()).collect()
}

/// Whether any string in a reply contains `name`.
fn mentions_name(reply: &Value, name: &str) -> bool {
    match reply {
        Value::String(text) => text.contains(name),
        Value::Array(items) => items.iter().any(|item| mentions_name(item, name)),
        Value::Object(fields) => fields.values().any(|field| mentions_name(field, name)),
        _ => false,
    }
}
