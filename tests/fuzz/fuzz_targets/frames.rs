//! See `tests/tests/outside/frames.rs`.
#![no_main]

#[path = "../../tests/outside/frames.rs"]
mod frames;

libfuzzer_sys::fuzz_target!(|input: &[u8]| frames::check(input));
