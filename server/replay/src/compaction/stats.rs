//! Totals of many compactions by one profile.

use serde::Serialize;
use strata_conversation::compaction::{
    CompactionStrategy, ConversationSize, NotCompacted, PINNED_PATHS_TOKENS, Profile,
};

use super::cut::{CompactionError, CompactionResult};
use super::fidelity::Fidelity;

/// Totals of compactions by one profile.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompactionStats {
    /// Number of conversations that became shorter.
    pub compacted: usize,
    /// Number of shortened conversations without a summary, whose oldest exchanges were dropped instead.
    pub truncated: usize,
    /// Number of conversations that the profile keeps entirely.
    pub nothing_old: usize,
    /// Number of conversations that a compaction would not have shortened.
    pub not_shorter: usize,
    /// Number of violations of provider rules in the compacted conversations, each followed by its next messages.
    pub violations: usize,
    /// Number of tool calls that were summarized away while they waited for their results.
    pub parted: usize,
    /// Fidelity, summed over all compactions.
    pub fidelity: Fidelity,
    /// Number of summaries within the profile's limit plus the tokens for pinned paths.
    pub within_budget: usize,
    /// Tokens of the largest summary message.
    pub heaviest_summary: usize,
    /// Tokens of all summary messages.
    pub summaries: usize,
    /// Tokens of all compacted conversations before compaction.
    pub before: usize,
    /// Tokens of all compacted conversations after compaction.
    pub after: usize,
    /// Time of all compactions, in nanoseconds.
    pub nanos: u64,
    /// Time of the slowest compaction, in nanoseconds.
    pub slowest: u64,
}

impl CompactionStats {
    /// Adds one compaction with `profile`, which took `nanos` nanoseconds.
    pub(crate) fn add_outcome(
        &mut self,
        profile: &Profile,
        outcome: &Result<CompactionResult, CompactionError>,
        nanos: u64,
    ) {
        match outcome {
            Ok(shortened) => {
                let CompactionResult { strategy, before, after, summary, fidelity, violations, parted } =
                    shortened;
                let (ConversationSize { tokens: before, .. }, ConversationSize { tokens: after, .. }) =
                    (before, after);
                let budget = profile.summary.tokens + PINNED_PATHS_TOKENS;
                self.add(&Self {
                    compacted: 1,
                    truncated: usize::from(*strategy == CompactionStrategy::Truncated),
                    violations: violations.len(),
                    parted: *parted,
                    fidelity: *fidelity,
                    within_budget: usize::from(*summary <= budget),
                    heaviest_summary: *summary,
                    summaries: *summary,
                    before: *before,
                    after: *after,
                    nanos,
                    slowest: nanos,
                    ..Self::default()
                });
            }
            Err(CompactionError::NotCompacted(NotCompacted::NothingOld { .. })) => self.nothing_old += 1,
            Err(CompactionError::NotCompacted(NotCompacted::NotShorter { .. })) => self.not_shorter += 1,
            Err(CompactionError::Refused(_)) => self.violations += 1,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.compacted += other.compacted;
        self.truncated += other.truncated;
        self.nothing_old += other.nothing_old;
        self.not_shorter += other.not_shorter;
        self.violations += other.violations;
        self.parted += other.parted;
        self.within_budget += other.within_budget;
        self.summaries += other.summaries;
        self.before += other.before;
        self.after += other.after;
        self.nanos += other.nanos;
        self.fidelity = self.fidelity.plus(other.fidelity);
        self.heaviest_summary = self.heaviest_summary.max(other.heaviest_summary);
        self.slowest = self.slowest.max(other.slowest);
    }
}
