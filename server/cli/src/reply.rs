//! Prints replies of commands, as JSON for programs or as text for users.

use clap::Args;
use serde::Serialize;
use strata_app::commands::Reply;

use crate::failure::Failure;
use crate::output;
use strata_app::table::Table;

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ReplyFormat {
    /// Print the command's reply as JSON
    #[arg(long, global = true)]
    json: bool,
}

impl ReplyFormat {
    /// Prints a reply as JSON with `--json`, and otherwise passes it to `print`.
    pub(crate) fn print_reply<R: Serialize>(
        self,
        reply: &Reply<R>,
        print: impl FnOnce(&R) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.json { output::print_json(reply) } else { print(reply) }
    }

    /// Prints a reply as JSON to standard output with `--json`, and otherwise as a sentence to standard error.
    pub(crate) fn print_sentence<R: Serialize>(
        self,
        reply: &Reply<R>,
        sentence: impl FnOnce(&R) -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        self.print_reply(reply, |reply| {
            output::print_message(&sentence(reply)?);
            Ok(())
        })
    }
}

pub(crate) fn print_table<const N: usize>(table: &Table<N>) -> Result<(), Failure> {
    output::print_report(&table.render())
}
