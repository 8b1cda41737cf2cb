//! Requests to models against a server that misbehaves in every way that a provider can: nothing that was given out is lost, and no one is
//! charged more than once more than needed. Times appear only as limits that a broken one would exceed by far.

#![expect(clippy::unwrap_used, clippy::panic, reason = "test support outside of test functions")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::configured_provider::{KEY, kind, provider};
use e2e::{Dialect, LIMIT, ModelRequest, ModelServer, Reply, StreamFate, separate, strata};
use serde_json::{Value, json};
use strata_base::cancel::Cancel;
use strata_conversation::providers::Format;
use strata_conversation::providers::reply::{ProviderErrorKind, ReplyEnd, ReplyEvent};
#[cfg(unix)]
use strata_host::provider::{KeySource, Provider};
use strata_host::provider::{RequestLimits, SendError, StreamEvent, StreamOutcome};
use strata_tokens::cost::Usage;

/// What the server says when it can.
const ANSWER: &str = "An answer, déjà vu, in several pieces.";

/// What of it comes before the server fails in its middle.
const HALF: &str = "An answer, déjà vu, ";

/// Far more than a limit of some hundred milliseconds, far less than an answer that never ends.
const SOON: Duration = Duration::from_secs(20);

struct Outcome {
    result: Result<StreamOutcome, SendError>,
    /// What was given out, in order.
    text: String,
    asked: Vec<ModelRequest>,
}

impl Outcome {
    /// The kind of refusal.
    fn refusal(&self) -> Option<ProviderErrorKind> {
        provider_kind(self.result.as_ref().err()?)
    }
}

/// The kind of error that the provider reported, if it did.
fn provider_kind(error: &SendError) -> Option<ProviderErrorKind> {
    match error {
        SendError::Provider { error, .. } => Some(error.kind),
        _ => None,
    }
}

fn body(format: Format) -> Value {
    format.dialect().unwrap().question("small-model", "You help.", "What is marked?", 500)
}

fn limits() -> RequestLimits {
    RequestLimits { deadline: LIMIT, ..crate::limits() }
}

fn stream_within(dialect: Dialect, replies: Vec<Reply>, limits: &RequestLimits) -> Outcome {
    let server = ModelServer::start(dialect, replies);
    let mut text = String::new();
    let body = body(kind(dialect).format());
    let provider = provider(dialect, server.base_url());
    let result = provider.stream(&body, limits, &Cancel::new(), &mut |event| match event {
        StreamEvent::Reply(ReplyEvent::Text(piece)) => text.push_str(&piece),
        StreamEvent::Waiting { .. } => {}
        event => panic!("nobody said {event:?}"),
    });
    let shown = format!("{result:?}");
    assert!(
        !shown.contains("sk-never") && !shown.contains("marked"),
        "the key or the question is shown: {shown}"
    );
    Outcome { result, text, asked: server.asked() }
}

fn stream(dialect: Dialect, replies: Vec<Reply>) -> Outcome {
    stream_within(dialect, replies, &limits())
}

fn answer() -> Reply {
    Reply::Stream(ANSWER.to_owned())
}

fn half(fate: StreamFate) -> Reply {
    Reply::StreamHalf(ANSWER.to_owned(), fate)
}

/// Runs a test with all dialects at once, since most of them wait.
fn at_once(test: impl Fn(Dialect) + Sync) {
    thread::scope(|scope| {
        for dialect in Dialect::ALL {
            let test = &test;
            scope.spawn(move || test(dialect));
        }
    });
}

/// The answer came whole, at the first sensible moment.
fn assert_answered(outcome: &Outcome, requests: usize, dialect: Dialect) {
    let sent = outcome.result.as_ref().unwrap();
    assert_eq!((outcome.text.as_str(), sent.reply.text().as_str()), (ANSWER, ANSWER), "{dialect:?}");
    assert_eq!((&sent.broken, &sent.reply.end), (&None, &ReplyEnd::Complete), "{dialect:?}");
    assert_eq!(sent.reply.usage, Some(Usage { input: 10, output: 5, cache_read: 0, cache_write: 0 }));
    assert_eq!(outcome.asked.len(), requests, "{dialect:?}");
}

