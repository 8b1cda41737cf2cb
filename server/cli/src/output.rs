//! Writes results to standard output and messages to standard error. Escapes control characters, which file names may
//! contain.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal as _, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
pub(crate) use strata_app::format::{counted, grouped as count};

use crate::failure::Failure;

/// Writes a result to standard output with the function `write`.
pub(crate) fn result(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| Failure::of_output(&error))
}

/// Writes text for a user to standard output.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    result(|out| out.write_all(printable(text).as_bytes()))
}

/// Writes the content of a file to standard output. Escapes control characters only if the output is a terminal.
pub(crate) fn file_text(text: &str) -> Result<(), Failure> {
    let shown = if io::stdout().is_terminal() { printable(text) } else { Cow::Borrowed(text) };
    result(|out| out.write_all(shown.as_bytes()))
}

/// Writes a result to standard output as JSON: indented for a terminal, otherwise on one line.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    result(|out| {
        if io::stdout().is_terminal() {
            serde_json::to_writer_pretty(&mut *out, value)?;
        } else {
            serde_json::to_writer(&mut *out, value)?;
        }
        writeln!(out)
    })
}

/// Parses the reply to a command.
pub(crate) fn understood<T: DeserializeOwned>(reply: Value) -> Result<T, Failure> {
    serde_json::from_value(reply)
        .map_err(|error| Failure::said(format!("unexpected reply ({error}); please report this")))
}

/// Writes a message to standard error. Ignores errors, such as a closed output.
pub(crate) fn tell(text: &str) {
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "{}", printable(text)).and_then(|()| err.flush());
}

/// Escapes characters that could control a terminal, since file names may contain any characters.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let drives = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(drives) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if drives(character) {
            safe.extend(character.escape_unicode());
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// Returns the beginning of `text`, on one line of at most `most` characters.
pub(crate) fn clipped(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(most.saturating_sub(1)) {
        Some((end, last)) if end + last.len_utf8() < line.len() => format!("{}…", &line[..end]),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shown_on_one_line_up_to_a_length() {
        let shown = ["", " a\n b ", "äöüß", "äöüßx"].map(|text| clipped(text, 4));
        assert_eq!(shown, ["", "a b", "äöüß", "äöü…"]);
    }

    #[test]
    fn a_name_cannot_drive_the_terminal() {
        assert_eq!(printable("a\u{1b}[2J\u{202e}b\r\n"), "a\\u{1b}[2J\\u{202e}b\\u{d}\n");
        assert!(matches!(printable("päth/ファイル.rs:\ta tab\n"), Cow::Borrowed(_)));
    }
}
