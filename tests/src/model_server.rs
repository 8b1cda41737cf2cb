//! A simulated model provider on this machine: it implements the protocol of one provider, rejects what that
//! provider would reject, and misbehaves as configured. Follows the providers' documentation and is independent
//! of Strata.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// Protocol of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// <https://docs.anthropic.com/en/api/messages>
    Anthropic,
    /// <https://platform.openai.com/docs/api-reference/chat/create>
    OpenAi,
    /// <https://platform.openai.com/docs/api-reference/responses/create>
    Responses,
    /// <https://ai.google.dev/api/generate-content>
    Gemini,
    /// <https://github.com/ollama/ollama/blob/main/docs/api.md>; streams in the format of its OpenAI-compatible
    /// endpoint
    Ollama,
    /// <https://docs.cohere.com/v2/reference/chat>
    Cohere,
}

/// Response to a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A valid answer with this text, or an error if the request is invalid.
    Text(String),
    /// A valid answer, sent one byte at a time with this interval.
    Drip(String, Duration),
    /// An error in the provider's format, with a status and further headers.
    Refuse(u16, Vec<(&'static str, String)>),
    /// An error with this status and body.
    RefuseWith(u16, String),
    /// A valid answer as a stream of several pieces, or an error if the request is invalid.
    Stream(String),
    /// A stream that contains half of the text and then fails in this way.
    StreamHalf(String, StreamFate),
    /// A stream that starts, and fails in this way before it contains text.
    StreamNothing(StreamFate),
    /// A stream whose text does not end.
    StreamEndless,
    /// Success, with this content type and body.
    Body(&'static str, String),
    /// Success, with this content type and the beginning of a body, and then nothing more.
    Begin(&'static str, String),
    /// Success, and a body that does not end.
    Endless,
    /// An error with this status, and a body that does not end.
    EndlessRefusal(u16),
    /// Headers, and then nothing more.
    Stall,
    /// Nothing at all.
    Silence,
    /// The connection is closed without a response.
    CutBefore,
    /// The connection is closed in the middle of a valid answer.
    CutWithin(String),
    /// A redirect to another address.
    Redirect(String),
}

/// How a stream ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamFate {
    /// The connection is closed.
    Cut,
    /// Nothing more is sent.
    Stall,
    /// The provider reports that it is overloaded.
    Overloaded,
}

/// A received request.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// Method and path, such as `POST /v1/messages`.
    pub line: String,
    /// Headers with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, or null if it was not JSON.
    pub body: Value,
}

/// A running server. It stops when dropped.
pub struct ModelServer {
    dialect: Dialect,
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    asked: Mutex<Vec<ModelRequest>>,
    /// Number of requests that are being answered.
    open: AtomicUsize,
    over: AtomicBool,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 6] =
        [Self::Anthropic, Self::OpenAi, Self::Responses, Self::Gemini, Self::Ollama, Self::Cohere];

    /// Returns the name of the provider in Strata's settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Responses => "responses",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::Cohere => "cohere",
        }
    }

    /// Returns a valid answer.
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
            Self::Responses => json!({
                "id": "resp_1", "object": "response", "created_at": 1_700_000_000, "status": "completed", "model": "m",
                "output": [message_item(text)], "error": null, "incomplete_details": null,
                "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
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
            Self::Cohere => json!({
                "id": "1", "finish_reason": "COMPLETE",
                "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
                "usage": cohere_usage()
            }),
        }
    }

    /// Returns an error in the provider's format.
    pub fn error(self, status: u16, message: &str) -> Value {
        match self {
            Self::Anthropic => {
                json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
            }
            Self::OpenAi | Self::Responses => json!({
                "error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}
            }),
            Self::Gemini => {
                json!({"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}})
            }
            Self::Ollama => json!({"error": message}),
            Self::Cohere => json!({"id": "1", "message": message}),
        }
    }

    /// Returns a valid answer as the events of a stream: the beginning, the pieces of text, and the end.
    pub fn stream(self, text: &str) -> [Vec<String>; 3] {
        let characters: Vec<char> = text.chars().collect();
        let pieces: Vec<String> = characters.chunks(4).map(|piece| piece.iter().collect()).collect();
        self.stream_pieces(&pieces)
    }

    /// Returns a valid answer as the events of a stream, with these pieces of text.
    pub fn stream_pieces(self, pieces: &[String]) -> [Vec<String>; 3] {
        let text = &pieces.concat();
        let pieces = pieces.iter().cloned();
        let named =
            |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or("none"));
        let bare = |data: Value| format!("data: {data}\n\n");
        match self {
            Self::Anthropic => {
                let usage = json!({"input_tokens": 10, "output_tokens": 1});
                let begin = [
                    json!({"type": "message_start", "message": {"id": "msg_01", "role": "assistant", "content": [], "usage": usage}}),
                    json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                    json!({"type": "ping"}),
                ];
                let piece = |text: String| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}});
                let end = [
                    json!({"type": "content_block_stop", "index": 0}),
                    json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}),
                    json!({"type": "message_stop"}),
                ];
                [begin.map(named).into(), pieces.map(piece).map(named).collect(), end.map(named).into()]
            }
            Self::OpenAi | Self::Ollama => {
                let chunk = |delta: Value, finish: Value| {
                    bare(json!({
                        "id": "c", "object": "chat.completion.chunk", "usage": null,
                        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]
                    }))
                };
                let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
                [
                    vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)],
                    pieces.map(|piece| chunk(json!({"content": piece}), Value::Null)).collect(),
                    vec![
                        chunk(json!({}), "stop".into()),
                        bare(json!({"id": "c", "choices": [], "usage": usage})),
                        "data: [DONE]\n\n".to_owned(),
                    ],
                ]
            }
            Self::Responses => {
                let begin = json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}});
                let piece = |text: String| json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": text});
                let end = [
                    json!({"type": "response.output_item.done", "output_index": 0, "item": message_item(text)}),
                    json!({"type": "response.completed", "response": self.answer(text)}),
                ];
                [vec![named(begin)], pieces.map(piece).map(named).collect(), end.map(named).into()]
            }
            Self::Gemini => {
                let part = |text: String| {
                    json!({
                        "candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}],
                        "usageMetadata": {"promptTokenCount": 10, "totalTokenCount": 10}
                    })
                };
                [
                    vec![bare(json!({"usageMetadata": {"promptTokenCount": 10, "totalTokenCount": 10}}))],
                    pieces.map(part).map(bare).collect(),
                    vec![bare(self.answer(""))],
                ]
            }
            Self::Cohere => {
                let content = |kind: &str, content: Value| {
                    let delta = json!({"message": {"content": content}});
                    named(json!({"type": kind, "index": 0, "delta": delta}))
                };
                let begin =
                    json!({"type": "message-start", "id": "1", "delta": {"message": {"role": "assistant"}}});
                [
                    vec![named(begin), content("content-start", json!({"type": "text", "text": ""}))],
                    pieces.map(|text| content("content-delta", json!({"text": text}))).collect(),
                    vec![named(json!({"type": "content-end", "index": 0})), cohere_end("COMPLETE")],
                ]
            }
        }
    }

    /// Returns a valid answer with one tool call, as a stream.
    pub fn call(self, id: &str, name: &str, input: &Value) -> String {
        self.call_pieces(id, name, &[input.to_string()])
    }

    /// Returns a valid answer with one tool call, as a stream, with these pieces of its arguments as JSON. Responses and
    /// Gemini send them at once.
    pub fn call_pieces(self, id: &str, name: &str, pieces: &[String]) -> String {
        let written = pieces.concat();
        match self {
            Self::Anthropic => {
                let usage = json!({"input_tokens": 10, "output_tokens": 1});
                let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                let delta = |piece: &String| {
                    let delta = json!({"type": "input_json_delta", "partial_json": piece});
                    json!({"type": "content_block_delta", "index": 0, "delta": delta})
                };
                let mut events = vec![
                    json!({"type": "message_start", "message": {"id": "msg_01", "role": "assistant", "content": [], "usage": usage}}),
                    json!({"type": "content_block_start", "index": 0, "content_block": block}),
                ];
                events.extend(pieces.iter().map(delta));
                events.extend([
                    json!({"type": "content_block_stop", "index": 0}),
                    json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}),
                    json!({"type": "message_stop"}),
                ]);
                events
                    .iter()
                    .map(|data| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap()))
                    .collect()
            }
            Self::OpenAi | Self::Ollama => {
                let function = json!({"name": name, "arguments": ""});
                let call = json!({"index": 0, "id": id, "type": "function", "function": function});
                let chunk = |delta: Value, finish: Value| json!({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
                let part = |piece: &String| {
                    let part = json!({"index": 0, "function": {"arguments": piece}});
                    chunk(json!({"tool_calls": [part]}), Value::Null)
                };
                let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
                let mut events = vec![chunk(json!({"role": "assistant", "tool_calls": [call]}), Value::Null)];
                events.extend(pieces.iter().map(part));
                events.push(chunk(json!({}), "tool_calls".into()));
                events.push(json!({"id": "c", "choices": [], "usage": usage}));
                let events: String = events.iter().map(|data| format!("data: {data}\n\n")).collect();
                events + "data: [DONE]\n\n"
            }
            Self::Responses => {
                let item = json!({
                    "type": "function_call", "id": "fc_1", "call_id": id, "name": name, "arguments": written,
                    "status": "completed",
                });
                let mut response = self.answer("");
                response["output"] = json!([item]);
                let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
                let end = json!({"type": "response.completed", "response": response});
                format!(
                    "event: response.output_item.done\ndata: {done}\n\nevent: response.completed\ndata: {end}\n\n"
                )
            }
            Self::Gemini => {
                let mut answer = self.answer("");
                let input: Value = serde_json::from_str(&written).unwrap();
                let call = json!({"id": id, "name": name, "args": input});
                answer["candidates"][0]["content"]["parts"] =
                    json!([{"functionCall": call, "thoughtSignature": "c2lnbmVk"}]);
                format!("data: {answer}\n\n")
            }
            Self::Cohere => {
                let event = |kind: &str, calls: Value| {
                    let delta = json!({"message": {"tool_calls": calls}});
                    format!("event: {kind}\ndata: {}\n\n", json!({"type": kind, "index": 0, "delta": delta}))
                };
                let function = json!({"name": name, "arguments": ""});
                let mut events = vec![event(
                    "tool-call-start",
                    json!({"id": id, "type": "function", "function": function}),
                )];
                let delta =
                    |piece: &String| event("tool-call-delta", json!({"function": {"arguments": piece}}));
                events.extend(pieces.iter().map(delta));
                events.push(event("tool-call-end", Value::Null));
                events.concat() + &cohere_end("TOOL_CALL")
            }
        }
    }

    /// Returns a streamed piece of reasoning, for an answer that begins with it.
    pub fn thought(self, piece: &str) -> String {
        match self {
            Self::Anthropic => {
                let start = json!({"type": "content_block_start", "index": 9, "content_block": {"type": "thinking", "thinking": piece}});
                format!("event: content_block_start\ndata: {start}\n\n")
            }
            Self::OpenAi | Self::Ollama => {
                let delta = json!({"index": 0, "delta": {"reasoning_content": piece}, "finish_reason": null});
                format!("data: {}\n\n", json!({"id": "c", "choices": [delta]}))
            }
            Self::Responses => {
                let delta = json!({"type": "response.reasoning_summary_text.delta", "delta": piece});
                format!("event: response.reasoning_summary_text.delta\ndata: {delta}\n\n")
            }
            Self::Gemini => {
                let parts = json!([{"text": piece, "thought": true}]);
                format!(
                    "data: {}\n\n",
                    json!({"candidates": [{"content": {"parts": parts, "role": "model"}}]})
                )
            }
            Self::Cohere => {
                let delta = json!({"message": {"content": {"thinking": piece}}});
                let event = json!({"type": "content-delta", "index": 0, "delta": delta});
                format!("event: content-delta\ndata: {event}\n\n")
            }
        }
    }

    /// Returns the provider's stream event for an overload.
    fn overloaded(self) -> String {
        match self {
            Self::Anthropic => {
                let error = json!({"type": "overloaded_error", "message": "Overloaded"});
                format!("event: error\ndata: {}\n\n", json!({"type": "error", "error": error}))
            }
            Self::OpenAi | Self::Ollama => {
                let error = json!({"message": "Overloaded", "type": "server_error", "code": null});
                format!("data: {}\n\n", json!({"error": error}))
            }
            Self::Responses => {
                let error =
                    json!({"type": "error", "code": "server_error", "message": "Overloaded", "param": null});
                format!("event: error\ndata: {error}\n\n")
            }
            Self::Gemini => {
                let error = json!({"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"});
                format!("data: {}\n\n", json!({"error": error}))
            }
            Self::Cohere => {
                let delta = json!({"finish_reason": "ERROR", "error": "Overloaded", "usage": cohere_usage()});
                format!("event: message-end\ndata: {}\n\n", json!({"type": "message-end", "delta": delta}))
            }
        }
    }

    /// Returns the error with which the provider would reject a request: a status and a reason.
    fn objection(self, asked: &ModelRequest, streams: bool) -> Option<(u16, &'static str)> {
        let body = &asked.body;
        let text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        let is_list = |value: &Value| value.as_array().is_some_and(|list| !list.is_empty());
        let said = |list: &Value, content: &str| {
            list.as_array().into_iter().flatten().all(|message| {
                matches!(
                    message["role"].as_str(),
                    Some("user" | "assistant" | "system" | "developer" | "model" | "tool")
                ) && (!message[content].is_null() || is_list(&message["tool_calls"]))
            })
        };
        if asked.header("content-type") != Some("application/json") {
            return Some((415, "the content type is not JSON"));
        }
        let says_stream = if streams { body["stream"] == true } else { body["stream"] != true };
        let is_chat = || {
            text(&body["model"])
                && is_list(&body["messages"])
                && said(&body["messages"], "content")
                && says_stream
        };
        let bearer = asked.header("authorization").is_none_or(|value| value.starts_with("Bearer "));
        let (path, keyed, complete) = match self {
            Self::Anthropic => (
                asked.line == "POST /v1/messages",
                asked.header("x-api-key").is_some(),
                asked.header("anthropic-version") == Some("2023-06-01")
                    && body["max_tokens"].as_u64().is_some_and(|most| most > 0)
                    && body["messages"].as_array().into_iter().flatten().all(|m| m["role"] != "system")
                    && is_chat(),
            ),
            Self::OpenAi => (asked.line == "POST /v1/chat/completions", bearer, is_chat()),
            Self::Responses => (
                asked.line == "POST /v1/responses",
                bearer,
                text(&body["model"]) && (text(&body["input"]) || is_list(&body["input"])) && says_stream,
            ),
            Self::Gemini => (
                asked.line.starts_with("POST /v1beta/models/")
                    && asked.line.ends_with(if streams {
                        ":streamGenerateContent?alt=sse"
                    } else {
                        ":generateContent"
                    }),
                asked.header("x-goog-api-key").is_some(),
                is_list(&body["contents"])
                    && said(&body["contents"], "parts")
                    && body.get("model").is_none()
                    && body.get("stream").is_none(),
            ),
            Self::Cohere => (
                asked.line == "POST /v2/chat",
                bearer && asked.header("authorization").is_some(),
                is_chat_of_cohere(body) && says_stream,
            ),
            Self::Ollama if streams => (asked.line == "POST /v1/chat/completions", true, is_chat()),
            Self::Ollama => (asked.line == "POST /api/chat", true, body["stream"] == false && is_chat()),
        };
        match (path, keyed, complete) {
            (false, ..) => Some((404, "not found")),
            (_, false, _) => Some((401, "missing API key")),
            (.., false) => Some((400, "the request is incomplete")),
            _ => None,
        }
    }
}

