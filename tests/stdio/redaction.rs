//! Secrets in whatever a model, a log or a file of the state could get to see: credentials are planted everywhere, and none
//! comes out.

use std::fs;
use std::path::Path;

use e2e::credentials::{Planted, planted, word};
use e2e::{Editor, Prompt, Repo, Rng, Setup};
use serde_json::{Value, json};

use crate::small;

/// So many credentials are planted.
const PLANTED: usize = 1_000;
/// So many credentials stand in one text.
const IN_ONE: usize = 10;

/// All credentials of a run, a text for every few of them.
struct Field {
    rng: Rng,
    all: Vec<Planted>,
}

impl Field {
    fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed), all: Vec::new() }
    }

    /// A text with credentials between ordinary lines.
    fn text(&mut self, many: usize) -> String {
        let mut lines = Vec::new();
        for _ in 0..many {
            let one = planted(&mut self.rng, self.all.len());
            lines.push(format!("{} {} = {}", word(&mut self.rng), word(&mut self.rng), self.all.len()));
            lines.push(one.text.clone());
            self.all.push(one);
        }
        lines.join("\n") + "\n"
    }

    /// Fails when a secret stands in a text.
    fn check(&self, place: &str, text: &str) {
        for Planted { kind, secrets, text: planted } in &self.all {
            let seen = secrets.iter().find(|secret| text.contains(secret.as_str()));
            assert!(seen.is_none(), "{place} shows {kind}: {planted}");
        }
    }
}

fn check_files(field: &Field, folder: &Path) -> usize {
    let mut looked_at = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            looked_at += check_files(field, &path);
        } else {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            field.check(&path.display().to_string(), &text);
            looked_at += 1;
        }
    }
    looked_at
}

/// A token of GitHub's form.
fn token(seed: u64) -> String {
    let all = planted(&mut Rng::new(seed), 5);
    all.secrets[0].clone()
}

fn holding(secret: &str) -> Repo {
    let repo = small();
    repo.write(
        "deploy.py",
        format!("import os\n\nTOKEN = \"{secret}\"\n\ndef deploy(token=\"{secret}\"):\n    pass\n"),
    );
    repo
}

fn placeholder_in(text: &str) -> String {
    let at = text.find("[secret:").unwrap_or_else(|| panic!("no placeholder in {text}"));
    text[at..=at + text[at..].find(']').unwrap()].to_owned()
}

