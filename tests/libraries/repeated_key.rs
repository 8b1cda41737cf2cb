//! Providers that repeat the key in whatever they send: in every dialect, streamed or not, in pieces, and with every spelling that
//! JSON allows, it is removed from everything that is given out.

#![expect(clippy::unwrap_used, reason = "test support outside of test functions")]

use std::fmt::Write as _;
use std::time::Duration;

use super::configured_provider::provider;
use e2e::{Dialect, LIMIT, ModelServer, Reply, Rng};
use serde_json::{Value, json};
use strata_base::cancel::Cancel;
use strata_conversation::providers::reply::ReplyEvent;
use strata_host::provider::{ApiKey, KeySource, Provider, RequestLimits, StreamEvent};
use strata_host::summarise::SummaryQuestion;

const STREAM: &str = "text/event-stream";

/// Different keys, escapes and pieces in each dialect.
const ROUNDS: u64 = 6;

/// A key as providers and gateways issue them.
fn key(rng: &mut Rng) -> String {
    let characters = "ABCDEFabcdefghijklmnopqrstuvwxyz0123456789-_/+.=";
    let characters: Vec<char> = characters.chars().collect();
    let prefix = rng.one_of(&["sk-", "sk-ant-api03-", "gw/", "", "a.b:"]);
    let rest = (0..8 + rng.below(40)).map(|_| rng.one_of(&characters)).collect::<String>();
    format!("{prefix}{rest}")
}

/// JSON in which any character of a string may be escaped.
fn escaped(value: &Value, rng: &mut Rng) -> String {
    match value {
        Value::String(text) => {
            let mut out = "\"".to_owned();
            for character in text.chars() {
                match character {
                    '/' if rng.once_in(2) => out.push_str("\\/"),
                    '!'..='~' if rng.once_in(3) => write!(out, "\\u{:04x}", u32::from(character)).unwrap(),
                    '!'..='~' if rng.once_in(6) => write!(out, "\\u{:04X}", u32::from(character)).unwrap(),
                    other => {
                        let plain = Value::String(other.to_string()).to_string();
                        out.push_str(&plain[1..plain.len() - 1]);
                    }
                }
            }
            out + "\""
        }
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(|value| escaped(value, rng)).collect();
            format!("[{}]", values.join(","))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}:{}", escaped(&json!(name), rng), escaped(value, rng)))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        other => other.to_string(),
    }
}

/// A stream whose data is escaped.
fn escaped_events(body: &str, rng: &mut Rng) -> String {
    let line =
        |line: &str, rng: &mut Rng| match line.strip_prefix("data: ").map(serde_json::from_str::<Value>) {
            Some(Ok(data)) => format!("data: {}", escaped(&data, rng)),
            _ => line.to_owned(),
        };
    body.lines().map(|text| line(text, rng) + "\n").collect()
}

fn pieces(text: &str, rng: &mut Rng) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for character in text.chars() {
        if rng.once_in(3) {
            pieces.push(String::new());
        }
        pieces.last_mut().unwrap().push(character);
    }
    pieces
}

fn base64(bytes: &[u8]) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for at in 0..=three.len() {
            out.push(char::from(alphabet[(bits >> (18 - 6 * at) & 63) as usize]));
        }
    }
    out
}

/// A text without escapes, however often it was escaped.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = rest[at..].trim_start_matches('\\');
        let digits = rest.strip_prefix('u').and_then(|rest| rest.get(..4));
        if let Some(character) =
            digits.and_then(|digits| char::from_u32(u32::from_str_radix(digits, 16).ok()?))
        {
            out.push(character);
            rest = &rest[5..];
        }
    }
    out + rest
}

/// Fails if a text contains the key, or what decodes to it.
fn check(key: &str, dialect: Dialect, text: &str) {
    let plain = unescaped(text);
    assert!(!plain.contains(key), "{dialect:?}: the key {key} is shown: {text}");
    for user in ["", "a:", "ab:"] {
        let basic = base64(format!("{user}{key}").as_bytes());
        assert!(!plain.contains(basic.trim_end_matches('=')), "{dialect:?}: {basic} is shown: {text}");
    }
}

