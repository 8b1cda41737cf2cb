//! The local endpoint of a running server: a Unix socket that only its user can reach. A client connects, sends one
//! request, ends its half of the connection, and reads one reply. Does not know what requests and replies say.
//!
//! The directory of the sockets is private (0700), and so is each socket (0600). On Linux, both sides also compare the
//! user of the other process with their own. A process that no longer exists leaves its socket behind, which the next
//! client removes.

use std::io;
use std::path::PathBuf;

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod unsupported;

#[cfg(unix)]
pub use self::unix::{Endpoint, ask, endpoints};
#[cfg(not(unix))]
pub use self::unsupported::{Endpoint, ask, endpoints};

use crate::store::StoreError;

/// Directory of the sockets, below the state directory.
#[cfg(unix)]
const DIRECTORY: &str = "live";

/// Maximum bytes of a request.
pub const MAX_REQUEST: u64 = 4 << 20;
/// Maximum bytes of a reply. An editor has a few documents of up to a few megabytes open.
pub const MAX_REPLY: u64 = 256 << 20;

/// The place of a server's endpoint, which is unique for each server.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Address(PathBuf);

/// Why a server has no endpoint.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    System(#[from] io::Error),
    #[error("this system has no local endpoints")]
    Unsupported,
}

/// Why a server did not reply.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// No process listens at this address any more.
    #[error("the server has ended")]
    Ended,
    /// The server is busy or stopped.
    #[error("the server did not reply in time")]
    TimedOut,
    /// The process at this address belongs to another user.
    #[error("the server belongs to another user")]
    Foreign,
    #[error("the server's reply is larger than {} MiB", MAX_REPLY >> 20)]
    TooLarge,
    #[error("the connection to the server failed: {0}")]
    Broken(io::Error),
}
