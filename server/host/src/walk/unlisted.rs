//! Explains why a scan lists no file of a directory. Reads names, not files.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::skipped_folders::{is_generated_folder, is_lock_or_autosave, is_never_walked};
use crate::roots::{ResolvedPath, Roots};

/// Maximum number of directory entries to look at. In a larger directory, ignore rules are the likely reason.
const MAX_SCANNED_ENTRIES: usize = 10_000;

/// Why a directory has no listed files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnlistedReason {
    /// The directory contains no files at all.
    Nothing,
    /// A tool generates everything in the directory.
    Generated,
    /// Ignore rules hide the files.
    Ignored,
    /// The directory, or one in it, cannot be read, and no file was found elsewhere.
    Unreadable(ErrorKind),
}

/// Returns why a scan lists no file at or below an existing directory.
pub(crate) fn why_unlisted(roots: &Roots, resolved: &ResolvedPath) -> UnlistedReason {
    let Some(root) = roots.get(resolved.root) else { return UnlistedReason::Nothing };
    let mut folders = resolved.real.ancestors().take_while(|folder| *folder != root.real);
    let is_skipped = folders.any(|folder| is_skipped_folder(&root.real, folder));
    let mut reason = UnlistedReason::Nothing;
    let mut pending: Vec<(PathBuf, bool)> = vec![(resolved.real.clone(), is_skipped)];
    let mut entry_count = 0;
    while let Some((folder, is_generated)) = pending.pop() {
        let entries = fs::read_dir(&folder);
        if let (UnlistedReason::Nothing, Err(error)) = (reason, &entries)
            && !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
        {
            reason = UnlistedReason::Unreadable(error.kind());
        }
        for entry in entries.into_iter().flatten().flatten() {
            entry_count += 1;
            if entry_count > MAX_SCANNED_ENTRIES {
                return UnlistedReason::Ignored;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                let is_generated = is_generated || is_skipped_folder(&root.real, &path);
                pending.push((path, is_generated));
            } else if kind.is_file() {
                let name = entry.file_name();
                if !is_generated && !is_never_walked(&name) && !is_lock_or_autosave(&name) {
                    return UnlistedReason::Ignored;
                }
                reason = UnlistedReason::Generated;
            }
        }
    }
    reason
}

fn is_skipped_folder(root: &Path, folder: &Path) -> bool {
    let depth = folder.strip_prefix(root).map_or(0, |below| below.components().count());
    folder.file_name().is_some_and(is_never_walked) || is_generated_folder(folder, depth)
}
