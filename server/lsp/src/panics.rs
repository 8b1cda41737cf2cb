//! Tests that a panic anywhere causes at most an error reply: the process continues, the state is unchanged, and later
//! requests are answered as if nothing had happened. The tests cover every command in the table, and every other panic
//! point that a conversation with all kinds of messages reaches. With `STRATA_LONG=1`, they also trigger a panic at
//! later visits of the same point.

mod arguments;
mod client;
mod state;
mod tour;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};
use strata_host::pool::catch_panic;
use strata_prompt::settings::LspFeature;

use crate::navigation::feature_method;
use arguments::CommandArguments;
use client::{Client, TestWorkspace};
use state::{RandomNameMasks, visible_state};
use strata_app::commands::COMMANDS;
use strata_app::faults::FaultPoint;
use tour::{ClientKind, final_state, tour};

const POINTS: [FaultPoint; 3] = [FaultPoint::Before, FaultPoint::Changed, FaultPoint::After];

/// Name of the panic points in the store. Every command that changes state reaches them.
const STORE_PANIC_POINT: &str = "store";

/// A workspace with a session that contains all kinds of content.
struct UsedSession {
    workspace: TestWorkspace,
    /// The session, and the session that it was forked from.
    sessions: [Value; 2],
    /// Id of a message with a tool result.
    output: Value,
}

impl UsedSession {
    fn new() -> Self {
        let workspace = TestWorkspace::new();
        let mut client = Client::start(&workspace);
        initialize_client(&mut client, &Value::Null);
        let session =
            |client: &mut Client| client.run_ok("strata.server.status", json!({}))["session"].clone();
        client.run_ok("strata.files.select", json!({ "paths": ["src/lib.rs"] }));
        client.run_ok("strata.files.exclude", json!({ "paths": ["notes.txt"] }));
        client.run_ok("strata.memory.add", json!({ "text": "Ada eats no fish." }));
        client
            .run_ok("strata.url.add", json!({ "url": "https://example.org/soup", "content": "Boil water." }));
        let iteration = json!({ "prompt": "Go.", "output": "Done." });
        client.run_ok("strata.iteration.add", json!({ "goal": "Soup.", "iteration": iteration }));
        client.run_ok("strata.history.add", json!({ "role": "user", "content": "Plan the soups." }));
        client.run_ok("strata.session.rename", json!({ "name": "soups" }));
        let first = session(&mut client);
        client.run_ok("strata.session.fork", json!({}));
        let text = "why and because ".repeat(100);
        for _ in 0..6 {
            client.run_ok("strata.history.addExchange", json!({ "user": text, "assistant": text }));
        }
        client.run_ok("strata.compaction.run", json!({ "profile": "checkpoint" }));
        client.wait_for("strata/compaction", |news| news["state"] == "ended");
        let call = |id: &str| json!({ "type": "tool_call", "id": id, "name": "bash", "input": {} });
        client.run_ok("strata.history.add", json!({ "role": "assistant", "content": [call("call-0")] }));
        let output = json!({ "content": "one\ntwo\n", "callId": "call-0" });
        let output = client.run_ok("strata.toolOutput.add", output)["id"].clone();
        client.run_ok("strata.history.add", json!({ "role": "assistant", "content": [call("call-1")] }));
        let sessions = [session(&mut client), first];
        client.quit();
        Self { workspace, sessions, output }
    }

    /// Starts a server on a copy of the workspace, resumes the session, and assembles a prompt without sending it. Also
    /// returns the arguments for running commands there.
    fn start(&self) -> (Client, CommandArguments, TestWorkspace) {
        let workspace = self.workspace.copy();
        let mut client = Client::start(&workspace);
        let [session, other] = &self.sessions;
        initialize_client(&mut client, session);
        let result = json!({ "callId": "call-1", "content": [{ "type": "text", "text": "ok" }] });
        let prompt = client.run_ok("strata.prompt.assemble", json!({ "toolResults": [result] }));
        let arguments = CommandArguments::new(&client, [other, &prompt["id"], &self.output]);
        (client, arguments, workspace)
    }
}

