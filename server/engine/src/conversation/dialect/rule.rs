//! The rules that providers hold a request to, by stable names. States them; `check` of each dialect
//! looks for breaches.

use std::fmt;

use serde::{Serialize, Serializer};

/// A provider's rule. Sources: Anthropic's Messages API reference and its guides to prompt caching, tool
/// use, extended thinking and vision; OpenAI's Chat Completions reference and its guide to prompt caching.
/// Where a rule is only known from the provider's refusal, the words of the refusal are given.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Rule {
    /// Both: the fields that a body, a message and a block must have are there and of the right type, and
    /// blocks are of a kind the dialect knows.
    Shape,
    /// Anthropic: `user` and `assistant` only (instructions are the top-level `system`). OpenAI: `system`,
    /// `developer`, `user`, `assistant`, `tool`.
    Role,
    /// Anthropic: "messages: at least one message is required", "all messages must have non-empty
    /// content". OpenAI: a message has content, or, from the assistant, tool calls.
    EmptyMessage,
    /// Anthropic: "text content blocks must be non-empty" and "must contain non-whitespace text", also in
    /// `system` and in tool results.
    EmptyText,
    /// Anthropic: "first message must use the user role".
    FirstUser,
    /// Anthropic: user and assistant take turns. (The API joins turns of one role nowadays; Strata keeps to
    /// the older rule because proxies do.)
    Alternation,
    /// Anthropic: current models refuse a trailing assistant message ("does not support assistant message
    /// prefill").
    TrailingAssistant,
    /// Both: tool calls and reasoning come from the assistant, tool results and pictures from the user.
    BlockPlace,
    /// Anthropic, extended thinking: an assistant message that holds thinking starts with it ("Expected
    /// `thinking` or `redacted_thinking`, but found `text`") and does not end with it ("The final block in
    /// an assistant message cannot be `thinking`").
    ThinkingPlace,
    /// Anthropic, extended thinking: blocks must come back byte-identical or be dropped entirely. Visible in a body: each has its
    /// original `signature` (or, if redacted, `data`).
    ThinkingSeal,
    /// Both: tool names match `^[a-zA-Z0-9_-]{1,64}$`.
    ToolName,
    /// Both: declared tools differ in name ("Tool names must be unique").
    ToolTwice,
    /// Both: a tool's schema is a JSON schema object with `"type": "object"`.
    ToolSchema,
    /// Anthropic: a call's id matches `^[a-zA-Z0-9_-]+$`, that of one that ran on its servers
    /// `^srvtoolu_[a-zA-Z0-9_]+$`. OpenAI: it has 1 to 40 characters ("string too
    /// long. Expected a string with maximum length 40").
    CallId,
    /// Anthropic: "`tool_use` ids must be unique" in the whole request. OpenAI: in their message.
    CallTwice,
    /// Anthropic: a call's `input` is an object. OpenAI: its `arguments` are a string.
    CallInput,
    /// Both: every call is answered, once, in the very next message (OpenAI: by `tool` messages directly
    /// after).
    CallAnswered,
    /// Anthropic: in the user message that answers tool calls, the results come first.
    ResultsFirst,
    /// Both: a result answers a call of the message before it; nothing else may be answered, nor twice.
    OrphanResult,
    /// Anthropic: a call that ran on its servers is before its result ("Each `web_search_tool_result` block must
    /// have a corresponding `server_tool_use` block before it"). Strata sends such pairs in one message only: in two there may be
    /// nothing but results between them ("Server tools").
    ServerCall,
    /// Anthropic: "content cannot be empty if `is_error` is true", "all content must be type `text` if
    /// `is_error` is true".
    ErrorContent,
    /// Anthropic, prompt caching: a breakpoint is `{"type": "ephemeral"}` with `"ttl"` `"5m"` or `"1h"`. OpenAI, prompt
    /// caching: it is `{"mode": "explicit"}`; `prompt_cache_options` have `"mode"` `"implicit"` or `"explicit"` and `"ttl"`
    /// `"30m"`.
    BreakpointForm,
    /// Anthropic, prompt caching: at most 4 breakpoints, of which automatic caching uses one. OpenAI, prompt caching: "Each
    /// request can create up to four cache writes", of which the implicit breakpoint uses one. Extra breakpoints are no error
    /// there, but the earliest have no effect, which is never intended.
    BreakpointLimit,
    /// Anthropic, prompt caching: no breakpoint on a thinking block or on an empty text. OpenAI, prompt caching: on "a
    /// supported content block inside an input message", which is none of the assistant's.
    BreakpointPlace,
    /// OpenAI, prompt caching: before GPT-5.6 "only implicit caching is supported"; `prompt_cache_breakpoint` and
    /// `prompt_cache_options` are refused. Models of other names are not judged.
    BreakpointModel,
    /// Anthropic, prompt caching: entries of one hour come before entries of five minutes, in the order
    /// tools, system, messages.
    BreakpointOrder,
    /// Anthropic, vision: PNG, JPEG, GIF or WebP as base64 without line breaks, under the media type of its bytes, or
    /// an http(s) address. OpenAI: a `data:` or http(s) address.
    ImageForm,
    /// Anthropic, vision: no side over 8,000 pixels; with more than 20 pictures none over 2,000; at most 5 MB each
    /// ("image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes").
    ImageSize,
    /// Anthropic: the body stays under 32 MB.
    BodySize,
    /// OpenAI: the content of a `tool` message is text.
    ToolText,
    /// OpenAI: `prompt_cache_key` has at most 64 characters.
    CacheKey,
    /// OpenAI: one string has at most 1,048,576 characters.
    StringLength,
}

