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

use crate::navigation::Feature;
use arguments::Arguments;
use client::{Client, TestWorkspace};
use state::{Masks, looks};
use strata_app::commands::COMMANDS;
use strata_app::faults::Point;
use tour::{ClientKind, end, tour};

const POINTS: [Point; 3] = [Point::Before, Point::Changed, Point::After];

/// Name of the panic points in the store. Every command that changes state reaches them.
const STORE: &str = "store";

/// A workspace with a session that contains all kinds of content.
struct UsedSession {
    place: TestWorkspace,
    /// The session, and the session that it was forked from.
    sessions: [Value; 2],
    /// Id of a message with a tool result.
    output: Value,
}

impl UsedSession {
    fn new() -> Self {
        let place = TestWorkspace::new();
        let mut client = Client::start(&place);
        begin(&mut client, &Value::Null);
        let session = |client: &mut Client| client.ok("strata.server.status", json!({}))["session"].clone();
        client.ok("strata.files.select", json!({ "paths": ["src/lib.rs"] }));
        client.ok("strata.files.exclude", json!({ "paths": ["notes.txt"] }));
        client.ok("strata.memory.add", json!({ "text": "Ada eats no fish." }));
        client.ok("strata.url.add", json!({ "url": "https://example.org/soup", "content": "Boil water." }));
        let iteration = json!({ "prompt": "Go.", "output": "Done." });
        client.ok("strata.iteration.add", json!({ "goal": "Soup.", "iteration": iteration }));
        client.ok("strata.history.add", json!({ "role": "user", "content": "Plan the soups." }));
        client.ok("strata.session.rename", json!({ "name": "soups" }));
        let first = session(&mut client);
        client.ok("strata.session.fork", json!({}));
        let text = "why and because ".repeat(100);
        for _ in 0..6 {
            client.ok("strata.history.addExchange", json!({ "user": text, "assistant": text }));
        }
        client.ok("strata.compaction.run", json!({ "profile": "checkpoint" }));
        client.wait_for("strata/compaction", |news| news["state"] == "ended");
        let call = |id: &str| json!({ "type": "tool_call", "id": id, "name": "bash", "input": {} });
        client.ok("strata.history.add", json!({ "role": "assistant", "content": [call("call-0")] }));
        let output = json!({ "content": "one\ntwo\n", "callId": "call-0" });
        let output = client.ok("strata.toolOutput.add", output)["id"].clone();
        client.ok("strata.history.add", json!({ "role": "assistant", "content": [call("call-1")] }));
        let sessions = [session(&mut client), first];
        client.quit();
        Self { place, sessions, output }
    }

    /// Starts a server on a copy of the workspace, resumes the session, and assembles a prompt without sending it. Also
    /// returns the arguments for running commands there.
    fn start(&self) -> (Client, Arguments, TestWorkspace) {
        let place = self.place.copy();
        let mut client = Client::start(&place);
        let [session, other] = &self.sessions;
        begin(&mut client, session);
        let result = json!({ "callId": "call-1", "content": [{ "type": "text", "text": "ok" }] });
        let prompt = client.ok("strata.prompt.assemble", json!({ "toolResults": [result] }));
        let arguments = Arguments::new(&client, [other, &prompt["id"], &self.output]);
        (client, arguments, place)
    }
}

fn begin(client: &mut Client, session: &Value) {
    let hello = client.hello(session);
    client.request("initialize", hello).unwrap();
    client.notify("initialized", json!({}));
    client.wait_for_outlines(2);
}

#[derive(Default)]
struct Outcomes {
    in_commands: usize,
    while_stored: usize,
    wrong: Vec<String>,
}

#[test]
#[expect(clippy::print_stderr, reason = "prints the results of the run")]
fn a_command_that_panics_changes_nothing_and_the_next_one_is_right() {
    let (lived, outcomes, next) = (UsedSession::new(), Mutex::default(), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(command) = COMMANDS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    panic_in(command.name, &lived, &outcomes);
                }
            });
        }
    });
    let Outcomes { in_commands, while_stored, wrong } = outcomes.into_inner().unwrap();
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

