//! `strata replay`: reports what recorded sessions cost under each layout, and what compactions of them preserve.
//! Prints tables and a chart to standard output.

use std::process::ExitCode;

use strata_app::runtime::headless::{CacheTtl, Settings};
use strata_replay::compaction::Compactions;
use strata_replay::{Material, PolicyName, Replay, SourceError, Sources, TraceOptions, Workload};

use crate::arguments::{PausesArgument, ReplayArguments, WorkloadArgument};
use crate::bar::ProgressDisplay;
use crate::failure::Failure;
use crate::output::{self, pluralize};

pub(crate) fn run(arguments: &ReplayArguments) -> Result<ExitCode, Failure> {
    let workload = chosen_workload(arguments);
    if workload != Workload::Windows && (arguments.explain || arguments.export.is_some()) {
        return Err(Failure::new("`--explain` and `--export` need `--workload windows`".to_owned()));
    }
    let settings = settings(arguments, workload);
    let material = gather_material(arguments, workload)?;
    if let Some(folder) = &arguments.export {
        let written = material.export_git_sessions(folder, &settings)?;
        output::print_message(&format!("{} written to {}", pluralize(written, "trace"), folder.display()));
    }
    if arguments.compaction {
        return report_compactions(&material, arguments, &settings);
    }
    let bar = ProgressDisplay::new("playing", "turns");
    let replay =
        Replay::play(&material, &policies(arguments), &settings, |progress| bar.show_progress(progress));
    drop(bar);
    if arguments.json {
        output::print_json(&replay)?;
    } else {
        output::print_text(&replay.report())?;
        if arguments.explain {
            output::print_text(&format!("\n{}", replay.gap_report()))?;
        }
    }
    if let Some(warning) = &replay.warning {
        output::print_message(&format!("warning: {warning}"));
    }
    let mut code = ExitCode::SUCCESS;
    for (name, problem) in replay.incomplete_replays() {
        output::print_message(&format!("error: {name}: {problem}"));
        code = ExitCode::FAILURE;
    }
    Ok(code)
}

fn report_compactions(
    material: &Material,
    arguments: &ReplayArguments,
    settings: &Settings,
) -> Result<ExitCode, Failure> {
    let cuts = arguments.cuts.map(usize::from);
    let bar = ProgressDisplay::new("compacting", "cuts");
    let compactions = Compactions::measure(material, cuts, settings, |progress| bar.show_progress(progress));
    drop(bar);
    if arguments.json {
        output::print_json(&compactions)?;
    } else {
        output::print_text(&compactions.report())?;
    }
    if let Some(warning) = &compactions.warning {
        output::print_message(&format!("warning: {warning}"));
    }
    Ok(if compactions.violation_count() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn chosen_workload(arguments: &ReplayArguments) -> Workload {
    match arguments.workload {
        Some(WorkloadArgument::People) => Workload::People,
        Some(WorkloadArgument::Windows) => Workload::Windows,
        Some(WorkloadArgument::Varied) => Workload::Varied,
        None if arguments.git.is_empty() || arguments.explain || arguments.export.is_some() => {
            Workload::Windows
        }
        None => Workload::People,
    }
}

fn gather_material(arguments: &ReplayArguments, workload: Workload) -> Result<Material, Failure> {
    // The lengths of people's conversations differ widely.
    let sessions = if workload == Workload::People { 20 } else { 4 };
    let sources = Sources {
        repositories: arguments.git.clone(),
        traces: arguments.trace.clone(),
        transcripts: arguments.transcripts.clone(),
        session_options: TraceOptions {
            sessions: arguments.sessions.map_or(sessions, usize::from),
            turns: usize::from(arguments.turns),
            seed: arguments.seed,
        },
        workload,
        has_peoples_pauses: arguments.pauses == Some(PausesArgument::People),
    };
    let bar = ProgressDisplay::new("reading histories", "turns");
    Ok(Material::gather(&sources, |progress| bar.show_progress(progress))?)
}

fn settings(arguments: &ReplayArguments, workload: Workload) -> Settings {
    let mut settings = Settings::default();
    if let Some(model) = &arguments.model {
        settings.model.clone_from(model);
    }
    settings.cache.history_deltas = !arguments.explicit_deltas;
    settings.context.auto_budget = arguments.auto;
    settings.symbols.map_budget = arguments.map;
    if arguments.pauses.is_none() && workload != Workload::People {
        // The turns are a minute apart, so that a longer lifetime would only cost more.
        settings.cache.ttl = CacheTtl::FiveMinutes;
    }
    settings
}

fn policies(arguments: &ReplayArguments) -> Vec<PolicyName> {
    if arguments.policy.is_empty() {
        return vec![PolicyName::Ripple, PolicyName::Ledger];
    }
    let all = [PolicyName::Ripple, PolicyName::Ledger, PolicyName::Flat];
    all.into_iter().filter(|policy| arguments.policy.contains(policy)).collect()
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::new(error.to_string())
    }
}
