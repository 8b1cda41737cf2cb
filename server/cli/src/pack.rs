//! `strata pack`: prints files and outlines as one text, or copies it to the clipboard.

use std::fs;
use std::io::{self, Write as _};
use std::process::{Command, ExitCode, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use strata_app::commands::pack::{MakePack, Pack, PackParams, SkippedFile};

use crate::arguments::PackArguments;
use crate::failure::Failure;
use crate::output::{self, count, pluralize};
use crate::{repository, selecting};

/// Maximum number of files that cannot be shown to list.
const MAX_LISTED_SKIPPED_FILES: usize = 5;

pub(crate) fn run(arguments: &PackArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open(&arguments.repository)?;
    repository::index_with_progress(&mut headless)?;
    for path in &arguments.exclude {
        selecting::exclude_path(&mut headless, path)?;
    }
    let paths: Vec<String> = arguments.paths.iter().map(|path| headless.workspace_path(path)).collect();
    let request = PackParams {
        paths,
        question: arguments.question.clone(),
        budget: arguments.budget,
        form: arguments.format,
    };
    let pack = headless
        .call::<MakePack>(request)
        .map_err(|error| Failure::from_path_error(headless.folder(), &error))?;
    if arguments.json {
        output::print_json(&pack)?;
        return Ok(ExitCode::SUCCESS);
    }
    match &arguments.output {
        Some(path) => fs::write(path, &pack.text).map_err(|error| {
            Failure::new(error.to_string()).with_message_prefix(&path.display().to_string())
        })?,
        None if arguments.copy => copy_to_clipboard(&pack.text)?,
        None => output::print_file(&pack.text)?,
    }
    print_summary(&pack, arguments.copy);
    Ok(ExitCode::SUCCESS)
}

/// Says what the text contains.
fn print_summary(pack: &Pack, is_copied: bool) {
    let copied = if is_copied { "copied " } else { "" };
    let mut parts = vec![format!("{} in full", pluralize(pack.full, "file"))];
    for (number, label) in [
        (pack.outlined, "in outline"),
        (pack.omitted, "left out"),
        (pack.skipped.len(), "unreadable or withheld"),
    ] {
        if number > 0 {
            parts.push(format!("{} {label}", count(number)));
        }
    }
    if pack.redacted > 0 {
        parts.push(format!("{} replaced", pluralize(pack.redacted, "secret")));
    }
    let tokens = pluralize(pack.tokens, "token");
    output::print_message(&format!("{copied}{tokens} for {}: {}", pack.model, parts.join(", ")));
    for SkippedFile { path, reason } in pack.skipped.iter().take(MAX_LISTED_SKIPPED_FILES) {
        output::print_message(&format!("skipped {}: {reason}", output::one_line(path)));
    }
}

/// Copies a text to the clipboard of the terminal, which also works over SSH.
fn copy_to_clipboard(text: &str) -> Result<(), Failure> {
    // tmux does not pass the sequence on by default, but copies by itself.
    if std::env::var_os("TMUX").is_some() && copy_with_tmux(text).is_ok() {
        return Ok(());
    }
    let mut terminal = open_terminal().map_err(|error| {
        Failure::new(format!("--copy needs a terminal ({error}); pipe the text to another program instead"))
    })?;
    // Operating System Command 52 (xterm, "Manipulate Selection Data").
    let sequence = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
    terminal
        .write_all(sequence.as_bytes())
        .and_then(|()| terminal.flush())
        .map_err(|error| Failure::new(format!("cannot write to the terminal: {error}")))
}

fn open_terminal() -> io::Result<fs::File> {
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
