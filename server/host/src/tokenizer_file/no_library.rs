//! Takes the place of the library in builds without the feature `tokenizer-files`: no file has a usable tokenizer.

pub(super) const ABSENCE: Option<&str> = Some(PROBLEM);

const PROBLEM: &str = "this build of Strata cannot read tokenizers. Install a package, or build Strata with `--features tokenizer-files`";

#[derive(Debug)]
pub(super) enum Tokenizer {}

pub(super) fn parse(_content: Vec<u8>) -> Result<Tokenizer, String> {
    Err(PROBLEM.to_owned())
}

pub(super) fn count(tokenizer: &Tokenizer, _text: &str) -> Option<usize> {
    match *tokenizer {}
}
