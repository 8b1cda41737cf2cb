//! A client of the transport, with real pipes and threads.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use strata_lsp::transport::{Exit, TransportOptions, serve};

use crate::mock::{LIMIT, World, frame, initialize};

pub(crate) struct Ours {
    pub(crate) world: World,
    /// `None` after [`Ours::hang_up`].
    input: Option<PipeWriter>,
    output: Receiver<Value>,
    ended: Receiver<Exit>,
}

impl Ours {
    /// Creates a client whose server is initialized.
    pub(crate) fn start() -> Self {
        Self::start_with(TransportOptions::default())
    }

    pub(crate) fn start_with(options: TransportOptions) -> Self {
        let mut ours = Self::fresh(options);
        ours.send(&initialize());
        assert!(ours.next()["result"].is_object());
        ours
    }

    /// Creates a client that has not sent a message yet.
    pub(crate) fn fresh(options: TransportOptions) -> Self {
        let (reader, input) = io::pipe().unwrap();
        let (output, writer) = io::pipe().unwrap();
        let world = World::default();
        let ended = run(&world, reader, writer, options);
        Self { world, input: Some(input), output: read_messages(output), ended }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_raw(&frame(message));
    }

    pub(crate) fn send_all(&mut self, messages: impl IntoIterator<Item = Value>) {
        self.send_raw(&messages.into_iter().flat_map(|message| frame(&message)).collect::<Vec<_>>());
    }

    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Waits for the next message from the server.
    pub(crate) fn next(&self) -> Value {
        self.output.recv_timeout(LIMIT).expect("the server sends nothing")
    }

    /// Waits for the next `count` messages, and sorts them by id.
    pub(crate) fn answers(&self, count: usize) -> Vec<Value> {
        let mut answers: Vec<_> = (0..count).map(|_| self.next()).collect();
        answers.sort_by_key(|answer| answer["id"].as_i64());
        answers
    }

    pub(crate) fn hang_up(&mut self) {
        self.input = None;
    }

    pub(crate) fn exit(&self) -> Exit {
        self.ended.recv_timeout(LIMIT).expect("the server keeps running")
    }

    pub(crate) fn exit_within(&self, time: Duration) -> Option<Exit> {
        self.ended.recv_timeout(time).ok()
    }

    /// Ends serving, and returns all messages until the output ends.
    pub(crate) fn rest(mut self) -> Vec<Value> {
        self.hang_up();
        self.exit();
        let mut rest = Vec::new();
        while let Ok(message) = self.output.recv_timeout(LIMIT) {
            rest.push(message);
        }
        rest
    }
}

/// Serves on a separate runtime.
pub(crate) fn run<I, O>(world: &World, reader: I, writer: O, options: TransportOptions) -> Receiver<Exit>
where
    I: Read + Send + 'static,
    O: Write + Send + 'static,
{
    let (done, ended) = mpsc::channel();
    let (service, socket) = world.service();
    thread::spawn(move || {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let exit = runtime.block_on(serve(service, socket, reader, writer, options, |_| ())).unwrap();
        runtime.shutdown_background();
        let _ = done.send(exit);
    });
    ended
}

fn read_messages(output: PipeReader) -> Receiver<Value> {
    let (sender, messages) = mpsc::channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        while let Some(message) = read_message(&mut output) {
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    messages
}

/// Reads one frame and checks its format strictly. Returns `None` at the end of the stream.
pub(crate) fn read_message(output: &mut impl BufRead) -> Option<Value> {
    let mut header = String::new();
    if output.read_line(&mut header).unwrap() == 0 {
        return None;
    }
    let length =
        header.strip_prefix("Content-Length: ").unwrap().strip_suffix("\r\n").unwrap().parse().unwrap();
    let mut blank = [0; 2];
    output.read_exact(&mut blank).unwrap();
    assert_eq!(&blank, b"\r\n");
    let mut body = vec![0; length];
    output.read_exact(&mut body).unwrap();
    Some(serde_json::from_slice(&body).unwrap())
}
