//! Parses texts and open buffers of a snapshot, except those given up earlier, and reuses what the index knows of them.

use std::sync::Arc;

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_code::buffer::{Buffer, ParsedBuffer};
use strata_code::outline::{self, MAX_OUTLINE_BYTES, SyntaxTree, Unparsed, version_hash};
use strata_code::symbols::FileSymbols;
use strata_grammars::LanguageId;
use strata_host::outline_cache::OutlineKey;

use crate::model::parse_attempt::attempt_parse;
use crate::model::snapshot::Snapshot;

impl Snapshot {
    /// Parses a text. The tree says if the text was not parsed.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if `cancel` is raised.
    pub fn parse(&self, language: LanguageId, text: &str, cancel: &Cancel) -> Result<SyntaxTree, Cancelled> {
        let key = OutlineKey::new(ContentHash::from_text(text), version_hash(language));
        if let Some(reason) = self.outlines.outline(key).and_then(|outline| outline.unparsed) {
            return SyntaxTree::empty(language, reason);
        }
        let parse = |cancel: &Cancel| outline::parse(language, text, None, cancel);
        match attempt_parse(&self.outlines, key, cancel, parse)? {
            Ok(tree) => Ok(tree),
            Err(reason) => SyntaxTree::empty(language, reason),
        }
    }

    /// Parses a buffer, starting from its last parse (see [`Buffer::parse`]).
    ///
    /// # Errors
    /// Returns [`Cancelled`] if `cancel` is raised.
    pub fn parse_buffer(
        &self,
        key: &FileKey,
        buffer: &Buffer,
        cancel: &Cancel,
    ) -> Result<Option<ParsedBuffer>, Cancelled> {
        self.parse_unless_too_large(key, buffer, cancel, |cancel| buffer.parse(key, cancel))
    }

    /// Returns the outline of a buffer (see [`Buffer::symbols`]).
    ///
    /// # Errors
    /// Returns [`Cancelled`] if `cancel` is raised.
    pub(crate) fn buffer_symbols(
        &self,
        key: &FileKey,
        buffer: &Buffer,
        cancel: &Cancel,
    ) -> Result<Option<Arc<FileSymbols>>, Cancelled> {
        self.parse_unless_too_large(key, buffer, cancel, |cancel| buffer.symbols(key, cancel))
    }

    /// Returns the syntax tree of a buffer (see [`Buffer::tree`]).
    ///
    /// # Errors
    /// Returns [`Cancelled`] if `cancel` is raised.
    pub fn buffer_tree(
        &self,
        key: &FileKey,
        buffer: &Buffer,
        cancel: &Cancel,
    ) -> Result<Option<SyntaxTree>, Cancelled> {
        self.parse_unless_too_large(key, buffer, cancel, |cancel| buffer.tree(key, cancel))
    }

    /// Calls `parse`, which may run the parser on a buffer. Gives up the buffer instead if its text is given up, or is
    /// larger than files that are parsed.
    fn parse_unless_too_large<T>(
        &self,
        key: &FileKey,
        buffer: &Buffer,
        cancel: &Cancel,
        parse: impl Fn(&Cancel) -> Result<T, Cancelled>,
    ) -> Result<T, Cancelled> {
        let bytes = buffer.document().rope.len_bytes() as u64;
        if buffer.needs_parsing() && bytes > MAX_OUTLINE_BYTES {
            buffer.give_up_parsing(key, Unparsed::TooLarge);
            return parse(cancel);
        }
        let hashes = if buffer.needs_parsing() { buffer.outline_hashes() } else { None };
        if let Some((text, edition)) = hashes {
            let hash = OutlineKey::new(text, edition);
            // The text of a file that was just opened is that of the index.
            let cached = buffer.last_parse().is_none().then(|| self.outlines.outline(hash)).flatten();
            let reason = match cached.and_then(|outline| outline.unparsed) {
                Some(reason) => reason,
                None => match attempt_parse(&self.outlines, hash, cancel, &parse)? {
                    Ok(parsed) => return Ok(parsed),
                    Err(reason) => reason,
                },
            };
            buffer.give_up_parsing(key, reason);
        }
        parse(cancel)
    }
}
