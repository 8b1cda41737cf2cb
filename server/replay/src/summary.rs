//! Combined results of several sessions. Every session has the same weight, however long it is. If the lengths are those
//! of people's conversations, the costs of all turns are added instead, as in a bill.

use serde::Serialize;

use crate::columns::{ColumnStats, LayoutColumn, share};
use crate::conversation::ConversationStats;
use crate::session::SessionStats;
use crate::sources::Workload;

/// Means over the sessions that were played to their end.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionMeans {
    pub sessions: usize,
    /// Whether the ratios are those of all sessions together, instead of means over the sessions.
    #[serde(skip)]
    pub is_of_all_turns: bool,
    pub lines: Vec<ColumnMeans>,
    /// Means of `ledger` with the file list and the session state in its prompts.
    pub everything: Option<ColumnMeans>,
    /// Means of `ledger` with excerpts in its prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpts: Option<ExcerptMeans>,
    /// Mean lower bound on the cost of any layout, relative to the cost without a cache.
    pub bound: f64,
}

/// Mean cost and use of excerpts.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ExcerptMeans {
    pub line: ColumnMeans,
    /// Mean input cost of a session, relative to the cost without excerpts. `most` is the highest ratio of any session.
    pub ratio: f64,
    pub most: f64,
    /// Mean share of changed ranges that excerpts show when no file is selected.
    pub changes_shown: f64,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ColumnMeans {
    pub column: LayoutColumn,
    /// Mean cost, relative to the cost without a cache.
    pub cost: f64,
    /// Mean share of the input that was read from the cache.
    pub hit_share: f64,
    pub mean_tokens: usize,
    /// Mean cost of a prompt, in tokens of plain input.
    pub cost_a_turn: f64,
    /// Mean cost of a session's first prompt, in tokens of plain input.
    pub first: f64,
    /// Mean input tokens, relative to those of `flat`.
    pub length: f64,
    /// Cost of the most expensive prompt after a session's first, relative to its cost without a cache.
    pub worst: f64,
    /// Time for assembling a prompt; `None` for baselines that only rearrange the prompts of `flat`.
    pub time: Option<AssemblyTime>,
}

/// Mean and longest time for assembling a prompt, in nanoseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct AssemblyTime {
    pub mean: u64,
    pub slowest: u64,
}

/// Means over the conversations that were played to their end.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConversationMeans {
    /// Mean billed cost, relative to the cost without a cache, over conversations with a bill; `None` if none has a
    /// bill.
    pub billed: Option<f64>,
    pub automatic: f64,
    pub ledger: f64,
    /// Highest cost of `ledger` in any conversation, relative to the cost with one automatic breakpoint.
    pub worst_ratio: f64,
    /// Mean cost of `ledger` when old tool results are archived.
    pub with_archival: f64,
    /// Like `worst_ratio`, when old tool results are archived.
    pub worst_ratio_with_archival: f64,
}

impl SessionMeans {
    pub(crate) fn from_sessions(sessions: &[SessionStats], workload: Workload) -> Option<Self> {
        let played: Vec<&SessionStats> =
            sessions.iter().filter(|session| session.problem.is_none()).collect();
        if played.is_empty() {
            return None;
        }
        let is_of_all_turns = workload == Workload::People;
        let line = |column| {
            let cells = played.iter().filter_map(|session| session.columns.get(&column));
            ColumnMeans::from_stats(column, cells, is_of_all_turns)
        };
        let everything = played.iter().filter_map(|session| Some(&session.everything.as_ref()?.ledger));
        let bounds = played.iter().filter_map(|session| {
            let uncached = session.columns.get(&LayoutColumn::None)?.uncached;
            Some((session.bound * uncached, uncached))
        });
        Some(Self {
            sessions: played.len(),
            is_of_all_turns,
            lines: LayoutColumn::ALL.into_iter().filter_map(line).collect(),
            everything: ColumnMeans::from_stats(LayoutColumn::Ledger, everything, is_of_all_turns),
            excerpts: excerpt_means(&played, is_of_all_turns),
            bound: mean_ratio(bounds, is_of_all_turns),
        })
    }
}

