//! Sends one HTTP request, and passes the response in pieces to a waiting thread. Does not follow redirects, so that
//! keys reach only the intended server.

use std::error::Error;
use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Method, Url};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::address::is_loopback;

/// Timeout for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum bytes to read from the body of an error response.
const MAX_ERROR_BODY_BYTES: usize = 64 * 1024;

/// A request that can be sent repeatedly. Sent as a POST if it has a body, otherwise as a GET.
pub(super) struct HttpRequest {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
}

/// A piece of a response. The head comes first, then the pieces of the body, then the end. A fault can occur at any
/// point and is always the last piece.
#[derive(Debug)]
pub(super) enum ResponsePiece {
    Head(ResponseHead),
    Body(Bytes),
    End,
    Fault(TransportFault),
}

/// The status and the relevant headers of a response.
#[derive(Debug)]
pub(super) struct ResponseHead {
    pub(super) status: u16,
    /// How long the provider asks to wait before a retry.
    pub(super) retry_after: Option<Duration>,
    /// Whether the provider advises retrying the request (header `x-should-retry`).
    pub(super) retry_advised: Option<bool>,
}

#[derive(Debug)]
pub(super) enum TransportFault {
    /// No connection was established, so nothing was sent.
    NotConnected(String),
    /// The connection was lost before the end of the reply.
    Cut(String),
    /// The body exceeds the size limit.
    TooLong,
}

/// A request in progress. Dropping it aborts the request and closes its connection.
pub(super) struct PendingResponse {
    pub(super) pieces: Receiver<ResponsePiece>,
    task: JoinHandle<()>,
}

impl HttpRequest {
    /// Starts sending the request. Accepts at most `max_bytes` bytes of a successful reply.
    pub(super) fn send(&self, max_bytes: usize) -> Result<PendingResponse, String> {
        let (client, runtime) = (client(&self.url)?, runtime()?);
        let method = if self.body.is_some() { Method::POST } else { Method::GET };
        let mut request = client.request(method, self.url.clone()).headers(self.headers.clone());
        if let Some(body) = &self.body {
            request = request.body(body.clone());
        }
        let request = request.build().map_err(|error| error_chain(&error.without_url()))?;
        let (sender, pieces) = channel();
        let task = runtime.spawn(async move {
            let last = match stream_response(client, request, max_bytes, &sender).await {
                Ok(()) => ResponsePiece::End,
                Err(fault) => ResponsePiece::Fault(fault),
            };
            // The receiver is gone if the caller has stopped waiting.
            let _ = sender.send(last);
        });
        Ok(PendingResponse { pieces, task })
    }
}

