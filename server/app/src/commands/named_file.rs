//! Resolves files named in arguments, and suggests similar names for paths that do not exist.

use strata_base::key::FileKey;
use strata_host::disk::{ReadError, stamp_of};
use strata_prompt::assembly::FileText;

use super::{CommandError, Context};
use crate::model::snapshot::Snapshot;

/// Maximum number of similar names suggested in an error message.
const MAX_SUGGESTIONS: usize = 3;

/// Returns the error message for a path that does not exist, with the most similar names in `files`.
pub(crate) fn missing_path_message(files: &[FileKey], path: &str) -> String {
    let suggestions: Vec<String> =
        nearest_files(files, path, MAX_SUGGESTIONS).iter().map(|key| format!("`{}`", key.notice())).collect();
    match suggestions.as_slice() {
        [] => format!("`{path}` does not exist"),
        [only] => format!("`{path}` does not exist; did you mean {only}?"),
        [all @ .., last] => format!("`{path}` does not exist; did you mean {} or {last}?", all.join(", ")),
    }
}

/// Resolves a workspace file: an indexed file or an open buffer. Rejects other paths, because a misspelled one would
/// silently have no effect.
///
/// # Errors
/// Returns [`CommandError::InvalidParams`] if there is no such file, or it is ignored.
pub(super) fn resolve_listed_file(
    snapshot: &Snapshot,
    field: &str,
    path: &str,
) -> Result<FileKey, CommandError> {
    let invalid = |message: &str| CommandError::invalid(field, message);
    let key = snapshot.resolve(path).map_err(|error| invalid(&error.to_string()))?;
    if snapshot.is_indexed_file(key.as_str()) || snapshot.documents.contains(&key) {
        return Ok(key);
    }
    Err(invalid(&match stamp_of(&snapshot.roots, &key) {
        Ok(_) => format!("`{}` matches an ignore rule", key.notice()),
        Err(_) => missing_path_message(&snapshot.index.files, key.as_str()),
    }))
}

/// Resolves a readable file, the value of the argument `path`, and returns its current text.
///
/// # Errors
/// Returns a [`CommandError`] if the file does not exist or must not be read.
pub(super) fn read_named_file(
    path: &str,
    context: &Context<'_>,
) -> Result<(FileKey, FileText), CommandError> {
    let key = context.resolve_file("path", path)?;
    match context.snapshot.text(&key, &context.session.selection) {
        Ok(text) => Ok((key, text)),
        Err(ReadError::NotFound(key)) => {
            Err(CommandError::failed(missing_path_message(&context.snapshot.index.files, key.as_str())))
        }
        Err(error) => Err(CommandError::failed(error.to_string())),
    }
}

