//! Expands a file, directory or glob in a selection against a list of files. The caller strips line ranges first. Does
//! not decide about access: files that need confirmation are returned with the reason.
//!
//! Names of real files may contain wildcards (`app/[slug]/page.tsx`). Such a name means the file or directory that
//! exists before it means a pattern.

use std::borrow::Cow;
use std::collections::BTreeSet;

use globset::{GlobBuilder, escape};
use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;

use crate::roots::{PathError, Refusal, ResolvedPath, Roots};
use crate::secrets::secret_by_name;
use crate::walk::{Entry, NameOnly, Unlisted, WalkOptions, walk_below, why_unlisted};

/// The files that a path or pattern in a selection refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expansion {
    pub kind: PatternKind,
    /// Matching files, sorted. Includes explicitly named files even if they are ignored.
    pub files: Vec<FileKey>,
    /// Matching files that need confirmation, sorted. An explicitly named file needs confirmation only if its name
    /// suggests secrets.
    pub withheld: Vec<(FileKey, NameOnly)>,
}

/// How a path or pattern in a selection is interpreted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternKind {
    /// The path of a single file.
    File,
    /// A directory, which means all listed files below it.
    Folder,
    /// A glob, which means all listed files that match.
    Glob,
}

/// Why a path or pattern matches no file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The path is invalid or not allowed.
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("`{0}` does not exist")]
    NotFound(String),
    /// The directory contains no listed files.
    #[error("{}", match .reason {
        Unlisted::Nothing => format!("`{folder}` contains no files"),
        Unlisted::Generated => format!("all files in `{folder}` are generated, and Strata does not list those"),
        Unlisted::Ignored => format!("the ignore rules hide all files in `{folder}`"),
        Unlisted::Unreadable(kind) => format!("`{folder}` cannot be read: {kind}"),
    })]
    EmptyFolder { folder: String, reason: Unlisted },
    #[error("no listed file matches `{0}`")]
    NoMatch(String),
    #[error("`{glob}` is not a valid pattern: {problem}")]
    BadGlob { glob: String, problem: String },
}

/// Maximum length of a pattern, in bytes.
const MAX_GLOB_BYTES: usize = 1024;

/// Characters that make a text a pattern.
const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// Expands a path or pattern against `listed`, which must be sorted, as a scan returns it. An existing file with
/// exactly this name takes precedence over a pattern, so that names such as `[id].tsx` work. `*` and `?` do not match a
/// slash, but `**` does. Hidden files match only patterns with an explicit dot.
///
/// # Errors
/// [`PatternError`] if nothing matches. If all matching files are withheld, the call succeeds.
pub fn expand(roots: &Roots, listed: &[Entry], text: &str) -> Result<Expansion, PatternError> {
    let is_glob = text.contains(WILDCARDS);
    match roots.locate(text) {
        Ok(place) if place.exists => expand_place(roots, listed, text, &place),
        _ if is_glob => expand_glob(roots, listed, text),
        Ok(_) => Err(PatternError::NotFound(text.to_owned())),
        Err(error) => Err(error.into()),
    }
}

/// Scans the directory that a path or pattern is below, so that files created a moment ago are found. Returns the files
/// to [`expand`] the pattern against, or `None` if it is not below a directory: the caller then needs a list of all
/// files.
///
/// # Errors
/// [`Cancelled`] if `cancel` is raised.
pub fn list_below(
    roots: &Roots,
    text: &str,
    options: &WalkOptions,
    cancel: &Cancel,
) -> Result<Option<Vec<Entry>>, Cancelled> {
    let place = match roots.locate(text) {
        Ok(place) if place.exists => place,
        _ => match GlobText::split(roots, &with_slashes(text)).base {
            "" => return Ok(None),
            base => match roots.locate(base) {
                Ok(place) => place,
                // `expand` rejects the path.
                Err(_) => return Ok(None),
            },
        },
    };
    Ok(match place.real.is_dir() {
        true => Some(walk_below(roots, &place, options, cancel)?.entries),
        false => None,
    })
}

/// A glob, split into the directory that it is below and the pattern of the path below that directory.
struct GlobText<'a> {
    /// Path of a directory, or empty if the pattern begins with a wildcard.
    base: &'a str,
    pattern: &'a str,
}

impl<'a> GlobText<'a> {
    fn split(roots: &Roots, text: &'a str) -> Self {
        let text = text.trim_start_matches("./");
        let is_folder =
            |path: &str| roots.locate(path).is_ok_and(|place| place.exists && place.real.is_dir());
        let mut split = Self { base: "", pattern: text };
        for (slash, _) in text.match_indices('/') {
            let (before, after) = text.split_at(slash);
            let name = before.rsplit('/').next().unwrap_or_default();
            if name.contains(WILDCARDS) && !is_folder(before) {
                break;
            }
            split = Self {
                base: if slash == 0 { "/" } else { before },
                pattern: after.strip_prefix('/').unwrap_or(after),
            };
        }
        split
    }

    /// Returns the pattern with those components escaped that are names of files or directories.
    fn pattern_for<'e>(&self, names: impl Iterator<Item = &'e str>) -> String {
        let is_doubtful = |part: &&str| part.contains(['[', '{']);
        let mut doubtful: BTreeSet<&str> = self.pattern.split('/').filter(is_doubtful).collect();
        if doubtful.is_empty() {
            return self.pattern.to_owned();
        }
        let mut exist: BTreeSet<&str> = BTreeSet::new();
        for part in names.flat_map(|name| name.split('/')) {
            exist.extend(doubtful.take(part));
        }
        let parts = self.pattern.split('/');
        let parts: Vec<String> =
            parts.map(|part| if exist.contains(part) { escape(part) } else { part.to_owned() }).collect();
        parts.join("/")
    }
}

