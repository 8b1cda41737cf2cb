//! Computes a hash of the sources that outline code, so that outlines stored by another version are never used.

#![expect(clippy::disallowed_methods, reason = "a build script reads the sources it is built with")]

use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let engine = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("..");
    // What is taken for a secret is left out of outlines; `text` cuts what is too long.
    let mut open = ["code/src/outline", "tokens/src/redaction", "base/src/text.rs"]
        .map(|path| engine.join(path))
        .to_vec();
    for path in &open {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let mut sources = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                open.push(entry?.path());
            }
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "toml") {
            sources.push((path.strip_prefix(&engine)?.to_owned(), fs::read(&path)?));
        }
    }
    sources.sort();
    let mut hasher = DefaultHasher::new();
    sources.hash(&mut hasher);
    println!("cargo::rustc-env=STRATA_OUTLINE_SOURCES={:016x}", hasher.finish());
    Ok(())
}
