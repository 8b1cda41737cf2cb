//! A server in this process and its client, connected by pipes. Gives access to the plan that triggers panics in the
//! server.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use strata_prompt::settings::LspFeature;
use tempfile::TempDir;

use crate::server::run_with;
use crate::transport::Exit;
use strata_app::faults::plan::FaultPlan;

/// Timeout that only a hang reaches.
pub(super) const HANG_TIMEOUT: Duration = Duration::from_secs(60);

/// Files of the workspace, by path.
pub(super) const FILES: [(&str, &str); 3] = [
    (
        "src/lib.rs",
        "//! Plans meals.\nmod week;\n\n/// Plans a week.\npub fn plan() -> week::Week {\n    week::Week\n}\n",
    ),
    ("src/week.rs", "/// Seven days.\npub struct Week;\n"),
    ("notes.txt", "Ask Ada about Thursday.\n"),
];

/// A workspace, and the directory where its servers store their state.
pub(super) struct TestWorkspace {
    folder: Arc<TempDir>,
    root: PathBuf,
    state_directory: TempDir,
}

impl TestWorkspace {
    pub(super) fn new() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let root = folder.path().canonicalize().unwrap();
        for (path, text) in FILES {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { folder, root, state_directory: tempfile::tempdir().unwrap() }
    }

    /// Returns the same workspace with a copy of the stored state. Waits until servers that have ended have closed their
    /// databases, which deletes SQLite's logs.
    pub(super) fn copy(&self) -> Self {
        let until = Instant::now() + HANG_TIMEOUT;
        while has_log(self.state_directory.path()) {
            assert!(Instant::now() < until, "a server that has ended still has a database open");
            thread::sleep(Duration::from_millis(5));
        }
        let state_directory = tempfile::tempdir().unwrap();
        copy(self.state_directory.path(), state_directory.path());
        Self { folder: Arc::clone(&self.folder), root: self.root.clone(), state_directory }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.root
    }

    pub(super) fn state_directory(&self) -> &Path {
        self.state_directory.path()
    }
}

fn has_log(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).any(|path| match path.is_dir() {
        true => has_log(&path),
        false => path.to_str().is_some_and(|path| path.ends_with("-wal")),
    })
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&to).unwrap();
            fs::set_permissions(&to, entry.metadata().unwrap().permissions()).unwrap();
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Result of a request, or the message of the error that the server returned.
pub(super) type Answer = Result<Value, String>;

/// A client, its server, and the workspace of both.
pub(super) struct Client {
    pub(super) plan: Arc<FaultPlan>,
    /// Method of the server's requests that the client answers with an error. Empty if there is none.
    pub(super) rejected_method: &'static str,
    folder: PathBuf,
    input: Option<PipeWriter>,
    incoming: Receiver<Value>,
    server: Option<JoinHandle<io::Result<Exit>>>,
    last_id: i64,
    pending: BTreeMap<i64, Option<Answer>>,
    received: VecDeque<(String, Value)>,
}

