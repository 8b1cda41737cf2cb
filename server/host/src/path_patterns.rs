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

use crate::roots::{PathError, PathRefusal, ResolvedPath, Roots};
use crate::secrets::secret_rule_by_name;
use crate::walk::{NameOnlyReason, UnlistedReason, WalkEntry, WalkOptions, walk_below, why_unlisted};

/// The files that a path or pattern in a selection refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternExpansion {
    pub kind: PatternKind,
    /// Matching files, sorted. Includes explicitly named files even if they are ignored.
    pub files: Vec<FileKey>,
    /// Matching files that need confirmation, sorted. An explicitly named file needs confirmation only if its name
    /// suggests secrets.
    pub withheld: Vec<(FileKey, NameOnlyReason)>,
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
        UnlistedReason::Nothing => format!("`{folder}` contains no files"),
        UnlistedReason::Generated => format!("all files in `{folder}` are generated, and Strata does not list those"),
        UnlistedReason::Ignored => format!("the ignore rules hide all files in `{folder}`"),
        UnlistedReason::Unreadable(kind) => format!("`{folder}` cannot be read: {kind}"),
    })]
    EmptyFolder { folder: String, reason: UnlistedReason },
    #[error("no listed file matches `{0}`")]
    NoMatch(String),
    #[error("`{glob}` is not a valid pattern: {problem}")]
    BadGlob { glob: String, problem: String },
}

/// Maximum length of a pattern, in bytes.
const MAX_GLOB_BYTES: usize = 1024;

/// Characters that make a text a pattern.
const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// Expands a path or pattern against `entries`, which must be sorted, as a scan returns it. An existing file with
/// exactly this name takes precedence over a pattern, so that names such as `[id].tsx` work. `*` and `?` do not match a
/// slash, but `**` does. Hidden files match only patterns with an explicit dot.
///
/// # Errors
/// [`PatternError`] if nothing matches. If all matching files are withheld, the call succeeds.
pub fn expand_path_pattern(
    roots: &Roots,
    entries: &[WalkEntry],
    text: &str,
) -> Result<PatternExpansion, PatternError> {
    let is_glob = text.contains(WILDCARDS);
    match roots.locate(text) {
        Ok(resolved) if resolved.exists => expand_resolved(roots, entries, text, &resolved),
        _ if is_glob => expand_glob(roots, entries, text),
        Ok(_) => Err(PatternError::NotFound(text.to_owned())),
        Err(error) => Err(error.into()),
    }
}

/// Scans the directory that a path or pattern is below, so that files created a moment ago are found. Returns the files
/// to [`expand_path_pattern`] the pattern against, or `None` if it is not below a directory: the caller then needs a
/// list of all files.
///
/// # Errors
/// [`Cancelled`] if `cancel` is raised.
pub fn list_below(
    roots: &Roots,
    text: &str,
    options: &WalkOptions,
    cancel: &Cancel,
) -> Result<Option<Vec<WalkEntry>>, Cancelled> {
    let resolved = match roots.locate(text) {
        Ok(resolved) if resolved.exists => resolved,
        _ => match SplitGlob::split(roots, &with_slashes(text)).base {
            "" => return Ok(None),
            base => match roots.locate(base) {
                Ok(resolved) => resolved,
                // `expand` rejects the path.
                Err(_) => return Ok(None),
            },
        },
    };
    Ok(match resolved.real.is_dir() {
        true => Some(walk_below(roots, &resolved, options, cancel)?.entries),
        false => None,
    })
}

/// A glob, split into the directory that it is below and the pattern of the path below that directory.
struct SplitGlob<'a> {
    /// Path of a directory, or empty if the pattern begins with a wildcard.
    base: &'a str,
    pattern: &'a str,
}

impl<'a> SplitGlob<'a> {
    fn split(roots: &Roots, text: &'a str) -> Self {
        let text = text.trim_start_matches("./");
        let is_folder =
            |path: &str| roots.locate(path).is_ok_and(|resolved| resolved.exists && resolved.real.is_dir());
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
    fn escape_literals<'e>(&self, names: impl Iterator<Item = &'e str>) -> String {
        let may_be_literal = |component: &&str| component.contains(['[', '{']);
        let mut ambiguous: BTreeSet<&str> = self.pattern.split('/').filter(may_be_literal).collect();
        if ambiguous.is_empty() {
            return self.pattern.to_owned();
        }
        let mut literal: BTreeSet<&str> = BTreeSet::new();
        for component in names.flat_map(|name| name.split('/')) {
            literal.extend(ambiguous.take(component));
        }
        let parts = self.pattern.split('/');
        let parts: Vec<String> = parts
            .map(
                |component| {
                    if literal.contains(component) { escape(component) } else { component.to_owned() }
                },
            )
            .collect();
        parts.join("/")
    }
}

