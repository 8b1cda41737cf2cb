//! Generates two inputs of the engine: a hash of the sources that outline code, so that outlines stored by another version
//! are never used, and the vocabularies of the OpenAI encodings, extracted from tiktoken-rs, so that the product contains
//! neither that crate nor its base64 files.

#![expect(clippy::disallowed_methods, reason = "a build script reads the sources it is built with")]

use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::{env, fs};

use tiktoken_rs::{CoreBPE, Rank};

fn main() -> Result<(), Box<dyn Error>> {
    edition()?;
    vocabulary("o200k", &tiktoken_rs::o200k_base()?)?;
    vocabulary("cl100k", &tiktoken_rs::cl100k_base()?)
}

fn edition() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    // What is taken for a secret is left out of outlines; `text` cuts what is too long.
    let mut open =
        ["src/code/outline", "src/tokens/redaction", "src/text.rs"].map(|path| root.join(path)).to_vec();
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
            sources.push((path.strip_prefix(&root)?.to_owned(), fs::read(&path)?));
        }
    }
    sources.sort();
    let mut hasher = DefaultHasher::new();
    sources.hash(&mut hasher);
    println!("cargo::rustc-env=STRATA_OUTLINE_SOURCES={:016x}", hasher.finish());
    Ok(())
}

/// Writes the ordinary tokens of an encoding to the file `name`, in order of rank, each preceded by its length in
/// one byte. Stops at the first unused rank, because only special tokens follow it.
fn vocabulary(name: &str, encoding: &CoreBPE) -> Result<(), Box<dyn Error>> {
    let mut tokens = Vec::new();
    for token in (0..Rank::MAX).map_while(|rank| encoding.decode_bytes(&[rank]).ok()) {
        tokens.push(u8::try_from(token.len())?);
        tokens.extend(token);
    }
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join(name), tokens)?;
    Ok(())
}
