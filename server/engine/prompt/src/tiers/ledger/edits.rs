//! Finds edits in the model's own answers: unified diffs and search-and-replace blocks in text, and the inputs of
//! editing tools. An edit may never have been made, so callers apply it and compare the result with the file.

use serde_json::Value;
use strata_conversation::history::ContentBlock;

use crate::diff;

/// One edit of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileEdit {
    /// Path of the file, as given in the answer.
    pub path: String,
    change: EditOperation,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum EditOperation {
    /// Hunks of a unified diff.
    Hunks(String),
    /// Replaces a passage, which must occur exactly once.
    Replace { old: String, new: String },
    /// Replaces the whole text.
    Text(String),
}

impl FileEdit {
    /// Applies the edit to a text. Returns `None` if the text does not match the edit.
    pub fn apply_to(&self, text: &str) -> Option<String> {
        match &self.change {
            EditOperation::Hunks(hunks) => diff::apply(text, hunks),
            EditOperation::Replace { old, new } => {
                let mut places = text.match_indices(old.as_str());
                let (at, _) = places.next().filter(|_| !old.is_empty())?;
                places.next().is_none().then(|| format!("{}{new}{}", &text[..at], &text[at + old.len()..]))
            }
            EditOperation::Text(text) => Some(text.clone()),
        }
    }
}

/// Returns the edits in a content block of an answer, in order.
pub fn edits_in_answer_block(block: &ContentBlock) -> Vec<FileEdit> {
    match block {
        ContentBlock::Text { text } => edits_in_text(text),
        ContentBlock::ToolCall { input, .. } => edit_from_tool_call(input).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Parses the input of an editing tool, using the field names that such tools share: a path with either a passage and
/// its replacement, or a whole text.
fn edit_from_tool_call(input: &Value) -> Option<FileEdit> {
    let text = |names: &[&str]| names.iter().find_map(|name| input.get(name)?.as_str().map(str::to_owned));
    let path = text(&["path", "file_path", "filePath", "filename"])?;
    let old = text(&["old_string", "old_str", "oldString", "old_text"]);
    let new = text(&["new_string", "new_str", "newString", "new_text"]);
    let change = match (old, new) {
        (Some(old), Some(new)) => EditOperation::Replace { old, new },
        (None, _) => EditOperation::Text(text(&["content", "contents", "file_text"])?),
        (Some(_), None) => return None,
    };
    Some(FileEdit { path, change })
}

/// Finds unified diffs (`+++ b/path`, then hunks) and search-and-replace blocks (`path`, `<<<<<<< SEARCH`, ...).
fn edits_in_text(text: &str) -> Vec<FileEdit> {
    let mut edits = Vec::new();
    let mut lines = text.split_inclusive('\n').peekable();
    let mut last_path: Option<String> = None;
    while let Some(line) = lines.next() {
        let trimmed = line.trim_end();
        if let Some(target) = trimmed.strip_prefix("+++ ") {
            let path = target.split('\t').next().unwrap_or(target);
            let path = path.strip_prefix("b/").unwrap_or(path).to_owned();
            let mut hunks = String::new();
            while let Some(line) = lines.next_if(|line| is_hunk_line(line, hunks.is_empty())) {
                hunks.push_str(line);
            }
            if !hunks.is_empty() {
                edits.push(FileEdit { path, change: EditOperation::Hunks(hunks) });
            }
        } else if trimmed == "<<<<<<< SEARCH" {
            let mut part = |end: &str| {
                let mut part = String::new();
                for line in lines.by_ref() {
                    if line.trim_end() == end {
                        return Some(part);
                    }
                    part.push_str(line);
                }
                None
            };
            if let (Some(old), Some(new)) = (part("======="), part(">>>>>>> REPLACE"))
                && let Some(path) = last_path.clone()
            {
                edits.push(FileEdit { path, change: EditOperation::Replace { old, new } });
            }
        } else if !trimmed.starts_with("```") && !trimmed.trim().is_empty() {
            last_path = Some(trimmed.trim().trim_matches('`').to_owned());
        }
    }
    edits
}

/// Whether a line belongs to the hunks of a diff. The first hunk begins with an `@@` line.
fn is_hunk_line(line: &str, is_first: bool) -> bool {
    match line.as_bytes().first() {
        Some(b'@') => true,
        // The header of the next file looks like a removed line.
        Some(b'-') => !is_first && !line.starts_with("--- "),
        Some(b' ' | b'+' | b'\\') => !is_first,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(block: &ContentBlock, text: &str) -> Vec<(String, Option<String>)> {
        edits_in_answer_block(block)
            .into_iter()
            .map(|edit| (edit.path.clone(), edit.apply_to(text)))
            .collect()
    }

    #[test]
    fn diffs_of_several_files_are_found_in_an_answer() {
        let answer = "Two changes.\n\n```diff\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n--- a/b\n+++ b/b\n@@ \
                      -1 +1 @@\n-one\n+eins\n```\nDone.\n";
        let results = after(&ContentBlock::text(answer), "one\ntwo\n");
        assert_eq!(
            results,
            [
                ("src/a.py".to_owned(), Some("one\nzwei\n".to_owned())),
                ("b".to_owned(), Some("eins\ntwo\n".to_owned()))
            ]
        );
    }

    #[test]
    fn a_replacement_requires_a_unique_passage() {
        let answer = "src/a.py\n```python\n<<<<<<< SEARCH\ntwo\n=======\nzwei\n>>>>>>> REPLACE\n```\n";
        let block = ContentBlock::text(answer);
        assert_eq!(after(&block, "one\ntwo\n"), [("src/a.py".to_owned(), Some("one\nzwei\n".to_owned()))]);
        assert_eq!(after(&block, "two\ntwo\n"), [("src/a.py".to_owned(), None)]);
    }

    #[test]
    fn inputs_of_editing_tools_are_edits() {
        let call = |input| ContentBlock::ToolCall { id: "1".into(), name: "edit".into(), input };
        let replace = serde_json::json!({"file_path": "a", "old_string": "two", "new_string": "2"});
        assert_eq!(after(&call(replace), "one two"), [("a".to_owned(), Some("one 2".to_owned()))]);
        let write = serde_json::json!({"path": "a", "content": "new"});
        assert_eq!(after(&call(write), "old"), [("a".to_owned(), Some("new".to_owned()))]);
        assert_eq!(after(&call(serde_json::json!({"path": "a"})), "old"), []);
    }
}
