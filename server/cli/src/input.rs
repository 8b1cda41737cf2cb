//! Texts that come in: as an argument, from standard input, from a file.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use crate::failure::Failure;

/// A text that is asked for as an argument: the argument itself, or for `-` all of standard input.
pub(crate) fn text(argument: &str) -> Result<String, Failure> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }
    let mut text = String::new();
    io::stdin()
        .lock()
        .read_to_string(&mut text)
        .map_err(|error| Failure::said(format!("cannot read standard input: {error}")))?;
    // `echo question | strata prompt -` asks `question`.
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    Ok(text)
}

/// A file's text, or for `-` all of standard input. Bytes that are no UTF-8 are replaced.
pub(crate) fn file(path: &Path) -> Result<String, Failure> {
    let read = || -> io::Result<Vec<u8>> {
        if path != Path::new("-") {
            return fs::read(path);
        }
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| Failure::said(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The name of a file in a sentence.
pub(crate) fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}
