//! Prints search results, best first.

use serde::Deserialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::output::{self, count};
use crate::reply;
use crate::when::moment;
use strata_app::table::{Align, Table};

/// Maximum characters of a result to show.
const SHOWN: usize = 100;

/// The fields used from the reply to `strata.memory.search`.
#[derive(Deserialize)]
struct SearchReply {
    hits: Vec<SearchMatch>,
    newest: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SearchMatch {
    #[serde(flatten)]
    source: MatchSource,
    time_ms: Option<u64>,
    snippet: String,
}

#[derive(Deserialize)]
#[serde(tag = "source", rename_all = "snake_case")]
enum MatchSource {
    Fragment { id: i64 },
    File { path: String, line: u64 },
    Message { session: String, message: u64, role: String },
}

/// Prints the reply to a search.
pub(crate) fn show(reply: Value) -> Result<(), Failure> {
    let SearchReply { hits, newest } = output::understood(reply)?;
    if hits.is_empty() {
        output::tell("nothing found");
        return Ok(());
    }
    let mut table = Table::new([Align::Left, Align::Right, Align::Left, Align::Left, Align::Left]);
    table.row(["session", "message", "date (UTC)", "by", "text"].map(str::to_owned));
    for SearchMatch { source, time_ms, snippet } in hits {
        let (session, message, by) = match source {
            MatchSource::Fragment { id } => ("memory".to_owned(), id.to_string(), String::new()),
            MatchSource::File { path, line } => (path, format!("line {line}"), String::new()),
            MatchSource::Message { session, message, role } => (session, message.to_string(), role),
        };
        let said = time_ms.map(moment).unwrap_or_default();
        table.row([session, message, said, by, output::clipped(&snippet, SHOWN)]);
    }
    reply::table(&table)?;
    if let Some(newest) = newest {
        let newest = count(newest);
        output::tell(&format!("too many matches to rank; showing the best of the newest {newest}"));
    }
    Ok(())
}