/// Whether the messages of a body are of Cohere's types, in which calls can replace content.
fn is_chat_of_cohere(body: &Value) -> bool {
    let messages = body["messages"].as_array().filter(|messages| !messages.is_empty());
    body["model"].is_string()
        && messages.is_some_and(|messages| {
            messages.iter().all(|message| match message["role"].as_str() {
                Some("system" | "user") => !message["content"].is_null(),
                Some("tool") => message["tool_call_id"].is_string() && !message["content"].is_null(),
                Some("assistant") => {
                    message["tool_calls"].is_array()
                        || message["content"].is_string()
                        || message["content"].is_array()
                }
                _ => false,
            })
        })
}

fn cohere_usage() -> Value {
    json!({
        "billed_units": {"input_tokens": 8, "output_tokens": 5}, "tokens": {"input_tokens": 10, "output_tokens": 5}
    })
}

fn cohere_end(reason: &str) -> String {
    let delta = json!({"finish_reason": reason, "usage": cohere_usage()});
    format!("event: message-end\ndata: {}\n\n", json!({"type": "message-end", "id": "1", "delta": delta}))
}

/// Returns a message item in the format of Responses.
fn message_item(text: &str) -> Value {
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": content})
}

impl ModelRequest {
    /// Returns the value of a header, given its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl ModelServer {
    /// Starts a server that gives these replies in order, and then repeats the last one.
    pub fn start(dialect: Dialect, replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            asked: Mutex::default(),
            open: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        });
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

    /// Returns the base URL that a client of this provider uses.
    pub fn base_url(&self) -> String {
        match self.dialect {
            Dialect::OpenAi | Dialect::Responses => format!("http://{}/v1", self.address),
            Dialect::Anthropic | Dialect::Gemini | Dialect::Ollama | Dialect::Cohere => {
                format!("http://{}", self.address)
            }
        }
    }

    /// Whether a request is being answered. A request whose client has disconnected counts until the server notices.
    pub fn is_answering(&self) -> bool {
        self.shared.open.load(Ordering::Relaxed) > 0
    }

    /// Returns all requests so far.
    pub fn asked(&self) -> Vec<ModelRequest> {
        self.shared.asked().clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        // Wake the listener.
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

/// Serves a connection: one request and one reply.
fn serve(dialect: Dialect, mut stream: TcpStream, shared: &Shared, replies: &[Reply]) {
    let Some(asked) = read(&stream) else { return };
    shared.open.fetch_add(1, Ordering::Relaxed);
    let (reply, objection) = {
        let mut all = shared.asked();
        let reply = replies[all.len().min(replies.len() - 1)].clone();
        let streams = matches!(
            reply,
            Reply::Stream(_) | Reply::StreamHalf(..) | Reply::StreamNothing(_) | Reply::StreamEndless
        );
        let objection = dialect.objection(&asked, streams);
        all.push(asked);
        (reply, objection)
    };
    // The client may have disconnected.
    let _ = respond(dialect, &mut stream, shared, reply, objection);
    shared.open.fetch_sub(1, Ordering::Relaxed);
}

fn respond(
    dialect: Dialect,
    stream: &mut TcpStream,
    shared: &Shared,
    reply: Reply,
    objection: Option<(u16, &'static str)>,
) -> std::io::Result<()> {
    if let (Some((status, why)), Reply::Text(_) | Reply::Stream(_)) = (objection, &reply) {
        return whole(stream, status, "application/json", &[], &dialect.error(status, why).to_string());
    }
    match reply {
        Reply::Text(text) => whole(stream, 200, "application/json", &[], &dialect.answer(&text).to_string()),
        Reply::Stream(text) => {
            head(stream, 200, "text/event-stream", &[])?;
            dialect.stream(&text).concat().iter().try_for_each(|event| stream.write_all(event.as_bytes()))
        }
        Reply::StreamHalf(text, fate) => {
            head(stream, 200, "text/event-stream", &[])?;
            let [begin, pieces, _] = dialect.stream(&text);
            let half = begin.iter().chain(&pieces[..pieces.len() / 2]);
            half.clone().try_for_each(|event| stream.write_all(event.as_bytes()))?;
            meet(dialect, stream, shared, fate)
        }
        Reply::StreamNothing(fate) => {
            head(stream, 200, "text/event-stream", &[])?;
            let [begin, ..] = dialect.stream("");
            begin.iter().try_for_each(|event| stream.write_all(event.as_bytes()))?;
            meet(dialect, stream, shared, fate)
        }
        Reply::StreamEndless => {
            head(stream, 200, "text/event-stream", &[])?;
            let [begin, pieces, _] = dialect.stream(&"x".repeat(4096));
            stream.write_all(begin.concat().as_bytes())?;
            loop {
                stream.write_all(pieces.concat().as_bytes())?;
            }
        }
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
        Reply::RefuseWith(status, body) => whole(stream, status, "application/json", &[], &body),
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

/// Ends a stream early.
fn meet(dialect: Dialect, stream: &mut TcpStream, shared: &Shared, fate: StreamFate) -> std::io::Result<()> {
    match fate {
        StreamFate::Cut => Ok(()),
        StreamFate::Stall => {
            shared.hold();
            Ok(())
        }
        StreamFate::Overloaded => stream.write_all(dialect.overloaded().as_bytes()),
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

/// Sends bytes until the client disconnects.
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

/// Reads the request of a connection. Returns `None` if the request is incomplete.
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
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(Some(0), |(_, length)| length.parse().ok())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let line = first.strip_suffix(" HTTP/1.1")?.to_owned();
    Some(ModelRequest { line, headers, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}
