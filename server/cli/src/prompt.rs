//! `strata prompt`: makes a prompt. Prints the request body to standard output, and a report of its contents to
//! standard error.

mod report;

use std::process::ExitCode;

use serde_json::{Value, json};

use self::report::Report;
use crate::arguments::PromptArguments;
use crate::ask::{Opening, open_session};
use crate::failure::Failure;
use crate::{input, output, repository, selecting};

pub(crate) fn run(arguments: &PromptArguments) -> Result<ExitCode, Failure> {
    let text = input::text(&arguments.text)?;
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
    repository::index(&mut headless)?;
    let ask = json!({
        "prompt": text,
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
        body(reply.get("body"))?;
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

/// Prints the request body as JSON, or the text of the Markdown format.
fn body(body: Option<&Value>) -> Result<(), Failure> {
    match body {
        Some(Value::String(text)) => output::result(|out| writeln!(out, "{}", text.trim_end_matches('\n'))),
        body => output::json(&body),
    }
}
