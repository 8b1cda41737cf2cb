//! The key to a provider: where it may come from, and that it is never shown.

use std::fmt;

use reqwest::header::HeaderValue;

/// A provider's key. Shows itself to nobody: [`fmt::Debug`] says only that there is one.
#[derive(Clone)]
pub struct Key {
    /// As it was given, without white space around it; never empty.
    text: String,
}

impl Key {
    /// A key from an editor's secret store; none when the text is empty or cannot stand in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let usable = !text.is_empty() && HeaderValue::from_str(text).is_ok();
        usable.then(|| Self { text: text.to_owned() })
    }

    /// What the environment has under a name.
    pub(super) fn from_environment(variable: &str) -> Option<Self> {
        Self::new(&std::env::var(variable).ok()?)
    }

    /// The value of a header with this key in it, which no log of the network libraries shows.
    pub(super) fn header(&self, scheme: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{scheme}{}", self.text)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// A text without this key in it. Some servers repeat the key that they refuse.
    pub(super) fn redact(&self, text: &str) -> String {
        text.replace(&self.text, "[key]")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}
