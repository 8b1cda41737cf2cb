//! Tests of the conversion of recorded sessions to conversations.

use expect_test::{Expect, expect};

use super::*;
use crate::transcript::parse;

fn line(role: &str, time: u32, content: Value) -> Value {
    json!({"type": role, "cwd": "/home/me/shop", "timestamp": format!("1970-01-01T00:00:{time:02}Z"),
           "message": {"role": role, "id": format!("m{time}"), "model": "claude", "content": content}})
}

fn uses(id: &str, name: &str, input: Value) -> Value {
    json!([{"type": "tool_use", "id": id, "name": name, "input": input}])
}

fn gave(id: &str) -> Value {
    json!([{"type": "tool_result", "tool_use_id": id, "content": "out"}])
}

fn check(lines: &[Value], expected: &Expect) {
    let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let mut rendered = String::new();
    for message in parse(&text.join("\n")).messages() {
        let seconds = message.time_ms.map_or("-".into(), |time| (time / 1_000).to_string());
        let blocks: Vec<String> = message
            .content
            .iter()
            .map(|block| match block {
                ContentBlock::Text { text } => text.clone(),
                ContentBlock::ToolCall { id, .. } => format!("call {id}"),
                ContentBlock::ToolResult { call_id, .. } => format!("result {call_id}"),
                other => format!("{other:?}"),
            })
            .collect();
        let NewMessage { role, kind, agent, files_mentioned, files_modified, .. } = message;
        rendered += &format!("{seconds} {agent:?} {role:?} {kind:?}: {}", blocks.join(", "));
        rendered += &files_mentioned.iter().map(|file| format!(" ?{}", file.as_str())).collect::<String>();
        rendered += &files_modified.iter().map(|file| format!(" !{}", file.as_str())).collect::<String>();
        rendered += "\n";
    }
    expected.assert_eq(&rendered);
}

#[test]
fn results_times_and_files_are_kept() {
    check(
        &[
            line("user", 1, json!("Fix it.")),
            line("assistant", 2, uses("a", "Read", json!({"file_path": "/home/me/shop/src/a.rs"}))),
            line("user", 3, gave("a")),
            line("assistant", 4, uses("b", "Edit", json!({"file_path": "/home/me/shop/src/a.rs"}))),
            line("user", 5, gave("b")),
            line("user", 6, json!("And this.")),
            line("assistant", 7, uses("c", "Write", json!({"file_path": "/home/me/shopping.txt"}))),
            line("user", 8, gave("c")),
        ],
        &expect![[r#"
            1 Shown User Normal: Fix it.
            2 Shown Assistant Normal: call a ?src/a.rs
            3 Shown User ToolResult: result a
            4 Shown Assistant Normal: call b !src/a.rs
            6 Shown User ToolResult: result b
            6 Shown User Normal: And this.
            7 Shown Assistant Normal: call c !/home/me/shopping.txt
            8 Shown User ToolResult: result c
        "#]],
    );
}

#[test]
fn messages_before_a_recorded_compaction_are_hidden_and_its_summary_is_a_summary() {
    let boundary = json!({"type": "system", "subtype": "compact_boundary"});
    check(
        &[
            line("user", 1, json!("Hello.")),
            line("assistant", 2, json!("Hi.")),
            line("user", 3, json!("Lost.")),
            boundary.clone(),
            line("user", 4, json!("Summary one.")),
            line("user", 5, json!("Go on.")),
            line("assistant", 6, json!("On.")),
            boundary,
            line("user", 7, json!("Summary two.")),
        ],
        &expect![[r#"
            1 Hidden User Normal: Hello.
            2 Hidden Assistant Normal: Hi.
            5 Hidden User Normal: Lost.
            5 Hidden User Summary: Summary one.
            5 Hidden User Normal: Go on.
            6 Hidden Assistant Normal: On.
            7 Shown User Summary: Summary two.
        "#]],
    );
}

#[test]
fn paths_are_relative_to_the_working_directory() {
    let edit = |path: &str| uses("a", "Edit", json!({"file_path": path}));
    check(
        &[
            line("user", 1, json!("Fix it.")),
            line("assistant", 2, edit("/home/me/shop")),
            line("assistant", 3, edit("./b.rs")),
            line("assistant", 4, edit("c.rs")),
            line("assistant", 5, edit("\\home\\me\\shop\\d.rs")),
            line("assistant", 6, uses("a", "Bash", json!({"command": "ls"}))),
        ],
        &expect![[r#"
            1 Shown User Normal: Fix it.
            2 Shown Assistant Normal: call a
            3 Shown Assistant Normal: call a !b.rs
            4 Shown Assistant Normal: call a !c.rs
            5 Shown Assistant Normal: call a !d.rs
            6 Shown Assistant Normal: call a
        "#]],
    );
}
