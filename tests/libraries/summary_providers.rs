//! Asking a model for a text, against a server that speaks each provider's protocol and misbehaves in every way that a
//! provider can. Times appear only as limits that a broken deadline would exceed by far.

use std::net::TcpListener;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::configured_provider::{KEY, kind, provider};
use e2e::{Dialect, LIMIT, ModelRequest, ModelServer, Reply, separate, strata};
use strata_base::cancel::Cancel;
use strata_host::provider::{KeySource, Provider, SendError};
use strata_host::summarise::{SummaryError, SummaryQuestion};

/// Far more than a deadline of some hundred milliseconds, far less than an answer that never ends.
const SOON: Duration = Duration::from_secs(5);

/// The same for a server that needs no key.
fn without_key(dialect: Dialect, base_url: String) -> Provider {
    Provider { key: KeySource::None, ..provider(dialect, base_url) }
}

/// The status and the message of a refusal. The status is 0 if the refusal was a reply with a status of success.
fn refused(outcome: &Result<String, SummaryError>) -> Option<(u16, &str)> {
    match outcome {
        Err(SummaryError::Send(SendError::Provider { status, error })) => {
            Some((status.unwrap_or_default(), &error.message))
        }
        _ => None,
    }
}

fn question() -> SummaryQuestion {
    SummaryQuestion {
        system: "You summarise.".to_owned(),
        prompt: "What was done?".to_owned(),
        max_output_tokens: 500,
    }
}

/// Asks once with a key, and gives the outcome with the requests that were seen.
fn ask_within(
    dialect: Dialect,
    replies: Vec<Reply>,
    deadline: Duration,
) -> (Result<String, SummaryError>, Vec<ModelRequest>) {
    let server = ModelServer::start(dialect, replies);
    let outcome = provider(dialect, server.base_url()).ask(&question(), deadline, &Cancel::new());
    if let Err(error) = &outcome {
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains(KEY), "the key is shown: {shown}");
    }
    (outcome, server.asked())
}

fn ask(dialect: Dialect, replies: Vec<Reply>) -> (Result<String, SummaryError>, Vec<ModelRequest>) {
    ask_within(dialect, replies, LIMIT)
}

/// Runs a test that has to wait with all dialects at once.
fn at_once(test: impl Fn(Dialect) + Sync) {
    thread::scope(|scope| {
        for dialect in Dialect::ALL {
            let test = &test;
            scope.spawn(move || test(dialect));
        }
    });
}

fn text(text: &str) -> Reply {
    Reply::Text(text.to_owned())
}

