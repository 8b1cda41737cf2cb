//! A simulated editor: a client that holds documents, notifies the server of changes to them, and runs commands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Answer, Document, ErrorReply, Id, LIMIT, Prompt, Repo, Server, Unit, uri_of};

/// Configuration of an editor whose server is not running yet.
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
    /// Changes to the capabilities of [`hello`]: JSON pointers with values.
    capabilities: Vec<(String, Value)>,
    /// Changes to the other parameters of `initialize`: names with values.
    parameters: Vec<(String, Value)>,
}

/// How the editor handles changes to files on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watching {
    /// Watches files if the server asks it to.
    WhenAsked,
    /// Cannot watch files.
    Never,
}

/// An editor with a running server. When dropped in a passing test, it shuts the server down. The test fails if
/// the shutdown fails, or if the server sent a warning or message that the test did not take.
pub struct Editor {
    /// The connection to the server, for actions beyond those of an editor.
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
    /// Creates an editor with one open folder.
    pub fn new(repo: &Repo) -> Self {
        Self::with_folders(&[("repo", repo)])
    }

    /// Creates an editor with several open folders, each with its name.
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
            parameters: Vec::new(),
        }
    }

    /// Sets the capability at a JSON pointer such as `/window/showDocument`; `null` removes it.
    pub fn capability(mut self, place: &str, value: Value) -> Self {
        self.capabilities.push((place.to_owned(), value));
        self
    }

    /// Sets a parameter of `initialize`, such as `rootUri`.
    pub fn parameter(mut self, name: &str, value: Value) -> Self {
        self.parameters.push((name.to_owned(), value));
        self
    }

    /// Creates an editor that cannot watch files.
    pub fn not_watching(self) -> Self {
        Self { watching: Watching::Never, ..self }
    }

    /// Sets the only unit of positions that the editor offers.
    pub fn counting_in(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }

    /// Sets the editor's settings for Strata.
    pub fn settings(self, settings: Value) -> Self {
        Self { settings, ..self }
    }

    /// Sets the process id that the editor reports.
    pub fn process(self, process: u32) -> Self {
        Self { process: Some(process), ..self }
    }

    /// Sets the `initializationOptions`.
    pub fn options(self, options: Value) -> Self {
        Self { options, ..self }
    }

    /// Sets the server's state directory, which outlives the server.
    pub fn state(self, state: &Path) -> Self {
        Self { state: Some(state.to_owned()), ..self }
    }

    /// Sets an environment variable of the server.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts the server with this program and arguments. Requires a [`state`](Self::state).
    pub fn started_by(self, starter: &[&str]) -> Self {
        Self { starter: starter.iter().map(ToString::to_string).collect(), ..self }
    }

    /// Starts and initializes the server, and waits until the repository is indexed.
    pub fn start(&self) -> Editor {
        let mut editor = self.start_without_waiting();
        editor.wait_until_indexed();
        editor
    }

    /// Like [`Setup::start`], but does not wait for the index.
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
            *hello["capabilities"].pointer_mut(place).expect("the pointer exists in `hello`") = value.clone();
        }
        for (name, value) in &self.parameters {
            hello[name] = value.clone();
        }
        hello
    }
}

