//! The language server, the server for agents and the workspace of the command line are front ends of the same commands:
//! what one answers, the others answer.

use std::ffi::OsStr;

use e2e::{Editor, Repo, Rng, Setup, Shell};
use serde_json::{Value, json};
use strata_app::jobs::tools::TOOLS;
use strata_app::runtime::headless::{HeadlessWorkspace, Settings};

use crate::small;

/// A command without its prefix `strata.`, with its argument.
type Call = (&'static str, Value);

/// Calls of tools, some of which fail.
const TOOL_CALLS: usize = 150;
/// Commands of a conversation, some of which fail.
const CONVERSATION_CALLS: usize = 120;

fn run_headless(workspace: &mut HeadlessWorkspace, (command, argument): &Call) -> Result<Value, String> {
    let reply = workspace.run(&format!("strata.{command}"), argument.clone());
    // Reading a number may change its last digit.
    reply.map(|reply| serde_json::from_str(&reply.to_string()).unwrap()).map_err(|error| error.to_string())
}

fn run_in_editor(editor: &mut Editor, (command, argument): &Call) -> Result<Value, String> {
    editor.try_run(command, argument.clone()).map_err(|error| error.message)
}

fn open_indexed(repo: &Repo, settings: Settings) -> HeadlessWorkspace {
    let mut workspace = HeadlessWorkspace::open(repo.root(), settings).unwrap();
    workspace.index(|_| ()).unwrap();
    workspace
}

/// Removes fields with these names, however deep.
fn remove_fields(value: &mut Value, names: &[&str]) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !names.contains(&&**name));
            fields.values_mut().for_each(|value| remove_fields(value, names));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| remove_fields(value, names)),
        _ => {}
    }
}

/// Draws calls that tools can make. What is excluded is included again at once, because tools withhold excluded files and
/// editors show them.
fn tool_calls(rng: &mut Rng) -> Vec<Call> {
    let call = tool_call(rng);
    let inclusion = (call.0 == "files.exclude").then(|| ("files.include", call.1.clone()));
    [call].into_iter().chain(inclusion).collect()
}

fn tool_call(rng: &mut Rng) -> Call {
    let path = rng.one_of(&[
        "src/lib.rs",
        "src/greet.rs",
        "src/greet.rs#L1-2",
        "src/lib.rs#add",
        "tool.py",
        "tool.py#Tool.run",
        "src",
        "**/*.py",
        "notes.txt",
        "nowhere.rs",
        "../outside",
        "",
    ]);
    let name = rng.one_of(&["add", "greet", "Tool", "Tool.run", "run", "nothing"]);
    let text = rng.one_of(&["Who greets?", "What is the speed of Tool.run?", "fn", "milk", "", "("]);
    match rng.below(16) {
        0 => ("symbols.relevant", json!({ "text": text })),
        1 => ("symbols.find", json!({ "query": name })),
        2 => ("symbols.file", json!({ "path": path })),
        3 => ("symbols.references", json!({ "name": name })),
        4 => ("symbols.dependents", json!({ "path": path })),
        5 => ("files.find", json!({ "query": name })),
        6 => ("files.read", json!({ "path": path })),
        7 => ("files.grep", json!({ "pattern": text })),
        8 => ("files.list", json!({})),
        9 | 10 => ("files.select", json!({ "paths": [path] })),
        11 => ("files.deselect", json!({ "paths": [path] })),
        12 => ("files.exclude", json!({ "paths": [path] })),
        13 => ("files.include", json!({ "paths": [path] })),
        14 => ("prompt.estimate", json!({ "text": text, "model": "gpt-4o" })),
        // A value of the wrong type.
        _ => ("files.read", json!({ "path": [text] })),
    }
}

/// Three front ends make the same calls: their replies and errors are equal, and so is the selection at the end.
#[test]
fn tools_answer_as_commands_do() {
    let repo = small();
    let shell = Shell::new(&repo);
    let (mut editor, mut agent, mut workspace) =
        (Editor::start(&repo), shell.agent(), open_indexed(&repo, Settings::default()));
    let mut rng = Rng::new(46);
    let mut failed = 0;
    let calls = (0..TOOL_CALLS).flat_map(|_| tool_calls(&mut rng)).chain([("files.list", json!({}))]);
    for call in calls {
        let mut replies = [run_in_editor(&mut editor, &call), run_headless(&mut workspace, &call)];
        assert_eq!(replies[0], replies[1], "{call:?}");
        let name = format!("strata.{}", call.0);
        let tool = TOOLS.iter().find(|tool| tool.command == name).unwrap();
        let mut result = agent.call(tool.name, call.1.clone());
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        let by_agent =
            if result["isError"] == true { Err(text) } else { Ok(result["structuredContent"].take()) };
        match (&mut replies[0], by_agent) {
            (Ok(reply), Ok(mut by_agent)) => {
                // Only editors need these.
                remove_fields(reply, &["uri", "stateVersion"]);
                remove_fields(&mut by_agent, &["freshness"]);
                assert_eq!(*reply, by_agent, "{call:?}");
            }
            (reply, by_agent) => assert_eq!(*reply, by_agent, "{call:?}"),
        }
        failed += usize::from(replies[0].is_err());
    }
    assert!((TOOL_CALLS / 10..TOOL_CALLS / 2).contains(&failed), "{failed} calls failed");
}

