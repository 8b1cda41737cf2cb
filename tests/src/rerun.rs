//! Runs a test again in a separate process, for tests that crash the process or change its global state.

use std::env;
use std::process::Command;

/// Returns a command that runs one test of this binary, given the test's `module_path!()` and function name.
/// The caller sets an environment variable by which the test recognizes that it runs in the separate process.
pub fn rerun(module_path: &str, test: &str) -> Command {
    let module = module_path.split_once("::").map_or("", |(_, module)| module);
    let mut command = Command::new(env::current_exe().unwrap());
    command.arg(format!("{module}::{test}")).args(["--exact", "--nocapture"]);
    command
}
