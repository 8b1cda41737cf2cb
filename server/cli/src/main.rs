//! The `strata` binary: reads its arguments, hands over to the language server, shows what comes back.

use std::process::ExitCode;

fn main() -> ExitCode {
    match strata_lsp::server::run() {
        Ok(exit) => ExitCode::from(exit.code),
        Err(_) => ExitCode::FAILURE,
    }
}