fn initialize_client(client: &mut Client, session: &Value) {
    let initialize_params = client.initialize_params(session);
    client.request("initialize", initialize_params).unwrap();
    client.notify("initialized", json!({}));
    client.wait_for_outlines(2);
}

#[derive(Default)]
struct PanicOutcomes {
    in_commands: usize,
    while_stored: usize,
    wrong: Vec<String>,
}

#[test]
#[expect(clippy::print_stderr, reason = "prints the results of the run")]
fn a_command_that_panics_changes_nothing_and_succeeds_when_repeated() {
    let (used_session, outcomes, next) = (UsedSession::new(), Mutex::default(), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(command) = COMMANDS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    panic_in(command.name, &used_session, &outcomes);
                }
            });
        }
    });
    let PanicOutcomes { in_commands, while_stored, wrong } = outcomes.into_inner().unwrap();
    eprintln!(
        "{} commands: {in_commands} panics while they ran, {while_stored} while their changes were stored, {} wrong",
        COMMANDS.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        in_commands * 10 > 29 * COMMANDS.len() && while_stored > COMMANDS.len() / 2,
        "too few panic points were reached"
    );
}

fn panic_in(name: &str, used_session: &UsedSession, outcomes: &Mutex<PanicOutcomes>) {
    let (mut undisturbed, arguments, _workspace) = used_session.start();
    let before = undisturbed.plan.reach_counts();
    let expected = undisturbed.run(name, arguments.for_command(name));
    let after = undisturbed.plan.reach_counts();
    undisturbed.quit();
    let stores = |point: FaultPoint| {
        let point_name = (STORE_PANIC_POINT.to_owned(), point);
        before.get(&point_name) != after.get(&point_name)
    };

    let (mut client, arguments, _workspace) = used_session.start();
    let state = visible_state(&mut client);
    let (mut outcomes_of_command, panic_points) = (PanicOutcomes::default(), [name, STORE_PANIC_POINT]);
    for point_name in panic_points {
        for point in POINTS {
            if point_name == STORE_PANIC_POINT && !stores(point) {
                continue;
            }
            client.plan.arm(point_name, point, 0);
            let answer = client.run(name, arguments.for_command(name));
            if client.plan.disarm() {
                // A command that fails does not reach its end.
                if point_name == name && (point != FaultPoint::After || expected.is_ok()) {
                    outcomes_of_command.wrong.push(format!("{name} never reaches {point:?}: {answer:?}"));
                }
                continue;
            }
            match point_name {
                STORE_PANIC_POINT => outcomes_of_command.while_stored += 1,
                _ => outcomes_of_command.in_commands += 1,
            }
            match answer {
                Err(error) if error.contains("an internal error stopped this command") => {}
                other => outcomes_of_command.wrong.push(format!("{name}, {point_name} {point:?}: {other:?}")),
            }
            let state_after = visible_state(&mut client);
            if state_after != state {
                let difference = state::difference(&state, &state_after);
                outcomes_of_command
                    .wrong
                    .push(format!("{name}, {point_name} {point:?}, changed {difference}"));
            }
        }
    }
    let (expected, answer) = (
        RandomNameMasks::apply_to(&expected),
        RandomNameMasks::apply_to(&client.run(name, arguments.for_command(name))),
    );
    if answer != expected {
        outcomes_of_command.wrong.push(format!(
            "{name}, run again after the panics: expected\n    {expected:?}\ngot\n    {answer:?}"
        ));
    }
    client.quit();
    let mut outcomes = outcomes.lock().unwrap();
    outcomes.in_commands += outcomes_of_command.in_commands;
    outcomes.while_stored += outcomes_of_command.while_stored;
    outcomes.wrong.extend(outcomes_of_command.wrong);
}

