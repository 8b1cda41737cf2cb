//! Takes the place of the library in builds without the feature `tokenizer-files`: no file has a usable tokenizer.

pub(super) const MISSING_LIBRARY_REASON: Option<&str> = Some(MISSING_LIBRARY_MESSAGE);

const MISSING_LIBRARY_MESSAGE: &str = "this build of Strata cannot read tokenizers. Install a package, or build Strata with `--features tokenizer-files`";

#[derive(Debug)]
pub(super) enum Tokenizer {}

pub(super) fn parse(_content: Vec<u8>) -> Result<Tokenizer, String> {
    Err(MISSING_LIBRARY_MESSAGE.to_owned())
}

pub(super) fn count(tokenizer: &Tokenizer, _text: &str) -> Option<usize> {
    match *tokenizer {}
}
