//! Where JSON may be used inside the process. Commands are called by type, so arguments and replies are JSON only at
//! the edges that `ARCHITECTURE.md` lists.

use std::collections::BTreeSet;

use crate::repo::File;
use crate::source::{paths, tokens};

/// The crates that call commands by type, or carry them out.
const INSIDE: [&str; 3] = ["server/app/src/", "server/cli/src/", "server/replay/src/"];

/// The crates that must not declare the replies of commands again.
const CALLERS: [&str; 2] = ["server/cli/src/", "server/replay/src/"];

/// Heading of the table of edges.
const HEADING: &str = "### JSON";

/// Returns the places in the crates that call commands where something is parsed into a type of their own.
pub(crate) fn mirror_types(files: &[File]) -> Vec<String> {
    let parses = |word: &str| matches!(word, "Deserialize" | "DeserializeOwned" | "from_value");
    let mut found = Vec::new();
    for (file, text) in product(files, &CALLERS) {
        for token in tokens(text).iter().filter(|token| parses(token.text)) {
            found.push(format!("{}:{} uses `{}`", file.path, token.line, token.text));
        }
    }
    found
}

/// Returns the uses of JSON outside of the edges, and the edges that use none.
pub(crate) fn outside_edges(files: &[File], architecture: &str) -> Vec<String> {
    let edges = edges(architecture);
    let mut found = Vec::new();
    let mut used = BTreeSet::new();
    for (file, text) in product(files, &INSIDE) {
        let named = paths(text);
        let Some(json) = named.iter().find(|path| path.is_below("serde_json")) else { continue };
        match edges.iter().find(|edge| file.path.starts_with(edge.as_str())) {
            Some(edge) => drop(used.insert(edge)),
            None => found.push(format!("{}:{} uses {}", file.path, json.line, json.text())),
        }
    }
    let idle = edges.iter().filter(|edge| !used.contains(edge));
    found.extend(idle.map(|edge| format!("{edge} is listed in ARCHITECTURE.md, but uses no JSON")));
    found
}

/// Returns the places in the first column of the table of edges, in which backticks enclose each.
fn edges(architecture: &str) -> Vec<String> {
    let section = architecture.split(HEADING).nth(1).unwrap_or_default();
    let section = section.split("\n#").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    rows.flat_map(|row| row.split('`').step_by(2)).map(|place| format!("server/{place}")).collect()
}

/// Returns the sources of crates, without their tests.
fn product<'a>(files: &'a [File], crates: &'a [&'a str]) -> impl Iterator<Item = (&'a File, &'a str)> {
    let is_product = |file: &&File| {
        crates.iter().any(|folder| file.path.starts_with(folder))
            && !file.path.contains("/tests/")
            && !file.path.ends_with("/tests.rs")
    };
    files.iter().filter(is_product).map(|file| {
        let text = file.text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        (file, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_that_are_declared_again_are_found() {
        let mirror = "use serde::Deserialize;\n#[derive(Deserialize)]\nstruct Reply { id: String }";
        assert_eq!(mirror_types(&[File::new("server/cli/src/a.rs", mirror)]).len(), 2);
        assert_eq!(mirror_types(&[File::new("server/app/src/a.rs", mirror)]).len(), 0);
        let test = "fn a() {}\n#[cfg(test)]\nmod tests {\n    use serde::Deserialize;\n}";
        assert_eq!(mirror_types(&[File::new("server/cli/src/a.rs", test)]).len(), 0);
    }

    #[test]
    fn json_outside_of_the_edges_is_found() {
        let table = "### JSON\n\n| place | JSON |\n|---|---|\n| `app/src/a.rs`, `cli/src/b/` | files |\n\n## Next\n| `cli/src/c.rs` | x |";
        let file = |path: &str| File::new(path, "fn f() { serde_json::json!(1) }");
        let at_edges = [file("server/app/src/a.rs"), file("server/cli/src/b/x.rs")];
        assert_eq!(outside_edges(&at_edges, table), Vec::<String>::new());
        let found = outside_edges(&[file("server/app/src/a.rs"), file("server/cli/src/c.rs")], table);
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
