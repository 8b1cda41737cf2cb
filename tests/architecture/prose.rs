//! Checks that phrases that the project has replaced do not return to comments, messages and pages. Looks for
//! phrases only, and does not check grammar.

use crate::repo::File;

/// Phrases in lower case that no text may contain, with suggested replacements.
const NEVER: &[(&str, &str)] = &[
    ("afresh", "again, or from scratch"),
    ("anew", "again, or a verb with re-"),
    ("the person", "the user, or you"),
    ("somebody", "someone, or a passive"),
    ("for ever", "forever"),
    ("goes on with", "continues"),
    ("gone on with", "continued"),
    ("what is known of", "what is known about, or a noun"),
    ("in the place of", "instead of, or replaces"),
    ("word for word", "verbatim"),
    ("what came of", "the outcome of, or a verb"),
    ("what comes of", "the outcome of, or a verb"),
    ("is no folder", "is not a directory"),
    ("is no regular file", "is not a regular file"),
    ("so many items", "maximum items, or a number"),
    ("so much is", "a number"),
    ("/// which.", "what the name cannot say"),
    ("/// it is.", "what the name cannot say"),
    ("/// they are.", "what the name cannot say"),
];

/// Paths that are not checked: tests quote user input, generated files follow their source, and fixtures are arbitrary.
const LEFT_OUT: &[&str] = &[
    "/tests",
    "tests/",
    "/fixture",
    "docs/schema/",
    "docs/PROTOCOL.md",
    "docs/settings.md",
    "docs/outlines.md",
    "docs/benchmarks.md",
    "package-lock.json",
    "/panics",
];

/// Exceptions: the file, a part of the line, and the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[(
    "server/engine/conversation/src/tool_result_archival/words.rs",
    "what came of it",
    "a question to a model, tuned",
)];

/// Returns the lines that contain a replaced phrase.
pub(crate) fn replaced(files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| is_judged(&file.path)) {
        // Unit tests are at the end of a file.
        let text = file.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for (index, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            let is_kept =
                || EXCEPTIONS.iter().any(|(path, part, _)| *path == file.path && lower.contains(part));
            if let Some((phrase, instead)) =
                NEVER.iter().find(|(phrase, _)| has(&lower, phrase)).filter(|_| !is_kept())
            {
                found.push(format!(
                    "{}:{} contains `{}`; write {instead}",
                    file.path,
                    index + 1,
                    phrase.trim()
                ));
            }
        }
    }
    found
}

/// Returns the exceptions that are no longer needed.
pub(crate) fn needless_exceptions(files: &[File]) -> Vec<String> {
    let is_used = |path: &str, part: &str| {
        files.iter().any(|file| file.path == path && file.text.to_lowercase().contains(part))
    };
    let unused = EXCEPTIONS.iter().filter(|(path, part, _)| !is_used(path, part));
    unused.map(|(path, part, _)| format!("{path} does not contain `{part}`")).collect()
}

/// Whether a line contains a phrase as whole words.
fn has(line: &str, phrase: &str) -> bool {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(phrase).any(|(start, _)| {
        let (before, after) =
            (line[..start].chars().next_back(), line[start + phrase.len()..].chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

fn is_judged(path: &str) -> bool {
    let kinds = [".rs", ".md", ".ts", ".lua", ".json"];
    kinds.iter().any(|kind| path.ends_with(kind)) && !LEFT_OUT.iter().any(|part| path.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_phrase_is_found_in_comments_messages_and_pages() {
        for (path, text) in [
            ("server/app/src/a.rs", "/// Tells the person.\n"),
            ("server/app/src/a.rs", "format!(\"`{}` is no folder\")"),
            ("docs/a.md", "It stays word for word."),
            ("server/app/src/a.rs", "/// It lasts for ever."),
            ("editors/vscode/package.json", "\"title\": \"Index the Repository Anew\""),
        ] {
            assert_eq!(replaced(&[File::new(path, text)]).len(), 1, "{text}");
        }
    }

    #[test]
    fn tests_and_generated_pages_are_not_judged() {
        for path in ["tests/stdio/a.rs", "server/app/src/tests.rs", "docs/settings.md"] {
            assert_eq!(replaced(&[File::new(path, "Word for word.")]).len(), 0, "{path}");
        }
        assert_eq!(
            replaced(&[File::new("server/app/src/a.rs", "/// For every file.\nlet x = laid_afresh();")])
                .len(),
            0
        );
        let text = "fn f() {}\n#[cfg(test)]\nmod tests {\n    // anew\n}\n";
        assert_eq!(replaced(&[File::new("server/app/src/a.rs", text)]).len(), 0);
    }
}
