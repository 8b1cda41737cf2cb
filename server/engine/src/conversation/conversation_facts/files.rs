//! The fate of each file, from tool calls. Never looks at a disk.

use std::collections::{BTreeMap, HashMap};

use super::StepOutcome;

/// What a conversation did with one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileTrace {
    /// How often it was shown.
    pub reads: u32,
    /// How often it was changed, created and deleted included.
    pub edits: u32,
    /// How often it was created.
    pub created: u32,
    /// Number of messages that mention it, apart from calls on it.
    pub mentions: u32,
    /// The last message that touches or names it, as an index into the messages that were read.
    pub last: usize,
    /// The last message that read it, if any.
    pub last_read: Option<usize>,
    /// The last operation on it.
    pub last_state: FileState,
    /// A short description.
    pub about: Option<String>,
    /// The code that was written to it last.
    pub change: Option<LastChange>,
}

/// Code that was written to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LastChange {
    /// The message that wrote it, as an index into the messages that were read.
    pub at: usize,
    /// Its first lines, on one.
    pub code: String,
}

/// An operation on a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FileState {
    /// Changed.
    Edited,
    Created,
    Deleted,
    /// Shown.
    Read,
    /// A call for it failed.
    Failed,
    /// Only named.
    Mentioned,
}

impl FileTrace {
    /// Whether it was changed, created or deleted.
    pub fn is_changed(&self) -> bool {
        self.edits > 0
    }

    /// Whether a call succeeded in reading or changing it.
    pub fn is_touched(&self) -> bool {
        self.reads > 0 || self.edits > 0
    }

    /// The reported state: a changed file stays changed after reads and failures.
    pub(crate) fn outcome(&self) -> FileState {
        match self.last_state {
            FileState::Deleted => FileState::Deleted,
            _ if self.created > 0 => FileState::Created,
            _ if self.edits > 0 => FileState::Edited,
            _ if self.reads > 0 => FileState::Read,
            _ => FileState::Mentioned,
        }
    }

    /// A file that an earlier summary names.
    pub(super) fn carried(index: usize, state: FileState) -> Self {
        let mut trace = Self::new(index);
        trace.note(index, state);
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

    /// Merges operations under another spelling of the path.
    fn join(&mut self, other: &Self) {
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

    /// Records the operation of a call.
    fn note(&mut self, index: usize, state: FileState) {
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

/// The files touched so far.
#[derive(Default)]
pub(super) struct Files {
    traces: BTreeMap<String, FileTrace>,
}

impl Files {
    /// Records an operation on the file with that path. Ignores paths longer than file systems allow.
    pub(super) fn note(&mut self, path: &str, index: usize, state: FileState) {
        let Some(path) = normal(path) else { return };
        match self.traces.get_mut(path) {
            Some(trace) => trace.note(index, state),
            None => {
                let mut trace = FileTrace::new(index);
                trace.note(index, state);
                self.traces.insert(path.to_owned(), trace);
            }
        }
    }

    /// Records the text of a file that a call showed or wrote.
    pub(super) fn describe(&mut self, path: &str, about: Option<&str>, change: Option<LastChange>) {
        let Some(trace) = normal(path).and_then(|path| self.traces.get_mut(path)) else { return };
        if let Some(about) = about {
            trace.about = Some(about.to_owned());
        }
        if change.is_some() {
            trace.change = change;
        }
    }

    /// Whether a file of that path was touched.
    pub(super) fn knows(&self, path: &str) -> bool {
        normal(path).is_some_and(|path| self.traces.contains_key(path))
    }

    /// Records a description from an earlier summary.
    pub(super) fn carry(&mut self, path: &str, carried: &FileTrace) {
        let Some(path) = normal(path) else { return };
        self.traces
            .entry(path.to_owned())
            .and_modify(|known| known.join(carried))
            .or_insert_with(|| carried.clone());
    }

    /// The traces, each with the texts that name the file.
    pub(super) fn into_traces(mut self, names: &Names) -> BTreeMap<String, FileTrace> {
        self.join_spellings();
        for (path, trace) in &mut self.traces {
            if let Some(named) = names.get(name(path)) {
                trace.mentions += named.texts;
                trace.last = trace.last.max(named.last);
            }
        }
        self.traces
    }

    /// A relative path and the one absolute path that ends with it are one file.
    fn join_spellings(&mut self) {
        let is_absolute = |path: &str| path.starts_with('/') || path.get(1..3) == Some(":\\");
        let mut absolute: HashMap<&str, Vec<&str>> = HashMap::new();
        for path in self.traces.keys().filter(|path| is_absolute(path)) {
            absolute.entry(name(path)).or_default().push(path);
        }
        let same = |path: &String| {
            let candidates = absolute.get(name(path)).filter(|found| found.len() <= MOST_SPELLINGS)?;
            let ends =
                |whole: &&&str| whole.strip_suffix(path.as_str()).is_some_and(|front| front.ends_with('/'));
            let mut fitting = candidates.iter().filter(ends);
            let only = fitting.next().filter(|_| fitting.next().is_none())?;
            Some((path.clone(), (*only).to_owned()))
        };
        let joined: Vec<(String, String)> =
            self.traces.keys().filter(|path| !is_absolute(path)).filter_map(same).collect();
        for (relative, whole) in joined {
            if let (Some(trace), Some(known)) = (self.traces.remove(&relative), self.traces.get_mut(&whole)) {
                known.join(&trace);
            }
        }
    }
}

/// Absolute paths with one file name that are compared with a relative one; with more it is not clear which is meant,
/// and comparing all would take long.
const MOST_SPELLINGS: usize = 16;

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The effect of a call on a file, given its result. A call without a result counts as done.
pub(super) fn state(intended: FileState, ended: StepOutcome) -> FileState {
    if ended == StepOutcome::Badly { FileState::Failed } else { intended }
}

/// Maximum path length: `PATH_MAX` of Linux.
const MAX_PATH_BYTES: usize = 4096;

/// The path without a leading `./`. `None` if it cannot be a path.
pub(super) fn normal(path: &str) -> Option<&str> {
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

/// File names and the messages they appear in.
#[derive(Default)]
pub(super) struct Names {
    seen: HashMap<String, FileMentions>,
}

/// Where a file name appears.
#[derive(Clone, Copy)]
pub(super) struct FileMentions {
    /// Number of messages.
    pub texts: u32,
    pub last: usize,
}

impl Names {
    /// Notes the file names of a text: words with a dot inside, without the folders before them.
    pub(super) fn read(&mut self, index: usize, text: &str) {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '@');
        for word in text.split(|c: char| !is_part(c)) {
            let name = word.trim_end_matches('.');
            if name.len() > 255 || !name.trim_start_matches('.').contains('.') {
                continue;
            }
            match self.seen.get_mut(name) {
                Some(named) if named.last == index => {}
                Some(named) => *named = FileMentions { texts: named.texts + 1, last: index },
                None => drop(self.seen.insert(name.to_owned(), FileMentions { texts: 1, last: index })),
            }
        }
    }

    fn get(&self, name: &str) -> Option<FileMentions> {
        self.seen.get(name).copied()
    }
}
