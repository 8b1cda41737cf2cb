//! Extracts the subject of a tool call from its arguments: files, command line or search query. Does not look
//! at the result.

use serde_json::{Map, Value};

use super::describe;
use super::files::FileState;
use super::tools::ToolPurpose;

/// Argument names for a single path. Names are compared in lower case and without underscores.
const PATH_KEYS: [&str; 11] = [
    "filepath",
    "path",
    "filename",
    "file",
    "notebookpath",
    "targetfile",
    "absolutepath",
    "relativepath",
    "relativeworkspacepath",
    "targetpath",
    "uri",
];
/// Argument names for several paths, given as strings or as objects with a path.
const PATH_LIST_KEYS: [&str; 5] = ["paths", "files", "filepaths", "edits", "changes"];
/// Argument names for a command line.
const COMMAND_KEYS: [&str; 5] = ["command", "cmd", "script", "commandline", "commands"];
/// Argument names for a search query, most specific first.
const QUERY_KEYS: [&str; 12] = [
    "pattern",
    "query",
    "regex",
    "url",
    "glob",
    "globpattern",
    "search",
    "searchterm",
    "q",
    "description",
    "prompt",
    "skill",
];
/// Argument names for the code to replace.
const OLD_KEYS: [&str; 5] = ["oldstring", "oldstr", "oldtext", "search", "old"];
/// Argument names for the replacement code.
const NEW_KEYS: [&str; 8] =
    ["newstring", "newstr", "newtext", "replace", "replacement", "new", "newsource", "codeedit"];
/// Argument names for the whole content of a file.
const CONTENT_KEYS: [&str; 4] = ["content", "filetext", "contents", "text"];
/// Argument names for a patch.
const PATCH_KEYS: [&str; 4] = ["patch", "diff", "input", "patchtext"];

/// What a tool call is about: files, a command line or a search query.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct CallSubject {
    /// Paths of the files, each with the intended operation.
    pub files: Vec<(String, FileState)>,
    pub command: Option<String>,
    /// The search query or, failing that, the directory to search.
    pub query: Option<String>,
    /// Description of the file, if the call writes it in full.
    pub about: Option<String>,
    /// Code that the call writes, each with the path of its file.
    pub changes: Vec<(String, String)>,
}

impl CallSubject {
    /// Extracts the subject of a call with the arguments `input` to the tool `name`.
    pub(super) fn new(name: &str, purpose: ToolPurpose, input: &Value) -> Self {
        let mut subject = Self::default();
        let nothing = Map::new();
        let arguments = input.as_object().unwrap_or(&nothing);
        if purpose == ToolPurpose::Command {
            subject.command = first_argument(arguments, &COMMAND_KEYS).and_then(parse_command_line);
            if let Some(command) = subject.command.as_deref() {
                parse_patch(command, &mut subject.files, &mut subject.changes);
            }
        }
        if purpose == ToolPurpose::Edit {
            let patch = input.as_str().or_else(|| first_argument(arguments, &PATCH_KEYS)?.as_str());
            parse_patch(patch.unwrap_or_default(), &mut subject.files, &mut subject.changes);
        }
        if matches!(purpose, ToolPurpose::Edit | ToolPurpose::Read) && subject.files.is_empty() {
            let state = operation_of_file_tool(name, purpose, arguments);
            subject.files.extend(paths(arguments).into_iter().map(|path| (path, state)));
            if matches!(state, FileState::Edited | FileState::Created) {
                subject.extract_changes(arguments);
            }
        }
        subject.query = first_text(arguments, &QUERY_KEYS).or_else(|| first_text(arguments, &PATH_KEYS));
        subject
    }