fn expand_resolved(
    roots: &Roots,
    entries: &[WalkEntry],
    text: &str,
    resolved: &ResolvedPath,
) -> Result<PatternExpansion, PatternError> {
    if !resolved.real.is_dir() {
        let key = roots.key_at(resolved).ok_or_else(|| PathError::new(text, PathRefusal::NoKey))?;
        let (files, withheld) = match secret_rule_by_name(&key) {
            Some(rule) => (vec![], vec![(key, NameOnlyReason::Secret(rule))]),
            None => (vec![key], vec![]),
        };
        return Ok(PatternExpansion { kind: PatternKind::File, files, withheld });
    }
    let folder = folder_prefix(roots, resolved);
    let entries_in_folder = entries_below(entries, &folder);
    if entries_in_folder.is_empty() {
        return Err(PatternError::EmptyFolder {
            folder: text.to_owned(),
            reason: why_unlisted(roots, resolved),
        });
    }
    let hidden = |key: &str| key.get(folder.len()..).is_some_and(has_hidden_component);
    Ok(partition_withheld(PatternKind::Folder, entries_in_folder.iter(), hidden))
}

fn expand_glob(roots: &Roots, entries: &[WalkEntry], text: &str) -> Result<PatternExpansion, PatternError> {
    let bad_glob =
        |problem: String| PatternError::BadGlob { glob: text.chars().take(200).collect(), problem };
    if text.len() > MAX_GLOB_BYTES {
        return Err(bad_glob(format!("it is longer than {MAX_GLOB_BYTES} bytes")));
    }
    let text = with_slashes(text).trim_start_matches("./").to_owned();
    let glob = SplitGlob::split(roots, &text);
    if glob.pattern.split('/').any(|part| part == "..") {
        return Err(PathError::new(&text, PathRefusal::ParentStep).into());
    }
    let resolved = match glob.base {
        "" => None,
        base => Some(roots.locate(base)?),
    };
    let folder = resolved.as_ref().map(|resolved| folder_prefix(roots, resolved));
    let candidates = folder.as_deref().map_or(entries, |folder| entries_below(entries, folder));
    let pattern = glob.escape_literals(candidates.iter().map(|entry| entry.key.as_str()));
    let matcher = GlobBuilder::new(&pattern).literal_separator(true).build();
    let matcher = matcher.map_err(|error| bad_glob(error.to_string()))?.compile_matcher();
    let names_hidden = glob.pattern.split('/').any(|part| part.starts_with('.'));
    let hidden = |path: &str| !names_hidden && has_hidden_component(path);

    let expansion = if let Some(folder) = folder {
        let matches = candidates.iter().filter(|entry| {
            entry.key.as_str().get(folder.len()..).is_some_and(|path| matcher.is_match(path))
        });
        partition_withheld(PatternKind::Glob, matches, |key| key.get(folder.len()..).is_some_and(hidden))
    } else {
        // Match the path relative to its root, and the path that begins with the root's name.
        let without_root = |key: &str| -> usize {
            let prefix = (0..roots.len())
                .map(|root| roots.key_prefix(root))
                .find(|prefix| key.starts_with(prefix.as_str()));
            prefix.map_or(0, |prefix| prefix.len())
        };
        let matches = candidates.iter().filter(|entry| {
            let key = entry.key.as_str();
            matcher.is_match(key) || key.get(without_root(key)..).is_some_and(|path| matcher.is_match(path))
        });
        partition_withheld(PatternKind::Glob, matches, |key| key.get(without_root(key)..).is_some_and(hidden))
    };
    if expansion.files.is_empty() && expansion.withheld.is_empty() {
        if let Some(reason) = resolved.map(|resolved| why_unlisted(roots, &resolved))
            && matches!(reason, UnlistedReason::Unreadable(_))
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
fn folder_prefix(roots: &Roots, resolved: &ResolvedPath) -> String {
    let root = roots.key_prefix(resolved.root);
    if resolved.below.is_empty() { root } else { format!("{root}{}/", resolved.below) }
}

/// Returns the entries whose keys begin with `prefix`. They are adjacent, because the list is sorted.
fn entries_below<'e>(entries: &'e [WalkEntry], prefix: &str) -> &'e [WalkEntry] {
    let start = entries.partition_point(|entry| entry.key.as_str() < prefix);
    let from_start = entries.get(start..).unwrap_or_default();
    let length = from_start.partition_point(|entry| entry.key.as_str().starts_with(prefix));
    from_start.get(..length).unwrap_or_default()
}

fn partition_withheld<'e>(
    kind: PatternKind,
    entries: impl Iterator<Item = &'e WalkEntry>,
    is_hidden: impl Fn(&str) -> bool,
) -> PatternExpansion {
    let mut expansion = PatternExpansion { kind, files: Vec::new(), withheld: Vec::new() };
    for entry in entries {
        match entry.name_only {
            // A path counts as hidden only below the selected directory: selecting `.github` selects the files in it.
            None => expansion.files.push(entry.key.clone()),
            Some(NameOnlyReason::Hidden) if !is_hidden(entry.key.as_str()) => {
                expansion.files.push(entry.key.clone());
            }
            Some(reason) => expansion.withheld.push((entry.key.clone(), reason)),
        }
    }
    expansion
}

fn has_hidden_component(path: &str) -> bool {
    path.split('/').any(|component| component.starts_with('.'))
}

#[cfg(test)]
mod tests;
