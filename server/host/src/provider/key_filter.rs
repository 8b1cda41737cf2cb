//! Removes the provider's key from everything that is decoded from its replies. Some gateways repeat the key that they
//! reject, or the headers of a request. Knows nothing about formats of replies: the decoder has already joined their
//! fragments and resolved their escapes.

use std::mem;
use std::sync::Arc;

use serde_json::{Map, Value};
use strata_conversation::history::ContentBlock;
use strata_conversation::providers::reply::{ProviderError, Reply, ReplyEnd, ReplyEvent};

/// Minimum length in bytes of a key that is removed, and of the beginning of a key that is removed from the end of a
/// text. A shorter one also occurs in ordinary text.
const MIN_KEY_LENGTH: usize = 8;

/// Maximum number of backslashes before an escaped character, for JSON inside strings of JSON.
const MAX_BACKSLASHES: usize = 8;

/// Words that make up the keys which documentation of local servers suggests where no key is needed, such as
/// `sk-no-key-required` (llama.cpp) and `lm-studio`. Such a key is no secret, and occurs in ordinary text.
const DUMMY_WORDS: [&str; 32] = [
    "any",
    "anything",
    "api",
    "apikey",
    "cpp",
    "dummy",
    "empty",
    "fake",
    "here",
    "ignored",
    "is",
    "key",
    "llama",
    "lm",
    "local",
    "my",
    "needed",
    "no",
    "none",
    "not",
    "null",
    "ollama",
    "placeholder",
    "required",
    "sk",
    "studio",
    "test",
    "testing",
    "token",
    "unused",
    "vllm",
    "your",
];

/// Replacement of a key in a text.
const TEXT_REPLACEMENT: &str = "[key]";

/// Replacement of a key in the id of a call or the name of a tool, in which providers reject brackets.
const IDENTIFIER_REPLACEMENT: &str = "key";

/// Standard and URL-safe alphabets of base64 (RFC 4648).
const BASE64_ALPHABETS: [&[u8; 64]; 2] = [
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
];

/// Recognizes a key in text: literally or in base64, with any of its characters escaped as in JSON or percent-encoded.
/// The default recognizes nothing.
#[derive(Clone, Default)]
pub(crate) struct KeyRedactor {
    /// The key, and the part of its base64 that does not depend on the text around it, at each alignment.
    forms: Arc<[Vec<u8>]>,
}

/// Whether a text starts with a form of the key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyMatch {
    No,
    /// The whole text is the beginning of the form, with so many of its bytes.
    Partial(usize),
    /// The first bytes of the text are the form.
    Full(usize),
}

/// Removes the key from a text that arrives in pieces. Holds back only what may be the beginning of the key.
pub(super) struct StreamRedactor {
    filter: KeyRedactor,
    held_back: String,
}

/// Removes the key from the events of a streamed reply.
pub(super) struct EventRedactor {
    filter: KeyRedactor,
    text: StreamRedactor,
    thinking: StreamRedactor,
}

/// A decoded part of a provider's reply. Its strings may contain the API key, because some gateways repeat the key that
/// they reject.
pub(crate) trait RedactKey {
    /// Removes the key from all strings.
    #[must_use]
    fn without_key(self, filter: &KeyRedactor) -> Self;
}

impl KeyRedactor {
    /// Creates a filter for a key. Recognizes nothing if the key is shorter than eight bytes, or consists of words that
    /// stand for having no key.
    pub(super) fn new(key: &str) -> Self {
        if key.len() < MIN_KEY_LENGTH || is_dummy(key) {
            return Self::default();
        }
        let mut forms = vec![key.as_bytes().to_vec()];
        for alphabet in BASE64_ALPHABETS {
            forms.extend((0..3).map(|offset| offset_independent_base64(key.as_bytes(), offset, alphabet)));
        }
        forms.sort_unstable();
        forms.dedup();
        Self { forms: forms.into() }
    }

