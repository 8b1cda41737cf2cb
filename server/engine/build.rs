//! Says which edition of the outlining code this is: a hash of its sources, so that what another edition made of a
//! text is never taken for what this one would make of it.

#![expect(clippy::disallowed_methods, reason = "a build script reads the sources it is built with")]

use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("src/outline");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut sources = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources
                    .push((path.strip_prefix(env::var("CARGO_MANIFEST_DIR")?)?.to_owned(), fs::read(&path)?));
            }
        }
    }
    sources.sort();
    let mut hasher = DefaultHasher::new();
    sources.hash(&mut hasher);
    println!("cargo::rustc-env=STRATA_OUTLINE_SOURCES={:016x}", hasher.finish());
    Ok(())
}
