//! Announces and withdraws features as the settings change.

use super::MainLoop;
use crate::navigation::{self, Feature};

impl MainLoop {
    /// Announces or withdraws features according to the current settings.
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
