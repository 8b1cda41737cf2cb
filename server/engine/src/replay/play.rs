//! A trace played under several policies side by side.

use std::collections::BTreeMap;

use crate::prompt::assembly::PromptServices;
use crate::prompt::tiers::PolicyName;
use crate::tokens::cost::{Bound, Prices};

use super::lane::{CutShort, Lane, ReplayError};
use super::stage::{Content, Stage};
use super::totals::{Column, Totals};
use super::trace::Trace;

/// Time between two prompts of a replay, in milliseconds: entries that live five minutes survive it.
const PAUSE_MS: u64 = 60_000;

/// One trace on its way.
pub struct Replay<'a> {
    stage: Stage<'a>,
    lanes: Vec<Lane>,
    totals: BTreeMap<Column, Totals>,
    bound: Bound<String>,
    turn: u64,
    cut_short: usize,
}

impl<'a> Replay<'a> {
    /// A trace before its first turn, to be played under `policies`. `flat` is always among them, because all else is
    /// measured by it.
    pub fn new(
        trace: &'a Trace,
        content: Content,
        policies: &[PolicyName],
        means: PromptServices<'_>,
    ) -> Self {
        let settings = means.settings;
        let prices = Prices::of(&means.models.resolve(&settings.model).model, settings.cache.ttl);
        let others = policies.iter().copied().filter(|policy| *policy != PolicyName::Flat);
        let lanes = std::iter::once(PolicyName::Flat).chain(others).map(|policy| Lane::new(policy, prices));
        Self {
            stage: Stage::new(trace, content),
            lanes: lanes.collect(),
            totals: BTreeMap::new(),
            bound: Bound::new(prices),
            turn: 0,
            cut_short: 0,
        }
    }

    /// Plays the next turn under every policy; `false` when there is none. `clock` says how late it is, in nanoseconds.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub fn step(&mut self, means: PromptServices<'_>, clock: &dyn Fn() -> u64) -> Result<bool, ReplayError> {
        let now_ms = self.turn * PAUSE_MS;
        for lane in &mut self.lanes {
            let Some(play) = lane.play(&self.stage, now_ms, means, clock)? else { return Ok(false) };
            for (column, charge) in play.charges {
                self.totals.entry(column).or_default().add(charge, play.nanos);
            }
            if lane.policy() == PolicyName::Flat {
                self.stage.need(&mut self.bound, &play.members, &play.said, means);
            }
            self.cut_short += usize::from(play.cut_short == CutShort::Yes);
        }
        self.stage.advance();
        self.turn += 1;
        Ok(true)
    }

    /// The sessions, one for each policy.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// What each column came to so far.
    pub fn totals(&self) -> &BTreeMap<Column, Totals> {
        &self.totals
    }

    /// What no layout can undercut, in tokens of plain input.
    pub fn bound(&self) -> f64 {
        self.bound.total()
    }

    /// Prompts that had to leave something out to fit the window.
    pub fn cut_short(&self) -> usize {
        self.cut_short
    }
}
