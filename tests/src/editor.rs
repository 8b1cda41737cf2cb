//! An editor: a client that keeps documents, tells the server what is typed in them, and runs its commands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Answer, Document, ErrorReply, Id, LIMIT, Prompt, Repo, Server, Unit, uri_of};

/// An editor before it starts its server.
#[derive(Clone, Debug)]
pub struct Setup {
    folders: Vec<(String, Repo)>,
    unit: Unit,
    settings: Value,
    process: Option<u32>,
    options: Value,
    state: Option<PathBuf>,
    variables: Vec<(String, String)>,
    starter: Vec<String>,
    watching: Watching,
    /// Where its capabilities are others than those of [`hello`], and what stands there.
    capabilities: Vec<(String, Value)>,
}

/// What an editor does about files that change on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watching {
    /// It watches when it is asked to.
    WhenAsked,
    /// It cannot.
    Never,
}

/// An editor with a running server. When it is dropped at the end of a test that went well, it shuts the server down as
/// editors do, and fails the test if that does not go well, or if the server warned of something the test did not
/// look at.
pub struct Editor {
    /// The conversation, for what editors do not do.
    pub server: Server,
    documents: BTreeMap<String, Document>,
    folders: Vec<(String, Repo)>,
    unit: Unit,
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    Running,
    Gone,
}

impl Setup {
    /// An editor with one folder open.
    pub fn new(repo: &Repo) -> Self {
        Self::with_folders(&[("repo", repo)])
    }

    /// An editor with several folders open, each with its name.
    pub fn with_folders(folders: &[(&str, &Repo)]) -> Self {
        let folders = folders.iter().map(|(name, repo)| ((*name).to_owned(), Repo::clone(repo))).collect();
        Self {
            folders,
            unit: Unit::Utf16,
            settings: Value::Null,
            process: None,
            options: Value::Null,
            state: None,
            variables: Vec::new(),
            starter: Vec::new(),
            watching: Watching::WhenAsked,
            capabilities: Vec::new(),
        }
    }

    /// Its capabilities have this in this place, such as `/window/showDocument`; null when it cannot do that.
    pub fn capability(mut self, place: &str, value: Value) -> Self {
        self.capabilities.push((place.to_owned(), value));
        self
    }

    /// The editor cannot watch files.
    pub fn not_watching(self) -> Self {
        Self { watching: Watching::Never, ..self }
    }

    /// Positions count in this unit; it is the only one the editor offers.
    pub fn counting_in(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }

    /// The settings that the editor has for Strata.
    pub fn settings(self, settings: Value) -> Self {
        Self { settings, ..self }
    }

    /// The process that the editor says it is.
    pub fn process(self, process: u32) -> Self {
        Self { process: Some(process), ..self }
    }

    /// What the editor says of itself (`initializationOptions`).
    pub fn options(self, options: Value) -> Self {
        Self { options, ..self }
    }

    /// The server keeps sessions here, which outlives it.
    pub fn state(self, state: &Path) -> Self {
        Self { state: Some(state.to_owned()), ..self }
    }

    /// The server runs with this environment variable.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The server is started by this program. It needs a [`state`](Self::state).
    pub fn started_by(self, starter: &[&str]) -> Self {
        Self { starter: starter.iter().map(ToString::to_string).collect(), ..self }
    }

    /// Starts the server, says hello, and waits until the repository is indexed.
    pub fn start(&self) -> Editor {
        let mut editor = self.start_without_waiting();
        editor.wait_until_indexed();
        editor
    }

    /// As [`Setup::start`], but the index may still be incomplete.
    pub fn start_without_waiting(&self) -> Editor {
        let mut server = match &self.state {
            Some(state) => {
                let starter: Vec<&str> = self.starter.iter().map(String::as_str).collect();
                Server::start_under(&starter, state, &self.variables)
            }
            None => Server::start_knowing(&self.variables),
        };
        server.answer_with("workspace/configuration", json!([self.settings]));
        server.answer_with("client/registerCapability", Value::Null);
        server.answer_with("client/unregisterCapability", Value::Null);
        server.answer_with("window/workDoneProgress/create", Value::Null);
        server.answer_with("window/showDocument", json!({ "success": true }));
        server.answer_with("workspace/codeLens/refresh", Value::Null);
        let result = server.request("initialize", self.hello()).unwrap();
        assert_eq!(result["capabilities"]["positionEncoding"], self.unit.name());
        server.notify("initialized", json!({}));
        let folders = self.folders.clone();
        Editor { server, documents: BTreeMap::new(), folders, unit: self.unit, state: State::Running }
    }

