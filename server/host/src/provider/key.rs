//! The key of a provider, and where it comes from.

use std::fmt;

use reqwest::header::HeaderValue;
use strata_conversation::settings::KeyVariable;

use super::key_filter::KeyRedactor;

/// A provider's key. Its [`fmt::Debug`] output does not contain the key.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The key, trimmed and not empty.
    text: String,
}

/// Where the key of a provider comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// The environment variable that the provider's own client reads. The variable may be unset for other servers with
    /// OpenAI's protocol, since these often need no key.
    Usual,
    /// The provider needs no key, and none is sent.
    None,
    Variable(KeyVariable),
    /// The first line printed by a program. The list contains the program and its arguments, and no shell is involved.
    Command(Vec<String>),
    /// A key passed in by the caller, for example from an editor's secret store.
    Given(ApiKey),
}

impl ApiKey {
    /// Creates a key. Returns `None` if the text is blank or not allowed in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_usable = !text.is_empty() && HeaderValue::from_str(text).is_ok();
        is_usable.then(|| Self { text: text.to_owned() })
    }

    pub(super) fn from_environment(variable: &str) -> Option<Self> {
        Self::new(&std::env::var(variable).ok()?)
    }

    /// Returns a header value with this key, marked as sensitive so that the network libraries do not log it.
    pub(super) fn header(&self, scheme: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{scheme}{}", self.text)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Returns a filter that removes this key from what the provider sends.
    pub(super) fn redactor(&self) -> KeyRedactor {
        KeyRedactor::new(&self.text)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_does_not_contain_the_key() {
        assert_eq!(format!("{:?}", KeySource::Given(ApiKey::new("sk-0123").unwrap())), "Given(Key)");
        for unusable in ["", "  ", "two\nlines", "\u{7f}"] {
            assert!(ApiKey::new(unusable).is_none(), "{unusable:?}");
        }
    }
}
