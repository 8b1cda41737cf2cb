//! `strata prompt`: makes a prompt. Prints the request body to standard output, and a report of its contents to
//! standard error.

mod report;

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;

use strata_app::commands::prompt::{AssembleParams, AssemblePrompt};
use strata_app::commands::{AssembledPrompt, Body, Format};

use crate::arguments::PromptArguments;
use crate::ask::{ContinueMode, open_session};
use crate::failure::Failure;
use crate::output::count;
use crate::{input, output, repository, selecting};

pub(crate) fn run(arguments: &PromptArguments) -> Result<ExitCode, Failure> {
    let (text, piped) = (input::read_question(&arguments.text)?, input::read_piped_text(&arguments.text)?);
    let mut headless = match &arguments.session {
        None => repository::open(&arguments.repository)?,
        Some(session) => {
            let mut headless = repository::open_stored(&arguments.repository)?;
            open_session(&mut headless, session, ContinueMode::InPlace)?;
            headless
        }
    };
    repository::list_files(&mut headless)?;
    selecting::apply_selection(&mut headless, &arguments.selecting)?;
    selecting::add_piped_text(&mut headless, piped)?;
    let images = selecting::add_attachments(&mut headless, &arguments.selecting)?;
    repository::index_with_progress(&mut headless)?;
    let ask = AssembleParams {
        prompt: Some(text),
        images,
        model: arguments.model.clone(),
        format: arguments.format,
        policy: arguments.policy,
        auto_budget: arguments.auto,
        // Without a session, the answer cannot be recorded.
        dry_run: arguments.session.is_none(),
        ..AssembleParams::default()
    };
    let reply = headless.call::<AssemblePrompt>(ask)?;
    if arguments.json {
        output::print_json(&reply)?;
    } else {
        write_body(body_with_max_tokens(&reply), arguments.output.as_deref())?;
    }
    output::print_message_lines(report::render(&reply).trim_end());
    if let Some(prompt) = &reply.id {
        headless.store_session()?;
        let session = headless.session_id();
        output::print_message(&format!(
            "record the answer with: strata record --session {session} {prompt} < ANSWER"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the request body, complete enough to be posted: Anthropic's API requires a limit for the answer.
fn body_with_max_tokens(reply: &AssembledPrompt) -> Body {
    let mut body = reply.body.clone();
    if reply.format == Format::Anthropic {
        body.add_missing_number("max_tokens", reply.tokens.output_reserve);
    }
    body
}

/// Writes the request body as JSON, or the text of the Markdown format, to a file or to standard output. A terminal gets
/// only text that is meant for reading.
fn write_body(body: Body, to: Option<&Path>) -> Result<(), Failure> {
    let (text, is_json) = match &body {
        Body::Text(text) => (text.trim_end_matches('\n').to_owned(), false),
        Body::Json(_) => (body.clone().into_text(), true),
    };
    if let Some(path) = to {
        return fs::write(path, format!("{text}\n")).map_err(|error| {
            Failure::new(error.to_string()).with_message_prefix(&path.display().to_string())
        });
    }
    if is_json && io::stdout().is_terminal() {
        let size = count(text.len().div_ceil(1_024));
        output::print_message(&format!(
            "the request body ({size} KiB of JSON) is not shown on a terminal: add `-o FILE` or a pipe"
        ));
        return Ok(());
    }
    if is_json { output::print_json(&body) } else { output::write_result(|out| writeln!(out, "{text}")) }
}
