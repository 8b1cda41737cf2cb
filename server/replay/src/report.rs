//! Formats the results of a replay as tables and a chart. Without long names, lines have at most a hundred columns.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use strata_app::format::{group_digits as count, pluralize};
use strata_app::table::{Align, Table};

use crate::columns::{ColumnStats, LayoutColumn};
use crate::conversation::ConversationStats;
use crate::predictions::{Estimator, PredictionStats};
use crate::replay::Replay;
use crate::session::SessionStats;
use crate::summary::{ColumnMeans, ConversationMeans, ExcerptMeans, SessionMeans};

/// Length of the longest bar in the chart, in characters.
const MAX_BAR_CHARS: f64 = 60.0;
/// Maximum length of a name, in characters. A longer name is cut at its beginning.
const MAX_NAME_CHARS: usize = 28;
/// Shown in place of a missing value.
pub(crate) const ABSENT: &str = "-";

/// Creates a table with names in the first column and numbers in the others.
pub(crate) fn numeric_table<const N: usize>() -> Table<N> {
    Table::new(std::array::from_fn(|column| if column == 0 { Align::Left } else { Align::Right }))
}

impl Replay {
    /// Formats all results as text.
    pub fn report(&self) -> String {
        let mut text = String::new();
        if !self.sessions.is_empty() {
            let _ =
                writeln!(text, "Input cost relative to the same prompts without a cache, {}\n", self.model);
            text.push_str(&session_table(&self.sessions, self.summary.as_ref()));
            if let Some(summary) = &self.summary {
                let of = if summary.is_of_all_turns { "all turns of " } else { "" };
                let _ = writeln!(text, "\nMeans over {of}{}\n", pluralize(summary.sessions, "session"));
                text.push_str(&policy_table(summary));
                if let Some(ExcerptMeans { ratio, most, changes_shown, .. }) = &summary.excerpts {
                    let _ = writeln!(
                        text,
                        "\nWith excerpts, the input of a session costs {ratio:.3} times as much as without, at most {most:.3} \
                         times. If no file is selected, they show {changes_shown:.3} of the locations that answers change"
                    );
                }
                text.push('\n');
                text.push_str(&cost_chart(summary));
            }
            text.push('\n');
        }
        if !self.conversations.is_empty() {
            let _ = writeln!(
                text,
                "Conversations without files, input cost relative to no cache, {}\n",
                self.model
            );
            text.push_str(&conversation_table(&self.conversations, self.conversation_means.as_ref()));
            text.push('\n');
        }
        if let Some(predictions) = &self.predictions {
            text.push_str(&prediction_report(predictions));
            text.push('\n');
        }
        let cut_short = self.cut_short_count();
        if cut_short > 0 {
            let _ = writeln!(
                text,
                "{} omitted something to fit into the window, so the figures are not comparable",
                pluralize(cut_short, "prompt")
            );
        }
        for (name, problem) in self.incomplete_replays() {
            let _ = writeln!(text, "{name} was not replayed to the end: {problem}");
        }
        let (prompts, turns) = (pluralize(self.prompts, "prompt"), pluralize(self.turns, "turn"));
        let promises = match self.incomplete_replays().count() {
            0 => "no promise was broken".to_owned(),
            problems => format!("{} not replayed to the end", pluralize(problems, "session")),
        };
        let _ = writeln!(text, "{prompts} of {turns} checked: {promises}");
        text
    }
}

fn session_table(sessions: &[SessionStats], summary: Option<&SessionMeans>) -> String {
    let (left, right) = (Align::Left, Align::Right);
    let mut table =
        Table::new([left, right, left, right, right, right, right, right, right, right, right, right]);
    table.add_row(
        [
            "session", "turns", "files", "tokens", "none", "auto", "flat", "fixed", "ripple", "ledger",
            "+list", "bound",
        ]
        .map(str::to_owned),
    );
    for session in sessions {
        let cells = cost_cells(&session.columns);
        let [none, auto, flat, fixed, ripple, ledger] = cells;
        let tokens = session.columns.get(&LayoutColumn::None);
        table.add_row([
            truncate_name(&session.name),
            count(session.turns),
            session.selection.clone(),
            tokens.map_or_else(absent_cell, |cell| count(cell.totals.mean_tokens())),
            none,
            auto,
            flat,
            fixed,
            ripple,
            ledger,
            session.everything.as_ref().map_or_else(absent_cell, |with| format_share(with.ledger.share)),
            if session.turns == 0 { absent_cell() } else { format_share(session.bound) },
        ]);
    }
    if let Some(summary) = summary {
        let line = |column| summary.lines.iter().find(|line| line.column == column);
        let [none, auto, flat, fixed, ripple, ledger] = LayoutColumn::ALL
            .map(|column| line(column).map_or_else(absent_cell, |line| format_share(line.cost)));
        table.add_row([
            "mean".to_owned(),
            String::new(),
            String::new(),
            line(LayoutColumn::None).map_or_else(absent_cell, |line| count(line.mean_tokens)),
            none,
            auto,
            flat,
            fixed,
            ripple,
            ledger,
            summary.everything.as_ref().map_or_else(absent_cell, |line| format_share(line.cost)),
            format_share(summary.bound),
        ]);
    }
    table.render()
}