/// Returns the panic points that `tour` reaches with this kind of client, and how often it reaches each.
fn reachable_points(client_kind: ClientKind) -> BTreeMap<(String, FaultPoint), usize> {
    let workspace = TestWorkspace::new();
    let mut client = Client::start(&workspace);
    tour(&mut client, &workspace, client_kind);
    let reached = client.plan.reach_counts();
    client.quit();
    // Commands have a separate test.
    reached.into_iter().filter(|((name, _), _)| !name.starts_with("strata.")).collect()
}

#[test]
#[expect(clippy::print_stderr, reason = "prints the results of the run")]
fn a_panic_outside_of_commands_affects_only_the_handled_event() {
    let mut reached = BTreeSet::new();
    let mut jobs = Vec::new();
    for client_kind in [ClientKind::Able, ClientKind::Plain] {
        for (place, times) in reachable_points(client_kind) {
            let (name, point) = &place;
            // The code after the work is short and the same for all kinds of work.
            let visits = if is_long() { times.min(3) } else { usize::from(*point != FaultPoint::After) };
            if reached.insert(place.clone()) || is_long() {
                jobs.extend(
                    (0..visits).map(|skipped_visits| (client_kind, name.clone(), *point, skipped_visits)),
                );
            }
        }
    }
    for name in TOUR_EVENTS {
        assert!(
            reached.contains(&(name.to_owned(), FaultPoint::Before)),
            "the tour does not trigger the event {name}"
        );
    }
    for feature in LspFeature::ALL {
        assert!(
            reached.contains(&(feature_method(feature).to_owned(), FaultPoint::Before)),
            "the tour does not use {feature:?}"
        );
    }

    let expected = [ClientKind::Able, ClientKind::Plain].map(|client_kind| {
        let workspace = TestWorkspace::new();
        let mut client = Client::start(&workspace);
        tour(&mut client, &workspace, client_kind);
        let expected = final_state(&mut client, &workspace, client_kind);
        client.quit();
        expected
    });
    let (wrong, next, panics) = (Mutex::new(Vec::new()), AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (client_kind, name, point, skipped_visits) = job;
                    let end_state = catch_panic(|| {
                        let workspace = TestWorkspace::new();
                        let mut client = Client::start(&workspace);
                        client.plan.arm(name, *point, *skipped_visits);
                        tour(&mut client, &workspace, *client_kind);
                        // Background work may not have reached this point this time.
                        panics.fetch_add(usize::from(!client.plan.disarm()), Ordering::Relaxed);
                        let end_state = final_state(&mut client, &workspace, *client_kind);
                        client.quit();
                        end_state
                    });
                    let problem = match end_state {
                        Ok(end_state) if end_state == expected[*client_kind as usize] => continue,
                        Ok(end_state) => state::difference(&expected[*client_kind as usize], &end_state),
                        Err(panicked) => panicked.to_string(),
                    };
                    wrong.lock().unwrap().push(format!("{job:?}: {problem}"));
                }
            });
        }
    });
    let (wrong, panics) = (wrong.into_inner().unwrap(), panics.into_inner());
    eprintln!(
        "{} panic points, {} conversations, {panics} panics, {} wrong",
        reached.len(),
        jobs.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(panics * 10 >= jobs.len() * 9, "too few panic points were reached");
}

/// Names of the events that `tour` must trigger, which are all events except `sent` and `goodbye`.
const TOUR_EVENTS: [&str; 30] = [
    "initialize",
    "initialized",
    "textDocument/didOpen",
    "textDocument/didChange",
    "textDocument/didSave",
    "textDocument/didClose",
    "invalid_notification",
    "named",
    "workspace/didChangeWatchedFiles",
    "workspace/didCreateFiles",
    "workspace/didRenameFiles",
    "client does not watch",
    "seen",
    "watched",
    "workspace/didChangeWorkspaceFolders",
    "workspace/didChangeConfiguration",
    "settings",
    "workspace settings",
    "window/workDoneProgress/cancel",
    "question",
    "workspace/executeCommand",
    "show",
    "command done",
    "drafted",
    "aged",
    "measured",
    "parsed",
    "index so far",
    "indexed",
    "metered",
];

fn is_long() -> bool {
    env::var_os("STRATA_LONG").is_some()
}
