//! Reads text from an argument, standard input or a file.

use std::fs;
#[cfg(not(unix))]
use std::io::IsTerminal as _;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use strata_app::commands::{Image, ImageSource, media_type};

use crate::failure::Failure;
use crate::output;

/// Maximum size of piped text that becomes part of a prompt, in bytes: about 50,000 tokens.
const MAX_PIPED_BYTES: usize = 200_000;
/// Size of the beginning of longer text that is kept, in bytes. The end is kept too, because the outcome of a log or a
/// test run is there.
const PIPED_HEAD_BYTES: usize = 150_000;

/// Maximum size of an attached file, in bytes.
const MAX_ATTACHMENT_BYTES: u64 = 20_000_000;
/// Maximum size of an attached image, in bytes. Anthropic accepts 5 MB after base64 encoding.
const MAX_ATTACHED_IMAGE_BYTES: usize = 3_750_000;

/// Time after which the user is told what the program waits for.
const WAIT_NOTICE_DELAY: Duration = Duration::from_secs(2);

/// Returns a question that may have been given without quotation marks. `-` stands for standard input.
pub(crate) fn read_question(words: &[String]) -> Result<String, Failure> {
    read_text_argument(&words.join(" "))
}

/// Returns the text that is piped into a question of other words, shortened if it is long.
pub(crate) fn read_piped_text(words: &[String]) -> Result<Option<String>, Failure> {
    if words == ["-"] || !is_stdin_piped() {
        return Ok(None);
    }
    // The program that writes may take long, or have forgotten that it left a pipe open.
    let (done, stop) = mpsc::channel::<()>();
    thread::spawn(move || {
        if stop.recv_timeout(WAIT_NOTICE_DELAY) == Err(RecvTimeoutError::Timeout) {
            output::print_message("reading standard input until its end; to read nothing, add `< /dev/null`");
        }
    });
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).map_err(|error| stdin_error(&error))?;
    drop(done);
    Ok((!bytes.trim_ascii().is_empty()).then(|| without_middle(&bytes)))
}

/// Whether standard input is a pipe or a file. Other programs often leave it connected to something else that never
/// ends, such as a socket.
fn is_stdin_piped() -> bool {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        use std::os::unix::fs::FileTypeExt as _;
        let Ok(stdin) = io::stdin().as_fd().try_clone_to_owned() else { return false };
        let kind = fs::File::from(stdin).metadata().map(|metadata| metadata.file_type());
        kind.is_ok_and(|kind| kind.is_fifo() || kind.is_file())
    }
    #[cfg(not(unix))]
    {
        !io::stdin().is_terminal()
    }
}

/// Decodes a text, without the middle if it is long.
fn without_middle(bytes: &[u8]) -> String {
    let text = |range: Range<usize>| String::from_utf8_lossy(bytes.get(range).unwrap_or_default());
    let Some(left_out @ 1..) = bytes.len().checked_sub(MAX_PIPED_BYTES) else {
        return text(0..bytes.len()).into_owned();
    };
    output::print_message(&format!("the text is long, so {left_out} bytes in its middle were left out"));
    let (head, tail) = (text(0..PIPED_HEAD_BYTES), text(PIPED_HEAD_BYTES + left_out..bytes.len()));
    format!("{head}\n[{left_out} bytes left out]\n{tail}")
}

fn stdin_error(error: &io::Error) -> Failure {
    Failure::new(format!("cannot read standard input: {error}"))
}

/// A file that is attached to a question.
pub(crate) enum Attachment {
    Image(Image),
    Text { name: String, text: String },
}

/// Reads an attached file: an image, or a text, which is shortened if it is long.
pub(crate) fn read_attachment(path: &Path) -> Result<Attachment, Failure> {
    let size = fs::metadata(path).map_err(|error| Failure::new(error.to_string()))?.len();
    if size > MAX_ATTACHMENT_BYTES {
        return Err(Failure::new("is larger than 20 MB"));
    }
    let bytes = fs::read(path).map_err(|error| Failure::new(error.to_string()))?;
    if let Some(media_type) = media_type(&bytes) {
        if bytes.len() > MAX_ATTACHED_IMAGE_BYTES {
            return Err(Failure::new("is larger than 3.75 MB, the limit for images; make it smaller"));
        }
        let source = ImageSource::Base64 { media_type: media_type.to_owned(), data: STANDARD.encode(&bytes) };
        return Ok(Attachment::Image(Image { source, width: None, height: None }));
    }
    if bytes.contains(&0) {
        return Err(Failure::new("is neither text nor an image (PNG, JPEG, GIF or WebP)"));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Attachment::Text { name, text: without_middle(&bytes) })
}

/// Returns the text of an argument. `-` stands for standard input.
pub(crate) fn read_text_argument(argument: &str) -> Result<String, Failure> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text).map_err(|error| stdin_error(&error))?;
    // Remove the final newline, so that `echo question | strata prompt -` asks `question`.
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    Ok(text)
}

/// Reads a file, or standard input for `-`. Replaces invalid UTF-8.
pub(crate) fn read_file(path: &Path) -> Result<String, Failure> {
    let read = || -> io::Result<Vec<u8>> {
        if path != Path::new("-") {
            return fs::read(path);
        }
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| Failure::new(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the name of an input file, as shown in messages.
pub(crate) fn display_name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}
