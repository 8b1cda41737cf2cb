//! What Git knows of one work tree besides `.gitignore` files: the patterns of `core.excludesFile` and `info/exclude`,
//! and the tracked files. Reads settings like Git, with included files, but starts no process. Does not decide which
//! files are listed.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gix::bstr::{BStr, ByteSlice as _};
use gix::config::file::{Metadata, includes, init};
use gix::config::{Source, path};
use gix::index::entry::Mode;
use gix_ignore::Search;
use gix_ignore::glob::pattern::Case;
use gix_ignore::search::Ignore;
use strata_prompt::trust::Trust;

use super::rule_file::{self, LinkPolicy};

/// Maximum size of a file that contains a path or a branch, in bytes.
const MAX_GIT_POINTER_BYTES: u64 = 8 << 10;
/// Maximum size of an index, in bytes. The largest known repositories have a fifth of this.
const MAX_INDEX_BYTES: u64 = 512 << 20;

/// A work tree, or the user's settings for directories outside of work trees.
pub(super) struct Repository {
    /// Patterns of `core.excludesFile`, then of `info/exclude`, which take precedence.
    pub(super) exclusions: Search,
    /// Whether names are compared without case.
    pub(super) case: Case,
    /// Path of the index, unless there is no repository.
    index: Option<PathBuf>,
    tracked: OnceLock<Option<gix::index::File>>,
}

/// A problem with a file, to report to the user.
pub(super) struct FileProblem {
    pub(super) path: PathBuf,
    pub(super) problem: String,
}

struct GitDirectories {
    /// The directory with `HEAD` and the index.
    git_dir: PathBuf,
    /// The directory with `config` and `info`. Differs from `git_dir` in a linked work tree.
    common_dir: PathBuf,
}

impl Repository {
    /// Reads the repository whose work tree is at `top`. If the workspace is not trusted, the repository's own settings
    /// are ignored, since they can name files anywhere.
    pub(super) fn open(top: &Path, trust: Trust, limit: u64, problems: &mut Vec<FileProblem>) -> Self {
        let directories = GitDirectories::find(top).unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        Self::read(top, directories.as_ref(), trust, limit, problems)
    }

    /// Reads the user's settings, which apply outside of repositories, too. `top` stands for the top of a work tree.
    pub(super) fn without_work_tree(top: &Path, limit: u64, problems: &mut Vec<FileProblem>) -> Self {
        Self::read(top, None, Trust::Untrusted, limit, problems)
    }

    fn read(
        top: &Path,
        git: Option<&GitDirectories>,
        trust: Trust,
        limit: u64,
        problems: &mut Vec<FileProblem>,
    ) -> Self {
        let settings = read_git_config(git, trust, problems);
        let mut exclusions = Search::default();
        let mut add = |path: PathBuf| match rule_file::read(&path, LinkPolicy::Followed, limit) {
            Ok(bytes) => {
                let bytes = bytes.unwrap_or_default();
                // Cannot fail, since the patterns are relative to the top and not to their file.
                let _ = exclusions.add_patterns_buffer(&bytes, path, None, Ignore::default());
            }
            Err(problem) => problems.push(FileProblem { path, problem }),
        };
        if let Some(path) = excludes_file(&settings, top) {
            add(path);
        }
        if let Some(git) = git {
            add(git.common_dir.join("info/exclude"));
        }
        let case = settings.boolean("core.ignoreCase").ok().flatten();
        let case = case.unwrap_or(cfg!(any(windows, target_os = "macos")));
        Self {
            exclusions,
            case: if case { Case::Fold } else { Case::Sensitive },
            index: git.map(|git| git.git_dir.join("index")),
            tracked: OnceLock::new(),
        }
    }

    /// Whether Git tracks a file. `path` is relative to the top. Reads the index at the first call. It counts wherever
    /// `.git` leads, which says nothing about that repository: only files that exist here are asked about.
    pub(super) fn tracks_file(&self, path: &BStr) -> bool {
        let Some(index) = self.index() else { return false };
        index_entry(index, path).is_some_and(|index_entry| index_entry.mode != Mode::COMMIT)
    }

    /// Whether Git tracks a file in a directory, or the directory as a submodule.
    pub(super) fn tracks_folder(&self, path: &BStr) -> bool {
        let Some(index) = self.index() else { return false };
        let below = [path.as_bytes(), b"/"].concat();
        index_entry(index, path).is_some_and(|index_entry| index_entry.mode == Mode::COMMIT)
            || index.prefixed_entries_range(BStr::new(&below)).is_some_and(|range| !range.is_empty())
    }

