//! Finds paths that exist only on a developer's machine. The repository must not contain any.

use std::env;
use std::path::{Path, PathBuf};

use crate::repo::File;

/// Parents of home directories.
const HOMES: &[&str] = &["/home/", "/Users/", "C:\\Users\\", "C:/Users/"];

/// Names of users that exist only in examples.
const INVENTED: &[&str] = &["me", "u", "user", "you", "someone", "<name>", "runner"];

/// Directories of a developer's machine.
pub(crate) struct Machine {
    folders: Vec<String>,
}

impl Machine {
    /// Returns the directories of this machine, with the repository at `root`.
    pub(crate) fn here(root: &Path) -> Self {
        let cargo = env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = env::var_os("HOME").map(PathBuf::from);
        let folders = [Some(root.to_owned()), root.parent().map(Path::to_owned), cargo, home];
        Self::new(folders.into_iter().flatten().map(|path| path.to_string_lossy().into_owned()))
    }

    fn new(folders: impl IntoIterator<Item = String>) -> Self {
        // Ignore top-level directories (`/src`, `/root`), whose names also have other meanings.
        let is_telling = |folder: &String| folder.matches(['/', '\\']).count() > 1;
        Self { folders: folders.into_iter().filter(is_telling).collect() }
    }
}

/// Returns every line that contains a path of the machine or of a home directory.
pub(crate) fn paths(files: &[File], machine: &Machine) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        for (at, line) in file.text.lines().enumerate() {
            let known = machine.folders.iter().find(|folder| names(line, folder)).map(String::as_str);
            if let Some(path) = known.or_else(|| somebodys_home(line)) {
                found.push(format!("{}:{} contains {path}", file.path, at + 1));
            }
        }
    }
    found
}

/// Whether the line contains `folder` as the beginning of a path.
fn names(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let begins = begins_a_path(line, at);
        begins && !line[at + folder.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_')
    })
}

fn somebodys_home(line: &str) -> Option<&str> {
    HOMES.iter().find_map(|home| {
        line.match_indices(home).filter(|(at, _)| begins_a_path(line, *at)).find_map(|(at, _)| {
            let rest = &line[at + home.len()..];
            let is_name = |c: char| c.is_alphanumeric() || "_-<>".contains(c);
            let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
            let somebody = !name.is_empty() && !INVENTED.contains(&name);
            somebody.then(|| &line[at..at + home.len() + name.len()])
        })
    })
}

fn begins_a_path(line: &str, at: usize) -> bool {
    !line[..at].ends_with(|before: char| before.is_alphanumeric() || "._-~}*".contains(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let machine = Machine::new(["/opt/checkout/strata", "/src"].map(str::to_owned));
        paths(&[File::new("a", text)], &machine)
    }

    #[test]
    fn the_checkout_and_homes_are_found() {
        // Joined here, so that this file does not contain the path.
        let home = ["", "home", "ada", "x"].join("/");
        assert_eq!(found("x\ncd /opt/checkout/strata && make"), ["a:2 contains /opt/checkout/strata"]);
        assert_eq!(found("(/opt/checkout/strata/tests)").len(), 1);
        assert_eq!(found(&format!("file://{home}")).len(), 1);
        assert_eq!(found(&format!("{}ada", HOMES[2])).len(), 1);
    }

    #[test]
    fn invented_users_and_short_names_are_not() {
        for text in ["/home/me/x", "/home/", "/src/a.rs", "/opt/checkout/strata2", "a/home/x", "~/Users/x"] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
