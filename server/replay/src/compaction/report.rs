//! Formats the results of compactions as tables of at most a hundred columns.

use std::fmt::Write as _;

use strata_app::format::{group_digits as count, pluralize};

use super::{Compactions, CutPlaces};
use crate::compaction::fidelity::KeptShare;
use crate::report::{ABSENT, numeric_table};

impl Compactions {
    /// Formats all results as text.
    pub fn report(&self) -> String {
        let mut text = String::new();
        let conversations = pluralize(self.conversations.len(), "conversation");
        let cuts = match self.cuts {
            CutPlaces::Everywhere => "after each of their messages".to_owned(),
            CutPlaces::AtMost(most) => {
                format!("after at most {} of each, evenly spread", pluralize(most, "message"))
            }
        };
        let _ = writeln!(text, "{conversations} cut {cuts}, summaries without a model, {}\n", self.model);
        text.push_str(&size_table(self));
        text.push_str("\nPercentage still mentioned after compaction; files by name / by full path\n\n");
        text.push_str(&fidelity_table(self));
        text.push('\n');
        for breach in &self.breaches {
            let _ = writeln!(
                text,
                "{} cut after message {}, {}: {}",
                breach.conversation,
                breach.cut,
                breach.profile.name(),
                breach.problem
            );
        }
        let compacted = self.profiles.values().map(|stats| stats.compacted).sum();
        let _ = writeln!(
            text,
            "{} at {}, each checked against the rules of both providers: {}",
            pluralize(compacted, "compaction"),
            pluralize(self.cut_count(), "cut"),
            pluralize(self.violation_count(), "violation"),
        );
        text
    }
}

fn size_table(compactions: &Compactions) -> String {
    let mut table = numeric_table();
    table.add_row(
        ["profile", "compacted", "kept all", "as is", "before", "after", "summary", "most", "ms", "slowest"]
            .map(str::to_owned),
    );
    for (builtin, stats) in &compactions.profiles {
        let mean = |sum: usize| match stats.compacted {
            0 => ABSENT.to_owned(),
            compacted => count(sum / compacted),
        };
        let ms = |nanos: u64| format!("{:.1}", nanos as f64 / 1e6);
        table.add_row([
            builtin.name().to_owned(),
            count(stats.compacted),
            count(stats.nothing_old),
            count(stats.not_shorter),
            mean(stats.before),
            mean(stats.after),
            mean(stats.summaries),
            count(stats.heaviest_summary),
            ms(stats.nanos / (stats.compacted as u64).max(1)),
            ms(stats.slowest),
        ]);
    }
    table.render()
}

fn fidelity_table(compactions: &Compactions) -> String {
    let mut table = numeric_table();
    table.add_row(
        ["profile", "edited", "both sides", "requests", "errors", "in budget", "violations"]
            .map(str::to_owned),
    );
    for (builtin, stats) in &compactions.profiles {
        let fidelity = &stats.fidelity;
        let files = |named: KeptShare, full: KeptShare| {
            format!("{} / {}", format_percent(named), format_percent(full))
        };
        table.add_row([
            builtin.name().to_owned(),
            files(fidelity.edited.named, fidelity.edited.full),
            files(fidelity.both_sides.named, fidelity.both_sides.full),
            format_percent(fidelity.requests),
            format_percent(fidelity.errors),
            format_percent(KeptShare { kept: stats.within_budget, of: stats.compacted }),
            count(stats.violations + stats.parted),
        ]);
    }
    table.render()
}

fn format_percent(share: KeptShare) -> String {
    share.percent().map_or_else(|| ABSENT.to_owned(), |percent| format!("{percent:.1}"))
}
