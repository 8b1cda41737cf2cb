//! Replaces placeholders with their secrets in a text that goes to a stated destination. A text in which secrets were
//! restored has a type of its own, which can be sent to the client or shown on a terminal, and nothing else.

use std::fmt;
use std::sync::{Arc, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::address::{AddressTracker, MAX_HOST_LOOKAHEAD_BYTES, SecretLocation, is_host_char, is_host_end};
use super::placeholder::{Placeholder, incomplete_placeholder_start, placeholders};
use super::screen::{KnownSecrets, SecretRedactor};

/// Where a text goes after its secrets were restored. Nothing is ever restored in files that Strata writes, in logs and
/// in prompts, so there is no destination for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Destination<'a> {
    /// A file of the user, to which the client applies the text as an edit. A secret is restored inside an address only
    /// if it was found in the same address.
    Edit,
    /// The arguments of a call of the tool with this name, which the client runs. Restored like [`Self::Edit`] if the
    /// setting `redaction.edit_tools` lists the tool, and not at all otherwise.
    Tool(&'a str),
    /// The user's screen. Restored outside of addresses, links and images if the setting `redaction.show_secrets` is
    /// on, and not at all otherwise.
    Display,
}

/// Text in which secrets may have been restored, for one destination. Deliberately not [`fmt::Display`], and without
/// its text in its [`fmt::Debug`] output:
///
/// ```compile_fail
/// # use crate::redaction::RestoredText;
/// let text = RestoredText::default();
/// std::fs::write("answer.md", format!("{text}"));
/// ```
///
/// ```compile_fail
/// # use crate::redaction::RestoredText;
/// let text = RestoredText::default();
/// std::fs::write("answer.md", text);
/// ```
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RestoredText(String);

/// The result of restoring a text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Restoration {
    pub text: RestoredText,
    /// Number of placeholders that were replaced.
    pub restored: usize,
    /// Placeholders whose secrets are unknown, without duplicates.
    pub unknown: Vec<Placeholder>,
    /// Placeholders that stay because they are inside an address, a link or an image, without duplicates.
    pub withheld: Vec<Placeholder>,
}

/// Which placeholders are replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RestorationScope {
    Nothing,
    OutsideOfAddresses,
    /// Also inside an address in which the same secret was found.
    KnownAddresses,
}

/// Restores the secrets in a text that arrives in pieces. Holds back only a possibly incomplete placeholder, and a
/// placeholder until the text after it shows whether it is part of an address.
pub struct Restorer {
    secrets: Arc<KnownSecrets>,
    scope: RestorationScope,
    tracker: AddressTracker,
    pending: String,
    restoration: Restoration,
}

impl RestoredText {
    /// Wraps a text in which nothing was restored.
    pub fn unrestored(text: String) -> Self {
        Self(text)
    }

    /// Returns the text to write to the user's terminal. Must not be written to a file or a log.
    pub fn terminal_text(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends another text for the same destination.
    pub fn append(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }
}

impl fmt::Debug for RestoredText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RestoredText")
    }
}

impl fmt::Debug for Restorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Restorer").field("scope", &self.scope).finish_non_exhaustive()
    }
}

impl SecretRedactor {
    /// Replaces placeholders in a text with their secrets. Only secrets found since the process started are known.
    ///
    /// Every call states the destination:
    ///
    /// ```compile_fail
    /// # use crate::redaction::{PlaceholderKey, Screen};
    /// Screen::new(|| PlaceholderKey::new([1; 32])).restore("text");
    /// ```
    pub fn restore(&self, text: &str, destination: Destination<'_>) -> Restoration {
        let mut restorer = self.restorer(destination);
        text.clone_into(&mut restorer.pending);
        let text = restorer.restore_pending(true);
        Restoration { text, ..restorer.restoration }
    }

