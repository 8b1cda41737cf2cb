//! `strata map`: prints the symbol map to standard output, and how much of the repository it covers to standard error.

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::json;
use strata_app::commands::CommandError;

use crate::arguments::MapArguments;
use crate::failure::Failure;
use crate::output::{self, count, counted};
use crate::repository;

/// The fields used from the reply to `strata.symbols.map`.
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
    let focus: Vec<String> = arguments.focus.iter().map(|path| headless.typed(path)).collect();
    let reply = headless
        .run(
            "strata.symbols.map",
            json!({
                "budget": arguments.budget,
                "focus": focus,
                "about": arguments.about,
                "sort": arguments.sort,
            }),
        )
        .map_err(|error| match &error {
            CommandError::InvalidParams { path, message, .. } if path == "budget" => {
                Failure::said(format!("--budget: {message}"))
            }
            error => Failure::of_path("--focus", headless.folder(), error),
        })?;
    if arguments.json {
        output::json(&reply)?;
        return Ok(ExitCode::SUCCESS);
    }
    let reply: Reply = output::understood(reply)?;
    if arguments.legend {
        output::text(&format!("{}\n", reply.legend))?;
    }
    output::text(&reply.text)?;
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
        more => format!("; {} more with an outline were left out", count(more)),
    }
}