    fn hello(&self) -> Value {
        let folders: Vec<Value> = self
            .folders
            .iter()
            .map(|(name, repo)| json!({ "name": name, "uri": uri_of(repo.root()) }))
            .collect();
        let mut hello = hello();
        hello["processId"] = json!(self.process);
        hello["initializationOptions"] = self.options.clone();
        hello["workspaceFolders"] = folders.into();
        if self.watching == Watching::Never {
            hello["capabilities"]["workspace"]["didChangeWatchedFiles"] = Value::Null;
        }
        hello["capabilities"]["general"] = json!({ "positionEncodings": [self.unit.name()] });
        for (place, value) in &self.capabilities {
            *hello["capabilities"].pointer_mut(place).expect("a place in `hello`") = value.clone();
        }
        hello
    }
}

/// The parameters of `initialize` of an editor that can do everything and has no folder open.
pub fn hello() -> Value {
    json!({
        "processId": null,
        "rootUri": null,
        "capabilities": {
            "workspace": {
                "configuration": true,
                "didChangeWatchedFiles": { "dynamicRegistration": true },
                "workspaceFolders": true,
                "symbol": { "dynamicRegistration": true },
                "codeLens": { "refreshSupport": true },
            },
            "textDocument": {
                "documentSymbol": { "dynamicRegistration": true, "hierarchicalDocumentSymbolSupport": true },
                "hover": { "dynamicRegistration": true },
                "definition": { "dynamicRegistration": true },
                "references": { "dynamicRegistration": true },
                "codeAction": {
                    "dynamicRegistration": false,
                    "codeActionLiteralSupport": { "codeActionKind": { "valueSet": ["source"] } },
                },
                "codeLens": { "dynamicRegistration": true },
            },
            "window": { "workDoneProgress": true, "showDocument": { "support": true } },
        },
    })
}

impl Editor {
    /// An editor with this repository open and the server's index complete.
    pub fn start(repo: &Repo) -> Self {
        Setup::new(repo).start()
    }

