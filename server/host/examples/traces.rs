//! Makes replay sessions from Git histories, and measures the time to read them: `cargo run --release -p strata-host
//! --example traces -- <folder> <repository>...`

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use strata_base::cancel::Cancel;
use strata_host::git::{TraceOptions, extract_traces, facts};
use strata_prompt::trust::Trust;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let folder = arguments.next().ok_or("usage: traces FOLDER REPOSITORY...")?;
    fs::create_dir_all(&folder)?;
    for repository in arguments {
        let cancel = Cancel::new();
        let started = Instant::now();
        let git_facts = facts(&repository, Trust::Trusted, &cancel)?.unwrap_or_default();
        let facts_time = started.elapsed();
        let started = Instant::now();
        let options = TraceOptions { seed: 1, ..TraceOptions::default() };
        let traces = extract_traces(&repository, &options, &cancel, |_, _| {})?;
        println!(
            "{}: recency of {} files in {facts_time:.0?}, {} sessions in {:.0?}",
            repository.display(),
            git_facts.recency.len(),
            traces.len(),
            started.elapsed(),
        );
        for trace in traces {
            let ext: usize = trace.turns.iter().map(|turn| turn.ext.len()).sum();
            println!(
                "  {} ({}): {} files, {} turns, {ext} external changes",
                trace.name,
                trace.sel,
                trace.files0.len(),
                trace.turns.len()
            );
            fs::write(folder.join(format!("{}.json", trace.name)), serde_json::to_vec(&trace)?)?;
        }
    }
    Ok(())
}