impl ColumnMeans {
    fn from_stats<'a>(
        column: LayoutColumn,
        cells: impl Iterator<Item = &'a ColumnStats>,
        is_of_all_turns: bool,
    ) -> Option<Self> {
        let cells: Vec<&ColumnStats> = cells.collect();
        if cells.is_empty() {
            return None;
        }
        let sum = |of: fn(&ColumnStats) -> u64| cells.iter().map(|cell| of(cell)).sum::<u64>();
        let turns = sum(|cell| cell.totals.turns as u64).max(1);
        let mean = |parts: fn(&ColumnStats) -> (f64, f64)| {
            mean_ratio(cells.iter().map(|cell| parts(cell)), is_of_all_turns)
        };
        let tokens = match is_of_all_turns {
            true => sum(|cell| cell.totals.tokens as u64) as usize / turns as usize,
            false => cells.iter().map(|cell| cell.totals.mean_tokens()).sum::<usize>() / cells.len(),
        };
        Some(Self {
            column,
            cost: mean(|cell| (cell.totals.cost, cell.uncached)),
            hit_share: mean(|cell| (cell.totals.read as f64, cell.totals.tokens as f64)),
            mean_tokens: tokens,
            cost_a_turn: mean(|cell| (cell.totals.cost, cell.totals.turns as f64)),
            first: self::mean(cells.iter().map(|cell| cell.totals.first)),
            length: mean(|cell| (cell.totals.tokens as f64, cell.uncached)),
            worst: cells.iter().map(|cell| cell.totals.worst).fold(0.0, f64::max),
            time: matches!(column, LayoutColumn::Flat | LayoutColumn::Ripple | LayoutColumn::Ledger).then(
                || AssemblyTime {
                    mean: sum(|cell| cell.totals.nanos) / turns,
                    slowest: cells.iter().map(|cell| cell.totals.slowest).max().unwrap_or_default(),
                },
            ),
        })
    }
}

impl ConversationMeans {
    pub(crate) fn from_conversations(conversations: &[ConversationStats]) -> Option<Self> {
        let played = || conversations.iter().filter(|told| told.problem.is_none());
        let shares = |column| {
            played()
                .filter_map(move |told| told.columns.get(&column))
                .map(|cell| cell.share)
                .collect::<Vec<_>>()
        };
        let (automatic, ledger) = (shares(LayoutColumn::Automatic), shares(LayoutColumn::Ledger));
        if automatic.is_empty() {
            return None;
        }
        let billed: Vec<f64> = played().filter_map(|told| told.billed).collect();
        let archived: Vec<f64> = played().filter_map(|told| told.with_archival).collect();
        let worst = |costs: &[f64]| {
            costs.iter().zip(&automatic).map(|(cost, automatic)| cost / automatic).fold(0.0, f64::max)
        };
        Some(Self {
            worst_ratio: worst(&ledger),
            worst_ratio_with_archival: worst(&archived),
            with_archival: mean(archived.into_iter()),
            billed: (!billed.is_empty()).then(|| mean(billed.into_iter())),
            automatic: mean(automatic.into_iter()),
            ledger: mean(ledger.into_iter()),
        })
    }
}

fn excerpt_means(played: &[&SessionStats], is_of_all_turns: bool) -> Option<ExcerptMeans> {
    let with: Vec<_> = played.iter().filter_map(|session| session.excerpts.as_ref()).collect();
    let line =
        ColumnMeans::from_stats(LayoutColumn::Ledger, with.iter().map(|with| &with.ledger), is_of_all_turns)?;
    let most = with.iter().map(|with| with.ratio).fold(0.0, f64::max);
    let changes_shown = mean(with.iter().map(|with| with.changes_shown));
    Some(ExcerptMeans { line, ratio: mean(with.iter().map(|with| with.ratio)), most, changes_shown })
}

/// Returns the mean of ratios, or the ratio of the sums of their parts.
fn mean_ratio(parts: impl Iterator<Item = (f64, f64)>, is_of_sums: bool) -> f64 {
    let parts: Vec<(f64, f64)> = parts.collect();
    if !is_of_sums {
        return mean(parts.iter().map(|(part, whole)| share(*part, *whole)));
    }
    share(parts.iter().map(|(part, _)| part).sum(), parts.iter().map(|(_, whole)| whole).sum())
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1);
    values.sum::<f64>() / count as f64
}
