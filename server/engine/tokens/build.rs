//! Writes the vocabularies of the OpenAI encodings, extracted from tiktoken-rs, so that the product contains neither that
//! crate nor its base64 files.

#![expect(clippy::disallowed_methods, reason = "a build script writes files for the compiler")]

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use tiktoken_rs::{CoreBPE, Rank};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    vocabulary("o200k", &tiktoken_rs::o200k_base()?)?;
    vocabulary("cl100k", &tiktoken_rs::cl100k_base()?)
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