fn policy_table(summary: &SessionMeans) -> String {
    let mut table = numeric_table();
    table.add_row(
        ["layout", "cost", "hits", "tokens", "per turn", "first", "length", "worst", "ms/turn"]
            .map(str::to_owned),
    );
    let mut row = |name: String, line: &ColumnMeans| {
        table.add_row([
            name,
            format_share(line.cost),
            format!("{:.0}%", line.hit_share * 100.0),
            count(line.mean_tokens),
            count(line.cost_a_turn.round() as usize),
            count(line.first.round() as usize),
            format_share(line.length),
            format_share(line.worst),
            line.time.map_or_else(absent_cell, |taken| format!("{:.1}", taken.mean as f64 / 1e6)),
        ]);
    };
    for line in &summary.lines {
        row(line.column.to_string(), line);
    }
    if let Some(line) = &summary.everything {
        row("ledger, file list and session state".to_owned(), line);
    }
    if let Some(excerpts) = &summary.excerpts {
        row("ledger, excerpts".to_owned(), &excerpts.line);
    }
    table.add_row([
        "bound".to_owned(),
        format_share(summary.bound),
        absent_cell(),
        absent_cell(),
        absent_cell(),
        absent_cell(),
        absent_cell(),
        absent_cell(),
        absent_cell(),
    ]);
    table.render()
}

fn cost_chart(summary: &SessionMeans) -> String {
    let lines = summary.lines.iter().map(|line| (line.column.to_string(), line.cost));
    let bars: Vec<(String, f64)> = lines.chain([("bound".to_owned(), summary.bound)]).collect();
    let longest = bars.iter().map(|(_, cost)| *cost).fold(f64::MIN_POSITIVE, f64::max);
    let mut table = Table::new([Align::Left, Align::Left]);
    for (name, cost) in bars {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the longest bar"
        )]
        let length = (cost / longest * MAX_BAR_CHARS).round().clamp(0.0, MAX_BAR_CHARS) as usize;
        table.add_row([
            name,
            format!("{} {}", "#".repeat(length), format_share(cost)).trim_start().to_owned(),
        ]);
    }
    table.render()
}

fn conversation_table(conversations: &[ConversationStats], means: Option<&ConversationMeans>) -> String {
    let mut table = numeric_table();
    table.add_row(
        ["conversation", "turns", "tokens", "billed", "auto", "ledger", "/auto", "archival", "/auto"]
            .map(str::to_owned),
    );
    for told in conversations {
        let of = |column| told.columns.get(&column).map(|cell: &ColumnStats| cell.share);
        let (auto, ledger) = (of(LayoutColumn::Automatic), of(LayoutColumn::Ledger));
        let tokens = told.columns.get(&LayoutColumn::None);
        let ratio = |cost: Option<f64>| {
            cost.zip(auto).map_or_else(absent_cell, |(cost, auto)| format_share(cost / auto))
        };
        table.add_row([
            truncate_name(&told.name),
            count(told.turns),
            tokens.map_or_else(absent_cell, |cell| count(cell.totals.mean_tokens())),
            told.billed.map_or_else(absent_cell, format_share),
            auto.map_or_else(absent_cell, format_share),
            ledger.map_or_else(absent_cell, format_share),
            ratio(ledger),
            told.with_archival.map_or_else(absent_cell, format_share),
            ratio(told.with_archival),
        ]);
    }
    if let Some(means) = means {
        table.add_row([
            "mean, and the worst ratios".to_owned(),
            String::new(),
            String::new(),
            means.billed.map_or_else(absent_cell, format_share),
            format_share(means.automatic),
            format_share(means.ledger),
            format_share(means.worst_ratio),
            format_share(means.with_archival),
            format_share(means.worst_ratio_with_archival),
        ]);
    }
    table.render()
}

/// Formats how well the sizes of billed requests were predicted.
fn prediction_report(predictions: &PredictionStats) -> String {
    let percent = |share: f64| format!("{:.2}", share * 100.0);
    let mut table = numeric_table();
    table.add_row(
        ["error in % of the billed size", "median", "90 of 100", "5 under", "5 over"].map(str::to_owned),
    );
    for told in &predictions.ways {
        let way = match told.way {
            Estimator::Calibrated => "last billed size, plus the calibrated growth",
            Estimator::Whole => "whole request, calibrated",
            Estimator::Blind => "whole request, calibrated with the first billed sizes only",
            Estimator::Ratio => "factor of the model's family, corrected by the first billed size",
            Estimator::O200k => "o200k, corrected by the first billed size",
            Estimator::Chars => "characters / 4, corrected by the first billed size",
        };
        table.add_row([
            way.to_owned(),
            percent(told.median),
            percent(told.ninth),
            percent(told.under),
            percent(told.over),
        ]);
    }
    let requests = pluralize(predictions.requests, "request");
    format!(
        "Error of predicted request sizes, without the first {} of each conversation\n\n{}\n\
         {requests}; the table covers the {} that the record shows in full. Of all requests, {} % are\n\
         within the error bar, whose median is {} % of the bill\n",
        predictions.learnt_from,
        table.render(),
        count(predictions.visible),
        percent(predictions.within_error),
        percent(predictions.error),
    )
}

fn cost_cells(columns: &BTreeMap<LayoutColumn, ColumnStats>) -> [String; 6] {
    LayoutColumn::ALL
        .map(|column| columns.get(&column).map_or_else(absent_cell, |cell| format_share(cell.share)))
}

/// Cuts a long name at its beginning, since its end is more distinctive.
pub(crate) fn truncate_name(name: &str) -> String {
    let length = name.chars().count();
    if length <= MAX_NAME_CHARS {
        return name.to_owned();
    }
    format!("…{}", name.chars().skip(length + 1 - MAX_NAME_CHARS).collect::<String>())
}

fn format_share(share: f64) -> String {
    format!("{share:.3}")
}

fn absent_cell() -> String {
    ABSENT.to_owned()
}
