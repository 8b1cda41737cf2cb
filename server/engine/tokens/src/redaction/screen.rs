//! Replaces the secrets in texts with placeholders. Caches the secrets found in each text, so that an
//! unchanged text costs only a hash. Remembers the secret of each placeholder, in memory only. The cache does
//! not affect results.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::cache::Cache;
use strata_base::hash::ContentHash;
use strata_base::text::LineStarts;

use super::address::{AddressTracker, SecretAddress, SecretLocation};
use super::placeholder::{Placeholder, PlaceholderKey};
use super::scan::{SecretMatch, find_secrets};

/// Minimum size in bytes of a text whose result is cached.
const MIN_CACHED_TEXT_BYTES: usize = 2 << 10;
/// Maximum number of cached texts, more than the largest context windows contain. The table takes up to 270
/// KB: 33 bytes per entry, with up to half of the entries unused.
const MAX_CACHED_TEXTS: usize = 1 << 12;
/// Maximum number of remembered secrets.
const MAX_SECRETS: usize = 1 << 14;
/// Maximum number of times that a text is screened. A replaced secret can uncover another one.
const MAX_SCREENING_ROUNDS: usize = 4;
/// Maximum number of remembered addresses of a secret.
const MAX_ADDRESSES: usize = 64;

/// Redaction of secrets in text that models see.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RedactionSettings {
    /// Whether to replace secrets in files, messages and tool results with placeholders before a model sees them.
    pub enabled: bool,
    /// Secrets to send unchanged: placeholders as listed by `strata.redaction.list`, or names of rules.
    pub allow: Vec<String>,
    /// Whether to show secrets instead of their placeholders in answers of `strata ask` and `strata.prompt.send`, except
    /// inside addresses, links and images. Editors may store the answers that they show.
    pub show_secrets: bool,
    /// Names of tools whose calls through `strata.model.send` edit your own files. Their arguments get secrets instead of
    /// placeholders, except inside addresses that the secret does not belong to.
    pub edit_tools: Vec<String>,
}

impl Default for RedactionSettings {
    fn default() -> Self {
        Self { enabled: true, allow: Vec::new(), show_secrets: false, edit_tools: Vec::new() }
    }
}

/// A replaced secret, without its text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "FoundSecret")]
pub struct FoundSecret {
    /// Name of the rule that found the secret.
    pub rule: &'static str,
    /// Line number of the secret, starting at 1.
    pub line: usize,
    /// Placeholder that replaced the secret.
    #[schemars(with = "String")]
    pub placeholder: Placeholder,
}

/// A text whose secrets were replaced with placeholders.
#[derive(Clone, PartialEq, Debug)]
pub struct RedactedText {
    /// The text with placeholders.
    pub text: Arc<str>,
    /// Replaced secrets, in order.
    pub found: Arc<[FoundSecret]>,
}

/// A secret in a text, with its placeholder.
#[derive(Debug)]
struct Replacement {
    range: Range<usize>,
    found: FoundSecret,
}

/// A remembered secret and the rule that found it.
pub(super) struct KnownSecret {
    rule: &'static str,
    /// Text of the secret; `None` if two secrets share the placeholder.
    text: Option<Arc<str>>,
    /// Addresses in which the secret was found.
    addresses: BTreeSet<SecretAddress>,
}

/// The secrets found so far.
pub(super) type KnownSecrets = Mutex<BTreeMap<Placeholder, KnownSecret>>;

/// Key for creating placeholders, generated when the first secret is found.
type LazyKey = LazyLock<PlaceholderKey, Box<dyn FnOnce() -> PlaceholderKey + Send>>;

/// Replaces secrets with placeholders, and restores them. All screens derived from one by [`Self::with_settings`] know the
/// same secrets.
pub struct SecretRedactor {
    key: Arc<LazyKey>,
    enabled: bool,
    allowed: BTreeSet<String>,
    pub(super) shows_secrets: bool,
    pub(super) edit_tools: BTreeSet<String>,
    texts: Cache<ContentHash, Arc<[Replacement]>, MAX_CACHED_TEXTS>,
    pub(super) secrets: Arc<KnownSecrets>,
}

