//! Systems without local endpoints. No server listens, so clients find none.

use std::path::Path;
use std::time::Duration;

use super::{Address, AskError, EndpointError};

/// The endpoint of a server. Never exists on this system.
#[derive(Debug)]
pub struct Endpoint(());

impl Endpoint {
    /// # Errors
    /// Always returns [`EndpointError::Unsupported`].
    pub fn open(
        _: &Path,
        _: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static,
    ) -> Result<Self, EndpointError> {
        Err(EndpointError::Unsupported)
    }
}

/// Returns no endpoints.
pub fn endpoints(_: &Path) -> Vec<Address> {
    Vec::new()
}

/// # Errors
/// Always returns [`AskError::Ended`].
pub fn ask(_: &Address, _: &[u8], _: Duration) -> Result<Vec<u8>, AskError> {
    Err(AskError::Ended)
}
