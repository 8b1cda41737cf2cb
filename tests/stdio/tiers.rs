//! What the server says about tiers, and what can be done about them.

use e2e::{Editor, Prompt, Repo};
use serde_json::{Value, json};

/// A repository with files that are large enough to be cached.
fn large() -> Repo {
    let repo = Repo::new("//- notes.txt\nRemember the milk.\n");
    for name in ["one.py", "two.py"] {
        let text: String = (0..400).map(|line| format!("def f{line}(x):\n    return x + {line}\n")).collect();
        repo.write(name, text);
    }
    repo
}

fn record(editor: &mut Editor, prompt: &Prompt, usage: Value) -> Value {
    let mut argument = json!({ "id": prompt.id(), "response": "Done." });
    if !usage.is_null() {
        argument["usage"] = usage;
    }
    editor.run("prompt.record", argument)
}

fn turn(editor: &mut Editor) {
    let prompt = editor.assemble();
    record(editor, &prompt, Value::Null);
}

fn item(report: &Value, key: &str) -> Value {
    let items = report["items"].as_array().unwrap();
    items.iter().find(|item| item["key"] == key).unwrap_or(&Value::Null).clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn the_report_says_what_stands_where() {
    let mut editor = Editor::start(&large());
    editor.select(&["one.py"]);
    let first = editor.run("tiers.report", json!({}));
    assert_eq!((&first["policy"], &first["decidedBy"]), (&json!("ledger"), &json!("model")));
    assert_eq!((&first["turns"], &first["predicted"]["read"]), (&json!(0), &json!(0)));
    turn(&mut editor);
    let report = editor.run("tiers.report", json!({}));
    let file = item(&report, "file:one.py");
    assert_eq!((&file["kept"], &file["age"]), (&json!(true), &json!(1)), "{file}");
    assert!((0.0..1.0).contains(&number(&file["hazard"])) && number(&file["tokens"]) > 1_000.0, "{file}");
    assert!(number(&report["predicted"]["read"]) > 1_000.0 && number(&report["expectedPercent"]) > 50.0);
    assert!(report["tiers"][0]["tokens"].is_u64() && file["position"].is_u64(), "{report}");

    editor.run("tiers.policy", json!({ "policy": "ripple" }));
    let file = item(&editor.run("tiers.report", json!({})), "file:one.py");
    assert_eq!((&file["n"], &file["threshold"], &file["tier"]), (&json!(0), &json!(3), &json!("active")));
}

#[test]
fn a_rebuild_states_what_it_costs_and_happens_in_the_next_prompt() {
    let mut editor = Editor::start(&large());
    editor.select(&["one.py"]);
    turn(&mut editor);
    let before = editor.assemble().0["predicted"].clone();
    let rebuilt = editor.run("tiers.rebuild", json!({}));
    assert_eq!(rebuilt["policy"], "ledger");
    assert!(number(&rebuilt["predicted"]["cost"]) > 0.0, "{rebuilt}");
    assert_eq!(item(&editor.run("tiers.report", json!({})), "file:one.py")["kept"], false);
    assert!(number(&editor.assemble().0["predicted"]["read"]) <= number(&before["read"]));
    assert_eq!(editor.run("history.count", json!({}))["messages"], 2);
}

#[test]
fn a_session_has_a_policy_of_its_own_until_it_is_taken_back() {
    let mut editor = Editor::start(&large());
    let policy = editor.run("tiers.policy", json!({}));
    assert_eq!((&policy["policy"], &policy["decidedBy"]), (&json!("ledger"), &json!("model")));
    assert_eq!((&policy["session"], &policy["setting"]), (&json!(null), &json!(null)));
    assert_eq!(policy["modelDefault"], "ledger");
    let policy = editor.run("tiers.policy", json!({ "policy": "flat" }));
    assert_eq!((&policy["policy"], &policy["decidedBy"]), (&json!("flat"), &json!("session")));
    assert_eq!(editor.assemble().0["policy"], "flat");
    editor.configure(json!({ "cache": { "policy": "ripple" } }));
    assert_eq!(editor.run("tiers.policy", json!({}))["policy"], "flat", "asking changes nothing");
    let policy = editor.run("tiers.policy", json!({ "policy": null }));
    assert_eq!((&policy["policy"], &policy["decidedBy"]), (&json!("ripple"), &json!("setting")));
    assert_eq!(editor.assemble().0["policy"], "ripple");
}

#[test]
fn a_break_is_explained_in_plain_words() {
    let mut editor = Editor::start(&large());
    let nothing = editor.run("tiers.explainBreak", json!({}));
    assert!(nothing["sentence"].as_str().unwrap().contains("No prompt has been recorded yet"), "{nothing}");
    assert_eq!(nothing["reason"], Value::Null);
    editor.select(&["one.py", "two.py"]);
    turn(&mut editor);
    assert_eq!(editor.run("tiers.explainBreak", json!({}))["reason"], "first");
    editor.run("files.deselect", json!({ "paths": ["one.py"] }));
    turn(&mut editor);
    let broke = editor.run("tiers.explainBreak", json!({}));
    assert_eq!(
        (&broke["reason"], &broke["items"], &broke["turn"]),
        (&json!("deselected"), &json!(["file:one.py"]), &json!(2))
    );
    assert!(broke["sentence"].as_str().unwrap().starts_with("Turn 2: `one.py` was deselected"), "{broke}");
    assert!(number(&broke["lost"]) > 1_000.0 && number(&broke["cost"]) > 1_000.0, "{broke}");
    assert!(broke["kept"].is_u64() && broke["rewritten"].is_u64() && broke["moved"].is_array(), "{broke}");
}

#[test]
fn the_forecast_prices_a_pause_and_another_model() {
    let mut editor = Editor::start(&large());
    editor.select(&["one.py"]);
    turn(&mut editor);
    turn(&mut editor);
    // The second prompt was written for an hour.
    let forecast = editor.run("tiers.forecast", json!({ "pauseSeconds": 400 }));
    assert_eq!(forecast["pause"]["expires"], false, "{forecast}");
    let argument = json!({ "model": "gpt-4o", "pauseSeconds": 4_000 });
    let forecast = editor.run("tiers.forecast", argument);
    assert_eq!(
        (&forecast["turns"], &forecast["ttl"], &forecast["cheaper"]),
        (&json!(2), &json!("auto"), &json!("5m"))
    );
    let marked = number(&forecast["marked"]);
    assert!(marked > 1_000.0 && number(&forecast["fiveMinutes"]["spent"]["cost"]) > marked, "{forecast}");
    let (past, pause) = (&forecast["pastTtl"], &forecast["pause"]);
    assert!(number(&past["cost"]) > marked && number(&past["share"]) > 0.5, "{forecast}");
    assert_eq!((&pause["expires"], &pause["cost"]), (&json!(true), &past["cost"]));
    assert_eq!(
        (&forecast["switch"]["model"], &forecast["switch"]["charge"]["read"]),
        (&json!("gpt-4o"), &json!(0))
    );
    assert!(number(&forecast["switch"]["cost"]) > 0.0, "{forecast}");
    let short = editor.run("tiers.forecast", json!({ "pauseSeconds": 60 }));
    assert_eq!((&short["pause"]["expires"], &short["pause"]["cost"]), (&json!(false), &json!(0.0)));
    assert_eq!(short["switch"], Value::Null);
}

#[test]
fn usage_corrects_what_is_believed_of_the_cache() {
    let mut editor = Editor::start(&large());
    editor.select(&["one.py"]);
    turn(&mut editor);
    let prompt = editor.assemble();
    let (expected, wrote) = (number(&prompt.0["predicted"]["read"]), prompt.tokens());
    assert!(expected > 1_000.0);
    let usage = json!({ "input": wrote, "output": 2, "cacheRead": 0, "cacheWrite": 0 });
    let recorded = record(&mut editor, &prompt, usage);
    assert!(recorded["warnings"][0].as_str().unwrap().contains("read 0 tokens from its cache"), "{recorded}");
    let broke = editor.run("tiers.explainBreak", json!({}));
    assert_eq!(
        (&broke["missed"]["expected"], &broke["missed"]["reported"]),
        (&json!(expected as u64), &json!(0))
    );
    assert!(broke["sentence"].as_str().unwrap().contains("The provider read 0 tokens"), "{broke}");
    let next = editor.assemble();
    assert!(number(&next.0["predicted"]["read"]) <= wrote as f64, "{}", next.0["predicted"]);
    let report = editor.run("budget.report", json!({}));
    assert_eq!(report["totals"]["cost"], json!(wrote as f64));
}

#[test]
fn the_meter_says_until_when_how_much_is_cached() {
    let mut editor = Editor::start(&large());
    editor.select(&["one.py"]);
    let before = editor.server.wait_for("strata/status", |status| number(&status["tokens"]) > 1_000.0);
    assert_eq!((&before["cachedTokens"], &before["cacheExpiresMs"]), (&Value::Null, &Value::Null));
    turn(&mut editor);
    let status = editor.server.wait_for("strata/status", |status| status["cachedTokens"].is_u64());
    assert!(number(&status["cachedTokens"]) > 1_000.0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as f64;
    let left = number(&status["cacheExpiresMs"]) - now;
    assert!((0.0..=300_000.0).contains(&left), "{left} ms");
}

#[test]
fn a_preview_is_the_request_that_would_be_sent() {
    let mut editor = Editor::start(&large());
    editor.select(&["one.py", "two.py"]);
    turn(&mut editor);
    editor.select(&["notes.txt"]);
    editor.open("two.py");
    editor.replace("two.py", "return x + 399", "return x");
    for format in ["anthropic", "openai"] {
        let asked = json!({ "prompt": "And now?", "format": format, "dryRun": true });
        let would_be = editor.assemble_with(asked.clone());
        let preview = editor.run("prompt.preview", asked.clone());
        assert_eq!(preview["stateVersion"], would_be.0["stateVersion"]);
        assert_eq!(editor.assemble_with(asked), would_be, "reading changes nothing");

        assert_eq!(preview["tokens"], would_be.0["tokens"]["total"]);
        let parts = preview["parts"].as_array().unwrap();
        let mut prefix = 0;
        let mut marks = Vec::new();
        for part in parts {
            prefix += part["tokens"].as_u64().unwrap();
            if part["marked"] == true {
                marks.push(json!({ "tier": part["tier"], "prefixTokens": prefix }));
            }
        }
        assert_eq!(json!(marks), would_be.0["breakpoints"], "{format}");
        let titles: Vec<&str> = parts.iter().map(|part| part["title"].as_str().unwrap()).collect();
        let at = |wanted: &str| titles.iter().position(|title| *title == wanted).unwrap();
        let read = would_be.text();
        let place = |needle: &str| read.find(needle).unwrap();
        let order = [
            ("one.py", "## `one.py`"),
            ("notes.txt", "## `notes.txt`"),
            ("User: What is this?", "What is this?"),
        ];
        for ((one, first), (other, second)) in order.into_iter().zip(order.into_iter().skip(1)) {
            assert_eq!(at(one) < at(other), place(first) < place(second), "{format}: {titles:?}");
        }
        // What was sent in the other form is cached for no one.
        let kept = titles.contains(&"Update of two.py");
        assert_eq!(kept, format == "anthropic", "what was sent stays: {titles:?}");

        let lines: Vec<&str> = preview["text"].as_str().unwrap().lines().collect();
        let file = &parts[at("one.py")];
        let (first, count) = (number(&file["line"]) as usize, number(&file["lines"]) as usize);
        let shown = lines[first..first + count].join("\n");
        assert!(shown.contains("## `one.py`") && shown.contains("def f399(x):"), "{shown}");
        let last = parts.last().unwrap();
        assert_eq!(number(&last["line"]) + number(&last["lines"]), lines.len() as f64);
    }
}

#[test]
fn the_report_names_its_items_for_people() {
    let mut editor = Editor::start(&large());
    editor.select(&["one.py", "notes.txt#L1"]);
    editor.run("history.addExchange", json!({ "user": "Why does\nit fail?", "assistant": "Because." }));
    let report = editor.run("tiers.report", json!({}));
    let listing = editor.run("files.list", json!({}));
    let whole = item(&report, "file:one.py");
    assert_eq!(
        [&whole["title"], &whole["path"], &whole["state"], &whole["lines"]],
        [&json!("one.py"), &json!("one.py"), &json!("selected"), &Value::Null]
    );
    assert_eq!(whole["uri"], listing["files"][1]["uri"]);
    assert!(whole["uri"].as_str().unwrap().ends_with("/one.py"), "{whole}");
    let line = item(&report, "file:notes.txt#L1");
    assert_eq!(
        [&line["path"], &line["lines"], &line["uri"]],
        [&json!("notes.txt"), &json!(["L1"]), &listing["files"][0]["uri"]]
    );
    let outline = item(&report, "symbol:two.py");
    assert_eq!([&outline["path"], &outline["state"]], [&json!("two.py"), &json!("deselected")]);
    let said = item(&report, "history:0");
    assert_eq!([&said["title"], &said["path"]], [&json!("User: Why does it fail?"), &Value::Null]);
}