#[test]
fn each_provider_is_asked_in_its_own_way() {
    for dialect in Dialect::ALL {
        let (outcome, asked) = ask(dialect, vec![text("  A summary, déjà vu.\n")]);
        assert_eq!(outcome, Ok("A summary, déjà vu.".to_owned()), "{dialect:?}");
        assert_eq!(asked.len(), 1, "{dialect:?}");
        let ModelRequest { line, body, .. } = &asked[0];
        let header = |name| asked[0].header(name);
        if dialect == Dialect::Anthropic {
            assert_eq!(line, "POST /v1/messages");
            assert_eq!(header("x-api-key"), Some(KEY));
            assert_eq!(header("authorization"), None);
            assert_eq!(body["model"], "small-model");
            assert_eq!(body["max_tokens"], 500);
            assert_eq!(body["messages"][0]["role"], "user");
            assert!(body["messages"].to_string().contains("What was done?"));
            assert!(body["system"].to_string().contains("You summarise."));
        }
        if dialect == Dialect::OpenAi {
            assert_eq!(line, "POST /v1/chat/completions");
            assert_eq!(header("authorization"), Some(format!("Bearer {KEY}").as_str()));
            assert_eq!(body["model"], "small-model");
            assert_eq!(body["max_tokens"], 500);
            assert_eq!(body["messages"][0]["role"], "system");
            assert!(body["messages"][0].to_string().contains("You summarise."));
            assert_eq!(body["messages"][1]["role"], "user");
            assert!(body["messages"][1].to_string().contains("What was done?"));
        }
        if dialect == Dialect::Responses {
            assert_eq!(line, "POST /v1/responses");
            assert_eq!(header("authorization"), Some(format!("Bearer {KEY}").as_str()));
            assert_eq!(body["model"], "small-model");
            assert_eq!(body["max_output_tokens"], 500);
            assert_eq!(body["store"], false);
            assert_eq!(body["instructions"], "You summarise.");
            assert!(body["input"][0].to_string().contains("What was done?"));
        }
        if dialect == Dialect::Gemini {
            assert_eq!(line, "POST /v1beta/models/small-model:generateContent", "no key in the address");
            assert_eq!(header("x-goog-api-key"), Some(KEY));
            assert_eq!(body["contents"][0]["role"], "user");
            assert!(body["contents"].to_string().contains("What was done?"));
            assert!(body["systemInstruction"].to_string().contains("You summarise."));
            assert_eq!(body["generationConfig"]["maxOutputTokens"], 500);
        }
        if dialect == Dialect::Ollama {
            assert_eq!(line, "POST /api/chat");
            assert_eq!(header("authorization"), Some(format!("Bearer {KEY}").as_str()));
            assert_eq!(body["model"], "small-model");
            assert_eq!(body["stream"], false);
            assert_eq!(body["options"]["num_predict"], 500);
            assert_eq!(body["options"]["num_ctx"], 4096);
            assert!(body["messages"].to_string().contains("You summarise."));
            assert!(body["messages"].to_string().contains("What was done?"));
        }
        let text = body.to_string();
        assert!(text.contains("You summarise.") && text.contains("What was done?"), "{dialect:?} {text}");
        assert!(text.contains("500"), "{dialect:?} {text}");
        assert!(!body.to_string().contains(KEY));
    }
}

#[test]
fn a_reasoning_model_gets_its_limit_in_the_newer_field() {
    let server = ModelServer::start(Dialect::OpenAi, vec![text("done")]);
    let mut provider = provider(Dialect::OpenAi, server.base_url());
    provider.model = "gpt-5-mini".to_owned();
    provider.ask(&question(), LIMIT, &Cancel::new()).unwrap();
    let body = &server.asked()[0].body;
    assert_eq!(
        (&body["max_completion_tokens"], &body["max_tokens"]),
        (&500.into(), &serde_json::Value::Null)
    );
}

#[test]
fn a_long_question_opens_a_window_that_holds_it() {
    let server = ModelServer::start(Dialect::Ollama, vec![text("done")]);
    let long = SummaryQuestion { prompt: "word ".repeat(10_000), ..question() };
    without_key(Dialect::Ollama, server.base_url()).ask(&long, LIMIT, &Cancel::new()).unwrap();
    let asked = server.asked();
    assert_eq!(asked[0].body["options"]["num_ctx"], 32_768);
    assert_eq!(asked[0].header("authorization"), None, "no key, no header");
}

#[test]
fn temporary_errors_are_retried() {
    let again = |status: u16| Reply::Refuse(status, vec![("retry-after", "0".to_owned())]);
    at_once(|dialect| {
        for status in [429, 500, 502, 503, 529] {
            let (outcome, asked) = ask(dialect, vec![again(status), again(status), text("at last")]);
            assert_eq!(outcome, Ok("at last".to_owned()), "{dialect:?} {status}");
            assert_eq!(asked.len(), 3, "{dialect:?} {status}");
        }
        let (outcome, asked) = ask(dialect, vec![Reply::Refuse(429, vec![]), text("at last")]);
        assert_eq!((outcome, asked.len()), (Ok("at last".to_owned()), 2), "{dialect:?} without a hint");
    });
}

#[test]
fn three_refusals_end_the_retries() {
    at_once(|dialect| {
        let (outcome, asked) = ask(dialect, vec![Reply::Refuse(500, vec![])]);
        assert_eq!(refused(&outcome), Some((500, "not today")));
        assert_eq!(asked.len(), 3, "{dialect:?}");
    });
}

