//! See `tests/tests/outside/commands.rs`.
#![no_main]

#[path = "../../tests/outside/commands.rs"]
mod commands;

libfuzzer_sys::fuzz_target!(|input: &[u8]| commands::check(input));