fn expand_place(
    roots: &Roots,
    listed: &[Entry],
    text: &str,
    place: &ResolvedPath,
) -> Result<Expansion, PatternError> {
    if !place.real.is_dir() {
        let key = roots.key_at(place).ok_or_else(|| PathError::new(text, Refusal::NoKey))?;
        let (files, withheld) = match secret_by_name(&key) {
            Some(rule) => (vec![], vec![(key, NameOnly::Secret(rule))]),
            None => (vec![key], vec![]),
        };
        return Ok(Expansion { kind: PatternKind::File, files, withheld });
    }
    let folder = folder_prefix(roots, place);
    let inside = below(listed, &folder);
    if inside.is_empty() {
        return Err(PatternError::EmptyFolder {
            folder: text.to_owned(),
            reason: why_unlisted(roots, place),
        });
    }
    let hidden = |key: &str| key.get(folder.len()..).is_some_and(has_hidden_part);
    Ok(sort_out(PatternKind::Folder, inside.iter(), hidden))
}

fn expand_glob(roots: &Roots, listed: &[Entry], text: &str) -> Result<Expansion, PatternError> {
    let bad = |problem: String| PatternError::BadGlob { glob: text.chars().take(200).collect(), problem };
    if text.len() > MAX_GLOB_BYTES {
        return Err(bad(format!("it is longer than {MAX_GLOB_BYTES} bytes")));
    }
    let text = with_slashes(text).trim_start_matches("./").to_owned();
    let glob = GlobText::split(roots, &text);
    if glob.pattern.split('/').any(|part| part == "..") {
        return Err(PathError::new(&text, Refusal::ParentStep).into());
    }
    let place = match glob.base {
        "" => None,
        base => Some(roots.locate(base)?),
    };
    let folder = place.as_ref().map(|place| folder_prefix(roots, place));
    let candidates = folder.as_deref().map_or(listed, |folder| below(listed, folder));
    let pattern = glob.pattern_for(candidates.iter().map(|entry| entry.key.as_str()));
    let matcher = GlobBuilder::new(&pattern).literal_separator(true).build();
    let matcher = matcher.map_err(|error| bad(error.to_string()))?.compile_matcher();
    let names_hidden = glob.pattern.split('/').any(|part| part.starts_with('.'));
    let hidden = |below: &str| !names_hidden && has_hidden_part(below);

    let expansion = if let Some(folder) = folder {
        let matches = candidates.iter().filter(|entry| {
            entry.key.as_str().get(folder.len()..).is_some_and(|below| matcher.is_match(below))
        });
        sort_out(PatternKind::Glob, matches, |key| key.get(folder.len()..).is_some_and(hidden))
    } else {
        // Match the path relative to its root, and the path that begins with the root's name.
        let without_root = |key: &str| -> usize {
            let prefix = (0..roots.len())
                .map(|root| roots.prefix(root))
                .find(|prefix| key.starts_with(prefix.as_str()));
            prefix.map_or(0, |prefix| prefix.len())
        };
        let matches = candidates.iter().filter(|entry| {
            let key = entry.key.as_str();
            matcher.is_match(key) || key.get(without_root(key)..).is_some_and(|below| matcher.is_match(below))
        });
        sort_out(PatternKind::Glob, matches, |key| key.get(without_root(key)..).is_some_and(hidden))
    };
    if expansion.files.is_empty() && expansion.withheld.is_empty() {
        if let Some(reason) = place.map(|place| why_unlisted(roots, &place))
            && matches!(reason, Unlisted::Unreadable(_))
        {
            return Err(PatternError::EmptyFolder { folder: glob.base.to_owned(), reason });
        }
        return Err(PatternError::NoMatch(text));
    }
    Ok(expansion)
}

/// Converts the separators of a Windows path.
fn with_slashes(text: &str) -> Cow<'_, str> {
    if cfg!(windows) { text.replace('\\', "/").into() } else { text.into() }
}

/// Returns the prefix that all keys in a directory share.
fn folder_prefix(roots: &Roots, place: &ResolvedPath) -> String {
    let root = roots.prefix(place.root);
    if place.below.is_empty() { root } else { format!("{root}{}/", place.below) }
}

/// Returns the entries whose keys begin with `prefix`. They are adjacent, because the list is sorted.
fn below<'e>(listed: &'e [Entry], prefix: &str) -> &'e [Entry] {
    let start = listed.partition_point(|entry| entry.key.as_str() < prefix);
    let rest = listed.get(start..).unwrap_or_default();
    let length = rest.partition_point(|entry| entry.key.as_str().starts_with(prefix));
    rest.get(..length).unwrap_or_default()
}

fn sort_out<'e>(
    kind: PatternKind,
    entries: impl Iterator<Item = &'e Entry>,
    is_hidden: impl Fn(&str) -> bool,
) -> Expansion {
    let mut expansion = Expansion { kind, files: Vec::new(), withheld: Vec::new() };
    for entry in entries {
        match entry.name_only {
            // A path counts as hidden only below the selected directory: selecting `.github` selects the files in it.
            None => expansion.files.push(entry.key.clone()),
            Some(NameOnly::Hidden) if !is_hidden(entry.key.as_str()) => {
                expansion.files.push(entry.key.clone());
            }
            Some(reason) => expansion.withheld.push((entry.key.clone(), reason)),
        }
    }
    expansion
}

fn has_hidden_part(below: &str) -> bool {
    below.split('/').any(|part| part.starts_with('.'))
}

#[cfg(test)]
mod tests;