impl fmt::Debug for SecretRedactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretRedactor")
            .field("enabled", &self.enabled)
            .field("allowed", &self.allowed)
            .finish()
    }
}

impl KnownSecret {
    /// Returns the text of the secret and the addresses in which it was found, unless two secrets share the placeholder.
    pub(super) fn text_and_addresses(&self) -> Option<(&Arc<str>, &BTreeSet<SecretAddress>)> {
        self.text.as_ref().map(|text| (text, &self.addresses))
    }
}

impl SecretRedactor {
    /// Creates a screen. `key` is called when the first secret is found.
    pub fn new(key: impl FnOnce() -> PlaceholderKey + Send + 'static) -> Self {
        Self {
            key: Arc::new(LazyLock::new(Box::new(key))),
            enabled: true,
            allowed: BTreeSet::new(),
            shows_secrets: false,
            edit_tools: BTreeSet::new(),
            texts: Cache::default(),
            secrets: Arc::default(),
        }
    }

    /// Returns a screen with other settings that shares the secrets found so far.
    pub fn with_settings(&self, settings: &RedactionSettings) -> Self {
        Self {
            key: Arc::clone(&self.key),
            enabled: settings.enabled,
            allowed: settings.allow.iter().cloned().collect(),
            shows_secrets: settings.show_secrets,
            edit_tools: settings.edit_tools.iter().cloned().collect(),
            texts: Cache::default(),
            secrets: Arc::clone(&self.secrets),
        }
    }

    /// Replaces the secrets in a text and lists them.
    pub fn redact_with_findings(&self, text: &Arc<str>) -> RedactedText {
        let replacements = self.replacements(text);
        if replacements.is_empty() {
            return RedactedText { text: Arc::clone(text), found: Arc::default() };
        }
        let found = replacements.iter().map(|replacement| replacement.found.clone()).collect();
        RedactedText { text: with_placeholders(text, &replacements).into(), found }
    }