    /// Removes the key from a complete text, including the beginning of a key at the end of a truncated text.
    pub(super) fn redact_text(&self, text: &str) -> String {
        self.replace_key(text, TEXT_REPLACEMENT)
    }

    fn redact_identifier(&self, text: &str) -> String {
        self.replace_key(text, IDENTIFIER_REPLACEMENT)
    }

    /// Removes the key from all strings of a value, including the names of fields.
    fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.redact_text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.redact_value(value)),
            Value::Object(fields) => {
                fields.values_mut().for_each(|value| self.redact_value(value));
                if !fields.keys().all(|name| self.has_no_key(name)) {
                    let renamed: Map<String, Value> = mem::take(fields)
                        .into_iter()
                        .map(|(name, value)| (self.redact_text(&name), value))
                        .collect();
                    *fields = renamed;
                }
            }
            // A key of digits can also be a number.
            Value::Number(number) if !self.has_no_key(&number.to_string()) => {
                *value = TEXT_REPLACEMENT.into();
            }
            Value::Number(_) | Value::Null | Value::Bool(_) => {}
        }
    }

    fn has_no_key(&self, text: &str) -> bool {
        self.redact_text(text) == text
    }

    fn stream_redactor(&self) -> StreamRedactor {
        StreamRedactor { filter: self.clone(), held_back: String::new() }
    }

    /// Removes the key from the content of a reply. A key that is split over several blocks of text is removed too,
    /// since they are shown next to each other.
    fn redact_content(&self, content: Vec<ContentBlock>) -> Vec<ContentBlock> {
        let thinking: String = content.iter().filter_map(thinking_text).collect();
        let keeps_thinking = self.has_no_key(&thinking);
        let mut text = self.stream_redactor();
        let mut filtered: Vec<ContentBlock> = Vec::new();
        for block in content {
            match block {
                ContentBlock::Text { text: original } => {
                    filtered.push(ContentBlock::Text { text: text.push(&original) });
                }
                // Providers accept reasoning only unchanged.
                ContentBlock::Thinking { signature, .. }
                    if !keeps_thinking || !self.has_no_key(signature.as_deref().unwrap_or_default()) => {}
                ContentBlock::RedactedThinking { data } if !self.has_no_key(&data) => {}
                ContentBlock::ToolCall { id, name, mut input } => {
                    self.redact_value(&mut input);
                    let (id, name) = (self.redact_identifier(&id), self.redact_identifier(&name));
                    filtered.push(ContentBlock::ToolCall { id, name, input });
                }
                other => filtered.extend(self.redact_block(other)),
            }
        }
        let tail = text.finish();
        if let Some(last) = filtered.iter_mut().rev().find_map(|block| match block {
            ContentBlock::Text { text } => Some(text),
            _ => None,
        }) {
            last.push_str(&tail);
        }
        filtered.retain(|block| !matches!(block, ContentBlock::Text { text } if text.is_empty()));
        filtered
    }

    /// Removes the key from a block of any kind. Drops a block that is invalid without it.
    fn redact_block(&self, block: ContentBlock) -> Option<ContentBlock> {
        let mut value = serde_json::to_value(&block).ok()?;
        let before = value.clone();
        self.redact_value(&mut value);
        if value == before { Some(block) } else { serde_json::from_value(value).ok() }
    }

    fn replace_key(&self, text: &str, replacement: &str) -> String {
        // Errors that quote a truncated text end with an ellipsis.
        let end = text.trim_end_matches('…').len();
        let (body, tail) = text.split_at(end);
        let (mut out, _) = self.redact_prefix(body, replacement, true);
        out.push_str(tail);
        out
    }

    /// Returns the text without the key, and how many bytes of `text` it covers. The others may be the beginning of a
    /// key, unless the text is complete.
    fn redact_prefix(&self, text: &str, replacement: &str, is_complete: bool) -> (String, usize) {
        let bytes = text.as_bytes();
        let (mut out, mut copied, mut position) = (String::with_capacity(text.len()), 0, 0);
        while position < bytes.len() {
            let length = match self.match_any_form(bytes.get(position..).unwrap_or_default()) {
                KeyMatch::Full(length) => length,
                KeyMatch::Partial(matched) if is_complete && matched >= MIN_KEY_LENGTH => {
                    bytes.len() - position
                }
                KeyMatch::Partial(_) if !is_complete => break,
                KeyMatch::Partial(_) | KeyMatch::No => {
                    position += 1;
                    continue;
                }
            };
            out.push_str(text.get(copied..position).unwrap_or_default());
            out.push_str(replacement);
            position += length;
            copied = position;
        }
        out.push_str(text.get(copied..position).unwrap_or_default());
        (out, position)
    }

    /// Compares the beginning of a text with all forms.
    fn match_any_form(&self, text: &[u8]) -> KeyMatch {
        let mut best = KeyMatch::No;
        for form in &*self.forms {
            best = match (best, match_form(form, text)) {
                (full @ KeyMatch::Full(_), _) | (_, full @ KeyMatch::Full(_)) => full,
                (KeyMatch::Partial(first), KeyMatch::Partial(second)) => KeyMatch::Partial(first.max(second)),
                (KeyMatch::No, second) => second,
                (partial, KeyMatch::No) => partial,
            };
        }
        best
    }
}

