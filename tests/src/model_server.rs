//! A model provider on this machine: it speaks the protocol of one provider, refuses what that provider would refuse, and
//! misbehaves as it is told. Written from the providers' own documentation and knows nothing of Strata.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// Whose protocol is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// <https://docs.anthropic.com/en/api/messages>
    Anthropic,
    /// <https://platform.openai.com/docs/api-reference/chat/create>
    OpenAi,
    /// <https://ai.google.dev/api/generate-content>
    Gemini,
    /// <https://github.com/ollama/ollama/blob/main/docs/api.md>
    Ollama,
}

/// What the server does with one request that it has read.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A right answer with this text, if the request is right.
    Text(String),
    /// A right answer of which one byte comes each time this long passes.
    Drip(String, Duration),
    /// A status with an error in the form of the provider, and further headers.
    Refuse(u16, Vec<(&'static str, String)>),
    /// Success, with this content type and body.
    Body(&'static str, String),
    /// Success, with this content type and the beginning of a body, then nothing more, ever.
    Begin(&'static str, String),
    /// Success, and a body that has no end.
    Endless,
    /// A status, and a body that has no end.
    EndlessRefusal(u16),
    /// Headers, then nothing more, ever.
    Stall,
    /// Not one byte, ever.
    Silence,
    /// The connection is closed instead of an answer.
    CutBefore,
    /// The connection is closed in the middle of a right answer.
    CutWithin(String),
    /// The client is sent elsewhere.
    Redirect(String),
}

/// One request as it came.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// `POST /v1/messages`
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// Null when it was not JSON.
    pub body: Value,
}

/// A running server. It ends with the value.
pub struct ModelServer {
    dialect: Dialect,
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    asked: Mutex<Vec<ModelRequest>>,
    over: AtomicBool,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenAi, Self::Gemini, Self::Ollama];

    /// A right answer.
    pub fn answer(self, text: &str) -> Value {
        match self {
            Self::Anthropic => json!({
                "id": "msg_01", "type": "message", "role": "assistant", "model": "m",
                "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn", "stop_sequence": null,
                "usage": {"input_tokens": 10, "output_tokens": 5}
            }),
            Self::OpenAi => json!({
                "id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": "m",
                "choices": [{
                    "index": 0, "logprobs": null, "finish_reason": "stop",
                    "message": {"role": "assistant", "content": text, "refusal": null}
                }],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
            }),
            Self::Gemini => json!({
                "candidates": [{
                    "content": {"parts": [{"text": text}], "role": "model"}, "finishReason": "STOP", "index": 0
                }],
                "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
                "modelVersion": "m", "responseId": "r"
            }),
            Self::Ollama => json!({
                "model": "m", "created_at": "2025-01-01T00:00:00.000000Z",
                "message": {"role": "assistant", "content": text}, "done_reason": "stop", "done": true,
                "total_duration": 5, "load_duration": 1, "prompt_eval_count": 10, "prompt_eval_duration": 1,
                "eval_count": 5, "eval_duration": 1
            }),
        }
    }

    /// An error in the provider's form.
    pub fn error(self, status: u16, message: &str) -> Value {
        match self {
            Self::Anthropic => {
                json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
            }
            Self::OpenAi => json!({
                "error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}
            }),
            Self::Gemini => {
                json!({"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}})
            }
            Self::Ollama => json!({"error": message}),
        }
    }

    /// What the provider would say against a request: a status and a reason.
    fn objection(self, asked: &ModelRequest) -> Option<(u16, &'static str)> {
        let body = &asked.body;
        let text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        let is_list = |value: &Value| value.as_array().is_some_and(|list| !list.is_empty());
        let said = |list: &Value, content: &str| {
            list.as_array().into_iter().flatten().all(|message| {
                matches!(
                    message["role"].as_str(),
                    Some("user" | "assistant" | "system" | "developer" | "model")
                ) && !message[content].is_null()
            })
        };
        if asked.header("content-type") != Some("application/json") {
            return Some((415, "the content type is not JSON"));
        }
        let (path, keyed, complete) = match self {
            Self::Anthropic => (
                asked.line == "POST /v1/messages",
                asked.header("x-api-key").is_some(),
                asked.header("anthropic-version") == Some("2023-06-01")
                    && text(&body["model"])
                    && body["max_tokens"].as_u64().is_some_and(|most| most > 0)
                    && is_list(&body["messages"])
                    && body["messages"].as_array().into_iter().flatten().all(|m| m["role"] != "system")
                    && said(&body["messages"], "content"),
            ),
            Self::OpenAi => (
                asked.line == "POST /v1/chat/completions",
                asked.header("authorization").is_none_or(|value| value.starts_with("Bearer ")),
                text(&body["model"]) && is_list(&body["messages"]) && said(&body["messages"], "content"),
            ),
            Self::Gemini => (
                asked.line.starts_with("POST /v1beta/models/") && asked.line.ends_with(":generateContent"),
                asked.header("x-goog-api-key").is_some(),
                is_list(&body["contents"]) && said(&body["contents"], "parts"),
            ),
            Self::Ollama => (
                asked.line == "POST /api/chat",
                true,
                text(&body["model"])
                    && is_list(&body["messages"])
                    && body["stream"] == false
                    && said(&body["messages"], "content"),
            ),
        };
        match (path, keyed, complete) {
            (false, ..) => Some((404, "there is no such thing here")),
            (_, false, _) => Some((401, "no key")),
            (.., false) => Some((400, "the request is not complete")),
            _ => None,
        }
    }
}

impl ModelRequest {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl ModelServer {
    /// A server that gives one reply after the other and then the last one for ever.
    pub fn start(dialect: Dialect, replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared { asked: Mutex::default(), over: AtomicBool::new(false) });
        let server = Self { dialect, address, shared: Arc::clone(&shared) };
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.over.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(stream), shared, replies) = (stream, Arc::clone(&shared), replies.clone()) else {
                    continue;
                };
                thread::spawn(move || serve(dialect, stream, &shared, &replies));
            }
        });
        server
    }

    /// The address that this provider's own client is given.
    pub fn base_url(&self) -> String {
        match self.dialect {
            Dialect::OpenAi => format!("http://{}/v1", self.address),
            Dialect::Anthropic | Dialect::Gemini | Dialect::Ollama => format!("http://{}", self.address),
        }
    }

    /// All requests that came so far.
    pub fn asked(&self) -> Vec<ModelRequest> {
        self.shared.asked().clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn asked(&self) -> MutexGuard<'_, Vec<ModelRequest>> {
        self.asked.lock().unwrap()
    }

    /// Keeps a connection open until the server ends.
    fn hold(&self) {
        while !self.over.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// One connection: one request, one reply.
fn serve(dialect: Dialect, mut stream: TcpStream, shared: &Shared, replies: &[Reply]) {
    let Some(asked) = read(&stream) else { return };
    let objection = dialect.objection(&asked);
    let reply = {
        let mut all = shared.asked();
        all.push(asked);
        replies[(all.len() - 1).min(replies.len() - 1)].clone()
    };
    // A client that has gone is no concern of a server's.
    let _ = respond(dialect, &mut stream, shared, reply, objection);
}

fn respond(
    dialect: Dialect,
    stream: &mut TcpStream,
    shared: &Shared,
    reply: Reply,
    objection: Option<(u16, &'static str)>,
) -> std::io::Result<()> {
    if let (Some((status, why)), Reply::Text(_)) = (objection, &reply) {
        return whole(stream, status, "application/json", &[], &dialect.error(status, why).to_string());
    }
    match reply {
        Reply::Text(text) => whole(stream, 200, "application/json", &[], &dialect.answer(&text).to_string()),
        Reply::Body(kind, body) => whole(stream, 200, kind, &[], &body),
        Reply::Begin(kind, body) => {
            head(stream, 200, kind, &[])?;
            stream.write_all(body.as_bytes())?;
            shared.hold();
            Ok(())
        }
        Reply::Refuse(status, headers) => {
            let body = dialect.error(status, "not today").to_string();
            whole(stream, status, "application/json", &headers, &body)
        }
        Reply::Redirect(to) => whole(stream, 307, "text/plain", &[("location", to)], ""),
        Reply::Drip(text, pause) => {
            let body = dialect.answer(&text).to_string();
            head(stream, 200, "application/json", &[("content-length", body.len().to_string())])?;
            for byte in body.bytes() {
                if shared.over.load(Ordering::Relaxed) {
                    break;
                }
                stream.write_all(&[byte])?;
                thread::sleep(pause);
            }
            Ok(())
        }
        Reply::Endless => endless(stream, 200),
        Reply::EndlessRefusal(status) => endless(stream, status),
        Reply::Stall => {
            head(stream, 200, "application/json", &[("content-length", "1000".to_owned())])?;
            shared.hold();
            Ok(())
        }
        Reply::Silence => {
            shared.hold();
            Ok(())
        }
        Reply::CutBefore => Ok(()),
        Reply::CutWithin(text) => {
            let body = dialect.answer(&text).to_string();
            head(stream, 200, "application/json", &[("content-length", body.len().to_string())])?;
            stream.write_all(&body.as_bytes()[..body.len() / 2])
        }
    }
}

fn whole(
    stream: &mut TcpStream,
    status: u16,
    kind: &str,
    headers: &[(&'static str, String)],
    body: &str,
) -> std::io::Result<()> {
    let mut headers = headers.to_vec();
    headers.push(("content-length", body.len().to_string()));
    head(stream, status, kind, &headers)?;
    stream.write_all(body.as_bytes())
}

/// Bytes until the client goes away.
fn endless(stream: &mut TcpStream, status: u16) -> std::io::Result<()> {
    head(stream, status, "application/json", &[])?;
    let block = vec![b'['; 64 * 1024];
    loop {
        stream.write_all(&block)?;
    }
}

fn head(
    stream: &mut TcpStream,
    status: u16,
    kind: &str,
    headers: &[(&'static str, String)],
) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {status} Said So\r\nconnection: close\r\ncontent-type: {kind}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())
}

/// The request on a connection; none when there is no whole one.
fn read(stream: &TcpStream) -> Option<ModelRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = || {
        let mut line = String::new();
        let read = reader.read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim_end().to_owned())
    };
    let first = line()?;
    let mut headers = Vec::new();
    loop {
        let line = line()?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let line = first.strip_suffix(" HTTP/1.1")?.to_owned();
    Some(ModelRequest { line, headers, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}
