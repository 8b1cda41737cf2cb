//! Finds the `strata` binary that belongs to the running tests, and has Cargo build it when it is missing or older than
//! its sources: Cargo itself gives a test no binary of another package. Builds once per test process.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// What the binary is made of, seen from the repository.
const SOURCES: [&str; 4] = ["Cargo.toml", "Cargo.lock", "grammars", "server"];

/// The path of the binary. `STRATA_BIN` names another one to test.
pub fn strata() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| env::var_os("STRATA_BIN").map_or_else(beside_the_tests, PathBuf::from))
}

/// `target/<profile>/strata`, next to `target/<profile>/deps/<this test>`.
fn beside_the_tests() -> PathBuf {
    let test = env::current_exe().unwrap();
    let folder = test.ancestors().find(|path| path.ends_with("deps")).and_then(Path::parent);
    let folder = folder.expect("tests lie in a `deps` folder of the target directory");
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
        // Built beside the tests of the command line, so that its libraries have the features that all tests have; `cargo build` for it
        // alone would compile them again.
        .args(["test", "--quiet", "--no-run", "--workspace", "--test", "command_line", "--profile"])
        .arg(profile)
        .arg("--target-dir")
        .arg(folder.parent().unwrap())
        .current_dir(repository)
        .status();
    assert!(status.unwrap().success(), "`strata` cannot be built");
}

/// When the newest file of a tree was changed.
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
