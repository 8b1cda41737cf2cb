//! Lays out the vocabularies of the OpenAI encodings as tables, which become a part of the binary.

#![expect(clippy::disallowed_methods, reason = "a build script reads and writes files for the compiler")]

#[path = "src/counting/table_layout.rs"]
mod table_layout;
#[path = "src/counting/token_table.rs"]
mod token_table;

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use token_table::TableBytes;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=vocabularies");
    for file in ["table_layout", "token_table"] {
        println!("cargo::rerun-if-changed=src/counting/{file}.rs");
    }
    write_table("o200k")?;
    write_table("cl100k")
}

/// Writes the table of an encoding's ordinary tokens.
fn write_table(name: &str) -> Result<(), Box<dyn Error>> {
    let vocabulary = fs::read(format!("vocabularies/{name}.tokens"))?;
    let mut tokens = Vec::new();
    let mut rest = vocabulary.as_slice();
    while let Some((length, after)) = rest.split_first() {
        let (token, after) = after.split_at_checked(usize::from(*length)).ok_or("a vocabulary is cut off")?;
        tokens.push(token);
        rest = after;
    }
    let TableBytes { tokens, ends, slots, short_ranks } = TableBytes::new(tokens.into_iter());
    let directory = PathBuf::from(env::var("OUT_DIR")?);
    for (part, bytes) in [("tokens", tokens), ("ends", ends), ("slots", slots), ("short_ranks", short_ranks)]
    {
        fs::write(directory.join(format!("{name}.{part}")), bytes)?;
    }
    Ok(())
}
