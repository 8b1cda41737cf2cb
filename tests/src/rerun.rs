//! A test started again as a process of its own: one that dies, or has something of which a process has only one.

use std::env;
use std::process::Command;

/// Runs one test of this binary, named by the `module_path!()` it stands in and its function. The caller sets a variable by which the
/// test knows that it is the other process.
pub fn rerun(module_path: &str, test: &str) -> Command {
    let module = module_path.split_once("::").map_or("", |(_, module)| module);
    let mut command = Command::new(env::current_exe().unwrap());
    command.arg(format!("{module}::{test}")).args(["--exact", "--nocapture"]);
    command
}
