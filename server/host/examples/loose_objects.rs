//! Measures what a prompt reads from a repository with many loose objects, with and without trust:
//! `cargo run --release -p strata-host --example loose_objects -- [OBJECTS]` (100,000 by default).

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use strata_base::cancel::Cancel;
use strata_host::git::{branch, facts, status};
use strata_prompt::trust::Trust;

fn main() -> Result<(), Box<dyn Error>> {
    let count = std::env::args().nth(1).map_or(Ok(100_000), |count| count.parse::<u32>())?;
    let folder = tempfile::tempdir()?;
    let git = folder.path().join(".git");
    for part in ["objects/pack", "refs/heads"] {
        fs::create_dir_all(git.join(part))?;
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
    fs::write(git.join("config"), "[core]\n\tbare = false\n")?;
    for fanout in 0..256 {
        fs::create_dir(git.join(format!("objects/{fanout:02x}")))?;
    }
    for object in 0..count {
        fs::write(git.join(format!("objects/{:02x}/{object:038x}", object % 256)), "")?;
    }
    // Until then, the entries of the directories are not remembered.
    thread::sleep(Duration::from_secs(1));
    for trust in [Trust::Trusted, Trust::Untrusted] {
        for time in ["first", "second", "third"] {
            let started = Instant::now();
            facts(folder.path(), trust, &Cancel::new())?;
            let facts_time = started.elapsed();
            branch(folder.path(), trust)?;
            status(folder.path(), [].into_iter(), trust, &Cancel::new())?;
            let all = started.elapsed();
            println!(
                "{count} loose objects, {trust:?}, {time}: {all:.1?}, of which the history {facts_time:.1?}"
            );
        }
    }
    Ok(())
}
