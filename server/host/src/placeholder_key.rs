//! Stores the user's key for secret placeholders: 32 random bytes, created when the first secret is found and readable
//! only by the user. Handles no secrets, and never reveals the key.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::path::Path;

use strata_tokens::redaction::PlaceholderKey;

use crate::store::paths::{create_private_file, ensure_private_top, open_own_file};
use crate::store::state_directory;

/// Length of the key in bytes, as the keyed hash requires.
const KEY_BYTES: usize = 32;
const KEY_FILE_NAME: &str = "placeholder.key";

/// Returns the current user's key. If the key cannot be stored, returns one that is valid only in this process.
pub fn user_key() -> PlaceholderKey {
    let stored = state_directory(|name| std::env::var_os(name))
        .map_err(|error| error.to_string())
        .and_then(|state| read_or_create_key(&state).map_err(|error| error.to_string()));
    stored.unwrap_or_else(|problem| {
        tracing::warn!(%problem, "cannot store the placeholder key, so placeholders will change after a restart");
        process_key()
    })
}

/// Reads the key from the directory `state`, or creates it there.
///
/// # Errors
/// Returns an error if the directory or the file cannot be read or written.
pub fn read_or_create_key(state: &Path) -> io::Result<PlaceholderKey> {
    ensure_private_top(state).map_err(|error| io::Error::other(error.to_string()))?;
    let path = state.join(KEY_FILE_NAME);
    if let Some(key) = read(&path)? {
        return Ok(key);
    }
    // The key is written to a temporary file that is then hard-linked, so that other processes see a complete key or
    // none, and the first process to link wins.
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let mut number = [0; 8];
    getrandom::fill(&mut number).map_err(io::Error::other)?;
    let temporary = state.join(format!("{KEY_FILE_NAME}.{:016x}", u64::from_le_bytes(number)));
    let written = create_private_file(&temporary).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.sync_all()
    });
    let linked = written.and_then(|()| fs::hard_link(&temporary, &path));
    let _ = fs::remove_file(&temporary);
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => read(&path)?
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the key has the wrong length")),
    }
}

/// Creates an unguessable key for this process only. Uses the seeds of hash tables, which come from the system's random
/// number generator and are always available.
fn process_key() -> PlaceholderKey {
    let mut bytes = [0; KEY_BYTES];
    for part in bytes.chunks_mut(8) {
        part.copy_from_slice(&RandomState::new().build_hasher().finish().to_le_bytes());
    }
    PlaceholderKey::new(bytes)
}

fn read(path: &Path) -> io::Result<Option<PlaceholderKey>> {
    let file = match open_own_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut bytes = Vec::new();
    file.take(KEY_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    let key: Option<[u8; KEY_BYTES]> = bytes.try_into().ok();
    let wrong_length = || io::Error::new(io::ErrorKind::InvalidData, "the key has the wrong length");
    Ok(Some(PlaceholderKey::new(key.ok_or_else(wrong_length)?)))
}

#[cfg(test)]
mod tests {
    use strata_tokens::redaction::SecretRedactor;

    use super::*;

    fn redacted_sample(state: &Path) -> String {
        let key = read_or_create_key(state).unwrap();
        let secret = format!("token = \"{}\"", ["aZ3kQ9x", "W7bN2mT5p"].concat());
        SecretRedactor::new(move || key).redact_text(&secret).into_owned()
    }

    #[test]
    fn a_user_has_one_key_that_only_they_can_read() {
        let (first_user, second_user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let first = redacted_sample(&first_user.path().join("strata"));
        assert!(first.contains("[secret:"), "{first}");
        assert_eq!(first, redacted_sample(&first_user.path().join("strata")));
        assert_ne!(first, redacted_sample(&second_user.path().join("strata")));
        let names: Vec<_> = fs::read_dir(first_user.path().join("strata"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, [KEY_FILE_NAME]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(first_user.path().join("strata").join(KEY_FILE_NAME))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_key_of_the_wrong_length_is_an_error() {
        let state = tempfile::tempdir().unwrap();
        fs::write(state.path().join(KEY_FILE_NAME), "short").unwrap();
        assert!(read_or_create_key(state.path()).is_err());
    }
}
