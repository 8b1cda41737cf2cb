//! Endpoints as Unix sockets.

use std::fs::{self, Permissions};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{
    AskError, CONNECTION_TIMEOUT, ENDPOINT_DIRECTORY, EndpointAddress, EndpointError, MAX_CONNECTIONS,
    MAX_REPLY_BYTES, MAX_REQUEST_BYTES, RETRY_PAUSE, list_addresses, random_name,
};
use crate::store::paths::{ensure_private_directory, ensure_private_top};

/// End of the name of a socket that accepts connections.
const SOCKET_SUFFIX: &str = "sock";
/// Maximum bytes of a socket's path, on the system with the shortest ones (104 with the end, on macOS and the BSDs).
const MAX_SOCKET_PATH_BYTES: usize = 103;

/// The endpoint of a server, which closes when it is dropped.
#[derive(Debug)]
pub struct Endpoint {
    path: PathBuf,
    is_closing: Arc<AtomicBool>,
}

impl Endpoint {
    /// Opens an endpoint below the state directory, and answers requests with `answer`, each on a thread of its own. An
    /// empty answer closes the connection.
    ///
    /// # Errors
    /// Returns an [`EndpointError`] if the directory cannot be made private, or the system rejects the socket.
    pub fn open(
        state: &Path,
        answer: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static,
    ) -> Result<Self, EndpointError> {
        ensure_private_top(state)?;
        let directory = state.join(ENDPOINT_DIRECTORY);
        ensure_private_directory(&directory)?;
        let name = random_name()?;
        let path = directory.join(format!("{name}.{SOCKET_SUFFIX}"));
        // Clients remove a socket that refuses connections, so the socket gets its final name once it accepts them.
        let starting = directory.join(&name);
        let listener = at_short_path(&starting, |path| UnixListener::bind(path))?;
        fs::set_permissions(&starting, Permissions::from_mode(0o600))?;
        let is_closing = Arc::new(AtomicBool::new(false));
        let thread_flag = Arc::clone(&is_closing);
        thread::Builder::new()
            .name("strata-endpoint".to_owned())
            .spawn(move || serve(&listener, &thread_flag, &Arc::new(answer)))?;
        fs::rename(&starting, &path)?;
        Ok(Self { path, is_closing })
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.is_closing.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for a connection.
        let _ = at_short_path(&self.path, |path| UnixStream::connect(path));
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns the endpoints below a state directory, sorted. Their servers may have ended. Empty if the directory is not
/// private, since another user may then have put the sockets there.
pub fn endpoints(state: &Path) -> Vec<EndpointAddress> {
    let directory = state.join(ENDPOINT_DIRECTORY);
    let is_private = directory.symlink_metadata().is_ok_and(|metadata| {
        metadata.is_dir() && metadata.uid() == current_user() && metadata.mode() & 0o077 == 0
    });
    if !is_private {
        return Vec::new();
    }
    list_addresses(&directory, SOCKET_SUFFIX)
}

/// Sends a request and returns the reply, within `time`. Removes the socket of a server that has ended.
///
/// # Errors
/// Returns an [`AskError`] if no server listens at the address, or if it does not reply.
pub fn ask(address: &EndpointAddress, request: &[u8], time: Duration) -> Result<Vec<u8>, AskError> {
    let deadline = Instant::now() + time;
    let connection = at_short_path(&address.0, |path| UnixStream::connect(path));
    let mut stream = connection.map_err(|error| match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            let _ = fs::remove_file(&address.0);
            AskError::Ended
        }
        io::ErrorKind::NotFound => AskError::Ended,
        _ => AskError::Broken(error),
    })?;
    if !is_same_user(&stream) {
        return Err(AskError::Foreign);
    }
    let sent = send(&mut stream, request, deadline).and_then(|()| stream.shutdown(Shutdown::Write));
    let reply = sent.and_then(|()| receive(&mut stream, MAX_REPLY_BYTES, deadline));
    match reply {
        Ok(Some(reply)) if reply.is_empty() => Err(AskError::Ended),
        Ok(Some(reply)) => Ok(reply),
        Ok(None) => Err(AskError::TooLarge),
        Err(error) => Err(match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => AskError::TimedOut,
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => AskError::Ended,
            _ => AskError::Broken(error),
        }),
    }
}

/// Calls `open` with the path of a socket, or with a shorter path to the same socket.
#[cfg(target_os = "linux")]
fn at_short_path<T>(path: &Path, open: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    use std::os::fd::AsRawFd as _;

    let (true, Some(directory), Some(name)) =
        (path.as_os_str().len() > MAX_SOCKET_PATH_BYTES, path.parent(), path.file_name())
    else {
        return open(path);
    };
    let directory = fs::File::open(directory)?;
    open(&Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string()).join(name))
}

