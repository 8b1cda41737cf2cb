//! Decides which files ignore rules hide. Git decides: its own patterns count as in Git, and what it tracks is never
//! hidden by them. The setting `server.ignore`, `.strataignore` and `.ignore` have the same syntax and precede Git's
//! patterns, in this order. Matching is left to `gix-ignore`. Does not scan.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use gix::bstr::{BStr, BString, ByteSlice};
use gix_ignore::Search;
use gix_ignore::glob::pattern::Case;
use gix_ignore::search::Ignore;
use strata_prompt::trust::Trust;

use super::note::ScanProblem;
use super::repository::{FileProblem, Repository};
use super::rule_file::{self, LinkPolicy};
use crate::roots::slash_path;

/// Maximum size of an ignore file, and of all ignore files that apply to a directory together, in bytes. Every name is
/// matched against every rule.
pub(super) const MAX_IGNORE_FILE_BYTES: u64 = 256 << 10;

/// Maximum size of all ignore files of a workspace folder together, in bytes. The largest repositories have a quarter of
/// this.
const MAX_TOTAL_IGNORE_BYTES: u64 = 2 << 20;

/// Name of Strata's own ignore file.
pub const IGNORE_FILE: &str = ".strataignore";

/// The ignore files of a directory, in order of precedence. Git's is the last.
const IGNORE_FILE_NAMES: [&str; 3] = [IGNORE_FILE, ".ignore", GIT_IGNORE_FILE];
const GIT_IGNORE_FILE: &str = ".gitignore";

/// The ignore rules of a workspace folder.
pub(super) struct IgnoreRules {
    root: PathBuf,
    /// The directory that paths are relative to: the top of the work tree that contains the root, or the root itself.
    top: PathBuf,
    /// Patterns of the settings.
    excluded: IgnorePatterns,
    trust: Trust,
    /// The directories that were asked about.
    folders: RwLock<HashMap<PathBuf, Arc<FolderRules>>>,
    /// Size of all ignore files read, in bytes.
    total_bytes: Mutex<u64>,
    notes: Arc<Mutex<Vec<ScanProblem>>>,
}

/// What applies to the entries of a directory.
#[derive(Clone)]
struct FolderRules {
    level: Arc<IgnoreFiles>,
    /// Whether Git's rules hide the directory. It is scanned only for files that Git tracks.
    is_ignored: bool,
}

/// The ignore files of one directory, and of the directories above it.
struct IgnoreFiles {
    parent: Option<Arc<Self>>,
    repository: Arc<WorkTree>,
    /// Whether the directory is the top of its work tree, so that Git's patterns above do not apply.
    is_top: bool,
    /// Patterns by file, in the order of [`IGNORE_FILE_NAMES`].
    patterns: [Option<IgnorePatterns>; 3],
    /// Size of the ignore files here and above, in bytes.
    bytes: u64,
}

struct WorkTree {
    repository: Repository,
    /// Length of the prefix that leads to its top.
    prefix: usize,
}

/// Patterns relative to a directory.
struct IgnorePatterns {
    search: Search,
    /// Length of the prefix that leads to the directory.
    prefix: usize,
}

impl IgnoreRules {
    /// Reads the rules that apply to a root. Problems are added to `notes`.
    ///
    /// Outside a repository, ignore files above the root do not apply, since a `*` in the `.gitignore` of a home
    /// directory would hide every project. They also do not apply if they would hide the root itself, which the user
    /// opened explicitly.
    pub(super) fn for_root(
        root: &Path,
        exclude: &[String],
        trust: Trust,
        notes: &Arc<Mutex<Vec<ScanProblem>>>,
    ) -> Self {
        let top = root.ancestors().find(|folder| is_work_tree(folder));
        let mut rules = Self {
            root: root.to_owned(),
            top: top.unwrap_or(root).to_owned(),
            excluded: IgnorePatterns { search: Search::default(), prefix: 0 },
            trust,
            folders: RwLock::default(),
            total_bytes: Mutex::default(),
            notes: Arc::clone(notes),
        };
        rules.excluded = IgnorePatterns::new(exclude.join("\n").as_bytes(), rules.prefix_length(root));
        let base = match top {
            Some(top) => rules.root_rules_in_work_tree(rules.read_work_tree(top)),
            None => {
                let mut problems = Vec::new();
                let repository = Repository::without_work_tree(root, MAX_IGNORE_FILE_BYTES, &mut problems);
                rules.record_problems(problems);
                rules.root_rules(Arc::new(WorkTree { repository, prefix: 0 }))
            }
        };
        rules.folders = RwLock::new(HashMap::from([(root.to_owned(), Arc::new(base))]));
        rules
    }

