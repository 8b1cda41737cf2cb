//! Maps editor documents to file keys. Never reads a document.

use std::ops::Range;

use strata_engine::conversation::selection::LineRange;
use strata_engine::key::FileKey;
use strata_host::roots::Roots;
use strata_host::uri;

/// Whether names that differ only in case usually name the same file on this system.
const IGNORES_CASE: bool = cfg!(any(windows, target_os = "macos"));

/// Returns the key of a document: a file in a workspace folder, a buffer that was never saved, or a notebook cell
/// (`notebook.ipynb#cell`). Returns `None` for documents that are not tracked, which have another scheme (`git:`, a
/// diff view) or are outside the workspace folders.
pub fn key_of(text: &str, roots: &Roots) -> Option<FileKey> {
    match uri::scheme(text)? {
        scheme if scheme.eq_ignore_ascii_case("file") => file_key(text, roots),
        "untitled" => Some(FileKey::new(uri::normalize(text))),
        "vscode-notebook-cell" => notebook_cell(text, roots),
        _ => None,
    }
}

/// Returns the key of a file as its URI spells it, without accessing the disk. On a system that ignores case, the file
/// may have another key.
pub fn key_as_written(text: &str, roots: &Roots) -> Option<FileKey> {
    roots.key_of(&uri::to_path(text).ok()?)
}

/// Returns whether a document's path is in a workspace folder, but leads to a file outside of it through a link.
pub fn leads_out(key: &FileKey, roots: &Roots) -> bool {
    match key.as_str().split_once(".ipynb#") {
        Some((notebook, _)) => roots.leads_out(&FileKey::new(format!("{notebook}.ipynb"))),
        None => roots.leads_out(key),
    }
}

/// Returns the new key of a document after the workspace folders changed, or `None` if no folder contains the document
/// any more. With several folders, keys start with the folder's name.
pub fn renamed(key: &FileKey, before: &Roots, now: &Roots) -> Option<FileKey> {
    if key.is_untitled() {
        return Some(key.clone());
    }
    let rename = |key: &FileKey| now.key_of(&before.path_of(key).ok()?);
    match key.as_str().split_once(".ipynb#") {
        Some((notebook, cell)) => {
            let notebook = rename(&FileKey::new(format!("{notebook}.ipynb")))?;
            Some(FileKey::new(format!("{}#{cell}", notebook.as_str())))
        }
        None => rename(key),
    }
}

/// A position in a document as editors report it: a line and a character, both counted from 0.
pub(crate) type EditorPosition = (u32, u32);

/// Returns the lines that a range touches, counted from 1, or `None` for an empty range. Omits the last line if the
/// range ends at its start, because editors select whole lines this way.
pub fn lines(range: Range<EditorPosition>) -> Option<LineRange> {
    let Range { start, end } = range;
    let (start, end) = if start <= end { (start, end) } else { (end, start) };
    let last = if end.1 == 0 { end.0 } else { end.0.saturating_add(1) };
    let first = start.0.saturating_add(1);
    if start == end { None } else { LineRange::new(first, last.max(first)) }
}

fn file_key(text: &str, roots: &Roots) -> Option<FileKey> {
    let resolved = || roots.resolve(text).ok();
    if IGNORES_CASE {
        // An editor spells a name as the user typed it, but one file must have one key.
        return resolved().or_else(|| key_as_written(text, roots));
    }
    // Try the path as written first, since the file may not exist yet. Resolving the path also finds files behind
    // links.
    key_as_written(text, roots).or_else(resolved)
}

fn notebook_cell(text: &str, roots: &Roots) -> Option<FileKey> {
    let (notebook, cell) = text.split_once('#')?;
    let path = notebook.split_once(':')?.1;
    let key = file_key(&format!("file:{path}"), roots)?;
    Some(FileKey::new(format!("{}#{cell}", key.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(uri: &str) -> Option<String> {
        let roots = Roots::single(std::env::temp_dir()).unwrap();
        key_of(uri, &roots).map(|key| key.as_str().to_owned())
    }

    fn inside(path: &str) -> String {
        uri::from_path(&std::env::temp_dir().join(path)).unwrap()
    }

    #[test]
    fn files_buffers_and_cells_are_kept() {
        assert_eq!(name(&inside("a b/é.rs")).as_deref(), Some("a b/é.rs"));
        assert!(inside("a b/é.rs").contains("%20"), "the name above must have been percent-encoded");
        assert_eq!(name("untitled:Untitled-1").as_deref(), Some("untitled:Untitled-1"));
        assert_eq!(name("untitled:Draft [1]"), name("untitled:Draft%20%5B1%5D"));
        assert_eq!(name(&inside("a.rs").replace("file:", "FILE:")).as_deref(), Some("a.rs"));
        let cell = inside("n.ipynb").replacen("file:", "vscode-notebook-cell:", 1) + "#W0sZmlsZQ%3D%3D";
        assert_eq!(name(&cell).as_deref(), Some("n.ipynb#W0sZmlsZQ%3D%3D"));
    }

    #[cfg(any(windows, target_os = "macos"))]
    #[test]
    fn a_document_has_the_key_of_its_file_in_any_spelling() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("Src")).unwrap();
        std::fs::write(directory.path().join("Src/Lib.rs"), "").unwrap();
        let roots = Roots::single(directory.path()).unwrap();
        let key = |below: &str| {
            let key = key_of(&uri::from_path(&directory.path().join(below)).unwrap(), &roots);
            key.map(|key| key.as_str().to_owned())
        };
        assert_eq!(key("src/LIB.rs").as_deref(), Some("Src/Lib.rs"));
        assert_eq!(key("SRC/New.rs").as_deref(), Some("Src/New.rs"), "not saved yet");
        let upper = directory.path().to_str().unwrap().to_uppercase();
        let elsewhere = uri::from_path(&std::path::Path::new(&upper).join("src/lib.rs")).unwrap();
        assert_eq!(key_of(&elsewhere, &roots), Some(FileKey::new("Src/Lib.rs")));
    }

    #[test]
    fn other_schemes_and_files_outside_are_not() {
        for uri in ["git:/a.rs?ref", "output:x", "vscode-scm:a", "file:///elsewhere/a.rs", "nonsense", ""] {
            assert_eq!(name(uri), None, "{uri}");
        }
    }
}
