//! See `tests/safety/untrusted_input/replies.rs`.
#![no_main]

#[path = "../../safety/untrusted_input/replies.rs"]
mod replies;

libfuzzer_sys::fuzz_target!(|input: &[u8]| replies::check(input));
