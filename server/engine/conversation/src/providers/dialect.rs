//! What each request format provides: its properties, and the forms of bodies and answers, as one trait. Does not know
//! addresses, keys or the list of formats.

use std::fmt;

use serde_json::{Value, json};

use super::findings::Findings;
use super::reply::{Framing, SseDecoder, StreamedReply};
use super::request::{Envelope, Fields, RequestBody};
use super::rule::Violation;
use super::spoken::{BreakpointTargets, Speaker, SpokenBlock, SpokenMessage};
use crate::history::{ContentBlock, ForeignProvider};

/// What is the same for all bodies of a format.
#[derive(Clone, Copy, Debug)]
pub struct DialectProperties {
    /// Provider whose private blocks this format can contain.
    pub origin: Option<ForeignProvider>,
    /// Blocks that can carry a cache breakpoint.
    pub breakpoint_targets: BreakpointTargets,
    /// Field that names the model.
    pub model_field: &'static str,
    /// Top-level fields that belong to Strata. Clients may not set them, even in a prompt that does not use them.
    pub reserved_fields: &'static [&'static str],
    /// Path of the field that limits the tokens of an answer.
    pub output_limit: &'static [&'static str],
    /// Whether the API rejects requests without a limit for the answer.
    pub requires_output_limit: bool,
    /// Fields that request a streamed answer.
    pub stream_fields: fn() -> Value,
    /// Whether a request that forbids tool calls reads the cache of one that allows them. If not, calls are answered
    /// with an error instead.
    pub caches_across_tool_choices: bool,
    /// Checks a finished body, independently of the code that writes it, and returns every broken rule. Empty if the
    /// provider would accept the body.
    pub(super) check: fn(&Value) -> Findings,
    /// Creates the state in which an answer is assembled.
    pub(super) streamed_reply: fn() -> Box<dyn StreamedReply>,
    /// Creates the state in which a stream is split into events.
    pub(super) framing: fn() -> Box<dyn Framing>,
}

/// The format of one provider's requests and answers. Methods with a body are the common case.
pub trait Dialect: fmt::Debug + Sync {
    fn properties(&self) -> &'static DialectProperties;

    /// Writes a request body after the model, and returns its number of messages, including the system prompt as one.
    fn write(&self, spoken: &[SpokenMessage<'_>], envelope: &Envelope<'_>, body: &mut Fields) -> usize;

    /// Returns the path of the field that limits the tokens of an answer of `model`.
    fn output_limit_path(&self, _model: &str) -> &'static [&'static str] {
        self.properties().output_limit
    }

    /// Returns the rules that a finished body breaks.
    fn check(&self, body: &Value) -> Vec<Violation> {
        (self.properties().check)(body).into_vec()
    }

    /// Writes a request body. The same arguments give the same bytes.
    fn body(&self, spoken: &[SpokenMessage<'_>], envelope: &Envelope<'_>) -> RequestBody {
        let mut fields = Fields::new();
        fields.insert(self.properties().model_field.into(), envelope.model.into());
        let messages = self.write(spoken, envelope, &mut fields);
        RequestBody { fields, messages }
    }

    /// Writes a body that asks one question, without a limit for the answer.
    fn question_body(&self, model: &str, system: &str, prompt: &str) -> Value {
        let [system, prompt] = [system, prompt].map(ContentBlock::text);
        let spoken_message = |speaker, content| {
            let blocks = vec![SpokenBlock { content, mark: None }];
            SpokenMessage { speaker, blocks, volatile: 0 }
        };
        let mut messages =
            vec![spoken_message(Speaker::System, &system), spoken_message(Speaker::User, &prompt)];
        messages
            .retain(|message| message.blocks.iter().all(|block| *block.content != ContentBlock::text("")));
        self.body(&messages, &Envelope::without_tools(model)).fields.into()
    }
}

impl dyn Dialect {
    /// Adds the fields that request a streamed answer.
    pub fn ask_for_stream(&self, body: &mut Value) {
        if let (Some(body), Value::Object(fields)) =
            (body.as_object_mut(), (self.properties().stream_fields)())
        {
            body.extend(fields);
        }
    }

    /// Writes a body that asks one question.
    pub fn question(&self, model: &str, system: &str, prompt: &str, output_tokens: usize) -> Value {
        let mut body = self.question_body(model, system, prompt);
        self.limit_output(&mut body, output_tokens);
        body
    }

    /// Limits the answer to `tokens`. Keeps an existing limit.
    pub fn limit_output(&self, body: &mut Value, tokens: usize) {
        let model = body.get(self.properties().model_field).and_then(Value::as_str).unwrap_or_default();
        let Some((field, groups)) = self.output_limit_path(model).split_last() else { return };
        let mut place = body;
        for group in groups {
            let Some(fields) = place.as_object_mut() else { return };
            place = fields.entry(*group).or_insert_with(|| json!({}));
        }
        if let Some(fields) = place.as_object_mut() {
            fields.entry(*field).or_insert_with(|| tokens.into());
        }
    }
}

impl DialectProperties {
    /// The most common properties, with the check and the assembly of one format.
    pub(super) const fn new(
        check: fn(&Value) -> Findings,
        streamed_reply: fn() -> Box<dyn StreamedReply>,
    ) -> Self {
        Self {
            origin: None,
            breakpoint_targets: BreakpointTargets::Any,
            model_field: "model",
            reserved_fields: &[],
            output_limit: &["max_tokens"],
            requires_output_limit: false,
            stream_fields: || json!({"stream": true}),
            caches_across_tool_choices: true,
            check,
            streamed_reply,
            framing: || Box::<SseDecoder>::default(),
        }
    }
}
