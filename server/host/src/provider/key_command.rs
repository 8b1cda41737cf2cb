//! Keys printed by a command, as password managers do: `["op", "read", "op://Private/Anthropic/key"]`. The command
//! runs without a shell and outside the workspace, so that it cannot start a program of the repository.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{env, thread};

use strata_engine::cancel::Cancel;

use super::error::SendError;
use super::key::Key;

/// Timeout of a command. Long enough for a fingerprint or a password.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a key is cached before the command runs again.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Polling interval while a command runs.
const LOOK: Duration = Duration::from_millis(10);

/// Maximum time to wait for output after a command has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Maximum bytes to read of a command's output.
const MAX_OUTPUT: u64 = 64 * 1024;

/// Keys by the command that printed them, with the time when it ran.
type KnownKeys = BTreeMap<Vec<String>, (Key, Instant)>;

/// Cached keys.
static KEYS: Mutex<KnownKeys> = Mutex::new(BTreeMap::new());

/// Checks that the program of a command is valid, without running it.
pub(super) fn check(command: &[String]) -> Result<(), SendError> {
    program(command).map(drop)
}

/// Returns the key printed by a command, from the cache if it is recent.
pub(super) fn key(command: &[String], cancel: &Cancel) -> Result<Key, SendError> {
    let known = keys().get(command).cloned();
    if let Some((key, since)) = known
        && since.elapsed() < LIFETIME
    {
        return Ok(key);
    }
    let key = run(command, cancel)?;
    keys().insert(command.to_vec(), (key.clone(), Instant::now()));
    Ok(key)
}

/// Removes a cached key, so that the command runs again for the next request.
pub(super) fn forget(command: &[String]) {
    keys().remove(command);
}

fn keys() -> MutexGuard<'static, KnownKeys> {
    KEYS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the program of a command: a name to be found in `PATH`, or an absolute path.
fn program(command: &[String]) -> Result<&str, SendError> {
    let failure = |program: &str, reason: &str| {
        Err(SendError::KeyCommand { program: program.to_owned(), reason: reason.to_owned() })
    };
    match command.first().map(|program| program.trim()) {
        None | Some("") => failure("", "is empty: set a program and its arguments"),
        Some(program) if program.contains(['/', '\\']) && !Path::new(program).is_absolute() => {
            failure(program, "is a relative path: use an absolute path, or a name in the PATH")
        }
        Some(program) => Ok(program),
    }
}

/// Runs a command. Discards its standard error, which may contain the key.
fn run(command: &[String], cancel: &Cancel) -> Result<Key, SendError> {
    let program = program(command)?;
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
    let status = wait(&mut child, cancel).map_err(|ended| match ended {
        Some(reason) => failure(reason),
        None => SendError::Cancelled,
    })?;
    if !status.success() {
        return Err(failure(format!("failed ({status})")));
    }
    let line = first_line.and_then(|line| line.recv_timeout(LAST_WORDS).ok()).unwrap_or_default();
    Key::new(&line).ok_or_else(|| failure("printed no usable key on its first line".to_owned()))
}

/// Returns a channel that receives the first line of a command's output. Reads up to `MAX_OUTPUT`, so that the
/// command does not block.
fn first_line(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output.take(MAX_OUTPUT));
        let mut line = Vec::new();
        if output.read_until(b'\n', &mut line).is_ok() {
            // The receiver is gone if the command took too long.
            let _ = sender.send(String::from_utf8_lossy(&line).into_owned());
        }
        let _ = io::copy(&mut output, &mut io::sink());
    });
    receiver
}

/// Waits for a command to exit, and kills it on timeout or cancellation. The error is a reason, or `None` for
/// cancellation.
fn wait(child: &mut Child, cancel: &Cancel) -> Result<ExitStatus, Option<String>> {
    let begun = Instant::now();
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if cancel.is_cancelled() => break None,
            Ok(None) if begun.elapsed() > PATIENCE => {
                break Some(format!("took longer than {} s", PATIENCE.as_secs()));
            }
            Ok(None) => thread::sleep(LOOK),
            Err(error) => break Some(format!("failed while running: {error}")),
        }
    };
    // The command may have exited in the meantime.
    let _ = child.kill();
    let _ = child.wait();
    Err(ended)
}