    /// Waits until the server has indexed what is on disk.
    pub fn wait_until_indexed(&mut self) {
        let start = Instant::now();
        while self.run("server.status", json!({}))["index"] != "ready" {
            assert!(start.elapsed() < LIMIT, "the index is never complete");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Opens a file of the repository with its text on disk.
    pub fn open(&mut self, path: &str) {
        let text = std::fs::read_to_string(self.path(path)).unwrap();
        let language = match path.rsplit_once('.').map(|(_, extension)| extension) {
            Some("rs") => "rust",
            Some("py") => "python",
            Some("ts") => "typescript",
            _ => "plaintext",
        };
        self.open_text(path, language, &text);
    }

    /// Opens a document with this text, whatever is on disk.
    pub fn open_text(&mut self, name: &str, language: &str, text: &str) {
        let uri = self.uri(name);
        let document = Document::new(uri.clone(), text.to_owned(), self.unit);
        let item = json!({ "uri": uri, "languageId": language, "version": document.version, "text": text });
        self.documents.insert(uri, document);
        self.server.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    /// Types `text` after the one place where the document has `needle`, a character at a time, each told at once.
    pub fn type_behind(&mut self, name: &str, needle: &str, text: &str) {
        let mut at = self.document(name).find(needle).end;
        for key in keys(text) {
            self.change(name, |document| vec![document.edit(at..at, key)]);
            at += key.len();
        }
    }

    /// Replaces the one `old` in the document.
    pub fn replace(&mut self, name: &str, old: &str, new: &str) {
        self.change(name, |document| vec![document.edit(document.find(old), new)]);
    }

    /// Changes a document and tells the server in one notification.
    pub fn change(&mut self, name: &str, change: impl FnOnce(&mut Document) -> Vec<Value>) {
        let document = self.document(name);
        let changes = change(document);
        let identifier = document.next_version();
        self.server.notify(
            "textDocument/didChange",
            json!({ "textDocument": identifier, "contentChanges": changes }),
        );
    }

    /// Closes a document.
    pub fn close(&mut self, name: &str) {
        let uri = self.uri(name);
        self.documents.remove(&uri).expect("an open document");
        self.server.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }

    /// What the user sees in a document.
    pub fn text(&mut self, name: &str) -> String {
        self.document(name).text.clone()
    }

    /// An open document.
    pub fn document(&mut self, name: &str) -> &mut Document {
        let uri = self.uri(name);
        self.documents.get_mut(&uri).expect("an open document")
    }

    /// Starts a command, such as `files.select`.
    pub fn ask(&mut self, command: &str, argument: Value) -> Id {
        self.server.ask_command(command, argument)
    }

    /// Runs a command and waits for what results from it.
    pub fn try_run(&mut self, command: &str, argument: Value) -> Answer {
        self.server.command(command, argument)
    }

    /// Runs a command that works.
    pub fn run(&mut self, command: &str, argument: Value) -> Value {
        self.try_run(command, argument).unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// Runs a command that is refused.
    pub fn refused(&mut self, command: &str, argument: Value) -> ErrorReply {
        match self.try_run(command, argument) {
            Ok(reply) => panic!("{command} works: {reply}"),
            Err(refused) => refused,
        }
    }

    /// Selects files.
    pub fn select(&mut self, paths: &[&str]) {
        self.run("files.select", json!({ "paths": paths }));
    }

    /// Assembles a prompt with everything else as set.
    pub fn assemble(&mut self) -> Prompt {
        self.assemble_with(json!({}))
    }

    /// Assembles a prompt.
    pub fn assemble_with(&mut self, mut argument: Value) -> Prompt {
        if argument["prompt"].is_null() && argument["toolResults"].is_null() {
            argument["prompt"] = "What is this?".into();
        }
        let object = argument.as_object_mut().unwrap();
        object.retain(|_, value| !value.is_null());
        Prompt(self.run("prompt.assemble", argument))
    }

    /// Waits for the next warning, takes it, and returns its code and sentence.
    pub fn warning(&mut self) -> (String, String) {
        let warning = self.server.wait_for("strata/warning", |_| true);
        let text = |name: &str| warning[name].as_str().expect(name).to_owned();
        (text("code"), text("message"))
    }

    /// The settings have changed: tells the server and waits until it has asked for them. It takes them a moment later.
    pub fn offer_settings(&mut self, settings: Value) {
        let asked = self.server.asked("workspace/configuration").len();
        self.server.answer_with("workspace/configuration", json!([settings]));
        self.server.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
        while self.server.asked("workspace/configuration").len() == asked {
            self.run("server.settings", json!({}));
        }
    }

    /// The settings have changed, and the server has taken them when this returns.
    pub fn configure(&mut self, settings: Value) {
        let before = self.run("server.settings", json!({}));
        self.offer_settings(settings);
        let start = Instant::now();
        while self.run("server.settings", json!({})) == before {
            assert!(start.elapsed() < LIMIT, "the settings are never taken");
        }
    }

    /// Shuts the server down, which ends in order.
    pub fn quit(&mut self) {
        self.state = State::Gone;
        let status = self.server.shut_down();
        assert_eq!(status.code(), Some(0), "shutdown, then exit: {status}");
    }

    /// The server will be ended by the test.
    pub fn abandon(&mut self) {
        self.state = State::Gone;
    }

    fn path(&self, name: &str) -> PathBuf {
        match &self.folders[..] {
            [(_, repo)] => repo.path(name),
            _ => panic!("with several folders documents are named by their URIs"),
        }
    }

    fn uri(&self, name: &str) -> String {
        if name.contains(':') { name.to_owned() } else { uri_of(&self.path(name)) }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if thread::panicking() {
            return;
        }
        if self.state == State::Running {
            self.quit();
        }
        let errors = self.server.errors();
        assert!(!errors.contains("panicked"), "{errors}");
        assert_eq!(self.server.unexpected(), [""; 0], "requests that no editor knows");
        for method in ["strata/warning", "window/showMessage"] {
            assert_eq!(self.server.heard(method), [json!(null); 0], "nobody looked at these");
        }
    }
}

/// A text as keys are pressed: each character by itself, the two that end a line together.
fn keys(text: &str) -> Vec<&str> {
    let mut keys = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("\r\n") { 2 } else { first.len_utf8() };
        let (key, later) = rest.split_at(length);
        keys.push(key);
        rest = later;
    }
    keys
}
