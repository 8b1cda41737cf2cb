//! `strata prompt`: the request body on standard output, what is in it on standard error.

mod report;

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::{Value, json};
use strata_app::headless::HeadlessWorkspace;

use self::report::Report;
use crate::arguments::PromptArguments;
use crate::failure::Failure;
use crate::{input, output, repository};

/// What the code may weigh that a prompt without `--select` brings along, in tokens.
const AUTO_BUDGET: usize = 8_000;

/// What is read of the reply of `strata.files.select`.
#[derive(Deserialize)]
struct SelectionReply {
    withheld: Vec<WithheldFiles>,
}

#[derive(Deserialize)]
struct WithheldFiles {
    path: String,
    reason: String,
}

pub(crate) fn run(arguments: &PromptArguments) -> Result<ExitCode, Failure> {
    let text = input::text(&arguments.text)?;
    let mut headless = repository::open(&arguments.repository)?;
    repository::list(&mut headless)?;
    let confirmed: Vec<String> = arguments.confirm_secrets.iter().map(|path| headless.typed(path)).collect();
    for path in &arguments.select {
        let path = headless.typed(path);
        select(&mut headless, &path, &confirmed)?;
    }
    for path in &arguments.exclude {
        headless
            .run("strata.files.exclude", json!({ "paths": [headless.typed(path)] }))
            .map_err(|error| Failure::of_path("--exclude", headless.folder(), &error))?;
    }
    repository::index(&mut headless)?;
    // Who names no files wants the code found.
    let set = headless.snapshot().settings.context.auto_budget;
    let auto = match arguments.auto {
        None if arguments.select.is_empty() && set == 0 => Some(AUTO_BUDGET),
        auto => auto,
    };
    // Nobody will come back to record what the model answered.
    let ask = json!({
        "prompt": text,
        "model": arguments.model,
        "format": arguments.format,
        "policy": arguments.policy,
        "autoBudget": auto,
        "dryRun": true,
    });
    let reply = headless.run("strata.prompt.assemble", ask)?;
    if arguments.json {
        output::json(&reply)?;
    } else {
        body(reply.get("body"))?;
    }
    output::tell(output::understood::<Report>(reply)?.render().trim_end());
    Ok(ExitCode::SUCCESS)
}

fn select(headless: &mut HeadlessWorkspace, path: &str, confirm_secrets: &[String]) -> Result<(), Failure> {
    let reply = headless
        .run("strata.files.select", json!({ "paths": [path], "confirmSecrets": confirm_secrets }))
        .map_err(|error| Failure::of_path("--select", headless.folder(), &error))?;
    for WithheldFiles { path: file, reason } in output::understood::<SelectionReply>(reply)?.withheld {
        output::tell(&format!("--select {path} left out {file}: {reason}"));
    }
    Ok(())
}

/// The request, ready to be sent, or the text of a format that is no request.
fn body(body: Option<&Value>) -> Result<(), Failure> {
    match body {
        Some(Value::String(text)) => output::result(|out| writeln!(out, "{}", text.trim_end_matches('\n'))),
        body => output::json(&body),
    }
}