/// What came before the end stays, and no one asked again.
fn assert_half(outcome: &Outcome, dialect: Dialect) -> SendError {
    let sent = outcome.result.as_ref().unwrap();
    assert_eq!((outcome.text.as_str(), sent.reply.text().as_str()), (HALF, HALF), "{dialect:?}");
    assert_eq!(outcome.asked.len(), 1, "{dialect:?}");
    sent.broken.clone().unwrap()
}

#[test]
fn each_provider_streams_in_its_own_way() {
    for dialect in Dialect::ALL {
        let outcome = stream(dialect, vec![answer()]);
        assert_answered(&outcome, 1, dialect);
        assert!(!outcome.asked[0].body.to_string().contains(KEY), "{dialect:?}");
    }
}

#[test]
fn a_refusal_for_the_moment_is_waited_out() {
    at_once(|dialect| {
        for headers in
            [vec![], vec![("retry-after", "1".to_owned())], vec![("retry-after-ms", "1".to_owned())]]
        {
            let outcome = stream(dialect, vec![Reply::Refuse(429, headers), answer()]);
            assert_answered(&outcome, 2, dialect);
        }
        assert_answered(&stream(dialect, vec![Reply::Refuse(529, vec![]), answer()]), 2, dialect);
        let trouble = Reply::Refuse(500, vec![]);
        assert_answered(&stream(dialect, vec![trouble.clone(), trouble, answer()]), 3, dialect);
    });
}

#[test]
fn a_refusal_that_lasts_is_reported_with_its_kind() {
    at_once(|dialect| {
        for (status, kind, requests) in [
            (401, ProviderErrorKind::Authentication, 1),
            (400, ProviderErrorKind::Refused, 1),
            (429, ProviderErrorKind::RateLimit, 3),
            (529, ProviderErrorKind::Overloaded, 3),
            (500, ProviderErrorKind::Server, 3),
        ] {
            let outcome = stream(dialect, vec![Reply::Refuse(status, vec![])]);
            assert_eq!(
                (outcome.refusal(), outcome.asked.len()),
                (Some(kind), requests),
                "{dialect:?} {status}"
            );
        }
        let never = vec![("x-should-retry", "false".to_owned())];
        let outcome = stream(dialect, vec![Reply::Refuse(429, never), answer()]);
        assert_eq!((outcome.refusal(), outcome.asked.len()), (Some(ProviderErrorKind::RateLimit), 1));
    });
}

#[test]
fn nobody_is_kept_waiting_for_minutes() {
    let later = Reply::Refuse(429, vec![("retry-after", "90".to_owned())]);
    let outcome = stream(Dialect::Anthropic, vec![later, answer()]);
    let Err(SendError::Provider { status: Some(429), error }) = &outcome.result else {
        panic!("{:?}", outcome.result)
    };
    assert_eq!(error.retry_after, Some(Duration::from_secs(90)));
    assert_eq!(outcome.asked.len(), 1);
}

#[test]
fn a_stream_that_breaks_off_keeps_what_came() {
    at_once(|dialect| {
        let broken = assert_half(&stream(dialect, vec![half(StreamFate::Cut), answer()]), dialect);
        assert!(matches!(broken, SendError::Unreachable { .. }), "{dialect:?} {broken:?}");
        let broken = assert_half(&stream(dialect, vec![half(StreamFate::Overloaded), answer()]), dialect);
        assert!(
            matches!(&broken, SendError::Provider { status: None, error } if error.message == "Overloaded")
        );
        // A busy machine must be able to connect and to send half of an answer in this time.
        let limits = RequestLimits { stall: Duration::from_secs(2), ..limits() };
        let broken = assert_half(&stream_within(dialect, vec![half(StreamFate::Stall)], &limits), dialect);
        assert_eq!(broken, SendError::Stalled { after: limits.stall }, "{dialect:?}");
        let limits = RequestLimits { stall: Duration::from_secs(60), deadline: limits.stall, ..limits };
        let broken = assert_half(&stream_within(dialect, vec![half(StreamFate::Stall)], &limits), dialect);
        assert_eq!(broken, SendError::Timeout { after: limits.deadline }, "{dialect:?}");
    });
}

