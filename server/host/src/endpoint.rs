//! The local endpoint of a running server, which only its user can reach: a Unix socket, or a named pipe on Windows. A
//! client connects, sends one request, and reads one reply. Does not know what requests and replies say.
//!
//! Each endpoint has a file in a directory of the user. On Unix, this file is the socket. The directory is private
//! (0700), and so is each socket (0600). On Linux, both sides also compare the user of the other process with their
//! own. On Windows, the file holds a secret that both sides show to each other. A process that was killed leaves its
//! file behind, which the next client removes.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use self::unix::{Endpoint, ask, endpoints};
#[cfg(windows)]
pub use self::windows::{Endpoint, ask, endpoints};

use crate::store::StoreError;

/// Directory of the endpoints' files, below the state directory.
const ENDPOINT_DIRECTORY: &str = "live";
/// Maximum number of connections at the same time. Further ones are closed.
const MAX_CONNECTIONS: usize = 32;
/// Maximum time of a connection, from its start to the end of the reply.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause after the system refused a connection, for example because too many files are open.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Maximum bytes of a request.
pub const MAX_REQUEST_BYTES: u64 = 4 << 20;
/// Maximum bytes of a reply. An editor has a few documents of up to a few megabytes open.
pub const MAX_REPLY_BYTES: u64 = 256 << 20;

/// The place of a server's endpoint, which is unique for each server.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EndpointAddress(PathBuf);

/// Why a server has no endpoint.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    System(#[from] io::Error),
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
    #[error("the server's reply is larger than {} MiB", MAX_REPLY_BYTES >> 20)]
    TooLarge,
    #[error("the connection to the server failed: {0}")]
    Broken(io::Error),
}

/// Returns the endpoints whose files are in a directory and have this end of their names, sorted.
fn list_addresses(directory: &Path, suffix: &str) -> Vec<EndpointAddress> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = entries.filter(|path| path.extension().is_some_and(|extension| extension == suffix));
    let mut addresses: Vec<EndpointAddress> = files.map(EndpointAddress).collect();
    addresses.sort();
    addresses
}

fn random_name() -> io::Result<String> {
    Ok(random::<8>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn random<const SIZE: usize>() -> io::Result<[u8; SIZE]> {
    let mut bytes = [0; SIZE];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    use super::*;

    /// Time limit that is only reached if the other side hangs.
    pub(super) const LIMIT: Duration = Duration::from_secs(60);

    pub(super) fn echo(state: &Path) -> Endpoint {
        Endpoint::open(state, |request| [b"you said ", request].concat()).unwrap()
    }

    pub(super) fn only_address(state: &Path) -> EndpointAddress {
        let [only_address] = <[EndpointAddress; 1]>::try_from(endpoints(state)).unwrap();
        only_address
    }

    #[test]
    fn requests_are_answered_while_the_endpoint_is_open() {
        let state = tempfile::tempdir().unwrap();
        let endpoint = echo(state.path());
        let address = only_address(state.path());
        assert_eq!(ask(&address, b"hello", LIMIT).unwrap(), b"you said hello");
        let large = vec![b'x'; 3 << 20];
        assert_eq!(ask(&address, &large, LIMIT).unwrap().len(), large.len() + 9);
        drop(endpoint);
        assert!(endpoints(state.path()).is_empty());
        assert!(matches!(ask(&address, b"hello", LIMIT), Err(AskError::Ended)));
    }

    #[test]
    fn connections_are_limited_and_a_server_that_hangs_is_given_up() {
        let state = tempfile::tempdir().unwrap();
        let (sender, receiver) = channel::<()>();
        let receiver = Mutex::new(receiver);
        let answer = move |_: &[u8]| {
            let _ = receiver.lock().unwrap().recv();
            b"late".to_vec()
        };
        let _endpoint = Endpoint::open(state.path(), answer).unwrap();
        let address = only_address(state.path());
        let slow = ask(&address, b"hello", Duration::from_millis(50));
        assert!(matches!(slow, Err(AskError::TimedOut)), "{slow:?}");
        let _open: Vec<_> = (0..MAX_CONNECTIONS).map(|_| connect(&address)).collect();
        assert!(matches!(ask(&address, b"hello", LIMIT), Err(AskError::Ended)));
        drop(sender);
    }

    #[cfg(unix)]
    fn connect(address: &EndpointAddress) -> std::os::unix::net::UnixStream {
        std::os::unix::net::UnixStream::connect(&address.0).unwrap()
    }

    #[cfg(windows)]
    fn connect(address: &EndpointAddress) -> std::fs::File {
        super::windows::tests::open(address)
    }
}
