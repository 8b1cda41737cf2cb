//! See `tests/safety/untrusted_input/documents.rs`.
#![no_main]

#[path = "../../safety/untrusted_input/documents.rs"]
mod documents;

libfuzzer_sys::fuzz_target!(|input: &[u8]| documents::check(input));