    /// Replaces the secrets in a text.
    pub fn redact_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let replacements = self.replacements(text);
        if replacements.is_empty() {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(with_placeholders(text, &replacements))
        }
    }

    /// Returns the rule that found a placeholder's secret, if it was found since the process started.
    pub fn rule_of(&self, placeholder: &Placeholder) -> Option<&'static str> {
        let secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        secrets.get(placeholder).map(|secret| secret.rule)
    }

    fn replacements(&self, text: &str) -> Arc<[Replacement]> {
        if !self.enabled {
            return Arc::default();
        }
        if text.len() < MIN_CACHED_TEXT_BYTES {
            return self.find_replacements(text);
        }
        self.texts.get_or_insert_with(ContentHash::from_text(text), || self.find_replacements(text))
    }

    fn find_replacements(&self, text: &str) -> Arc<[Replacement]> {
        let mut replacements = Vec::new();
        let lines = LazyCell::new(|| LineStarts::new(text));
        for hit in self.all_matches(text) {
            let Some(secret) = text.get(hit.range.clone()) else { continue };
            let placeholder = self.key.placeholder(hit.label, secret);
            self.remember(&placeholder, hit.rule, secret);
            if [hit.rule, hit.label, placeholder.as_str()].iter().any(|name| self.allowed.contains(*name)) {
                continue;
            }
            let line = lines.line(hit.range.start) as usize;
            replacements.push(Replacement {
                range: hit.range,
                found: FoundSecret { rule: hit.rule, line, placeholder },
            });
        }
        // Most texts contain no secrets, and an empty result takes no memory.
        if replacements.is_empty() {
            return Arc::default();
        }
        self.remember_addresses(&with_placeholders(text, &replacements), &replacements);
        replacements.into()
    }

    /// Finds the secrets of a text, also those that are found only after the ones around them are replaced. So a screened
    /// text stays the same when it is screened again.
    fn all_matches(&self, text: &str) -> Vec<SecretMatch> {
        let mut matches = find_secrets(text);
        for _ in 1..MAX_SCREENING_ROUNDS {
            if matches.is_empty() {
                break;
            }
            // The text with placeholders, and for each one its range there and the end of its secret in `text`.
            let (mut masked, mut masks, mut offset) = (String::with_capacity(text.len()), Vec::new(), 0);
            for hit in &matches {
                masked.push_str(text.get(offset..hit.range.start).unwrap_or_default());
                let secret = text.get(hit.range.clone()).unwrap_or_default();
                let start = masked.len();
                masked.push_str(self.key.placeholder(hit.label, secret).as_str());
                masks.push((start..masked.len(), hit.range.end));
                offset = hit.range.end;
            }
            masked.push_str(text.get(offset..).unwrap_or_default());
            let uncovered: Vec<SecretMatch> = find_secrets(&masked)
                .into_iter()
                .filter_map(|mut hit| {
                    let mask_index = masks.partition_point(|(mask, _)| mask.end <= hit.range.start);
                    if masks.get(mask_index).is_some_and(|(mask, _)| mask.start < hit.range.end) {
                        return None;
                    }
                    let (masked_end, end) = match mask_index.checked_sub(1).and_then(|last| masks.get(last)) {
                        Some((mask, end)) => (mask.end, *end),
                        None => (0, 0),
                    };
                    let to_original = |masked_offset: usize| masked_offset - masked_end + end;
                    hit.range = to_original(hit.range.start)..to_original(hit.range.end);
                    Some(hit)
                })
                .collect();
            if uncovered.is_empty() {
                break;
            }
            matches.extend(uncovered);
            matches.sort_by_key(|hit| hit.range.start);
        }
        matches
    }

    /// Remembers the addresses in which secrets were found. `text` has placeholders, like the text in which the secrets
    /// are restored.
    fn remember_addresses(&self, text: &str, replacements: &[Replacement]) {
        let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut tracker, mut read_until) = (AddressTracker::default(), 0);
        let mut offset = 0_isize;
        for Replacement { range, found } in replacements {
            let length = found.placeholder.as_str().len();
            let start = range.start.saturating_add_signed(offset);
            offset += length as isize - range.len() as isize;
            tracker.read(text.get(read_until..start).unwrap_or_default());
            read_until = start + length;
            if let SecretLocation::Address(Some(address)) =
                tracker.secret_location(text.get(read_until..).unwrap_or_default())
                && let Some(secret) = secrets.get_mut(&found.placeholder)
                && secret.addresses.len() < MAX_ADDRESSES
            {
                secret.addresses.insert(address);
            }
            tracker.skip_secret();
        }
    }

    fn remember(&self, placeholder: &Placeholder, rule: &'static str, secret: &str) {
        let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        match secrets.get_mut(placeholder) {
            Some(known) if known.text.as_deref() == Some(secret) => {}
            Some(known) => known.text = None,
            None => {
                if secrets.len() >= MAX_SECRETS {
                    // Secrets still present in files or messages are found again at their next screening.
                    secrets.clear();
                    self.texts.clear();
                }
                let addresses = BTreeSet::new();
                secrets
                    .insert(placeholder.clone(), KnownSecret { rule, text: Some(secret.into()), addresses });
            }
        }
    }
}

fn with_placeholders(text: &str, replacements: &[Replacement]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut offset = 0;
    for Replacement { range, found } in replacements {
        out.push_str(text.get(offset..range.start).unwrap_or_default());
        out.push_str(found.placeholder.as_str());
        offset = range.end;
    }
    out.push_str(text.get(offset..).unwrap_or_default());
    out
}