impl Drop for PendingResponse {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn stream_response(
    client: &Client,
    request: reqwest::Request,
    max_bytes: usize,
    pieces: &Sender<ResponsePiece>,
) -> Result<(), TransportFault> {
    let mut response = client.execute(request).await.map_err(|error| {
        let is_unconnected = error.is_connect();
        let reason = error_chain(&error.without_url());
        if is_unconnected { TransportFault::NotConnected(reason) } else { TransportFault::Cut(reason) }
    })?;
    let is_success = response.status().is_success();
    let headers = response.headers();
    let head = ResponseHead {
        status: response.status().as_u16(),
        retry_after: retry_after(headers),
        retry_advised: header(headers, "x-should-retry").and_then(|advice| advice.parse().ok()),
    };
    let _ = pieces.send(ResponsePiece::Head(head));
    let mut bytes_left = if is_success { max_bytes } else { MAX_ERROR_BODY_BYTES };
    loop {
        match response.chunk().await {
            Ok(None) => return Ok(()),
            Ok(Some(mut chunk)) => {
                let is_too_long = chunk.len() > bytes_left;
                chunk.truncate(bytes_left);
                bytes_left -= chunk.len();
                if !chunk.is_empty() {
                    let _ = pieces.send(ResponsePiece::Body(chunk));
                }
                if is_too_long {
                    return if is_success { Err(TransportFault::TooLong) } else { Ok(()) };
                }
            }
            // The status of an error response is sufficient without the body.
            Err(_) if !is_success => return Ok(()),
            Err(error) => return Err(TransportFault::Cut(error_chain(&error.without_url()))),
        }
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Returns how long the provider asks to wait: in milliseconds (OpenAI), in seconds, or as a date, from the date of the
/// response on, or else from now on (<https://www.rfc-editor.org/rfc/rfc9110#name-retry-after>).
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| header(headers, name)?.parse::<f64>().ok();
    let date = |name: &str| gix::date::parse(header(headers, name)?, None).ok().map(|date| date.seconds);
    if let Some(seconds) = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after")) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = date("retry-after")?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|now| now.as_secs().try_into().ok());
    let wait = until.saturating_sub(date("date").or(now)?);
    Some(Duration::from_secs(wait.try_into().unwrap_or_default()))
}

/// Formats an error with all its causes.
fn error_chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

/// Returns the HTTP client for a URL. Requests use the system's certificates, and its proxies unless they go to this
/// machine. A proxy could not reach it, and would see the key in plain HTTP, which is allowed only to this machine.
/// Connections are not reused, since requests are minutes apart, and a connection lost in between would look like a
/// broken reply.
fn client(url: &Url) -> Result<&'static Client, String> {
    static CLIENTS: OnceLock<Result<[Client; 2], String>> = OnceLock::new();
    let builder = || {
        Client::builder()
            .user_agent(concat!("strata/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_max_idle_per_host(0)
    };
    let build = || {
        // This fails if another thread has already installed a crypto provider, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = |builder: ClientBuilder| builder.build().map_err(|error| error_chain(&error));
        Ok([client(builder())?, client(builder().no_proxy())?])
    };
    let [proxied, direct] = CLIENTS.get_or_init(build).as_ref().map_err(Clone::clone)?;
    Ok(if is_loopback(url) { direct } else { proxied })
}

/// Returns the runtime for all requests. Its single worker thread starts with the first request and sleeps between
/// requests.
fn runtime() -> Result<&'static Runtime, String> {
    static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();
    RUNTIME
        .get_or_init(|| {
            Builder::new_multi_thread().worker_threads(1).thread_name("strata-send").enable_all().build()
        })
        .as_ref()
        .map_err(ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_to_this_machine_bypass_proxies() {
        let client = |url: &str| client(&Url::parse(url).unwrap()).unwrap();
        let direct = client("http://localhost:11434/");
        for url in ["https://localhost/v1", "https://127.0.0.1:8443/", "https://[::1]/", "http://127.0.0.1/"]
        {
            assert!(std::ptr::eq(client(url), direct), "{url}");
        }
        assert!(!std::ptr::eq(client("https://api.openai.com/v1"), direct));
    }

    #[test]
    fn a_wait_may_be_a_number_or_a_date() {
        let date = "Thu, 26 Nov 2026 21:00:00 GMT";
        for (headers, seconds) in [
            (vec![("retry-after", "20")], Some(20.0)),
            (vec![("retry-after", "0.5")], Some(0.5)),
            (vec![("retry-after-ms", "1500"), ("retry-after", "20")], Some(1.5)),
            (vec![("retry-after", "Thu, 26 Nov 2026 21:00:30 GMT"), ("date", date)], Some(30.0)),
            (vec![("retry-after", "Thu, 26 Nov 2026 20:59:00 GMT"), ("date", date)], Some(0.0)),
            (vec![("retry-after", "Thu, 26 Nov 1998 20:59:00 GMT")], Some(0.0)),
            (vec![("retry-after", "later")], None),
            (vec![], None),
        ] {
            let map =
                headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            assert_eq!(retry_after(&map).map(|wait| wait.as_secs_f64()), seconds, "{headers:?}");
        }
    }
}
