//! The transport of the protocol: one JSON value per line. Accepts what clients send in good faith although the protocol
//! forbids it, and answers every request, even one that it cannot read. Does not know what a method does.

mod batches;
mod repairs;

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use rmcp::model::{ClientNotification, ErrorCode, ErrorData, JsonRpcMessage, JsonRpcNotification, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use serde_json::{Value, json};
use strata_app::json::from_slice;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
    BufReader,
};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use self::batches::UnansweredBatches;
use self::repairs::repair_params;

/// Maximum bytes of a line. Longer lines are skipped.
const MAX_LINE_BYTES: u64 = 16 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Returns the request that a message of the server answers.
pub(crate) fn answered_request(message: &TxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(reply) => Some(&reply.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

/// A transport over two pipes.
pub(crate) struct LineTransport<W> {
    messages: Receiver<RxJsonRpcMessage<RoleServer>>,
    output: Arc<BatchedOutput<W>>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> LineTransport<W> {
    /// Starts a task that reads `input`. The task ends with the input or with the transport.
    pub(crate) fn new(input: impl AsyncRead + Send + Unpin + 'static, output: W) -> Self {
        let output =
            Arc::new(BatchedOutput { writer: Some(output).into(), batches: UnansweredBatches::default() });
        let (sender, messages) = channel(1);
        tokio::spawn(read(input, Arc::clone(&output), sender));
        Self { messages, output }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for LineTransport<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move {
            match answered_request(&message).filter(|id| output.batches.contains(id)) {
                Some(id) => match output.batches.add_reply(id, serde_json::to_value(&message)?) {
                    Some(replies) => output.write(&replies).await,
                    None => Ok(()),
                },
                None => output.write(&message).await,
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.writer.lock().await.take();
        Ok(())
    }
}

/// The output pipe, and the batches that are not completely answered.
struct BatchedOutput<W> {
    writer: tokio::sync::Mutex<Option<W>>,
    batches: UnansweredBatches,
}

impl<W: AsyncWrite + Send + Unpin> BatchedOutput<W> {
    async fn write(&self, message: &impl Serialize) -> io::Result<()> {
        let mut writer = self.writer.lock().await;
        let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        // Only now, since many messages wait for a client that does not read.
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        writer.write_all(&line).await?;
        writer.flush().await
    }
}

/// Reads messages until the input ends, the output breaks or the transport is dropped.
async fn read<W: AsyncWrite + Send + Unpin>(
    input: impl AsyncRead + Send + Unpin,
    output: Arc<BatchedOutput<W>>,
    messages: Sender<RxJsonRpcMessage<RoleServer>>,
) {
    let mut input = BufReader::new(input);
    while let Ok(Some(line)) = next_line(&mut input).await {
        let incoming = match line {
            Line::TooLong => {
                refusal(None, ErrorCode::INVALID_REQUEST, "the message is larger than 16 MiB").into()
            }
            Line::Text(text) => decode_line(&text, &output),
        };
        for message in incoming.messages {
            if messages.send(message).await.is_err() {
                return;
            }
        }
        for reply in incoming.replies {
            if output.write(&reply).await.is_err() {
                return;
            }
        }
    }
}

enum Line {
    Text(Vec<u8>),
    TooLong,
}

/// Reads a line. Returns `None` at the end of the input.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    input.take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut line).await?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.ends_with(b"\n") || line.len() as u64 <= MAX_LINE_BYTES {
        return Ok(Some(Line::Text(line)));
    }
    while !line.is_empty() && !line.ends_with(b"\n") {
        line.clear();
        input.take(MAX_LINE_BYTES).read_until(b'\n', &mut line).await?;
    }
    Ok(Some(Line::TooLong))
}

/// The messages of a line, and the replies to those of its messages that cannot be passed on.
#[derive(Default)]
struct DecodedLine {
    messages: Vec<RxJsonRpcMessage<RoleServer>>,
    replies: Vec<Value>,
}

impl From<Value> for DecodedLine {
    fn from(reply: Value) -> Self {
        Self { messages: Vec::new(), replies: vec![reply] }
    }
}

fn decode_line<W: AsyncWrite + Send + Unpin>(line: &[u8], output: &BatchedOutput<W>) -> DecodedLine {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
    let mut incoming = match from_slice(line) {
        Ok(Value::Array(batch)) if batch.is_empty() => {
            refusal(None, ErrorCode::INVALID_REQUEST, "the batch is empty").into()
        }
        Ok(Value::Array(batch)) => return decode_batch(batch, output),
        Ok(message) => decode(message),
        // Text that does not look like a message gets no reply: a client that echoes what it cannot read would be
        // answered forever.
        Err(_) if !line.starts_with(b"{") && !line.starts_with(b"[") => DecodedLine::default(),
        Err(error) => {
            refusal(None, ErrorCode::PARSE_ERROR, &format!("the message is not JSON: {error}")).into()
        }
    };
    incoming.replies.extend(
        incoming.messages.iter().filter_map(cancelled_request).filter_map(|id| output.batches.cancel(id)),
    );
    incoming
}

fn decode_batch<W: AsyncWrite + Send + Unpin>(batch: Vec<Value>, output: &BatchedOutput<W>) -> DecodedLine {
    let mut incoming = DecodedLine::default();
    for DecodedLine { messages, replies } in batch.into_iter().map(decode) {
        incoming.messages.extend(messages);
        incoming.replies.extend(replies);
    }
    let requests = incoming.messages.iter().filter_map(|message| match message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    });
    let unanswered: HashSet<RequestId> = requests.collect();
    let replies = std::mem::take(&mut incoming.replies);
    incoming.replies.extend(output.batches.open(unanswered, replies));
    incoming
}

/// Returns the request that a message cancels.
fn cancelled_request(message: &RxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Notification(JsonRpcNotification {
            notification: ClientNotification::CancelledNotification(cancelled),
            ..
        }) => cancelled.params.request_id.as_ref(),
        _ => None,
    }
}

/// Decodes a message that is not a batch. A request that cannot be decoded gets a reply; other such messages are ignored.
fn decode(message: Value) -> DecodedLine {
    let Value::Object(mut fields) = message else {
        return refusal(None, ErrorCode::INVALID_REQUEST, "a message must be a JSON object").into();
    };
    fields.insert("jsonrpc".to_owned(), "2.0".into());
    for optional in ["id", "params"] {
        if fields.get(optional).is_some_and(Value::is_null) {
            fields.shift_remove(optional);
        }
    }
    let id = fields.get("id").cloned();
    if id.as_ref().is_some_and(|id| !id.is_string() && !id.is_i64()) {
        return refusal(None, ErrorCode::INVALID_REQUEST, "`id` must be a string or an integer").into();
    }
    let is_request = id.is_some() && fields.contains_key("method");
    if is_request && let Err(problem) = repair_params(&mut fields) {
        return refusal(id, ErrorCode::INVALID_PARAMS, &problem).into();
    }
    let is_other =
        fields.contains_key("method") || fields.contains_key("result") || fields.contains_key("error");
    match serde_json::from_value(fields.into()) {
        Ok(message) => DecodedLine { messages: vec![message], replies: Vec::new() },
        Err(_) if is_other && !is_request => DecodedLine::default(),
        Err(_) => refusal(id, ErrorCode::INVALID_REQUEST, "a request needs `method`, a string").into(),
    }
}

/// Returns an error reply. The id is `null` if it cannot be read, as JSON-RPC requires.
fn refusal(id: Option<Value>, code: ErrorCode, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": ErrorData::new(code, message.to_owned(), None) })
}
