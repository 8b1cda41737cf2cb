//! The key to a provider: where it may come from, and that it is never shown.

use std::fmt;

use reqwest::header::HeaderValue;
use strata_engine::cancel::Cancel;
use strata_engine::conversation::key_variable::KeyVariable;
use strata_engine::prompt::settings::ProviderName;

use super::Provider;
use super::error::SendError;
use super::key_command;
use super::kind::key_variable;

/// Minimum bytes at the end of a clipped text that count as part of a key.
const PART: usize = 4;

/// A provider's key. Never shown: [`fmt::Debug`] only says that there is one.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    /// As given, trimmed; never empty.
    text: String,
}

/// Where a key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// The environment variable that the provider's own client reads. A server of your own that speaks OpenAI's protocol often needs
    /// no key, so there it may be unset.
    Usual,
    /// The server needs none.
    None,
    /// An environment variable.
    Variable(KeyVariable),
    /// The first line printed by a program with these arguments. Runs without a shell.
    Command(Vec<String>),
    /// A key that the caller has, as from an editor's secret store.
    Given(Key),
}

impl Key {
    /// A key; `None` if the text is empty or not allowed in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let usable = !text.is_empty() && HeaderValue::from_str(text).is_ok();
        usable.then(|| Self { text: text.to_owned() })
    }

    /// Reads a key from the environment.
    fn from_environment(variable: &str) -> Option<Self> {
        Self::new(&std::env::var(variable).ok()?)
    }

    /// The value of a header with this key in it, which no log of the network libraries shows.
    pub(super) fn header(&self, scheme: &str) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("{scheme}{}", self.text)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// A text without this key in it, nor its beginning where the text was clipped. Some servers repeat the key that they refuse.
    pub(super) fn redact(&self, text: &str) -> String {
        let mut text = text.replace(&self.text, "[key]");
        let end = text.trim_end_matches('…').len();
        let parts = self.text.char_indices().map(|(at, _)| at).filter(|at| *at >= PART);
        let part = parts.rev().find(|at| text[..end].ends_with(&self.text[..*at]));
        if let Some(part) = part {
            text.replace_range(end - part..end, "[key]");
        }
        text
    }
}

impl KeySource {
    /// Whether there is a key, as far as that can be said without running a command.
    pub(super) fn check(&self, provider: &Provider) -> Result<(), SendError> {
        match self {
            Self::Command(command) => key_command::check(command),
            Self::Usual | Self::None | Self::Variable(_) | Self::Given(_) => {
                self.find(provider, &Cancel::new()).map(drop)
            }
        }
    }

    /// The key, or none where none is needed.
    pub(super) fn find(&self, provider: &Provider, cancel: &Cancel) -> Result<Option<Key>, SendError> {
        let required = |variable: &str| match Key::from_environment(variable) {
            Some(key) => Ok(Some(key)),
            None => Err(SendError::NoKey { variable: variable.to_owned() }),
        };
        match self {
            Self::None => Ok(None),
            Self::Given(key) => Ok(Some(key.clone())),
            Self::Variable(variable) => required(variable.as_str()),
            Self::Command(command) => key_command::key(command, cancel).map(Some),
            Self::Usual => {
                let is_optional = provider.base_url.is_some()
                    && matches!(provider.kind, ProviderName::OpenAi | ProviderName::Responses);
                match key_variable(provider.kind) {
                    Some(variable) if is_optional => Ok(Key::from_environment(variable)),
                    Some(variable) => required(variable),
                    None => Ok(None),
                }
            }
        }
    }

    /// Takes note that a provider refused the key.
    pub(super) fn was_refused(&self) {
        if let Self::Command(command) = self {
            key_command::forget(command);
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clipped_text_ends_with_no_part_of_a_key() {
        let key = Key::new("sk-0123456789").unwrap();
        assert_eq!(key.redact("no sk-0123456789 here, sk-0123456789"), "no [key] here, [key]");
        assert_eq!(key.redact("not sk-01234…"), "not [key]…");
        assert_eq!(key.redact("not sk-0"), "not [key]");
        assert_eq!(key.redact("a task-"), "a task-");
        assert_eq!(key.redact("é…"), "é…");
    }

    #[test]
    fn a_key_shows_itself_to_nobody() {
        assert_eq!(format!("{:?}", KeySource::Given(Key::new("sk-0123").unwrap())), "Given(Key)");
        for unusable in ["", "  ", "two\nlines", "\u{7f}"] {
            assert!(Key::new(unusable).is_none(), "{unusable:?}");
        }
    }
}
