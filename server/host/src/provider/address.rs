//! Builds request URLs: checks which base URLs are allowed, and appends the path of each protocol.

use std::net::IpAddr;

use reqwest::Url;
use strata_conversation::providers::Endpoint;

use super::error::SendError;
use super::model::Provider;

/// Endpoint of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RequestTarget {
    /// A message whose reply arrives in one piece.
    Complete,
    /// A message whose reply is streamed.
    Stream,
    /// A path of the server's own API, beside the provider's protocol.
    Server(&'static str),
    /// The list of available models.
    Models,
}

/// The base URL and model of a provider's requests.
pub(super) struct RequestAddress<'a> {
    endpoint: &'static Endpoint,
    base: String,
    /// Query of the base URL, which Azure requires (`api-version=2024-10-21`).
    query: Option<String>,
    model: &'a str,
}

impl<'a> RequestAddress<'a> {
    /// Takes the configured base URL, or else the provider's default, and removes path suffixes that users commonly
    /// add.
    pub(super) fn new(provider: &'a Provider) -> Result<Self, SendError> {
        let endpoint = provider.kind.endpoint();
        let (base, query) = match provider.base_url.as_deref() {
            Some(base_url) => check_base_url(base_url)?,
            None => (default_base_url(endpoint)?, None),
        };
        let base = endpoint.superfluous.iter().find_map(|suffix| base.strip_suffix(suffix)).unwrap_or(&base);
        Ok(Self { endpoint, base: base.to_owned(), query, model: &provider.model })
    }

    pub(super) fn is_on_this_machine(&self) -> bool {
        Url::parse(&self.base).is_ok_and(|url| is_loopback(&url))
    }

    pub(super) fn url(&self, target: RequestTarget) -> Result<Url, SendError> {
        let path = match target {
            RequestTarget::Complete => self.endpoint.path,
            RequestTarget::Stream => self.endpoint.stream_path.unwrap_or(self.endpoint.path),
            RequestTarget::Models => self.endpoint.models_path,
            RequestTarget::Server(path) => path,
        };
        let bad_address = |reason: &str| SendError::BadAddress { reason: reason.to_owned() };
        let base = match target {
            RequestTarget::Server(_) => self.base.strip_suffix("/v1").unwrap_or(&self.base),
            _ => &self.base,
        };
        let mut url = Url::parse(base).map_err(|error| bad_address(&error.to_string()))?;
        if target == RequestTarget::Models
            && let Some(host) = url.host_str().and_then(self.endpoint.models_host)
        {
            url.set_host(Some(&host)).map_err(|error| bad_address(&error.to_string()))?;
        }
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let model = self.model.strip_prefix(self.endpoint.model_prefix).unwrap_or(self.model);
        let segments = path.split('/').map(|segment| segment.replace("{model}", model));
        url.path_segments_mut().map_err(|()| bad_address("it has no path"))?.pop_if_empty().extend(segments);
        url.set_query(query.or(self.query.as_deref()));
        Ok(url)
    }
}

/// Whether `text` is non-empty and free of whitespace and control characters.
pub(super) fn is_valid_model_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_control() || c.is_whitespace())
}

/// Returns the default base URL of a provider.
///
/// # Errors
/// [`SendError::BadAddress`] if it needs a region, and that is unknown.
fn default_base_url(endpoint: &Endpoint) -> Result<String, SendError> {
    let Endpoint { base_url, region_variables, .. } = *endpoint;
    let Some(first) = region_variables.first() else { return Ok(base_url.to_owned()) };
    let unknown = || {
        let reason = format!("the region is unknown: set {first}, or provider.base_url ({base_url})");
        SendError::BadAddress { reason }
    };
    let region =
        region_from_environment(region_variables, |name| std::env::var(name).ok()).ok_or_else(unknown)?;
    Ok(base_url.replace("REGION", &region))
}

/// Returns the first valid region of the variables that the provider's own clients read.
fn region_from_environment(names: &[&str], variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    names.iter().filter_map(|name| variable(name)).find(|region| is_region(region))
}

