//! Endpoints as named pipes.
//!
//! A pipe has a random name, and a file with this name holds a random secret. Other users can list the names of pipes,
//! and create a pipe with the name of a server that has ended. So each side shows the other one that it knows the
//! secret: the server by a hash of the secret and the client's random challenge, the client by the secret itself. After
//! that, request and reply follow, each after its length (eight bytes, little-endian).

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::windows::named_pipe::{ClientOptions, NamedPipeClient, NamedPipeServer, ServerOptions};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{sleep, timeout};

use super::{
    AskError, CONNECTION_TIMEOUT, ENDPOINT_DIRECTORY, EndpointAddress, EndpointError, MAX_CONNECTIONS,
    MAX_REPLY_BYTES, MAX_REQUEST_BYTES, RETRY_PAUSE, list_addresses, random, random_name,
};
use crate::store::paths::{create_private_file, ensure_private_directory, ensure_private_top, open_own_file};

/// End of the name of the file of a pipe that accepts connections.
const PIPE_FILE_EXTENSION: &str = "pipe";
/// Pause before the next attempt to connect to a pipe that has no free instance at the moment.
const CONNECT_PAUSE: Duration = Duration::from_millis(2);
/// `ERROR_PIPE_BUSY`: no instance of the pipe is free.
const ERROR_PIPE_BUSY: i32 = 231;
/// `ERROR_NO_DATA`: the other side has closed the pipe.
const ERROR_NO_DATA: i32 = 232;

/// A secret, a challenge or a hash of both.
type AuthToken = [u8; 32];

/// The endpoint of a server, which closes when it is dropped.
#[derive(Debug)]
pub struct Endpoint {
    path: PathBuf,
    /// Ends the thread of the endpoint when it is dropped.
    _open: oneshot::Sender<()>,
}

/// What a connection of a server needs.
struct ConnectionContext<F> {
    name: String,
    secret: AuthToken,
    answer: F,
}

impl Endpoint {
    /// Opens an endpoint below the state directory, and answers requests with `answer`, each on a thread of its own. An
    /// empty answer closes the connection.
    ///
    /// # Errors
    /// Returns an [`EndpointError`] if the directory or its file cannot be created, or the system rejects the pipe.
    pub fn open(
        state: &Path,
        answer: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static,
    ) -> Result<Self, EndpointError> {
        ensure_private_top(state)?;
        let directory = state.join(ENDPOINT_DIRECTORY);
        ensure_private_directory(&directory)?;
        let name = random_name()?;
        let service = ConnectionContext { name: name.clone(), secret: random()?, answer };
        // Clients may look at any time, so the file gets its final name once its content is complete.
        let (starting, path) =
            (directory.join(&name), directory.join(format!("{name}.{PIPE_FILE_EXTENSION}")));
        let runtime = runtime(MAX_CONNECTIONS)?;
        let first = {
            let _entered = runtime.enter();
            ServerOptions::new().first_pipe_instance(true).create(pipe(&name))?
        };
        create_private_file(&starting)?.write_all(&service.secret)?;
        let (open, closed) = oneshot::channel();
        thread::Builder::new().name("strata-endpoint".to_owned()).spawn(move || {
            runtime.spawn(serve(first, Arc::new(service)));
            let _ = runtime.block_on(closed);
            runtime.shutdown_background();
        })?;
        fs::rename(&starting, &path)?;
        Ok(Self { path, _open: open })
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns the endpoints below a state directory, sorted. Their servers may have ended.
pub fn endpoints(state: &Path) -> Vec<EndpointAddress> {
    list_addresses(&state.join(ENDPOINT_DIRECTORY), PIPE_FILE_EXTENSION)
}

/// Sends a request and returns the reply, within `time`. Removes the file of a server that has ended.
///
/// # Errors
/// Returns an [`AskError`] if no server listens at the address, or if it does not reply.
pub fn ask(address: &EndpointAddress, request: &[u8], time: Duration) -> Result<Vec<u8>, AskError> {
    let secret = secret(&address.0).map_err(from_io)?;
    let exchange = async {
        match timeout(time, ask_at(&address.0, &secret, request)).await {
            Ok(reply) => reply,
            Err(_) => Err(AskError::TimedOut),
        }
    };
    runtime(1).map_err(from_io)?.block_on(exchange)
}

async fn ask_at(path: &Path, secret: &AuthToken, request: &[u8]) -> Result<Vec<u8>, AskError> {
    let mut pipe = connect(path).await?;
    let challenge = random().map_err(from_io)?;
    pipe.write_all(&challenge).await.map_err(from_io)?;
    if token(&mut pipe).await.map_err(from_io)? != proof(secret, &challenge) {
        return Err(AskError::Foreign);
    }
    pipe.write_all(secret).await.map_err(from_io)?;
    send(&mut pipe, request).await.map_err(from_io)?;
    match receive(&mut pipe, MAX_REPLY_BYTES).await.map_err(from_io)? {
        Some(reply) => Ok(reply),
        None => Err(AskError::TooLarge),
    }
}

/// Connects to the pipe of a file. Removes the file if no process has this pipe.
async fn connect(path: &Path) -> Result<NamedPipeClient, AskError> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    loop {
        match ClientOptions::new().open(pipe(&name)) {
            Ok(client) => return Ok(client),
            Err(error) if error.raw_os_error() == Some(ERROR_PIPE_BUSY) => sleep(CONNECT_PAUSE).await,
            Err(error) => {
                if error.kind() == io::ErrorKind::NotFound {
                    let _ = fs::remove_file(path);
                }
                return Err(from_io(error));
            }
        }
    }
}

async fn serve<F: Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static>(
    mut pipe: NamedPipeServer,
    service: Arc<ConnectionContext<F>>,
) {
    let open = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let connected = pipe.connect().await;
        let next = ServerOptions::new().create(self::pipe(&service.name));
        let (Ok(()), Ok(next)) = (connected, next) else {
            let _ = pipe.disconnect();
            sleep(RETRY_PAUSE).await;
            continue;
        };
        let connection = std::mem::replace(&mut pipe, next);
        let Ok(permit) = Arc::clone(&open).try_acquire_owned() else { continue };
        let service = Arc::clone(&service);
        tokio::spawn(async move {
            let _permit = permit;
            match timeout(CONNECTION_TIMEOUT, serve_connection(connection, service)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(%error, "a connection to the endpoint failed"),
                Err(_) => tracing::debug!("a connection to the endpoint took too long"),
            }
        });
    }
}