    /// Extracts the text that the call writes to files.
    fn extract_changes(&mut self, arguments: &Map<String, Value>) {
        let text = |arguments: &Map<String, Value>, names| {
            first_argument(arguments, names).and_then(Value::as_str).map(str::to_owned)
        };
        // If there are several edits, only the last one is used.
        let edit = match first_argument(arguments, &PATH_LIST_KEYS) {
            Some(Value::Array(edits)) => edits.last().and_then(Value::as_object).unwrap_or(arguments),
            _ => arguments,
        };
        let code = if let Some(new) = text(edit, &NEW_KEYS) {
            describe::describe_change(&text(edit, &OLD_KEYS).unwrap_or_default(), &new)
        } else if let Some(content) = text(arguments, &CONTENT_KEYS) {
            self.about = describe::describe_file(&content);
            describe::describe_definitions(&content)
        } else {
            None
        };
        if let Some(code) = code {
            self.changes = self.files.iter().map(|(path, _)| (path.clone(), code.clone())).collect();
        }
    }

    /// Returns the first path, the command line or the query, which distinguishes the call from others of the
    /// same tool.
    pub(super) fn label(&self) -> Option<&str> {
        let path = self.files.first().map(|(path, _)| path.as_str());
        path.or(self.command.as_deref()).or(self.query.as_deref())
    }
}

/// Determines the intended operation of a file tool. Some tools support several and take the operation as an
/// argument.
fn operation_of_file_tool(name: &str, purpose: ToolPurpose, arguments: &Map<String, Value>) -> FileState {
    let name = name.to_ascii_lowercase();
    let operation = first_text(arguments, &["command", "mode", "action", "operation"]).unwrap_or_default();
    match (purpose, &*operation) {
        (ToolPurpose::Read, _) | (_, "view" | "read") => FileState::Read,
        (_, "create" | "add") => FileState::Created,
        (_, "delete" | "remove") => FileState::Deleted,
        _ if name.contains("delete") || name.contains("remove") => FileState::Deleted,
        _ if name.contains("create") => FileState::Created,
        _ => FileState::Edited,
    }
}

/// Returns the argument called by the first of `names` that occurs in `arguments`. Argument names are compared
/// without case, underscores and hyphens.
fn first_argument<'a>(arguments: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    let normalize = |key: &str| key.replace(['_', '-'], "").to_ascii_lowercase();
    names.iter().find_map(|name| {
        let fits = |(key, value): (&String, &'a Value)| {
            (key.len() <= 40 && normalize(key) == **name).then_some(value)
        };
        arguments.iter().find_map(fits)
    })
}

fn first_text(arguments: &Map<String, Value>, names: &[&str]) -> Option<String> {
    let text = first_argument(arguments, names)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the path in the arguments, or all paths if an argument is a list of them.
fn paths(arguments: &Map<String, Value>) -> Vec<String> {
    let one = |arguments: &Map<String, Value>| {
        let path = first_text(arguments, &PATH_KEYS)?;
        Some(path.strip_prefix("file://").map_or(path.clone(), str::to_owned))
    };
    if let Some(path) = one(arguments) {
        return vec![path];
    }
    let Some(Value::Array(list)) = first_argument(arguments, &PATH_LIST_KEYS) else { return Vec::new() };
    list.iter()
        .filter_map(|entry| match entry {
            Value::String(path) => Some(path.clone()),
            Value::Object(entry) => one(entry),
            _ => None,
        })
        .collect()
}

/// Parses a command line, given as a string or a list of arguments. For a shell, returns the command that it
/// runs.
fn parse_command_line(value: &Value) -> Option<String> {
    let line = match value {
        Value::String(line) => line.trim().to_owned(),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words[..] {
                [_, "-c" | "-lc" | "-ic" | "/c", line] => line.trim().to_owned(),
                _ => words.join(" "),
            }
        }
        _ => return None,
    };
    (!line.is_empty()).then_some(line)
}

