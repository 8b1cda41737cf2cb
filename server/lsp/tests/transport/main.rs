//! Tests the transport with everything that a client can do to it, and shows each fault of the library's own `Server`.
//!
//! Tests never measure time. They wait for expected events, with a limit that only a hang reaches. To prove that an
//! event does not occur, they check what occurs instead; for the library's server, they use a paused clock that
//! advances only if no task can continue.

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
