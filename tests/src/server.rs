//! The server process and the connection to it: requests, notifications, and the server's own requests. A
//! thread reads messages from the pipe; everything else happens in the thread of the test while it waits.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io::{self, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{LIMIT, contract, framing, hello, separate, strata, uri_of};

/// Id of a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Id(i64);

/// Error response to a request.
#[derive(Clone, PartialEq, Debug)]
pub struct ErrorReply {
    /// JSON-RPC error code.
    pub code: i64,
    /// Message for users.
    pub message: String,
    /// Data for programs; null if absent.
    pub data: Value,
}

/// Response to a request.
pub type Answer = Result<Value, ErrorReply>;

/// A running server. Killed when dropped.
pub struct Server {
    process: Child,
    input: Option<ChildStdin>,
    incoming: Receiver<Value>,
    said: Option<JoinHandle<String>>,
    last_id: i64,
    /// Requests without a response so far, each with the name of the command that it runs, if any.
    open: BTreeMap<i64, Option<String>>,
    answers: BTreeMap<i64, Answer>,
    heard: VecDeque<(String, Value)>,
    results: BTreeMap<String, Value>,
    /// Methods whose requests are held until the test releases them, with the held requests.
    held: BTreeMap<String, Vec<Value>>,
    asked: Vec<(String, Value)>,
    /// Errors for messages that were not requests, or not messages at all.
    refusals: Vec<ErrorReply>,
    /// The state directory, unless the test provides one. Removed with the server.
    _state: Option<TempDir>,
}

impl Server {
    /// Starts `strata serve` with a temporary state directory.
    pub fn start() -> Self {
        Self::start_knowing(&[])
    }

    /// Like [`start`](Self::start), with additional environment variables.
    pub fn start_knowing(variables: &[(String, String)]) -> Self {
        let state = tempfile::tempdir().unwrap();
        let mut server = Self::start_with(state.path(), variables);
        server._state = Some(state);
        server
    }

    /// Starts `strata serve` with this state directory, which outlives the server.
    pub fn start_in(state: &Path) -> Self {
        Self::start_with(state, &[])
    }

    /// Starts `strata serve` with this state directory and additional environment variables. The user's
    /// settings are in `config/strata/strata.toml` below the state directory.
    pub fn start_with(state: &Path, variables: &[(String, String)]) -> Self {
        Self::start_under(&[], state, variables)
    }

