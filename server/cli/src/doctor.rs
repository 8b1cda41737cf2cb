//! `strata doctor`: what works and what does not. The exit code is 1 when something is broken.

use std::process::ExitCode;

use serde::Serialize;
use strata_lsp::checkup::{Checkup, WorkspaceReport};
use strata_lsp::workbench::{Settings, Workbench};

use crate::arguments::{DoctorArguments, RepositoryArguments};
use crate::failure::Failure;
use crate::output::{self, count, counted};
use crate::repository;
use crate::table::{Align, Table};

/// Everything that was looked at.
#[derive(Serialize)]
struct Findings {
    #[serde(flatten)]
    build: Checkup,
    repository: Option<WorkspaceReport>,
    /// What is broken, in sentences.
    problems: Vec<String>,
}

pub(crate) fn run(arguments: &DoctorArguments) -> Result<ExitCode, Failure> {
    let findings = examine(&arguments.repository);
    if arguments.json {
        output::json(&findings)?;
    } else {
        let text = findings.render();
        output::result(|out| out.write_all(output::printable(&text).as_bytes()))?;
    }
    Ok(if findings.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn examine(arguments: &RepositoryArguments) -> Findings {
    let build = Checkup::new(&Settings::default());
    let mut problems = build.problems();
    let repository = match repository_report(arguments) {
        Ok(report) => Some(report),
        Err(Failure::Said(message)) => {
            problems.push(message);
            None
        }
        Err(Failure::NobodyReads) => None,
    };
    Findings { build, repository, problems }
}

fn repository_report(arguments: &RepositoryArguments) -> Result<WorkspaceReport, Failure> {
    let mut workbench: Workbench = repository::open(arguments)?;
    repository::index(&mut workbench)?;
    workbench.finish_writing();
    Ok(WorkspaceReport::new(workbench.snapshot()))
}

impl Findings {
    fn render(&self) -> String {
        let build = &self.build;
        let languages: Vec<String> =
            build.languages.iter().map(|language| format!("{} ({})", language.name, language.abi)).collect();
        let tokenizers: Vec<&str> = build.tokenizers.iter().map(|tokenizer| tokenizer.name).collect();
        let mut table = Table::new([Align::Left, Align::Left]);
        let mut row = |name: &str, what: String| table.row([name.to_owned(), what]);
        row("strata", format!("{} on {} {}", build.version, build.platform.os, build.platform.arch));
        row("languages", format!("{} (grammar ABI)", languages.join(", ")));
        row("tokenizers", tokenizers.join(", "));
        row("models", format!("{} known, {} by default", build.models.known, build.models.default));
        if let Some(WorkspaceReport { roots, files, outlined, notes, outline_cache }) = &self.repository {
            row("repository", roots.join(", "));
            row("", format!("{}, {} with an outline", counted(*files, "file"), count(*outlined)));
            for note in notes {
                row("", format!("note: {note}"));
            }
            match outline_cache {
                Some(cache) => {
                    let held = counted(usize::try_from(cache.outlines).unwrap_or(usize::MAX), "outline");
                    row("cache", format!("{}: {held}, {} KiB", cache.path, cache.bytes.div_ceil(1024)));
                }
                None => row("cache", "outlines are not kept on disk".to_owned()),
            }
        }
        let mut text = table.render();
        text.push('\n');
        if self.problems.is_empty() {
            text.push_str("everything works\n");
        }
        for problem in &self.problems {
            text.push_str("broken: ");
            text.push_str(problem);
            text.push('\n');
        }
        text
    }
}
