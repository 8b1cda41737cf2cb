//! Whether the server has an endpoint.

use strata_host::endpoint::Endpoint;

#[derive(Default)]
pub(super) enum EndpointState {
    /// The server must not have one, for example in a test.
    #[default]
    Disabled,
    /// The endpoint opens when the client is initialized.
    Requested,
    /// The endpoint is open until this is dropped, or could not be opened.
    Opened { _endpoint: Option<Endpoint> },
}