impl StreamRedactor {
    /// Appends a piece, and returns what certainly is not part of the key.
    fn push(&mut self, text: &str) -> String {
        self.held_back.push_str(text);
        let (out, end) = self.filter.redact_prefix(&self.held_back, TEXT_REPLACEMENT, false);
        self.held_back.drain(..end);
        out
    }

    /// Returns the rest at the end of the stream.
    fn finish(&mut self) -> String {
        let (out, _) = self.filter.redact_prefix(&self.held_back, TEXT_REPLACEMENT, true);
        self.held_back.clear();
        out
    }
}

impl EventRedactor {
    pub(super) fn new(filter: &KeyRedactor) -> Self {
        Self { filter: filter.clone(), text: filter.stream_redactor(), thinking: filter.stream_redactor() }
    }

    /// Removes the key from an event. Returns `None` if all of its text is held back.
    pub(super) fn push(&mut self, event: ReplyEvent) -> Option<ReplyEvent> {
        match event {
            ReplyEvent::Text(text) => text_event(self.text.push(&text), ReplyEvent::Text),
            ReplyEvent::Thinking(text) => text_event(self.thinking.push(&text), ReplyEvent::Thinking),
            ReplyEvent::ToolCall { id, name, mut input } => {
                self.filter.redact_value(&mut input);
                let (id, name) = (self.filter.redact_identifier(&id), self.filter.redact_identifier(&name));
                Some(ReplyEvent::ToolCall { id, name, input })
            }
        }
    }

    /// Returns what was held back at the end of the reply.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = ReplyEvent> {
        let thinking = text_event(self.thinking.finish(), ReplyEvent::Thinking);
        thinking.into_iter().chain(text_event(self.text.finish(), ReplyEvent::Text))
    }
}

/// Whether a key is a placeholder for servers that need none.
fn is_dummy(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    lower
        .split(['-', '_', ' ', '.'])
        .all(|word| DUMMY_WORDS.contains(&word) || word.bytes().all(|byte| byte == b'x'))
}

fn text_event(text: String, event: fn(String) -> ReplyEvent) -> Option<ReplyEvent> {
    (!text.is_empty()).then(|| event(text))
}

fn thinking_text(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Thinking { text, .. } => Some(text),
        _ => None,
    }
}

impl RedactKey for Reply {
    fn without_key(self, filter: &KeyRedactor) -> Self {
        let end = match self.end {
            ReplyEnd::Failed(error) => ReplyEnd::Failed(error.without_key(filter)),
            end => end,
        };
        Self { content: filter.redact_content(self.content), usage: self.usage, end }
    }
}

