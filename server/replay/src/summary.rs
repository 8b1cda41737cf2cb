//! What several sessions come to together. Each counts the same, however long it is.

use serde::Serialize;

use crate::columns::Column;
use crate::columns::ColumnStats;
use crate::conversation::ConversationStats;
use crate::session::SessionStats;

/// Means over the sessions that were played to their end.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    pub sessions: usize,
    pub lines: Vec<ColumnMeans>,
    /// `ledger` with file list and session state in the prompts.
    pub everything: Option<ColumnMeans>,
    /// `ledger` with the code that questions bring along.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpts: Option<ExcerptMeans>,
    /// What no layout can undercut, as a share of no cache.
    pub bound: f64,
}

/// What excerpts cost.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ExcerptMeans {
    pub line: ColumnMeans,
    /// What the input of a session costs, as a multiple of what it costs without: the mean and the most.
    pub ratio: f64,
    pub most: f64,
    /// The mean share of changed places that excerpts show when no file is selected.
    pub changes_shown: f64,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ColumnMeans {
    pub column: Column,
    /// The mean cost, as a share of no cache.
    pub cost: f64,
    /// The mean share of input that is read from the cache.
    pub hit_share: f64,
    /// The mean prompt, in tokens.
    pub mean_tokens: usize,
    /// The mean length of prompts, as a multiple of `flat`'s.
    pub length: f64,
    /// The dearest prompt after a first, as a share of what it costs without a cache.
    pub worst: f64,
    /// Time to make a prompt, in nanoseconds: the mean and the slowest. Only for policies, which make prompts.
    pub time: Option<Time>,
}

/// Time to make a prompt, in nanoseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Time {
    pub mean: u64,
    pub slowest: u64,
}

/// Means over the conversations that were played to their end.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConversationMeans {
    /// What was billed, over those that have a bill.
    pub billed: Option<f64>,
    pub automatic: f64,
    pub ledger: f64,
    /// The most that `ledger` costs in any, as a multiple of one automatic breakpoint.
    pub worst_ratio: f64,
}

impl Summary {
    pub(crate) fn of(sessions: &[SessionStats]) -> Option<Self> {
        let played: Vec<&SessionStats> =
            sessions.iter().filter(|session| session.problem.is_none()).collect();
        if played.is_empty() {
            return None;
        }
        let line = |column| {
            ColumnMeans::of(column, played.iter().filter_map(|session| session.columns.get(&column)))
        };
        let everything = played.iter().filter_map(|session| Some(&session.everything.as_ref()?.ledger));
        Some(Self {
            sessions: played.len(),
            lines: Column::ALL.into_iter().filter_map(line).collect(),
            everything: ColumnMeans::of(Column::Ledger, everything),
            excerpts: excerpts(&played),
            bound: mean(played.iter().map(|session| session.bound)),
        })
    }
}

impl ColumnMeans {
    fn of<'a>(column: Column, cells: impl Iterator<Item = &'a ColumnStats>) -> Option<Self> {
        let cells: Vec<&ColumnStats> = cells.collect();
        if cells.is_empty() {
            return None;
        }
        let sum = |of: fn(&ColumnStats) -> u64| cells.iter().map(|cell| of(cell)).sum::<u64>();
        let turns = sum(|cell| cell.totals.turns as u64).max(1);
        let tokens = cells.iter().map(|cell| cell.totals.mean_tokens()).sum::<usize>() / cells.len();
        Some(Self {
            column,
            cost: mean(cells.iter().map(|cell| cell.share)),
            hit_share: mean(cells.iter().map(|cell| cell.hit_share)),
            mean_tokens: tokens,
            length: mean(cells.iter().map(|cell| cell.length)),
            worst: cells.iter().map(|cell| cell.totals.worst).fold(0.0, f64::max),
            time: matches!(column, Column::Flat | Column::Ripple | Column::Ledger).then(|| Time {
                mean: sum(|cell| cell.totals.nanos) / turns,
                slowest: cells.iter().map(|cell| cell.totals.slowest).max().unwrap_or_default(),
            }),
        })
    }
}

impl ConversationMeans {
    pub(crate) fn of(conversations: &[ConversationStats]) -> Option<Self> {
        let played = || conversations.iter().filter(|told| told.problem.is_none());
        let shares = |column| {
            played()
                .filter_map(move |told| told.columns.get(&column))
                .map(|cell| cell.share)
                .collect::<Vec<_>>()
        };
        let (automatic, ledger) = (shares(Column::Automatic), shares(Column::Ledger));
        if automatic.is_empty() {
            return None;
        }
        let billed: Vec<f64> = played().filter_map(|told| told.billed).collect();
        let ratios = ledger.iter().zip(&automatic).map(|(ledger, automatic)| ledger / automatic);
        Some(Self {
            worst_ratio: ratios.fold(0.0, f64::max),
            billed: (!billed.is_empty()).then(|| mean(billed.into_iter())),
            automatic: mean(automatic.into_iter()),
            ledger: mean(ledger.into_iter()),
        })
    }
}

fn excerpts(played: &[&SessionStats]) -> Option<ExcerptMeans> {
    let with: Vec<_> = played.iter().filter_map(|session| session.excerpts.as_ref()).collect();
    let line = ColumnMeans::of(Column::Ledger, with.iter().map(|with| &with.ledger))?;
    let most = with.iter().map(|with| with.ratio).fold(0.0, f64::max);
    let changes_shown = mean(with.iter().map(|with| with.changes_shown));
    Some(ExcerptMeans { line, ratio: mean(with.iter().map(|with| with.ratio)), most, changes_shown })
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1);
    values.sum::<f64>() / count as f64
}