/// Returns the `initialize` parameters of an editor that supports everything and has no open folder.
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
    /// Starts an editor in this repository, and waits until the server has indexed it.
    pub fn start(repo: &Repo) -> Self {
        Setup::new(repo).start()
    }

    /// Waits until the server has indexed the files on disk.
    pub fn wait_until_indexed(&mut self) {
        let start = Instant::now();
        while self.run("server.status", json!({}))["index"] != "ready" {
            assert!(start.elapsed() < LIMIT, "the index is not complete in time");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the editor is as `is_it` wants it, such as with an index that has a change.
    pub fn wait_until(&mut self, what: &str, mut is_it: impl FnMut(&mut Self) -> bool) {
        let start = Instant::now();
        while !is_it(self) {
            assert!(start.elapsed() < LIMIT, "{what} did not happen in time");
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

    /// Opens a document with the given text, independent of the disk.
    pub fn open_text(&mut self, name: &str, language: &str, text: &str) {
        let uri = self.uri(name);
        let document = Document::new(uri.clone(), text.to_owned(), self.unit);
        let item = json!({ "uri": uri, "languageId": language, "version": document.version, "text": text });
        self.documents.insert(uri, document);
        self.server.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    /// Types `text` after `needle`, which must occur once in the document. Sends a notification for each character.
    pub fn type_behind(&mut self, name: &str, needle: &str, text: &str) {
        let mut at = self.document(name).find(needle).end;
        for key in keys(text) {
            self.change(name, |document| vec![document.edit(at..at, key)]);
            at += key.len();
        }
    }

    /// Replaces `old`, which must occur once in the document.
    pub fn replace(&mut self, name: &str, old: &str, new: &str) {
        self.change(name, |document| vec![document.edit(document.find(old), new)]);
    }

    /// Changes a document, and notifies the server once.
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
        self.documents.remove(&uri).expect("the document is open");
        self.server.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }

    /// Returns the text of a document as the user sees it.
    pub fn text(&mut self, name: &str) -> String {
        self.document(name).text.clone()
    }

    /// Returns an open document.
    pub fn document(&mut self, name: &str) -> &mut Document {
        let uri = self.uri(name);
        self.documents.get_mut(&uri).expect("the document is open")
    }

    /// Sends a command such as `files.select` without waiting for its result.
    pub fn ask(&mut self, command: &str, argument: Value) -> Id {
        self.server.ask_command(command, argument)
    }

    /// Runs a command, and waits for its result or error.
    pub fn try_run(&mut self, command: &str, argument: Value) -> Answer {
        self.server.command(command, argument)
    }

    /// Runs a command that must succeed.
    pub fn run(&mut self, command: &str, argument: Value) -> Value {
        self.try_run(command, argument).unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// Runs a command that must fail.
    pub fn refused(&mut self, command: &str, argument: Value) -> ErrorReply {
        match self.try_run(command, argument) {
            Ok(reply) => panic!("{command} did not fail: {reply}"),
            Err(refused) => refused,
        }
    }

    /// Selects files.
    pub fn select(&mut self, paths: &[&str]) {
        self.run("files.select", json!({ "paths": paths }));
    }

    /// Assembles a prompt with default arguments.
    pub fn assemble(&mut self) -> Prompt {
        self.assemble_with(json!({}))
    }

    /// Assembles a prompt with the given arguments.
    pub fn assemble_with(&mut self, mut argument: Value) -> Prompt {
        if argument["prompt"].is_null() && argument["toolResults"].is_null() {
            argument["prompt"] = "What is this?".into();
        }
        let object = argument.as_object_mut().unwrap();
        object.retain(|_, value| !value.is_null());
        Prompt(self.run("prompt.assemble", argument))
    }

    /// Waits for the next warning, takes it, and returns its code and message.
    pub fn warning(&mut self) -> (String, String) {
        let warning = self.server.wait_for("strata/warning", |_| true);
        let text = |name: &str| warning[name].as_str().expect(name).to_owned();
        (text("code"), text("message"))
    }

    /// Changes the settings, and waits until the server has requested them. The server applies them a moment later.
    pub fn offer_settings(&mut self, settings: Value) {
        let asked = self.server.asked("workspace/configuration").len();
        self.server.answer_with("workspace/configuration", json!([settings]));
        self.server.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
        while self.server.asked("workspace/configuration").len() == asked {
            self.run("server.settings", json!({}));
        }
    }

    /// Changes the settings, and waits until the server has applied them.
    pub fn configure(&mut self, settings: Value) {
        let before = self.run("server.settings", json!({}));
        self.offer_settings(settings);
        let start = Instant::now();
        while self.run("server.settings", json!({})) == before {
            assert!(start.elapsed() < LIMIT, "the settings are not applied in time");
        }
    }

    /// Shuts the server down, and checks that it exits normally.
    pub fn quit(&mut self) {
        self.state = State::Gone;
        let status = self.server.shut_down();
        assert_eq!(status.code(), Some(0), "shutdown, then exit: {status}");
    }

    /// Leaves it to the test to end the server.
    pub fn abandon(&mut self) {
        self.state = State::Gone;
    }

    fn path(&self, name: &str) -> PathBuf {
        match &self.folders[..] {
            [(_, repo)] => repo.path(name),
            _ => panic!("with several folders, use the URI of the document"),
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
        assert_eq!(self.server.unexpected(), [""; 0], "unexpected requests");
        for method in ["strata/warning", "window/showMessage"] {
            assert_eq!(self.server.heard(method), [json!(null); 0], "the test did not take these");
        }
    }
}

/// Splits a text into key presses: one character each, or CRLF.
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
