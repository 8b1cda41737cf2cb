//! The beginning and the end.

#[cfg(unix)]
use std::process::{Command, Stdio};
use std::time::Duration;

#[cfg(unix)]
use e2e::Setup;
use e2e::{Editor, Server, hello};
use serde_json::{Value, json};

use crate::small;

/// A server follows a client that is gone within this time (`security.md`, "Process").
const FOLLOWS: Duration = Duration::from_secs(10);

#[test]
fn the_reply_to_initialize_says_what_the_server_does() {
    let mut server = Server::start();
    let reply = server.request("initialize", hello()).unwrap();
    assert_eq!(reply["serverInfo"]["name"], "strata");
    let offered = &reply["capabilities"];
    assert_eq!(offered["positionEncoding"], "utf-16", "the default of a client that offers nothing");
    assert_eq!(offered["textDocumentSync"]["change"], 2, "incremental");
    assert_eq!(offered["textDocumentSync"]["save"]["includeText"], true);
    let commands = offered["executeCommandProvider"]["commands"].as_array().unwrap();
    for command in ["strata.files.select", "strata.prompt.assemble", "strata.prompt.record"] {
        assert!(commands.contains(&command.into()), "{command}");
    }
    server.notify("initialized", json!({}));
    assert_eq!(server.request("shutdown", Value::Null), Ok(Value::Null));
    server.notify("exit", Value::Null);
    assert_eq!(server.wait_for_end().code(), Some(0));
}

#[test]
fn every_command_that_is_announced_is_there() {
    let mut server = Server::start();
    let reply = server.request("initialize", hello()).unwrap();
    let commands = reply["capabilities"]["executeCommandProvider"]["commands"].as_array().unwrap().clone();
    assert!(commands.len() > 20);
    for command in commands {
        let argument = json!({ "no such field": 1 });
        let params = json!({ "command": command, "arguments": [argument] });
        let refused = server.request("workspace/executeCommand", params).unwrap_err();
        assert!(refused.message.contains("no such field"), "{command}: {refused}");
    }
}

#[test]
fn nothing_but_initialize_is_served_before_initialize() {
    let mut server = Server::start();
    let early = server.request("workspace/executeCommand", json!({ "command": "strata.server.status" }));
    assert_eq!(early.unwrap_err().code, -32002, "ServerNotInitialized");
    assert!(server.request("initialize", hello()).is_ok());
    let again = server.request("initialize", hello());
    assert_eq!(again.unwrap_err().code, -32600, "InvalidRequest");
}

#[test]
fn after_shutdown_requests_are_refused() {
    let mut editor = Editor::start(&small());
    editor.server.request("shutdown", Value::Null).unwrap();
    assert_eq!(editor.refused("server.status", json!({})).code, -32600, "InvalidRequest");
    editor.server.notify("exit", Value::Null);
    assert_eq!(editor.server.wait_for_end().code(), Some(0));
    editor.abandon();
}

#[test]
fn exit_without_shutdown_is_a_failure() {
    let mut editor = Editor::start(&small());
    editor.abandon();
    editor.server.notify("exit", Value::Null);
    assert_eq!(editor.server.wait_for_end().code(), Some(1));
}

#[test]
fn the_server_ends_when_its_client_closes_the_pipe() {
    let mut editor = Editor::start(&small());
    editor.abandon();
    editor.server.close_input();
    assert_eq!(editor.server.wait_for_end_within(FOLLOWS).code(), Some(1));
}

/// The server watches the process of its client on Unix only. Elsewhere it ends when its input does.
#[cfg(unix)]
#[test]
fn the_server_ends_when_the_process_of_its_client_does() {
    let mut client = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
    let repo = small();
    let mut editor = Setup::new(&repo).process(client.id()).start();
    editor.abandon();
    client.kill().unwrap();
    client.wait().unwrap();
    assert_eq!(editor.server.wait_for_end_within(FOLLOWS).code(), Some(1), "although its input is open");
}