/// Parses the headers of a patch in Codex format (`*** Update File: x`) or unified diff format. Adds each
/// file to `files`, and its first added lines to `changes`.
fn parse_patch(patch: &str, files: &mut Vec<(String, FileState)>, changes: &mut Vec<(String, String)>) {
    const HEADERS: [(&str, FileState); 4] = [
        ("*** Update File: ", FileState::Edited),
        ("*** Add File: ", FileState::Created),
        ("*** Delete File: ", FileState::Deleted),
        ("*** Move to: ", FileState::Created),
    ];
    if !patch.contains("*** ") && !patch.contains("+++ ") {
        return;
    }
    let mut old = None;
    let mut added: Vec<&str> = Vec::new();
    for line in patch.lines() {
        let named = files.len();
        for (header, state) in HEADERS {
            if let Some(path) = line.strip_prefix(header) {
                record_added_lines(&files[..named], &mut added, changes);
                files.push((path.trim().to_owned(), state));
            }
        }
        if let Some(path) = line.strip_prefix("--- ") {
            old = Some(path);
        } else if let (Some(new), Some(before)) = (line.strip_prefix("+++ "), old.take()) {
            record_added_lines(&files[..named], &mut added, changes);
            files.extend(file_in_diff_header(before, new));
        } else if let Some(line) = line.strip_prefix('+') {
            added.push(line);
        }
    }
    record_added_lines(files, &mut added, changes);
}

/// Records the `added` lines as the change to the last of `files`.
fn record_added_lines(
    files: &[(String, FileState)],
    added: &mut Vec<&str>,
    changes: &mut Vec<(String, String)>,
) {
    if let (Some((path, _)), Some(code)) = (files.last(), describe::first_code_lines(added.drain(..))) {
        changes.push((path.clone(), code));
    }
}