/// Suggests at most `limit` existing files for a path that does not exist: first those whose paths end with
/// it, then those whose file names differ by few letters.
fn nearest_files<'a>(files: &'a [FileKey], path: &str, limit: usize) -> Vec<&'a FileKey> {
    let path = path.trim_matches('/').to_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let mut candidates: Vec<(usize, usize, &FileKey)> = Vec::new();
    for key in files {
        let lower_path = key.as_str().to_lowercase();
        let is_suffix = lower_path.strip_suffix(&path).is_some_and(|before| before.ends_with('/'));
        let distance = if is_suffix {
            0
        } else {
            1 + strsim::damerau_levenshtein(&key.file_name().to_lowercase(), name)
        };
        if !name.is_empty() && distance <= 1 + name.chars().count() / 3 {
            candidates.push((distance, strsim::levenshtein(&lower_path, &path), key));
        }
    }
    candidates.sort_unstable();
    candidates.into_iter().take(limit).map(|(_, _, key)| key).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::*;
    use crate::runtime::headless::{HeadlessWorkspace, Settings};

    #[test]
    fn similar_existing_paths_are_suggested_for_a_missing_one() {
        let files = ["app/request.py", "app/view.py", "lib/view.py", "lib/views.py", "z"].map(FileKey::from);
        let near = |path: &str| -> Vec<&str> {
            nearest_files(&files, path, 3).into_iter().map(FileKey::as_str).collect()
        };
        assert_eq!(near("app/reqest.py"), ["app/request.py"]);
        assert_eq!(near("view.py"), ["app/view.py", "lib/view.py", "lib/views.py"]);
        assert_eq!(near("lib/veiw.py"), ["lib/view.py", "app/view.py", "lib/views.py"]);
        assert_eq!(near("src/lib/view.py")[0], "lib/view.py");
        assert_eq!(near("unrelated.rs"), [""; 0]);
        assert_eq!(near(""), [""; 0]);
    }

    fn workspace() -> (tempfile::TempDir, HeadlessWorkspace) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src/a.py"), "import os\n\n\ndef greet():\n    return os\n").unwrap();
        fs::write(folder.path().join("src/b.py"), "from a import greet\n\ngreet()\n").unwrap();
        fs::write(folder.path().join("large.py"), "x = 1\n".repeat(200_000)).unwrap();
        let mut workspace = HeadlessWorkspace::open(folder.path(), Settings::default()).unwrap();
        workspace.index(|_| ()).unwrap();
        (folder, workspace)
    }

    /// Commands that take a path, with their arguments.
    fn commands(path: &str) -> Vec<(&'static str, Value)> {
        vec![
            ("strata.files.read", json!({ "path": path })),
            ("strata.symbols.file", json!({ "path": path })),
            ("strata.symbols.dependents", json!({ "path": path })),
            ("strata.symbols.references", json!({ "name": "greet", "path": path })),
            ("strata.symbols.map", json!({ "focus": [path], "budget": 1_000 })),
            ("strata.files.grep", json!({ "pattern": "greet", "paths": [path] })),
            ("strata.files.exclude", json!({ "paths": [path] })),
            ("strata.files.include", json!({ "paths": [path] })),
            ("strata.files.select", json!({ "paths": [path] })),
            ("strata.files.deselect", json!({ "paths": [path] })),
            ("strata.files.markRead", json!({ "paths": [path] })),
        ]
    }

    #[test]
    fn every_command_takes_a_path_as_it_is_printed() {
        let (_folder, mut workspace) = workspace();
        let mut errors = Vec::new();
        for path in [
            "src/a.py",
            "src/a.py:4",
            "src/a.py:4: def greet():",
            "src/a.py:",
            "`src/a.py`",
            "src/a.py#L4-5",
            "src/a.py#greet",
            "src/\\u{61}.py",
        ] {
            for (command, arguments) in commands(path) {
                match workspace.run(command, arguments) {
                    Ok(reply) => assert!(reply.to_string().contains("a.py"), "{command} {path}: {reply}"),
                    Err(error) => errors.push(format!("{command} {path}: {error}")),
                }
            }
        }
        // A selection is removed as a whole.
        errors.retain(|error| !error.contains("only whole files can be"));
        assert_eq!(errors, [""; 0]);
        let text = |reply: Value| reply["text"].as_str().unwrap().to_owned();
        let mut read =
            |path: &str| text(workspace.run("strata.files.read", json!({ "path": path })).unwrap());
        assert_eq!(read("src/a.py:4: def greet():"), "def greet():\n");
        assert_eq!(read("src/a.py#greet"), "def greet():\n    return os\n");
    }

    #[test]
    fn every_command_reports_a_path_that_does_not_exist_or_cannot_be_read() {
        let (_folder, mut workspace) = workspace();
        let mut check = |path: &str, expected: &str, skipped: &[&str]| {
            for (command, arguments) in commands(path) {
                if skipped.contains(&command) {
                    continue;
                }
                let error = workspace
                    .run(command, arguments)
                    .map_or_else(|error| error.to_string(), |_| String::new());
                assert!(error.contains(expected), "{command} {path}: {error}");
            }
        };
        // Recording a file that was read outside of Strata needs no file.
        let recording = "strata.files.markRead";
        check("src/c.py", "does not exist", &[recording]);
        let commands_without_patterns = [
            "strata.files.read",
            "strata.symbols.file",
            "strata.symbols.dependents",
            "strata.symbols.references",
        ];
        check(
            "src/*.rs",
            "no listed file matches `src/*.rs`",
            &[&commands_without_patterns[..], &[recording]].concat(),
        );
        check(
            "large.py",
            "has 1200000 bytes",
            &[
                "strata.files.exclude",
                "strata.files.include",
                "strata.files.select",
                "strata.files.deselect",
                "strata.symbols.map",
                "strata.files.read",
                "strata.files.grep",
                recording,
            ],
        );
        let reply = workspace.run("strata.files.grep", json!({ "pattern": "greet" })).unwrap();
        let unreadable = &reply["unreadable"];
        assert!(
            unreadable[0]["path"] == "large.py"
                && unreadable[0]["reason"].as_str().unwrap().contains("too large"),
            "{reply}"
        );
    }
}
