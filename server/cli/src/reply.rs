//! Prints replies of commands, as JSON for programs or as text for users.

use clap::Args;
use serde::Serialize;
use strata_app::commands::Reply;

use crate::failure::Failure;
use crate::output;
use strata_app::table::Table;

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Audience {
    /// Print the command's reply as JSON
    #[arg(long, global = true)]
    json: bool,
}

impl Audience {
    /// Prints a reply as JSON with `--json`, and otherwise passes it to `tell`.
    pub(crate) fn show<R: Serialize>(
        self,
        reply: &Reply<R>,
        tell: impl FnOnce(&R) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.json { output::json(reply) } else { tell(reply) }
    }

    /// Prints a reply as JSON to standard output with `--json`, and otherwise as a sentence to standard error.
    pub(crate) fn say<R: Serialize>(
        self,
        reply: &Reply<R>,
        sentence: impl FnOnce(&R) -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        self.show(reply, |reply| {
            output::tell(&sentence(reply)?);
            Ok(())
        })
    }
}

pub(crate) fn table<const N: usize>(table: &Table<N>) -> Result<(), Failure> {
    output::report(&table.render())
}
