//! Reads Git's index of a work tree: the tracked files, and which of them were unchanged when Git last updated the
//! index. Does not compare the index with commits.

use std::collections::BTreeMap;

use gix::ObjectId;
use gix::index::State;
use gix::index::entry::{Flags, Mode, Stage, Stat, stat};
use gix::index::fs::Metadata;

/// The part of Git's index that belongs to one directory.
pub(super) struct GitIndex {
    /// Tracked regular files by path relative to the directory. Symbolic links are omitted.
    pub(super) files: BTreeMap<String, TrackedFile>,
    /// Number of tracked files and submodules.
    pub(super) count: usize,
    /// The directory's tree, if the index is known to match it.
    pub(super) tree: Option<ObjectId>,
    /// Sorted paths of submodules, each with a trailing `/`. Submodules inside another submodule are omitted.
    submodules: Vec<String>,
}

pub(super) struct TrackedFile {
    pub(super) id: ObjectId,
    pub(super) is_conflicted: bool,
    /// Whether Git assumes that the file is unchanged (`assume-valid`) or omits it from the work tree
    /// (`skip-worktree`).
    pub(super) is_assumed: bool,
    /// The file's metadata when its content matched `id`. `None` if a later write could have left the metadata
    /// unchanged.
    recorded_stat: Option<Stat>,
    options: stat::Options,
}

impl GitIndex {
    /// Reads the entries of `state` below a directory. `below` uses `/` as the separator and is empty for the whole
    /// index.
    pub(super) fn new(state: &State, below: &str, options: stat::Options) -> Self {
        let mut files = BTreeMap::new();
        let mut submodules = Vec::new();
        for entry in state.entries() {
            // File keys are UTF-8, so a path in another encoding has no key.
            let path =
                std::str::from_utf8(entry.path(state)).ok().and_then(|path| relative_path(path, below));
            let Some(path) = path else { continue };
            match entry.mode {
                Mode::COMMIT => submodules.push(format!("{path}/")),
                Mode::FILE | Mode::FILE_EXECUTABLE => {
                    let is_racy = entry.stat.is_racy(state.timestamp(), options);
                    let tracked = TrackedFile {
                        id: entry.id,
                        is_conflicted: entry.stage() != Stage::Unconflicted,
                        is_assumed: entry.flags.intersects(Flags::ASSUME_VALID | Flags::SKIP_WORKTREE),
                        recorded_stat: (!is_racy).then_some(entry.stat),
                        options,
                    };
                    files.insert(path.to_owned(), tracked);
                }
                _ => {}
            }
        }
        // A submodule with a merge conflict has up to three entries.
        submodules.sort();
        submodules.dedup();
        let count = files.len() + submodules.len();
        submodules.dedup_by(|inner, outer| inner.starts_with(outer.as_str()));
        Self { files, count, tree: cached_tree(state, below), submodules }
    }

    /// Whether a path is inside a submodule. Only the last submodule that sorts before the path can contain the path.
    pub(super) fn is_inside_submodule(&self, path: &str) -> bool {
        let before = self.submodules.partition_point(|module| module.as_str() <= path);
        self.submodules[..before].last().is_some_and(|module| path.starts_with(module.as_str()))
    }
}

impl TrackedFile {
    /// Whether the file is unchanged since Git last recorded its metadata in the index.
    pub(super) fn is_unchanged(&self, metadata: &Metadata) -> bool {
        let stat = Stat::from_fs(metadata);
        self.recorded_stat
            .zip(stat.ok())
            .is_some_and(|(recorded, stat)| recorded.matches(&stat, self.options))
    }
}

fn cached_tree(state: &State, below: &str) -> Option<ObjectId> {
    let mut tree = state.tree()?;
    for part in below.split('/').filter(|part| !part.is_empty()) {
        tree = tree.children.iter().find(|child| child.name.as_slice() == part.as_bytes())?;
    }
    // Git removes the entry count of a cached tree when one of its entries changes, so a count means that the tree is
    // valid.
    tree.num_entries.map(|_| tree.id)
}

fn relative_path<'a>(path: &'a str, below: &str) -> Option<&'a str> {
    match below {
        "" => Some(path),
        below => path.strip_prefix(below)?.strip_prefix('/'),
    }
}
