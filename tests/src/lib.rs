//! Support for the end-to-end tests: the real binary, a simulated editor that drives it over stdio, small
//! repositories, a model provider on this machine, and random data. Implements the protocol independently of
//! Strata's code, so that the two cannot share a mistake.
//!
//! A test waits for events with a limit that only a hang exceeds, and never measures speed.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test support: a test that cannot continue must fail"
)]
#![expect(clippy::needless_pass_by_value, reason = "callers write JSON in the call")]

mod agent;
mod binary;
pub mod contract;
pub mod credentials;
mod document;
mod editor;
pub mod framing;
mod model_server;
pub mod mutation;
pub mod nesting;
pub mod process;
mod prompt;
mod repo;
mod rerun;
mod rng;
pub mod secret_corpus;
mod server;
mod shell;
pub mod sse;
mod times;

pub use agent::Agent;
pub use binary::{separate, strata};
pub use document::{Document, Unit};
pub use editor::{Editor, Setup, hello};
pub use model_server::{Dialect, ModelRequest, ModelServer, Reply, StreamFate};
pub use prompt::Prompt;
pub use repo::{Repo, uri_of};
pub use rerun::rerun;
pub use rng::Rng;
pub use server::{Answer, ErrorReply, Id, Server};
pub use shell::{Printed, Shell};
pub use times::Times;

use std::env;
use std::time::Duration;

/// Time limit for waiting, which only a hang exceeds.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Whether this is a long run, which tries many more cases (`tests/run --long`).
pub fn is_long() -> bool {
    env::var_os("STRATA_LONG").is_some()
}
