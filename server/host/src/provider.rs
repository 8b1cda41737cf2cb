//! The only access to language models: sends a request body and receives a reply, at once or streamed. Owns addresses, keys,
//! deadlines, limits and retries. Never decides what to ask or what to do with a reply, and only connects when called.
//!
//! A key goes from the environment, or from a command of the user's own, into one header of one request. Keys and bodies are in no
//! address, no error and no log.

mod address;
mod attempt;
mod error;
mod http;
mod key;
mod key_command;
mod kind;
mod retry;

use std::time::Duration;

use serde_json::Value;
use strata_engine::cancel::Cancel;
use strata_engine::conversation::dialect::{Format, ask_for_stream};
use strata_engine::conversation::reply::{ProviderError, ProviderErrorKind, Reply, ReplyEvent};
use strata_engine::prompt::settings::ProviderName;

pub use self::error::SendError;
pub use self::key::{Key, KeySource};
pub use self::kind::UnknownModel;

pub(crate) use self::address::Target;

use self::address::Address;
use self::attempt::{Exchange, StreamReading, WholeReading};
use self::http::Request;

/// A model and the way to it.
#[derive(Debug, Clone)]
pub struct Provider {
    /// The protocol that is spoken.
    pub kind: ProviderName,
    /// Where the provider is, as its own client takes it (`https://api.openai.com/v1`, `https://api.anthropic.com`,
    /// `http://localhost:11434`); the provider's own address if there is none.
    pub base_url: Option<String>,
    /// The model as the provider calls it.
    pub model: String,
    /// Where the key comes from.
    pub key: KeySource,
}

/// How long a request may take and how much may come back.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The time from the call to the end of the reply, with all tries and the waits between them.
    pub deadline: Duration,
    /// The longest time without a single byte of a stream. A whole reply may be silent until the deadline.
    pub stall: Duration,
    /// The most bytes of a reply on the wire.
    pub max_reply_bytes: usize,
    /// Tries after the first, for requests that were refused for the moment. One that may have been billed is sent again once at most.
    pub retries: u32,
}

/// A reply, possibly with parts already delivered.
#[derive(Debug)]
pub struct Sent {
    /// The reply so far, with reported usage.
    pub reply: Reply,
    /// Why the reply is not complete, when it broke off or the provider gave up in its middle.
    pub broken: Option<SendError>,
}

impl Default for Limits {
    /// Ten minutes, as the providers' own clients have it.
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(600),
            // Some models reason in silence.
            stall: Duration::from_secs(300),
            max_reply_bytes: 16 << 20,
            retries: 2,
        }
    }
}

impl Provider {
    /// Posts a body and waits for the whole reply. May be called on any thread; raising `cancel` ends it within some 20 ms.
    ///
    /// # Errors
    /// See [`SendError`]. Nothing of a reply is given out with an error.
    pub fn send(&self, body: &Value, limits: &Limits, cancel: &Cancel) -> Result<Reply, SendError> {
        let format = self.kind.format();
        self.post(Target::Whole, body, &|bytes| Reply::read(format, bytes), limits, cancel)
    }

    /// Posts a body and delivers the reply as it arrives, on the caller's thread. After the first delivery, the request is not
    /// sent again, and any early end is in [`Sent::broken`], including a raised `cancel`.
    ///
    /// # Errors
    /// See [`SendError`], when nothing was given out.
    pub fn stream(
        &self,
        body: &Value,
        limits: &Limits,
        cancel: &Cancel,
        on_event: &mut dyn FnMut(ReplyEvent),
    ) -> Result<Sent, SendError> {
        let mut body = body.clone();
        ask_for_stream(self.kind.format(), &mut body);
        let exchange = self.exchange(Target::Stream, Some(&body), limits, cancel)?;
        exchange.run(&mut StreamReading::new(self.kind, on_event))
    }

    /// Asks for the list of models, which costs nothing and needs the key.
    ///
    /// # Errors
    /// See [`SendError`].
    pub fn probe(&self, limits: &Limits, cancel: &Cancel) -> Result<(), SendError> {
        let exchange = self.exchange(Target::Models, None, limits, cancel)?;
        exchange.run(&mut WholeReading::new(self.kind, &read_models))
    }

    /// Whether a request can be sent: the address is allowed, and a required key is there. Opens no connection and runs no
    /// command.
    ///
    /// # Errors
    /// [`SendError::BadAddress`], [`SendError::NoKey`], [`SendError::KeyCommand`].
    pub fn check(&self) -> Result<(), SendError> {
        Address::of(self)?;
        self.key.check(self)
    }

    /// Posts a body to one of the provider's addresses and reads the whole reply by `read`.
    pub(crate) fn post<T>(
        &self,
        target: Target,
        body: &Value,
        read: &dyn Fn(&[u8]) -> Result<T, ProviderError>,
        limits: &Limits,
        cancel: &Cancel,
    ) -> Result<T, SendError> {
        let exchange = self.exchange(target, Some(body), limits, cancel)?;
        exchange.run(&mut WholeReading::new(self.kind, read))
    }

    /// Checks what can be checked without the network, and fetches the key.
    fn exchange<'a>(
        &self,
        target: Target,
        body: Option<&Value>,
        limits: &Limits,
        cancel: &'a Cancel,
    ) -> Result<Exchange<'a>, SendError> {
        cancel.check().map_err(|_| SendError::Cancelled)?;
        let url = Address::of(self)?.url(target)?;
        let key = self.key.find(self, cancel)?;
        let body = body.map(|body| self.bytes(body));
        let request = Request { url, headers: kind::headers(self.kind, key.as_ref()), body };
        let stall = if target == Target::Stream { limits.stall } else { limits.deadline };
        Ok(Exchange::new(request, key, self.key.clone(), Limits { stall, ..limits.clone() }, cancel))
    }

    /// The body to send: Gemini has the model in the address.
    fn bytes(&self, body: &Value) -> bytes::Bytes {
        match body.as_object() {
            Some(fields) if self.kind.format() == Format::Gemini && fields.contains_key("model") => {
                let mut fields = fields.clone();
                fields.shift_remove("model");
                Value::Object(fields).to_string().into()
            }
            _ => body.to_string().into(),
        }
    }
}

/// Checks that a reply is a list of models.
fn read_models(body: &[u8]) -> Result<(), ProviderError> {
    let list: Option<Value> = serde_json::from_slice(body).ok();
    let is_list = list.is_some_and(|list| list.get("data").or(list.get("models")).is_some());
    let error = |message: &str| ProviderError {
        kind: ProviderErrorKind::Garbage,
        message: message.to_owned(),
        retry_after: None,
    };
    if is_list { Ok(()) } else { Err(error("it lists no models")) }
}