/// Sends a streamed request, and returns everything that is given out: the events, and text and reasoning as shown.
fn given_out(provider: &Provider) -> String {
    let body = provider.kind.dialect().question("small-model", "", "What is marked?", 500);
    let (mut events, mut texts, mut thoughts) = (String::new(), String::new(), String::new());
    let limits = RequestLimits { deadline: LIMIT, retries: 0, ..crate::limits() };
    let sent = provider.stream(&body, &limits, &Cancel::new(), &mut |event| {
        write!(events, "{event:?} ").unwrap();
        match event {
            StreamEvent::Reply(ReplyEvent::Text(text)) => texts.push_str(&text),
            StreamEvent::Reply(ReplyEvent::Thinking(text)) => thoughts.push_str(&text),
            StreamEvent::Reply(ReplyEvent::ToolCall { .. }) | StreamEvent::Waiting { .. } => {}
        }
    });
    let reply = match &sent {
        Ok(sent) => {
            assert_eq!(sent.reply.text(), texts);
            let error = sent.broken.as_ref().map(ToString::to_string);
            format!("{sent:?} {} {error:?}", serde_json::to_string(&sent.reply.content).unwrap())
        }
        Err(error) => format!("{error:?} {error}"),
    };
    format!("{events} {reply} {texts} {thoughts}")
}

#[test]
fn a_repeated_key_is_removed_in_every_dialect_and_spelling() {
    for dialect in Dialect::ALL {
        for round in 0..ROUNDS {
            let rng = &mut Rng::new(round * 100 + dialect as u64);
            let key = key(rng);
            let percent: String = key.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let basic = base64(format!("a:{key}").as_bytes());
            let text = format!("You sent {key} as `{basic}` and {percent}, {key}{key}.");
            let [begin, middle, end] = dialect.stream_pieces(&pieces(&text, rng));
            let thoughts: String = pieces(&text, rng).iter().map(|piece| dialect.thought(piece)).collect();
            let thoughtful =
                begin[..1].concat() + &thoughts + &begin[1..].concat() + &middle.concat() + &end.concat();
            let arguments = escaped(&json!({ key.clone(): [{ "text": text }], "basic": basic }), rng);
            let call = dialect.call_pieces(&format!("call_{key}"), &key, &pieces(&arguments, rng));
            let error = dialect.error(400, &text);
            let unknown = json!({ "detail": [{ "msg": text }] });
            let cut = begin.concat() + &middle[..middle.len() / 2].concat();
            let replies = vec![
                Reply::Body(STREAM, escaped_events(&thoughtful, rng)),
                Reply::Body(STREAM, escaped_events(&call, rng)),
                Reply::Body(STREAM, escaped_events(&cut, rng)),
                Reply::Body(STREAM, escaped_events(&format!("data: {error}\n\n"), rng)),
                Reply::Body(STREAM, escaped_events(&format!("{}data: {error}\n\n", begin.concat()), rng)),
                Reply::RefuseWith(401, escaped(&error, rng)),
                Reply::RefuseWith(400, escaped(&unknown, rng)),
                Reply::RefuseWith(500, format!("<p>{text}</p>")),
                Reply::Body("text/html", format!("<p>{text}</p>")),
                Reply::Body("application/json", escaped(&unknown, rng)),
            ];
            let count = replies.len();
            let server = ModelServer::start(dialect, replies);
            let given = KeySource::Given(ApiKey::new(&key).unwrap());
            let provider = Provider { key: given, ..provider(dialect, server.base_url()) };
            for reply in 0..count {
                let out = given_out(&provider);
                check(&key, dialect, &out);
                assert!(out.contains("key"), "{dialect:?} {reply}: nothing came: {out}");
            }
            // The same without a stream.
            let whole = escaped(&dialect.answer(&text), rng);
            let replies = vec![
                Reply::Body("application/json", whole),
                Reply::Body("application/json", escaped(&error, rng)),
                Reply::RefuseWith(403, escaped(&error, rng)),
            ];
            let server = ModelServer::start(dialect, replies);
            let base_url = Some(server.base_url());
            let provider = Provider { base_url, ..provider };
            let asked =
                SummaryQuestion { system: String::new(), prompt: "Well?".to_owned(), max_output_tokens: 500 };
            for reply in 0..3 {
                let answer = provider.ask(&asked, Duration::from_secs(20), &Cancel::new());
                let out = answer.unwrap_or_else(|error| format!("{error:?} {error}"));
                check(&key, dialect, &out);
                assert!(out.contains("key"), "{dialect:?} {reply}: {out}");
            }
        }
    }
}

#[test]
fn a_short_key_changes_nothing() {
    for dialect in Dialect::ALL {
        let text = "next-x1 is 1 of 1";
        let server = ModelServer::start(dialect, vec![Reply::Stream(text.to_owned())]);
        let given = KeySource::Given(ApiKey::new("1").unwrap());
        let provider = Provider { key: given, ..provider(dialect, server.base_url()) };
        assert!(given_out(&provider).contains(text), "{dialect:?}");
    }
}
