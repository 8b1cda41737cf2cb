//! The same state gives the same bytes in every process: a stored session with its repository and an open buffer, assembled by fresh
//! servers in which everything differs that must not matter. `STRATA_LONG=1` starts 1,000 of them.

#![expect(clippy::print_stderr, reason = "figures of a run")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use e2e::{Editor, Repo, Setup, is_long};
use serde_json::{Value, json};

const FORMATS: [&str; 2] = ["anthropic", "openai"];
const POLICIES: [&str; 3] = ["ledger", "ripple", "flat"];

/// How many processes there are.
fn processes() -> usize {
    if is_long() { 1_000 } else { 20 }
}

/// Files that refer to each other, so that there is much that could change places.
fn repository() -> Repo {
    let repo = Repo::new(
        "
        //- AGENTS.md
        Answer briefly.
        //- README.md
        # Meals
        ",
    );
    for number in 0..60 {
        let mut text = String::new();
        for other in [number * 7 + 1, number * 11 + 3, number * 13 + 5] {
            let other = other % 60;
            let _ = writeln!(text, "from kitchen{}.dish{other} import cook{other}, Dish{other}", other % 5);
        }
        let _ = writeln!(
            text,
            "\nclass Dish{number}:\n    def serve(self):\n        return cook{}()\n",
            number % 7
        );
        let _ = writeln!(text, "def cook{number}():\n    return Dish{number}()");
        repo.write(&format!("kitchen{}/dish{number}.py", number % 5), text);
    }
    repo
}

/// A session with something of everything, and its name.
fn session(repo: &Repo, state: &Path) -> Value {
    let mut editor = Setup::new(repo).state(state).start();
    editor.select(&["kitchen0/dish0.py", "kitchen1", "kitchen2/dish2.py#L1-4"]);
    editor.run("files.exclude", json!({ "paths": ["README.md"] }));
    editor.run("files.markRead", json!({ "paths": ["kitchen3/dish3.py", "kitchen4/dish4.py"] }));
    editor.run("url.add", json!({ "url": "https://example.org/soup", "content": "Boil water." }));
    editor.run("memory.add", json!({ "text": "Ada eats no fish." }));
    let long = "why and because ".repeat(100);
    for _ in 0..8 {
        editor.run("history.addExchange", json!({ "user": long, "assistant": long }));
    }
    editor.run("compaction.run", json!({ "profile": "checkpoint" }));
    for number in 0..3 {
        let input = json!({ "path": format!("kitchen{number}/dish{number}.py") });
        let call = json!({ "type": "tool_call", "id": format!("call-{number}"), "name": "read_file", "input": input });
        editor.run("history.add", json!({ "role": "assistant", "content": [call] }));
        editor.run(
            "toolOutput.add",
            json!({ "content": "def cook(): ...", "callId": format!("call-{number}") }),
        );
    }
    for number in 0..3 {
        let prompt = editor.assemble_with(json!({ "prompt": format!("Cook dish {number}.") }));
        editor.run("prompt.record", json!({ "id": prompt.id(), "response": "It is cooked." }));
    }
    editor.run("server.status", json!({}))["session"].clone()
}

/// All request bodies that a fresh server makes of the session.
fn bodies(editor: &mut Editor) -> Vec<String> {
    editor.open("kitchen3/dish3.py");
    editor.type_behind("kitchen3/dish3.py", "class Dish3:\n", "    name = 'naïve 🦀'\r\n");
    let mut bodies = Vec::new();
    for format in FORMATS {
        for policy in POLICIES {
            let ask = json!({ "prompt": "And dish 3?", "format": format, "policy": policy, "dryRun": true });
            bodies.push(editor.assemble_with(ask).bytes());
        }
    }
    bodies
}

/// What differs from process to process: who runs it, in which language and time zone, and where things lie in memory.
fn surroundings(number: usize, warm: &Path, cold: &Path) -> Vec<(String, String)> {
    let zones = ["UTC", "Asia/Kathmandu", "America/St_Johns", ":/nowhere"];
    let languages = ["C", "de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.eucJP"];
    let cache = if number.is_multiple_of(2) { warm } else { cold };
    let mut variables = vec![
        ("HOME".to_owned(), format!("/home/u/{number}")),
        ("TZ".to_owned(), zones[number % zones.len()].to_owned()),
        ("LANG".to_owned(), languages[number / 4 % languages.len()].to_owned()),
        ("LC_ALL".to_owned(), languages[number / 2 % languages.len()].to_owned()),
        ("STRATA_CACHE_DIR".to_owned(), cache.display().to_string()),
    ];
    variables
        .extend((0..number % 9).map(|more| (format!("ANYTHING_{more}"), "x".repeat(number * 37 % 4_096))));
    variables
}

#[test]
fn a_fresh_process_makes_the_same_bytes() {
    let (repo, state) = (repository(), tempfile::tempdir().unwrap());
    let session = session(&repo, state.path());
    let mut seen: Vec<BTreeSet<String>> = vec![BTreeSet::new(); FORMATS.len() * POLICIES.len()];
    for number in 0..processes() {
        let cold = tempfile::tempdir().unwrap();
        let mut setup = Setup::new(&repo).state(state.path()).options(json!({ "resume": session }));
        for (name, value) in surroundings(number, &state.path().join("cache"), cold.path()) {
            setup = setup.variable(&name, &value);
        }
        let mut editor = setup.start();
        assert_eq!(editor.run("server.status", json!({}))["session"], session, "it goes on with the session");
        for (seen, body) in seen.iter_mut().zip(bodies(&mut editor)) {
            seen.insert(body);
        }
    }
    let sizes: Vec<usize> = seen.iter().filter_map(|bodies| bodies.first().map(String::len)).collect();
    let kinds: Vec<usize> = seen.iter().map(BTreeSet::len).collect();
    eprintln!(
        "{} processes, {} requests of {sizes:?} bytes each, different ones: {kinds:?}",
        processes(),
        seen.len()
    );
    for bodies in &seen {
        let mut bodies = bodies.iter();
        assert_eq!((bodies.next().map(|_| ()), bodies.next()), (Some(()), None), "two processes differ");
    }
}
