//! Credentials in texts, and what stands for them: finds what has the form of a key, a token or a password, and puts a
//! placeholder in its place, the same for the same secret. Decides nothing about which texts are screened, and never
//! writes a secret down.
//!
//! `rules` and `rules.toml` are the table of forms, `scan` finds them in one pass, `words` tells a random value from a
//! word, `key_lines` knows private keys, `placeholder` makes what stands for a secret and reads it back,
//! `pieces` keeps it whole in a text that comes bit by bit, `screen` puts all
//! of it together and remembers, `structured` screens JSON, `allow` knows what may be let pass by name.

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
pub use screen::{FoundSecret, RestoredText, Screen, ScreenedText};

pub(crate) use scan::has_a_secret;
pub(crate) use structured::is_bytes;