#[test]
fn permanent_errors_are_not_retried() {
    for dialect in Dialect::ALL {
        for status in [400, 401, 403, 404, 413, 422] {
            let (outcome, asked) = ask(dialect, vec![Reply::Refuse(status, vec![]), text("never")]);
            assert_eq!(refused(&outcome), Some((status, "not today")));
            assert_eq!(asked.len(), 1, "{dialect:?} {status}");
        }
    }
}

#[test]
fn no_retry_begins_after_the_deadline() {
    let begun = Instant::now();
    let later = Reply::Refuse(429, vec![("retry-after", "3600".to_owned())]);
    let (outcome, asked) = ask(Dialect::Anthropic, vec![later, text("never")]);
    assert_eq!(refused(&outcome), Some((429, "not today")));
    assert_eq!(asked.len(), 1);
    assert!(begun.elapsed() < SOON);
}

#[test]
fn a_hint_in_milliseconds_is_understood() {
    let soon =
        Reply::Refuse(429, vec![("retry-after-ms", "1".to_owned()), ("retry-after", "3600".to_owned())]);
    let (outcome, asked) = ask(Dialect::OpenAi, vec![soon, text("at last")]);
    assert_eq!((outcome, asked.len()), (Ok("at last".to_owned()), 2));
}

#[test]
fn a_cut_connection_is_tried_again() {
    at_once(|dialect| {
        for cut in [Reply::CutBefore, Reply::CutWithin("half of this".to_owned())] {
            let (outcome, asked) = ask(dialect, vec![cut.clone(), text("whole")]);
            assert_eq!((outcome, asked.len()), (Ok("whole".to_owned()), 2), "{dialect:?}");
            // What was billed may have been billed for nothing: once, not again and again.
            let (outcome, asked) = ask(dialect, vec![cut]);
            assert!(
                matches!(outcome, Err(SummaryError::Send(SendError::Unreachable { .. }))),
                "{dialect:?} {outcome:?}"
            );
            assert_eq!(asked.len(), 2, "{dialect:?}");
        }
    });
}

#[test]
fn the_deadline_holds() {
    let deadline = Duration::from_millis(300);
    let slow = Reply::Drip("never whole".to_owned(), Duration::from_millis(50));
    at_once(|dialect| {
        for reply in [Reply::Stall, Reply::Silence, slow.clone()] {
            let begun = Instant::now();
            let (outcome, asked) = ask_within(dialect, vec![reply.clone()], deadline);
            assert_eq!(outcome, Err(SendError::Timeout { after: deadline }.into()), "{dialect:?} {reply:?}");
            assert_eq!(asked.len(), 1, "{dialect:?} {reply:?}");
            assert!(begun.elapsed() < SOON, "{dialect:?} {reply:?}");
        }
    });
}

#[test]
fn cancelling_ends_a_question_wherever_it_is() {
    for replies in [vec![Reply::Stall], vec![Reply::Silence], vec![Reply::Refuse(500, vec![])]] {
        let server = ModelServer::start(Dialect::Anthropic, replies.clone());
        let provider = provider(Dialect::Anthropic, server.base_url());
        let cancel = Cancel::new();
        let begun = Instant::now();
        let outcome = thread::scope(|scope| {
            let asking = scope.spawn(|| provider.ask(&question(), LIMIT, &cancel));
            while server.asked().is_empty() {
                assert!(begun.elapsed() < LIMIT, "nobody asked");
                thread::sleep(Duration::from_millis(5));
            }
            cancel.cancel();
            asking.join().unwrap()
        });
        assert_eq!(outcome, Err(SendError::Cancelled.into()), "{replies:?}");
        assert!(begun.elapsed() < SOON, "{replies:?}");
    }
}

