//! `strata schema`: prints the JSON Schema of the protocol or of the settings.

use std::process::ExitCode;

use strata_lsp::protocol;

use crate::arguments::SchemaArguments;
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(arguments: &SchemaArguments) -> Result<ExitCode, Failure> {
    let schema = if arguments.settings { strata_app::schema::settings_schema() } else { protocol::schema() };
    output::print_json(&schema)?;
    Ok(ExitCode::SUCCESS)
}
