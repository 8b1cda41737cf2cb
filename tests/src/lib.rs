//! What the end-to-end tests share: the real binary, a small editor that drives it over stdio, small repositories
//! to drive it on, a model provider that answers from this machine, and what is made up by chance. Knows the protocol and nothing of
//! Strata's own code, so that it cannot agree with its mistakes.
//!
//! A test waits for what must happen, with a limit that only a hang reaches; it never measures how fast it did.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test support: a test that cannot go on must fail"
)]
#![expect(clippy::needless_pass_by_value, reason = "JSON is written where it is used")]

mod binary;
pub mod contract;
pub mod credentials;
mod document;
mod editor;
pub mod framing;
mod model_server;
pub mod mutation;
pub mod process;
mod prompt;
mod repo;
mod rerun;
mod rng;
mod server;
pub mod sse;
mod times;

pub use binary::strata;
pub use document::{Document, Unit};
pub use editor::{Editor, Setup, hello};
pub use model_server::{Dialect, ModelRequest, ModelServer, Reply};
pub use prompt::Prompt;
pub use repo::{Repo, uri_of};
pub use rerun::rerun;
pub use rng::Rng;
pub use server::{Answer, ErrorReply, Id, Server};
pub use times::Times;

use std::time::Duration;

/// Reached by a hang only.
pub const LIMIT: Duration = Duration::from_secs(60);
