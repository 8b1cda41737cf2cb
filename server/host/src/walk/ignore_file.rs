//! Ignore files that must not be opened. The walker reads whatever bears the name, and a repository may bring a
//! `.gitignore` that is a link to `/dev/zero` or a FIFO: one never ends, the other never begins.

use std::path::Path;

use super::IGNORE_FILE;

/// What the walker reads in a folder.
const NAMES: &[&str] = &[".gitignore", ".ignore", IGNORE_FILE, ".git/info/exclude"];

/// Largest ignore file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// Why a root cannot be walked at all: the walker reads the ignore files of every folder above it, too, even when
/// they do not count. `None` when it can.
pub(super) fn problem_at_root(root: &Path) -> Option<String> {
    let top = root.ancestors().last().unwrap_or(root);
    // A link above the root, say from a home folder into a folder of dotfiles, is the user's own.
    let above = || root.ancestors().skip(1).find_map(|folder| problem(folder, top));
    problem(root, root).or_else(above)
}

/// Why a folder cannot be walked; `None` when its ignore files can be read safely. A link is followed when it stays below
/// `root`: what an ignore file holds may show up in messages. A link to nothing is read by nobody.
pub(super) fn problem(folder: &Path, root: &Path) -> Option<String> {
    NAMES.iter().find_map(|name| {
        let path = folder.join(name);
        let own = path.symlink_metadata().ok()?;
        let leaves = || path.canonicalize().is_ok_and(|real| !real.starts_with(root));
        let problem = if own.is_symlink() && leaves() {
            "is a link that leads out of the workspace folder"
        } else {
            match path.metadata() {
                Ok(target) if !target.is_file() => "is no regular file",
                Ok(target) if target.len() > MAX_BYTES => "is too large",
                _ => return None,
            }
        };
        Some(format!("is not walked: `{}` {problem}", path.display()))
    })
}
