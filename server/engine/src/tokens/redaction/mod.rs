//! Finds credentials in texts by their form, and replaces each with a placeholder, the same for the same secret. Does not decide
//! which texts are screened, and never writes a secret down.
//!
//! `rules` and `rules.toml` are the table of forms, `scan` finds them in one pass, `words` distinguishes random values from
//! words, `key_lines` knows private keys, `placeholder` makes and parses placeholders, `pieces` handles texts that arrive in
//! pieces, `screen` combines everything and caches, `structured` screens JSON, `allow` checks exceptions.

mod allow;
mod key_lines;
mod pieces;
mod placeholder;
mod rules;
mod scan;
mod screen;
mod structured;
#[cfg(test)]
mod tests;
mod words;

pub use pieces::TextPieces;
pub use placeholder::{Placeholder, PlaceholderKey, placeholders};

pub use scan::scan;
pub(crate) use screen::RedactionSettings;
pub(crate) use screen::ScreenedText;
pub use screen::{FoundSecret, RestoredText, Screen};

pub(crate) use scan::has_a_secret;
pub(crate) use structured::is_bytes;
