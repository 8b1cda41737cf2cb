//! Requests to a provider and how much of an answer is read. Stands where the provider library would use its own HTTP client,
//! so that every body has a limit, no redirection is followed with a key, and errors keep what a retry needs to know.

use std::error::Error;
use std::future::{Future, ready};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName};
use reqwest::redirect::Policy;
use rig_core::http_client::{
    self, HttpClientExt, LazyBody, MultipartForm, Request, Response, StreamingResponse,
};
use serde_json::Value;

use super::key::Key;
use super::provider::ProviderKind;

/// The most that is read of one answer: the text may be escaped throughout, and what a model thought comes with it.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// The most that is read of a refusal; what is further back is not told anyway.
const MAX_REFUSAL: usize = 64 * 1024;

/// The most characters of what a provider says that an error repeats.
const EXCERPT: usize = 300;

/// How long the way to a provider may take to open.
const CONNECT: Duration = Duration::from_secs(10);

/// The way to one provider for one try, as the library takes it. The default, which the library insists on, leads nowhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Transport(Option<Arc<Endpoint>>);

/// Where a request goes, and what came back.
#[derive(Debug)]
pub(super) struct Endpoint {
    client: reqwest::Client,
    kind: ProviderKind,
    key: Option<Key>,
    seen: OnceLock<BodyExcerpt>,
}

/// What is kept of a body for an error to repeat; clipped, in one line, without the key.
#[derive(Clone, Debug, Default)]
pub(super) struct BodyExcerpt {
    pub(super) excerpt: String,
    /// What it says in words, when it is an error in the form of a provider.
    pub(super) stated: Option<String>,
}

/// What went wrong on the way, for the one who decides about another try.
#[derive(Debug, thiserror::Error)]
pub(super) enum TransportError {
    /// A status other than success.
    #[error("refused with {status}")]
    Refused { status: u16, message: String, retry_after: Option<Duration> },
    #[error("no connection: {0}")]
    NoConnection(String),
    /// A connection that ended before the answer did.
    #[error("connection cut: {0}")]
    Cut(String),
    /// More than [`MAX_BODY`].
    #[error("too long")]
    TooLong,
    /// Something else than JSON.
    #[error("no JSON")]
    NoJson,
}

impl Transport {
    /// A transport that goes one way.
    pub(super) fn new(way: &Arc<Endpoint>) -> Self {
        Self(Some(Arc::clone(way)))
    }
}

impl Endpoint {
    /// The way to a kind of provider, with the key that opens it.
    pub(super) fn new(kind: ProviderKind, key: Option<Key>) -> Result<Arc<Self>, String> {
        let client = client()?.clone();
        Ok(Arc::new(Self { client, kind, key, seen: OnceLock::new() }))
    }

    /// What came, when something did.
    pub(super) fn seen(&self) -> BodyExcerpt {
        self.seen.get().cloned().unwrap_or_default()
    }

    /// The request as the library wrote it, with the key where this kind of provider looks for it and nowhere else.
    fn request(&self, request: Request<Bytes>) -> http_client::Result<reqwest::Request> {
        let (mut parts, body) = request.into_parts();
        let places =
            [AUTHORIZATION, HeaderName::from_static("x-api-key"), HeaderName::from_static("x-goog-api-key")];
        for place in &places {
            parts.headers.remove(place);
        }
        let [bearer, anthropic, google] = places;
        let (place, scheme) = match self.kind {
            ProviderKind::Anthropic => (anthropic, ""),
            ProviderKind::Gemini => (google, ""),
            ProviderKind::OpenAi | ProviderKind::Ollama => (bearer, "Bearer "),
        };
        if let Some(value) = self.key.as_ref().and_then(|key| key.header(scheme)) {
            parts.headers.insert(place, value);
        }
        let mut url = reqwest::Url::parse(&parts.uri.to_string()).map_err(|error| instance(error.into()))?;
        // Where the library would write Gemini's key. No provider's request for one answer has another query.
        url.set_query(None);
        let request = self.client.request(parts.method, url).headers(parts.headers).body(body);
        request.build().map_err(|error| instance(error.without_url().into()))
    }