/// Calls `open` with the path of a socket.
#[cfg(not(target_os = "linux"))]
fn at_short_path<T>(path: &Path, open: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    if path.as_os_str().len() > MAX_SOCKET_PATH_BYTES {
        let problem = "the path of the state directory is too long for a socket";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    open(path)
}

fn serve(
    listener: &UnixListener,
    is_closing: &AtomicBool,
    answer: &Arc<impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static>,
) {
    let connections = Arc::new(());
    for connection in listener.incoming() {
        if is_closing.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = connection else {
            thread::sleep(RETRY_PAUSE);
            continue;
        };
        if !is_same_user(&stream) || Arc::strong_count(&connections) > MAX_CONNECTIONS {
            continue;
        }
        let (answer, connections) = (Arc::clone(answer), Arc::clone(&connections));
        let handle = move || {
            let _connection = connections;
            if let Err(error) = serve_connection(stream, &*answer) {
                tracing::debug!(%error, "a connection to the endpoint failed");
            }
        };
        if let Err(error) = thread::Builder::new().name("strata-attached".to_owned()).spawn(handle) {
            tracing::warn!(%error, "cannot start a thread for a connection to the endpoint");
        }
    }
}

fn serve_connection(mut stream: UnixStream, answer: &impl Fn(&[u8]) -> Vec<u8>) -> io::Result<()> {
    let deadline = Instant::now() + CONNECTION_TIMEOUT;
    match receive(&mut stream, MAX_REQUEST_BYTES, deadline)? {
        Some(request) => send(&mut stream, &answer(&request), deadline),
        None => Err(io::Error::new(io::ErrorKind::InvalidData, "the request is too large")),
    }
}

/// Reads until the other side ends its half of the connection. Returns `None` if it sends more than `limit` bytes.
fn receive(stream: &mut UnixStream, limit: u64, deadline: Instant) -> io::Result<Option<Vec<u8>>> {
    let mut received = Vec::new();
    let mut chunk = vec![0; 64 << 10];
    loop {
        stream.set_read_timeout(Some(time_left(deadline)?))?;
        match stream.read(&mut chunk) {
            Ok(0) => return Ok(Some(received)),
            Ok(size) => received.extend_from_slice(chunk.get(..size).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if received.len() as u64 > limit {
            return Ok(None);
        }
    }
}

fn send(stream: &mut UnixStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(Some(time_left(deadline)?))?;
        match stream.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn time_left(deadline: Instant) -> io::Result<Duration> {
    let remaining = deadline.saturating_duration_since(Instant::now());
    if remaining.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(remaining) }
}

/// Whether the process at the other end belongs to the user of this process.
#[cfg(target_os = "linux")]
fn is_same_user(stream: &UnixStream) -> bool {
    rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid.as_raw() == current_user())
}

/// Returns true, because other users cannot enter the directory of the socket.
#[cfg(not(target_os = "linux"))]
fn is_same_user(_: &UnixStream) -> bool {
    true
}

fn current_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LIMIT, echo, only_address};
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().mode() & 0o777
    }

    #[test]
    fn only_the_owner_can_reach_a_socket() {
        let state = tempfile::tempdir().unwrap();
        fs::set_permissions(state.path(), Permissions::from_mode(0o755)).unwrap();
        let _endpoint = echo(state.path());
        let directory = state.path().join(ENDPOINT_DIRECTORY);
        assert_eq!((mode(&directory), mode(&only_address(state.path()).0)), (0o700, 0o600));
        fs::set_permissions(&directory, Permissions::from_mode(0o750)).unwrap();
        assert!(
            endpoints(state.path()).is_empty(),
            "another user of the group could have replaced the socket"
        );
        let _another = echo(state.path());
        assert_eq!(mode(&directory), 0o700);
    }

    #[test]
    fn a_socket_whose_process_was_killed_is_removed() {
        let state = tempfile::tempdir().unwrap();
        let _endpoint = echo(state.path());
        let stale_socket = state.path().join(ENDPOINT_DIRECTORY).join("0123.sock");
        drop(UnixListener::bind(&stale_socket).unwrap());
        assert_eq!(endpoints(state.path()).len(), 2);
        assert!(matches!(ask(&EndpointAddress(stale_socket.clone()), b"", LIMIT), Err(AskError::Ended)));
        assert!(!stale_socket.exists());
        assert_eq!(endpoints(state.path()).len(), 1);
    }

    #[test]
    fn a_directory_that_another_user_chose_is_not_used() {
        let state = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), state.path().join(ENDPOINT_DIRECTORY)).unwrap();
        assert!(matches!(Endpoint::open(state.path(), <[u8]>::to_vec), Err(EndpointError::Store(_))));
        assert!(endpoints(state.path()).is_empty());
    }

    #[test]
    fn a_path_may_be_longer_than_that_of_a_socket() {
        let state = tempfile::tempdir().unwrap();
        let deep = state.path().join("x".repeat(100));
        let opened = Endpoint::open(&deep, <[u8]>::to_vec);
        if cfg!(not(target_os = "linux")) {
            let error = opened.unwrap_err().to_string();
            assert!(error.contains("too long"), "{error}");
            return;
        }
        assert_eq!(ask(&only_address(&deep), b"hello", LIMIT).unwrap(), b"hello");
        drop(opened);
        assert!(endpoints(&deep).is_empty());
    }

    #[test]
    fn a_request_that_never_ends_is_rejected_and_others_are_answered() {
        let state = tempfile::tempdir().unwrap();
        let _endpoint = echo(state.path());
        let address = only_address(state.path());
        // Stays open without a request.
        let _silent = UnixStream::connect(&address.0).unwrap();
        let mut endless = UnixStream::connect(&address.0).unwrap();
        let chunk = vec![b'x'; 1 << 20];
        while endless.write_all(&chunk).is_ok() {}
        assert_eq!(ask(&address, b"hello", LIMIT).unwrap(), b"you said hello");
    }
}
