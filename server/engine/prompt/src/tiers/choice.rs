//! Chooses the layout policy of a prompt and reports what decided the choice.

use schemars::JsonSchema;
use serde::Serialize;
use strata_tokens::models::Model;

use crate::assembly::IndexState;

use super::PolicyName;

/// A layout policy, and what decided the choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyChoice {
    /// The chosen policy.
    pub policy: PolicyName,
    /// What decided the choice.
    pub(crate) decided_by: DecidedBy,
}

/// What decided the choice of a layout policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DecidedBy {
    /// Indexing is in progress. Until it is complete, the policy is `flat`, because filled tiers would soon be
    /// rewritten.
    Indexing,
    /// The policy that the request asked for.
    Request,
    /// The policy set for the session.
    Session,
    /// The setting `cache.policy`.
    Setting,
    /// The default for the model's kind of cache.
    Model,
}

/// Requested layout policies, by source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LayoutPreferences {
    /// Policy that the request asked for.
    pub request: Option<PolicyName>,
    /// Policy set for the session.
    pub session: Option<PolicyName>,
    /// Policy from the settings.
    pub setting: Option<PolicyName>,
}

impl LayoutPreferences {
    /// Returns the most specific policy requested, or else the model's default. Always returns `flat` while the
    /// repository is being indexed.
    pub fn choose(self, model: &Model, index: IndexState) -> PolicyChoice {
        let by_priority = [
            (self.request, DecidedBy::Request),
            (self.session, DecidedBy::Session),
            (self.setting, DecidedBy::Setting),
        ];
        let most_specific =
            by_priority.into_iter().find_map(|(preference, by)| preference.map(|policy| (policy, by)));
        let (policy, decided_by) = match index {
            IndexState::Building => (PolicyName::Flat, DecidedBy::Indexing),
            IndexState::Ready => most_specific.unwrap_or((PolicyName::default_for(model), DecidedBy::Model)),
        };
        PolicyChoice { policy, decided_by }
    }
}

#[cfg(test)]
mod tests {
    use strata_tokens::models::{CacheKind, Models};

    use super::*;

    #[test]
    fn the_most_specific_preference_wins() {
        let mut model = Model::clone(&Models::builtin().resolve("claude-opus-4-7").model);
        let mut preferences = LayoutPreferences {
            request: Some(PolicyName::Flat),
            session: Some(PolicyName::Ripple),
            setting: Some(PolicyName::Ledger),
        };
        let chosen = |preferences: LayoutPreferences, model: &Model, index| {
            let PolicyChoice { policy, decided_by } = preferences.choose(model, index);
            (policy, decided_by)
        };
        let ready = IndexState::Ready;
        assert_eq!(
            chosen(preferences, &model, IndexState::Building),
            (PolicyName::Flat, DecidedBy::Indexing)
        );
        assert_eq!(chosen(preferences, &model, ready), (PolicyName::Flat, DecidedBy::Request));
        preferences.request = None;
        assert_eq!(chosen(preferences, &model, ready), (PolicyName::Ripple, DecidedBy::Session));
        preferences.session = None;
        assert_eq!(chosen(preferences, &model, ready), (PolicyName::Ledger, DecidedBy::Setting));
        preferences.setting = None;
        assert_eq!(chosen(preferences, &model, ready), (PolicyName::Ledger, DecidedBy::Model));
        model.cache.kind = CacheKind::None;
        assert_eq!(chosen(preferences, &model, ready), (PolicyName::Flat, DecidedBy::Model));
    }
}
