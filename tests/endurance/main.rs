//! The real binary under what wears a server out: a long day, a client that does not read, thousands of requests that are
//! called off, files that are too large. What takes time is printed; only what must hold on any machine fails.
//! `STRATA_LONG=1` makes them long in a release build: an hour, a minute, ten thousand requests.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "test support outside of test functions")]
#![expect(clippy::print_stderr, reason = "figures of a run")]

mod ambiguous_grammars;
mod cancellation;
mod long_session;
mod oversize;
mod unread_replies;

/// Whether this is the long run. What it measures no one wants to know of a debug build.
fn is_long() -> bool {
    e2e::is_long() && !cfg!(debug_assertions)
}
