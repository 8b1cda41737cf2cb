//! Tracks what tool calls did with each file. Does not access the file system.

use std::collections::{BTreeMap, HashMap};

use super::StepOutcome;

/// What a conversation did with a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileTrace {
    /// Number of times the file was read.
    pub reads: u32,
    /// Number of times the file was changed, including creation and deletion.
    pub edits: u32,
    /// Number of times the file was created.
    pub created: u32,
    /// Number of messages that mention the file, not counting calls on it.
    pub mentions: u32,
    /// Index of the last message that touches or mentions the file.
    pub last: usize,
    /// Index of the last message that read the file.
    pub last_read: Option<usize>,
    /// What last happened to the file: an operation, a failed call, or a mention.
    pub(crate) last_state: FileState,
    /// One-line description of the file.
    pub about: Option<String>,
    /// Code last written to the file.
    pub(crate) change: Option<LastChange>,
}

/// Code written to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LastChange {
    /// Index of the message that wrote the code.
    pub at: usize,
    /// First lines of the code, joined into one line.
    pub code: String,
}

/// What last happened to a file in a conversation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum FileState {
    Edited,
    Created,
    Deleted,
    Read,
    /// A call on the file failed.
    Failed,
    /// The file was only mentioned.
    Mentioned,
}

impl FileTrace {
    /// Whether the file was changed, created or deleted.
    pub fn is_changed(&self) -> bool {
        self.edits > 0
    }

    /// Whether a call successfully read or changed the file.
    pub fn is_read_or_changed(&self) -> bool {
        self.reads > 0 || self.edits > 0
    }

    /// Returns the state to report. A changed file stays changed after reads and failures.
    pub(crate) fn reported_state(&self) -> FileState {
        match self.last_state {
            FileState::Deleted => FileState::Deleted,
            _ if self.created > 0 => FileState::Created,
            _ if self.edits > 0 => FileState::Edited,
            _ if self.reads > 0 => FileState::Read,
            _ => FileState::Mentioned,
        }
    }

    /// Creates a trace from an earlier summary.
    pub(super) fn from_summary(index: usize, state: FileState) -> Self {
        let mut trace = Self::new(index);
        trace.record(index, state);
        trace.last_state = state;
        trace
    }

    fn new(index: usize) -> Self {
        Self {
            reads: 0,
            edits: 0,
            created: 0,
            mentions: 0,
            last: index,
            last_read: None,
            last_state: FileState::Mentioned,
            about: None,
            change: None,
        }
    }

    /// Merges in the trace of another spelling of the same path.
    fn merge(&mut self, other: &Self) {
        let later = (other.last, other.last_state != FileState::Mentioned)
            > (self.last, self.last_state != FileState::Mentioned);
        if self.last_state == FileState::Mentioned || (later && other.last_state != FileState::Mentioned) {
            self.last_state = other.last_state;
        }
        self.reads += other.reads;
        self.edits += other.edits;
        self.created += other.created;
        self.mentions += other.mentions;
        self.last = self.last.max(other.last);
        self.last_read = self.last_read.max(other.last_read);
        if self.about.is_none() || later {
            self.about = other.about.clone().or(self.about.take());
        }
        let at = |trace: &Self| trace.change.as_ref().map(|change| change.at);
        if at(other) > at(self) {
            self.change.clone_from(&other.change);
        }
    }

    /// Records an operation on the file.
    fn record(&mut self, index: usize, state: FileState) {
        match state {
            FileState::Read => {
                self.reads += 1;
                self.last_read = Some(index);
            }
            FileState::Edited | FileState::Deleted => self.edits += 1,
            FileState::Created => {
                self.edits += 1;
                self.created += 1;
            }
            FileState::Failed => {}
            FileState::Mentioned => self.mentions += 1,
        }
        if state != FileState::Mentioned || self.last_state == FileState::Mentioned {
            self.last_state = state;
        }
        self.last = self.last.max(index);
    }
}

/// Files touched so far.
#[derive(Default)]
pub(super) struct FileTraces {
    traces: BTreeMap<String, FileTrace>,
}

impl FileTraces {
    /// Records an operation on the file at `path`. Ignores paths longer than file systems allow.
    pub(super) fn record(&mut self, path: &str, index: usize, state: FileState) {
        let Some(path) = normalize_path(path) else { return };
        match self.traces.get_mut(path) {
            Some(trace) => trace.record(index, state),
            None => {
                let mut trace = FileTrace::new(index);
                trace.record(index, state);
                self.traces.insert(path.to_owned(), trace);
            }
        }
    }

