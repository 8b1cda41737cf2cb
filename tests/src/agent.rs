//! A client of `strata mcp`, which runs as a process of its own.

use std::io::{BufRead as _, BufReader, Lines, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

/// A running `strata mcp` that has been initialized. Killed when dropped.
pub struct Agent {
    process: Child,
    input: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    log: Option<JoinHandle<String>>,
    last_id: u64,
    /// Result of `initialize`.
    pub hello: Value,
}

impl Agent {
    /// Initializes a server that has just been started with pipes.
    pub fn new(mut process: Child) -> Self {
        let input = process.stdin.take();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut errors = process.stderr.take().unwrap();
        let log = thread::spawn(move || {
            let mut text = Vec::new();
            let _ = errors.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut agent = Self { process, input, lines, log: Some(log), last_id: 0, hello: Value::Null };
        let client = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } });
        agent.hello = agent.request("initialize", client);
        agent.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        agent
    }

    /// Sends a request, and returns its result.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&message);
        loop {
            let line = self.lines.next().unwrap_or_else(|| panic!("no reply to {message}")).unwrap();
            let mut reply: Value = serde_json::from_str(&line).unwrap();
            if reply["id"] == id {
                assert!(reply["error"].is_null(), "{message}: {reply}");
                return reply["result"].take();
            }
        }
    }

    /// Calls a tool, and returns its result.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Calls a tool, and returns the text of its result.
    pub fn text(&mut self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments)["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Ends the server as clients do, and returns its log.
    pub fn end(mut self) -> String {
        self.input = None;
        assert!(self.process.wait().unwrap().success());
        self.log.take().unwrap().join().unwrap()
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Both fail if the server has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
