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
    assert!(nothing["sentence"].as_str().unwrap().contains("No prompt was recorded yet"), "{nothing}");
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
    let argument = json!({ "model": "gpt-4o", "pauseSeconds": 400 });
    let forecast = editor.run("tiers.forecast", argument);
    assert_eq!(
        (&forecast["turns"], &forecast["ttl"], &forecast["cheaper"]),
        (&json!(2), &json!("5m"), &json!("5m"))
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