    /// Sends a request and reads the answer, both within the limits.
    async fn exchange(&self, request: reqwest::Request) -> Result<Bytes, TransportError> {
        let mut response = self.client.execute(request).await.map_err(|error| {
            let unconnected = error.is_connect();
            let reason = self.chain(error.without_url());
            if unconnected { TransportError::NoConnection(reason) } else { TransportError::Cut(reason) }
        })?;
        let status = response.status();
        let limit = if status.is_success() { MAX_BODY } else { MAX_REFUSAL };
        let mut body = Vec::new();
        let whole = loop {
            match response.chunk().await {
                Ok(None) => break true,
                Ok(Some(chunk)) if body.len() + chunk.len() > limit => break false,
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Err(_) if !status.is_success() => break false,
                Err(error) => return Err(TransportError::Cut(self.chain(error.without_url()))),
            }
        };
        let seen = BodyExcerpt {
            excerpt: self.excerpt(&String::from_utf8_lossy(&body)),
            stated: stated(&body).map(|stated| self.excerpt(&stated)),
        };
        let seen = self.seen.get_or_init(|| seen);
        if !status.is_success() {
            let retry_after = retry_after(response.headers());
            let message = seen.stated.as_ref().unwrap_or(&seen.excerpt).clone();
            return Err(TransportError::Refused { status: status.as_u16(), message, retry_after });
        }
        if !whole {
            return Err(TransportError::TooLong);
        }
        // Looked at here because the library would write a body that it cannot read into the log.
        serde_json::from_slice::<serde::de::IgnoredAny>(&body).map_err(|_| TransportError::NoJson)?;
        Ok(body.into())
    }

    /// The beginning of a text, in one line, without the key.
    fn excerpt(&self, text: &str) -> String {
        let text = self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text));
        let mut words =
            text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
        let mut line = words.next().unwrap_or_default().to_owned();
        for word in words.take(EXCERPT) {
            line.push(' ');
            line.push_str(word);
        }
        match line.char_indices().nth(EXCERPT) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None if line.is_empty() => "nothing".to_owned(),
            None => line,
        }
    }

    /// An error with what is behind it.
    fn chain(&self, error: reqwest::Error) -> String {
        let mut said = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_said = cause.to_string();
            if !said.contains(&cause_said) {
                said = format!("{said}: {cause_said}");
            }
            source = cause.source();
        }
        self.excerpt(&said)
    }
}

impl HttpClientExt for Transport {
    fn send<T, U>(
        &self,
        request: Request<T>,
    ) -> impl Future<Output = http_client::Result<Response<LazyBody<U>>>> + Send + 'static
    where
        T: Into<Bytes> + Send,
        U: From<Bytes> + Send + 'static,
    {
        let Self(way) = self.clone();
        let request = request.map(Into::into);
        async move {
            let way = way.ok_or_else(|| instance("no way".into()))?;
            let body = way.exchange(way.request(request)?).await.map_err(|fault| instance(fault.into()))?;
            let body: LazyBody<U> = Box::pin(ready(Ok(U::from(body))));
            Ok(Response::new(body))
        }
    }

    fn send_multipart<U>(
        &self,
        _: Request<MultipartForm>,
    ) -> impl Future<Output = http_client::Result<Response<LazyBody<U>>>> + Send + 'static
    where
        U: From<Bytes> + Send + 'static,
    {
        ready(Err(instance("no question is asked in several parts".into())))
    }

    fn send_streaming<T>(
        &self,
        _: Request<T>,
    ) -> impl Future<Output = http_client::Result<StreamingResponse>> + Send
    where
        T: Into<Bytes> + Send,
    {
        ready(Err(instance("an answer is taken whole or not at all".into())))
    }
}

/// How long a provider asks to wait: in seconds, or in milliseconds as OpenAI does. A date is not read, as providers send none.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// What a provider says in words in a refusal. All four keep it in one of these places.
fn stated(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let places = ["/error/message", "/0/error/message", "/error", "/message"];
    let said = places.iter().find_map(|place| body.pointer(place)?.as_str())?;
    Some(said.to_owned())
}

/// The connections of all questions. None is kept open: there are minutes between two questions.
fn client() -> Result<&'static reqwest::Client, String> {
    static CLIENT: OnceLock<Result<reqwest::Client, String>> = OnceLock::new();
    let build = || {
        // Fails when someone was faster, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::Client::builder()
            .user_agent(concat!("strata/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .connect_timeout(CONNECT)
            .pool_max_idle_per_host(0)
            .build()
            .map_err(|error| error.to_string())
    };
    CLIENT.get_or_init(build).as_ref().map_err(Clone::clone)
}

fn instance(error: Box<dyn Error + Send + Sync>) -> http_client::Error {
    http_client::Error::Instance(error)
}
