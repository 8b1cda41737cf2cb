//! See `tests/tests/outside/files.rs`.
#![no_main]

#[path = "../../tests/outside/files.rs"]
mod files;

libfuzzer_sys::fuzz_target!(|input: &[u8]| files::check(input));
