//! The token count of a text that is being edited. The count is kept in parts, so that an edit recounts only
//! nearby lines. Callers must report every edit.

use std::borrow::Cow;
use std::ops::Range;

use ropey::Rope;

use super::chunks::is_exact;
use super::{Scheme, TokenCounter, Tokenizer, scaled};

/// Minimum size of a part in bytes: a few lines, the least that an edit recounts. The last part may be
/// shorter.
const MIN_BYTES: usize = 256;

/// Token count of a text and of each of its parts. Takes about a thirtieth of the text's memory.
#[derive(Debug, Clone)]
pub struct CountedText {
    tokenizer: Tokenizer,
    parts: Vec<Part>,
    /// Total count before the tokenizer's factor is applied.
    exact: usize,
}

/// A sequence of whole lines whose tokens can be counted independently of the rest of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    bytes: u32,
    tokens: u32,
}

impl CountedText {
    /// Counts a whole text.
    pub fn new(counter: &TokenCounter, tokenizer: Tokenizer, text: &Rope) -> Self {
        let parts = match tokenizer.scheme() {
            Some(scheme) => parts(counter, scheme, &Cow::from(text.slice(..))),
            None => Vec::new(),
        };
        let exact = parts.iter().map(|part| part.tokens as usize).sum();
        Self { tokenizer, parts, exact }
    }

    pub fn tokens(&self, text: &Rope) -> usize {
        match self.tokenizer.scheme() {
            Some(_) => scaled(self.tokenizer, self.exact),
            None => text.len_chars().div_ceil(4),
        }
    }

    /// Updates the count after an edit that replaced the byte range `gone` of the old text with `come` bytes.
    /// `text` is the new text. Both ends of `gone` must be character boundaries of the old text.
    pub fn edited(&mut self, counter: &TokenCounter, text: &Rope, gone: Range<usize>, come: usize) {
        let Some(scheme) = self.tokenizer.scheme() else { return };
        let (mut first, mut start) = self.part_at(gone.start);
        // The edit may make the preceding cut inexact, since that depends on the text after the cut.
        while first > 0 && !is_cut(text, start) {
            first -= 1;
            start -= self.parts.get(first).map_or(0, |part| part.bytes as usize);
        }
        // The last affected part contains the byte after the edit, so the newline at its end is unchanged.
        let (last, before) = self.part_at(gone.end);
        let old_end = before + self.parts.get(last).map_or(0, |part| part.bytes as usize);
        let end = (old_end + come).saturating_sub(gone.len()).min(text.len_bytes());
        let fresh = match text.get_byte_slice(start..end) {
            Some(changed) => parts(counter, scheme, &Cow::from(changed)),
            // The ranges do not match the text, so count all of it.
            None => {
                *self = Self::new(counter, self.tokenizer, text);
                return;
            }
        };
        let tokens = |parts: &[Part]| parts.iter().map(|part| part.tokens as usize).sum::<usize>();
        let replaced = first..(last + 1).min(self.parts.len());
        self.exact -= self.parts.get(replaced.clone()).map_or(0, tokens);
        self.exact += tokens(&fresh);
        self.parts.splice(replaced, fresh);
    }

    /// Returns the index and the start of the part that contains byte `at`, or of the last part if `at` is
    /// past the end.
    fn part_at(&self, at: usize) -> (usize, usize) {
        let mut start = 0;
        for (number, part) in self.parts.iter().enumerate() {
            let end = start + part.bytes as usize;
            if at < end || number + 1 == self.parts.len() {
                return (number, start);
            }
            start = end;
        }
        (0, 0)
    }
}

/// Splits a text that begins at an exact cut into parts, and counts each part.
fn parts(counter: &TokenCounter, scheme: Scheme, text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let mut from = MIN_BYTES.min(rest.len());
        let newline = |from: usize| rest.as_bytes().get(from..)?.iter().position(|byte| *byte == b'\n');
        let end = loop {
            match newline(from) {
                Some(found) if is_exact(rest, from + found + 1) => break from + found + 1,
                Some(found) => from += found + 1,
                None => break rest.len(),
            }
        };
        let part = rest.get(..end).unwrap_or(rest);
        let tokens = counter.by_scheme(scheme, part);
        // Larger files are rejected, so the length of a text fits in 32 bits.
        parts.push(Part { bytes: part.len() as u32, tokens: tokens as u32 });
        start += part.len();
    }
    parts
}

/// Whether a part may begin at byte `at`, which must be 0 or follow a newline.
fn is_cut(text: &Rope, at: usize) -> bool {
    /// Maximum number of bytes of white space to examine. After a longer run, the position does not count as a cut,
    /// so more is recounted but the count stays exact.
    const AHEAD: usize = 256;
    let end = (at + AHEAD).min(text.len_bytes());
    let end = text.try_byte_to_char(end).map_or(at, |at| text.char_to_byte(at));
    let Some(ahead) = text.get_byte_slice(at..end) else { return false };
    at == 0 || is_exact(&Cow::from(ahead), 0)
}
