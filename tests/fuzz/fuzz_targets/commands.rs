//! See `tests/safety/untrusted_input/commands.rs`.
#![no_main]

#[path = "../../safety/untrusted_input/commands.rs"]
mod commands;

libfuzzer_sys::fuzz_target!(|input: &[u8]| commands::check(input));
