//! See `tests/tests/outside/documents.rs`.
#![no_main]

#[path = "../../tests/outside/documents.rs"]
mod documents;

libfuzzer_sys::fuzz_target!(|input: &[u8]| documents::check(input));
