//! Tests the limits of the protocol: which calls are allowed when, how many, how often, and how serving ends.

#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use strata_lsp::transport::{Exit, ExitCause, TransportOptions};

use crate::mock::{call, cancel, change, code, initialize, named, noop, notify};
use crate::ours::Ours;

/// `ServerNotInitialized` (LSP 3.17, `ErrorCodes`).
const NOT_INITIALIZED: i64 = -32002;
/// The request is not served because too many are pending.
const SERVER_BUSY: i64 = -32803;

const INVALID_REQUEST: i64 = -32600;

#[test]
fn only_initialize_is_served_before_initialize() {
    let mut ours = Ours::fresh(TransportOptions::default());
    ours.send_all([
        noop(1),
        change(1),
        call(2, "shutdown", Value::Null),
        initialize(),
        initialize(),
        noop(3),
    ]);
    let replies: Vec<_> =
        (0..5).map(|_| ours.next()).map(|reply| (reply["id"].clone(), code(&reply))).collect();
    assert_eq!(
        replies,
        [
            (json!(1), Some(NOT_INITIALIZED)),
            (json!(2), Some(NOT_INITIALIZED)),
            (json!("initialize"), None),
            (json!("initialize"), Some(INVALID_REQUEST)),
            (json!(3), None)
        ]
    );
    assert_eq!(ours.world.log(), ["initialize"]);
}

#[test]
fn initialize_can_be_retried_after_an_error() {
    let mut ours = Ours::fresh(TransportOptions::default());
    let attempt = |option: &str| {
        call(option, "initialize", json!({ "capabilities": {}, "initializationOptions": option }))
    };
    ours.send_all([attempt("refuse"), attempt("panic"), attempt("slow")]);
    ours.send_all([noop(1), cancel("slow")]);
    let replies: Vec<_> =
        (0..4).map(|_| ours.next()).map(|reply| (reply["id"].clone(), code(&reply))).collect();
    assert_eq!(
        replies,
        [
            (json!("refuse"), Some(-32602)),
            (json!("panic"), Some(-32603)),
            (json!("slow"), Some(-32800)),
            (json!(1), Some(NOT_INITIALIZED))
        ]
    );
    ours.send_all([initialize(), noop(2)]);
    assert!(ours.next()["result"].is_object());
    assert_eq!(ours.next()["id"], 2);
}

#[test]
fn only_pending_requests_are_limited() {
    let mut ours = Ours::start();
    ours.send_all((1..=513).map(|number| call(number, "test/ask", named(number))));
    let mut questions = Vec::new();
    let mut busy = Vec::new();
    while questions.len() + busy.len() < 513 {
        let message = ours.next();
        if message.get("method").is_some() { questions.push(message) } else { busy.push(message) }
    }
    assert_eq!((questions.len(), busy.len()), (512, 1));
    assert_eq!(code(&busy[0]), Some(SERVER_BUSY));
    assert_eq!((&busy[0]["id"], &busy[0]["error"]["data"]["reason"]), (&json!(513), &json!("serverBusy")));

    ours.send_all((1..=1000).map(|number| notify("test/late", named(number))));
    ours.send(&change(1));
    ours.world.wait_for("change 1");
    // Handlers that wait for the client occupy every slot, but the client's answer must still reach them.
    ours.send(&json!({ "jsonrpc": "2.0", "id": questions[7]["id"], "result": "here" }));
    assert_eq!(ours.next(), json!({ "jsonrpc": "2.0", "id": 8, "result": "here" }));
    ours.send(&noop(514));
    assert_eq!(ours.next(), json!({ "jsonrpc": "2.0", "id": 514, "result": null }));
    ours.send(&call(515, "test/ask", named(515)));
    assert_eq!(ours.next()["params"]["name"], "515");
    ours.send_all([noop(516), call(517, "shutdown", Value::Null)]);
    assert_eq!(code(&ours.next()), Some(SERVER_BUSY));
    assert_eq!(
        ours.next(),
        json!({ "jsonrpc": "2.0", "id": 517, "result": null }),
        "`shutdown` needs no slot"
    );
}

#[test]
fn a_second_request_with_a_pending_id_is_rejected() {
    let mut ours = Ours::start();
    ours.send_all([
        call(1, "test/slow", named("a")),
        call(1, "test/slow", named("b")),
        call("1", "test/slow", named("c")),
    ]);
    let reply = ours.next();
    assert_eq!((&reply["id"], code(&reply)), (&json!(1), Some(INVALID_REQUEST)));
    ours.world.wait_for("slow c");
    ours.world.open("a");
    assert_eq!(ours.next(), json!({ "jsonrpc": "2.0", "id": 1, "result": "a" }));
    ours.send(&call(1, "test/slow", named("d")));
    ours.world.open("d");
    assert_eq!(ours.next(), json!({ "jsonrpc": "2.0", "id": 1, "result": "d" }), "an id can be used again");
    assert_eq!(ours.world.log(), ["initialize", "slow a", "slow c", "done a", "slow d", "done d"]);
}

