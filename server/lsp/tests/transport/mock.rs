//! A language server whose handlers do what a test requests, and log it.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types::notification::Notification;
use tower_lsp::ls_types::{DidChangeTextDocumentParams, InitializeParams, InitializeResult, request};
use tower_lsp::{Client, ClientSocket, LanguageServer, LspService};

/// Timeout that only a hang reaches.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// State shared by the handlers and the test.
#[derive(Clone, Default)]
pub(crate) struct World {
    log: Arc<(Mutex<Vec<String>>, Condvar)>,
    gates: Arc<Mutex<HashMap<String, Arc<Semaphore>>>>,
}

pub(crate) struct Mock {
    client: Client,
    world: World,
}

/// Argument of all test methods.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Arg {
    pub(crate) name: String,
    pub(crate) size: usize,
}

enum TestQuestion {}

impl request::Request for TestQuestion {
    type Params = Arg;
    type Result = Value;
    const METHOD: &'static str = "test/question";
}

enum Status {}

impl Notification for Status {
    type Params = Value;
    const METHOD: &'static str = "strata/status";
}

enum Event {}

impl Notification for Event {
    type Params = Value;
    const METHOD: &'static str = "test/event";
}

impl World {
    pub(crate) fn service(&self) -> (LspService<Mock>, ClientSocket) {
        let world = self.clone();
        LspService::build(|client| Mock { client, world })
            .custom_method("test/noop", Mock::noop)
            .custom_method("test/slow", Mock::slow)
            .custom_method("test/ask", Mock::ask)
            .custom_method("test/big", Mock::big)
            .custom_method("test/tell", Mock::tell)
            .custom_method("test/panic", Mock::panic)
            .custom_method("test/panicLater", Mock::panic_later)
            .custom_method("test/boom", Mock::boom)
            .custom_method("test/late", Mock::late)
            .finish()
    }

    /// Lets one handler pass the gate.
    pub(crate) fn open(&self, gate: &str) {
        self.gate(gate).add_permits(1);
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.log.0.lock().unwrap().clone()
    }

    /// Waits until the log contains an entry.
    pub(crate) fn wait_for(&self, entry: &str) {
        let log = self.log.0.lock().unwrap();
        let absent = |log: &mut Vec<String>| !log.iter().any(|logged| logged == entry);
        let (log, timeout) = self.log.1.wait_timeout_while(log, LIMIT, absent).unwrap();
        assert!(!timeout.timed_out(), "{entry} never happened: {log:?}");
    }

    fn note(&self, entry: String) {
        self.log.0.lock().unwrap().push(entry);
        self.log.1.notify_all();
    }

    fn gate(&self, name: &str) -> Arc<Semaphore> {
        Arc::clone(
            self.gates.lock().unwrap().entry(name.to_owned()).or_insert_with(|| Semaphore::new(0).into()),
        )
    }

    async fn pass(&self, name: &str) {
        let gate = self.gate(name);
        gate.acquire().await.unwrap().forget();
    }
}

impl Mock {
    async fn noop(&self) -> Result<Value> {
        Ok(Value::Null)
    }

    async fn slow(&self, arg: Arg) -> Result<String> {
        self.world.note(format!("slow {}", arg.name));
        self.world.pass(&arg.name).await;
        self.world.note(format!("done {}", arg.name));
        Ok(arg.name)
    }

    async fn ask(&self, arg: Arg) -> Result<Value> {
        self.world.note(format!("ask {}", arg.name));
        self.client.send_request::<TestQuestion>(arg).await
    }

    async fn big(&self, arg: Arg) -> Result<String> {
        Ok("x".repeat(arg.size))
    }

    /// Sends `size` notifications of a state and one of an event, and answers in the same poll.
    async fn tell(&self, arg: Arg) -> Result<()> {
        for count in 1..=arg.size {
            self.client.send_notification::<Status>(json!({ "count": count })).await;
        }
        self.client.send_notification::<Event>(json!({ "told": arg.size })).await;
        self.world.note(format!("told {}", arg.name));
        Ok(())
    }

    async fn panic(&self) -> Result<()> {
        panic!("a test wants it")
    }

    async fn panic_later(&self, arg: Arg) -> Result<()> {
        self.world.pass(&arg.name).await;
        panic!("a test wants it")
    }

    async fn boom(&self) {
        self.world.note("boom".to_owned());
        panic!("a test wants it")
    }

    /// Violates the rule "events first" by awaiting before it acts.
    async fn late(&self, arg: Arg) {
        self.world.note(format!("late {}", arg.name));
        self.world.pass(&arg.name).await;
        self.world.note(format!("acted {}", arg.name));
    }
}

impl LanguageServer for Mock {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        self.world.note("initialize".to_owned());
        match params.initialization_options.as_ref().and_then(Value::as_str) {
            Some("slow") => self.world.pass("initialize").await,
            Some("refuse") => return Err(Error::invalid_params("a test wants it")),
            Some("panic") => panic!("a test wants it"),
            _ => {}
        }
        Ok(InitializeResult::default())
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.world.note(format!("change {}", params.text_document.version));
    }

    async fn shutdown(&self) -> Result<()> {
        self.world.note("shutdown".to_owned());
        Ok(())
    }
}

pub(crate) fn call(id: impl Into<Value>, method: &str, params: impl Serialize) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub(crate) fn notify(method: &str, params: impl Serialize) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

pub(crate) fn named(name: impl Display) -> Arg {
    Arg { name: format!("{name}"), size: 0 }
}

pub(crate) fn sized(size: usize) -> Arg {
    Arg { name: String::new(), size }
}

pub(crate) fn noop(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "test/noop" })
}

pub(crate) fn initialize() -> Value {
    call("initialize", "initialize", json!({ "capabilities": {} }))
}

pub(crate) fn change(version: usize) -> Value {
    let document = json!({ "uri": "untitled:a", "version": version });
    notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [{ "text": "a" }] }))
}

pub(crate) fn cancel(id: impl Into<Value>) -> Value {
    notify("$/cancelRequest", json!({ "id": id.into() }))
}

pub(crate) fn frame(message: &Value) -> Vec<u8> {
    frame_bytes(message.to_string().as_bytes())
}

pub(crate) fn frame_bytes(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    frame
}

pub(crate) fn code(reply: &Value) -> Option<i64> {
    reply.get("error")?.get("code")?.as_i64()
}
