//! Finds credentials by their format and replaces each with a placeholder, which is always the same for the
//! same secret. Callers decide which texts to screen. Secrets are never logged or stored on disk.
//!
//! `rules` and `rules.toml` list the formats, `scan` finds them in one pass, `words` distinguishes random
//! values from words, `key_lines` finds private keys, `encoded` secrets in base64, `entries` lists of names and
//! values, `placeholder` creates and parses placeholders, `screen` replaces secrets and caches results, `structured`
//! screens JSON, `allow` checks exceptions, `restore` restores secrets for a destination, and `address` knows the
//! places where they are not restored.

mod address;
mod allow;
mod encoded;
mod entries;
mod key_lines;
mod keywords;
mod placeholder;
mod restore;
mod rules;
mod scan;
mod screen;
mod structured;
#[cfg(test)]
mod tests;
mod words;

pub use placeholder::{Placeholder, PlaceholderKey, placeholders};
pub use restore::{Destination, Restoration, RestoredText, Restorer};

pub use scan::{contains_or_is_secret, contains_secret, find_secrets};
pub use screen::{FoundSecret, RedactedText, RedactionSettings, SecretRedactor};

pub use structured::is_base64_text;
