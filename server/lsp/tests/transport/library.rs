//! A client of the library's own `Server`, in a single-threaded runtime with a paused clock. A timeout fires only if no
//! task can continue, so a test can be certain that no further message arrives.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tower_lsp::Server;

use crate::mock::{World, frame, initialize};

pub(crate) struct Library {
    pub(crate) world: World,
    input: DuplexStream,
    output: BufReader<DuplexStream>,
    serving: JoinHandle<()>,
}

/// State of the server once no task can continue.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Serves,
    Ended,
    Panicked,
}

impl Library {
    /// Creates a client whose server is initialized.
    pub(crate) async fn start() -> Self {
        let mut library = Self::fresh();
        library.send(&initialize()).await;
        assert!(library.next().await.unwrap()["result"].is_object());
        library
    }

    pub(crate) fn fresh() -> Self {
        let world = World::default();
        let (service, socket) = world.service();
        let (input, reader) = tokio::io::duplex(4 << 20);
        let (writer, output) = tokio::io::duplex(4 << 20);
        let serving = tokio::spawn(Server::new(reader, writer, socket).serve(service));
        Self { world, input, output: BufReader::new(output), serving }
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_raw(&frame(message)).await;
    }

    pub(crate) async fn send_all(&mut self, messages: impl IntoIterator<Item = Value>) {
        for message in messages {
            self.send(&message).await;
        }
    }

    pub(crate) async fn send_raw(&mut self, bytes: &[u8]) {
        // Writing fails if the server has ended and closed its input.
        let _ = self.input.write_all(bytes).await;
    }

    /// Returns the next message, or `None` if no further message arrives.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        timeout(Duration::from_secs(3600), read_message(&mut self.output)).await.ok()?
    }

    /// Returns all further messages.
    pub(crate) async fn rest(&mut self) -> Vec<Value> {
        let mut rest = Vec::new();
        while let Some(message) = self.next().await {
            rest.push(message);
        }
        rest
    }

    pub(crate) async fn fate(self) -> Fate {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        if !self.serving.is_finished() {
            return Fate::Serves;
        }
        match self.serving.await {
            Ok(()) => Fate::Ended,
            Err(_) => Fate::Panicked,
        }
    }
}

async fn read_message(output: &mut BufReader<DuplexStream>) -> Option<Value> {
    let mut header = String::new();
    if output.read_line(&mut header).await.ok()? == 0 {
        return None;
    }
    let length: usize = header.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
    let mut body = vec![0; length + 2];
    output.read_exact(&mut body).await.ok()?;
    Some(serde_json::from_slice(&body).unwrap())
}
