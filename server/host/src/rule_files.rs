//! Finds files by a short list of patterns, such as rule files for agents. Reads only the directories that a pattern
//! names, including hidden ones. Ignore rules do not apply, because the patterns name the files explicitly.

use std::fs;

use globset::{Glob, GlobMatcher};
use strata_engine::key::FileKey;

use crate::disk::stamp_of;
use crate::roots::Roots;

/// Maximum number of entries to read from one directory.
const MAX_ENTRIES: usize = 1_000;

/// Maximum number of files to return.
const MAX_FILES: usize = 200;

/// Returns the files in all workspace folders that match `patterns`, in pattern order and then by name. `*` matches any
/// part of a name, but no slash. Skips paths that lead outside the workspace or do not name a file. Symbolic links are
/// followed, so a file is returned once, under its own name, however many patterns match it.
pub fn rule_files(roots: &Roots, patterns: &[String]) -> Vec<FileKey> {
    let mut found: Vec<FileKey> = Vec::new();
    for pattern in patterns {
        for root in roots.iter() {
            let mut places = vec![root.real.to_owned()];
            for part in pattern.split('/').filter(|part| !part.is_empty() && *part != ".") {
                let matcher = matcher(part);
                places = places.into_iter().flat_map(|place| below(&place, part, matcher.as_ref())).collect();
                // Outside the workspace, not even file names are read.
                places.retain(|place| roots.locate_absolute(place).is_ok());
                places.truncate(MAX_ENTRIES);
            }
            let resolved = places.into_iter().filter_map(|place| roots.locate_absolute(&place).ok());
            let keys: Vec<FileKey> = resolved.filter_map(|place| roots.key_at(&place)).collect();
            // Check the file itself, because a directory in its path may have been replaced with a link in the
            // meantime.
            for key in keys.into_iter().filter(|key| stamp_of(roots, key).is_ok()) {
                if !found.contains(&key) && found.len() < MAX_FILES {
                    found.push(key);
                }
            }
        }
    }
    found
}

fn matcher(part: &str) -> Option<GlobMatcher> {
    let has_wildcard = part.contains(['*', '?', '[', '{']);
    has_wildcard.then(|| Glob::new(part).ok()).flatten().map(|glob| glob.compile_matcher())
}

/// Returns the entries of a directory that match `part`, sorted by name. `matcher` is the compiled glob, or `None` if
/// `part` is a plain name.
fn below(folder: &std::path::Path, part: &str, matcher: Option<&GlobMatcher>) -> Vec<std::path::PathBuf> {
    let Some(matcher) = matcher else {
        let only = folder.join(part);
        return if part == ".." || !only.exists() { Vec::new() } else { vec![only] };
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_ENTRIES);
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name()).filter(|name| matcher.is_match(name)).collect();
    names.sort();
    names.into_iter().map(|name| folder.join(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_files_in_their_order_hidden_ones_included() {
        let folder = tempfile::tempdir().unwrap();
        let real = crate::roots::canonical(folder.path()).unwrap();
        for path in [
            "AGENTS.md",
            ".cursor/rules/b.mdc",
            ".cursor/rules/a.mdc",
            ".cursor/rules/x.txt",
            "s/one/SKILL.md",
        ] {
            let path = real.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        let roots = Roots::single(&real).unwrap();
        let rule_files = |patterns: &[&str]| -> Vec<String> {
            let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
            rule_files(&roots, &patterns).iter().map(|key| key.as_str().to_owned()).collect()
        };
        assert_eq!(
            rule_files(&["CLAUDE.md", ".cursor/rules/*.mdc", "AGENTS.md", "s/*/SKILL.md", "AGENTS.md"]),
            [".cursor/rules/a.mdc", ".cursor/rules/b.mdc", "AGENTS.md", "s/one/SKILL.md"]
        );
        assert_eq!(rule_files(&["../*/AGENTS.md", "s", "", "[", "*/../AGENTS.md"]), [""; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_with_two_names_is_found_once() {
        use crate::testing::Tree;

        let tree = Tree::new(&["root/AGENTS.md", "root/rules/a.md"]);
        tree.link("AGENTS.md", "root/CLAUDE.md");
        tree.link("rules", "root/more");
        let patterns = ["CLAUDE.md", "AGENTS.md", "more/*.md", "rules/*.md"].map(str::to_owned);
        let found = rule_files(&tree.roots(), &patterns);
        assert_eq!(found, [FileKey::from("AGENTS.md"), FileKey::from("rules/a.md")]);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_named_behind_a_link_that_leads_out() {
        use crate::testing::Tree;

        let tree = Tree::new(&["root/.cursor/a.md", "outside/private.mdc", "root/rules/b.mdc"]);
        tree.link("../../outside", "root/.cursor/rules");
        tree.link("../rules", "root/.cursor/more");
        let found =
            rule_files(&tree.roots(), &[".cursor/*/*.mdc".into(), ".cursor/rules/private.mdc".into()]);
        assert_eq!(found, [FileKey::from("rules/b.mdc")]);
    }
}
