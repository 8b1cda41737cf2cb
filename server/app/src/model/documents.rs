//! Maps editor documents to file keys: one key per file, however links lead to it. Never reads a document.

use std::ops::Range;

use strata_base::key::FileKey;
use strata_code::notebook::{cell_key, split_cell};
use strata_conversation::selection::LineRange;
use strata_host::roots::Roots;
use strata_host::uri;

/// Returns the key of a document: a file in a workspace folder, a buffer that was never saved, or a notebook cell
/// (`notebook.ipynb#cell`). Follows links, so that a file has one key. A buffer that will be saved under a path in a
/// workspace folder has the key of that path. Returns `None` for documents that are not tracked, which have another
/// scheme (`git:`, a diff view) or are outside the workspace folders.
pub fn key_of(text: &str, roots: &Roots) -> Option<FileKey> {
    match uri::scheme(text)? {
        scheme if scheme.eq_ignore_ascii_case("file") => file_key(text, roots),
        "untitled" => Some(unsaved_key(text, roots)),
        "vscode-notebook-cell" => notebook_cell(text, roots),
        _ => None,
    }
}

/// Returns the new key of a document after the workspace folders changed, or `None` if no folder contains the document
/// any more. With several folders, keys start with the folder's name.
pub fn renamed_key(key: &FileKey, old_roots: &Roots, new_roots: &Roots) -> Option<FileKey> {
    if key.is_untitled() {
        return Some(key.clone());
    }
    let rename = |key: &FileKey| new_roots.key_of(&old_roots.path_of(key).ok()?);
    match split_cell(key) {
        Some((notebook, cell)) => Some(cell_key(&rename(&notebook)?, cell)),
        None => rename(key),
    }
}

/// A position in a document as editors report it: a line and a character, both counted from 0.
pub(crate) type EditorPosition = (u32, u32);

/// Returns the lines that a range touches, counted from 1, or `None` for an empty range. Omits the last line if the
/// range ends at its start, because editors select whole lines this way.
pub fn lines_in_range(range: Range<EditorPosition>) -> Option<LineRange> {
    let Range { start, end } = range;
    let (start, end) = if start <= end { (start, end) } else { (end, start) };
    let last = if end.1 == 0 { end.0 } else { end.0.saturating_add(1) };
    let first = start.0.saturating_add(1);
    if start == end { None } else { LineRange::new(first, last.max(first)) }
}

fn file_key(text: &str, roots: &Roots) -> Option<FileKey> {
    roots.resolve(text).ok().or_else(|| {
        let path = uri::to_path(text).ok()?;
        // The links of the path cannot be followed now, for example because a directory is not accessible.
        let as_written = roots.key_of(&path).filter(|key| !roots.is_linked_outside(key));
        as_written.or_else(|| roots.key_of_broken_link(&path))
    })
}

/// Returns the key of a buffer that was never saved: that of the path under which the editor will save it, if the URI
/// contains one.
fn unsaved_key(text: &str, roots: &Roots) -> FileKey {
    let path = text.split_once(':').map_or("", |(_, path)| path);
    let file = match path.starts_with('/') {
        true => Some(format!("file:{path}")),
        // The path may begin with its drive.
        false => cfg!(windows).then(|| format!("file:///{path}")),
    };
    let saved_key = file.and_then(|file| roots.resolve(&file).ok());
    saved_key.unwrap_or_else(|| FileKey::new(uri::normalize_uri(text)))
}

