//! See `tests/safety/untrusted_input/messages.rs`.
#![no_main]

#[path = "../../safety/untrusted_input/messages.rs"]
mod messages;

libfuzzer_sys::fuzz_target!(|input: &[u8]| messages::check(input));
