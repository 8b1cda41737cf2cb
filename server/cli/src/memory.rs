//! `strata memory`: manages notes that outlive conversations. Prints lists and search results to standard output, and
//! other messages to standard error.

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::{MemoryArguments, MemoryCommand};
use crate::failure::Failure;
use crate::when::moment;
use crate::{input, output, reply, repository, search_results};
use strata_app::table::{Align, Table};

/// Maximum characters of a note to show.
const SHOWN: usize = 100;

/// The fields used from the reply to `strata.memory.list`.
#[derive(Deserialize)]
struct List {
    fragments: Vec<MemoryNote>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MemoryNote {
    id: i64,
    text: String,
    tags: Vec<String>,
    created_ms: u64,
}

/// The fields used from the reply to `strata.memory.add`.
#[derive(Deserialize)]
struct AddedMemory {
    id: i64,
}

pub(crate) fn run(arguments: &MemoryArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open_stored(&arguments.repository)?;
    let audience = arguments.audience;
    match &arguments.command {
        MemoryCommand::Add { text, tag } => {
            let reply =
                headless.run("strata.memory.add", json!({ "text": input::text(text)?, "tags": tag }))?;
            audience.say(reply, |reply| {
                Ok(format!("saved note {}", output::understood::<AddedMemory>(reply)?.id))
            })?;
        }
        MemoryCommand::List => audience.show(headless.run("strata.memory.list", json!({}))?, list)?,
        MemoryCommand::Search { words, limit } => {
            let query = json!({ "query": words.join(" "), "limit": limit });
            audience.show(headless.run("strata.memory.search", query)?, search_results::show)?;
        }
        MemoryCommand::Remove { id } => {
            let reply = headless.run("strata.memory.remove", json!({ "id": id }))?;
            audience.say(reply, |_| Ok(format!("deleted note {id}")))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(reply: Value) -> Result<(), Failure> {
    let List { fragments } = output::understood(reply)?;
    if fragments.is_empty() {
        output::tell("no notes");
        return Ok(());
    }
    let mut table = Table::new([Align::Right, Align::Left, Align::Left, Align::Left]);
    table.row(["note", "saved (UTC)", "tags", "text"].map(str::to_owned));
    for MemoryNote { id, text, tags, created_ms } in fragments {
        let text = output::clipped(&text, SHOWN);
        table.row([id.to_string(), moment(created_ms), tags.join(", "), text]);
    }
    reply::table(&table)
}
