//! `--session editor`: agents and the command line use the conversation that an editor shows.

use e2e::{Editor, Setup, Shell};
use serde_json::json;

use super::editor;
use crate::small;

fn selected(agent: &mut e2e::Agent) -> Vec<String> {
    let reply = agent.call("files_list", json!({}))["structuredContent"].take();
    let files = reply["files"].as_array().unwrap_or_else(|| panic!("{reply}")).clone();
    let files = files.iter().filter(|file| file["state"] == "selected");
    files.map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_agent_shares_the_selection_of_the_conversation_in_the_editor() {
    let repo = small();
    let shell = Shell::new(&repo);
    let mut agent = shell.agent_with(&["--session", "editor"]);
    assert_eq!(selected(&mut agent), [""; 0], "no editor");

    let mut editor = editor(&repo, &shell);
    editor.select(&["notes.txt"]);
    assert_eq!(selected(&mut agent), ["notes.txt"]);
    editor.run("files.set", json!({ "paths": ["src/greet.rs"] }));
    assert_eq!(selected(&mut agent), ["src/greet.rs"]);
    let refused = agent.text("files_select", json!({ "paths": ["notes.txt"] }));
    assert!(refused.contains("ask the user"), "{refused}");

    // Another conversation becomes the newest, but the editor does not show it.
    let other = shell.run(&["prompt", "--session", "new", "--select", "tool.py", "What?"], "");
    assert!(other.is_success, "{other:?}");
    assert_eq!(selected(&mut agent), ["src/greet.rs"]);

    editor.run("session.new", json!({}));
    editor.select(&["tool.py", "notes.txt"]);
    assert_eq!(selected(&mut agent).len(), 2, "another conversation in the editor");
    editor.quit();
    assert_eq!(selected(&mut agent), [""; 0], "the editor has ended");
    agent.end();
}

#[test]
fn an_editor_on_another_folder_shares_no_conversation() {
    let repo = small();
    let shell = Shell::new(&repo);
    let below = repo.folder("src");
    let mut editor: Editor = Setup::new(&below).state(shell.state()).start();
    editor.select(&["greet.rs"]);
    let mut agent = shell.agent_with(&["--session", "editor"]);
    assert_eq!(selected(&mut agent), [""; 0]);
    agent.end();
}

#[test]
fn the_command_line_shows_the_conversation_in_the_editor() {
    let repo = small();
    let shell = Shell::new(&repo);
    let none = shell.run(&["sessions", "show", "editor"], "");
    assert!(!none.is_success && none.err.contains("no editor shows a stored session"), "{none:?}");
    let mut editor = editor(&repo, &shell);
    editor.run("history.addExchange", json!({ "user": "Why so slow?", "assistant": "It waits." }));
    let shown = shell.run(&["sessions", "show", "editor"], "");
    assert!(shown.out.contains("Why so slow?"), "{shown:?}");
    let refused = shell.run(&["prompt", "--session", "editor", "And now?"], "");
    assert!(!refused.is_success && refused.err.contains("is open in an editor"), "{refused:?}");
    editor.quit();
}
