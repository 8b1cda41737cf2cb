//! The transport against what a client can do to it; each fault of the library's own `Server` beside it.
//!
//! Tests never measure time. What must happen is waited for (with a limit that only a hang reaches); that something does
//! not happen is shown by what happens instead, or, for the library's server, by a paused clock that advances only when
//! no task can go on.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test support outside of test functions"
)]

mod bytes;
mod edges;
mod faults;
mod frames;
mod library;
mod mock;
mod order;
mod ours;
mod pressure;