    /// Like [`start_with`](Self::start_with), but run by another program: `starter` is its name and arguments,
    /// followed by the command of the server.
    pub fn start_under(starter: &[&str], state: &Path, variables: &[(String, String)]) -> Self {
        let mut command = match starter {
            [] => Command::new(strata()),
            [program, arguments @ ..] => {
                let mut command = Command::new(program);
                command.args(arguments).arg(strata());
                command
            }
        };
        let mut process = separate(&mut command, state)
            .arg("serve")
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut errors = process.stderr.take().unwrap();
        let (sender, incoming) = channel();
        thread::spawn(move || {
            while let Some(message) = framing::read(&mut output) {
                // The test may have ended.
                let _ = sender.send(message);
            }
        });
        let said = thread::spawn(move || {
            let mut text = Vec::new();
            let _ = errors.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Self {
            process,
            input,
            incoming,
            said: Some(said),
            last_id: 0,
            open: BTreeMap::new(),
            answers: BTreeMap::new(),
            heard: VecDeque::new(),
            results: BTreeMap::new(),
            held: BTreeMap::new(),
            asked: Vec::new(),
            refusals: Vec::new(),
            _state: None,
        }
    }

    /// Starts `strata serve` with this state directory, and initializes it as an editor with this open folder
    /// and these settings. Does not wait for the index.
    pub fn with_folder(folder: &Path, state: &Path, settings: Value) -> Self {
        let mut server = Self::start_in(state);
        server.answer_with("workspace/configuration", json!([settings]));
        server.answer_with("client/registerCapability", Value::Null);
        server.answer_with("window/workDoneProgress/create", Value::Null);
        let mut hello = hello();
        hello["workspaceFolders"] = json!([{ "uri": uri_of(folder), "name": "repo" }]);
        server.request("initialize", hello).unwrap();
        server.notify("initialized", json!({}));
        server
    }

    /// Sends a command such as `files.select` without waiting for its result.
    pub fn ask_command(&mut self, command: &str, argument: Value) -> Id {
        let params = json!({ "command": format!("strata.{command}"), "arguments": [argument] });
        self.ask("workspace/executeCommand", params)
    }

    /// Runs a command, and waits for its result or error.
    pub fn command(&mut self, command: &str, argument: Value) -> Answer {
        let id = self.ask_command(command, argument);
        self.answer(id)
    }

    /// Shuts the server down as editors do, with `shutdown` and `exit` while the input is open.
    pub fn shut_down(&mut self) -> ExitStatus {
        assert_eq!(self.request("shutdown", Value::Null), Ok(Value::Null));
        self.notify("exit", Value::Null);
        self.wait_for_end()
    }

    /// Sets the result of the server's requests with this method. Requests with other methods get the error
    /// "method not found".
    pub fn answer_with(&mut self, method: &str, result: Value) {
        self.results.insert(method.to_owned(), result);
    }

    /// Holds the server's requests with this method until [`release`](Self::release).
    pub fn hold(&mut self, method: &str) {
        self.held.insert(method.to_owned(), Vec::new());
    }

    /// Waits until a request with this method is held.
    pub fn wait_until_held(&mut self, method: &str) {
        while self.held[method].is_empty() {
            self.take_one(&format!("a request with the method {method}"));
        }
    }

    /// Answers the oldest held request with this method, and keeps holding the others.
    pub fn release_first(&mut self, method: &str, result: Value) {
        let id = self.held.get_mut(method).unwrap().remove(0);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    /// Answers the held requests with this method, and stops holding them.
    pub fn release(&mut self, method: &str, result: Value) {
        for id in self.held.remove(method).unwrap_or_default() {
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        }
        self.answer_with(method, result);
    }

    /// Returns the parameters of the server's requests with this method so far.
    pub fn asked(&self, method: &str) -> Vec<&Value> {
        self.asked.iter().filter(|(asked, _)| asked == method).map(|(_, params)| params).collect()
    }

    /// Returns the methods of the server's requests for which no result was set.
    pub fn unexpected(&self) -> Vec<&str> {
        let unknown = |(method, _): &&(String, Value)| {
            !self.results.contains_key(method) && !self.held.contains_key(method)
        };
        self.asked.iter().filter(unknown).map(|(method, _)| method.as_str()).collect()
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a frame with this body, which need not be a message.
    pub fn send_body(&mut self, body: &[u8]) {
        let header = format!("Content-Length: {}\r\n\r\n", body.len());
        self.send_bytes(&[header.as_bytes(), body].concat());
    }

    /// Sends bytes that need not be a frame.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is still open");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the server reads");
    }

    /// Sends a notification in which `with` stands instead of `@`.
    pub fn notify_with(&mut self, method: &str, params: Value, with: &[u8]) {
        self.send_with(&json!({ "jsonrpc": "2.0", "method": method, "params": params }), with);
    }

    /// Sends a request in which `with` stands instead of `@`, without waiting for the response.
    pub fn ask_with(&mut self, method: &str, params: Value, with: &[u8]) -> Id {
        self.last_id += 1;
        self.open.insert(self.last_id, None);
        let message = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params });
        self.send_with(&message, with);
        Id(self.last_id)
    }

    /// Sends a message in which `with` stands instead of `@`.
    pub fn send_with(&mut self, message: &Value, with: &[u8]) {
        let message = message.to_string();
        let (before, after) = message.split_once('@').expect("the message has an `@`");
        self.send_body(&[before.as_bytes(), with, after.as_bytes()].concat());
    }

    /// Waits for the next error that the server sends for bytes that are not a request, and takes it.
    pub fn refusal(&mut self) -> ErrorReply {
        while self.refusals.is_empty() {
            self.take_one("an error without an id");
        }
        self.refusals.remove(0)
    }

    /// Sends a request without waiting for the response.
    pub fn ask(&mut self, method: &str, params: Value) -> Id {
        self.last_id += 1;
        let id = self.last_id;
        let command = params["command"].as_str().filter(|_| method == "workspace/executeCommand");
        self.open.insert(id, command.map(str::to_owned));
        // Omit null parameters, as the protocol requires.
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message);
        Id(id)
    }

    /// Cancels a request.
    pub fn cancel(&mut self, Id(id): Id) {
        self.notify("$/cancelRequest", json!({ "id": id }));
    }

