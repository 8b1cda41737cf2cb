//! `strata prompt`: makes a prompt. Prints the request body to standard output, and a report of its contents to
//! standard error.

mod report;

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use self::report::Report;
use crate::arguments::PromptArguments;
use crate::ask::{Opening, open_session};
use crate::failure::Failure;
use crate::output::count;
use crate::{input, output, repository, selecting};

pub(crate) fn run(arguments: &PromptArguments) -> Result<ExitCode, Failure> {
    let (text, piped) = (input::question(&arguments.text)?, input::piped(&arguments.text)?);
    let mut headless = match &arguments.session {
        None => repository::open(&arguments.repository)?,
        Some(session) => {
            let mut headless = repository::open_stored(&arguments.repository)?;
            open_session(&mut headless, session, Opening::Session)?;
            headless
        }
    };
    repository::list(&mut headless)?;
    selecting::apply(&mut headless, &arguments.selecting)?;
    selecting::add_piped(&mut headless, piped)?;
    let images = selecting::attach(&mut headless, &arguments.selecting)?;
    repository::index(&mut headless)?;
    let ask = json!({
        "prompt": text,
        "images": images,
        "model": arguments.model,
        "format": arguments.format,
        "policy": arguments.policy,
        "autoBudget": arguments.auto,
        // Without a session, the answer cannot be recorded.
        "dryRun": arguments.session.is_none(),
    });
    let reply = headless.run("strata.prompt.assemble", ask)?;
    if arguments.json {
        output::json(&reply)?;
    } else {
        body(&with_max_tokens(&reply), arguments.output.as_deref())?;
    }
    let prompt = reply.get("id").and_then(Value::as_str).map(str::to_owned);
    output::tell_lines(output::understood::<Report>(reply)?.render().trim_end());
    if let Some(prompt) = prompt {
        headless.store_session()?;
        let session = headless.session_id();
        output::tell(&format!("record the answer with: strata record --session {session} {prompt} < ANSWER"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the request body, complete enough to be posted: Anthropic's API requires a limit for the answer.
fn with_max_tokens(reply: &Value) -> Value {
    let mut body = reply.get("body").cloned().unwrap_or_default();
    let reserve = reply.pointer("/tokens/outputReserve").cloned();
    if let (Some("anthropic"), Value::Object(fields), Some(reserve)) =
        (reply.get("format").and_then(Value::as_str), &mut body, reserve)
    {
        fields.entry("max_tokens").or_insert(reserve);
    }
    body
}

/// Writes the request body as JSON, or the text of the Markdown format, to a file or to standard output. A terminal gets
/// only text that is meant for reading.
fn body(body: &Value, to: Option<&Path>) -> Result<(), Failure> {
    let (text, is_json) = match body {
        Value::String(text) => (text.trim_end_matches('\n').to_owned(), false),
        body => (body.to_string(), true),
    };
    if let Some(path) = to {
        return fs::write(path, format!("{text}\n"))
            .map_err(|error| Failure::said(error.to_string()).about(&path.display().to_string()));
    }
    if is_json && io::stdout().is_terminal() {
        let size = count(text.len().div_ceil(1_024));
        output::tell(&format!(
            "the request body ({size} KiB of JSON) is not shown on a terminal: add `-o FILE` or a pipe"
        ));
        return Ok(());
    }
    if is_json { output::json(body) } else { output::result(|out| writeln!(out, "{text}")) }
}
