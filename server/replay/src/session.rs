//! A trace played under several policies side by side.

use std::collections::BTreeMap;

use strata_engine::prompt::assembly::PromptServices;
use strata_engine::prompt::tiers::PolicyName;
use strata_engine::tokens::cost::{Bound, Prices};

use crate::runner::{CutShort, ReplayError, Runner};
use crate::scenario::{Content, Scenario};
use crate::totals::{Column, Totals};
use strata_engine::conversation::trace::Trace;

/// Time between two prompts of a replay, in milliseconds: entries that live five minutes survive it.
const PAUSE_MS: u64 = 60_000;

/// One trace on its way.
pub(crate) struct SessionReplay<'a> {
    scenario: Scenario<'a>,
    runners: Vec<Runner>,
    totals: BTreeMap<Column, Totals>,
    bound: Bound<String>,
    turn: u64,
    cut_short: usize,
}

impl<'a> SessionReplay<'a> {
    /// A trace before its first turn, to be played under `policies`. `flat` is always among them, because all else is
    /// measured by it.
    pub(crate) fn new(
        trace: &'a Trace,
        content: Content,
        policies: &[PolicyName],
        means: PromptServices<'_>,
    ) -> Self {
        let settings = means.settings;
        let prices = Prices::of(&means.models.resolve(&settings.model).model, settings.cache.ttl);
        let others = policies.iter().copied().filter(|policy| *policy != PolicyName::Flat);
        let runners =
            std::iter::once(PolicyName::Flat).chain(others).map(|policy| Runner::new(policy, prices));
        Self {
            scenario: Scenario::new(trace, content),
            runners: runners.collect(),
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
    pub(crate) fn step(
        &mut self,
        means: PromptServices<'_>,
        clock: &dyn Fn() -> u64,
    ) -> Result<bool, ReplayError> {
        let now_ms = self.turn * PAUSE_MS;
        for runner in &mut self.runners {
            let Some(play) = runner.play(&self.scenario, now_ms, means, clock)? else { return Ok(false) };
            for (column, charge) in play.charges {
                self.totals.entry(column).or_default().add(charge, play.nanos);
            }
            if runner.policy() == PolicyName::Flat {
                self.scenario.need(&mut self.bound, &play.members, &play.said, means);
            }
            self.cut_short += usize::from(play.cut_short == CutShort::Yes);
        }
        self.scenario.advance();
        self.turn += 1;
        Ok(true)
    }

    /// What each column came to so far.
    pub(crate) fn totals(&self) -> &BTreeMap<Column, Totals> {
        &self.totals
    }

    /// What no layout can undercut, in tokens of plain input.
    pub(crate) fn bound(&self) -> f64 {
        self.bound.total()
    }

    /// Prompts that had to leave something out to fit the window.
    pub(crate) fn cut_short(&self) -> usize {
        self.cut_short
    }
}
