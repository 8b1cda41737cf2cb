//! Writes the vocabularies of the OpenAI encodings as tables, from tiktoken-rs, so that the product contains neither that
//! crate nor its base64 files.

#![expect(clippy::disallowed_methods, reason = "a build script writes files for the compiler")]

#[path = "src/counting/table_layout.rs"]
mod table_layout;
#[path = "src/counting/token_table.rs"]
mod token_table;

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use tiktoken_rs::{CoreBPE, Rank};
use token_table::TableBytes;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    for file in ["table_layout", "token_table"] {
        println!("cargo::rerun-if-changed=src/counting/{file}.rs");
    }
    // As many ordinary tokens as in the vocabulary files of `openai/tiktoken`.
    write_table("o200k", 199_998, &tiktoken_rs::o200k_base()?)?;
    write_table("cl100k", 100_256, &tiktoken_rs::cl100k_base()?)
}

/// Writes the table of an encoding's ordinary tokens. Stops at the first unused rank, because only special tokens follow
/// it.
fn write_table(name: &str, size: usize, encoding: &CoreBPE) -> Result<(), Box<dyn Error>> {
    let tokens: Vec<Vec<u8>> = (0..Rank::MAX).map_while(|rank| encoding.decode_bytes(&[rank]).ok()).collect();
    if tokens.len() != size {
        return Err(format!("{name} has {} tokens instead of {size}", tokens.len()).into());
    }
    let TableBytes { tokens, ends, slots, short_ranks } = TableBytes::new(tokens.iter().map(Vec::as_slice));
    let directory = PathBuf::from(env::var("OUT_DIR")?);
    for (part, bytes) in [("tokens", tokens), ("ends", ends), ("slots", slots), ("short_ranks", short_ranks)]
    {
        fs::write(directory.join(format!("{name}.{part}")), bytes)?;
    }
    Ok(())
}
