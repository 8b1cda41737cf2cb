//! `strata pack`: prints files and outlines as one text, or copies it to the clipboard.

use std::fs;
use std::io::{self, Write as _};
use std::process::{Command, ExitCode, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::PackArguments;
use crate::failure::Failure;
use crate::output::{self, ExternalText, count, counted};
use crate::repository;

/// Maximum number of files that cannot be shown to list.
const MAX_SKIPPED: usize = 5;

/// The reply to `strata.pack.make`.
#[derive(Deserialize)]
struct Pack {
    text: String,
    tokens: usize,
    model: ExternalText,
    full: usize,
    outlined: usize,
    omitted: usize,
    redacted: usize,
    skipped: Vec<SkippedFile>,
}

#[derive(Deserialize)]
struct SkippedFile {
    path: ExternalText,
    reason: ExternalText,
}

pub(crate) fn run(arguments: &PackArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.repository)?;
    repository::index(&mut headless)?;
    for path in &arguments.exclude {
        headless
            .run("strata.files.exclude", json!({ "paths": [headless.typed(path)] }))
            .map_err(|error| Failure::of_path("--exclude", headless.folder(), &error))?;
    }
    let paths: Vec<String> = arguments.paths.iter().map(|path| headless.typed(path)).collect();
    let request = json!({
        "paths": paths,
        "question": arguments.question,
        "budget": arguments.budget,
        "form": arguments.format,
    });
    let reply = headless
        .run("strata.pack.make", request)
        .map_err(|error| Failure::of_path("pack", headless.folder(), &error))?;
    if arguments.json {
        output::json(&reply)?;
        return Ok(ExitCode::SUCCESS);
    }
    let pack: Pack = output::understood(reply)?;
    match &arguments.output {
        Some(path) => fs::write(path, &pack.text)
            .map_err(|error| Failure::said(error.to_string()).about(&path.display().to_string()))?,
        None if arguments.copy => copy(&pack.text)?,
        None => output::file_text(&pack.text)?,
    }
    pack.tell(arguments.copy);
    Ok(ExitCode::SUCCESS)
}

impl Pack {
    /// Says what the text contains.
    fn tell(&self, is_copied: bool) {
        let copied = if is_copied { "copied " } else { "" };
        let mut parts = vec![format!("{} in full", counted(self.full, "file"))];
        for (number, what) in [
            (self.outlined, "in outline"),
            (self.omitted, "left out"),
            (self.skipped.len(), "not readable or withheld"),
        ] {
            if number > 0 {
                parts.push(format!("{} {what}", count(number)));
            }
        }
        if self.redacted > 0 {
            parts.push(format!("{} replaced", counted(self.redacted, "secret")));
        }
        let tokens = counted(self.tokens, "token");
        output::tell(&format!("{copied}{tokens} for {}: {}", self.model.line(), parts.join(", ")));
        for SkippedFile { path, reason } in self.skipped.iter().take(MAX_SKIPPED) {
            output::tell(&format!("skipped {}: {}", path.line(), reason.line()));
        }
    }
}

/// Copies a text to the clipboard of the terminal, which also works over SSH.
fn copy(text: &str) -> Result<(), Failure> {
    // tmux does not pass the sequence on by default, but copies by itself.
    if std::env::var_os("TMUX").is_some() && copy_with_tmux(text).is_ok() {
        return Ok(());
    }
    let mut terminal = terminal().map_err(|error| {
        Failure::said(format!("--copy needs a terminal ({error}); pipe the text to another program instead"))
    })?;
    // Operating System Command 52 (xterm, "Manipulate Selection Data").
    let sequence = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
    terminal
        .write_all(sequence.as_bytes())
        .and_then(|()| terminal.flush())
        .map_err(|error| Failure::said(format!("cannot write to the terminal: {error}")))
}

fn terminal() -> io::Result<fs::File> {
    let name = if cfg!(windows) { "CONOUT$" } else { "/dev/tty" };
    fs::OpenOptions::new().write(true).open(name)
}

fn copy_with_tmux(text: &str) -> io::Result<()> {
    let mut tmux = Command::new("tmux").args(["load-buffer", "-w", "-"]).stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = tmux.stdin.take() {
        input.write_all(text.as_bytes())?;
    }
    match tmux.wait()?.success() {
        true => Ok(()),
        false => Err(io::Error::other("tmux does not support it")),
    }
}