    fn index(&self) -> Option<&gix::index::File> {
        self.tracked.get_or_init(|| read_index(self.index.as_deref()?)).as_ref()
    }
}

fn index_entry<'a>(index: &'a gix::index::File, path: &BStr) -> Option<&'a gix::index::Entry> {
    index.entry_range(path).and_then(|range| index.entries().get(range.start))
}

impl GitDirectories {
    /// Finds the directories of the repository with its work tree at `top`, where a `.git` exists. Returns `None` if it
    /// is not a repository.
    fn find(top: &Path) -> Result<Option<Self>, FileProblem> {
        let dot_git = top.join(".git");
        let git_dir = if dot_git.is_dir() {
            dot_git
        } else {
            match first_line(&dot_git)?.as_deref().and_then(|line| line.strip_prefix("gitdir:")) {
                Some(target) => top.join(target.trim()),
                None => return Ok(None),
            }
        };
        let common_dir = match first_line(&git_dir.join("commondir"))? {
            Some(target) => git_dir.join(target.trim()),
            None => git_dir.clone(),
        };
        Ok(Some(Self { git_dir, common_dir }))
    }

    fn branch(&self) -> Option<gix::refs::FullName> {
        let head = first_line(&self.git_dir.join("HEAD")).ok()??;
        head.strip_prefix("ref:")?.trim().try_into().ok()
    }
}

fn first_line(path: &Path) -> Result<Option<String>, FileProblem> {
    let result = rule_file::read(path, LinkPolicy::Followed, MAX_GIT_POINTER_BYTES);
    let bytes = result.map_err(|problem| FileProblem { path: path.to_owned(), problem })?;
    Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()?.lines().next().map(str::to_owned)))
}

fn read_index(path: &Path) -> Option<gix::index::File> {
    if !path.metadata().is_ok_and(|index| index.is_file() && index.len() <= MAX_INDEX_BYTES) {
        return None;
    }
    let options = gix::index::decode::Options { thread_limit: Some(1), ..Default::default() };
    gix::index::File::at(path, gix::hash::Kind::Sha1, true, options).ok()
}

/// Reads Git's settings: of the system, of the user, of the repository if it is trusted, and of the environment.
fn read_git_config(
    git: Option<&GitDirectories>,
    trust: Trust,
    problems: &mut Vec<FileProblem>,
) -> gix::config::File {
    let home = gix::path::env::home_dir();
    let branch = git.and_then(GitDirectories::branch);
    let context = path::interpolate::Context { home_dir: home.as_deref(), ..Default::default() };
    let conditional = includes::conditional::Context {
        git_dir: git.map(|git| git.git_dir.as_path()),
        branch_name: branch.as_ref().map(gix::refs::FullName::as_ref),
    };
    let options = init::Options {
        includes: includes::Options::follow(context, conditional),
        ignore_io_errors: true,
        ..Default::default()
    };
    let mut merged = gix::config::File::default();
    let mut add = |path: PathBuf, source: Source, merged: &mut gix::config::File| {
        if !path.is_file() {
            return;
        }
        let metadata = Metadata { path: Some(path.clone()), ..Metadata::from(source) };
        let file = gix::config::File::from_paths_metadata([metadata], options);
        let result = file.map(Option::unwrap_or_default).and_then(|file| merged.append(file).map(|_| ()));
        if result.is_err() {
            problems.push(FileProblem { path, problem: "is not a valid Git configuration".to_owned() });
        }
    };
    // On Windows, finding the settings of the system would start Git.
    let system = if cfg!(windows) { None } else { Some(Source::System) };
    for source in system.into_iter().chain([Source::Git, Source::User]) {
        if let Some(path) = source.storage_location(&mut |name| std::env::var_os(name)) {
            add(path, source, &mut merged);
        }
    }
    if let (Some(git), Trust::Trusted) = (git, trust) {
        add(git.common_dir.join("config"), Source::Local, &mut merged);
        if merged.boolean("extensions.worktreeConfig").is_ok_and(|set| set == Some(true)) {
            add(git.git_dir.join("config.worktree"), Source::Worktree, &mut merged);
        }
    }
    if let Ok(Some(file)) = gix::config::File::from_env(options) {
        let _ = merged.append(file);
    }
    merged
}

/// Returns the path of the user's own patterns.
fn excludes_file(settings: &gix::config::File, top: &Path) -> Option<PathBuf> {
    let Some(path) = settings.path("core.excludesFile") else {
        return gix::path::env::xdg_config("ignore", &mut |name| std::env::var_os(name));
    };
    let home = gix::path::env::home_dir();
    let context = path::interpolate::Context { home_dir: home.as_deref(), ..Default::default() };
    path.interpolate(context).ok().map(|path| top.join(path))
}
