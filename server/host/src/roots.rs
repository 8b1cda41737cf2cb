//! The workspace folders, and the only way to resolve an external path to a file inside them. Paths are resolved at the
//! time of use, including symbolic links, and rejected with a reason if they lead outside. Does not open or read files
//! (see [`disk`](crate::disk)).
//!
//! A file has one key, however it is named: [`Roots::resolve`] follows links, and uses the file system's spelling if
//! the file system ignores case. Otherwise, names are compared byte by byte, without case folding or Unicode
//! normalization. A hard link cannot be distinguished from an ordinary file, so it is treated as a separate file.

mod canonical;
mod refusal;
mod resolve_path;

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf, Prefix};

use strata_base::key::FileKey;

pub use self::canonical::canonical;
pub use self::refusal::PathError;
pub(crate) use self::refusal::PathRefusal;

use self::refusal::MAX_PATH_BYTES;
use self::resolve_path::{broken_link_target, real_path};
use crate::uri;

/// A workspace folder as given by the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootFolder {
    /// The client's name for the folder. Defaults to the last component of the path.
    pub name: Option<String>,
    pub path: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Name of the root, which is unique and contains no slash.
    pub name: String,
    given: PathBuf,
    /// Absolute path without symbolic links.
    pub real: PathBuf,
}

/// The workspace folders in the client's order, without duplicates. With one folder, keys are relative paths
/// (`src/a.rs`). With several, keys begin with the root's name (`web/src/a.rs`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Roots(Vec<Root>);

/// A path resolved to its root and the path relative to the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResolvedPath {
    /// Index of the root.
    pub(crate) root: usize,
    /// Path relative to the root, with `/` as the separator. Empty for the root itself.
    pub(crate) below: String,
    pub(crate) real: PathBuf,
    pub(crate) exists: bool,
}

impl Deref for Roots {
    type Target = [Root];

    fn deref(&self) -> &[Root] {
        &self.0
    }
}

impl Roots {
    /// Creates roots for these folders. Drops duplicate folders, and appends a number to a name that is already taken.
    /// Keeps a folder that does not exist, since it may be created later.
    ///
    /// # Errors
    /// [`PathRefusal::RelativeRoot`] for a relative path, or the reason why the links of a folder cannot be resolved.
    pub fn new(folders: impl IntoIterator<Item = RootFolder>) -> Result<Self, PathError> {
        let mut roots: Vec<Root> = Vec::new();
        let mut names = BTreeSet::new();
        for RootFolder { name, path } in folders {
            let rejected = |reason| PathError::new(&path.to_string_lossy(), reason);
            if !path.is_absolute() {
                return Err(rejected(PathRefusal::RelativeRoot));
            }
            let given: PathBuf = path.components().collect();
            let real = real_path(&given).map_err(rejected)?.path;
            if roots.iter().any(|root| root.real == real) {
                continue;
            }
            let base_name = name.or_else(|| Some(given.file_name()?.to_string_lossy().into_owned()));
            let name = unique_name(&base_name.unwrap_or_default(), &names);
            names.insert(name.clone());
            roots.push(Root { name, given, real });
        }
        Ok(Self(roots))
    }

    /// Creates a single root, named after its path.
    ///
    /// # Errors
    /// Same as [`Roots::new`].
    pub fn single(path: impl Into<PathBuf>) -> Result<Self, PathError> {
        Self::new([RootFolder { name: None, path: path.into() }])
    }

    /// Returns the key of an absolute path without accessing the file system. Does not follow links, so the key is
    /// correct for names from a scan, and for an editor's documents unless links are involved. Returns `None` outside
    /// the roots, for a root itself, and for paths that no key can represent.
    pub fn key_of(&self, path: &Path) -> Option<FileKey> {
        let (root, below) = self.innermost_root(path, |root| [&root.given, &root.real])?;
        self.key(root, &slash_path(below)?)
    }

    /// Returns the absolute path of a key without accessing the file system. To open the file, use
    /// [`disk`](crate::disk), which follows links and checks the result.
    ///
    /// # Errors
    /// [`PathError`] for a key outside the roots, which is possible because session files and clients also provide
    /// keys.
    pub fn path_of(&self, key: &FileKey) -> Result<PathBuf, PathError> {
        let text = key.as_str();
        let rejected = |reason| PathError::new(text, reason);
        if key.is_untitled() {
            return Err(rejected(PathRefusal::Untitled));
        }
        check_path_text(text).map_err(rejected)?;
        let (root, below) = match self.0.as_slice() {
            [] => return Err(rejected(PathRefusal::NoRoots)),
            [root] => (root, text),
            roots => {
                let (name, below) = text.split_once('/').unwrap_or((text, ""));
                let root = roots.iter().find(|root| root.name == name);
                (root.ok_or_else(|| rejected(PathRefusal::NoSuchRoot(self.joined_names())))?, below)
            }
        };
        if below.is_empty() {
            return Err(rejected(PathRefusal::IsRoot));
        }
        let mut path = root.real.clone();
        for part in below.split('/') {
            check_component(part).map_err(rejected)?;
            path.push(part);
        }
        Ok(path)
    }

