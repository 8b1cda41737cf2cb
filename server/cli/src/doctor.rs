//! `strata doctor`: checks the installation. Exits with code 1 if it finds a problem.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use strata_app::external::ExternalText;
use strata_app::model::live_view::EditorViewState;
use strata_app::runtime::diagnostics::{BuildReport, WorkspaceReport};
use strata_app::runtime::headless::{Settings, Trust};
use strata_app::services::provider_client::ProviderReport;

use crate::arguments::DoctorArguments;
use crate::failure::Failure;
use crate::output::{self, count, pluralize};
use crate::repository;
use strata_app::table::{Align, Table};

#[derive(Serialize)]
struct DoctorReport {
    #[serde(flatten)]
    build: BuildReport,
    repository: Option<RepositoryReport>,
    program: Option<PathBuf>,
    /// The `strata` program in `PATH`, which editors start.
    on_the_path: Option<PathBuf>,
    /// Problems found, as sentences.
    problems: Vec<String>,
}

#[derive(Serialize)]
struct RepositoryReport {
    #[serde(flatten)]
    workspace: WorkspaceReport,
    /// Which texts are shown: those on disk, or unsaved ones of an editor.
    view: EditorViewState,
    /// `trusted` if the repository's settings and rules are used, otherwise `untrusted`.
    trust: &'static str,
    /// Number of stored conversations. `None` if they cannot be read.
    sessions: Option<usize>,
    /// State of the provider for prompts. `None` if no provider is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<ProviderReport>,
    /// Answer of the model that writes summaries. `None` unless a request was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

pub(crate) fn run(arguments: &DoctorArguments) -> Result<ExitCode, Failure> {
    let findings = run_checks(arguments);
    if arguments.json {
        output::print_json(&findings)?;
    } else {
        output::print_report(&findings.render())?;
    }
    Ok(if findings.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run_checks(arguments: &DoctorArguments) -> DoctorReport {
    let build = BuildReport::new(&Settings::default());
    let mut problems = build.problems();
    let repository = match check_repository(arguments, &mut problems) {
        Ok(repository) => Some(repository),
        Err(Failure::Message(message)) => {
            problems.push(message);
            None
        }
        Err(Failure::OutputClosed) => None,
    };
    let program = env::current_exe().ok();
    DoctorReport { build, repository, program, on_the_path: find_on_path(), problems }
}

fn check_repository(
    arguments: &DoctorArguments,
    problems: &mut Vec<String>,
) -> Result<RepositoryReport, Failure> {
    let (mut headless, setting_problems) = repository::open_with_problems(&arguments.repository)?;
    problems.extend(setting_problems);
    repository::index_with_progress(&mut headless)?;
    let workspace = headless.report();
    let sessions = headless.verify_store().map_err(|error| problems.push(format!("the store: {error}"))).ok();
    let answer = match arguments.ask.then(|| headless.test_summary_model()) {
        None => None,
        Some(None) => Some("no model is set for summaries (`compaction.model`)".to_owned()),
        Some(Some(Ok(answer))) => Some(format!("it replies {:?}", output::shorten(&answer, 40))),
        Some(Some(Err(error))) => {
            problems.push(format!("the model that writes summaries: {error}"));
            None
        }
    };
    let provider = if arguments.online { headless.check_provider() } else { headless.provider_report() }.ok();
    if let Some(ProviderReport { problem, unreachable, .. }) = &provider {
        let messages = problem.iter().chain(unreachable).map(|problem| format!("the provider: {problem}"));
        problems.extend(messages);
    }
    let trust = match headless.snapshot().trust {
        Trust::Trusted => "trusted",
        Trust::Untrusted => "untrusted",
    };
    let view = headless.view().clone();
    Ok(RepositoryReport { workspace, view, trust, sessions, provider, answer })
}

/// Returns a line about the state of the provider.
fn provider_row(provider: &ProviderReport) -> String {
    let ProviderReport { name, model, base_url, problem, unreachable, asked } = provider;
    let address = base_url.as_ref().map(|url| format!(" at {url}")).unwrap_or_default();
    let state = match (problem, unreachable, asked) {
        (Some(_), ..) => "not usable",
        (None, Some(_), _) => "no response",
        (None, None, true) => "reachable, and accepts the key",
        (None, None, false) => "configured; --online checks the key",
    };
    format!("{name}{address}, {model}: {state}")
}

/// Returns the program that a shell would start for `strata`.
fn find_on_path() -> Option<PathBuf> {
    let name = format!("strata{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(&name)).find(|path| path.is_file())
}

impl DoctorReport {
    /// Describes which program editors start.
    fn describe_program_for_editors(&self) -> String {
        let same = |path: &Path| {
            let real = |path: &Path| path.canonicalize().ok();
            self.program.as_deref().and_then(real).is_some_and(|program| real(path) == Some(program))
        };
        match &self.on_the_path {
            Some(path) if same(path) => format!("editors start {} (this program)", path.display()),
            Some(path) => format!("editors start {}, which is not this program", path.display()),
            None => "`strata` is not in the PATH: run `cargo install --path server/cli`, or set its location in the editors' settings"
                .to_owned(),
        }
    }

    fn render(&self) -> String {
        let build = &self.build;
        let languages: Vec<String> =
            build.languages.iter().map(|language| format!("{} ({})", language.name, language.abi)).collect();
        let tokenizers: Vec<&str> = build.tokenizers.iter().map(|tokenizer| tokenizer.name).collect();
        let mut table = Table::new([Align::Left, Align::Left]);
        let mut row = |name: &str, value: String| table.add_row([name.to_owned(), value]);
        row("strata", format!("{} on {} {}", build.version, build.platform.os, build.platform.arch));
        row("languages", format!("{} (grammar ABI)", languages.join(", ")));
        row("tokenizers", tokenizers.join(", "));
        row("models", format!("{} known, default {}", build.models.known, build.models.default));
        row("editors", self.describe_program_for_editors());
        if let Some(RepositoryReport { workspace, view, trust, sessions, provider, answer }) =
            &self.repository
        {
            let WorkspaceReport { roots, files, outlined, notes, outline_cache } = workspace;
            row("repository", format!("{}, {trust}", roots.join(", ")));
            row("", format!("{}, {} with an outline", pluralize(*files, "file"), count(*outlined)));
            for note in notes {
                row("", format!("note: {note}"));
            }
            row("view", view.to_string());
            match outline_cache {
                Some(cache) => {
                    let outlines =
                        pluralize(usize::try_from(cache.outlines).unwrap_or(usize::MAX), "outline");
                    row("cache", format!("{}: {outlines}, {} KiB", cache.path, cache.bytes.div_ceil(1024)));
                }
                None => row("cache", "outlines are not cached on disk".to_owned()),
            }
            if let Some(sessions) = sessions {
                row("store", format!("{}, all readable", pluralize(*sessions, "conversation")));
            }
            row(
                "provider",
                provider
                    .as_ref()
                    .map_or_else(|| "none, so nothing is sent (`provider.name`)".to_owned(), provider_row),
            );
            if let Some(answer) = answer {
                row("summaries", answer.clone());
            }
        }
        let mut text = table.render();
        text.push('\n');
        if self.problems.is_empty() {
            text.push_str("everything works\n");
        }
        for problem in &self.problems {
            text.push_str("broken: ");
            text.push_str(&ExternalText::new(problem).line().to_string());
            text.push('\n');
        }
        text
    }
}
