//! Reads text from an argument, standard input or a file.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use crate::failure::Failure;

/// Returns the text of an argument. `-` stands for standard input.
pub(crate) fn text(argument: &str) -> Result<String, Failure> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }
    let mut text = String::new();
    io::stdin()
        .lock()
        .read_to_string(&mut text)
        .map_err(|error| Failure::said(format!("cannot read standard input: {error}")))?;
    // Remove the final newline, so that `echo question | strata prompt -` asks `question`.
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    Ok(text)
}

/// Reads a file, or standard input for `-`. Replaces invalid UTF-8.
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

/// Returns the name of an input file, as shown in messages.
pub(crate) fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}
