//! What reported usage teaches, and counts by the client: asked when they matter, waited for by no one else.

use e2e::{Editor, Setup};
use serde_json::{Value, json};

use super::small;

const COUNT: &str = "strata/countTokens";

/// A window that the conversation does not fit, where nothing is compacted for it.
fn small_window() -> Value {
    json!({ "compaction": { "auto": false }, "model": "mine", "models": { "model": { "mine": {
        "family": "gpt", "max_input": 6_000, "max_output": 300, "tokenizer": { "o200k_times": 1.2 },
    } } } })
}

fn counting(settings: Value) -> Editor {
    let setup = Setup::new(&small()).settings(settings.clone());
    setup.options(json!({ "requests": [COUNT], "settings": settings })).start()
}

fn talk(editor: &mut Editor, exchanges: usize) {
    for n in 0..exchanges {
        let said = format!("number {n} {}", "and so on ".repeat(100));
        editor.run("history.addExchange", json!({ "user": said, "assistant": said }));
    }
}

fn report(editor: &mut Editor) -> Value {
    editor.run("budget.report", json!({}))
}

#[test]
fn usage_teaches_and_a_new_session_knows_it() {
    let mut editor = Editor::start(&small());
    for turn in 0..6 {
        let prompt =
            editor.assemble_with(json!({ "prompt": format!("{turn} {}", "tell me more ".repeat(300)) }));
        let reply = &prompt.0;
        let billed = reply["tokens"]["total"].as_u64().unwrap() * 3 / 2;
        let usage = json!({ "input": billed, "output": 10 });
        editor.run("prompt.record", json!({ "id": reply["id"], "response": "Well.", "usage": usage }));
    }
    let taught = report(&mut editor);
    let factor = taught["calibration"]["factor"].as_f64().unwrap();
    assert!(factor > 1.2, "{taught}");
    assert!(taught["expected"]["tokens"].as_u64() > taught["used"].as_u64(), "{taught}");
    editor.run("session.new", json!({}));
    editor.assemble_with(json!({ "prompt": "anew" }));
    let inherited = report(&mut editor);
    assert_eq!(inherited["calibration"]["factor"], taught["calibration"]["factor"], "{inherited}");
}

#[test]
fn a_prompt_that_may_not_fit_is_counted_by_the_client_and_rebuilt() {
    let mut editor = counting(small_window());
    talk(&mut editor, 10);
    let sessions = editor.run("session.list", json!({}))["sessions"].as_array().unwrap().clone();
    let this = sessions.iter().find(|session| session["current"] == true).unwrap()["id"].clone();
    editor.run("session.new", json!({}));
    editor.server.hold(COUNT);
    let asked = editor.ask("prompt.assemble", json!({ "session": this, "prompt": "and now?" }));
    editor.server.wait_until_held(COUNT);
    editor.run("server.status", json!({}));
    let question = editor.server.asked(COUNT)[0].clone();
    assert_eq!((&question["model"], &question["format"]), (&json!("mine"), &json!("openai")), "{question}");
    let first = question["body"]["messages"].as_array().unwrap().len();
    editor.server.release(COUNT, json!({ "inputTokens": 9_000 }));
    let reply = editor.server.answer(asked).unwrap();
    assert!(reply["body"]["messages"].as_array().unwrap().len() < first, "{reply}");
    assert!(reply["tokens"]["limit"].as_u64() < reply["tokens"]["room"].as_u64(), "{reply}");
}

#[test]
fn what_a_compaction_leaves_is_counted() {
    let mut editor = counting(json!({}));
    editor.server.answer_with(COUNT, json!({ "inputTokens": 7_654 }));
    talk(&mut editor, 20);
    editor.run("compaction.run", json!({}));
    let mut taught = Value::Null;
    for _ in 0..600 {
        taught = report(&mut editor);
        if taught["calibration"]["reports"] == 1 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(taught["expected"]["tokens"], 7_654, "{taught}");
}

#[test]
fn the_first_prompt_after_a_compaction_before_it_is_counted() {
    let mut editor = counting(json!({ "compaction": { "profile": "continuation" } }));
    editor.server.answer_with(COUNT, json!({ "inputTokens": 7_654 }));
    talk(&mut editor, 14);
    let prompt = editor.assemble_with(json!({ "prompt": "and now?" })).0;
    editor.server.wait_for("strata/compaction", |news| news["state"] == "ended");
    let asked = editor.server.asked(COUNT);
    assert_eq!(asked.len(), 1, "once");
    assert!(asked[0]["body"].to_string().contains("and now?"), "{}", asked[0]);
    assert_eq!(prompt["tokens"]["expected"]["tokens"], 7_654, "{}", prompt["tokens"]);
    editor.run("prompt.record", json!({ "id": prompt["id"], "response": "Well." }));
    editor.assemble_with(json!({ "prompt": "and then?" }));
    assert_eq!(editor.server.asked(COUNT).len(), 1, "and not again");
}

#[test]
fn without_an_answer_the_estimate_stands_and_a_cancelled_prompt_waits_no_longer() {
    let mut editor = counting(small_window());
    talk(&mut editor, 10);
    editor.server.answer_with(COUNT, json!("many"));
    let reply = editor.assemble_with(json!({ "prompt": "and now?" })).0;
    assert_eq!(
        (&reply["tokens"]["limit"], &reply["tokens"]["room"]),
        (&json!(4_956), &json!(5_700)),
        "{reply}"
    );
    editor.server.hold(COUNT);
    let asked = editor.ask("prompt.assemble", json!({ "prompt": "and now?" }));
    editor.server.wait_until_held(COUNT);
    editor.server.cancel(asked);
    assert!(editor.server.answer(asked).is_err());
    editor.server.release(COUNT, json!(1_000));
    assert_eq!(editor.run("history.count", json!({}))["messages"], 20);
}
