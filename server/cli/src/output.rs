//! Writes results to standard output and messages to standard error: the only place that writes to a terminal. Text from
//! outside cannot control it, and a message stays on its line.

use std::io::{self, BufWriter, IsTerminal as _, Write};

use serde::Serialize;
use strata_app::external::{ExternalText, RenderedText};
use strata_app::format::visible_json;
pub(crate) use strata_app::format::{group_digits as count, pluralize};

use crate::failure::Failure;

/// Writes a result to standard output with the function `write`.
pub(crate) fn write_result(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| Failure::from_output_error(&error))
}

/// Writes lines for a user to standard output. Names in them must be on one line already, as those of a [`Table`] are.
///
/// [`Table`]: strata_app::table::Table
pub(crate) fn print_text(text: &str) -> Result<(), Failure> {
    write_result(|out| write!(out, "{}", printable_lines(text)))
}

/// Writes tables and sentences to standard output, like [`print_text`]. On a terminal, wraps sentences and the last
/// column of tables between words.
pub(crate) fn print_report(text: &str) -> Result<(), Failure> {
    let Some(width) = terminal_width(io::stdout()) else { return print_text(text) };
    print_text(&wrap_lines(text, width))
}

/// Writes the content of a file to standard output. Escapes control characters only if the output is a terminal.
pub(crate) fn print_file(text: &str) -> Result<(), Failure> {
    if io::stdout().is_terminal() {
        print_text(text)
    } else {
        write_result(|out| out.write_all(text.as_bytes()))
    }
}

/// Writes a result to standard output as JSON: indented for a terminal, otherwise on one line.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = match io::stdout().is_terminal() {
        true => serde_json::to_string_pretty(value),
        false => serde_json::to_string(value),
    };
    let text = text.map_err(|error| Failure::from_output_error(&error.into()))?;
    write_result(|out| writeln!(out, "{}", visible_json(&text)))
}

/// Writes a message to standard error, on one line, or wrapped to the width of the terminal. Ignores errors, such as a
/// closed output.
pub(crate) fn print_message(message: &str) {
    let line = ExternalText::new(message).line().to_string();
    let line = terminal_width(io::stderr()).map_or(line.clone(), |width| wrap(&line, width));
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "{line}").and_then(|()| err.flush());
}

/// Writes tables and sentences to standard error, like [`print_report`].
pub(crate) fn print_message_lines(text: &str) {
    let text = printable_lines(text).to_string();
    let text = terminal_width(io::stderr()).map_or(text.clone(), |width| wrap_lines(&text, width));
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "{}", text.trim_end_matches('\n')).and_then(|()| err.flush());
}

/// Returns the number of columns of a terminal, or `None` if `output` is something else.
#[cfg(unix)]
fn terminal_width(output: impl std::os::fd::AsFd) -> Option<usize> {
    terminal_size::terminal_size_of(output).map(|(width, _)| usize::from(width.0))
}

/// Returns the number of columns of a terminal, or `None` if `output` is something else.
#[cfg(windows)]
fn terminal_width(output: impl std::os::windows::io::AsHandle) -> Option<usize> {
    terminal_size::terminal_size_of(output).map(|(width, _)| usize::from(width.0))
}

/// Minimum number of columns in which to wrap a cell.
const MIN_CELL_COLUMNS: usize = 6;

fn wrap_lines(text: &str, width: usize) -> String {
    text.lines().flat_map(|line| [wrap(line, width), "\n".to_owned()]).collect()
}

/// Breaks a line between words, so that each part has at most `width` characters. A longer word, such as a path, stays
/// whole. In a row of a table, whose columns are separated by two spaces, breaks only the last cell.
fn wrap(line: &str, width: usize) -> String {
    let (before, last) = line.rfind("  ").map_or(("", line), |at| line.split_at(at + 2));
    let indent = before.chars().count();
    if indent + last.chars().count() <= width || indent + MIN_CELL_COLUMNS > width {
        return line.to_owned();
    }
    let (mut text, mut used) = (before.to_owned(), indent);
    for (at, word) in last.split(' ').enumerate() {
        let length = word.chars().count();
        if at > 0 && used + 1 + length <= width {
            text.push(' ');
            used += 1;
        } else if at > 0 {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            used = indent;
        }
        text.push_str(word);
        used += length;
    }
    text
}

/// Text from outside, such as a name, on one line.
pub(crate) fn one_line(text: &(impl AsRef<str> + ?Sized)) -> RenderedText<'_> {
    ExternalText::new(text).line()
}

/// Text of several lines, such as an answer, that cannot control a terminal.
pub(crate) fn printable_lines(text: &str) -> RenderedText<'_> {
    ExternalText::new(text).lines()
}

/// Returns the beginning of `text`, on one line of at most `max_chars` characters.
pub(crate) fn shorten(text: &str, max_chars: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(max_chars.saturating_sub(1)) {
        Some((end, last)) if end + last.len_utf8() < line.len() => format!("{}…", &line[..end]),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shown_on_one_line_up_to_a_length() {
        let shown = ["", " a\n b ", "äöüß", "äöüßx"].map(|text| shorten(text, 4));
        assert_eq!(shown, ["", "a b", "äöüß", "äöü…"]);
    }

    #[test]
    fn sentences_are_wrapped_between_words() {
        let line = "set a/long/path in the file of the user";
        assert_eq!(wrap(line, 100), line);
        assert_eq!(wrap(line, 12), "set\na/long/path\nin the file\nof the user");
        assert_eq!(wrap("", 3), "");
        let row = "cache  12 %  of the next prompt";
        assert_eq!(wrap(row, 28), "cache  12 %  of the next\n             prompt");
        assert_eq!(wrap(row, 18), row, "there is no room");
    }

    #[test]
    fn a_name_cannot_drive_the_terminal() {
        let shown = |text: &str| printable_lines(text).to_string();
        assert_eq!(shown("a\u{1b}[2J\u{202e}b\r\n"), "a\\u{1b}[2J\\u{202e}b\\u{d}\n");
        assert_eq!(shown("a\u{61c}\u{200b}\u{e0041}"), "a\\u{61c}\\u{200b}\\u{e0041}");
        let plain = "päth/ファイル.rs:\ta tab 👩\u{200d}💻\n";
        assert_eq!(shown(plain), plain);
    }
}