impl Client {
    /// Starts a server for a workspace, without sending any message.
    pub(super) fn start(workspace: &TestWorkspace) -> Self {
        let plan = Arc::new(FaultPlan::default());
        let (reader, input) = io::pipe().unwrap();
        let (output, writer) = io::pipe().unwrap();
        let (state_directory, folder) =
            (workspace.state_directory.path().to_owned(), workspace.folder().to_owned());
        let server_plan = Arc::clone(&plan);
        let server = thread::spawn(move || {
            server_plan.apply_to_thread();
            run_with(reader, writer, |main_loop| main_loop.with_state_below(&state_directory, &folder))
        });
        let (sender, incoming) = channel();
        let mut output = BufReader::new(output);
        thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                // Sending fails if the test has ended.
                let _ = sender.send(message);
            }
        });
        Self {
            plan,
            rejected_method: "",
            folder: workspace.folder().to_owned(),
            input: Some(input),
            incoming,
            server: Some(server),
            last_id: 0,
            pending: BTreeMap::new(),
            received: VecDeque::new(),
        }
    }

    /// Returns the parameters of `initialize` for a client that supports everything. They resume the session with this
    /// id, or start a new one if it is null.
    pub(super) fn initialize_params(&self, session: &Value) -> Value {
        json!({
            "processId": null,
            "rootUri": null,
            "workspaceFolders": [{ "uri": self.uri(""), "name": "meals" }],
            "capabilities": {
                "workspace": {
                    "configuration": true,
                    "didChangeWatchedFiles": { "dynamicRegistration": true },
                    "workspaceFolders": true,
                    "codeLens": { "refreshSupport": true },
                },
                "textDocument": { "hover": { "dynamicRegistration": true } },
                "window": { "workDoneProgress": true, "showDocument": { "support": true } },
            },
            "initializationOptions": {
                "trusted": true,
                "requests": ["strata/summarize", "strata/countTokens"],
                "settings": client_settings(),
                "resume": session,
            },
        })
    }

    /// Returns the URI of a file in the workspace.
    pub(super) fn uri(&self, path: &str) -> String {
        let uri = strata_host::uri::file_uri(&self.folder.join(path)).unwrap();
        uri.trim_end_matches('/').to_owned()
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and waits for its answer, which must be the only one.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Answer {
        self.last_id += 1;
        let id = self.last_id;
        self.pending.insert(id, None);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            if let Some(Some(_)) = self.pending.get(&id) {
                return self.pending.remove(&id).flatten().unwrap();
            }
            self.receive_one(&format!("the answer to {method}"));
        }
    }

    pub(super) fn run(&mut self, command: &str, arguments: Value) -> Answer {
        self.request("workspace/executeCommand", json!({ "command": command, "arguments": [arguments] }))
    }

    /// Runs a command that must succeed.
    #[track_caller]
    pub(super) fn run_ok(&mut self, command: &str, arguments: Value) -> Value {
        match self.run(command, arguments) {
            Ok(reply) => reply,
            Err(error) => panic!("{command}: {error}"),
        }
    }

    /// Waits until the index has this number of outlines.
    pub(super) fn wait_for_outlines(&mut self, outlines: usize) {
        let start = Instant::now();
        loop {
            let status = self.run_ok("strata.server.status", json!({}));
            if status["index"] == "ready" && status["outlined"] == outlines {
                return;
            }
            assert!(start.elapsed() < HANG_TIMEOUT, "the index did not finish in time: {status}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Returns the parameters of the messages received so far with this method.
    pub(super) fn received(&mut self, method: &str) -> Vec<Value> {
        while let Ok(message) = self.incoming.try_recv() {
            self.handle(message);
        }
        let messages = self.received.iter().filter(|(received_method, _)| received_method == method);
        messages.map(|(_, params)| params.clone()).collect()
    }

    /// Waits for a message with this method that satisfies `is_match`.
    pub(super) fn wait_for(&mut self, method: &str, is_match: impl Fn(&Value) -> bool) {
        while !self.received(method).iter().any(&is_match) {
            self.receive_one(method);
        }
    }

    /// Shuts the server down with `shutdown` and `exit`.
    pub(super) fn quit(mut self) {
        self.request("shutdown", Value::Null).unwrap();
        self.notify("exit", Value::Null);
        let exit = self.server.take().unwrap().join().unwrap().unwrap();
        assert_eq!(exit.code, 0, "{exit:?}");
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }

    fn receive_one(&mut self, awaited: &str) {
        match self.incoming.recv_timeout(HANG_TIMEOUT) {
            Ok(message) => self.handle(message),
            Err(error) => panic!("{error} while waiting for {awaited}"),
        }
    }

    fn handle(&mut self, mut message: Value) {
        let (id, method) = (message["id"].take(), message["method"].take());
        match (method, id.as_i64()) {
            (Value::String(method), None) if id.is_null() => {
                self.received.push_back((method, message["params"].take()));
            }
            (Value::String(method), _) => {
                if method == self.rejected_method {
                    let error = json!({ "code": -32601, "message": "I cannot do that" });
                    return self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
                }
                let result = match method.as_str() {
                    "workspace/configuration" => json!([client_settings()]),
                    "strata/summarize" => json!("They spoke of meals."),
                    "strata/countTokens" => json!(1_000),
                    "window/showDocument" => json!({ "success": true }),
                    _ => Value::Null,
                };
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            }
            (_, Some(id)) => {
                let answer = match message["error"].take() {
                    Value::Null => Ok(message["result"].take()),
                    error => Err(error["message"].as_str().unwrap().to_owned()),
                };
                let pending = self.pending.get_mut(&id);
                assert!(matches!(pending, Some(None)), "request {id} was answered twice, or was never sent");
                self.pending.insert(id, Some(answer));
            }
            other => panic!("invalid message: {other:?}"),
        }
    }
}

/// Returns the settings that the client sends. They enable all optional LSP features.
pub(super) fn client_settings() -> Value {
    json!({
        "lsp": { "features": LspFeature::ALL },
        "compaction": { "summariser": "client", "auto": false },
        "tool_output": { "cutoff": 1, "ageing": "eager", "summary": "llm" },
    })
}

fn read(output: &mut BufReader<PipeReader>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", bytes)) => length = bytes.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
