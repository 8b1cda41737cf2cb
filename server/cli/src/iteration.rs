//! `strata iteration`: manages the memory of an autonomous loop, for the script that runs the loop. Prints the prompt
//! to standard output, and other messages to standard error.

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use strata_app::commands::CommandError;
use strata_app::runtime::headless::{Access, HeadlessWorkspace, SessionSource, read_loop_file};

use crate::arguments::{
    EnvironmentArguments, IterationArguments, IterationCommand, LoopArguments, PromptOfLoopArguments,
    ReportArguments,
};
use crate::failure::Failure;
use crate::output::{self, count};
use crate::{input, reply, repository};
use strata_app::table::{Align, Table};

/// The fields used from the reply to `strata.iteration.add`.
#[derive(Deserialize)]
struct AddedIteration {
    number: u64,
    promise: Promise,
    fold: Option<FoldedIterations>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Promise {
    Open,
    Complete,
}

#[derive(Deserialize)]
struct FoldedIterations {
    iterations: Vec<u64>,
    problem: Option<String>,
}

/// The fields used from the reply to `strata.iteration.prompt`.
#[derive(Deserialize)]
struct Prompt {
    text: String,
}

/// The fields used from the reply to `strata.iteration.status`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    goal: String,
    total_iterations: u64,
    window: Vec<u64>,
    waiting: Vec<u64>,
    summarized: u64,
    next_summary_at: Option<u64>,
    progress_score: Option<f64>,
    promise: Promise,
}

