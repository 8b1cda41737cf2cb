//! See `tests/tests/outside/messages.rs`.
#![no_main]

#[path = "../../tests/outside/messages.rs"]
mod messages;

libfuzzer_sys::fuzz_target!(|input: &[u8]| messages::check(input));
