//! The log on standard error, with placeholders instead of secrets: nothing that is logged should hold one, and nothing
//! that does anyway leaves here.

use std::io::{self, Write};
use std::sync::Arc;

use strata_app::redaction::{Screen, screen_of_user};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::arguments::{LogArguments, LogLevel};
use crate::failure::Failure;

/// A library that logs whole messages, with the texts in them, at every level below this.
const TALKATIVE: (&str, LevelFilter) = ("rmcp", LevelFilter::WARN);

/// Writes whole events, each screened.
#[derive(Clone)]
struct ScreenedText(Arc<Screen>);

impl MakeWriter<'_> for ScreenedText {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Write for ScreenedText {
    /// One event: the formatter hands it over in one piece.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        io::stderr().write_all(self.0.text(&text).as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Off => Self::OFF,
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}

/// Starts logging.
///
/// # Errors
/// When there is a log already.
pub(crate) fn begin(arguments: &LogArguments) -> Result<(), Failure> {
    let most = LevelFilter::from(arguments.level);
    let (library, its_most) = TALKATIVE;
    let wanted = Targets::new().with_default(most).with_target(library, most.min(its_most));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(ScreenedText(Arc::new(screen_of_user())))
        .with_ansi(false);
    tracing_subscriber::registry()
        .with(lines.with_filter(wanted))
        .try_init()
        .map_err(|error| Failure::said(format!("cannot set up the log: {error}")))
}
