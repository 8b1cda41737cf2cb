//! Finds the keys of providers.

use strata_base::cancel::Cancel;

use super::error::SendError;
use super::key::{ApiKey, KeySource};
use super::key_command;
use super::model::Provider;

impl KeySource {
    /// Checks that a key is available, without running a command.
    pub(super) fn check_key(&self, provider: &Provider) -> Result<(), SendError> {
        match self {
            Self::Command(command) => key_command::check_program(command),
            Self::Usual | Self::None | Self::Variable(_) | Self::Given(_) => {
                self.find_key(provider, &Cancel::new()).map(drop)
            }
        }
    }

    /// Returns the key, or `None` if the provider needs none.
    pub(super) fn find_key(&self, provider: &Provider, cancel: &Cancel) -> Result<Option<ApiKey>, SendError> {
        let required = |variable: &str| match ApiKey::from_environment(variable) {
            Some(key) => Ok(Some(key)),
            None => Err(SendError::NoKey { variable: variable.to_owned() }),
        };
        match self {
            Self::None => Ok(None),
            Self::Given(key) => Ok(Some(key.clone())),
            Self::Variable(variable) => required(variable.as_str()),
            Self::Command(command) => key_command::cached_key_from_command(command, cancel).map(Some),
            Self::Usual => {
                let endpoint = provider.kind.endpoint();
                let is_optional = provider.base_url.is_some() && endpoint.is_key_optional_elsewhere;
                match endpoint.key_variable {
                    Some(variable) if is_optional => Ok(ApiKey::from_environment(variable)),
                    Some(variable) => required(variable),
                    None => Ok(None),
                }
            }
        }
    }

    /// Handles a provider's rejection of the key. A key command runs again for the next request.
    pub(super) fn handle_rejection(&self) {
        if let Self::Command(command) = self {
            key_command::forget_cached_key(command);
        }
    }
}