    /// Restores the secrets in every string of a JSON value, like [`Self::restore`].
    pub fn restore_value(&self, value: &mut Value, destination: Destination<'_>) {
        match value {
            Value::String(text) => *text = self.restore(text, destination).text.0,
            Value::Array(values) => {
                values.iter_mut().for_each(|value| self.restore_value(value, destination));
            }
            Value::Object(fields) => {
                fields.values_mut().for_each(|value| self.restore_value(value, destination));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Creates a restorer for a text that arrives in pieces.
    pub fn restorer(&self, destination: Destination<'_>) -> Restorer {
        let scope = match destination {
            Destination::Edit => RestorationScope::KnownAddresses,
            Destination::Tool(name) if self.edit_tools.contains(name) => RestorationScope::KnownAddresses,
            Destination::Display if self.shows_secrets => RestorationScope::OutsideOfAddresses,
            Destination::Tool(_) | Destination::Display => RestorationScope::Nothing,
        };
        Restorer {
            secrets: Arc::clone(&self.secrets),
            scope,
            tracker: AddressTracker::default(),
            pending: String::new(),
            restoration: Restoration::default(),
        }
    }
}

impl Restorer {
    /// Appends a piece, and returns the text that is certain.
    pub fn push(&mut self, text: &str) -> RestoredText {
        if self.scope == RestorationScope::Nothing {
            return RestoredText(text.to_owned());
        }
        self.pending.push_str(text);
        self.restore_pending(false)
    }

    /// Returns the remaining text at the end of the stream.
    pub fn finish(&mut self) -> RestoredText {
        self.restore_pending(true)
    }

    fn restore_pending(&mut self, is_complete: bool) -> RestoredText {
        let pending = std::mem::take(&mut self.pending);
        if self.scope == RestorationScope::Nothing {
            return RestoredText(pending);
        }
        let mut out = String::with_capacity(pending.len());
        let mut offset = 0;
        let slice = |start: usize, end: usize| pending.get(start..end).unwrap_or_default();
        for (range, placeholder) in placeholders(&pending) {
            let after = slice(range.end, pending.len());
            self.copy_unchanged(slice(offset, range.start), &mut out);
            offset = range.start;
            if !is_complete && self.needs_more_text(after) {
                self.pending = slice(offset, pending.len()).to_owned();
                return RestoredText(out);
            }
            match self.allowed_secret(&placeholder, after) {
                Some(secret) => {
                    out.push_str(&secret);
                    self.tracker.skip_secret();
                    self.restoration.restored += 1;
                }
                None => self.copy_unchanged(placeholder.as_str(), &mut out),
            }
            offset = range.end;
        }
        let rest = slice(offset, pending.len());
        let end = if is_complete { rest.len() } else { incomplete_placeholder_start(rest) };
        self.copy_unchanged(rest.get(..end).unwrap_or_default(), &mut out);
        rest.get(end..).unwrap_or_default().clone_into(&mut self.pending);
        RestoredText(out)
    }

    fn copy_unchanged(&mut self, text: &str, out: &mut String) {
        self.tracker.read(text);
        out.push_str(text);
    }

    /// Whether more of the text after a placeholder is needed.
    fn needs_more_text(&self, after: &str) -> bool {
        match self.scope {
            RestorationScope::KnownAddresses => !after.contains(is_host_end),
            RestorationScope::Nothing | RestorationScope::OutsideOfAddresses => {
                after.char_indices().all(|(at, c)| at < MAX_HOST_LOOKAHEAD_BYTES && is_host_char(c))
            }
        }
    }

    /// Returns the secret of a placeholder at the current position if it may be restored there.
    fn allowed_secret(&mut self, placeholder: &Placeholder, after: &str) -> Option<Arc<str>> {
        let secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((text, addresses)) = secrets.get(placeholder).and_then(|secret| secret.text_and_addresses())
        else {
            push_distinct(&mut self.restoration.unknown, placeholder);
            return None;
        };
        let is_allowed = match (self.tracker.secret_location(after), self.scope) {
            (SecretLocation::Text, _) => true,
            (SecretLocation::Address(Some(address)), RestorationScope::KnownAddresses) => {
                addresses.contains(&address)
            }
            (SecretLocation::Address(_), _) => false,
        };
        if !is_allowed {
            push_distinct(&mut self.restoration.withheld, placeholder);
        }
        is_allowed.then(|| Arc::clone(text))
    }
}

fn push_distinct(list: &mut Vec<Placeholder>, placeholder: &Placeholder) {
    if !list.contains(placeholder) {
        list.push(placeholder.clone());
    }
}