fn notebook_cell(text: &str, roots: &Roots) -> Option<FileKey> {
    let (notebook, cell) = text.split_once('#')?;
    let path = notebook.split_once(':')?.1;
    Some(cell_key(&file_key(&format!("file:{path}"), roots)?, cell))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(uri: &str) -> Option<String> {
        let roots = Roots::single(std::env::temp_dir()).unwrap();
        key_of(uri, &roots).map(|key| key.as_str().to_owned())
    }

    fn inside(path: &str) -> String {
        uri::file_uri(&std::env::temp_dir().join(path)).unwrap()
    }

    #[test]
    fn files_buffers_and_cells_have_keys() {
        assert_eq!(name(&inside("a b/é.rs")).as_deref(), Some("a b/é.rs"));
        assert!(inside("a b/é.rs").contains("%20"), "the name above must have been percent-encoded");
        assert_eq!(name("untitled:Untitled-1").as_deref(), Some("untitled:Untitled-1"));
        assert_eq!(name("untitled:Draft [1]"), name("untitled:Draft%20%5B1%5D"));
        assert_eq!(name(&inside("a.rs").replace("file:", "FILE:")).as_deref(), Some("a.rs"));
        let cell = inside("n.ipynb").replacen("file:", "vscode-notebook-cell:", 1) + "#W0sZmlsZQ%3D%3D";
        assert_eq!(name(&cell).as_deref(), Some("n.ipynb#W0sZmlsZQ%3D%3D"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_has_one_key_whatever_link_leads_to_it() {
        let directory = tempfile::tempdir().unwrap();
        let at = |below: &str| directory.path().join("root").join(below);
        std::fs::create_dir_all(at("src")).unwrap();
        std::fs::write(at("src/a.py"), "").unwrap();
        let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, at(name)).unwrap();
        link("src", "lib");
        link("src/a.py", "b.py");
        link("..", "out");
        link("missing", "broken.py");
        link("../missing", "broken-outside.py");
        let roots = Roots::single(at("")).unwrap();
        let key = |uri: &str| key_of(uri, &roots).map(|key| key.as_str().to_owned());
        let file = |below: &str| key(&uri::file_uri(&at(below)).unwrap());
        for below in ["src/a.py", "lib/a.py", "b.py"] {
            assert_eq!(file(below).as_deref(), Some("src/a.py"), "{below}");
        }
        assert_eq!(file("lib/new.py").as_deref(), Some("src/new.py"), "not saved yet");
        assert_eq!(file("out/x.py"), None);
        assert_eq!(file("broken.py").as_deref(), Some("missing"), "the file was deleted while it is open");
        assert_eq!(file("broken-outside.py"), None);
        let unsaved = format!("untitled:{}", at("lib/new.py").display());
        assert_eq!(key(&unsaved).as_deref(), Some("src/new.py"));
        assert_eq!(key("untitled:/elsewhere/new.py").as_deref(), Some("untitled:/elsewhere/new.py"));
    }

    #[cfg(any(windows, target_os = "macos"))]
    #[test]
    fn a_document_has_the_key_of_its_file_in_any_spelling() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("Src")).unwrap();
        std::fs::write(directory.path().join("Src/Lib.rs"), "").unwrap();
        let roots = Roots::single(directory.path()).unwrap();
        let key = |below: &str| {
            let key = key_of(&uri::file_uri(&directory.path().join(below)).unwrap(), &roots);
            key.map(|key| key.as_str().to_owned())
        };
        assert_eq!(key("src/LIB.rs").as_deref(), Some("Src/Lib.rs"));
        assert_eq!(key("SRC/New.rs").as_deref(), Some("Src/New.rs"), "not saved yet");
        if cfg!(windows) {
            let path = directory.path().join(r"src\New.rs").display().to_string();
            for unsaved in [&path, &path.replace('\\', "%5C").replace(':', "%3A")] {
                let key = key_of(&format!("untitled:{unsaved}"), &roots);
                assert_eq!(key, Some(FileKey::new("Src/New.rs")), "{unsaved}");
            }
        }
        let upper = directory.path().to_str().unwrap().to_uppercase();
        let elsewhere = uri::file_uri(&std::path::Path::new(&upper).join("src/lib.rs")).unwrap();
        assert_eq!(key_of(&elsewhere, &roots), Some(FileKey::new("Src/Lib.rs")));
    }

    #[test]
    fn documents_with_other_schemes_or_outside_the_workspace_have_no_key() {
        for uri in ["git:/a.rs?ref", "output:x", "vscode-scm:a", "file:///elsewhere/a.rs", "nonsense", ""] {
            assert_eq!(name(uri), None, "{uri}");
        }
    }
}