    /// Whether rules hide a file of the root.
    pub(super) fn hides_file(&self, path: &Path) -> bool {
        self.hides(path, false)
    }

    /// Whether rules hide a directory of the root. One that contains tracked files is not hidden.
    pub(super) fn hides_folder(&self, path: &Path) -> bool {
        self.hides(path, true)
    }

    fn hides(&self, path: &Path, is_dir: bool) -> bool {
        let Some(folder) = path.parent().map(|parent| self.folder_rules(parent)) else { return false };
        let path = self.relative_path(path);
        match self.verdict_of_strata_rules(&folder.level, path.as_bstr(), is_dir) {
            Some(is_ignored) => is_ignored,
            None => {
                folder.is_ignored_by_git(path.as_bstr(), is_dir)
                    && !folder.is_tracked_by_git(path.as_bstr(), is_dir)
            }
        }
    }

    fn verdict_of_strata_rules(&self, level: &IgnoreFiles, path: &BStr, is_dir: bool) -> Option<bool> {
        let case = level.repository.repository.case;
        let excluded = self.excluded.verdict(path, is_dir, case);
        let by_file = |file: usize| {
            level
                .ancestors()
                .find_map(|level| level.patterns.get(file)?.as_ref()?.verdict(path, is_dir, case))
        };
        excluded.or_else(|| by_file(0)).or_else(|| by_file(1))
    }

    fn folder_rules(&self, path: &Path) -> Arc<FolderRules> {
        let cached = |folders: &HashMap<PathBuf, Arc<FolderRules>>| folders.get(path).cloned();
        if let Some(folder) = cached(&self.folders.read().unwrap_or_else(PoisonError::into_inner)) {
            return folder;
        }
        let parent = match path.parent() {
            Some(parent) if path != self.root => self.folder_rules(parent),
            // The root itself is always known.
            _ => return Arc::new(self.root_rules(self.read_work_tree(path))),
        };
        let folder = Arc::new(self.subfolder_rules(&parent, path));
        let mut folders = self.folders.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(folders.entry(path.to_owned()).or_insert(folder))
    }

    fn subfolder_rules(&self, parent: &FolderRules, path: &Path) -> FolderRules {
        if is_work_tree(path) {
            let repository = self.read_work_tree(path);
            let level = self.read_ignore_files(path, Some(&parent.level), repository, true);
            return FolderRules { level, is_ignored: false };
        }
        let relative = self.relative_path(path);
        let is_kept = self.verdict_of_strata_rules(&parent.level, relative.as_bstr(), true).is_some();
        let is_ignored =
            parent.is_ignored || (!is_kept && parent.is_ignored_by_git(relative.as_bstr(), true));
        let level =
            self.read_ignore_files(path, Some(&parent.level), Arc::clone(&parent.level.repository), false);
        FolderRules { level, is_ignored }
    }

    /// Returns what applies to the root inside a work tree.
    fn root_rules_in_work_tree(&self, work_tree: Arc<WorkTree>) -> FolderRules {
        let mut ancestors: Vec<&Path> =
            self.root.ancestors().take_while(|folder| folder.starts_with(&self.top)).collect();
        ancestors.reverse();
        let mut folder: Option<FolderRules> = None;
        for path in ancestors {
            let Some(parent) = &folder else {
                let level = self.read_ignore_files(path, None, Arc::clone(&work_tree), true);
                folder = Some(FolderRules { level, is_ignored: false });
                continue;
            };
            let relative = self.relative_path(path);
            let verdict = self.verdict_of_strata_rules(&parent.level, relative.as_bstr(), true);
            if verdict.unwrap_or_else(|| parent.is_ignored_by_git(relative.as_bstr(), true)) {
                return self.root_rules(work_tree);
            }
            folder = Some(self.subfolder_rules(parent, path));
        }
        folder.unwrap_or_else(|| self.root_rules(work_tree))
    }

    fn root_rules(&self, repository: Arc<WorkTree>) -> FolderRules {
        FolderRules { level: self.read_ignore_files(&self.root, None, repository, true), is_ignored: false }
    }

    fn read_work_tree(&self, top: &Path) -> Arc<WorkTree> {
        let mut problems = Vec::new();
        let repository = Repository::open(top, self.trust, MAX_IGNORE_FILE_BYTES, &mut problems);
        self.record_problems(problems);
        Arc::new(WorkTree { repository, prefix: self.prefix_length(top) })
    }