    /// Waits for the response to a request.
    pub fn answer(&mut self, Id(id): Id) -> Answer {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            self.take_one(&format!("the response to request {id}"));
        }
    }

    /// Sends a request, and waits for the response.
    pub fn request(&mut self, method: &str, params: Value) -> Answer {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Waits for a notification with this method that `is_it` accepts. Takes it and all earlier ones with the method.
    pub fn wait_for(&mut self, method: &str, mut is_it: impl FnMut(&Value) -> bool) -> Value {
        loop {
            for params in self.heard(method) {
                if is_it(&params) {
                    return params;
                }
            }
            self.take_one(&format!("a {method} that the test accepts"));
        }
    }

    /// Takes all notifications with this method that have arrived so far.
    pub fn heard(&mut self, method: &str) -> Vec<Value> {
        while let Ok(message) = self.incoming.try_recv() {
            self.sort(message);
        }
        let (wanted, others) =
            std::mem::take(&mut self.heard).into_iter().partition(|(heard, _)| heard == method);
        self.heard = others;
        let wanted: VecDeque<(String, Value)> = wanted;
        wanted.into_iter().map(|(_, params)| params).collect()
    }

    /// Receives messages for this long, to check that something does not arrive.
    pub fn listen(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            match self.incoming.recv_timeout(left) {
                Ok(message) => self.sort(message),
                Err(_) => return,
            }
        }
    }

    /// Returns the process id.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Whether the process is still running.
    pub fn is_running(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }

    /// Kills the process without notice, as the system does when it runs out of memory.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.input = None;
    }

    /// Closes the client's end of the server's input, as happens when a client dies.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for the process to end.
    pub fn wait_for_end(&mut self) -> ExitStatus {
        self.wait_for_end_within(LIMIT)
    }

    /// Waits for the process to end. Panics if that takes longer than `limit`.
    pub fn wait_for_end_within(&mut self, limit: Duration) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                self.take_last_messages();
                return status;
            }
            assert!(start.elapsed() < limit, "the server is still running");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Receives what the server sent before it ended.
    fn take_last_messages(&mut self) {
        self.input = None;
        while let Ok(message) = self.incoming.recv_timeout(LIMIT) {
            self.sort(message);
        }
    }

    /// Waits for the process to end, and returns what it wrote to standard error.
    pub fn errors(&mut self) -> String {
        self.wait_for_end();
        self.said.take().map_or(String::new(), |said| said.join().unwrap())
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("the input is still open");
        framing::write(input, message).expect("the server reads");
    }

    fn take_one(&mut self, what: &str) {
        match self.incoming.recv_timeout(LIMIT) {
            Ok(message) => self.sort(message),
            Err(RecvTimeoutError::Timeout) => panic!("the server sent nothing; the test waits for {what}"),
            Err(RecvTimeoutError::Disconnected) => {
                let errors = self.errors();
                panic!("the server has ended; the test waits for {what}. Standard error:\n{errors}");
            }
        }
    }

    fn sort(&mut self, mut message: Value) {
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        let id = message["id"].take();
        let method = message["method"].as_str().map(str::to_owned);
        match (method, id.is_null()) {
            (Some(method), true) => {
                contract::check_said(&method, &message["params"]);
                self.heard.push_back((method, message["params"].take()));
            }
            (Some(method), false) => {
                contract::check_said(&method, &message["params"]);
                self.serve(&id, method, message["params"].take());
            }
            (None, _) if !id.is_i64() => {
                let refusal = answer_of(&mut message).expect_err("a response without an id is an error");
                self.refusals.push(refusal);
            }
            (None, _) => {
                let id = id.as_i64().unwrap_or_default();
                let command = self
                    .open
                    .remove(&id)
                    .unwrap_or_else(|| panic!("request {id} was answered twice or never sent: {message}"));
                let answer = answer_of(&mut message);
                if let (Some(command), Ok(reply)) = (command, &answer) {
                    contract::check_reply(&command, reply);
                }
                self.answers.insert(id, answer);
            }
        }
    }

    fn serve(&mut self, id: &Value, method: String, params: Value) {
        if let Some(held) = self.held.get_mut(&method) {
            held.push(id.clone());
            return self.asked.push((method, params));
        }
        let Some(input) = &mut self.input else { return self.asked.push((method, params)) };
        let mut reply = json!({ "jsonrpc": "2.0", "id": id });
        match self.results.get(&method) {
            Some(result) => reply["result"] = result.clone(),
            None => reply["error"] = json!({ "code": -32601, "message": "method not found" }),
        }
        // The server may have ended without waiting for the response.
        if let Err(error) = framing::write(input, &reply) {
            assert_eq!(error.kind(), io::ErrorKind::BrokenPipe, "{error}");
        }
        self.asked.push((method, params));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl fmt::Display for ErrorReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}; {})", self.message, self.code, self.data)
    }
}

fn answer_of(message: &mut Value) -> Answer {
    if message["error"].is_null() {
        return Ok(message["result"].take());
    }
    let error = &mut message["error"];
    Err(ErrorReply {
        code: error["code"].as_i64().expect("an error has a code"),
        message: error["message"].as_str().expect("an error has a message").to_owned(),
        data: error["data"].take(),
    })
}
