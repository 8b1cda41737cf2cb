//! Finds files by a short list of patterns, such as rule files for agents. Reads only the directories that a pattern
//! names, including hidden ones. Ignore rules do not apply, because the patterns name the files explicitly.

use std::collections::BTreeSet;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobMatcher};
use strata_base::key::FileKey;

use crate::disk::stamp_of;
use crate::file_owner::{FileOwner, ForeignControl, ProcessUser};
use crate::roots::{Root, Roots, canonical};

/// Maximum number of entries to read from one directory.
const MAX_DIRECTORY_ENTRIES: usize = 1_000;

/// Maximum number of files to return.
const MAX_RULE_FILES: usize = 200;

/// Returns the files in all workspace folders that match `patterns`, in pattern order and then by name. `*` matches any
/// part of a name, but no slash. Skips paths that lead outside the workspace or do not name a file. Symbolic links are
/// followed, so a file is returned once, under its own name, however many patterns match it.
pub fn rule_files(roots: &Roots, patterns: &[String]) -> Vec<FileKey> {
    let mut files: Vec<FileKey> = Vec::new();
    for pattern in patterns {
        for root in roots.iter() {
            let paths = matches_by_part(roots, root, pattern).pop().unwrap_or_default();
            let resolved = paths.into_iter().filter_map(|path| roots.locate_absolute(&path).ok());
            let keys: Vec<FileKey> = resolved.filter_map(|resolved| roots.key_at(&resolved)).collect();
            // Check the file itself, because a directory in its path may have been replaced with a link in the
            // meantime.
            for key in keys.into_iter().filter(|key| stamp_of(roots, key).is_ok()) {
                if !files.contains(&key) && files.len() < MAX_RULE_FILES {
                    files.push(key);
                }
            }
        }
    }
    files
}

/// Whether a path, relative to its workspace folder, matches a pattern of a rule file's front matter. `*` matches no slash,
/// and `**` any directories. An invalid pattern matches nothing.
pub fn matches_pattern(pattern: &str, path: &str) -> bool {
    let glob = GlobBuilder::new(pattern.trim_start_matches("./")).literal_separator(true).build();
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(path))
}

/// Returns the first path through which another user can determine the rule files: a workspace folder, or a directory
/// or file that is part of a pattern's match. Links are followed, and all directories above a link's target count.
pub fn foreign_rule_path(
    roots: &Roots,
    patterns: &[String],
    caller: &ProcessUser,
) -> Option<(PathBuf, ForeignControl)> {
    let mut checked = BTreeSet::new();
    for root in roots.iter() {
        let paths = patterns.iter().flat_map(|pattern| matches_by_part(roots, root, pattern)).flatten();
        for path in iter::once(root.real.clone()).chain(paths) {
            let Ok(real) = canonical(&path) else { continue };
            let inside = real.ancestors().take_while(|ancestor| ancestor.starts_with(&root.real));
            for ancestor in inside.chain([path.as_path()]) {
                // A path that no longer exists determines nothing.
                let Ok(metadata) = ancestor.symlink_metadata() else { continue };
                // A link has no permissions of its own.
                let is_new = !metadata.is_symlink() && checked.insert(ancestor.to_owned());
                if is_new && let Some(control) = caller.foreign_control(FileOwner::new(&metadata)) {
                    return Some((ancestor.to_owned(), control));
                }
            }
        }
    }
    None
}

/// Returns the paths in a workspace folder that match the beginning of a pattern, for each part of the pattern. Only
/// the last paths match the whole pattern.
fn matches_by_part(roots: &Roots, root: &Root, pattern: &str) -> Vec<Vec<PathBuf>> {
    let mut matches_by_part = Vec::new();
    let mut paths = vec![root.real.clone()];
    for part in pattern.split('/').filter(|part| !part.is_empty() && *part != ".") {
        let matcher = wildcard_matcher(part);
        paths = paths.into_iter().flat_map(|path| matching_entries(&path, part, matcher.as_ref())).collect();
        // Outside the workspace, not even file names are read.
        paths.retain(|path| roots.locate_absolute(path).is_ok());
        paths.truncate(MAX_DIRECTORY_ENTRIES);
        matches_by_part.push(paths.clone());
    }
    matches_by_part
}

