//! Tracks the features announced to the client. If the client supports dynamic registration, settings can change the
//! features at any time. Otherwise, they are announced once, in the reply to `initialize`.

use std::collections::{BTreeMap, BTreeSet};
use strata_prompt::settings::LspFeature;

use crate::outbound::OutboundMessage;

#[derive(Default)]
pub(super) struct Registrations {
    /// Features announced permanently, in the reply to `initialize`.
    fixed: BTreeSet<LspFeature>,
    /// Dynamically registered features with their registration numbers. Numbers are never reused, so that a
    /// registration and the withdrawal of an earlier one may arrive in any order.
    registered: BTreeMap<LspFeature, u64>,
    last_number: u64,
    /// Features that were enabled after startup, although this client accepts them only at startup. The user has been
    /// notified of each.
    late: BTreeSet<LspFeature>,
}

impl Registrations {
    /// Returns the features for the reply to `initialize`: requested features that cannot be registered dynamically.
    pub(super) fn startup_features(
        &mut self,
        enabled: &BTreeSet<LspFeature>,
        registrable: &BTreeSet<LspFeature>,
    ) -> &BTreeSet<LspFeature> {
        self.fixed = enabled.difference(registrable).copied().collect();
        &self.fixed
    }

    /// Returns the messages that register and unregister features to match `enabled`. Also returns the newly enabled
    /// features that this client accepts only at startup.
    pub(super) fn update(
        &mut self,
        enabled: &BTreeSet<LspFeature>,
        registrable: &BTreeSet<LspFeature>,
    ) -> (Vec<OutboundMessage>, Vec<LspFeature>) {
        let mut messages = Vec::new();
        let mut late = Vec::new();
        for feature in LspFeature::ALL {
            match (enabled.contains(&feature), self.registered.get(&feature)) {
                (true, None) if registrable.contains(&feature) => {
                    self.last_number += 1;
                    self.registered.insert(feature, self.last_number);
                    messages.push(OutboundMessage::Register(feature, self.last_number));
                }
                (true, None) if !self.fixed.contains(&feature) && self.late.insert(feature) => {
                    late.push(feature);
                }
                (false, Some(&number)) => {
                    self.registered.remove(&feature);
                    messages.push(OutboundMessage::Unregister(feature, number));
                }
                _ => {}
            }
        }
        (messages, late)
    }
}