#[test]
fn a_cancelled_question_is_not_sent() {
    let server = ModelServer::start(Dialect::Ollama, vec![text("never")]);
    let cancel = Cancel::new();
    cancel.cancel();
    let outcome = without_key(Dialect::Ollama, server.base_url()).ask(&question(), LIMIT, &cancel);
    assert_eq!((outcome, server.asked().len()), (Err(SendError::Cancelled.into()), 0));
}

#[test]
fn an_oversized_answer_is_refused() {
    for dialect in Dialect::ALL {
        let limit = 500 * 24;
        for reply in [text(&"x".repeat(limit + 1)), text(&"x".repeat(8 << 20)), Reply::Endless] {
            let (outcome, asked) = ask(dialect, vec![reply]);
            assert_eq!(outcome, Err(SendError::TooLong { limit }.into()), "{dialect:?}");
            assert_eq!(asked.len(), 1, "{dialect:?}");
        }
        let (outcome, _) = ask(dialect, vec![text(&"x".repeat(limit))]);
        assert_eq!(outcome.map(|text| text.len()), Ok(limit), "{dialect:?}: the limit itself");
        let (outcome, _) = ask(dialect, vec![Reply::EndlessRefusal(400)]);
        assert_eq!(refused(&outcome).map(|(status, _)| status), Some(400), "{dialect:?}");
    }
}

#[test]
fn garbage_is_no_answer() {
    let bodies = [
        ("text/html", "<html><body>Sign in to the\nhotel network</body></html>"),
        ("application/json", "{\"hotel\": \"network\"}"),
        ("application/json", "[1, 2, 3]"),
        ("application/json", "{\"choices\": \"network"),
        ("application/json", "null"),
        ("text/plain", ""),
        ("application/octet-stream", "\u{0}\u{1}\u{fffd}"),
    ];
    for dialect in Dialect::ALL {
        for (content_type, body) in bodies {
            let (outcome, asked) = ask(dialect, vec![Reply::Body(content_type, body.to_owned())]);
            let Err(SummaryError::Send(SendError::Garbage { kind: told, excerpt })) = outcome else {
                panic!("{dialect:?} took {body:?} for {outcome:?}");
            };
            assert_eq!(told, kind(dialect).as_str());
            assert!(!excerpt.is_empty() && excerpt.lines().count() == 1, "{excerpt:?}");
            assert_eq!(excerpt.contains("network"), body.contains("network"), "{excerpt:?}");
            assert_eq!(asked.len(), 1, "{dialect:?}: asking again would not help");
        }
        let long = Reply::Body("text/html", "é".repeat(100_000));
        let (outcome, _) = ask(dialect, vec![long]);
        assert!(
            matches!(&outcome, Err(SummaryError::Send(SendError::Garbage { excerpt, .. })) if excerpt.chars().count() == 301)
        );
    }
}

#[test]
fn an_answer_without_text_is_none() {
    for dialect in Dialect::ALL {
        for nothing in ["", " \n\t "] {
            let (outcome, asked) = ask(dialect, vec![text(nothing)]);
            assert_eq!((outcome, asked.len()), (Err(SummaryError::Empty), 1), "{dialect:?} {nothing:?}");
        }
    }
}

#[test]
fn an_error_with_a_status_of_success_is_a_refusal() {
    let body = Dialect::OpenAi.error(200, "out of credit").to_string();
    let (outcome, _) = ask(Dialect::OpenAi, vec![Reply::Body("application/json", body)]);
    assert_eq!(refused(&outcome), Some((0, "out of credit")));
}

#[test]
fn no_redirection_is_followed_with_a_key() {
    for dialect in Dialect::ALL {
        let elsewhere = ModelServer::start(dialect, vec![text("stolen")]);
        let (outcome, asked) = ask(dialect, vec![Reply::Redirect(elsewhere.base_url())]);
        assert_eq!(refused(&outcome).map(|(status, _)| status), Some(307));
        assert_eq!((asked.len(), elsewhere.asked().len()), (1, 0));
    }
}