/// A rule that a body breaks, and where.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Violation {
    /// A JSON pointer (RFC 6901) to the offending value; empty for the body itself.
    pub path: String,
    pub rule: Rule,
    /// What is wrong, as a clause.
    pub detail: String,
}

impl Rule {
    /// Every rule.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 32] = [
        Self::Shape,
        Self::Role,
        Self::EmptyMessage,
        Self::EmptyText,
        Self::FirstUser,
        Self::Alternation,
        Self::TrailingAssistant,
        Self::BlockPlace,
        Self::ThinkingPlace,
        Self::ThinkingSeal,
        Self::ToolName,
        Self::ToolTwice,
        Self::ToolSchema,
        Self::CallId,
        Self::CallTwice,
        Self::CallInput,
        Self::CallAnswered,
        Self::ResultsFirst,
        Self::OrphanResult,
        Self::ServerCall,
        Self::ErrorContent,
        Self::BreakpointForm,
        Self::BreakpointLimit,
        Self::BreakpointPlace,
        Self::BreakpointModel,
        Self::BreakpointOrder,
        Self::ImageForm,
        Self::ImageSize,
        Self::BodySize,
        Self::ToolText,
        Self::CacheKey,
        Self::StringLength,
    ];

    /// The rule's name, which never changes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Shape => "shape",
            Self::Role => "role",
            Self::EmptyMessage => "empty_message",
            Self::EmptyText => "empty_text",
            Self::FirstUser => "first_user",
            Self::Alternation => "alternation",
            Self::TrailingAssistant => "trailing_assistant",
            Self::BlockPlace => "block_place",
            Self::ThinkingPlace => "thinking_place",
            Self::ThinkingSeal => "thinking_seal",
            Self::ToolName => "tool_name",
            Self::ToolTwice => "tool_twice",
            Self::ToolSchema => "tool_schema",
            Self::CallId => "call_id",
            Self::CallTwice => "call_twice",
            Self::CallInput => "call_input",
            Self::CallAnswered => "call_answered",
            Self::ResultsFirst => "results_first",
            Self::OrphanResult => "orphan_result",
            Self::ServerCall => "server_call",
            Self::ErrorContent => "error_content",
            Self::BreakpointForm => "breakpoint_form",
            Self::BreakpointLimit => "breakpoint_limit",
            Self::BreakpointPlace => "breakpoint_place",
            Self::BreakpointModel => "breakpoint_model",
            Self::BreakpointOrder => "breakpoint_order",
            Self::ImageForm => "image_form",
            Self::ImageSize => "image_size",
            Self::BodySize => "body_size",
            Self::ToolText => "tool_text",
            Self::CacheKey => "cache_key",
            Self::StringLength => "string_length",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the request" } else { &self.path };
        write!(f, "{place}: {} ({})", self.detail, self.rule)
    }
}
