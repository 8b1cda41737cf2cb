//! Every promise in the tables of `SECURITY.md` names tests that would fail without it, and these tests exist.

use std::fs;
use std::path::Path;

/// Tests that a text names, with the file or directory that contains them: `` `one`, `two` ([label](path)) ``.
#[derive(Debug, PartialEq, Eq)]
struct NamedTests<'a> {
    names: Vec<&'a str>,
    path: &'a str,
}

/// Returns the rows without a test, and the tests that do not exist.
pub(crate) fn unkept(text: &str, top: &Path) -> Vec<String> {
    let mut findings: Vec<String> = rows(text)
        .filter(|row| named_tests(last_cell(row)).is_empty())
        .map(|row| format!("no test: {row}"))
        .collect();
    let named: Vec<NamedTests<'_>> = text.lines().flat_map(named_tests).collect();
    for NamedTests { names, path } in &named {
        let sources = sources(&top.join(path));
        for name in names.iter().filter(|name| !sources.iter().any(|source| has_test(source, name))) {
            findings.push(format!("`{name}` is not in {path}"));
        }
    }
    if named.len() < 30 {
        findings.push(format!("only {} places with tests were found", named.len()));
    }
    findings
}

/// Returns the rows of all tables, without heads and rulers.
fn rows(text: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = text.lines().collect();
    let is_row = |line: &str| line.starts_with('|');
    let is_body = move |at: &usize| {
        let next_is_ruler =
            lines.get(at + 1).is_some_and(|next| next.starts_with("|--") || next.starts_with("| --"));
        lines
            .get(*at)
            .is_some_and(|line| is_row(line) && !line.starts_with("|--") && !line.starts_with("| --"))
            && !next_is_ruler
    };
    text.lines().enumerate().filter(move |(at, _)| is_body(at)).map(|(_, line)| line)
}

fn last_cell(row: &str) -> &str {
    row.trim_end_matches('|').rsplit(" | ").next().unwrap_or_default()
}

fn named_tests(line: &str) -> Vec<NamedTests<'_>> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once(" ([") {
        let Some((path, after)) = after.split_once("](").and_then(|(_, link)| link.split_once("))")) else {
            break;
        };
        let mut names = Vec::new();
        let mut list = before;
        while let Some((earlier, name)) = list.strip_suffix('`').and_then(|list| list.rsplit_once('`')) {
            names.insert(0, name);
            list = earlier.strip_suffix(", ").unwrap_or_default();
        }
        if !names.is_empty() {
            found.push(NamedTests { names, path });
        }
        rest = after;
    }
    found
}

fn has_test(source: &str, name: &str) -> bool {
    let function = format!("fn {name}(");
    let quoted = ['"', '\'', '`'].map(|quote| format!("{quote}{name}{quote}"));
    source.contains(&function) || quoted.iter().any(|title| source.contains(title))
}

/// Returns the texts of a file, or of all files in a directory and its module.
fn sources(path: &Path) -> Vec<String> {
    let mut paths = vec![path.to_owned(), path.with_extension("rs")];
    let mut texts = Vec::new();
    while let Some(path) = paths.pop() {
        match fs::read_dir(&path) {
            Ok(entries) => paths.extend(entries.filter_map(|entry| Some(entry.ok()?.path()))),
            Err(_) => texts.extend(fs::read_to_string(&path)),
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_a_test_and_a_test_that_does_not_exist_are_found() {
        let page = "| part | test |\n|---|---|\n| a | `one`, `two words` ([b.rs](x/b.rs)); `three` ([c](x/c)) |\n| b | none |\n";
        assert_eq!(rows(page).count(), 2);
        let tests = named_tests(last_cell(rows(page).next().unwrap_or_default()));
        assert_eq!(
            tests,
            [
                NamedTests { names: vec!["one", "two words"], path: "x/b.rs" },
                NamedTests { names: vec!["three"], path: "x/c" }
            ]
        );
        let folder = tempfile::tempdir().expect("a directory");
        fs::create_dir(folder.path().join("x")).expect("a directory");
        fs::write(folder.path().join("x/b.rs"), "fn one() {}\nfn two() {}\ntest('two words')")
            .expect("a file");
        let findings = unkept(page, folder.path());
        assert_eq!(findings[..2], ["no test: | b | none |", "`three` is not in x/c"]);
        assert!(has_test("fn one() {}", "one") && !has_test("fn one_more() {}", "one"));
    }
}
