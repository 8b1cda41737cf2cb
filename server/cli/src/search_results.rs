//! Prints search results, best first.

use strata_app::commands::memory::{MatchLocation, MemoryMatch, SearchReply};

use crate::failure::Failure;
use crate::output::{self, count};
use crate::reply;
use crate::when::moment;
use strata_app::table::{Align, Table};

/// Maximum characters of a result to show.
const SHOWN: usize = 100;

/// Prints the reply to a search.
pub(crate) fn show(SearchReply { hits, newest }: &SearchReply) -> Result<(), Failure> {
    if hits.is_empty() {
        output::tell("nothing found");
        return Ok(());
    }
    let mut table = Table::new([Align::Left, Align::Right, Align::Left, Align::Left, Align::Left]);
    table.row(["session", "message", "date (UTC)", "by", "text"].map(str::to_owned));
    for MemoryMatch { place, time_ms, snippet, .. } in hits {
        let (session, message, by) = match place {
            MatchLocation::Fragment { id, .. } => ("memory", id.to_string(), ""),
            MatchLocation::File { path, line } => (path.as_str(), format!("line {line}"), ""),
            MatchLocation::Message { session, message, role, .. } => {
                (&**session, message.0.to_string(), role.as_str())
            }
        };
        let written = time_ms.map(moment).unwrap_or_default();
        let snippet = output::clipped(snippet, SHOWN);
        table.row([session.to_owned(), message, written, by.to_owned(), snippet]);
    }
    reply::table(&table)?;
    if let Some(newest) = newest {
        let newest = count(*newest);
        output::tell(&format!("too many matches to rank; showing the best of the newest {newest}"));
    }
    Ok(())
}
