//! What a session came to in one column of the table.

use std::fmt;

use serde::Serialize;

use strata_engine::tokens::cost::Charge;

use crate::baseline::Baseline;

/// A column of the table: a way to lay out the same content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// The prompt of `flat` without any breakpoint: what the others are measured by.
    None,
    /// The same with one automatic breakpoint at its end.
    Automatic,
    /// The same with a breakpoint behind the system message.
    Flat,
    /// Chunks in one fixed order with three breakpoints.
    Fixed,
    /// Policy `ripple`.
    Ripple,
    /// Policy `ledger`.
    Ledger,
}

impl Column {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Automatic, Self::Flat, Self::Fixed, Self::Ripple, Self::Ledger];

    /// The column of a baseline.
    pub(super) fn of(baseline: Baseline) -> Self {
        match baseline {
            Baseline::None => Self::None,
            Baseline::Automatic => Self::Automatic,
            Baseline::SystemBreakpoint => Self::Flat,
            Baseline::FixedOrder => Self::Fixed,
        }
    }
}

impl fmt::Display for Column {
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

/// What a session came to.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Prompts.
    pub turns: usize,
    /// All input, in tokens.
    pub tokens: usize,
    /// Tokens read from the cache.
    pub read: usize,
    /// Tokens written to it.
    pub written: usize,
    /// The price of all input, in tokens of plain input.
    pub cost: f64,
    /// The price of the dearest prompt behind the first, as a share of what it costs without a cache.
    pub worst: f64,
    /// Time that making the prompts took, in nanoseconds; 0 where nobody looked at a clock.
    pub nanos: u64,
    /// The time that the slowest prompt took.
    pub slowest: u64,
}

impl Totals {
    /// Adds a prompt.
    pub fn add(&mut self, charge: Charge, nanos: u64) {
        let total = charge.total();
        if self.turns > 0 && total > 0 {
            self.worst = self.worst.max(charge.cost / total as f64);
        }
        self.turns += 1;
        self.tokens += total;
        self.read += charge.read;
        self.written += charge.written;
        self.cost += charge.cost;
        self.nanos += nanos;
        self.slowest = self.slowest.max(nanos);
    }

    /// Tokens of a prompt on average.
    pub fn mean_tokens(&self) -> usize {
        self.tokens / self.turns.max(1)
    }

    /// The share of all input that was read from the cache.
    pub fn hit_share(&self) -> f64 {
        self.read as f64 / self.tokens.max(1) as f64
    }
}