/// Whether `text` can be the name of a region, which becomes part of a host name.
fn is_region(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Checks that requests with a key may be sent to a base URL. Returns it without trailing slashes, and its query.
fn check_base_url(base_url: &str) -> Result<(String, Option<String>), SendError> {
    let bad_address = |reason: &str| SendError::BadAddress { reason: reason.to_owned() };
    let mut url = Url::parse(base_url.trim()).map_err(|error| bad_address(&error.to_string()))?;
    match url.scheme() {
        "https" => {}
        "http" if is_loopback(&url) => {}
        "http" => {
            return Err(bad_address(
                "http:// would send the key unencrypted; use https://, or an address on this machine",
            ));
        }
        _ => return Err(bad_address("use https://, or http:// for a server on this machine")),
    }
    let is_version = |(name, _): (std::borrow::Cow<'_, str>, _)| name == "api-version";
    if !url.username().is_empty() || url.password().is_some() || !url.query_pairs().all(is_version) {
        return Err(bad_address(
            "it contains a user name, a password or a key; put the key in an environment variable",
        ));
    }
    if url.fragment().is_some() {
        return Err(bad_address("it has a fragment (`#`)"));
    }
    let query = url.query().filter(|query| !query.is_empty()).map(str::to_owned);
    url.set_query(None);
    Ok((url.as_str().trim_end_matches('/').to_owned(), query))
}

pub(super) fn has_host_suffix(base_url: &str, suffixes: &[&str]) -> bool {
    let url = Url::parse(base_url.trim()).ok();
    url.is_some_and(|url| {
        url.host_str().is_some_and(|host| suffixes.iter().any(|suffix| host.ends_with(suffix)))
    })
}

/// Whether the host of a URL is this machine. Host names other than `localhost` do not count, since DNS could resolve
/// them to any address.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => {
            host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use strata_conversation::providers::ProviderName;

    use super::super::key::KeySource;
    use super::*;

    fn url(
        kind: ProviderName,
        base_url: Option<&str>,
        model: &str,
        target: RequestTarget,
    ) -> Result<String, SendError> {
        let base_url = base_url.map(str::to_owned);
        let provider = Provider { kind, base_url, model: model.to_owned(), key: KeySource::None };
        Ok(RequestAddress::new(&provider)?.url(target)?.to_string())
    }

    #[test]
    fn the_url_depends_on_provider_and_target() {
        use ProviderName::{Anthropic, Gemini, Ollama, OpenAi, Responses};
        for (kind, target, expected) in [
            (Anthropic, RequestTarget::Complete, "https://api.anthropic.com/v1/messages"),
            (Anthropic, RequestTarget::Stream, "https://api.anthropic.com/v1/messages"),
            (Anthropic, RequestTarget::Models, "https://api.anthropic.com/v1/models"),
            (OpenAi, RequestTarget::Stream, "https://api.openai.com/v1/chat/completions"),
            (OpenAi, RequestTarget::Models, "https://api.openai.com/v1/models"),
            (Responses, RequestTarget::Stream, "https://api.openai.com/v1/responses"),
            (
                Gemini,
                RequestTarget::Complete,
                "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
            ),
            (
                Gemini,
                RequestTarget::Stream,
                "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse",
            ),
            (Gemini, RequestTarget::Models, "https://generativelanguage.googleapis.com/v1beta/models"),
            (Ollama, RequestTarget::Stream, "http://localhost:11434/v1/chat/completions"),
            (Ollama, RequestTarget::Server("api/chat"), "http://localhost:11434/api/chat"),
        ] {
            assert_eq!(url(kind, None, "m", target).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn a_model_name_cannot_change_the_path() {
        for (model, expected) in [
            ("models/gemini-3", "http://[::1]/v1beta/models/gemini-3:generateContent"),
            ("../../evil", "http://[::1]/v1beta/models/..%2F..%2Fevil:generateContent"),
            ("a?key=b#c", "http://[::1]/v1beta/models/a%3Fkey=b%23c:generateContent"),
        ] {
            let url = url(ProviderName::Gemini, Some("http://[::1]"), model, RequestTarget::Complete);
            assert_eq!(url.as_deref(), Ok(expected));
        }
    }

    #[test]
    fn redundant_suffixes_of_a_base_url_are_removed() {
        for (kind, base, expected) in [
            (ProviderName::Anthropic, "https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
            (ProviderName::Anthropic, "https://a.example/v1/", "https://a.example/v1/messages"),
            (
                ProviderName::Anthropic,
                "https://a.example/api/v1/messages",
                "https://a.example/api/v1/messages",
            ),
            (ProviderName::OpenAi, "http://localhost:1234/v1/", "http://localhost:1234/v1/chat/completions"),
            (
                ProviderName::OpenAi,
                "http://localhost:1234/v1/chat/completions",
                "http://localhost:1234/v1/chat/completions",
            ),
            (
                ProviderName::OpenAi,
                "https://openrouter.ai/api/v1",
                "https://openrouter.ai/api/v1/chat/completions",
            ),
            (ProviderName::Responses, "https://a.example/v1/responses", "https://a.example/v1/responses"),
            (
                ProviderName::Gemini,
                "http://127.0.0.1:9/v1beta",
                "http://127.0.0.1:9/v1beta/models/m:generateContent",
            ),
            (ProviderName::Ollama, "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1/chat/completions"),
            (ProviderName::OpenAi, "http://[::1]:8080/v1", "http://[::1]:8080/v1/chat/completions"),
            (ProviderName::OpenAi, "http://2130706433/v1", "http://127.0.0.1/v1/chat/completions"),
        ] {
            assert_eq!(
                url(kind, Some(base), "m", RequestTarget::Complete).as_deref(),
                Ok(expected),
                "{base}"
            );
        }
    }

    #[test]
    fn the_url_of_bedrock_contains_the_model() {
        let base = Some("https://bedrock-runtime.eu-west-1.amazonaws.com/");
        let (profile, arn) =
            ("eu.anthropic.claude-x-v1:0", "arn:aws:bedrock:eu-west-1:1:inference-profile/a");
        for (model, target, expected) in [
            (
                profile,
                RequestTarget::Complete,
                "-runtime.eu-west-1.amazonaws.com/model/eu.anthropic.claude-x-v1:0/converse",
            ),
            (
                profile,
                RequestTarget::Stream,
                "-runtime.eu-west-1.amazonaws.com/model/eu.anthropic.claude-x-v1:0/converse-stream",
            ),
            (
                arn,
                RequestTarget::Complete,
                "-runtime.eu-west-1.amazonaws.com/model/arn:aws:bedrock:eu-west-1:1:inference-profile%2Fa/converse",
            ),
            (profile, RequestTarget::Models, ".eu-west-1.amazonaws.com/foundation-models"),
        ] {
            let models_url = url(ProviderName::Bedrock, base, model, target).unwrap();
            assert_eq!(models_url.strip_prefix("https://bedrock"), Some(expected), "{target:?}");
        }
        for (host, expected) in [
            ("bedrock-runtime-fips.us-east-1.amazonaws.com", "bedrock-fips.us-east-1.amazonaws.com"),
            ("my-bedrock-runtime.example.com", "my-bedrock-runtime.example.com"),
            ("bedrock-runtime.example.com", "bedrock-runtime.example.com"),
            ("bedrock-runtime.eu-west-1.vpce.amazonaws.com", "bedrock-runtime.eu-west-1.vpce.amazonaws.com"),
            (
                "vpce-1.bedrock-runtime.eu-west-1.vpce.amazonaws.com",
                "vpce-1.bedrock-runtime.eu-west-1.vpce.amazonaws.com",
            ),
        ] {
            let models_url =
                url(ProviderName::Bedrock, Some(&format!("https://{host}")), profile, RequestTarget::Models);
            assert_eq!(models_url, Ok(format!("https://{expected}/foundation-models")));
        }
        for (first, second, expected) in [
            (Some("eu-west-1"), Some("us-east-1"), Some("eu-west-1")),
            (None, Some("us-east-1"), Some("us-east-1")),
            (Some(""), Some("us-east-1"), Some("us-east-1")),
            (Some("a.example/"), Some("us-east-1"), Some("us-east-1")),
            (Some("a.example/"), None, None),
        ] {
            let variable = |name: &str| if name == "AWS_REGION" { first } else { second }.map(str::to_owned);
            let names = ProviderName::Bedrock.endpoint().region_variables;
            assert_eq!(
                region_from_environment(names, variable).as_deref(),
                expected,
                "{first:?}, {second:?}"
            );
        }
    }

    #[test]
    fn the_base_url_may_contain_azures_api_version() {
        for (base, expected) in [
            (
                "https://me.openai.azure.com/openai/deployments/gpt?api-version=2024-10-21",
                "https://me.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21",
            ),
            (
                "https://me.openai.azure.com/openai/v1/?api-version=preview",
                "https://me.openai.azure.com/openai/v1/chat/completions?api-version=preview",
            ),
            (
                "https://me.openai.azure.com/openai/v1/?",
                "https://me.openai.azure.com/openai/v1/chat/completions",
            ),
        ] {
            assert_eq!(
                url(ProviderName::OpenAi, Some(base), "m", RequestTarget::Stream).as_deref(),
                Ok(expected)
            );
        }
        let base = Some("https://a.example/?api-version=1&key=secret");
        let error = url(ProviderName::OpenAi, base, "m", RequestTarget::Stream).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn an_address_that_would_expose_a_key_is_rejected() {
        let error_for =
            |base| url(ProviderName::OpenAi, Some(base), "m", RequestTarget::Complete).unwrap_err();
        for base in
            ["", "localhost:80", "ftp://a/", "https://me:secret@a/", "https://a/?key=secret", "https://a/#x"]
        {
            let error = error_for(base);
            assert!(matches!(error, SendError::BadAddress { .. }), "{base}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        for base in [
            "http://api.example.com/v1",
            "http://192.168.1.2:11434",
            "http://localhost.example.com",
            "http://127.0.0.1.example.com",
            "http://[::ffff:10.0.0.1]/",
            "http://0.0.0.0:1/",
        ] {
            let error = error_for(base);
            assert!(error.to_string().contains("unencrypted"), "{base}: {error}");
        }
    }
}
