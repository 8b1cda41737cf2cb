//! The library that defines the format of tokenizer files. Both the library and the files are third-party, so a panic
//! in the library must not abort a command.

use std::panic::{AssertUnwindSafe, catch_unwind};

pub(super) use tokenizers::Tokenizer;

/// Why this build has no library.
pub(super) const MISSING_LIBRARY_REASON: Option<&str> = None;

pub(super) fn parse(content: Vec<u8>) -> Result<Tokenizer, String> {
    let mut tokenizer = catch_unwind(|| Tokenizer::from_bytes(content))
        .map_err(|_| "reading it panicked".to_owned())?
        .map_err(|error| error.to_string())?;
    // Count the whole text, even if it exceeds the maximum length in the file.
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(|_| "it truncates text".to_owned())?;
    Ok(tokenizer)
}

pub(super) fn count(tokenizer: &Tokenizer, text: &str) -> Option<usize> {
    let encoding = catch_unwind(AssertUnwindSafe(|| tokenizer.encode_fast(text, false)));
    Some(encoding.ok()?.ok()?.len())
}