fn wildcard_matcher(part: &str) -> Option<GlobMatcher> {
    let has_wildcard = part.contains(['*', '?', '[', '{']);
    has_wildcard.then(|| Glob::new(part).ok()).flatten().map(|glob| glob.compile_matcher())
}

/// Returns the entries of a directory that match `part`, sorted by name. `matcher` is the compiled glob, or `None` if
/// `part` is a plain name.
fn matching_entries(folder: &Path, part: &str, matcher: Option<&GlobMatcher>) -> Vec<PathBuf> {
    let Some(matcher) = matcher else {
        let entry = folder.join(part);
        return if part == ".." || !entry.exists() { Vec::new() } else { vec![entry] };
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_DIRECTORY_ENTRIES);
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name()).filter(|name| matcher.is_match(name)).collect();
    names.sort();
    names.into_iter().map(|name| folder.join(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_returned_in_pattern_order_including_hidden_ones() {
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
        use crate::testing::TestTree;

        let tree = TestTree::new(&["root/AGENTS.md", "root/rules/a.md"]);
        tree.create_link("AGENTS.md", "root/CLAUDE.md");
        tree.create_link("rules", "root/more");
        let patterns = ["CLAUDE.md", "AGENTS.md", "more/*.md", "rules/*.md"].map(str::to_owned);
        let keys = rule_files(&tree.roots(), &patterns);
        assert_eq!(keys, [FileKey::from("AGENTS.md"), FileKey::from("rules/a.md")]);
    }

    #[cfg(unix)]
    #[test]
    fn files_beyond_a_link_that_leads_out_are_skipped() {
        use crate::testing::TestTree;

        let tree = TestTree::new(&["root/.cursor/a.md", "outside/private.mdc", "root/rules/b.mdc"]);
        tree.create_link("../../outside", "root/.cursor/rules");
        tree.create_link("../rules", "root/.cursor/more");
        let keys = rule_files(&tree.roots(), &[".cursor/*/*.mdc".into(), ".cursor/rules/private.mdc".into()]);
        assert_eq!(keys, [FileKey::from("rules/b.mdc")]);
    }

    /// Everyone may write to one path at a time.
    #[cfg(unix)]
    #[test]
    fn a_path_of_a_match_that_others_can_write_to_is_reported() {
        use std::os::unix::fs::PermissionsExt as _;

        use crate::testing::TestTree;

        let tree = TestTree::new(&[
            "root/AGENTS.md",
            "root/.cursor/rules/a.mdc",
            "root/docs/b/c.md",
            "root/src/d.rs",
        ]);
        tree.create_link("docs/b/c.md", "root/CLAUDE.md");
        let patterns =
            ["AGENTS.md", "CLAUDE.md", ".cursor/rules/*.mdc", ".cursor/skills/*"].map(str::to_owned);
        let caller = ProcessUser::current();
        let foreign = || foreign_rule_path(&tree.roots(), &patterns, &caller);
        assert_eq!(foreign(), None);
        for (relative_path, is_reported) in [
            ("root", true),
            ("root/AGENTS.md", true),
            ("root/.cursor", true),
            ("root/.cursor/rules", true),
            ("root/.cursor/rules/a.mdc", true),
            ("root/docs", true),
            ("root/docs/b", true),
            ("root/docs/b/c.md", true),
            ("root/src", false),
            ("root/src/d.rs", false),
        ] {
            let path = tree.path(relative_path);
            let before = path.metadata().unwrap().permissions();
            fs::set_permissions(&path, fs::Permissions::from_mode(before.mode() | 0o002)).unwrap();
            let expected = is_reported.then_some((path.clone(), ForeignControl::Writable));
            assert_eq!(foreign(), expected, "{relative_path}");
            fs::set_permissions(&path, before).unwrap();
        }
    }
}