/// Returns the file and the operation from the two header lines of a unified diff.
fn file_in_diff_header(old: &str, new: &str) -> Option<(String, FileState)> {
    const NOTHING: &str = "/dev/null";
    let path = |side: &str, mark: &str| {
        let side = side.split('\t').next().unwrap_or_default().trim();
        side.strip_prefix(mark).unwrap_or(side).to_owned()
    };
    let (old, new) = (path(old, "a/"), path(new, "b/"));
    match (&*old, &*new) {
        (NOTHING, NOTHING) => None,
        (NOTHING, _) => Some((new, FileState::Created)),
        (_, NOTHING) => Some((old, FileState::Deleted)),
        _ => Some((new, FileState::Edited)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn files(name: &str, purpose: ToolPurpose, input: Value) -> Vec<(String, FileState)> {
        CallSubject::new(name, purpose, &input).files
    }

    fn one(path: &str, state: FileState) -> Vec<(String, FileState)> {
        vec![(path.to_owned(), state)]
    }

    #[test]
    fn paths_are_found_under_their_usual_names() {
        for key in
            ["file_path", "path", "filename", "notebook_path", "target_file", "filePath", "absolute_path"]
        {
            let input = json!({ key: "src/a.rs", "content": "x" });
            assert_eq!(files("Edit", ToolPurpose::Edit, input), one("src/a.rs", FileState::Edited), "{key}");
        }
        let several = json!({ "files": [{ "path": "a" }, "b", 3] });
        assert_eq!(
            files("read_many_files", ToolPurpose::Read, several),
            [("a".to_owned(), FileState::Read), ("b".to_owned(), FileState::Read)]
        );
        assert_eq!(files("Edit", ToolPurpose::Edit, json!(["a"])), []);
    }

    #[test]
    fn a_tool_with_several_operations_takes_its_operation_from_an_argument() {
        let files_of = |command: &str| {
            let input = json!({ "command": command, "path": "a.py" });
            files("str_replace_based_edit_tool", ToolPurpose::Edit, input)
        };
        assert_eq!(files_of("view"), one("a.py", FileState::Read));
        assert_eq!(files_of("create"), one("a.py", FileState::Created));
        assert_eq!(files_of("str_replace"), one("a.py", FileState::Edited));
        let delete = files("delete_file", ToolPurpose::Edit, json!({ "target_file": "a.py" }));
        assert_eq!(delete, one("a.py", FileState::Deleted));
    }

    #[test]
    fn files_are_read_from_patch_headers() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Add File: b.rs\n+z\n*** Delete File: c.rs\n*** End Patch";
        let expected = [
            ("src/a.rs".to_owned(), FileState::Edited),
            ("b.rs".to_owned(), FileState::Created),
            ("c.rs".to_owned(), FileState::Deleted),
        ];
        assert_eq!(files("apply_patch", ToolPurpose::Edit, json!({ "input": patch })), expected);
        assert_eq!(files("apply_patch", ToolPurpose::Edit, json!(patch)), expected);
        let shell = json!({ "command": ["bash", "-lc", format!("apply_patch <<'EOF'\n{patch}\nEOF")] });
        assert_eq!(files("shell", ToolPurpose::Command, shell), expected);
        let unified = "--- a/x.c\t2026\n+++ b/x.c\n@@ -1 +1 @@\n--- /dev/null\n+++ b/new.c\n--- a/old.c\n+++ /dev/null\n";
        assert_eq!(
            files("apply_diff", ToolPurpose::Edit, json!({ "diff": unified })),
            [
                ("x.c".to_owned(), FileState::Edited),
                ("new.c".to_owned(), FileState::Created),
                ("old.c".to_owned(), FileState::Deleted),
            ]
        );
    }

    #[test]
    fn written_code_is_recorded_for_each_file() {
        let changes = |name: &str, input: Value| CallSubject::new(name, ToolPurpose::Edit, &input).changes;
        let one = |path: &str, code: &str| (path.to_owned(), code.to_owned());
        let edit = json!({ "file_path": "a.rs", "old_string": "x\ny", "new_string": "x\nlet z = 1;" });
        assert_eq!(changes("Edit", edit), [one("a.rs", "let z = 1;")]);
        let edits = json!({ "file_path": "a.rs", "edits": [
            { "old_string": "a", "new_string": "b = 1" }, { "old_string": "c", "new_string": "d = 2" },
        ]});
        assert_eq!(changes("MultiEdit", edits), [one("a.rs", "d = 2")]);
        let patch = "*** Update File: src/a.rs\n@@\n-x\n+let y = 2;\n*** Add File: b.rs\n+fn z() {}\n";
        let both = [one("src/a.rs", "let y = 2;"), one("b.rs", "fn z() {}")];
        assert_eq!(changes("apply_patch", json!(patch)), both);
        let unified = "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n+int x;\n--- a/y.c\n+++ b/y.c\n+int y;\n";
        let both = [one("x.c", "int x;"), one("y.c", "int y;")];
        assert_eq!(changes("apply_diff", json!({ "diff": unified })), both);
        let arguments = json!({ "file_path": "a.py", "content": "\"\"\"Talks to the kettle.\"\"\"\n\ndef main():\n    pass\n" });
        let subject = CallSubject::new("Write", ToolPurpose::Edit, &arguments);
        assert_eq!(subject.about.as_deref(), Some("Talks to the kettle"));
        assert_eq!(subject.changes, [one("a.py", "def main():")]);
        assert_eq!(
            changes("view_edit", json!({ "command": "view", "path": "a", "content": "fn x() {}" })),
            []
        );
    }

    #[test]
    fn commands_and_queries_are_the_label_of_a_call() {
        let subject =
            CallSubject::new("shell", ToolPurpose::Command, &json!({ "command": ["cargo", "test"] }));
        assert_eq!(subject.label(), Some("cargo test"));
        let subject =
            CallSubject::new("Grep", ToolPurpose::Search, &json!({ "pattern": "fn x", "path": "src" }));
        assert_eq!((subject.label(), subject.files.len()), (Some("fn x"), 0));
        let subject = CallSubject::new("LS", ToolPurpose::Search, &json!({ "path": "src" }));
        assert_eq!(subject.label(), Some("src"));
    }
}
