//! Writes the log to standard error, with placeholders instead of secrets and without control characters. No message should contain a secret, so this
//! is a second line of defense.

use std::io::{self, Write};
use std::sync::Arc;

use strata_app::external::ExternalText;
use strata_app::model::redaction::{SecretRedactor, user_secret_redactor};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::arguments::LogArguments;
use crate::failure::Failure;

/// A library that logs the full text of messages at verbose levels, and the most verbose level to allow for it.
const LEVEL_CAPPED_LIBRARY: (&str, LevelFilter) = ("rmcp", LevelFilter::WARN);

/// A writer that screens each log event for secrets.
#[derive(Clone)]
struct RedactingWriter(Arc<SecretRedactor>);

impl MakeWriter<'_> for RedactingWriter {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Write for RedactingWriter {
    /// Writes one event, which the formatter passes in a single call.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        write!(io::stderr(), "{}", ExternalText::new(&*self.0.redact_text(&text)).lines())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Starts logging.
///
/// # Errors
/// Returns an error if logging has already been started.
pub(crate) fn init(arguments: &LogArguments) -> Result<(), Failure> {
    let max_level = arguments.level;
    let (library, library_level) = LEVEL_CAPPED_LIBRARY;
    let targets = Targets::new().with_default(max_level).with_target(library, max_level.min(library_level));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(RedactingWriter(Arc::new(user_secret_redactor())))
        .with_ansi(false);
    tracing_subscriber::registry()
        .with(lines.with_filter(targets))
        .try_init()
        .map_err(|error| Failure::new(format!("cannot set up the log: {error}")))
}
