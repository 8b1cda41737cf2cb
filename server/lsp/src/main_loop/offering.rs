//! Announces and withdraws features as the settings change.

use super::MainLoop;
use crate::navigation::feature_method;

impl MainLoop {
    /// Announces or withdraws features according to the current settings.
    pub(super) fn update_registrations(&mut self) {
        let enabled = &self.world.snapshot.settings.lsp.features;
        let (messages, late) = self.registrations.update(enabled, &self.world.client.registrable_features);
        messages.into_iter().for_each(|message| self.send_to_client(message));
        if !late.is_empty() {
            let late: Vec<&str> = late.into_iter().map(feature_method).collect();
            let message = format!(
                "this editor accepts {} only at startup; enable it in `initializationOptions.settings`",
                late.join(", ")
            );
            self.services.warn("settings", message);
        }
    }
}