async fn serve_connection<F: Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static>(
    mut pipe: NamedPipeServer,
    service: Arc<ConnectionContext<F>>,
) -> io::Result<()> {
    let invalid = |problem: &'static str| io::Error::new(io::ErrorKind::InvalidData, problem);
    let challenge = token(&mut pipe).await?;
    pipe.write_all(&proof(&service.secret, &challenge)).await?;
    // Comparing hashes takes the same time for any wrong secret.
    if Sha256::digest(token(&mut pipe).await?) != Sha256::digest(service.secret) {
        return Err(invalid("the client does not know the secret"));
    }
    let Some(request) = receive(&mut pipe, MAX_REQUEST_BYTES).await? else {
        return Err(invalid("the request is too large"));
    };
    let answered = tokio::task::spawn_blocking(move || (service.answer)(&request));
    let answer = answered.await.map_err(io::Error::other)?;
    if answer.is_empty() {
        return Ok(());
    }
    send(&mut pipe, &answer).await?;
    // Closing the pipe could discard what the client has not read yet, so the client closes it first.
    let _ = pipe.read(&mut [0]).await;
    Ok(())
}

/// Reads a length and as many bytes. Returns `None` if there are more than `limit`.
async fn receive(pipe: &mut (impl AsyncRead + Unpin), limit: u64) -> io::Result<Option<Vec<u8>>> {
    let length = pipe.read_u64_le().await?;
    if length > limit {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let size = pipe.take(length).read_to_end(&mut bytes).await?;
    if size as u64 == length { Ok(Some(bytes)) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

async fn send(pipe: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    pipe.write_u64_le(bytes.len() as u64).await?;
    pipe.write_all(bytes).await
}

async fn token(pipe: &mut (impl AsyncRead + Unpin)) -> io::Result<AuthToken> {
    let mut token = AuthToken::default();
    pipe.read_exact(&mut token).await?;
    Ok(token)
}

fn proof(secret: &AuthToken, challenge: &AuthToken) -> AuthToken {
    Sha256::new().chain_update(secret).chain_update(challenge).finalize().into()
}

fn secret(path: &Path) -> io::Result<AuthToken> {
    let mut secret = AuthToken::default();
    io::Read::read_exact(&mut open_own_file(path)?, &mut secret)?;
    Ok(secret)
}

fn pipe(name: &str) -> String {
    format!(r"\\.\pipe\strata-{name}")
}

fn runtime(threads: usize) -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().max_blocking_threads(threads).build()
}

fn from_io(error: io::Error) -> AskError {
    match (error.kind(), error.raw_os_error()) {
        (io::ErrorKind::NotFound | io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof, _)
        | (_, Some(ERROR_NO_DATA)) => AskError::Ended,
        _ => AskError::Broken(error),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs::File;
    use std::io::Read as _;

    use super::super::tests::{LIMIT, echo, only_address};
    use super::*;

    /// Opens the pipe of an endpoint as another program would.
    pub(in super::super) fn open(address: &EndpointAddress) -> File {
        let name = address.0.file_stem().unwrap().to_str().unwrap();
        loop {
            match File::options().read(true).write(true).open(pipe(name)) {
                Err(error) if error.raw_os_error() == Some(ERROR_PIPE_BUSY) => thread::sleep(CONNECT_PAUSE),
                opened => return opened.unwrap(),
            }
        }
    }

    /// Creates the file of an endpoint whose secret is zero.
    fn file(state: &Path, name: &str) -> EndpointAddress {
        let path = state.join(ENDPOINT_DIRECTORY).join(format!("{name}.{PIPE_FILE_EXTENSION}"));
        fs::write(&path, AuthToken::default()).unwrap();
        EndpointAddress(path)
    }

    #[test]
    fn the_file_of_a_server_that_was_killed_is_removed() {
        let state = tempfile::tempdir().unwrap();
        let _endpoint = echo(state.path());
        let stale_address = file(state.path(), "0123");
        assert_eq!(endpoints(state.path()).len(), 2);
        assert!(matches!(ask(&stale_address, b"", LIMIT), Err(AskError::Ended)));
        assert_eq!(endpoints(state.path()).len(), 1);
    }

    #[test]
    fn a_client_that_does_not_know_the_secret_gets_no_reply() {
        let state = tempfile::tempdir().unwrap();
        let _endpoint = echo(state.path());
        let mut stranger = open(&only_address(state.path()));
        stranger.write_all(&[7; 32]).unwrap();
        stranger.read_exact(&mut AuthToken::default()).unwrap();
        // The server closes the pipe after the wrong secret.
        let _ = stranger
            .write_all(&[AuthToken::default().as_slice(), &[5, 0, 0, 0, 0, 0, 0, 0], b"hello"].concat());
        assert_eq!(stranger.read_to_end(&mut Vec::new()).unwrap_or(0), 0);
    }

    #[test]
    fn a_server_that_does_not_know_the_secret_gets_no_request() {
        let state = tempfile::tempdir().unwrap();
        drop(echo(state.path()));
        let (name, runtime) = (random_name().unwrap(), runtime(1).unwrap());
        let address = file(state.path(), &name);
        let mut stranger = {
            let _entered = runtime.enter();
            ServerOptions::new().create(pipe(&name)).unwrap()
        };
        let serving = thread::spawn(move || {
            runtime.block_on(async {
                stranger.connect().await.unwrap();
                let challenge = token(&mut stranger).await.unwrap();
                stranger.write_all(&proof(&[1; 32], &challenge)).await.unwrap();
                let mut received = Vec::new();
                let _ = stranger.read_to_end(&mut received).await;
                received
            })
        });
        assert!(matches!(ask(&address, b"hello", LIMIT), Err(AskError::Foreign)));
        assert_eq!(serving.join().unwrap(), b"");
    }

    #[test]
    fn a_request_that_never_ends_is_rejected_and_others_are_answered() {
        let state = tempfile::tempdir().unwrap();
        let _endpoint = echo(state.path());
        let address = only_address(state.path());
        // Stays open without a request.
        let _silent = open(&address);
        let mut endless = open(&address);
        endless.write_all(&[7; 32]).unwrap();
        endless.read_exact(&mut AuthToken::default()).unwrap();
        endless.write_all(&secret(&address.0).unwrap()).unwrap();
        endless.write_all(&u64::MAX.to_le_bytes()).unwrap();
        let chunk = vec![b'x'; 1 << 20];
        while endless.write_all(&chunk).is_ok() {}
        assert_eq!(ask(&address, b"hello", LIMIT).unwrap(), b"you said hello");
    }
}
