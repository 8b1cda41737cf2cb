//! `strata completions` and `strata man`: generates completion scripts and manual pages from the declaration of the
//! arguments.

use std::process::ExitCode;

use clap::CommandFactory as _;

use crate::arguments::{Arguments, CompletionsArguments, ManArguments};
use crate::failure::Failure;
use crate::output;

pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "strata", &mut script);
    output::write_result(|out| out.write_all(&script))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn print_man_pages(arguments: &ManArguments) -> Result<ExitCode, Failure> {
    let command = Arguments::command();
    match &arguments.output {
        Some(folder) => {
            clap_mangen::generate_to(command, folder).map_err(|error| {
                Failure::Message(format!("cannot write to `{}`: {error}", folder.display()))
            })?;
        }
        None => {
            let mut page = Vec::new();
            // Writing to memory does not fail.
            clap_mangen::Man::new(command)
                .render(&mut page)
                .map_err(|error| Failure::Message(error.to_string()))?;
            output::write_result(|out| out.write_all(&page))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