    /// Reads the ignore files of a directory. A directory without any shares the level above.
    fn read_ignore_files(
        &self,
        folder: &Path,
        parent: Option<&Arc<IgnoreFiles>>,
        repository: Arc<WorkTree>,
        is_top: bool,
    ) -> Arc<IgnoreFiles> {
        let mut bytes = parent.map_or(0, |parent| parent.bytes);
        let patterns = IGNORE_FILE_NAMES.map(|name| {
            let path = folder.join(name);
            // Strata's own files may be links, for example to `.gitignore`. A link from above the root leads anywhere,
            // since the user created it.
            let links = match name {
                GIT_IGNORE_FILE => LinkPolicy::Refused,
                _ if folder.starts_with(&self.root) => LinkPolicy::Inside(&self.root),
                _ => LinkPolicy::Followed,
            };
            let patterns = rule_file::read(&path, links, MAX_IGNORE_FILE_BYTES).and_then(|bytes_read| {
                let Some(content) = bytes_read else { return Ok(None) };
                let size = content.len() as u64;
                let mut total_bytes = self.total_bytes.lock().unwrap_or_else(PoisonError::into_inner);
                if bytes + size > MAX_IGNORE_FILE_BYTES {
                    return Err("is too large together with the ignore files above it".to_owned());
                }
                if *total_bytes + size > MAX_TOTAL_IGNORE_BYTES {
                    return Err(
                        "is too large together with all ignore files of the workspace folder".to_owned()
                    );
                }
                bytes += size;
                *total_bytes += size;
                Ok(Some(IgnorePatterns::new(&content, self.prefix_length(folder))))
            });
            patterns.unwrap_or_else(|problem| {
                self.record_problems(vec![FileProblem { path, problem }]);
                None
            })
        });
        match parent {
            Some(parent) if !is_top && patterns.iter().all(Option::is_none) => Arc::clone(parent),
            _ => Arc::new(IgnoreFiles { parent: parent.cloned(), repository, is_top, patterns, bytes }),
        }
    }

    /// Returns a path relative to the top, with `/` as the separator.
    fn relative_path(&self, path: &Path) -> BString {
        let below = path.strip_prefix(&self.top).unwrap_or(path);
        gix::path::to_unix_separators_on_windows(BStr::new(below.as_os_str().as_encoded_bytes())).into_owned()
    }

    fn prefix_length(&self, folder: &Path) -> usize {
        match self.relative_path(folder).len() {
            0 => 0,
            length => length + 1,
        }
    }

    fn record_problems(&self, problems: Vec<FileProblem>) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        for FileProblem { path, problem } in problems {
            let below = path.strip_prefix(&self.root).ok().and_then(slash_path);
            let place = below.unwrap_or_else(|| path.to_string_lossy().into_owned());
            notes.push(ScanProblem { place, problem: format!("{problem}; its rules are not applied") });
        }
    }
}

impl FolderRules {
    fn is_ignored_by_git(&self, path: &BStr, is_dir: bool) -> bool {
        let work_tree = &self.level.repository;
        let case = work_tree.repository.case;
        let in_files = self.level.ancestors_in_work_tree().find_map(|level| {
            let [.., git] = &level.patterns;
            git.as_ref()?.verdict(path, is_dir, case)
        });
        let verdict = in_files.or_else(|| {
            verdict(&work_tree.repository.exclusions, path.get(work_tree.prefix..)?, is_dir, case)
        });
        self.is_ignored || verdict == Some(true)
    }

    fn is_tracked_by_git(&self, path: &BStr, is_dir: bool) -> bool {
        let WorkTree { repository, prefix } = &*self.level.repository;
        path.get(*prefix..).is_some_and(|path| match is_dir {
            true => repository.tracks_folder(BStr::new(path)),
            false => repository.tracks_file(BStr::new(path)),
        })
    }
}

impl IgnoreFiles {
    /// This level and those above, the nearest first.
    fn ancestors(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |level| level.parent.as_deref())
    }

    /// The levels of the same work tree, the nearest first.
    fn ancestors_in_work_tree(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |level| level.parent.as_deref().filter(|_| !level.is_top))
    }
}

impl IgnorePatterns {
    fn new(bytes: &[u8], prefix: usize) -> Self {
        let mut search = Search::default();
        // Cannot fail, since the patterns are not relative to a file.
        let _ = search.add_patterns_buffer(bytes, PathBuf::new(), None, Ignore::default());
        Self { search, prefix }
    }

    fn verdict(&self, path: &BStr, is_dir: bool, case: Case) -> Option<bool> {
        verdict(&self.search, path.get(self.prefix..)?, is_dir, case)
    }
}

/// Whether patterns hide a path. `None` if none of them matches.
fn verdict(search: &Search, path: &[u8], is_dir: bool, case: Case) -> Option<bool> {
    let matched = search.pattern_matching_relative_path(BStr::new(path), Some(is_dir), case)?;
    Some(!matched.pattern.is_negative())
}

fn is_work_tree(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}
