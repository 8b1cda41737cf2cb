//! Hostile names and contents of files: whatever they hold, a request has the messages, the blocks and the speakers that it has with harmless
//! ones, and of a workspace that no one trusts nothing stands in the system message. 500 of them, which take turns at the policies and formats; at
//! the engine, and from files on disk through the real binary. `STRATA_LONG=1` takes ten times as many, and each through all.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test support outside of test functions")]
#![expect(clippy::print_stderr, reason = "each run prints its figure")]

mod attacks;
mod engine;
mod server;
mod shape;
