//! Builds request URLs: checks which base URLs are allowed, and appends the path of each protocol.

use std::net::IpAddr;

use reqwest::Url;
use strata_engine::prompt::settings::ProviderName;

use super::error::SendError;
use super::model::Provider;

/// Endpoint of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// A message whose reply arrives in one piece.
    Whole,
    /// A message whose reply is streamed.
    Stream,
    /// A path of the server's own API, beside the provider's protocol.
    Server(&'static [&'static str]),
    /// The list of available models.
    Models,
}

/// The base URL and model of a provider's requests.
pub(super) struct Address<'a> {
    kind: ProviderName,
    base: String,
    /// Query of the base URL, which Azure requires (`api-version=2024-10-21`).
    query: Option<String>,
    model: &'a str,
}

impl<'a> Address<'a> {
    /// Takes the configured base URL, or else the provider's default, and removes path suffixes that users commonly
    /// add.
    pub(super) fn of(provider: &'a Provider) -> Result<Self, SendError> {
        let kind = provider.kind;
        let (base, query) = match provider.base_url.as_deref() {
            Some(given) => allowed(given)?,
            None => (own(kind)?, None),
        };
        let base = superfluous(kind).iter().find_map(|end| base.strip_suffix(end)).unwrap_or(&base);
        Ok(Self { kind, base: base.to_owned(), query, model: &provider.model })
    }

    /// Whether the server is on this machine.
    pub(super) fn is_on_this_machine(&self) -> bool {
        Url::parse(&self.base).is_ok_and(|url| is_loopback(&url))
    }

    pub(super) fn url(&self, target: Target) -> Result<Url, SendError> {
        let path: &[&str] = match (self.kind, target) {
            (_, Target::Server(path)) => path,
            (ProviderName::Anthropic, Target::Models) => &["v1", "models"],
            (ProviderName::Anthropic, _) => &["v1", "messages"],
            (ProviderName::OpenAi | ProviderName::Responses, Target::Models) => &["models"],
            (ProviderName::OpenAi, _) => &["chat", "completions"],
            (ProviderName::Responses, _) => &["responses"],
            (ProviderName::Ollama, Target::Models) => &["v1", "models"],
            (ProviderName::Ollama, _) => &["v1", "chat", "completions"],
            (ProviderName::Gemini, _) => &["v1beta", "models"],
            (ProviderName::Bedrock, Target::Models) => &["foundation-models"],
            (ProviderName::Bedrock, _) => &["model"],
        };
        let bad = |reason: &str| SendError::BadAddress { reason: reason.to_owned() };
        let base = match target {
            Target::Server(_) => self.base.strip_suffix("/v1").unwrap_or(&self.base),
            _ => &self.base,
        };
        let mut url = Url::parse(base).map_err(|error| bad(&error.to_string()))?;
        if self.kind == ProviderName::Bedrock
            && target == Target::Models
            && let Some(host) = url.host_str().and_then(bedrock_models_host)
        {
            url.set_host(Some(&host)).map_err(|error| bad(&error.to_string()))?;
        }
        let mut segments = url.path_segments_mut().map_err(|()| bad("it has no path"))?;
        segments.pop_if_empty().extend(path);
        if self.kind == ProviderName::Gemini && target != Target::Models {
            let method = if target == Target::Stream { "streamGenerateContent" } else { "generateContent" };
            let model = self.model.strip_prefix("models/").unwrap_or(self.model);
            segments.push(&format!("{model}:{method}"));
        }
        if self.kind == ProviderName::Bedrock && target != Target::Models {
            let method = if target == Target::Stream { "converse-stream" } else { "converse" };
            segments.push(self.model).push(method);
        }
        drop(segments);
        url.set_query(self.query.as_deref());
        if self.kind == ProviderName::Gemini && target == Target::Stream {
            url.set_query(Some("alt=sse"));
        }
        Ok(url)
    }
}

/// Whether `text` is non-empty and free of whitespace and control characters.
pub(super) fn is_model_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_control() || c.is_whitespace())
}

/// Returns the default base URL of a provider.
///
/// # Errors
/// [`SendError::BadAddress`] if Bedrock's region is unknown.
fn own(kind: ProviderName) -> Result<String, SendError> {
    let base = match kind {
        ProviderName::Anthropic => "https://api.anthropic.com",
        ProviderName::OpenAi | ProviderName::Responses => "https://api.openai.com/v1",
        ProviderName::Gemini => "https://generativelanguage.googleapis.com",
        ProviderName::Ollama => "http://localhost:11434",
        ProviderName::Bedrock => {
            let reason = "the region is unknown: set AWS_REGION, or provider.base_url \
                          (https://bedrock-runtime.REGION.amazonaws.com)";
            let region = region(|name| std::env::var(name).ok());
            let region = region.ok_or_else(|| SendError::BadAddress { reason: reason.to_owned() })?;
            return Ok(format!("https://bedrock-runtime.{region}.amazonaws.com"));
        }
    };
    Ok(base.to_owned())
}

