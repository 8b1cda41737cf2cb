//! See `tests/safety/untrusted_input/files.rs`.
#![no_main]

#[path = "../../safety/untrusted_input/files.rs"]
mod files;

libfuzzer_sys::fuzz_target!(|input: &[u8]| files::check(input));
