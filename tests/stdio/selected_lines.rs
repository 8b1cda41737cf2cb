//! Selected lines are the lines that were selected, not line numbers.

use e2e::{Editor, Setup};
use serde_json::json;

use crate::small;

const TOOL: &str = "tool.py";
const SLOW: &str = "        return \"slow\"\n";

fn lines(editor: &mut Editor) -> String {
    editor.run("files.list", json!({}))["files"][0]["lines"].to_string()
}

#[test]
fn selected_lines_follow_edits_above_them() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    editor.open(TOOL);
    editor.select(&["tool.py#L3"]);
    assert_eq!(editor.assemble().full_text(TOOL).as_deref(), Some(SLOW));
    editor.change(TOOL, |document| vec![document.edit(0..0, "# A comment.\n# Another one.\n")]);
    let prompt = editor.assemble();
    assert_eq!((prompt.full_text(TOOL).as_deref(), prompt.count("## `tool.py` L5")), (Some(SLOW), 1));
    assert_eq!(lines(&mut editor), "[\"L5\"]");
    // The same on disk, where many lines change at once.
    let text = editor.text(TOOL);
    editor.close(TOOL);
    repo.write(TOOL, format!("{}{text}", "import os\n".repeat(50)));
    assert_eq!(editor.assemble().full_text(TOOL).as_deref(), Some(SLOW));
    assert_eq!(lines(&mut editor), "[\"L55\"]");
}

#[test]
fn lines_that_are_gone_are_missing_until_they_are_back() {
    let repo = small();
    let mut editor = Editor::start(&repo);
    editor.open(TOOL);
    editor.select(&["tool.py#L2-3"]);
    let before = editor.text(TOOL);
    editor.change(TOOL, |document| vec![document.replace_all("entirely\ndifferent\n")]);
    let prompt = editor.assemble();
    assert_eq!((prompt.full_text(TOOL), prompt.warnings()), (None, vec![("lines_missing", TOOL)]));
    editor.change(TOOL, |document| vec![document.replace_all(&before)]);
    let prompt = editor.assemble();
    assert!(prompt.full_text(TOOL).unwrap().ends_with(SLOW), "undone");
    assert_eq!(prompt.warnings(), []);
}

#[test]
fn a_range_beyond_the_end_is_said() {
    let mut editor = Editor::start(&small());
    let refused = editor.refused("files.select", json!({ "paths": ["tool.py#L4-9"] }));
    assert!(refused.message.contains("`tool.py` has 3 lines"), "{refused}");
    let selected = editor.run("files.select", json!({ "paths": ["tool.py#L2-9"] }));
    assert_eq!(selected["notes"], json!(["`tool.py` has 3 lines, so L2-3 is selected instead of L2-9"]));
    assert_eq!(lines(&mut editor), "[\"L2-3\"]");
}

#[test]
fn the_session_keeps_where_its_lines_were() {
    let repo = small();
    let state = tempfile::tempdir().unwrap();
    let setup = Setup::new(&repo).state(state.path());
    let mut editor = setup.start();
    editor.select(&["tool.py#L3"]);
    let session = editor.run("server.status", json!({}))["session"].clone();
    editor.quit();
    repo.write(TOOL, format!("# Above.\n{}", repo.read(TOOL)));
    let mut editor = setup.options(json!({ "resume": session })).start();
    assert_eq!(editor.assemble().full_text(TOOL).as_deref(), Some(SLOW));
}
