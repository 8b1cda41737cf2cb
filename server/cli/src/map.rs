//! `strata map`: prints the symbol map to standard output, and how much of the repository it covers to standard error.

use std::process::ExitCode;

use strata_app::commands::CommandError;
use strata_app::commands::symbols::{Map, MapParams, MapReply};

use crate::arguments::MapArguments;
use crate::failure::Failure;
use crate::output::{self, count, counted};
use crate::repository;

pub(crate) fn run(arguments: &MapArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.repository)?;
    repository::index(&mut headless)?;
    let focus: Vec<String> = arguments.focus.iter().map(|path| headless.typed(path)).collect();
    let MapArguments { budget, about, sort, .. } = arguments;
    let reply = headless
        .call::<Map>(MapParams { budget: *budget, focus, about: about.clone(), sort: *sort })
        .map_err(|error| match &error {
            CommandError::InvalidParams { path, message, .. } if path == "budget" => {
                Failure::said(format!("--budget: {message}"))
            }
            error => Failure::of_path(headless.folder(), error).about("--focus"),
        })?;
    if arguments.json {
        output::json(&reply)?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.legend {
        output::text(&format!("{}\n", reply.legend))?;
    }
    output::text(&reply.text)?;
    output::tell(&format!("{}{}", size(&reply), left_out(&reply)));
    Ok(ExitCode::SUCCESS)
}

fn size(reply: &MapReply) -> String {
    let files = counted(reply.files.len(), "file");
    format!("{files}, {} of {} tokens", count(reply.tokens), count(reply.budget))
}

fn left_out(reply: &MapReply) -> String {
    match reply.left_out {
        0 => String::new(),
        more => format!("; {} more with an outline were left out", count(more)),
    }
}