#[test]
fn a_stream_that_breaks_off_before_it_says_anything_is_asked_for_once_more() {
    at_once(|dialect| {
        for fate in [StreamFate::Cut, StreamFate::Overloaded] {
            let nothing = Reply::StreamNothing(fate);
            assert_answered(&stream(dialect, vec![nothing.clone(), answer()]), 2, dialect);
            let outcome = stream(dialect, vec![nothing]);
            assert!(outcome.result.is_err() && outcome.text.is_empty(), "{dialect:?} {fate:?}");
            assert_eq!(outcome.asked.len(), 2, "{dialect:?} {fate:?}: each of them may have been billed");
        }
        let limits = RequestLimits { stall: Duration::from_millis(300), ..limits() };
        for silence in [Reply::StreamNothing(StreamFate::Stall), Reply::Stall, Reply::Silence] {
            let outcome = stream_within(dialect, vec![silence, answer()], &limits);
            assert_eq!(
                outcome.result.unwrap_err(),
                SendError::Stalled { after: limits.stall },
                "{dialect:?}"
            );
            assert_eq!(outcome.asked.len(), 1, "{dialect:?}");
        }
    });
}

#[test]
fn garbage_is_no_stream() {
    for dialect in Dialect::ALL {
        for garbage in ["<html>Sign in to the\nhotel network</html>", "data: hotel\n\n", "\u{0}\u{1}"] {
            let outcome = stream(dialect, vec![Reply::Body("text/html", garbage.to_owned()), answer()]);
            let Err(SendError::Garbage { kind: expected, excerpt }) = &outcome.result else {
                panic!("{dialect:?} took {garbage:?} for {:?}", outcome.result);
            };
            assert_eq!(*expected, kind(dialect).as_str());
            assert_eq!(excerpt.contains("hotel"), garbage.contains("hotel"), "{excerpt:?}");
            assert_eq!(outcome.asked.len(), 1, "{dialect:?}");
        }
        for filler in [0, 150, 280, 290, 295, 500] {
            // `stream` looks for the key in what is shown.
            let repeated = format!("{} Bearer {KEY} is not a key, {KEY}", "x".repeat(filler));
            let outcome = stream(dialect, vec![Reply::Body("text/html", repeated)]);
            assert!(matches!(outcome.result, Err(SendError::Garbage { .. })), "{dialect:?}");
        }
    }
}

#[test]
fn a_reply_without_end_is_not_kept() {
    for dialect in Dialect::ALL {
        let limits = RequestLimits { max_reply_bytes: 1 << 20, ..limits() };
        let outcome = stream_within(dialect, vec![Reply::StreamEndless], &limits);
        let sent = outcome.result.unwrap();
        assert_eq!(sent.broken, Some(SendError::TooLong { limit: 1 << 20 }), "{dialect:?}");
        assert!(outcome.text.len() < 1 << 20 && outcome.text == sent.reply.text(), "{dialect:?}");
        let outcome = stream_within(dialect, vec![Reply::Endless], &limits);
        assert_eq!(outcome.result.unwrap_err(), SendError::TooLong { limit: 1 << 20 }, "{dialect:?}");
        assert_eq!(outcome.asked.len(), 1, "{dialect:?}");
    }
}

#[test]
fn cancelling_closes_the_connection_and_keeps_what_came() {
    at_once(|dialect| {
        let server = ModelServer::start(dialect, vec![Reply::StreamEndless]);
        let (cancel, mut text) = (Cancel::new(), String::new());
        let provider = provider(dialect, server.base_url());
        let sent = provider.stream(&body(kind(dialect).format()), &limits(), &cancel, &mut |event| {
            let StreamEvent::Reply(ReplyEvent::Text(piece)) = event else { panic!("nobody said {event:?}") };
            text.push_str(&piece);
            cancel.cancel();
        });
        let sent = sent.unwrap();
        assert_eq!(sent.broken, Some(SendError::Cancelled), "{dialect:?}");
        assert!(!text.is_empty() && sent.reply.text() == text, "{dialect:?}");
        let begun = Instant::now();
        while server.is_answering() {
            assert!(begun.elapsed() < LIMIT, "{dialect:?}: the provider still writes");
            thread::sleep(Duration::from_millis(5));
        }
    });
}

