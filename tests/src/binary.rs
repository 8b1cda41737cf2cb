//! Finds the `strata` binary that the running tests belong to. Because Cargo does not provide a test with the
//! binaries of other packages, builds the binary if it is missing or older than its sources, once per test
//! process.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// Paths in the repository that the binary is built from.
const SOURCES: [&str; 4] = ["Cargo.toml", "Cargo.lock", "grammars", "server"];

/// Returns the path of the binary. `STRATA_BIN` overrides it.
pub fn strata() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| env::var_os("STRATA_BIN").map_or_else(beside_the_tests, PathBuf::from))
}

/// Lets a command keep its state in `state` instead of in the user's directories. The command then reads the user's
/// settings from `config/strata/strata.toml` below this directory.
pub fn separate<'a>(command: &'a mut Command, state: &Path) -> &'a mut Command {
    command
        .env("STRATA_STATE_DIR", state)
        .env("STRATA_CACHE_DIR", state.join("cache"))
        // Windows has a variable of its own.
        .env("XDG_CONFIG_HOME", state.join("config"))
        .env("APPDATA", state.join("config"))
}

/// Returns `target/<profile>/strata`, next to `target/<profile>/deps/<this test>`.
fn beside_the_tests() -> PathBuf {
    let test = env::current_exe().unwrap();
    let folder = test.ancestors().find(|path| path.ends_with("deps")).and_then(Path::parent);
    let folder = folder.expect("tests are in a `deps` directory of the target directory");
    let binary = folder.join(format!("strata{}", env::consts::EXE_SUFFIX));
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let newest = SOURCES.iter().filter_map(|source| newest(&repository.join(source))).max();
    if changed(&binary) < newest {
        build(repository, folder);
    }
    binary
}

fn build(repository: &Path, folder: &Path) {
    let profile = folder.file_name().unwrap();
    let profile = if profile == "debug" { "test".as_ref() } else { profile };
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        // Building it along with the tests of the command line enables the same features as for all tests. A
        // plain `cargo build` would compile the libraries again.
        .args(["test", "--quiet", "--no-run", "--workspace", "--test", "command_line", "--profile"])
        .arg(profile)
        .arg("--target-dir")
        .arg(folder.parent().unwrap())
        .current_dir(repository)
        .status();
    assert!(status.unwrap().success(), "`strata` cannot be built");
}

/// Returns the time of the last change to any file of a tree.
fn newest(path: &Path) -> Option<SystemTime> {
    if !path.is_dir() {
        return changed(path);
    }
    let entries = fs::read_dir(path).ok()?;
    entries.filter_map(|entry| newest(&entry.ok()?.path())).max()
}

fn changed(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}
