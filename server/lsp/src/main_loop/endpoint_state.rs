//! Whether the server has an endpoint.

use strata_host::endpoint::Endpoint;

/// Whether the server has an endpoint.
#[derive(Default)]
pub(super) enum EndpointState {
    /// The server must not have one, for example in a test.
    #[default]
    Unwanted,
    /// The endpoint opens when the client is initialized.
    Wanted,
    /// The endpoint is open until this is dropped, or could not be opened.
    Begun { _endpoint: Option<Endpoint> },
}
