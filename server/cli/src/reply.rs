//! Prints replies of commands, as JSON for programs or as text for users.

use clap::Args;
use serde_json::Value;

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
    pub(crate) fn show(
        self,
        reply: Value,
        tell: impl FnOnce(Value) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.json { output::json(&reply) } else { tell(reply) }
    }

    /// Prints a reply as JSON to standard output with `--json`, and otherwise as a sentence to standard error.
    pub(crate) fn say(
        self,
        reply: Value,
        sentence: impl FnOnce(Value) -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        self.say_all(reply, |reply| Ok(vec![sentence(reply)?]))
    }

    /// Like `say`, with several sentences, each on a line of its own.
    pub(crate) fn say_all(
        self,
        reply: Value,
        sentences: impl FnOnce(Value) -> Result<Vec<String>, Failure>,
    ) -> Result<(), Failure> {
        self.show(reply, |reply| {
            sentences(reply)?.iter().for_each(|sentence| output::tell(sentence));
            Ok(())
        })
    }
}

pub(crate) fn table<const N: usize>(table: &Table<N>) -> Result<(), Failure> {
    output::report(&table.render())
}
