//! Measures the time to find, read and re-check the files of a folder: `cargo run --release -p strata-host --example
//! scan -- DIR`.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_host::disk::{ReadLimits, TextCache};
use strata_host::index::{IndexOptions, index_files};
use strata_host::roots::Roots;
use strata_host::walk::{WalkOptions, walk};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os().nth(1).map_or_else(std::env::current_dir, |path| Ok(path.into()))?;
    let roots = Roots::single(directory.canonicalize()?)?;
    let mut out = std::io::stdout().lock();

    for attempt in ["first", "second"] {
        let start = Instant::now();
        let result = walk(&roots, &WalkOptions::default(), &Cancel::new())?;
        let (files, notes) = (result.entries.len(), result.notes.len());
        writeln!(out, "walk, {attempt}: {files} files, {notes} notes, {:.1?}", start.elapsed())?;
    }

    let result = walk(&roots, &WalkOptions::default(), &Cancel::new())?;
    let keys: Vec<FileKey> =
        result.entries.into_iter().filter(|entry| entry.name_only.is_none()).map(|entry| entry.key).collect();
    let options = IndexOptions::default();
    let (mut bytes, mut skipped) = (0, 0);
    let start = Instant::now();
    index_files(
        &roots,
        &keys,
        options,
        &Cancel::new(),
        |_, text| text.text.len(),
        |batch| {
            for file in batch.files {
                match file.outcome {
                    Ok(read) => bytes += read,
                    Err(_) => skipped += 1,
                }
            }
        },
    )?;
    let threads = options.threads;
    let elapsed = start.elapsed();
    writeln!(
        out,
        "read, {threads} threads: {} files, {skipped} skipped, {bytes} bytes, {elapsed:.1?}",
        keys.len()
    )?;

    let cache = TextCache::new(usize::MAX);
    for attempt in ["fill", "check"] {
        let start = Instant::now();
        let texts = keys.iter().filter(|key| cache.text(&roots, key, ReadLimits::default()).is_ok()).count();
        writeln!(out, "cache, {attempt}: {texts} texts, {:.1?}", start.elapsed())?;
    }
    Ok(())
}
