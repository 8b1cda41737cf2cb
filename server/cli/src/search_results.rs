//! Prints search results, best first.

use strata_app::commands::memory::{MatchLocation, MemoryMatch, SearchReply};

use crate::failure::Failure;
use crate::output::{self, count};
use crate::reply;
use crate::when::format_time;
use strata_app::table::{Align, Table};

/// Maximum characters of a result to show.
const MAX_SNIPPET_CHARS: usize = 100;

pub(crate) fn print_results(SearchReply { hits, newest }: &SearchReply) -> Result<(), Failure> {
    if hits.is_empty() {
        output::print_message("nothing found");
        return Ok(());
    }
    let mut table = Table::new([Align::Left, Align::Right, Align::Left, Align::Left, Align::Left]);
    table.add_row(["session", "message", "date (UTC)", "by", "text"].map(str::to_owned));
    for MemoryMatch { place, time_ms, snippet, .. } in hits {
        let (session, message, by) = match place {
            MatchLocation::Fragment { id, .. } => ("memory", id.to_string(), ""),
            MatchLocation::File { path, line } => (path.as_str(), format!("line {line}"), ""),
            MatchLocation::Message { session, message, role, .. } => {
                (&**session, message.0.to_string(), role.as_str())
            }
        };
        let written = time_ms.map(format_time).unwrap_or_default();
        let snippet = output::shorten(snippet, MAX_SNIPPET_CHARS);
        table.add_row([session.to_owned(), message, written, by.to_owned(), snippet]);
    }
    reply::print_table(&table)?;
    if let Some(newest) = newest {
        let newest = count(*newest);
        output::print_message(&format!("too many matches to rank; showing the best of the newest {newest}"));
    }
    Ok(())
}