impl RedactKey for ProviderError {
    fn without_key(self, filter: &KeyRedactor) -> Self {
        Self { message: filter.redact_text(&self.message), ..self }
    }
}

impl RedactKey for Value {
    fn without_key(mut self, filter: &KeyRedactor) -> Self {
        filter.redact_value(&mut self);
        self
    }
}

impl RedactKey for () {
    fn without_key(self, _: &KeyRedactor) -> Self {}
}

/// Compares the beginning of `text` with a form.
fn match_form(form: &[u8], text: &[u8]) -> KeyMatch {
    match (form.first(), text.first()) {
        (Some(first), Some(byte)) if byte == first || matches!(byte, b'\\' | b'%') => {}
        (_, None) => return KeyMatch::Partial(0),
        _ => return KeyMatch::No,
    }
    // Only a backslash or a percent sign in the key can be read in several ways.
    let mut ends = vec![0];
    let mut partial = None;
    for (matched, byte) in form.iter().enumerate() {
        let mut next = Vec::with_capacity(1);
        for end in ends {
            let remaining = text.get(end..).unwrap_or_default();
            if match_byte_encodings(*byte, remaining, |length| next.push(end + length)) {
                partial = Some(matched);
            }
        }
        next.sort_unstable();
        next.dedup();
        if next.is_empty() {
            return partial.map_or(KeyMatch::No, KeyMatch::Partial);
        }
        ends = next;
    }
    ends.last().map_or(KeyMatch::No, |end| KeyMatch::Full(*end))
}

/// Calls `on_match` with the length of each encoding of `byte` at the beginning of `text`. Returns whether the whole text
/// may be the beginning of a longer encoding.
fn match_byte_encodings(byte: u8, text: &[u8], mut on_match: impl FnMut(usize)) -> bool {
    let Some(first) = text.first() else { return true };
    if *first == byte {
        on_match(1);
    }
    match first {
        b'\\' => {
            let slashes = text.iter().take(MAX_BACKSLASHES).take_while(|byte| **byte == b'\\').count();
            if byte == b'\\' {
                (2..=slashes).for_each(&mut on_match);
            }
            let escaped = text.get(slashes..).unwrap_or_default();
            match escaped.first() {
                None => return true,
                Some(next) if *next == byte && !byte.is_ascii_alphanumeric() => on_match(slashes + 1),
                Some(_) => {}
            }
            match_escape(escaped, *b"u00", byte, slashes, on_match)
        }
        b'%' => match_escape(text, *b"%", byte, 0, on_match),
        _ => false,
    }
}

/// Reads an escape: a prefix followed by the two hexadecimal digits of `byte`.
fn match_escape<const N: usize>(
    text: &[u8],
    prefix: [u8; N],
    byte: u8,
    prefix_length: usize,
    mut on_match: impl FnMut(usize),
) -> bool {
    let digits = [byte >> 4, byte & 15].map(|digit| b"0123456789abcdef".get(usize::from(digit)).copied());
    let expected = prefix.into_iter().map(Some).chain(digits).flatten();
    let mut length = 0;
    for expected in expected {
        match text.get(length) {
            None => return true,
            Some(actual) if actual.to_ascii_lowercase() == expected => length += 1,
            Some(_) => return false,
        }
    }
    on_match(prefix_length + length);
    false
}

