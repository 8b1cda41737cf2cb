//! What every source file looks like: it says what it owns, and its name says it, too.

use crate::repo::File;

/// Names that say nothing about what is inside.
const DRAWERS: &[&str] =
    &["utils", "util", "utilities", "helpers", "helper", "manager", "managers", "misc", "common", "stuff"];

/// Source files that do not open with module documentation.
pub(crate) fn without_docs(files: &[File]) -> Vec<String> {
    let silent = |file: &&File| !file.text.starts_with("//! ");
    files.iter().filter(silent).map(|file| format!("{} does not open with `//!`", file.path)).collect()
}

/// Modules, folders and parts of names that are drawers for everything.
pub(crate) fn drawers(files: &[File]) -> Vec<String> {
    let is_drawer = |part: &str| part.split(['_', '-']).any(|word| DRAWERS.contains(&word));
    let named_so = |file: &&File| {
        let path = file.path.strip_suffix(".rs").unwrap_or(&file.path);
        path.split('/').any(is_drawer)
    };
    files.iter().filter(named_so).map(|file| format!("{} is a drawer for everything", file.path)).collect()
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
