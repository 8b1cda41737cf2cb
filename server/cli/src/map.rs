//! `strata map`: the symbol map on standard output, how much of the repository it covers on standard error.

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::json;

use crate::arguments::MapArguments;
use crate::failure::Failure;
use crate::output::{self, count, counted};
use crate::repository;

/// What is read of the reply of `strata.symbols.map`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reply {
    legend: String,
    text: String,
    tokens: usize,
    budget: usize,
    files: Vec<serde::de::IgnoredAny>,
    left_out: usize,
}

pub(crate) fn run(arguments: &MapArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.repository)?;
    repository::index(&mut headless)?;
    let reply = headless
        .run("strata.symbols.map", json!({ "budget": arguments.budget, "focus": arguments.focus }))
        .map_err(|error| Failure::of_path("--focus", headless.folder(), &error))?;
    if arguments.json {
        output::json(&reply)?;
        return Ok(ExitCode::SUCCESS);
    }
    let reply: Reply = output::understood(reply)?;
    output::result(|out| {
        writeln!(out, "{}", reply.legend)?;
        write!(out, "{}", reply.text)
    })?;
    output::tell(&format!("{}{}", size(&reply), left_out(&reply)));
    Ok(ExitCode::SUCCESS)
}

fn size(reply: &Reply) -> String {
    let files = counted(reply.files.len(), "file");
    format!("{files}, {} of {} tokens", count(reply.tokens), count(reply.budget))
}

fn left_out(reply: &Reply) -> String {
    match reply.left_out {
        0 => String::new(),
        more => format!("; {} more with an outline left out", count(more)),
    }
}
