//! How a provider is reached, as data: addresses, keys, and the questions about a local server's window. Connects to
//! nothing.

use serde_json::Value;

use super::reply::{ProviderError, Reply};

/// The address of a provider's API, and what it expects besides request bodies. Paths are appended to the base URL.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// Default base URL, in which `REGION` stands for the region.
    pub base_url: &'static str,
    /// Environment variables that contain the region. The first valid one applies.
    pub region_variables: &'static [&'static str],
    /// Ends of a base URL that users add needlessly, longest first.
    pub superfluous: &'static [&'static str],
    /// Path of a request, with a query if needed. Contains `{model}` if the model is not a field of the body.
    pub path: &'static str,
    /// Path of a request for a streamed answer, if it is another one.
    pub stream_path: Option<&'static str>,
    /// Beginning of a model's name that the path already contains.
    pub model_prefix: &'static str,
    /// Path of the list of models.
    pub models_path: &'static str,
    /// Returns the host of the list of models, given the host of the base URL, if it is another one.
    pub models_host: fn(&str) -> Option<String>,
    /// Environment variable from which the provider's own client reads the key. `None` if no key is needed.
    pub key_variable: Option<&'static str>,
    /// Whether servers at another base URL may need no key.
    pub is_key_optional_elsewhere: bool,
    /// Headers for the key, of which the first that matches the host applies.
    pub key_headers: &'static [KeyHeader],
    /// Further headers.
    pub headers: &'static [(&'static str, &'static str)],
    /// Beginnings of the names of models that imply this provider, in lower case. `#` stands for a digit.
    pub implied_by: &'static [&'static str],
    /// Ends of the hosts at which a model's name may have the provider's name as a prefix. Empty for all hosts.
    pub prefix_hosts: &'static [&'static str],
    /// Returns how to find the window that a local server gives to `model`, given the answers so far. An answer is
    /// `None` if the server gave none.
    pub window: fn(model: &str, answers: &[Option<Value>]) -> WindowLookupStep,
    /// How to ask for a summary, if not with a request body of the format.
    pub question: Option<QuestionEndpoint>,
}

/// A header that contains the key.
#[derive(Clone, Copy, Debug)]
pub struct KeyHeader {
    /// Suffix of the host names for which this header is used. An empty suffix matches every host.
    pub host: &'static str,
    pub name: &'static str,
    /// Text before the key.
    pub scheme: &'static str,
}

/// `Authorization: Bearer`, at any host.
pub(crate) const BEARER: KeyHeader = KeyHeader { host: "", name: "authorization", scheme: "Bearer " };

/// The next step in finding the window of a local server.
#[derive(Clone, PartialEq, Debug)]
pub enum WindowLookupStep {
    /// Requests the list of models.
    Models,
    /// Requests a path of the server's own API, with a POST if there is a body.
    Ask { path: &'static str, body: Option<Value> },
    /// Loads the model with a POST, which may take minutes. If that fails, the window stays unknown.
    Load { path: &'static str, body: Value },
    /// The window in tokens, if it is known.
    End(Option<u64>),
}

/// A question to the API of a local server, which is answered in one piece.
#[derive(Clone, Copy, Debug)]
pub struct QuestionEndpoint {
    pub path: &'static str,
    /// Writes the body from the model, the system prompt, the prompt, and the limit of the answer in tokens.
    pub body: fn(&str, &str, &str, usize) -> Value,
    pub read: fn(&[u8]) -> Result<Reply, ProviderError>,
}

impl Endpoint {
    /// An endpoint in which only what all providers have is missing.
    pub(super) const PLAIN: Self = Self {
        base_url: "",
        region_variables: &[],
        superfluous: &[],
        path: "",
        stream_path: None,
        model_prefix: "",
        models_path: "models",
        models_host: |_| None,
        key_variable: None,
        is_key_optional_elsewhere: false,
        key_headers: &[BEARER],
        headers: &[],
        implied_by: &[],
        prefix_hosts: &[],
        window: |_, _| WindowLookupStep::End(None),
        question: None,
    };

    /// Whether the name of a model implies this provider.
    pub fn matches_model_name(&self, model: &str) -> bool {
        let fits = |(pattern, character): (char, char)| match pattern {
            '#' => character.is_ascii_digit(),
            pattern => character.eq_ignore_ascii_case(&pattern),
        };
        let begins = |beginning: &str| {
            model.chars().count() >= beginning.len() && beginning.chars().zip(model.chars()).all(fits)
        };
        self.implied_by.iter().any(|beginning| begins(beginning))
    }
}
