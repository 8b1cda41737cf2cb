//! The features announced to the client. If the client supports registration, settings can change them while the server runs;
//! otherwise they are announced once, in the reply to `initialize`.

use std::collections::{BTreeMap, BTreeSet};

use super::MainLoop;
use crate::navigation::{self, Feature};
use crate::outbound::Outbound;

#[derive(Default)]
pub(super) struct Registrations {
    /// For good, in the reply to `initialize`.
    fixed: BTreeSet<Feature>,
    /// Until further notice, each under its number. Numbers are not used again, so that an offer and the withdrawal of
    /// the one before may overtake each other.
    registered: BTreeMap<Feature, u64>,
    last: u64,
    /// Features that could no longer be announced; the user was notified.
    late: BTreeSet<Feature>,
}

impl Registrations {
    /// The features in the reply to `initialize`: wanted ones that cannot be registered later.
    pub(super) fn begin(
        &mut self,
        wanted: &BTreeSet<Feature>,
        registers: &BTreeSet<Feature>,
    ) -> &BTreeSet<Feature> {
        self.fixed = wanted.difference(registers).copied().collect();
        &self.fixed
    }

    /// The registrations for a change, and features that it is too late for.
    fn change(
        &mut self,
        wanted: &BTreeSet<Feature>,
        registers: &BTreeSet<Feature>,
    ) -> (Vec<Outbound>, Vec<Feature>) {
        let mut told = Vec::new();
        let mut late = Vec::new();
        for feature in Feature::ALL {
            match (wanted.contains(&feature), self.registered.get(&feature)) {
                (true, None) if registers.contains(&feature) => {
                    self.last += 1;
                    self.registered.insert(feature, self.last);
                    told.push(Outbound::Offer(feature, self.last));
                }
                (true, None) if !self.fixed.contains(&feature) && self.late.insert(feature) => {
                    late.push(feature);
                }
                (false, Some(&number)) => {
                    self.registered.remove(&feature);
                    told.push(Outbound::Withdraw(feature, number));
                }
                _ => {}
            }
        }
        (told, late)
    }
}

impl MainLoop {
    /// Announces features according to the current settings.
    pub(super) fn offer(&mut self) {
        let wanted = navigation::features(&self.world.snapshot.settings.lsp);
        let (told, late) = self.registrations.change(&wanted, &self.world.client.registers);
        told.into_iter().for_each(|told| self.say(told));
        if !late.is_empty() {
            let late: Vec<&str> = late.into_iter().map(Feature::method).collect();
            let message = format!(
                "this editor accepts {} only at startup; enable it in `initializationOptions.settings`",
                late.join(", ")
            );
            self.services.warn("settings", message);
        }
    }
}
