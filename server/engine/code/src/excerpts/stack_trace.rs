//! Finds the frames of a stack trace in a request.

use super::candidates::ExcerptCandidate;

/// Maximum number of frames that are looked up, starting with the innermost one.
const MAX_FRAMES: usize = 12;
/// What begins the innermost frame's end of a Python traceback, whose frames are listed outermost first.
const PYTHON_HEADER: &str = "Traceback (most recent call last)";

/// Returns the frames in `text` that are in one of the candidates: the candidate's index, the zero-based line, and the
/// number of frames inside of it.
pub(super) fn stack_frames(text: &str, candidates: &[ExcerptCandidate<'_>]) -> Vec<(usize, usize, i32)> {
    let mut locations: Vec<(usize, usize)> = Vec::new();
    for (path, line) in text.lines().filter_map(parse_location) {
        let matches = |candidate: &ExcerptCandidate<'_>| is_same_file(path, candidate.file.file.as_str());
        locations.extend(candidates.iter().position(matches).map(|file_index| (file_index, line)));
    }
    if text.contains(PYTHON_HEADER) {
        locations.reverse();
    }
    locations.truncate(MAX_FRAMES);
    (0..).zip(locations).map(|(depth, (file_index, line))| (file_index, line, depth)).collect()
}

/// Whether a path in a trace, which may be absolute or relative to any directory, means a file of the workspace.
fn is_same_file(path: &str, file: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
    };
    ends(path, file) || path.contains('/') && ends(file, path)
}

/// Returns the path and the zero-based line that a line of text names: `File "a/b.py", line 3` or `a/b.rs:3`.
fn parse_location(line: &str) -> Option<(&str, usize)> {
    let line = line.trim();
    if let Some((path, rest)) = line.strip_prefix("File \"").and_then(|rest| rest.split_once("\", line ")) {
        return Some((path, parse_line_number(rest)?));
    }
    let is_end = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | '\'' | '`');
    line.split(is_end).find_map(|token| {
        let (path, rest) = token.split_once(':')?;
        (path.contains('.') && !rest.starts_with(':')).then_some(())?;
        Some((path, parse_line_number(rest)?))
    })
}

/// Returns the zero-based form of the line number that a text starts with.
fn parse_line_number(text: &str) -> Option<usize> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end)?.parse::<usize>().ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_of_several_languages_are_parsed() {
        for (line, expected) in [
            (
                r#"  File "/srv/app/src/net/retry.py", line 12, in backoff"#,
                Some(("/srv/app/src/net/retry.py", 11)),
            ),
            ("   --> src/main.rs:4:9", Some(("src/main.rs", 3))),
            ("    at send (/app/src/send.ts:10:5)", Some(("/app/src/send.ts", 9))),
            ("\tat org.acme.Main.run(Main.java:7)", Some(("Main.java", 6))),
            ("/go/src/a/b.go:31 +0x1d", Some(("/go/src/a/b.go", 30))),
            ("it happened at 12:30", None),
            ("std::fmt::Display", None),
            ("a.py:0", None),
        ] {
            assert_eq!(parse_location(line), expected, "{line}");
        }
    }

    #[test]
    fn a_path_of_another_machine_matches_the_file_with_the_same_end() {
        assert!(is_same_file("/srv/app/src/a.py", "src/a.py") && is_same_file("src/a.py", "src/a.py"));
        assert!(is_same_file("app/a.py", "src/app/a.py") && is_same_file("a.py", "a.py"));
        assert!(
            !is_same_file("a.py", "src/a.py")
                && !is_same_file("/srv/ba.py", "a.py")
                && !is_same_file("lib/a.py", "src/a.py")
        );
    }
}