    /// Whether links currently lead a key outside the roots. A broken link and a link to a system file (`/dev/fd/0`)
    /// count as leading outside.
    pub fn is_linked_outside(&self, key: &FileKey) -> bool {
        let Ok(path) = self.path_of(key) else { return false };
        let rejected = self.locate_absolute(&path).err();
        matches!(rejected, Some(PathRefusal::LinkOutside | PathRefusal::SystemFile | PathRefusal::BrokenLink))
    }

    /// Returns the key that a file has if it is created through a broken link. For naming only: such a link is never
    /// opened.
    pub fn key_of_broken_link(&self, path: &Path) -> Option<FileKey> {
        check_components(path).ok()?;
        let real = broken_link_target(path)?;
        let (root, below) = self.innermost_root(&real, |root| [&root.real])?;
        self.key(root, &slash_path(below)?)
    }

    /// Splits a key into its root and the path relative to the root, without accessing the file system.
    pub fn split<'a>(&self, key: &'a FileKey) -> Option<(&Root, &'a str)> {
        let text = key.as_str();
        match self.0.as_slice() {
            [root] => Some((root, text)),
            roots => {
                let (name, below) = text.split_once('/')?;
                Some((roots.iter().find(|root| root.name == name)?, below))
            }
        }
    }

    /// Returns the key of a file that a user or client names by a path relative to a root, an absolute path inside a
    /// root, or a `file:` URI. Ignores `./` and repeated slashes. A backslash is a separator, unless the system allows
    /// it in names and a file has exactly this name. The file need not exist.
    ///
    /// # Errors
    /// [`PathError`] if the path leads outside the roots or does not name a file.
    pub fn resolve(&self, text: &str) -> Result<FileKey, PathError> {
        let resolved = self.locate(text)?;
        self.key_at(&resolved).ok_or_else(|| {
            let reason = if resolved.below.is_empty() { PathRefusal::IsRoot } else { PathRefusal::NoKey };
            PathError::new(text, reason)
        })
    }

    /// Whether a path or URI names an existing file or directory inside the roots.
    pub fn exists(&self, text: &str) -> bool {
        self.locate(text).is_ok_and(|resolved| resolved.exists)
    }

    /// Resolves a path or URI, which may name a root itself.
    pub(crate) fn locate(&self, text: &str) -> Result<ResolvedPath, PathError> {
        let rejected = |reason| PathError::new(text, reason);
        check_path_text(text).map_err(rejected)?;
        if self.is_empty() {
            return Err(rejected(PathRefusal::NoRoots));
        }
        if uri::scheme(text).is_some() {
            let path = uri::to_path(text).map_err(|error| rejected(error.into()))?;
            return self.locate_absolute(&path).map_err(rejected);
        }
        // In an absolute Windows path, a backslash can mean more than a separator (`\\?\C:\`).
        if !text.contains('\\') || cfg!(windows) && Path::new(text).is_absolute() {
            return self.locate_path(text).map_err(rejected);
        }
        if !cfg!(windows) {
            if let Ok(resolved) = self.locate_path(text)
                && resolved.exists
            {
                return Ok(resolved);
            }
            if uri::is_windows_absolute(text) {
                return Err(rejected(PathRefusal::Drive));
            }
        }
        self.locate_path(&text.replace('\\', "/")).map_err(rejected)
    }

    /// Resolves an absolute path by following its current links.
    pub(crate) fn locate_absolute(&self, path: &Path) -> Result<ResolvedPath, PathRefusal> {
        check_components(path)?;
        let is_lexically_inside = self.innermost_root(path, |root| [&root.given, &root.real]).is_some();
        if !is_lexically_inside && is_system_path(path) {
            return Err(PathRefusal::SystemFile);
        }
        if self.is_device_or_foreign_share(path) {
            return Err(PathRefusal::Outside);
        }
        let real = match real_path(path) {
            Ok(real) => real,
            // Reveal nothing about paths outside the roots, not even whether they exist.
            Err(_) if !is_lexically_inside => return Err(PathRefusal::Outside),
            Err(reason) => return Err(reason),
        };
        let Some((root, below)) = self.innermost_root(&real.path, |root| [&root.real]) else {
            return Err(if is_lexically_inside { PathRefusal::LinkOutside } else { PathRefusal::Outside });
        };
        let is_root_in_system_path = self.0.get(root).is_some_and(|root| is_system_path(&root.real));
        if is_system_path(&real.path) && !is_root_in_system_path {
            return Err(PathRefusal::SystemFile);
        }
        let below = slash_path(below).ok_or(PathRefusal::NoKey)?;
        Ok(ResolvedPath { root, below, real: real.path, exists: real.exists })
    }

    /// Returns the key of a resolved path, or `None` for a root itself and for names that a key cannot represent.
    pub(crate) fn key_at(&self, resolved: &ResolvedPath) -> Option<FileKey> {
        self.key(resolved.root, &resolved.below)
    }

    /// Returns the key of a path relative to a root, or `None` for the root itself and for names that a key cannot
    /// represent.
    pub(crate) fn key(&self, root: usize, below: &str) -> Option<FileKey> {
        if below.is_empty() {
            return None;
        }
        let key = match self.0.as_slice() {
            [_] => FileKey::new(below),
            roots => FileKey::new(format!("{}/{below}", roots.get(root)?.name)),
        };
        (!key.is_untitled()).then_some(key)
    }

    /// Returns the prefix of the keys in a root: empty if there is only one root, otherwise the root's name and a
    /// slash.
    pub fn key_prefix(&self, root: usize) -> String {
        match self.0.as_slice() {
            [_] => String::new(),
            roots => roots.get(root).map(|root| format!("{}/", root.name)).unwrap_or_default(),
        }
    }

    fn locate_path(&self, text: &str) -> Result<ResolvedPath, PathRefusal> {
        let path = Path::new(text);
        if path.is_absolute() {
            return self.locate_absolute(path);
        }
        let has_prefix = path.components().any(|c| matches!(c, Component::Prefix(_)));
        if cfg!(windows) && (has_prefix || path.has_root()) {
            return Err(PathRefusal::HalfAbsolute);
        }
        if uri::is_windows_absolute(text) {
            return Err(PathRefusal::Drive);
        }
        check_components(path)?;
        let below: PathBuf = path.components().filter(|c| matches!(c, Component::Normal(_))).collect();
        match self.0.as_slice() {
            [] => Err(PathRefusal::NoRoots),
            [root] => self.locate_absolute(&root.real.join(below)),
            roots => {
                let mut parts = below.components();
                let first = parts.next().map(|part| part.as_os_str().to_owned());
                if let Some(root) = roots.iter().find(|root| first.as_deref() == Some(root.name.as_ref())) {
                    return self.locate_absolute(&root.real.join(parts.as_path()));
                }
                self.locate_in_any_root(&below)
            }
        }
    }

    /// Resolves a relative path that does not begin with a root's name. Succeeds if exactly one root contains the path.
    fn locate_in_any_root(&self, below: &Path) -> Result<ResolvedPath, PathRefusal> {
        let mut candidates: Vec<ResolvedPath> = Vec::new();
        let mut refusal = None;
        for root in &self.0 {
            match self.locate_absolute(&root.real.join(below)) {
                Ok(resolved)
                    if resolved.exists
                        && !candidates.iter().any(|candidate| candidate.real == resolved.real) =>
                {
                    candidates.push(resolved);
                }
                Ok(_) => {}
                Err(reason) => refusal = Some(reason),
            }
        }
        match (candidates.len(), refusal) {
            (1, _) => candidates.pop().ok_or(PathRefusal::NoRoots),
            (0, Some(reason)) => Err(reason),
            (0, None) => Err(PathRefusal::NoSuchRoot(self.joined_names())),
            _ => {
                let names =
                    candidates.iter().filter_map(|resolved| Some(self.0.get(resolved.root)?.name.as_str()));
                Err(PathRefusal::SeveralRoots(names.collect::<Vec<_>>().join(", ")))
            }
        }
    }

    /// Whether a Windows path is a device, or on a network share without a workspace folder. Such a path is not even
    /// resolved, since Windows would send the user's credentials to any server that the path names.
    fn is_device_or_foreign_share(&self, path: &Path) -> bool {
        let Some(Component::Prefix(prefix)) = path.components().next() else { return false };
        if matches!(prefix.kind(), Prefix::Disk(_) | Prefix::VerbatimDisk(_)) {
            return false;
        }
        let share = network_share(path);
        let mut root_paths = self.0.iter().flat_map(|root| [&root.given, &root.real]);
        share.is_none() || !root_paths.any(|path| network_share(path) == share)
    }

    /// Returns the innermost root that contains a path, and the path relative to it. Compares whole components.
    fn innermost_root<'p, const N: usize>(
        &self,
        path: &'p Path,
        prefixes: impl for<'r> Fn(&'r Root) -> [&'r PathBuf; N],
    ) -> Option<(usize, &'p Path)> {
        let matches = self.0.iter().enumerate().flat_map(|(index, root)| {
            prefixes(root)
                .into_iter()
                .filter_map(move |prefix| Some((index, path.strip_prefix(prefix).ok()?)))
        });
        matches.min_by_key(|(_, below)| below.components().count())
    }

    fn joined_names(&self) -> String {
        self.0.iter().map(|root| root.name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the server and the share of a Windows path in lower case, or `None` for a local path.
fn network_share(path: &Path) -> Option<[String; 2]> {
    let Some(Component::Prefix(prefix)) = path.components().next() else { return None };
    match prefix.kind() {
        Prefix::UNC(server, share) | Prefix::VerbatimUNC(server, share) => {
            Some([server, share].map(|part| part.to_string_lossy().to_lowercase()))
        }
        _ => None,
    }
}

fn check_path_text(text: &str) -> Result<(), PathRefusal> {
    match text {
        "" => Err(PathRefusal::Empty),
        _ if text.len() > MAX_PATH_BYTES => Err(PathRefusal::TooLong),
        _ if text.contains('\0') => Err(PathRefusal::Nul),
        _ => Ok(()),
    }
}

fn check_component(part: &str) -> Result<(), PathRefusal> {
    match part {
        "" | "." => Err(PathRefusal::NoKey),
        ".." => Err(PathRefusal::ParentStep),
        _ if cfg!(windows) && part.contains('\\') => Err(PathRefusal::NoKey),
        _ if cfg!(windows) && is_ambiguous_on_windows(part) => Err(PathRefusal::Ambiguous),
        _ => Ok(()),
    }
}

fn check_components(path: &Path) -> Result<(), PathRefusal> {
    for component in path.components() {
        match component {
            Component::ParentDir => return Err(PathRefusal::ParentStep),
            Component::Normal(part) if cfg!(windows) => {
                check_component(part.to_str().ok_or(PathRefusal::NoKey)?)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Device names on Windows, which are reserved with any extension. `com` and `lpt` are reserved only with a digit.
const RESERVED_DEVICE_NAMES: &[&str] = &["aux", "con", "nul", "prn", "com", "lpt"];

/// Whether Windows would open another file or a device: `a.rs::$DATA`, `a.rs.` and `a.rs ` mean `a.rs`, and `nul` and
/// `com1.rs` are devices.
fn is_ambiguous_on_windows(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let name = stem.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '¹' | '²' | '³'));
    let is_device = RESERVED_DEVICE_NAMES.contains(&name)
        && match stem.chars().count() - name.chars().count() {
            0 => !matches!(name, "com" | "lpt"),
            digits => digits == 1 && matches!(name, "com" | "lpt"),
        };
    part.contains(':') || part.ends_with(['.', ' ']) || is_device
}

/// Whether a path belongs to a kernel interface that looks like files. Reading some of these has side effects or
/// exposes other processes.
pub(crate) fn is_system_path(path: &Path) -> bool {
    cfg!(unix) && ["/proc", "/dev", "/sys"].iter().any(|system| path.starts_with(system))
}

/// Joins the components of a relative path with slashes. Returns `None` if a component is not a plain UTF-8 name.
pub(crate) fn slash_path(below: &Path) -> Option<String> {
    let mut text = String::new();
    for component in below.components() {
        let Component::Normal(part) = component else { return None };
        if !text.is_empty() {
            text.push('/');
        }
        text.push_str(part.to_str()?);
    }
    Some(text)
}

/// Returns a unique name for a root that can be the first component of a key.
fn unique_name(base_name: &str, used_names: &BTreeSet<String>) -> String {
    let clean: String = base_name
        .trim()
        .chars()
        .map(|c| if matches!(c, '/' | '\\' | ':' | '\0') { '-' } else { c })
        .collect();
    let base = if matches!(clean.as_str(), "" | "." | "..") { "root".to_owned() } else { clean };
    if !used_names.contains(&base) {
        return base;
    }
    // There is one more candidate than there are taken names, so at least one is free.
    let mut numbered = (2..used_names.len() + 3).map(|number| format!("{base}-{number}"));
    numbered.find(|name| !used_names.contains(name)).unwrap_or(base)
}

#[cfg(test)]
mod tests;
