//! `strata iteration`: manages the memory of an autonomous loop, for the script that runs the loop. Prints the prompt
//! to standard output, and other messages to standard error.

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::{Map, Value, json};
use strata_app::commands::iteration::{
    AddParams, AddReply, BuildIterationPrompt, FoldOutcome, PromptParams, RecordIteration, ReportLoopStatus,
};
use strata_app::commands::{
    Command, CommandError, FileChange, FileEvent, LoopPromise, LoopStatus, NewIteration, NoArguments, Reply,
};
use strata_app::runtime::headless::{HeadlessWorkspace, SessionAccess, SessionSource, read_loop_file};

use crate::arguments::{
    EnvironmentArguments, IterationArguments, IterationCommand, LoopArguments, LoopPromptArguments,
    ReportArguments,
};
use crate::failure::Failure;
use crate::output::{self, count};
use crate::{input, reply, repository};
use strata_app::table::{Align, Table};

pub(crate) fn run(arguments: &IterationArguments) -> Result<ExitCode, Failure> {
    let settings = loop_settings(&arguments.memory)?;
    let mut headless = repository::open_stored_with_settings(&arguments.repository, settings)?;
    let (session, reply_format) = (&arguments.session, arguments.reply_format);
    match &arguments.command {
        IterationCommand::Add(report) => {
            let params = add_params(report, &headless)?;
            headless.open_session(SessionSource::StoredOrNew(session))?;
            reply_format.print_sentence(&headless.call::<RecordIteration>(params)?, |reply| {
                Ok(report_sentence(reply))
            })?;
        }
        IterationCommand::Prompt(next) => {
            let LoopPromptArguments { goal, surroundings } = next;
            let params = PromptParams { goal: goal.clone(), environment: environment_facts(surroundings)? };
            let reply = match goal {
                // There is no session before the first iteration. A new session without messages is not stored.
                Some(_) => {
                    headless.open_session(SessionSource::StoredOrNew(session))?;
                    headless.call::<BuildIterationPrompt>(params)?
                }
                None => call_on_loop::<BuildIterationPrompt>(&mut headless, session, params)?,
            };
            reply_format.print_reply(&reply, |reply| {
                output::write_result(|out| writeln!(out, "{}", reply.text.trim_end_matches('\n')))
            })?;
        }
        IterationCommand::Status => {
            reply_format.print_reply(
                &call_on_loop::<ReportLoopStatus>(&mut headless, session, NoArguments {})?,
                print_status,
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the settings for the loop's memory. If `--config` names a file, it provides all of them, and the other
/// options override its values.
fn loop_settings(arguments: &LoopArguments) -> Result<Map<String, Value>, Failure> {
    let LoopArguments { config, context_window, summarize_every, max_summary_tokens } = arguments;
    let file = match config {
        Some(path) => Some(read_loop_file(path).map_err(|error| Failure::new(format!("--config {error}")))?),
        None => None,
    };
    let values = json!({
        "raw_window_size": context_window.or(file.map(|file| file.raw_window_size)),
        "summarize_every": summarize_every.or(file.map(|file| file.summarize_every)),
        "max_summary_tokens": max_summary_tokens.or(file.map(|file| file.max_summary_tokens)),
    });
    Ok(Map::from_iter([("context".to_owned(), values)]))
}

fn add_params(report: &ReportArguments, headless: &HeadlessWorkspace) -> Result<AddParams, Failure> {
    let output = match &report.output {
        Some(path) => input::read_file(path)
            .map_err(|error| error.with_message_prefix(&format!("--output {}", input::display_name(path))))?,
        None => String::new(),
    };
    let changes = [
        (FileChange::Created, &report.created),
        (FileChange::Modified, &report.modified),
        (FileChange::Deleted, &report.deleted),
    ];
    let event = |change, path: &String| FileEvent { time_ms: 0, path: path.clone(), change };
    let events =
        changes.into_iter().flat_map(|(change, paths)| paths.iter().map(move |path| event(change, path)));
    Ok(AddParams {
        goal: report.goal.clone(),
        environment: environment_facts(&report.surroundings)?,
        file_events: events.collect(),
        iteration: NewIteration {
            time_ms: 0,
            prompt: report.prompt.clone(),
            output,
            cli: report.cli.clone(),
            model: report.model.clone(),
            progress_score: report.score,
            progress_markers: report.marker.clone(),
            file_changes: report.file.iter().map(|path| headless.workspace_path(path)).collect(),
            duration_ms: report.duration.saturating_mul(1_000),
        },
    })
}

/// Returns the environment facts to report, or `None` if no option sets any.
fn environment_facts(arguments: &EnvironmentArguments) -> Result<Option<BTreeMap<String, String>>, Failure> {
    let fact = |given: &String| match given.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) => Err(Failure::new(format!("--env {given}: missing name before `=`"))),
        None => match std::env::var(given) {
            Ok(value) => Ok((given.clone(), value)),
            Err(error) => Err(Failure::new(format!("--env {given}: {error}"))),
        },
    };
    let fact: BTreeMap<String, String> = arguments.env.iter().map(fact).collect::<Result<_, _>>()?;
    Ok((!fact.is_empty()).then_some(fact))
}

fn call_on_loop<C: Command<Args: Serialize>>(
    headless: &mut HeadlessWorkspace,
    session: &str,
    ask: C::Args,
) -> Result<Reply<C::Reply>, Failure> {
    let opened = headless.open_session(SessionSource::Stored(session, SessionAccess::Read));
    let reply = opened.map_err(CommandError::from).and_then(|()| headless.call::<C>(ask));
    reply.map_err(|error| {
        Failure::new(format!("{error}; start a loop with `strata iteration add --goal GOAL`"))
    })
}

fn report_sentence(AddReply { number, promise, fold }: &AddReply) -> String {
    let mut text = format!("recorded iteration {number}");
    if let Some(FoldOutcome { iterations, problem, .. }) = fold {
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
    if *promise == LoopPromise::Complete {
        text.push_str("; it reports that the goal was reached");
    }
    text
}

fn print_status(status: &LoopStatus) -> Result<(), Failure> {
    let numbers = |all: &[u64]| all.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let mut table = Table::new([Align::Left, Align::Left]);
    let mut row = |name: &str, value: String| table.add_row([name.to_owned(), value]);
    row("goal", output::shorten(&status.goal, 100));
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
        LoopPromise::Open => "not reached",
        LoopPromise::Complete => "reached, according to the last iteration",
    };
    row("goal is", reached.to_owned());
    reply::print_table(&table)
}
