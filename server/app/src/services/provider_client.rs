//! The client for the provider in the settings, whose model answers questions. If the settings name no provider,
//! nothing is sent, even if the environment contains keys.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_conversation::providers::{Format, ProviderName};
use strata_host::provider::{KeySource, Provider, RequestLimits, SendError, StreamEvent, StreamOutcome};
use strata_prompt::settings::Settings;

/// Timeout for checking the connection to a provider.
const PROBE_TIMEOUT: Duration = Duration::from_secs(15);

/// Maximum size of an answer as transferred, in bytes.
const MAX_REPLY_BYTES: usize = 16 << 20;

/// A model that answers requests.
pub(crate) trait ModelClient: fmt::Debug + Send + Sync {
    /// Sends a request body and passes on the answer as it arrives, on the caller's thread.
    ///
    /// # Errors
    /// Returns a [`SendError`] if the request fails before anything was passed on.
    fn send(
        &self,
        body: &Value,
        cancel: &Cancel,
        on_event: &mut dyn FnMut(StreamEvent),
    ) -> Result<StreamOutcome, SendError>;

    /// Returns whether the server is on this machine, so that [`Self::window`] asks it and may take minutes.
    fn is_local(&self) -> bool;

    /// Asks a server on this machine for its window, in tokens. `None` if there is none, or it does not say.
    fn window(&self, cancel: &Cancel) -> Option<usize>;
}

/// The settings name no provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "no provider is configured, so nothing is sent: set provider.name to one of {} in your own strata.toml, in your editor's user \
     settings or with --set, and set its key in the environment ({}, or the variable in provider.key_env)",
    list_property(|kind| Some(kind.as_str())),
    list_property(|kind| kind.endpoint().key_variable)
)]
pub(crate) struct ProviderNotConfigured;

/// Lists a property of all providers, each value once.
fn list_property(property: fn(ProviderName) -> Option<&'static str>) -> String {
    let mut values: Vec<&str> = ProviderName::ALL.iter().filter_map(|kind| property(*kind)).collect();
    values.dedup();
    values.join(", ")
}

#[derive(Clone, Debug)]
pub(crate) struct ProviderClient {
    provider: Provider,
    limits: RequestLimits,
}

/// The state of the provider's configuration, and of the connection if it was checked.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderReport {
    pub name: &'static str,
    pub model: String,
    /// Address of the provider. Absent if it is the provider's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Why the provider cannot be used: the key is missing, or must not be sent to the address. Absent if the
    /// configuration is usable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Why the provider does not respond. Absent if it does, or if the connection was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<String>,
    pub asked: bool,
}

/// Returns whether the settings name a provider. Does not check whether its key is available.
pub fn is_configured(settings: &Settings) -> bool {
    settings.provider.name.is_some()
}

impl ProviderClient {
    /// Creates a client for the provider in the settings. `model` overrides the model in the settings.
    ///
    /// # Errors
    /// Returns [`ProviderNotConfigured`] if the settings name no provider.
    pub(crate) fn from_settings(
        settings: &Settings,
        model: Option<&str>,
    ) -> Result<Self, ProviderNotConfigured> {
        let provider_settings = &settings.provider;
        let key = match (provider_settings.key_command.is_empty(), &provider_settings.key_env) {
            (false, _) => KeySource::Command(provider_settings.key_command.clone()),
            (true, Some(variable)) => KeySource::Variable(variable.clone()),
            (true, None) => KeySource::Usual,
        };
        let kind = provider_settings.name.ok_or(ProviderNotConfigured)?;
        let model = model.or(provider_settings.model.as_deref()).unwrap_or(&settings.model).to_owned();
        let provider = Provider { kind, base_url: provider_settings.base_url.clone(), model, key };
        let limits = RequestLimits {
            deadline: Duration::from_secs(provider_settings.timeout_s),
            stall: Duration::from_secs(provider_settings.stall_s),
            max_reply_bytes: MAX_REPLY_BYTES,
            retries: provider_settings.retries,
        };
        Ok(Self { provider, limits })
    }

    pub(crate) fn format(&self) -> Format {
        self.provider.kind.format()
    }

    pub(crate) fn model(&self) -> &str {
        &self.provider.model
    }

    /// Checks the configuration without connecting.
    ///
    /// # Errors
    /// Returns a [`SendError`] that names what is missing.
    pub(crate) fn check_configuration(&self) -> Result<(), SendError> {
        self.provider.check_configuration()
    }

    /// Reports the configuration without connecting.
    pub(crate) fn report(&self) -> ProviderReport {
        ProviderReport {
            name: self.provider.kind.as_str(),
            model: self.provider.model.clone(),
            base_url: self.provider.base_url.clone(),
            problem: self.provider.check_configuration().err().map(|error| error.to_string()),
            unreachable: None,
            asked: false,
        }
    }

    /// Like `report`, but also requests the provider's list of models, which is free.
    pub(crate) fn check_connection(&self, cancel: &Cancel) -> ProviderReport {
        let report = self.report();
        if report.problem.is_some() {
            return report;
        }
        let limits = RequestLimits { deadline: PROBE_TIMEOUT, stall: PROBE_TIMEOUT, ..self.limits.clone() };
        let unreachable =
            self.provider.check_connection(&limits, cancel).err().map(|error| error.to_string());
        ProviderReport { unreachable, asked: true, ..report }
    }
}

impl ModelClient for ProviderClient {
    fn send(
        &self,
        body: &Value,
        cancel: &Cancel,
        on_event: &mut dyn FnMut(StreamEvent),
    ) -> Result<StreamOutcome, SendError> {
        self.provider.stream(body, &self.limits, cancel, on_event)
    }

    fn is_local(&self) -> bool {
        self.provider.is_local()
    }

    fn window(&self, cancel: &Cancel) -> Option<usize> {
        self.provider.context_window(cancel)
    }
}