#[test]
fn cancelling_before_anything_came_is_an_error() {
    for replies in [vec![Reply::Silence], vec![Reply::Stall], vec![Reply::Refuse(500, vec![])]] {
        let server = ModelServer::start(Dialect::OpenAi, replies.clone());
        let provider = provider(Dialect::OpenAi, server.base_url());
        let (cancel, begun) = (Cancel::new(), Instant::now());
        let result = thread::scope(|scope| {
            let body = body(Format::OpenAi);
            let (limits, cancel) = (limits(), &cancel);
            let sending =
                scope.spawn(move || provider.stream(&body, &limits, cancel, &mut |_| ()).map(|_| ()));
            while server.asked().is_empty() {
                assert!(begun.elapsed() < LIMIT, "nobody asked");
                thread::sleep(Duration::from_millis(5));
            }
            cancel.cancel();
            sending.join().unwrap()
        });
        assert_eq!(result, Err(SendError::Cancelled), "{replies:?}");
        assert!(begun.elapsed() < SOON, "{replies:?}");
    }
}

#[test]
fn a_prompt_that_is_too_long_is_told_apart() {
    let message = "prompt is too long: 200001 tokens > 200000 maximum";
    for dialect in Dialect::ALL {
        let refusal = dialect.error(400, message).to_string();
        let outcome = stream(dialect, vec![Reply::Body("application/json", refusal)]);
        assert_eq!(outcome.refusal(), Some(ProviderErrorKind::ContextLimit), "{dialect:?}");
        assert_eq!(outcome.asked.len(), 1, "{dialect:?}");
    }
}

/// Name of a host that only the proxy of these tests finds.
const ELSEWHERE: &str = "provider.test";

/// A server for `localhost` with a certificate of its own: what each connection brought before it ended, and the certificate.
fn tls_server(answer: &'static str) -> (String, mpsc::Receiver<String>, String) {
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned(), ELSEWHERE.to_owned()]).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(issued.signing_key.serialize_der());
    let config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![issued.cert.der().clone()], key.into())
            .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let (heard, hears) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = stream.unwrap();
            let mut tls = rustls::Stream::new(&mut connection, &mut stream);
            let (mut text, mut bytes) = (String::new(), [0; 4096]);
            let is_whole = |text: &str| {
                let body = text.split_once("\r\n\r\n").map(|(_, body)| serde_json::from_str::<Value>(body));
                body.is_some_and(|body| body.is_ok())
            };
            while !is_whole(&text) {
                match tls.read(&mut bytes) {
                    Ok(0) | Err(_) => break,
                    Ok(read) => text.push_str(&String::from_utf8_lossy(&bytes[..read])),
                }
            }
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json";
            let _ = write!(tls, "{head}\r\ncontent-length: {}\r\n\r\n{answer}", answer.len());
            if heard.send(text).is_err() {
                return;
            }
        }
    });
    (base_url, hears, issued.cert.pem())
}