#[test]
#[expect(clippy::print_stderr, reason = "figures of a run")]
fn none_of_a_thousand_planted_credentials_comes_out() {
    let state = tempfile::tempdir().unwrap();
    let mut field = Field::new(8);
    let repo = small();
    let mut paths = Vec::new();
    for number in 0..30 {
        let ending = ["py", "rs", "json", "yaml", "md", "toml", "sh", "ts", "txt", "ini"][number % 10];
        let path = format!("src/planted{number}.{ending}");
        repo.write(&path, field.text(IN_ONE));
        paths.push(path);
    }
    let system = field.text(IN_ONE);
    let settings = json!({
        "prompt": { "system_extra": system },
        "context_frame": { "inject": true },
        "compaction": { "summariser": "client", "timeout_s": 20 },
        "tool_output": { "large_output_threshold": 4_000, "summary": "heuristic", "cutoff": 2, "ageing": "eager" },
    });
    let options = json!({ "requests": ["strata/summarize"], "settings": settings, "trusted": true });
    let setup = Setup::new(&repo).settings(settings).options(options).state(state.path());
    let mut editor = setup.variable("STRATA_LOG", "trace").start();
    let summary = field.text(IN_ONE);
    editor.server.answer_with("strata/summarize", json!(summary));
    let mut shown = Vec::new();

    // Files: on disk, in buffers, handed over, web pages.
    let selected: Vec<&str> = paths.iter().map(String::as_str).collect();
    editor.select(&selected);
    let typed = field.text(IN_ONE);
    editor.open_text("src/typed.py", "python", &typed);
    editor.select(&["src/typed.py"]);
    let given = field.text(IN_ONE);
    shown.push(editor.run("files.add", json!({ "path": "given.txt", "content": given })));
    let page = field.text(IN_ONE);
    shown.push(
        editor.run("url.add", json!({ "url": "https://example.org/", "title": "A page", "content": page })),
    );
    shown.push(editor.run("files.read", json!({ "path": "src/planted0.py" })));
    shown.push(editor.run("memory.add", json!({ "text": field.text(IN_ONE) })));
    shown.push(
        editor.run(
            "iteration.add",
            json!({ "goal": "Ship it.", "iteration": { "output": field.text(IN_ONE) } }),
        ),
    );

    // History and results of tools, as they come in every way.
    while field.all.len() + 60 < PLANTED {
        let exchange = json!({ "user": field.text(4), "assistant": field.text(4) });
        shown.push(editor.run("history.addExchange", exchange));
        let prompt = editor.assemble_with(json!({ "prompt": field.text(4) }));
        let id = format!("call{}", field.all.len());
        let call = json!([
            { "type": "text", "text": field.text(2) },
            { "type": "tool_call", "id": id, "name": "run", "input": { "command": field.text(2) } },
        ]);
        shown.push(editor.run("prompt.record", json!({ "id": prompt.id(), "response": call })));
        shown.push(prompt.0);
        let long = format!("{}{}", field.text(4), "ordinary output\n".repeat(400));
        let results = json!([{ "callId": id, "content": [{ "type": "text", "text": long }] }]);
        let prompt = editor.assemble_with(json!({ "toolResults": results }));
        shown.push(editor.run("prompt.record", json!({ "id": prompt.id(), "response": field.text(2) })));
        shown.push(prompt.0);
    }
    while field.all.len() < PLANTED {
        shown.push(editor.run("toolOutput.add", json!({ "content": field.text(IN_ONE) })));
    }

    for format in ["anthropic", "openai", "markdown"] {
        for policy in ["ledger", "ripple", "flat"] {
            let argument = json!({ "prompt": "Now?", "format": format, "policy": policy, "dryRun": true });
            shown.push(editor.assemble_with(argument.clone()).0);
            shown.push(
                editor.run("prompt.preview", json!({ "prompt": "Now?", "format": format, "policy": policy })),
            );
        }
    }
    let replaced = editor.run("redaction.list", json!({}));
    assert!(replaced["secrets"].as_array().unwrap().len() > PLANTED / 2, "{replaced}");
    for (command, argument) in [
        ("symbols.map", json!({})),
        ("symbols.relevant", json!({ "text": "planted" })),
        ("server.settings", json!({})),
        ("history.get", json!({})),
        ("compaction.run", json!({})),
        ("history.get", json!({})),
        ("iteration.prompt", json!({})),
        ("session.export", json!({})),
        ("budget.report", json!({})),
        ("tiers.report", json!({})),
    ] {
        shown.push(editor.try_run(command, argument).unwrap_or_else(|error| json!(error.to_string())));
    }
    shown.push(replaced);
    assert!(field.all.len() >= PLANTED, "{}", field.all.len());
    for reply in &shown {
        let text = strings(reply);
        field.check("a reply", &text);
    }
    let asked: Vec<String> = editor.server.asked("strata/summarize").into_iter().map(strings).collect();
    assert!(!asked.is_empty(), "a summary was asked for");
    asked.iter().for_each(|asked| field.check("a question for a summary", asked));
    let told: Vec<Value> =
        ["strata/warning", "strata/status", "strata/compaction", "window/logMessage", "window/showMessage"]
            .into_iter()
            .flat_map(|method| editor.server.heard(method))
            .collect();
    assert!(told.iter().any(|told| told["code"] == "redacted"));
    told.iter().for_each(|told| field.check("a notification", &strings(told)));
    editor.quit();
    let log = editor.server.errors();
    field.check("the log", &log);
    let kept = check_files(&field, state.path());
    let spilled = check_files(&field, &state.path().join("spill"));
    assert!(spilled > 1, "results of tools lie beside the lock");
    eprintln!(
        "none of {} credentials in {} replies, {} questions, {} notifications, {} bytes of log and {kept} files, {spilled} of them \
         spilled results",
        field.all.len(),
        shown.len(),
        asked.len(),
        told.len(),
        log.len()
    );
}

