//! `strata map`: prints the symbol map to standard output, and how much of the repository it covers to standard error.

use std::process::ExitCode;

use strata_app::commands::CommandError;
use strata_app::commands::symbols::{BuildSymbolMap, MapParams, MapReply};

use crate::arguments::MapArguments;
use crate::failure::Failure;
use crate::output::{self, count, pluralize};
use crate::repository;

pub(crate) fn run(arguments: &MapArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.repository)?;
    repository::index_with_progress(&mut headless)?;
    let focus: Vec<String> = arguments.focus.iter().map(|path| headless.workspace_path(path)).collect();
    let MapArguments { budget, about, sort, .. } = arguments;
    let reply = headless
        .call::<BuildSymbolMap>(MapParams { budget: *budget, focus, about: about.clone(), sort: *sort })
        .map_err(|error| match &error {
            CommandError::InvalidParams { path, message, .. } if path == "budget" => {
                Failure::new(format!("--budget: {message}"))
            }
            error => Failure::from_path_error(headless.folder(), error).with_message_prefix("--focus"),
        })?;
    if arguments.json {
        output::print_json(&reply)?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.legend {
        output::print_text(&format!("{}\n", reply.legend))?;
    }
    output::print_text(&reply.text)?;
    output::print_message(&format!("{}{}", format_map_size(&reply), left_out_note(&reply)));
    Ok(ExitCode::SUCCESS)
}

fn format_map_size(reply: &MapReply) -> String {
    let files = pluralize(reply.files.len(), "file");
    format!("{files}, {} of {} tokens", count(reply.tokens), count(reply.budget))
}

fn left_out_note(reply: &MapReply) -> String {
    match reply.left_out {
        0 => String::new(),
        more => format!("; {} more with an outline were left out", count(more)),
    }
}
