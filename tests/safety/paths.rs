//! Ways out of the workspace folders: hundreds of paths through every door by which a path comes in, at the library and at the
//! real binary. Outside of the folders stand texts and names that nothing may ever show. `STRATA_LONG=1` takes every path
//! through every door of the binary; without it, every seventh.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "test support outside of test functions")]
#![expect(clippy::print_stderr, reason = "each run prints its figure")]

mod cases;
mod git_pointers;
mod library;
mod server;
mod workspace;