#[test]
fn a_certificate_that_nobody_trusts_gets_no_request() {
    let (base_url, hears, _) = tls_server("never");
    for dialect in Dialect::ALL {
        let provider = provider(dialect, base_url.clone());
        let result = provider
            .stream(&body(kind(dialect).format()), &limits(), &Cancel::new(), &mut |_| panic!("a reply"));
        let error = result.unwrap_err().to_string();
        assert!(error.contains("certificate is not trusted"), "{error}");
        assert_eq!(hears.recv_timeout(LIMIT).unwrap(), "", "{dialect:?}");
        assert!(hears.try_recv().is_err(), "{dialect:?}: it was tried again");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_certificate_that_the_system_trusts_is_enough() {
    let answer = r#"{"content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn"}"#;
    let (base_url, hears, certificate) = tls_server(answer);
    let place = tempfile::tempdir().unwrap();
    let trusted = place.path().join("trusted.pem");
    std::fs::write(&trusted, certificate).unwrap();
    let ended = doctor(place.path(), &base_url).env("SSL_CERT_FILE", &trusted).output().unwrap();
    assert!(String::from_utf8_lossy(&ended.stdout).contains("it replies \"done\""), "{ended:?}");
    assert!(hears.recv_timeout(LIMIT).unwrap().contains(KEY));
}

/// A proxy that opens one tunnel: its address, and what the client sent through it before the server closed the connection.
#[cfg(target_os = "linux")]
fn tunnel() -> (String, mpsc::Receiver<String>) {
    use std::net::{Shutdown, TcpStream};

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (seen, sees) = mpsc::channel();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            client.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let mut text = String::from_utf8(head).unwrap();
        let target = text.split_whitespace().nth(1).unwrap().to_owned();
        let port: u16 = target.rsplit(':').next().unwrap().parse().unwrap();
        let mut server = TcpStream::connect(("127.0.0.1", port)).unwrap();
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
        let (mut answers, mut back) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let answering = thread::spawn(move || {
            let _ = std::io::copy(&mut answers, &mut back);
            let _ = back.shutdown(Shutdown::Both);
        });
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = client.read(&mut bytes) {
            text.push_str(&String::from_utf8_lossy(&bytes[..read]));
            server.write_all(&bytes[..read]).unwrap();
        }
        answering.join().unwrap();
        seen.send(text).unwrap();
    });
    (address, sees)
}

#[cfg(target_os = "linux")]
#[test]
fn a_proxy_tunnels_https_and_cannot_read_it() {
    let answer = r#"{"content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn"}"#;
    let (base_url, hears, certificate) = tls_server(answer);
    let base_url = base_url.replace("localhost", ELSEWHERE);
    let (proxy, sees) = tunnel();
    let place = tempfile::tempdir().unwrap();
    let trusted = place.path().join("trusted.pem");
    std::fs::write(&trusted, certificate).unwrap();
    let ended = doctor(place.path(), &base_url)
        .env("SSL_CERT_FILE", &trusted)
        .env("HTTPS_PROXY", proxy)
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&ended.stdout).contains("it replies \"done\""), "{ended:?}");
    assert!(hears.recv_timeout(LIMIT).unwrap().contains(KEY));
    let seen = sees.recv_timeout(LIMIT).unwrap();
    let target = base_url.strip_prefix("https://").unwrap();
    assert!(seen.starts_with(&format!("CONNECT {target} HTTP/1.1\r\n")), "{seen}");
    assert!(!seen.contains(KEY) && !seen.contains("messages"), "{seen}");
}

/// Asks a provider in a process of its own, since a test cannot set a variable safely.
fn doctor(place: &Path, base_url: &str) -> Command {
    let mut command = Command::new(strata());
    separate(&mut command, &place.join("state"))
        .args(["doctor", "--ask", "--set", "compaction.summariser=http"])
        .args(["--set", "compaction.model=claude-haiku-4-5", "--set", "compaction.key_env=TEST_PROVIDER_KEY"])
        .args(["--set", &format!("compaction.base_url={base_url}")])
        .current_dir(place)
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .env("TEST_PROVIDER_KEY", KEY);
    command
}

#[test]
fn a_proxy_gets_to_see_nothing_that_goes_to_this_machine() {
    let server = ModelServer::start(Dialect::Anthropic, vec![Reply::Text("done".to_owned())]);
    let proxy = ModelServer::start(Dialect::Anthropic, vec![Reply::Text("stolen".to_owned())]);
    let place = tempfile::tempdir().unwrap();
    let mut ask = doctor(place.path(), &server.base_url());
    for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        ask.env(variable, proxy.base_url());
    }
    let ended = ask.output().unwrap();
    assert!(String::from_utf8_lossy(&ended.stdout).contains("it replies \"done\""), "{ended:?}");
    assert_eq!((server.asked().len(), proxy.asked().len()), (1, 0));
}