pub(crate) fn run(arguments: &IterationArguments) -> Result<ExitCode, Failure> {
    let settings = remembered(&arguments.memory)?;
    let mut headless = repository::open_stored_with(&arguments.repository, settings)?;
    let (session, audience) = (&arguments.session, arguments.audience);
    match &arguments.command {
        IterationCommand::Add(report) => {
            let ask = asked(report, &headless)?;
            headless.open_session(SessionSource::StoredOrNew(session))?;
            audience.say(headless.run("strata.iteration.add", ask)?, told)?;
        }
        IterationCommand::Prompt(next) => {
            let PromptOfLoopArguments { goal, surroundings } = next;
            let ask = json!({ "goal": goal, "environment": environment(surroundings)? });
            let reply = match goal {
                // There is no session before the first iteration. A new session without messages is not stored.
                Some(_) => {
                    headless.open_session(SessionSource::StoredOrNew(session))?;
                    headless.run("strata.iteration.prompt", ask)?
                }
                None => of_loop(&mut headless, session, "strata.iteration.prompt", ask)?,
            };
            audience.show(reply, |reply| {
                let Prompt { text } = output::understood(reply)?;
                output::result(|out| writeln!(out, "{}", text.trim_end_matches('\n')))
            })?;
        }
        IterationCommand::Status => {
            let reply = of_loop(&mut headless, session, "strata.iteration.status", json!({}))?;
            audience.show(reply, |reply| status(&output::understood(reply)?))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the settings for the loop's memory. If `--config` names a file, it provides all of them, and the other
/// options override its values.
fn remembered(arguments: &LoopArguments) -> Result<Map<String, Value>, Failure> {
    let LoopArguments { config, context_window, summarize_every, max_summary_tokens } = arguments;
    let file = match config {
        Some(path) => Some(read_loop_file(path).map_err(|error| Failure::said(format!("--config {error}")))?),
        None => None,
    };
    let given = json!({
        "raw_window_size": context_window.or(file.map(|file| file.raw_window_size)),
        "summarize_every": summarize_every.or(file.map(|file| file.summarize_every)),
        "max_summary_tokens": max_summary_tokens.or(file.map(|file| file.max_summary_tokens)),
    });
    Ok(Map::from_iter([("context".to_owned(), given)]))
}

fn asked(report: &ReportArguments, headless: &HeadlessWorkspace) -> Result<Value, Failure> {
    let output = match &report.output {
        Some(path) => {
            input::file(path).map_err(|error| error.about(&format!("--output {}", input::name(path))))?
        }
        None => String::new(),
    };
    let changes =
        [("created", &report.created), ("modified", &report.modified), ("deleted", &report.deleted)];
    let events = changes
        .into_iter()
        .flat_map(|(change, paths)| paths.iter().map(move |path| json!({ "path": path, "change": change })));
    Ok(json!({
        "goal": report.goal,
        "environment": environment(&report.surroundings)?,
        "fileEvents": events.collect::<Vec<Value>>(),
        "iteration": {
            "prompt": report.prompt,
            "output": output,
            "cli": report.cli,
            "model": report.model,
            "progressScore": report.score,
            "progressMarkers": report.marker,
            "fileChanges": report.file.iter().map(|path| headless.typed(path)).collect::<Vec<_>>(),
            "durationMs": report.duration.saturating_mul(1_000),
        },
    }))
}

/// Returns the environment facts to report, or `None` if no option sets any.
fn environment(arguments: &EnvironmentArguments) -> Result<Option<BTreeMap<String, String>>, Failure> {
    let told = |given: &String| match given.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) => Err(Failure::said(format!("--env {given}: missing name before `=`"))),
        None => match std::env::var(given) {
            Ok(value) => Ok((given.clone(), value)),
            Err(error) => Err(Failure::said(format!("--env {given}: {error}"))),
        },
    };
    let told: BTreeMap<String, String> = arguments.env.iter().map(told).collect::<Result<_, _>>()?;
    Ok((!told.is_empty()).then_some(told))
}

/// Runs a command on the loop of a stored session.
fn of_loop(
    headless: &mut HeadlessWorkspace,
    session: &str,
    command: &str,
    ask: Value,
) -> Result<Value, Failure> {
    let opened = headless.open_session(SessionSource::Stored(session, Access::Read));
    let asked = opened.map_err(CommandError::from).and_then(|()| headless.run(command, ask));
    asked.map_err(|error| {
        Failure::said(format!("{error}; start a loop with `strata iteration add --goal GOAL`"))
    })
}

fn told(reply: Value) -> Result<String, Failure> {
    let AddedIteration { number, promise, fold } = output::understood(reply)?;
    let mut text = format!("recorded iteration {number}");
    if let Some(FoldedIterations { iterations, problem }) = fold {
        let which = match (iterations.first(), iterations.last()) {
            (Some(first), Some(last)) if first < last => format!("iterations {first} to {last}"),
            (Some(only), _) => format!("iteration {only}"),
            (None, _) => "nothing".to_owned(),
        };
        text.push_str(&match problem {
            None => format!("; {which} added to the summary"),
            Some(problem) => format!("; {which} could not be summarized yet: {problem}"),
        });
    }
    if let Promise::Complete = promise {
        text.push_str("; it reports that the goal was reached");
    }
    Ok(text)
}

fn status(status: &Status) -> Result<(), Failure> {
    let numbers = |all: &[u64]| all.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let mut table = Table::new([Align::Left, Align::Left]);
    let mut row = |name: &str, what: String| table.row([name.to_owned(), what]);
    row("goal", output::clipped(&status.goal, 100));
    row("iterations", count(usize::try_from(status.total_iterations).unwrap_or(usize::MAX)));
    row("verbatim", numbers(&status.window));
    if !status.waiting.is_empty() {
        row("not summarized yet", numbers(&status.waiting));
    }
    row("summarized", format!("the first {}", status.summarized));
    if let Some(next) = status.next_summary_at {
        row("next summary", format!("after iteration {next}"));
    }
    if let Some(score) = status.progress_score {
        row("score", score.to_string());
    }
    let reached = match status.promise {
        Promise::Open => "not reached",
        Promise::Complete => "reached, according to the last iteration",
    };
    row("goal is", reached.to_owned());
    reply::table(&table)
}