    /// Records a description of the file at `path`, and the code last written to it.
    pub(super) fn record_description(&mut self, path: &str, about: Option<&str>, change: Option<LastChange>) {
        let Some(trace) = normalize_path(path).and_then(|path| self.traces.get_mut(path)) else { return };
        if let Some(about) = about {
            trace.about = Some(about.to_owned());
        }
        if change.is_some() {
            trace.change = change;
        }
    }

    pub(super) fn has_path(&self, path: &str) -> bool {
        normalize_path(path).is_some_and(|path| self.traces.contains_key(path))
    }

    /// Records a trace from an earlier summary.
    pub(super) fn add_from_summary(&mut self, path: &str, carried: &FileTrace) {
        let Some(path) = normalize_path(path) else { return };
        self.traces
            .entry(path.to_owned())
            .and_modify(|known| known.merge(carried))
            .or_insert_with(|| carried.clone());
    }

    /// Returns the traces by path, and adds the number of mentions from `names` to each.
    pub(super) fn into_traces(mut self, names: &FileNameMentions) -> BTreeMap<String, FileTrace> {
        self.merge_relative_and_absolute_paths();
        for (path, trace) in &mut self.traces {
            if let Some(mentions) = names.get(file_name(path)) {
                trace.mentions += mentions.texts;
                trace.last = trace.last.max(mentions.last);
            }
        }
        self.traces
    }

    /// Merges a relative path with an absolute one if exactly one absolute path ends with it.
    fn merge_relative_and_absolute_paths(&mut self) {
        let is_absolute = |path: &str| path.starts_with('/') || path.get(1..3) == Some(":\\");
        let mut absolute: HashMap<&str, Vec<&str>> = HashMap::new();
        for path in self.traces.keys().filter(|path| is_absolute(path)) {
            absolute.entry(file_name(path)).or_default().push(path);
        }
        let same = |path: &String| {
            let candidates =
                absolute.get(file_name(path)).filter(|paths| paths.len() <= MAX_SAME_NAME_PATHS)?;
            let ends = |candidate: &&&str| {
                candidate.strip_suffix(path.as_str()).is_some_and(|front| front.ends_with('/'))
            };
            let mut fitting = candidates.iter().filter(ends);
            let only = fitting.next().filter(|_| fitting.next().is_none())?;
            Some((path.clone(), (*only).to_owned()))
        };
        let joined: Vec<(String, String)> =
            self.traces.keys().filter(|path| !is_absolute(path)).filter_map(same).collect();
        for (relative, absolute_path) in joined {
            if let (Some(trace), Some(known)) =
                (self.traces.remove(&relative), self.traces.get_mut(&absolute_path))
            {
                known.merge(&trace);
            }
        }
    }
}

/// Maximum number of absolute paths with the same file name that a relative path is compared with. With more,
/// the match is ambiguous and comparing would be slow.
const MAX_SAME_NAME_PATHS: usize = 16;

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the effect of a call on a file. A call without a result counts as successful.
pub(super) fn resulting_state(intended: FileState, ended: StepOutcome) -> FileState {
    if ended == StepOutcome::Badly { FileState::Failed } else { intended }
}

/// `PATH_MAX` on Linux, in bytes.
const MAX_PATH_BYTES: usize = 4096;

/// Removes a leading `./`. `None` if `path` cannot be a path.
pub(super) fn normalize_path(path: &str) -> Option<&str> {
    let mut path = path.trim();
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    let is_path = !path.is_empty()
        && path != "."
        && path.len() <= MAX_PATH_BYTES
        && !path.chars().any(char::is_control)
        && !path.ends_with('/');
    is_path.then_some(path)
}

/// File names and the messages that mention them.
#[derive(Default)]
pub(super) struct FileNameMentions {
    by_name: HashMap<String, FileMentions>,
}

/// Mentions of a file name.
#[derive(Clone, Copy)]
pub(super) struct FileMentions {
    /// Number of messages that mention the name.
    pub texts: u32,
    pub last: usize,
}

impl FileNameMentions {
    /// Records the file names in `text`: words that contain a dot, without their directories.
    pub(super) fn record_file_names(&mut self, index: usize, text: &str) {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '@');
        for word in text.split(|c: char| !is_part(c)) {
            let name = word.trim_end_matches('.');
            if name.len() > 255 || !name.trim_start_matches('.').contains('.') {
                continue;
            }
            match self.by_name.get_mut(name) {
                Some(mentions) if mentions.last == index => {}
                Some(mentions) => *mentions = FileMentions { texts: mentions.texts + 1, last: index },
                None => drop(self.by_name.insert(name.to_owned(), FileMentions { texts: 1, last: index })),
            }
        }
    }

    fn get(&self, name: &str) -> Option<FileMentions> {
        self.by_name.get(name).copied()
    }
}
