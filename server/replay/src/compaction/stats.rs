//! Totals of many compactions by one profile. Adds up and divides; compacts nothing.

use serde::Serialize;
use strata_engine::conversation::compaction::{NotCompacted, PINNED_PATHS_TOKENS, Profile, Size, Strategy};

use super::cut::{CompactionError, CompactionResult};
use super::fidelity::Fidelity;

/// Totals of compactions by one profile.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompactionStats {
    /// Conversations that are shorter.
    pub compacted: usize,
    /// Those among them that have no summary: their oldest exchanges were dropped.
    pub truncated: usize,
    /// Conversations that the profile keeps entirely.
    pub nothing_old: usize,
    /// Conversations that would not have become shorter.
    pub not_shorter: usize,
    /// Violated provider rules in the results, alone or with the next messages.
    pub violations: usize,
    /// Tool calls that were summarized away while they waited for their results.
    pub parted: usize,
    /// What was kept, in total.
    pub fidelity: Fidelity,
    /// Summaries within the limits of the profile and pinned paths.
    pub within_budget: usize,
    /// Tokens of the heaviest message that holds a summary.
    pub heaviest_summary: usize,
    /// Tokens of those messages, together.
    pub summaries: usize,
    /// Tokens of the conversations before.
    pub before: usize,
    /// Tokens of the conversations after.
    pub after: usize,
    /// Time, in nanoseconds, together.
    pub nanos: u64,
    /// The longest that one took, in nanoseconds.
    pub slowest: u64,
}

impl CompactionStats {
    /// Counts one compaction by `profile` that took `nanos` nanoseconds.
    pub(crate) fn count(
        &mut self,
        profile: &Profile,
        outcome: &Result<CompactionResult, CompactionError>,
        nanos: u64,
    ) {
        match outcome {
            Ok(shortened) => {
                let CompactionResult { strategy, before, after, summary, fidelity, violations, parted } =
                    shortened;
                let (Size { tokens: before, .. }, Size { tokens: after, .. }) = (before, after);
                let budget = profile.summary.tokens + PINNED_PATHS_TOKENS;
                self.add(&Self {
                    compacted: 1,
                    truncated: usize::from(*strategy == Strategy::Truncated),
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
        self.fidelity = self.fidelity.and(other.fidelity);
        self.heaviest_summary = self.heaviest_summary.max(other.heaviest_summary);
        self.slowest = self.slowest.max(other.slowest);
    }
}
