//! The figures of compactions as tables, no line longer than a hundred columns.

use std::fmt::Write as _;

use strata_app::replay::{Compactions, Cuts, Share};

use super::report::ABSENT;
use crate::output::{count, counted};
use crate::table::Table;

/// Everything that is printed.
pub(crate) fn render(compactions: &Compactions) -> String {
    let mut text = String::new();
    let conversations = counted(compactions.conversations.len(), "conversation");
    let cuts = match compactions.cuts {
        Cuts::Everywhere => "behind each of their messages".to_owned(),
        Cuts::AtMost(most) => {
            format!("behind at most {} of each, evenly spread", counted(most, "message"))
        }
    };
    let _ = writeln!(text, "{conversations} cut {cuts}, summaries without a model, {}\n", compactions.model);
    text.push_str(&sizes(compactions));
    text.push_str("\nStill named afterwards, percent: files by name / by full path\n\n");
    text.push_str(&kept(compactions));
    text.push('\n');
    for breach in &compactions.breaches {
        let _ = writeln!(
            text,
            "{} cut behind message {}, {}: {}",
            breach.conversation,
            breach.cut,
            breach.profile.name(),
            breach.problem
        );
    }
    let compacted = compactions.profiles.values().map(|tally| tally.compacted).sum();
    let _ = writeln!(
        text,
        "{} at {}, each checked in the forms of both providers: {} of a rule",
        counted(compacted, "compaction"),
        counted(compactions.cut_count(), "cut"),
        counted(compactions.breach_count(), "violation"),
    );
    text
}

fn sizes(compactions: &Compactions) -> String {
    let mut table = Table::of_figures();
    table.row(
        ["profile", "compacted", "kept all", "as is", "before", "after", "summary", "most", "ms", "slowest"]
            .map(str::to_owned),
    );
    for (family, tally) in &compactions.profiles {
        let mean = |sum: usize| match tally.compacted {
            0 => ABSENT.to_owned(),
            compacted => count(sum / compacted),
        };
        let ms = |nanos: u64| format!("{:.1}", nanos as f64 / 1e6);
        table.row([
            family.name().to_owned(),
            count(tally.compacted),
            count(tally.nothing_old),
            count(tally.not_shorter),
            mean(tally.before),
            mean(tally.after),
            mean(tally.summaries),
            count(tally.heaviest_summary),
            ms(tally.nanos / (tally.compacted as u64).max(1)),
            ms(tally.slowest),
        ]);
    }
    table.render()
}

fn kept(compactions: &Compactions) -> String {
    let mut table = Table::of_figures();
    table.row(
        ["profile", "edited", "both sides", "requests", "errors", "in budget", "violations"]
            .map(str::to_owned),
    );
    for (family, tally) in &compactions.profiles {
        let fidelity = &tally.fidelity;
        let files = |named: Share, full: Share| format!("{} / {}", percent(named), percent(full));
        table.row([
            family.name().to_owned(),
            files(fidelity.edited.named, fidelity.edited.full),
            files(fidelity.both_sides.named, fidelity.both_sides.full),
            percent(fidelity.requests),
            percent(fidelity.errors),
            percent(Share { kept: tally.within_budget, of: tally.compacted }),
            count(tally.violations + tally.parted),
        ]);
    }
    table.render()
}

fn percent(share: Share) -> String {
    share.percent().map_or_else(|| ABSENT.to_owned(), |percent| format!("{percent:.1}"))
}