/// All strings of a value, as they are once JSON was read.
fn strings(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(values) => values.iter().map(strings).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| format!("{name}\n{}", strings(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

#[test]
fn a_secret_has_one_placeholder_in_files_messages_and_after_a_restart() {
    let state = tempfile::tempdir().unwrap();
    let secret = token(3);
    let repo = holding(&secret);
    let seen = |editor: &mut Editor| {
        editor.select(&["deploy.py"]);
        let prompt = editor.assemble_with(json!({ "prompt": format!("Is {secret} still good?") }));
        assert_eq!(prompt.count(&secret), 0);
        assert_eq!(prompt.warnings(), [("redacted", "deploy.py")]);
        let placeholder = placeholder_in(&prompt.full_text("deploy.py").unwrap());
        assert_eq!(prompt.count(&placeholder), 3, "twice in the file and in the question: {}", prompt.text());
        let (code, message) = editor.warning();
        assert_eq!(code, "redacted");
        assert!(message.contains("2 secrets in deploy.py"), "{message}");
        placeholder
    };
    let mut first = Setup::new(&repo).state(state.path()).start();
    let placeholder = seen(&mut first);
    first.quit();
    drop(first);
    let mut second = Setup::new(&repo).state(state.path()).start();
    assert_eq!(seen(&mut second), placeholder);
    second.quit();
    drop(second);
    let elsewhere = tempfile::tempdir().unwrap();
    let mut other = Setup::new(&repo).state(elsewhere.path()).start();
    assert_ne!(seen(&mut other), placeholder, "another person has another key");
}

#[test]
fn a_placeholder_in_an_answer_is_reported_and_can_be_restored() {
    let secret = token(4);
    let mut editor = Editor::start(&holding(&secret));
    editor.select(&["deploy.py"]);
    let prompt = editor.assemble();
    editor.warning();
    let placeholder = placeholder_in(&prompt.text());
    let answer = format!("Write TOKEN = \"{placeholder}\" there.");
    let recorded = editor.run("prompt.record", json!({ "id": prompt.id(), "response": answer }));
    let warnings = recorded["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning.as_str().unwrap().contains(&placeholder)), "{recorded}");
    let unknown = "[secret:credential:000000000000]";
    let restored = editor.run("redaction.restore", json!({ "text": format!("{answer} {unknown}") }));
    assert_eq!(restored["text"], format!("Write TOKEN = \"{secret}\" there. {unknown}"));
    assert_eq!((&restored["restored"], &restored["unknown"]), (&json!(1), &json!([unknown])));
    let listed = editor.run("redaction.list", json!({}))["secrets"].clone();
    let lines: Vec<(&Value, &Value)> =
        listed.as_array().unwrap().iter().map(|one| (&one["path"], &one["line"])).collect();
    assert_eq!(lines[..2], [(&json!("deploy.py"), &json!(3)), (&json!("deploy.py"), &json!(5))]);
    assert_eq!(listed[2]["message"], 1);
    assert!(!strings(&listed).contains(&secret));
}

#[test]
fn a_secret_is_shown_when_allowed_and_never_in_the_map() {
    let secret = token(5);
    let mut editor = Editor::start(&holding(&secret));
    let map: Prompt = editor.assemble();
    assert!(map.has_map_block("deploy.py"), "{}", map.text());
    assert!(!map.text().contains(&secret[..12]), "{}", map.text());
    editor.run("files.select", json!({ "paths": ["deploy.py"], "confirmSecrets": ["deploy.py"] }));
    let prompt = editor.assemble();
    assert_eq!((prompt.count(&secret), prompt.count("[secret:")), (2, 0));
    editor.run("files.deselect", json!({ "paths": ["deploy.py"] }));
    editor.select(&["deploy.py"]);
    assert_eq!(editor.assemble().count(&secret), 0, "a confirmation holds for one selection");
    editor.warning();
    editor.configure(json!({ "redaction": { "allow": ["github-token"] } }));
    assert_eq!(editor.assemble().count(&secret), 2);
    editor.configure(json!({ "redaction": { "enabled": false } }));
    assert_eq!(editor.assemble().count(&secret), 2);
}
