//! See `tests/safety/untrusted_input/frames.rs`.
#![no_main]

#[path = "../../safety/untrusted_input/frames.rs"]
mod frames;

libfuzzer_sys::fuzz_target!(|input: &[u8]| frames::check(input));