fn panic_in(name: &str, lived: &UsedSession, outcomes: &Mutex<Outcomes>) {
    let (mut undisturbed, arguments, _place) = lived.start();
    let before = undisturbed.plan.reached();
    let expected = undisturbed.run(name, arguments.of(name));
    let after = undisturbed.plan.reached();
    undisturbed.quit();
    let stores = |point: Point| {
        let place = (STORE.to_owned(), point);
        before.get(&place) != after.get(&place)
    };

    let (mut client, arguments, _place) = lived.start();
    let state = looks(&mut client);
    let (mut outcomes_of_one, what) = (Outcomes::default(), [name, STORE]);
    for place in what {
        for point in POINTS {
            if place == STORE && !stores(point) {
                continue;
            }
            client.plan.arm(place, point, 0);
            let answer = client.run(name, arguments.of(name));
            if client.plan.disarm() {
                // A command that fails does not reach its end.
                if place == name && (point != Point::After || expected.is_ok()) {
                    outcomes_of_one.wrong.push(format!("{name} never reaches {point:?}: {answer:?}"));
                }
                continue;
            }
            match place {
                STORE => outcomes_of_one.while_stored += 1,
                _ => outcomes_of_one.in_commands += 1,
            }
            match answer {
                Err(error) if error.contains("an internal error stopped this command") => {}
                other => outcomes_of_one.wrong.push(format!("{name}, {place} {point:?}: {other:?}")),
            }
            let now = looks(&mut client);
            if now != state {
                let difference = state::difference(&state, &now);
                outcomes_of_one.wrong.push(format!("{name}, {place} {point:?}, changed {difference}"));
            }
        }
    }
    let (expected, answer) = (Masks::of(&expected), Masks::of(&client.run(name, arguments.of(name))));
    if answer != expected {
        outcomes_of_one.wrong.push(format!(
            "{name}, run again after the panics: expected\n    {expected:?}\ngot\n    {answer:?}"
        ));
    }
    client.quit();
    let mut outcomes = outcomes.lock().unwrap();
    outcomes.in_commands += outcomes_of_one.in_commands;
    outcomes.while_stored += outcomes_of_one.while_stored;
    outcomes.wrong.extend(outcomes_of_one.wrong);
}

/// Returns the panic points that `tour` reaches with this kind of client, and how often it reaches each.
fn places(talker: ClientKind) -> BTreeMap<(String, Point), usize> {
    let place = TestWorkspace::new();
    let mut client = Client::start(&place);
    tour(&mut client, &place, talker);
    let reached = client.plan.reached();
    client.quit();
    // Commands have a separate test.
    reached.into_iter().filter(|((what, _), _)| !what.starts_with("strata.")).collect()
}

#[test]
#[expect(clippy::print_stderr, reason = "prints the results of the run")]
fn a_panic_anywhere_else_costs_at_most_what_it_came_upon() {
    let mut known = BTreeSet::new();
    let mut jobs = Vec::new();
    for talker in [ClientKind::Able, ClientKind::Plain] {
        for (place, times) in places(talker) {
            let (what, point) = &place;
            // The code after the work is short and the same for all kinds of work.
            let wanted = if is_long() { times.min(3) } else { usize::from(*point != Point::After) };
            if known.insert(place.clone()) || is_long() {
                jobs.extend((0..wanted).map(|passes| (talker, what.clone(), *point, passes)));
            }
        }
    }
    for name in EVENTS {
        assert!(
            known.contains(&(name.to_owned(), Point::Before)),
            "the tour does not trigger the event {name}"
        );
    }
    for feature in Feature::ALL {
        assert!(
            known.contains(&(feature.method().to_owned(), Point::Before)),
            "the tour does not use {feature:?}"
        );
    }

    let expected = [ClientKind::Able, ClientKind::Plain].map(|talker| {
        let place = TestWorkspace::new();
        let mut client = Client::start(&place);
        tour(&mut client, &place, talker);
        let expected = end(&mut client, &place, talker);
        client.quit();
        expected
    });
    let (wrong, next, panics) = (Mutex::new(Vec::new()), AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (talker, what, point, passes) = job;
                    let now = catch_panic(|| {
                        let place = TestWorkspace::new();
                        let mut client = Client::start(&place);
                        client.plan.arm(what, *point, *passes);
                        tour(&mut client, &place, *talker);
                        // Background work may not have reached this point this time.
                        panics.fetch_add(usize::from(!client.plan.disarm()), Ordering::Relaxed);
                        let now = end(&mut client, &place, *talker);
                        client.quit();
                        now
                    });
                    let problem = match now {
                        Ok(now) if now == expected[*talker as usize] => continue,
                        Ok(now) => state::difference(&expected[*talker as usize], &now),
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
        known.len(),
        jobs.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(panics * 10 >= jobs.len() * 9, "too few panic points were reached");
}

/// Names of the events that `tour` must trigger, which are all events except `sent` and `goodbye`.
const EVENTS: [&str; 30] = [
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
