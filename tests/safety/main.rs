//! Input from strangers: paths that lead out of the workspace, texts that imitate a prompt, and bytes, messages, commands, and files of
//! any kind; through the libraries and through the real binary. `docs/safety.md` says what each of them must never achieve.

mod injection;
mod names;
mod paths;
mod secrets;
mod untrusted_input;
