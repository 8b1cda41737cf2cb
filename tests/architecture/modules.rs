//! Requirements for every source file: it starts with module documentation, and its name is specific.

use crate::repo::File;

/// Names that say nothing about the contents.
const DRAWERS: &[&str] =
    &["utils", "util", "utilities", "helpers", "helper", "manager", "managers", "misc", "common", "stuff"];

/// Returns the source files that do not start with module documentation.
pub(crate) fn without_docs(files: &[File]) -> Vec<String> {
    let silent = |file: &&File| !file.text.starts_with("//! ");
    files.iter().filter(silent).map(|file| format!("{} does not start with `//!`", file.path)).collect()
}

/// Returns the files whose path contains an unspecific name.
pub(crate) fn drawers(files: &[File]) -> Vec<String> {
    let is_drawer = |part: &str| part.split(['_', '-']).any(|word| DRAWERS.contains(&word));
    let named_so = |file: &&File| {
        let path = file.path.strip_suffix(".rs").unwrap_or(&file.path);
        path.split('/').any(is_drawer)
    };
    files.iter().filter(named_so).map(|file| format!("{} has an unspecific name", file.path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_module_is_found() {
        let files = [
            File::new("a.rs", "//! Owns a.\n"),
            File::new("b.rs", "use x;\n//! Too late.\n"),
            File::new("c.rs", "//!\n"),
            File::new("d.rs", ""),
        ];
        let found = without_docs(&files);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("b.rs"));
    }

    #[test]
    fn drawers_are_found_wherever_the_word_stands() {
        for path in ["src/utils.rs", "src/helpers/a.rs", "src/tier_manager.rs", "src/test-helper/mod.rs"] {
            assert_eq!(drawers(&[File::new(path, "")]).len(), 1, "{path}");
        }
        assert!(drawers(&[File::new("src/utilisation.rs", ""), File::new("src/commons.rs", "")]).is_empty());
    }
}
