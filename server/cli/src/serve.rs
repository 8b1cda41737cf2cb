//! `strata serve`: the language server on standard input and output, its log on standard error.

use std::process::ExitCode;

use tracing::level_filters::LevelFilter;

use crate::arguments::{LogLevel, ServeArguments};
use crate::failure::Failure;
use crate::log;

pub(crate) fn run(arguments: &ServeArguments) -> Result<ExitCode, Failure> {
    log::begin(LevelFilter::from(arguments.log))
        .map_err(|error| Failure::said(format!("the log cannot be set up: {error}")))?;
    let exit = strata_lsp::server::run()
        .map_err(|error| Failure::said(format!("the server cannot start: {error}")))?;
    tracing::info!(cause = ?exit.cause, code = exit.code, "ended");
    Ok(ExitCode::from(exit.code))
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Off => Self::OFF,
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}
