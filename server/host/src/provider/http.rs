//! One request on the wire, and its response in pieces, for a waiting thread. Follows no redirects, so that keys only go where
//! they were sent. Knows no provider's protocol.

use std::error::Error;
use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Method, Url};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// How long the way to a provider may take to open.
const CONNECT: Duration = Duration::from_secs(10);

/// Maximum bytes read of a rejection.
const MAX_REFUSAL: usize = 64 * 1024;

/// A reusable request. Posts its body, or gets without one.
pub(super) struct Request {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
}

/// A piece of a response, in order: head, body pieces, end. A fault may come anywhere and ends it.
#[derive(Debug)]
pub(super) enum Piece {
    Head(Head),
    Body(Bytes),
    End,
    Fault(Fault),
}

/// The head of a response.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    /// How long the provider asks to wait.
    pub(super) retry_after: Option<Duration>,
    /// Whether the provider says that the same request may do better.
    pub(super) retry_advised: Option<bool>,
}

/// A transport fault.
#[derive(Debug)]
pub(super) enum Fault {
    /// Nothing was sent.
    NotConnected(String),
    /// A connection that ended before the reply did.
    Cut(String),
    /// A body of more bytes than a reply may have.
    TooLong,
}

/// A request on its way. Ends with the value, and its connection with it.
pub(super) struct Pending {
    pub(super) pieces: Receiver<Piece>,
    task: JoinHandle<()>,
}

impl Request {
    /// Sends it. At most this many bytes of a reply are buffered.
    pub(super) fn send(&self, max_bytes: usize) -> Result<Pending, String> {
        let (client, runtime) = (client(&self.url)?, runtime()?);
        let method = if self.body.is_some() { Method::POST } else { Method::GET };
        let mut request = client.request(method, self.url.clone()).headers(self.headers.clone());
        if let Some(body) = &self.body {
            request = request.body(body.clone());
        }
        let request = request.build().map_err(|error| chain(&error.without_url()))?;
        let (sender, pieces) = channel();
        let task = runtime.spawn(async move {
            let last = match exchange(client, request, max_bytes, &sender).await {
                Ok(()) => Piece::End,
                Err(fault) => Piece::Fault(fault),
            };
            // No one listens when it was late.
            let _ = sender.send(last);
        });
        Ok(Pending { pieces, task })
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn exchange(
    client: &Client,
    request: reqwest::Request,
    max_bytes: usize,
    pieces: &Sender<Piece>,
) -> Result<(), Fault> {
    let mut response = client.execute(request).await.map_err(|error| {
        let is_unconnected = error.is_connect();
        let reason = chain(&error.without_url());
        if is_unconnected { Fault::NotConnected(reason) } else { Fault::Cut(reason) }
    })?;
    let is_success = response.status().is_success();
    let headers = response.headers();
    let head = Head {
        status: response.status().as_u16(),
        retry_after: retry_after(headers),
        retry_advised: header(headers, "x-should-retry").and_then(|advice| advice.parse().ok()),
    };
    let _ = pieces.send(Piece::Head(head));
    let mut left = if is_success { max_bytes } else { MAX_REFUSAL };
    loop {
        match response.chunk().await {
            Ok(None) => return Ok(()),
            Ok(Some(mut chunk)) => {
                let is_too_long = chunk.len() > left;
                chunk.truncate(left);
                left -= chunk.len();
                if !chunk.is_empty() {
                    let _ = pieces.send(Piece::Body(chunk));
                }
                if is_too_long {
                    return if is_success { Err(Fault::TooLong) } else { Ok(()) };
                }
            }
            // The outcome of a refusal says enough.
            Err(_) if !is_success => return Ok(()),
            Err(error) => return Err(Fault::Cut(chain(&error.without_url()))),
        }
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// How long a provider asks to wait: in seconds, or in milliseconds as OpenAI does. A date is not read, as providers send none.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| header(headers, name)?.parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// An error with its causes.
fn chain(error: &reqwest::Error) -> String {
    let mut said = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_said = cause.to_string();
        if !said.contains(&cause_said) {
            said = format!("{said}: {cause_said}");
        }
        source = cause.source();
    }
    said
}

/// The connections of all requests, by the proxies and certificates of the system. What goes to this machine passes no proxy, which would
/// get to see the key: only such addresses have no TLS. None is kept open: there are minutes between two requests, and a connection that
/// died meanwhile would look like a reply that was cut.
fn client(url: &Url) -> Result<&'static Client, String> {
    static CLIENTS: OnceLock<Result<[Client; 2], String>> = OnceLock::new();
    let builder = || {
        Client::builder()
            .user_agent(concat!("strata/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .connect_timeout(CONNECT)
            .pool_max_idle_per_host(0)
    };
    let build = || {
        // Fails when someone was faster, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = |builder: ClientBuilder| builder.build().map_err(|error| chain(&error));
        Ok([client(builder())?, client(builder().no_proxy())?])
    };
    let [by_proxy, direct] = CLIENTS.get_or_init(build).as_ref().map_err(Clone::clone)?;
    Ok(if url.scheme() == "https" { by_proxy } else { direct })
}

/// The one worker thread of all requests, started with the first and asleep while there is none.
fn runtime() -> Result<&'static Runtime, String> {
    static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();
    RUNTIME
        .get_or_init(|| {
            Builder::new_multi_thread().worker_threads(1).thread_name("strata-send").enable_all().build()
        })
        .as_ref()
        .map_err(ToString::to_string)
}