/// Returns the first valid region of the variables that Amazon's own clients read.
fn region(variable: impl Fn(&'static str) -> Option<String>) -> Option<String> {
    ["AWS_REGION", "AWS_DEFAULT_REGION"].into_iter().filter_map(variable).find(|region| is_region(region))
}

/// Whether `text` can be the name of an AWS region, which becomes part of a host name.
fn is_region(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Returns the path suffixes to remove from a base URL. Users may add them, although Strata appends them to each
/// request.
const fn superfluous(kind: ProviderName) -> &'static [&'static str] {
    match kind {
        ProviderName::Anthropic => &["/v1/messages", "/v1"],
        ProviderName::OpenAi => &["/chat/completions"],
        ProviderName::Responses => &["/responses"],
        ProviderName::Gemini => &["/v1beta/models", "/v1beta"],
        ProviderName::Bedrock => &["/model"],
        ProviderName::Ollama => &["/v1/chat/completions", "/v1", "/api/chat", "/api"],
    }
}

/// Checks that requests with a key may be sent to a base URL. Returns it without trailing slashes, and its query.
fn allowed(given: &str) -> Result<(String, Option<String>), SendError> {
    let bad = |reason: &str| SendError::BadAddress { reason: reason.to_owned() };
    let mut url = Url::parse(given.trim()).map_err(|error| bad(&error.to_string()))?;
    match url.scheme() {
        "https" => {}
        "http" if is_loopback(&url) => {}
        "http" => {
            return Err(bad(
                "http:// would send the key unencrypted; use https://, or an address on this machine",
            ));
        }
        _ => return Err(bad("it must begin with https://, or with http:// on this machine")),
    }
    let is_version = |(name, _): (std::borrow::Cow<'_, str>, _)| name == "api-version";
    if !url.username().is_empty() || url.password().is_some() || !url.query_pairs().all(is_version) {
        return Err(bad(
            "it contains a user name, a password or a key; put the key in an environment variable",
        ));
    }
    if url.fragment().is_some() {
        return Err(bad("it has a fragment (`#`)"));
    }
    let query = url.query().filter(|query| !query.is_empty()).map(str::to_owned);
    url.set_query(None);
    Ok((url.as_str().trim_end_matches('/').to_owned(), query))
}

/// Returns the host of Bedrock's list of models for a public host of Amazon that answers requests. `None` for other
/// hosts, such as gateways and private endpoints: the key must not go to a host that the user did not name.
/// <https://docs.aws.amazon.com/general/latest/gr/bedrock.html>
fn bedrock_models_host(host: &str) -> Option<String> {
    if !host.ends_with(".amazonaws.com") || host.contains(".vpce.") {
        return None;
    }
    let renamed = |from: &str, to: &str| host.strip_prefix(from).map(|rest| format!("{to}{rest}"));
    renamed("bedrock-runtime.", "bedrock.").or_else(|| renamed("bedrock-runtime-fips.", "bedrock-fips."))
}

/// Whether a URL belongs to Azure, whose keys have a header of their own:
/// <https://learn.microsoft.com/azure/ai-foundry/openai/reference#authentication>.
pub(super) fn is_azure(url: &Url) -> bool {
    url.host_str().is_some_and(|host| host.ends_with(".azure.com"))
}

/// Whether a base URL belongs to Amazon.
pub(super) fn is_amazon(base_url: &str) -> bool {
    let url = Url::parse(base_url.trim()).ok();
    let is_theirs = |host: &str| host.ends_with(".amazonaws.com") || host.ends_with(".amazonaws.com.cn");
    url.is_some_and(|url| url.host_str().is_some_and(is_theirs))
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
    use super::super::key::KeySource;
    use super::*;

    fn url(
        kind: ProviderName,
        base_url: Option<&str>,
        model: &str,
        target: Target,
    ) -> Result<String, SendError> {
        let base_url = base_url.map(str::to_owned);
        let provider = Provider { kind, base_url, model: model.to_owned(), key: KeySource::None };
        Ok(Address::of(&provider)?.url(target)?.to_string())
    }

    #[test]
    fn requests_go_where_each_provider_takes_them() {
        use ProviderName::{Anthropic, Gemini, Ollama, OpenAi, Responses};
        for (kind, target, expected) in [
            (Anthropic, Target::Whole, "https://api.anthropic.com/v1/messages"),
            (Anthropic, Target::Stream, "https://api.anthropic.com/v1/messages"),
            (Anthropic, Target::Models, "https://api.anthropic.com/v1/models"),
            (OpenAi, Target::Stream, "https://api.openai.com/v1/chat/completions"),
            (OpenAi, Target::Models, "https://api.openai.com/v1/models"),
            (Responses, Target::Stream, "https://api.openai.com/v1/responses"),
            (
                Gemini,
                Target::Whole,
                "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
            ),
            (
                Gemini,
                Target::Stream,
                "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse",
            ),
            (Gemini, Target::Models, "https://generativelanguage.googleapis.com/v1beta/models"),
            (Ollama, Target::Stream, "http://localhost:11434/v1/chat/completions"),
            (Ollama, Target::Server(&["api", "chat"]), "http://localhost:11434/api/chat"),
        ] {
            assert_eq!(url(kind, None, "m", target).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn a_model_cannot_lead_to_another_address() {
        for (model, expected) in [
            ("models/gemini-3", "http://[::1]/v1beta/models/gemini-3:generateContent"),
            ("../../evil", "http://[::1]/v1beta/models/..%2F..%2Fevil:generateContent"),
            ("a?key=b#c", "http://[::1]/v1beta/models/a%3Fkey=b%23c:generateContent"),
        ] {
            let url = url(ProviderName::Gemini, Some("http://[::1]"), model, Target::Whole);
            assert_eq!(url.as_deref(), Ok(expected));
        }
    }

    #[test]
    fn what_people_write_behind_an_address_is_no_part_of_it() {
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
            assert_eq!(url(kind, Some(base), "m", Target::Whole).as_deref(), Ok(expected), "{base}");
        }
    }

    #[test]
    fn bedrock_has_the_model_in_the_address() {
        let base = Some("https://bedrock-runtime.eu-west-1.amazonaws.com/");
        let (profile, arn) =
            ("eu.anthropic.claude-x-v1:0", "arn:aws:bedrock:eu-west-1:1:inference-profile/a");
        for (model, target, expected) in [
            (
                profile,
                Target::Whole,
                "-runtime.eu-west-1.amazonaws.com/model/eu.anthropic.claude-x-v1:0/converse",
            ),
            (
                profile,
                Target::Stream,
                "-runtime.eu-west-1.amazonaws.com/model/eu.anthropic.claude-x-v1:0/converse-stream",
            ),
            (
                arn,
                Target::Whole,
                "-runtime.eu-west-1.amazonaws.com/model/arn:aws:bedrock:eu-west-1:1:inference-profile%2Fa/converse",
            ),
            (profile, Target::Models, ".eu-west-1.amazonaws.com/foundation-models"),
        ] {
            let found = url(ProviderName::Bedrock, base, model, target).unwrap();
            assert_eq!(found.strip_prefix("https://bedrock"), Some(expected), "{target:?}");
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
            let found = url(ProviderName::Bedrock, Some(&format!("https://{host}")), profile, Target::Models);
            assert_eq!(found, Ok(format!("https://{expected}/foundation-models")));
        }
        for (first, second, expected) in [
            (Some("eu-west-1"), Some("us-east-1"), Some("eu-west-1")),
            (None, Some("us-east-1"), Some("us-east-1")),
            (Some(""), Some("us-east-1"), Some("us-east-1")),
            (Some("a.example/"), Some("us-east-1"), Some("us-east-1")),
            (Some("a.example/"), None, None),
        ] {
            let variable = |name| if name == "AWS_REGION" { first } else { second }.map(str::to_owned);
            assert_eq!(region(variable).as_deref(), expected, "{first:?}, {second:?}");
        }
    }

    #[test]
    fn the_version_of_azures_api_may_be_in_the_address() {
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
            assert_eq!(url(ProviderName::OpenAi, Some(base), "m", Target::Stream).as_deref(), Ok(expected));
        }
        let base = Some("https://a.example/?api-version=1&key=secret");
        let refused = url(ProviderName::OpenAi, base, "m", Target::Stream).unwrap_err();
        assert!(!refused.to_string().contains("secret"), "{refused}");
        assert!(is_azure(&Url::parse("https://me.openai.azure.com/openai").unwrap()));
        assert!(!is_azure(&Url::parse("https://azure.com.example/openai").unwrap()));
    }

    #[test]
    fn an_address_that_would_show_a_key_is_refused() {
        let refused = |base| url(ProviderName::OpenAi, Some(base), "m", Target::Whole).unwrap_err();
        for base in
            ["", "localhost:80", "ftp://a/", "https://me:secret@a/", "https://a/?key=secret", "https://a/#x"]
        {
            let refused = refused(base);
            assert!(matches!(refused, SendError::BadAddress { .. }), "{base}");
            assert!(!refused.to_string().contains("secret"), "{refused}");
        }
        for base in [
            "http://api.example.com/v1",
            "http://192.168.1.2:11434",
            "http://localhost.example.com",
            "http://127.0.0.1.example.com",
            "http://[::ffff:10.0.0.1]/",
            "http://0.0.0.0:1/",
        ] {
            let refused = refused(base);
            assert!(refused.to_string().contains("unencrypted"), "{base}: {refused}");
        }
    }
}