/// Returns the base64 of `key` after `offset` other bytes, without the characters that also encode their neighbours.
fn offset_independent_base64(key: &[u8], offset: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    let bit = |position: usize| key.get(position / 8).is_some_and(|byte| byte >> (7 - position % 8) & 1 == 1);
    let (first, end) = ((offset * 8).div_ceil(6), (offset + key.len()) * 8 / 6);
    let value = |character: usize| {
        (0..6).fold(0, |value, position| value << 1 | usize::from(bit(character * 6 + position - offset * 8)))
    };
    (first..end).filter_map(|character| alphabet.get(value(character)).copied()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use strata_conversation::providers::reply::ProviderErrorKind;

    use super::*;

    const KEY: &str = "sk-0123/456789";

    fn filter() -> KeyRedactor {
        KeyRedactor::new(KEY)
    }

    #[test]
    fn a_key_is_removed_in_every_form() {
        for (text, expected) in [
            ("no sk-0123/456789 here, sk-0123/456789", "no [key] here, [key]"),
            (r"a \u0073k-0123\/456789.", "a [key]."),
            (r"a \u0073\u006b\u002D0123\\/456789.", "a [key]."),
            ("?key=sk-0123%2F456789&x", "?key=[key]&x"),
            ("?key=%73k-0123%2f456789&x", "?key=[key]&x"),
            // The base64 of the key, `a:KEY`, `me:KEY` and `:KEY`.
            ("c2stMDEyMy80NTY3ODk=", "[key]k="),
            ("Basic YTpzay0wMTIzLzQ1Njc4OQ==", "Basic YTp[key]Q=="),
            ("Basic bWU6c2stMDEyMy80NTY3ODk=", "Basic bWU6[key]k="),
            ("Basic OnNrLTAxMjMvNDU2Nzg5", "Basic On[key]"),
            // The beginning of a key at the end of a truncated text.
            ("not sk-01234…", "not sk-01234…"),
            ("not sk-0123/4…", "not [key]…"),
            (r"not sk-0123/4\u00…", "not [key]…"),
            ("a task-", "a task-"),
            ("é…", "é…"),
        ] {
            assert_eq!(filter().redact_text(text), expected, "{text}");
        }
    }

    #[test]
    fn a_short_key_is_not_removed() {
        for key in ["1", "a key", "1234567"] {
            let text = format!("next-x1 {key}");
            assert_eq!(KeyRedactor::new(key).redact_text(&text), text);
        }
        assert_eq!(KeyRedactor::new("12345678").redact_text("a 12345678"), "a [key]");
    }

    #[test]
    fn a_dummy_key_is_not_removed() {
        for (key, is_removed) in [
            ("sk-no-key-required", false),
            ("not-needed", false),
            ("lm-studio", false),
            ("dummy-key", false),
            ("YOUR_API_KEY", false),
            ("sk-xxxxxxxx", false),
            ("not-needed-7", true),
            ("sk-1234-test", true),
            ("correct-horse", true),
        ] {
            let text = format!("the model {key} is not loaded");
            assert_eq!(KeyRedactor::new(key).redact_text(&text) != text, is_removed, "{key}");
        }
    }

    #[test]
    fn only_text_that_may_be_the_key_is_held_back() {
        let mut stream = filter().stream_redactor();
        let mut shown = |piece: &str| stream.push(piece);
        assert_eq!(shown("The task"), "The ta");
        assert_eq!(shown(" for"), "sk for");
        assert_eq!(shown(" sk-0123"), " ");
        assert_eq!(shown("4"), "sk-01234");
        assert_eq!(shown("sk-0123/45678"), "");
        assert_eq!(shown("9!"), "[key]!");
        assert_eq!(shown("sk-"), "");
        assert_eq!(stream.finish(), "sk-");
    }

    #[test]
    fn the_key_is_removed_from_every_string_of_a_reply() {
        let half = KEY.split_at(5);
        let call = ContentBlock::ToolCall {
            id: format!("call-{KEY}"),
            name: KEY.to_owned(),
            input: json!({ KEY: [KEY, { "a": format!("x{KEY}") }], "n": 5 }),
        };
        let foreign = serde_json::from_value(json!({
            "type": "foreign", "provider": "gemini", "value": { "type": KEY, "deep": [KEY] },
        }));
        let content = vec![
            ContentBlock::Thinking { text: format!("so {KEY}"), signature: Some("c2ln".to_owned()) },
            ContentBlock::RedactedThinking { data: KEY.to_owned() },
            ContentBlock::text(format!("It is {}", half.0)),
            call,
            ContentBlock::text(format!("{} indeed", half.1)),
            foreign.unwrap(),
            ContentBlock::text("sk-0"),
        ];
        let error = ProviderError::new(ProviderErrorKind::Refused, &format!("not {KEY}"));
        let reply = Reply { content, usage: None, end: ReplyEnd::Failed(error) }.without_key(&filter());
        let ReplyEnd::Failed(error) = &reply.end else { panic!("{:?}", reply.end) };
        assert_eq!(error.message, "not [key]");
        assert_eq!(reply.text(), "It is [key] indeedsk-0");
        let ContentBlock::ToolCall { id, name, input } = &reply.content[1] else { panic!("{reply:?}") };
        assert_eq!((&**id, &**name), ("call-key", "key"));
        assert_eq!(*input, json!({ "[key]": ["[key]", { "a": "x[key]" }], "n": 5 }));
        let written = serde_json::to_string(&reply.content).unwrap();
        assert!(written.contains("foreign") && !written.contains("sk-0123"), "{written}");
        assert!(!written.contains("thinking"), "{written}");
    }

    /// A character as it is, or in one of its encodings.
    fn encoded(byte: u8, encoding: u8) -> String {
        match encoding {
            0 => format!("\\u{byte:04x}"),
            1 => format!("\\u{byte:04X}"),
            2 => format!("%{byte:02x}"),
            3 => format!("\\\\u{byte:04x}"),
            4 if !byte.is_ascii_alphanumeric() => format!("\\{}", char::from(byte)),
            _ => char::from(byte).to_string(),
        }
    }

    proptest! {
        /// However a key is encoded and split, no piece and no concatenation of pieces contains it, and the other text
        /// arrives unchanged.
        #[test]
        fn an_encoded_key_in_pieces_is_always_removed(
            key in r"[!-$&-\[\]-~]{8,40}",
            before in "[a-z é\\\\%]{0,12}",
            after in "[ a-z]{0,12}",
            encoding in prop::collection::vec(0_u8..12, 40),
            cuts in prop::collection::vec(1_usize..9, 1..20),
        ) {
            let encoded_key: String = key.bytes().zip(&encoding).map(|(byte, encoding)| encoded(byte, *encoding)).collect();
            let text = format!("{before}. {encoded_key} .{after}");
            let filter = KeyRedactor::new(&key);
            let mut stream = filter.stream_redactor();
            let mut pieces = Vec::new();
            let characters: Vec<char> = text.chars().collect();
            let (mut position, mut cuts) = (0, cuts.iter().cycle());
            while position < characters.len() {
                let end = (position + cuts.next().unwrap()).min(characters.len());
                pieces.push(stream.push(&characters[position..end].iter().collect::<String>()));
                position = end;
            }
            pieces.push(stream.finish());
            let shown = pieces.concat();
            prop_assert_eq!(&shown, &filter.redact_text(&text));
            prop_assert!(shown.contains("[key]"), "{} {}", text, shown);
            prop_assert!(!shown.contains(&key) && !shown.contains(&encoded_key), "{} {}", text, shown);
        }

        /// Text without the key arrives unchanged, and nearly all of it at once.
        #[test]
        fn text_without_the_key_is_unchanged(text in "[ a-zA-Z0-9.\\\\%/é-]{0,200}", position in 0_usize..200) {
            let filter = KeyRedactor::new("Zq9-Zq9-Zq9-Zq9");
            prop_assert_eq!(filter.redact_text(&text), text.clone());
            let position = text.char_indices().map(|(position, _)| position).nth(position).unwrap_or(text.len());
            let mut stream = filter.stream_redactor();
            let shown = stream.push(&text[..position]);
            prop_assert!(text[..position].starts_with(&shown));
            prop_assert_eq!(shown + &stream.push(&text[position..]) + &stream.finish(), text);
        }
    }
}
