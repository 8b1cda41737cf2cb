//! Checks documentation pages that show a shell: runs every command in their `console` blocks, and compares the output
//! with the page. `...` matches any text.

use std::fs;
use std::path::Path;

use crate::repo::Repo;

/// A command with the output that the page shows.
struct Step {
    command: String,
    output: Vec<String>,
}

/// Writes the files of a page, runs its commands in order, and compares their output. The page must have `commands`
/// commands, so that a change of its format does not hide them.
#[track_caller]
fn follow(page: &str, commands: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = fs::read_to_string(path).unwrap();
    let repo = Repo::new(&[]);
    let (files, steps) = parsed(&text);
    for (path, content) in files {
        repo.write(&path, content);
    }
    assert_eq!(steps.len(), commands, "commands of {page}");
    for Step { command, output } in steps {
        let printed = repo.shell(&command);
        let printed: Vec<&str> = printed.lines().collect();
        let expected: Vec<&str> = output.iter().map(String::as_str).collect();
        assert!(
            is_like(&expected, &printed),
            "{page}: $ {command}\n{}\n\nprinted:\n{}",
            expected.join("\n"),
            printed.join("\n")
        );
    }
}

/// Returns the files of a page (each is a block after a line with a path and a colon) and its commands.
fn parsed(page: &str) -> (Vec<(String, String)>, Vec<Step>) {
    let (mut files, mut steps) = (Vec::new(), Vec::<Step>::new());
    let mut lines = page.lines();
    let mut name = None;
    while let Some(line) = lines.next() {
        if let Some(path) = line.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:")) {
            name = Some(path.to_owned());
        }
        let kind = line.trim_start_matches('`');
        let fence = &line[..line.len() - kind.len()];
        if fence.len() < 3 {
            continue;
        }
        for line in lines.by_ref().take_while(|line| *line != fence) {
            match (kind, line.strip_prefix("$ "), steps.last_mut(), &name) {
                ("console", Some(command), ..) => {
                    steps.push(Step { command: command.to_owned(), output: Vec::new() });
                }
                ("console", None, Some(step), _) => step.output.push(line.to_owned()),
                (_, _, _, Some(name)) => match files.last_mut() {
                    Some((path, content)) if path == name => *content = format!("{content}{line}\n"),
                    _ => files.push((name.clone(), format!("{line}\n"))),
                },
                _ => {}
            }
        }
        name = None;
    }
    (files, steps)
}

/// Whether the printed lines match. A line `...` matches any number of lines, and `...` inside a line matches any text.
fn is_like(expected: &[&str], printed: &[&str]) -> bool {
    match (expected, printed) {
        ([], []) => true,
        (["...", rest @ ..], _) => {
            is_like(rest, printed) || !printed.is_empty() && is_like(expected, &printed[1..])
        }
        ([first, rest @ ..], [line, others @ ..]) => fits(first, line) && is_like(rest, others),
        _ => false,
    }
}

fn fits(expected: &str, line: &str) -> bool {
    let mut parts = expected.split("...");
    let Some(mut rest) = parts.next().and_then(|first| line.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[test]
fn the_tutorial_prints_what_it_says() {
    follow("docs/tutorial.md", 11);
}

#[test]
fn the_annotated_prompt_is_what_strata_prints() {
    follow("docs/prompt.md", 2);
}

#[test]
fn differing_output_is_detected() {
    assert!(is_like(&["a", "...", "d ... f"], &["a", "b", "c", "d e f"]));
    assert!(is_like(&["...x"], &["yx"]) && is_like(&[], &[]));
    assert!(
        !is_like(&["a", "..."], &["b"]) && !is_like(&["a"], &["a", "b"]) && !is_like(&["a ... c"], &["a b"])
    );
}