#[test]
fn malformed_answers_reach_the_waiting_caller() {
    let mut ours = Ours::start();
    let mut ask = |id: i64, fields: Value| {
        ours.send(&call(id, "test/ask", named(id)));
        let mut answer = json!({ "jsonrpc": "2.0", "id": ours.next()["id"] });
        answer.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        ours.send_all([answer, noop(1000 + id)]);
        // At most three replies, in any order: to the question, to an invalid answer, and to the no-op.
        let (mut reply, mut refusal, mut passed) = (Value::Null, None, Value::Null);
        while reply.is_null() || passed.is_null() {
            let message = ours.next();
            match message["id"].as_i64() {
                None => refusal = code(&message),
                Some(other) if other == id => reply = message,
                Some(_) => passed = message,
            }
        }
        (reply, refusal)
    };
    let null = json!({ "jsonrpc": "2.0", "id": 1, "result": null });
    assert_eq!(ask(1, json!({ "result": null, "error": null })), (null, None));
    let (reply, refusal) =
        ask(2, json!({ "result": null, "error": { "code": -1, "message": "no", "more": 1 } }));
    assert_eq!((code(&reply), refusal), (Some(-1), None));
    let (reply, refusal) = ask(3, json!({ "error": "no" }));
    assert_eq!((code(&reply), refusal), (Some(-32603), None));
    let (reply, refusal) = ask(4, json!({}));
    assert_eq!((code(&reply), refusal), (Some(INVALID_REQUEST), Some(INVALID_REQUEST)));
    // Answers without a pending request.
    ours.send_all([json!({ "jsonrpc": "2.0", "id": 9999, "result": 1 }), noop(5)]);
    assert_eq!(ours.next()["id"], 5);
}

#[test]
fn the_end_of_the_input_ends_the_server_after_the_last_answer() {
    let mut ours =
        Ours::start_with(TransportOptions { drain: Duration::from_secs(60), ..TransportOptions::default() });
    ours.send_all([call(1, "test/slow", named(1)), noop(2)]);
    ours.hang_up();
    assert_eq!(ours.next()["id"], 2);
    // On a slow machine, this may miss a server that exits too early, but it cannot fail for a correct server.
    assert_eq!(ours.exit_within(Duration::from_millis(200)), None);
    ours.world.open("1");
    assert_eq!(ours.next()["id"], 1);
    assert_eq!(ours.exit(), Exit { code: 1, cause: ExitCause::EndOfInput });

    let mut ours = Ours::start();
    ours.send(&call(1, "shutdown", Value::Null));
    ours.hang_up();
    assert_eq!(ours.exit(), Exit { code: 0, cause: ExitCause::EndOfInput });
}

#[test]
fn the_end_of_the_input_waits_only_for_a_limited_time() {
    let mut ours = Ours::start_with(TransportOptions {
        drain: Duration::from_millis(10),
        ..TransportOptions::default()
    });
    ours.send_all([call(1, "test/slow", named(1)), call(2, "test/ask", named(2))]);
    ours.hang_up();
    assert_eq!(ours.exit(), Exit { code: 1, cause: ExitCause::EndOfInput });
}

/// The client dies, but another process keeps the input pipe open, and the client is still a zombie.
#[cfg(target_os = "linux")]
#[test]
fn the_death_of_the_client_ends_the_server_although_the_input_is_open() {
    let mut client = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut ours = Ours::fresh(TransportOptions {
        watch_every: Duration::from_millis(5),
        ..TransportOptions::default()
    });
    ours.send(&call(1, "initialize", json!({ "capabilities": {}, "processId": client.id() })));
    ours.next();
    ours.send(&noop(2));
    assert_eq!(ours.next()["id"], 2);
    drop(client.stdin.take());
    assert_eq!(ours.exit(), Exit { code: 1, cause: ExitCause::ClientDied });
    client.wait().unwrap();
}

/// In a container, the client's process id is unknown or belongs to another process.
#[cfg(target_os = "linux")]
#[test]
fn a_client_whose_process_is_invisible_does_not_count_as_ended() {
    let mut exited = Command::new("true").spawn().unwrap();
    exited.wait().unwrap();
    let mut ours = Ours::fresh(TransportOptions {
        watch_every: Duration::from_millis(1),
        ..TransportOptions::default()
    });
    for process in [json!(exited.id()), json!(null), json!(-1), json!(0), json!(u64::MAX)] {
        ours.send(&call(1, "initialize", json!({ "capabilities": {}, "processId": process })));
        ours.next();
    }
    ours.hang_up();
    assert_eq!(ours.exit().cause, ExitCause::EndOfInput);
}

#[test]
fn closing_the_output_ends_the_server() {
    let (reader, mut input) = std::io::pipe().unwrap();
    let (output, writer) = std::io::pipe().unwrap();
    drop(output);
    let ended = crate::ours::run(&crate::mock::World::default(), reader, writer, TransportOptions::default());
    std::io::Write::write_all(&mut input, &crate::mock::frame(&noop(1))).unwrap();
    let exit = ended.recv_timeout(crate::mock::LIMIT).unwrap();
    assert_eq!(exit, Exit { code: 1, cause: ExitCause::OutputClosed });
}
