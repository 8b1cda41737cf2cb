//! Cuts recorded conversations after many of their messages, and compacts them there with every profile. Two
//! conversations are processed at a time. Results are in the order of the material and, except for times, the same in
//! every run.

mod cut;
mod fidelity;
mod report;
mod stats;

use std::collections::BTreeMap;

use serde::Serialize;
use strata_app::model::index::OutlineProgress;
use strata_conversation::compaction::{BuiltinProfile, DraftRefusal, Profile};
use strata_conversation::providers::Violation;
use strata_prompt::assembly::PromptServices;
use strata_prompt::settings::Settings;
use strata_tokens::counting::TokenCounter;
use strata_tokens::models::Models;

use self::cut::{CompactionError, CompactionResult, Recording};
use self::stats::CompactionStats;
use crate::parallel::{parallel_map, step_counter};
use crate::sources::Material;

/// Maximum number of violations to report in full. All violations are counted.
const MAX_REPORTED_VIOLATIONS: usize = 50;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum CutPlaces {
    #[default]
    Everywhere,
    /// Cut each conversation after at most this many messages, evenly spread and including the last one.
    AtMost(usize),
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Compactions {
    /// Model for which tokens were counted.
    pub(crate) model: String,
    /// Warning that the model is not in the model table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    pub(crate) cuts: CutPlaces,
    pub(crate) conversations: Vec<ConversationCompactions>,
    pub(crate) profiles: BTreeMap<BuiltinProfile, CompactionStats>,
    /// The first compactions whose results providers would reject.
    pub(crate) breaches: Vec<ReportedViolation>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConversationCompactions {
    pub name: String,
    pub messages: usize,
    pub(crate) cuts: usize,
    pub(crate) profiles: BTreeMap<BuiltinProfile, CompactionStats>,
    #[serde(skip)]
    breaches: Vec<ReportedViolation>,
}

/// A compaction after which a provider would reject the conversation.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReportedViolation {
    pub conversation: String,
    /// Number of recorded messages before the cut.
    pub cut: usize,
    pub profile: BuiltinProfile,
    pub problem: String,
}

impl CutPlaces {
    /// Returns the indices at which to cut, in ascending order. `places` is the number of possible cuts.
    fn cut_indices(self, places: usize) -> Vec<usize> {
        match self {
            Self::AtMost(most) if most < places => (1..=most).map(|nth| nth * places / most - 1).collect(),
            Self::Everywhere | Self::AtMost(_) => (0..places).collect(),
        }
    }
}

impl Compactions {
    /// Compacts the conversations in `material` after each of their messages, or after at most `most_cuts` messages of
    /// each, evenly spread and including the last one. `progress` receives the number of finished cuts and their total.
    pub fn measure(
        material: &Material,
        most_cuts: Option<usize>,
        settings: &Settings,
        progress: impl Fn(OutlineProgress) + Sync,
    ) -> Self {
        let cuts = most_cuts.map_or(CutPlaces::Everywhere, CutPlaces::AtMost);
        let (models, counter) = (Models::builtin(), TokenCounter::default());
        let services = PromptServices { models: &models, counter: &counter, settings };
        let resolved = models.resolve(&settings.model);
        let recordings: Vec<(&str, Recording)> = material
            .transcripts
            .iter()
            .map(|(name, transcript)| (name.as_str(), Recording::new(transcript.messages())))
            .collect();
        let total =
            recordings.iter().map(|(_, recording)| cuts.cut_indices(recording.message_count()).len()).sum();
        let cut_done = step_counter(total, progress);
        let conversations = parallel_map(&recordings, |(name, recording)| {
            ConversationCompactions::measure(name, recording, cuts, services, &cut_done)
        });
        let mut profiles: BTreeMap<BuiltinProfile, CompactionStats> = BTreeMap::new();
        for (builtin, stats) in conversations.iter().flat_map(|conversation| &conversation.profiles) {
            profiles.entry(*builtin).or_default().add(stats);
        }
        let breaches = conversations.iter().flat_map(|conversation| &conversation.breaches);
        Self {
            warning: resolved.warning(),
            model: resolved.model.id.clone(),
            cuts,
            breaches: breaches.take(MAX_REPORTED_VIOLATIONS).cloned().collect(),
            profiles,
            conversations,
        }
    }

    /// Returns the total number of cuts.
    pub(crate) fn cut_count(&self) -> usize {
        self.conversations.iter().map(|conversation| conversation.cuts).sum()
    }

    /// Returns the number of violated provider rules, plus the number of calls separated from their results.
    pub fn violation_count(&self) -> usize {
        self.profiles.values().map(|stats| stats.violations + stats.parted).sum()
    }
}

impl ConversationCompactions {
    fn measure(
        name: &str,
        recording: &Recording,
        cuts: CutPlaces,
        services: PromptServices<'_>,
        cut_done: &dyn Fn(),
    ) -> Self {
        let places = cuts.cut_indices(recording.message_count());
        let mut conversation = Self {
            name: name.to_owned(),
            messages: recording.message_count(),
            cuts: places.len(),
            profiles: BTreeMap::new(),
            breaches: Vec::new(),
        };
        let profiles = BuiltinProfile::ALL.map(|builtin| (builtin, builtin.profile()));
        for place in places {
            if let Some(cut) = recording.cut(place, services) {
                for (builtin, profile) in &profiles {
                    let (outcome, nanos) = cut.compact(profile, services);
                    conversation.add_outcome(place, (*builtin, profile), &outcome, nanos);
                }
            }
            cut_done();
        }
        conversation
    }

    fn add_outcome(
        &mut self,
        place: usize,
        (builtin, profile): (BuiltinProfile, &Profile),
        outcome: &Result<CompactionResult, CompactionError>,
        nanos: u64,
    ) {
        self.profiles.entry(builtin).or_default().add_outcome(profile, outcome, nanos);
        let told = |violation: &Violation| violation.to_string();
        let mut problems: Vec<String> = match outcome {
            Ok(shortened) => shortened.violations.iter().map(told).collect(),
            Err(CompactionError::Refused(DraftRefusal::Invalid { violations })) => {
                violations.iter().map(told).collect()
            }
            Err(CompactionError::Refused(changed @ DraftRefusal::Changed)) => vec![changed.to_string()],
            Err(CompactionError::NotCompacted(_)) => Vec::new(),
        };
        if let Ok(CompactionResult { parted: parted @ 1.., .. }) = outcome {
            problems.push(format!("{parted} tool calls were separated from their results"));
        }
        let conversation = self.name.clone();
        let breach = |problem| ReportedViolation {
            conversation: conversation.clone(),
            cut: place + 1,
            profile: builtin,
            problem,
        };
        self.breaches.extend(problems.into_iter().map(breach));
        self.breaches.truncate(MAX_REPORTED_VIOLATIONS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_evenly_spread_and_the_last_is_among_them() {
        assert_eq!(CutPlaces::Everywhere.cut_indices(3), [0, 1, 2]);
        assert_eq!(CutPlaces::AtMost(3).cut_indices(10), [2, 5, 9]);
        assert_eq!(CutPlaces::AtMost(1).cut_indices(10), [9]);
        assert_eq!(CutPlaces::AtMost(11).cut_indices(2), [0, 1]);
        assert!(CutPlaces::AtMost(4).cut_indices(0).is_empty());
    }
}
