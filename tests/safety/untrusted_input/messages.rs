//! A whole conversation: what a client sends behind `initialize`, one message per line, each in a frame of its own. Whatever
//! it is, the request after it is answered once, and the server leaves when it is told to.
use std::fs;
use std::io::{self, Cursor, Read, Write};
use std::sync::{Arc, Condvar, LazyLock, Mutex};
use std::time::Duration;
use std::vec;

use serde_json::{Value, json};
use strata_lsp::server::run_on;
use strata_lsp::transport::{DecodedFrame, FrameDecoder, FrameLimits};
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.rs"), "/// Adds.\npub fn add(a: u32) -> u32 { a }\n").unwrap();
    fs::write(folder.path().join("b.py"), "class B:\n    def run(self):\n        return 'é🦀'\n").unwrap();
    folder
});

/// Reached by a hang only.
const LIMIT: Duration = Duration::from_secs(60);

/// What the server says.
#[derive(Clone, Default)]
struct ServerOutput(Arc<(Mutex<Vec<u8>>, Condvar)>);

impl ServerOutput {
    /// Waits until these bytes are among what it said. Gives up after a while: what is missing is told at the end.
    fn wait_for(&self, wanted: &[u8]) {
        let (said, changed) = &*self.0;
        let missing = |said: &mut Vec<u8>| {
            !wanted.is_empty() && !said.windows(wanted.len()).any(|window| window == wanted)
        };
        drop(changed.wait_timeout_while(said.lock().unwrap(), LIMIT, missing).unwrap());
    }
}

impl Write for ServerOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (said, changed) = &*self.0;
        said.lock().unwrap().extend_from_slice(bytes);
        changed.notify_all();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the client says, and what it waits for before it says it.
struct Client {
    said: ServerOutput,
    turns: vec::IntoIter<(&'static [u8], Vec<u8>)>,
    turn: Cursor<Vec<u8>>,
}

impl Read for Client {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.turn.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            let Some((wanted, bytes)) = self.turns.next() else { return Ok(0) };
            self.said.wait_for(wanted);
            self.turn = Cursor::new(bytes);
        }
    }
}

fn frame(body: &[u8]) -> Vec<u8> {
    [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

fn message(message: &Value) -> Vec<u8> {
    frame(message.to_string().as_bytes())
}

/// Requests and notifications that end the conversation are others' concern.
fn leaves(line: &[u8]) -> bool {
    [&b"shutdown"[..], b"exit", b"\\u"]
        .iter()
        .any(|word| line.windows(word.len()).any(|window| window == *word))
}

/// Takes any input.
pub(crate) fn check(input: &[u8]) {
    let uri = format!("file://{}", FOLDER.path().display());
    let hello = message(&json!({ "jsonrpc": "2.0", "id": "first", "method": "initialize", "params": {
        "capabilities": {}, "workspaceFolders": [{ "uri": uri, "name": "repo" }],
        "initializationOptions": { "trusted": true },
    }}));
    let mut sent = message(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
    for line in input.split(|byte| *byte == b'\n').filter(|line| !leaves(line)).take(16) {
        // `~` stands for the folder, which has another name in each run.
        let text = String::from_utf8_lossy(line).replace('~', &uri);
        sent.extend(frame(text.as_bytes()));
    }
    sent.extend(message(&json!({ "jsonrpc": "2.0", "id": "last", "method": "workspace/executeCommand",
        "params": { "command": "strata.server.status" } })));
    let turns: Vec<(&[u8], Vec<u8>)> = vec![
        (b"", hello),
        (b"\"id\":\"first\"", sent),
        (b"\"id\":\"last\"", message(&json!({ "jsonrpc": "2.0", "id": "end", "method": "shutdown" }))),
        (b"\"id\":\"end\"", message(&json!({ "jsonrpc": "2.0", "method": "exit" }))),
    ];
    let said = ServerOutput::default();
    let client = Client { said: said.clone(), turns: turns.into_iter(), turn: Cursor::default() };
    let exit = run_on(client, said.clone()).unwrap();
    let said = said.0.0.lock().unwrap();
    let heard = String::from_utf8_lossy(&said);
    assert_eq!(exit.code, 0, "{exit:?}: {heard}");
    let answers: Vec<Value> = FrameDecoder::new(FrameLimits::default())
        .push(&said)
        .map(|decoded| match decoded {
            DecodedFrame::Frame(body) => serde_json::from_slice(&body).unwrap(),
            other => unreachable!("the server wrote {other:?}"),
        })
        .collect();
    // A handler that panics is answered for with this.
    assert!(answers.iter().all(|answer| answer["error"]["code"] != -32_603), "{heard}");
    for id in ["last", "end"] {
        let of_it: Vec<_> =
            answers.iter().filter(|answer| answer["id"] == id && answer["method"].is_null()).collect();
        // An answer to a request of the same name that was made up may be there, too.
        assert!(of_it.iter().any(|answer| answer["error"].is_null()), "{id}: {heard}");
    }
}
