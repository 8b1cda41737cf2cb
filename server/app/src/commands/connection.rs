//! Connects a command that asks a model with the provider in the settings.

use std::sync::Arc;

use super::{CommandError, Context, ModelConnection};
use crate::services::provider_client::ProviderClient;

impl ModelConnection {
    /// Connects to the provider in the settings, after checking its configuration, and to a client. The `model` and
    /// `max_output_tokens` override the settings. Also returns the model.
    pub(super) fn new(
        stream: Option<String>,
        model: Option<&str>,
        max_output_tokens: Option<usize>,
        context: &Context<'_>,
    ) -> Result<(Self, String), CommandError> {
        let workspace = context.snapshot.clone();
        let client = ProviderClient::from_settings(&workspace.settings, model)?;
        client.check_configuration()?;
        let (format, model) = (client.format(), client.model().to_owned());
        let max_output_tokens = max_output_tokens.or(workspace.settings.provider.max_output_tokens);
        let (session, client) = (context.session.id.to_string(), Arc::new(client));
        Ok((Self { session, stream, client, format, max_output_tokens, workspace }, model))
    }
}
