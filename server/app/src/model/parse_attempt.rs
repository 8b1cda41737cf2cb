//! One attempt to parse a text. Refuses texts that an earlier attempt showed to be dangerous: a process ended meanwhile,
//! or it took too long. Everything that parses a text of the workspace does it here, except for searches among files of
//! the index, which were parsed before.

use std::time::{Duration, Instant};

use strata_base::cancel::{Cancel, Cancelled};
use strata_code::outline::Unparsed;
use strata_host::outline_cache::{GiveUpReason, OutlineCache, OutlineKey};

/// Time limit for parsing and outlining one text. A last resort: the work of a parser is limited in a way that does not
/// depend on the machine or its load, and even the most that it may do in a megabyte takes seconds.
const OUTLINE_TIME: Duration = Duration::from_secs(60);

/// Calls `parse` for the text with this key, with a flag that is also raised when the time is up.
///
/// # Errors
/// Returns [`Cancelled`] if `cancel` is raised. The inner error says why the text was not parsed.
pub(crate) fn attempt_parse<T>(
    cache: &OutlineCache,
    key: OutlineKey,
    cancel: &Cancel,
    parse: impl FnOnce(&Cancel) -> Result<T, Cancelled>,
) -> Result<Result<T, Unparsed>, Cancelled> {
    let start = Instant::now();
    let limited = cancel.with_condition(move || start.elapsed() >= OUTLINE_TIME);
    match cache.parse(key, || parse(&limited)) {
        Ok(Ok(parsed)) => Ok(Ok(parsed)),
        Ok(Err(cancelled)) if cancel.is_cancelled() => Err(cancelled),
        Ok(Err(_)) => {
            cache.give_up_parsing(key);
            Ok(Err(Unparsed::TimedOut))
        }
        Err(GiveUpReason::TimedOut) => Ok(Err(Unparsed::TimedOut)),
        Err(GiveUpReason::ProcessEnded) => Ok(Err(Unparsed::ProcessEnded)),
    }
}