#[test]
fn an_unreachable_address_is_reported_at_once() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for dialect in Dialect::ALL {
        let begun = Instant::now();
        let provider = provider(dialect, format!("http://{free}"));
        let outcome = provider.ask(&question(), LIMIT, &Cancel::new());
        assert!(
            matches!(outcome, Err(SummaryError::Send(SendError::Unreachable { .. }))),
            "{dialect:?} {outcome:?}"
        );
        assert!(begun.elapsed() < SOON, "{dialect:?}");
    }
}

#[test]
fn a_server_that_repeats_the_key_does_not_get_it_into_an_error() {
    for dialect in Dialect::ALL {
        for filler in [0, 150, 280, 290, 295] {
            let said = format!("{} Bearer {KEY} is not a key, {KEY}", "x".repeat(filler));
            for reply in [
                Reply::Body("text/html", said.clone()),
                Reply::Body("application/json", dialect.error(200, &said).to_string()),
                Reply::Body("application/json", format!("{{\"{KEY}\": \"{said}\"}}")),
            ] {
                let (outcome, _) = ask(dialect, vec![reply]);
                let shown = format!("{:?}", outcome.unwrap_err());
                assert!(!shown.contains("sk-never"), "{dialect:?}: {shown}");
            }
        }
    }
}

#[test]
fn a_key_comes_from_the_environment() {
    let server = ModelServer::start(Dialect::Anthropic, vec![text("done"), Reply::Refuse(401, vec![])]);
    let place = tempfile::tempdir().unwrap();
    let settings = [
        "compaction.summariser=http".to_owned(),
        "compaction.model=claude-haiku-4-5".to_owned(),
        "compaction.key_env=TEST_PROVIDER_KEY".to_owned(),
        format!("compaction.base_url={}", server.base_url()),
    ];
    // In a process of its own, since a test cannot set a variable safely.
    let ask = || {
        let ended = separate(&mut Command::new(strata()), &place.path().join("state"))
            .args(["doctor", "--ask"])
            .args(settings.iter().flat_map(|setting| ["--set", setting]))
            .current_dir(place.path())
            .env("TEST_PROVIDER_KEY", KEY)
            .output()
            .unwrap();
        [ended.stdout, ended.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat()
    };
    assert!(ask().contains("it replies \"done\""));
    assert_eq!(server.asked()[0].header("x-api-key"), Some(KEY));
    let refused = ask();
    assert!(refused.contains("check the key") && !refused.contains(KEY), "{refused}");
}

#[test]
fn without_a_key_no_request_is_sent() {
    let variable = "STRATA_TEST_NO_SUCH_KEY";
    for dialect in Dialect::ALL {
        let server = ModelServer::start(dialect, vec![text("never")]);
        let mut provider = provider(dialect, server.base_url());
        provider.key = KeySource::Variable(variable.to_owned().try_into().unwrap());
        let outcome = provider.ask(&question(), LIMIT, &Cancel::new());
        assert_eq!(outcome, Err(SendError::NoKey { variable: variable.to_owned() }.into()));
        assert!(server.asked().is_empty());
    }
}

#[test]
fn a_local_server_needs_no_key() {
    for dialect in [Dialect::OpenAi, Dialect::Responses, Dialect::Ollama] {
        let server = ModelServer::start(dialect, vec![text("done")]);
        let outcome = without_key(dialect, server.base_url()).ask(&question(), LIMIT, &Cancel::new());
        assert_eq!(outcome, Ok("done".to_owned()));
        assert_eq!(server.asked()[0].header("authorization"), None);
    }
}

#[test]
fn questions_run_concurrently() {
    let server = ModelServer::start(Dialect::OpenAi, vec![text("done")]);
    let provider = without_key(Dialect::OpenAi, server.base_url());
    thread::scope(|scope| {
        let asking: Vec<_> =
            (0..16).map(|_| scope.spawn(|| provider.ask(&question(), LIMIT, &Cancel::new()))).collect();
        for asked in asking {
            assert_eq!(asked.join().unwrap(), Ok("done".to_owned()));
        }
    });
    assert_eq!(server.asked().len(), 16);
}
