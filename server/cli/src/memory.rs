//! `strata memory`: manages notes that outlive conversations. Prints lists and search results to standard output, and
//! other messages to standard error.

use std::process::ExitCode;

use strata_app::commands::NoArguments;
use strata_app::commands::memory::{self, Fragments, Note};

use crate::arguments::{MemoryArguments, MemoryCommand};
use crate::failure::Failure;
use crate::when::format_time;
use crate::{input, output, reply, repository, search_results};
use strata_app::table::{Align, Table};

/// Maximum characters of a note to show.
const MAX_NOTE_CHARS: usize = 100;

pub(crate) fn run(arguments: &MemoryArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open_stored(&arguments.repository)?;
    let reply_format = arguments.reply_format;
    match &arguments.command {
        MemoryCommand::Add { text, tag } => {
            let note = memory::AddParams { text: input::read_text_argument(text)?, tags: tag.clone() };
            let reply = headless.call::<memory::AddNote>(note)?;
            reply_format.print_sentence(&reply, |reply| Ok(format!("saved note {}", reply.get()?.id)))?;
        }
        MemoryCommand::List => {
            reply_format.print_reply(&headless.call::<memory::ListNotes>(NoArguments {})?, print_notes)?;
        }
        MemoryCommand::Search { words, limit } => {
            let query = memory::SearchParams { query: words.join(" "), limit: *limit };
            reply_format
                .print_reply(&headless.call::<memory::SearchMemory>(query)?, search_results::print_results)?;
        }
        MemoryCommand::Remove { id } => {
            let reply = headless.call::<memory::RemoveNote>(memory::RemoveParams { id: *id })?;
            reply_format.print_sentence(&reply, |_| Ok(format!("deleted note {id}")))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print_notes(Fragments { fragments }: &Fragments) -> Result<(), Failure> {
    if fragments.is_empty() {
        output::print_message("no notes");
        return Ok(());
    }
    let mut table = Table::new([Align::Right, Align::Left, Align::Left, Align::Left]);
    table.add_row(["note", "saved (UTC)", "tags", "text"].map(str::to_owned));
    for Note { id, text, tags, created_ms, .. } in fragments {
        let text = output::shorten(text, MAX_NOTE_CHARS);
        table.add_row([id.to_string(), format_time(*created_ms), tags.join(", "), text]);
    }
    reply::print_table(&table)
}
