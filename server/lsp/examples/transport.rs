//! Measures the transport over real pipes in one process: `cargo run --release -p strata-lsp --example transport`.
//!
//! Runs three servers, five rounds each: the transport with a handler that answers in its first poll, the transport
//! with a handler that asks a main loop on another thread ("event first"), and the library's own `Server` on tokio's
//! standard pipes.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "an example prints its measurements")]

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use strata_lsp::transport::{TransportOptions, serve};
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{DidChangeTextDocumentParams, InitializeParams, InitializeResult};
use tower_lsp::{ClientSocket, LanguageServer, LspService, Server};

const REQUESTS: usize = 20_000;
const CHANGES: usize = 300_000;
const BENCHMARK_ROUNDS: usize = 5;

struct Mock {
    changes: AtomicUsize,
    mail: mpsc::Sender<oneshot::Sender<Value>>,
}

impl Mock {
    async fn noop(&self) -> Result<Value> {
        Ok(Value::Null)
    }

    async fn mail(&self) -> Result<Value> {
        let (reply, answer) = oneshot::channel();
        self.mail.send(reply).unwrap();
        Ok(answer.await.unwrap())
    }

    async fn count(&self) -> Result<usize> {
        Ok(self.changes.load(Ordering::SeqCst))
    }
}

impl LanguageServer for Mock {
    async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
        Ok(InitializeResult::default())
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.changes.fetch_add(params.content_changes.len(), Ordering::SeqCst);
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum PeerKind {
    Transport,
    Library,
}

struct Peer {
    input: PipeWriter,
    output: BufReader<PipeReader>,
}

fn main() {
    let mut figures: Vec<(&str, PeerKind, &str, Vec<[f64; 3]>)> = vec![
        ("transport, first poll", PeerKind::Transport, "test/noop", Vec::new()),
        ("transport, event first", PeerKind::Transport, "test/mail", Vec::new()),
        ("library, first poll", PeerKind::Library, "test/noop", Vec::new()),
        ("library, event first", PeerKind::Library, "test/mail", Vec::new()),
    ];
    for _ in 0..BENCHMARK_ROUNDS {
        for (_, which, method, measured) in &mut figures {
            let mut peer = Peer::start(*which);
            let (p50, p99) = peer.round_trips(method);
            measured.push([p50, p99, peer.flood()]);
        }
    }
    println!("medians of {BENCHMARK_ROUNDS} rounds: {REQUESTS} round trips, {CHANGES} didChange");
    println!("{:<24}{:>10}{:>10}{:>16}", "", "p50 us", "p99 us", "didChange/s");
    for (name, _, _, mut measured) in figures {
        let mut median = |column: usize| {
            measured.sort_by(|left, right| left[column].total_cmp(&right[column]));
            measured[BENCHMARK_ROUNDS / 2][column]
        };
        println!("{name:<24}{:>10.1}{:>10.1}{:>16.0}", median(0), median(1), median(2));
    }
}

fn service() -> (LspService<Mock>, ClientSocket) {
    let (mail, letters) = mpsc::channel::<oneshot::Sender<Value>>();
    thread::spawn(move || letters.into_iter().for_each(|reply| drop(reply.send(Value::Null))));
    LspService::build(|_| Mock { changes: AtomicUsize::new(0), mail })
        .custom_method("test/noop", Mock::noop)
        .custom_method("test/mail", Mock::mail)
        .custom_method("test/count", Mock::count)
        .finish()
}

impl Peer {
    fn start(which: PeerKind) -> Self {
        let (reader, input) = io::pipe().unwrap();
        let (output, writer) = io::pipe().unwrap();
        thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            let (service, socket) = service();
            match which {
                PeerKind::Transport => {
                    runtime
                        .block_on(serve(service, socket, reader, writer, TransportOptions::default(), |_| ()))
                        .unwrap();
                }
                PeerKind::Library => {
                    let reader =
                        tokio::fs::File::from_std(std::fs::File::from(std::os::fd::OwnedFd::from(reader)));
                    let writer =
                        tokio::fs::File::from_std(std::fs::File::from(std::os::fd::OwnedFd::from(writer)));
                    runtime.block_on(Server::new(reader, writer, socket).serve(service));
                }
            }
            runtime.shutdown_timeout(Duration::ZERO);
        });
        let mut peer = Self { input, output: BufReader::new(output) };
        peer.send(
            &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "capabilities": {} } }),
        );
        peer.receive();
        peer
    }

    /// Sends requests one after another. Returns the median and the 99th percentile of the time until the answer, in
    /// microseconds.
    fn round_trips(&mut self, method: &str) -> (f64, f64) {
        let mut times: Vec<_> = (1..=REQUESTS)
            .map(|id| {
                let frame = frame(&json!({ "jsonrpc": "2.0", "id": id, "method": method }));
                let start = Instant::now();
                self.input.write_all(&frame).unwrap();
                self.receive();
                start.elapsed()
            })
            .collect();
        times.sort();
        let at = |share: usize| times[REQUESTS * share / 100].as_secs_f64() * 1e6;
        (at(50), at(99))
    }

    /// Returns the number of edits per second, measured until the server has handled the last edit.
    fn flood(&mut self) -> f64 {
        let change = frame(&json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
            "textDocument": { "uri": "file:///project/src/main.rs", "version": 7 },
            "contentChanges": [{
                "range": { "start": { "line": 10, "character": 4 }, "end": { "line": 10, "character": 4 } }, "text": "x"
            }]
        }}));
        let start = Instant::now();
        (0..CHANGES).for_each(|_| self.input.write_all(&change).unwrap());
        loop {
            self.send(&json!({ "jsonrpc": "2.0", "id": "count", "method": "test/count" }));
            if self.receive()["result"] == CHANGES {
                return CHANGES as f64 / start.elapsed().as_secs_f64();
            }
        }
    }

    fn send(&mut self, message: &Value) {
        self.input.write_all(&frame(message)).unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut header = String::new();
        self.output.read_line(&mut header).unwrap();
        let length: usize = header.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        let mut body = vec![0; length + 2];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }
}

fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}