#[cfg(unix)]
#[test]
fn a_key_comes_from_a_command() {
    let place = tempfile::tempdir().unwrap();
    let runs = place.path().join("runs");
    let sh = |script: String| KeySource::Command(vec!["sh".to_owned(), "-c".to_owned(), script]);
    let key = sh(format!("echo >> {}; echo ' {KEY} '; echo second line; echo error >&2", runs.display()));
    let replies = vec![answer(), answer(), Reply::Refuse(401, vec![]), answer()];
    let server = ModelServer::start(Dialect::Anthropic, replies);
    let provider = Provider { key, ..provider(Dialect::Anthropic, server.base_url()) };
    let times = || std::fs::read_to_string(&runs).map_or(0, |runs| runs.lines().count());
    provider.check_configuration().unwrap();
    assert_eq!(times(), 0, "a check runs nothing");
    for expected in [1, 1, 1, 2] {
        let _ = provider.stream(&body(Format::Anthropic), &limits(), &Cancel::new(), &mut |_| ());
        assert_eq!(times(), expected, "a key that was refused is asked for again");
    }
    assert!(server.asked().iter().all(|asked| asked.header("x-api-key") == Some(KEY)));
    let command = |words: &[&str]| KeySource::Command(words.iter().map(|word| (*word).to_owned()).collect());
    for (key, reason) in [
        (command(&["./key"]), "relative"),
        (command(&[]), "empty"),
        (command(&["strata-no-such-program"]), "cannot be run"),
        (sh("echo sk-never-shown; exit 3".to_owned()), "failed"),
        (sh("echo".to_owned()), "no usable key"),
    ] {
        let provider = Provider { key, ..provider.clone() };
        let result = provider.stream(&body(Format::Anthropic), &limits(), &Cancel::new(), &mut |_| ());
        let error = result.unwrap_err().to_string();
        assert!(error.contains(reason) && !error.contains("sk-never"), "{error}");
    }
    assert_eq!(server.asked().len(), 4, "without a key no request is sent");
}

#[cfg(unix)]
#[test]
fn a_command_for_a_key_runs_outside_the_workspace_and_ends_with_the_request() {
    let server = ModelServer::start(Dialect::Anthropic, vec![answer()]);
    let pwd = KeySource::Command(vec!["pwd".to_owned()]);
    let provider = Provider { key: pwd, ..provider(Dialect::Anthropic, server.base_url()) };
    provider.stream(&body(Format::Anthropic), &limits(), &Cancel::new(), &mut |_| ()).unwrap();
    let here = std::env::current_dir().unwrap();
    assert_ne!(server.asked()[0].header("x-api-key"), here.to_str());
    let slow = KeySource::Command(vec!["sleep".to_owned(), "1000".to_owned()]);
    let provider = Provider { key: slow, ..provider };
    let begun = Instant::now();
    let cancel = Cancel::new().with_condition(move || begun.elapsed() > Duration::from_millis(100));
    let result = provider.stream(&body(Format::Anthropic), &limits(), &cancel, &mut |_| ());
    assert_eq!(result.unwrap_err(), SendError::Cancelled);
    assert!(begun.elapsed() < SOON);
}

#[test]
fn a_probe_says_whether_the_key_is_taken() {
    let models = Reply::Body("application/json", json!({"data": [], "models": []}).to_string());
    for dialect in Dialect::ALL {
        let wrong = Reply::Body("text/html", "<html>Sign in</html>".to_owned());
        let server = ModelServer::start(dialect, vec![models.clone(), Reply::Refuse(401, vec![]), wrong]);
        let provider = provider(dialect, server.base_url());
        let probe = || provider.check_connection(&limits(), &Cancel::new());
        assert_eq!(probe(), Ok(()), "{dialect:?}");
        assert_eq!(provider_kind(&probe().unwrap_err()), Some(ProviderErrorKind::Authentication));
        assert!(matches!(probe(), Err(SendError::Garbage { .. })), "{dialect:?}");
        assert!(server.asked().iter().all(|asked| asked.line.starts_with("GET /v1")), "{dialect:?}");
    }
}