/// Draws a command of a conversation.
fn conversation_call(rng: &mut Rng, at: usize) -> Call {
    let role = rng.one_of(&["user", "assistant", "nobody"]);
    match rng.below(8) {
        0 => ("history.add", json!({ "role": role, "content": format!("Message {at}.") })),
        1 => ("files.select", json!({ "paths": [rng.one_of(&["tool.py", "src", "nowhere"])] })),
        2 => ("compaction.run", json!({})),
        3 => ("compaction.undo", json!({})),
        4 => ("compaction.status", json!({})),
        5 => ("history.get", json!({})),
        6 => ("history.truncate", json!({ "from": rng.below(90) })),
        _ => ("tiers.report", json!({})),
    }
}

/// Returns the commands of a turn whose model calls a tool, without the ids of the prompts to record.
fn turn(at: usize) -> [Call; 4] {
    let id = format!("c{at}");
    let tool_call =
        json!([{ "type": "tool_call", "id": id, "name": "read_file", "input": { "path": "tool.py" } }]);
    let result = json!([{ "callId": id, "content": "A line.\n".repeat(100) }]);
    [
        (
            "prompt.assemble",
            json!({ "prompt": format!("What does Tool do? ({at})"), "model": "claude-sonnet-4-5" }),
        ),
        ("prompt.record", json!({ "response": tool_call })),
        ("prompt.assemble", json!({ "toolResults": result, "model": "claude-sonnet-4-5" })),
        ("prompt.record", json!({ "response": format!("It runs. ({at})") })),
    ]
}

/// The main loop runs the jobs of a command beside other commands, and the workspace of the command line runs them at
/// once: replies and conversations are equal. Conversations are compacted after six turns, and old results archived.
#[test]
fn conversations_are_equal_with_and_without_a_main_loop() {
    let repo = small();
    let settings = json!({
        "compaction": { "profile": "checkpoint", "profiles": { "checkpoint": { "reserve_tokens": 1_000_000, "max_tokens": 0, "max_messages": 24 } } },
        "tool_output": { "cutoff": 2, "ageing": "eager", "summary": "heuristic" },
        "model": "claude-sonnet-4-5",
    });
    // The command line names a repository by its folder.
    let name = repo.root().file_name().and_then(OsStr::to_str).unwrap();
    let mut editor = Setup::with_folders(&[(name, &repo)]).settings(settings.clone()).start();
    let mut workspace = open_indexed(&repo, serde_json::from_value(settings).unwrap());
    let mut rng = Rng::new(46);
    let (mut failed, mut compacted, mut prompts, mut last) = (0, 0, [Value::Null, Value::Null], Value::Null);
    for at in 0..CONVERSATION_CALLS {
        let calls = if rng.once_in(3) { turn(at).to_vec() } else { vec![conversation_call(&mut rng, at)] };
        for (command, argument) in calls {
            let call_for = |prompt: &Value| {
                let mut argument = argument.clone();
                if command == "prompt.record" {
                    argument["id"] = prompt.clone();
                }
                (command, argument)
            };
            let mut replies = [
                run_in_editor(&mut editor, &call_for(&prompts[0])),
                run_headless(&mut workspace, &call_for(&prompts[1])),
            ];
            editor.wait_until("no compaction is running", |editor| {
                editor.run("compaction.status", json!({}))["running"] == false
            });
            for (reply, prompt) in replies.iter_mut().zip(&mut prompts) {
                let Ok(reply) = reply else { continue };
                if command == "prompt.assemble" {
                    *prompt = reply["id"].clone();
                }
                remove_fields(reply, &["id", "session", "timeMs", "cacheExpiresMs"]);
            }
            let [by_editor, by_workspace] = &replies;
            assert_eq!(by_editor, by_workspace, "{at}: {command} {argument}");
            failed += usize::from(by_editor.is_err());
            let now = run_headless(&mut workspace, &("compaction.status", json!({}))).unwrap()["last"].take();
            compacted += usize::from(command == "prompt.record" && now != last);
            last = now;
        }
    }
    assert!(failed > 3 && compacted > 3, "{failed} commands failed, {compacted} turns led to a compaction");
}
