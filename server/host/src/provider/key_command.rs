//! Gets keys from a command such as a password manager: `["op", "read", "op://Private/Anthropic/key"]`. The command
//! runs without a shell and outside the workspace, so that it cannot start a program from the repository.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{env, thread};

use strata_base::cancel::Cancel;

use super::error::SendError;
use super::key::ApiKey;

/// Timeout of a command that prints a key. Long enough to enter a password or use a fingerprint reader.
const KEY_COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a key is cached before the command runs again.
const KEY_CACHE_LIFETIME: Duration = Duration::from_secs(15 * 60);

const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Maximum time to wait for output after the command has exited.
const OUTPUT_DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

const MAX_KEY_OUTPUT_BYTES: u64 = 64 * 1024;

/// Keys and the time when they were printed, by command.
type CachedKeys = BTreeMap<Vec<String>, (ApiKey, Instant)>;

static CACHED_KEYS: Mutex<CachedKeys> = Mutex::new(BTreeMap::new());

/// Checks that the program of a command is valid, without running it.
pub(super) fn check_program(command: &[String]) -> Result<(), SendError> {
    command_program(command).map(drop)
}

/// Returns the key that a command prints, from the cache if it is recent.
pub(super) fn cached_key_from_command(command: &[String], cancel: &Cancel) -> Result<ApiKey, SendError> {
    let cached = lock_keys().get(command).cloned();
    if let Some((key, since)) = cached
        && since.elapsed() < KEY_CACHE_LIFETIME
    {
        return Ok(key);
    }
    let key = run_key_command(command, cancel)?;
    lock_keys().insert(command.to_vec(), (key.clone(), Instant::now()));
    Ok(key)
}

/// Removes a cached key, so that the command runs again for the next request.
pub(super) fn forget_cached_key(command: &[String]) {
    lock_keys().remove(command);
}

fn lock_keys() -> MutexGuard<'static, CachedKeys> {
    CACHED_KEYS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the program of a command, which must be a bare name to be found in `PATH` or an absolute path.
fn command_program(command: &[String]) -> Result<&str, SendError> {
    let failure = |program: &str, reason: &str| {
        Err(SendError::KeyCommand { program: program.to_owned(), reason: reason.to_owned() })
    };
    match command.first().map(|program| program.trim()) {
        None | Some("") => failure("", "is empty; set a program and its arguments"),
        Some(program) if program.contains(['/', '\\']) && !Path::new(program).is_absolute() => {
            failure(program, "is a relative path; use an absolute path, or a name in the PATH")
        }
        Some(program) => Ok(program),
    }
}

/// Runs a command and returns the key that it prints. Discards standard error, which may contain the key.
fn run_key_command(command: &[String], cancel: &Cancel) -> Result<ApiKey, SendError> {
    let program = command_program(command)?;
    let failure = |reason: String| SendError::KeyCommand { program: program.to_owned(), reason };
    let mut child = Command::new(program)
        .args(command.get(1..).unwrap_or_default())
        .current_dir(env::home_dir().filter(|home| home.is_dir()).unwrap_or_else(env::temp_dir))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failure(format!("cannot be run: {error}")))?;
    let first_line = child.stdout.take().map(first_line);
    let status = wait_or_kill(&mut child, cancel).map_err(|outcome| match outcome {
        Some(reason) => failure(reason),
        None => SendError::Cancelled,
    })?;
    if !status.success() {
        return Err(failure(format!("failed ({status})")));
    }
    let line = first_line.and_then(|line| line.recv_timeout(OUTPUT_DRAIN_TIMEOUT).ok()).unwrap_or_default();
    ApiKey::new(&line).ok_or_else(|| SendError::EmptyKey { program: program.to_owned() })
}

/// Returns a channel that receives the first line of a command's output. Drains up to `MAX_KEY_OUTPUT_BYTES` bytes, so
/// that the command does not block.
fn first_line(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output.take(MAX_KEY_OUTPUT_BYTES));
        let mut line = Vec::new();
        if output.read_until(b'\n', &mut line).is_ok() {
            // The receiver is gone if the command took too long.
            let _ = sender.send(String::from_utf8_lossy(&line).into_owned());
        }
        let _ = io::copy(&mut output, &mut io::sink());
    });
    receiver
}

/// Waits for a command to exit, and kills it on timeout or cancellation. The error is a reason, or `None` for a
/// cancellation.
fn wait_or_kill(child: &mut Child, cancel: &Cancel) -> Result<ExitStatus, Option<String>> {
    let start = Instant::now();
    let outcome = loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if cancel.is_cancelled() => break None,
            Ok(None) if start.elapsed() > KEY_COMMAND_TIMEOUT => {
                break Some(format!("took longer than {} s", KEY_COMMAND_TIMEOUT.as_secs()));
            }
            Ok(None) => thread::sleep(EXIT_POLL_INTERVAL),
            Err(error) => break Some(format!("failed while running: {error}")),
        }
    };
    // Ignore errors, since the command may have exited in the meantime.
    let _ = child.kill();
    let _ = child.wait();
    Err(outcome)
}
