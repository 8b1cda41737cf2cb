//! Results of a session, by column of the table.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use strata_tokens::cost::Charge;

/// A column of the result table: one way to lay out the same content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LayoutColumn {
    /// The prompt of `flat` without breakpoints, the reference for all other columns.
    None,
    /// The prompt of `flat` with one breakpoint at its end, as with "automatic caching" by a provider with
    /// explicit breakpoints.
    Automatic,
    /// The prompt of `flat` with a breakpoint after the system message.
    Flat,
    /// Chunks in a fixed order, with breakpoints after three of them, as in Aider (`ChatChunks.all_messages` and
    /// `ChatChunks.add_cache_control_headers` in `aider/coders/chat_chunks.py`). The repository file list replaces
    /// Aider's read-only files.
    Fixed,
    Ripple,
    Ledger,
}

impl LayoutColumn {
    /// All columns, in table order.
    pub(crate) const ALL: [Self; 6] =
        [Self::None, Self::Automatic, Self::Flat, Self::Fixed, Self::Ripple, Self::Ledger];
}

impl fmt::Display for LayoutColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "no cache",
            Self::Automatic => "one automatic breakpoint",
            Self::Flat => "flat, system breakpoint",
            Self::Fixed => "fixed order, 3 breakpoints",
            Self::Ripple => "ripple",
            Self::Ledger => "ledger",
        })
    }
}

/// Totals of a session's prompts in one column.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ColumnTotals {
    pub turns: usize,
    /// Input tokens of all prompts.
    pub tokens: usize,
    /// Tokens read from the cache.
    pub read: usize,
    /// Tokens written to the cache.
    pub written: usize,
    /// Cost of all input, in tokens of plain input.
    pub cost: f64,
    /// Cost of the first prompt, in tokens of plain input.
    pub first: f64,
    /// Cost of the most expensive prompt after the first, relative to its cost without a cache.
    pub worst: f64,
    /// Time for assembling all prompts, in nanoseconds; 0 if not measured.
    pub nanos: u64,
    /// Time for assembling the slowest prompt, in nanoseconds.
    pub slowest: u64,
}

impl ColumnTotals {
    pub(crate) fn add(&mut self, charge: Charge, nanos: u64) {
        let total = charge.total();
        if self.turns > 0 && total > 0 {
            self.worst = self.worst.max(charge.cost / total as f64);
        }
        if self.turns == 0 {
            self.first = charge.cost;
        }
        self.turns += 1;
        self.tokens += total;
        self.read += charge.read;
        self.written += charge.written;
        self.cost += charge.cost;
        self.nanos += nanos;
        self.slowest = self.slowest.max(nanos);
    }

    /// Returns the mean number of tokens of a prompt.
    pub(crate) fn mean_tokens(&self) -> usize {
        self.tokens / self.turns.max(1)
    }
}

/// Totals of a column, each as a fraction of what the same prompts total without a cache.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ColumnStats {
    /// Cost relative to the cost without a cache.
    pub share: f64,
    /// Share of the input that was read from the cache.
    pub hit_share: f64,
    /// Input tokens relative to those of `flat`.
    pub length: f64,
    /// Cost of the same prompts without a cache, which is the number of their tokens.
    #[serde(skip)]
    pub uncached: f64,
    #[serde(flatten)]
    pub totals: ColumnTotals,
}

impl ColumnStats {
    pub(crate) fn from_totals(totals: &BTreeMap<LayoutColumn, ColumnTotals>) -> BTreeMap<LayoutColumn, Self> {
        let none = totals.get(&LayoutColumn::None).cloned().unwrap_or_default();
        let stats = |totals: &ColumnTotals| Self {
            share: share(totals.cost, none.cost),
            hit_share: share(totals.read as f64, totals.tokens as f64),
            length: share(totals.tokens as f64, none.tokens as f64),
            uncached: none.cost,
            totals: totals.clone(),
        };
        totals.iter().map(|(column, totals)| (*column, stats(totals))).collect()
    }
}

/// Returns `part / whole`, or 0 if `whole` is 0.
pub(crate) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
