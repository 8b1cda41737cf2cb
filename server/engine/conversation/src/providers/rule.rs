//! The rules that providers apply to requests, under stable names. The `check` module of each dialect reports
//! violations.

use std::fmt;

use serde::Serialize;

/// A provider's rule. The sources are Anthropic's Messages API reference and its guides to prompt caching,
/// tool use, extended thinking and vision, and OpenAI's Chat Completions reference and its guide to prompt
/// caching. A rule that is only known from an error message quotes the message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Anthropic and OpenAI: the required fields of a body, a message and a block are present and of the
    /// right type, and the API supports the types of the blocks.
    Shape,
    /// Anthropic: the role is `user` or `assistant` (instructions are in the top-level `system`). OpenAI: the
    /// role is `system`, `developer`, `user`, `assistant` or `tool`.
    Role,
    /// Anthropic: "messages: at least one message is required", "all messages must have non-empty content".
    /// OpenAI: a message has content or, if it is from the assistant, tool calls.
    EmptyMessage,
    /// Anthropic: "text content blocks must be non-empty" and "must contain non-whitespace text". This
    /// includes text in `system` and in tool results.
    EmptyText,
    /// Anthropic: "first message must use the user role".
    FirstUser,
    /// Anthropic: user and assistant alternate. The API itself now joins adjacent messages of one role, but
    /// proxies still enforce the rule.
    Alternation,
    /// Anthropic: current models reject a trailing assistant message ("does not support assistant message
    /// prefill").
    TrailingAssistant,
    /// Anthropic and OpenAI: tool calls and reasoning come from the assistant, tool results and images from
    /// the user.
    BlockPlace,
    /// Anthropic, extended thinking: an assistant message with reasoning starts with it ("Expected `thinking`
    /// or `redacted_thinking`, but found `text`") and does not end with it ("The final block in an assistant
    /// message cannot be `thinking`").
    ThinkingPlace,
    /// Anthropic, extended thinking: reasoning blocks are returned unchanged or not at all. A check of the body
    /// can only require that each block has a `signature`, or `data` if it is redacted.
    ThinkingSeal,
    /// Anthropic and OpenAI: tool names match `^[a-zA-Z0-9_-]{1,64}$`.
    ToolName,
    /// Anthropic and OpenAI: names of declared tools are unique ("Tool names must be unique").
    ToolTwice,
    /// Anthropic and OpenAI: a tool's schema is a JSON schema object with `"type": "object"`.
    ToolSchema,
    /// Anthropic: the id of a call matches `^[a-zA-Z0-9_-]+$`, that of a server-side call
    /// `^srvtoolu_[a-zA-Z0-9_]+$`. OpenAI: the id has 1 to 40 characters ("string too long. Expected a string
    /// with maximum length 40").
    CallId,
    /// Anthropic: "`tool_use` ids must be unique" in the whole request. OpenAI: the ids of calls are unique
    /// in their message.
    CallTwice,
    /// Anthropic: a call's `input` is an object. OpenAI: its `arguments` are a string.
    CallInput,
    /// Anthropic: the next message contains exactly one result for every call. OpenAI: each call is answered by
    /// exactly one of the `tool` messages directly after it.
    CallAnswered,
    /// Anthropic: in a user message with tool results, the results come first.
    ResultsFirst,
    /// Anthropic and OpenAI: a result answers a call in the preceding message, and that call has no other
    /// result.
    OrphanResult,
    /// Anthropic: a server-side call precedes its result ("Each `web_search_tool_result` block must have a
    /// corresponding `server_tool_use` block before it"). Strata also requires both in the same message,
    /// because only tool results may come between them ("Server tools").
    ServerCall,
    /// Anthropic: "content cannot be empty if `is_error` is true", "all content must be type `text` if
    /// `is_error` is true".
    ErrorContent,
    /// Anthropic, prompt caching: a breakpoint is `{"type": "ephemeral"}` with a `"ttl"` of `"5m"` or `"1h"`.
    /// OpenAI, prompt caching: a breakpoint is `{"mode": "explicit"}`, and `prompt_cache_options` has a
    /// `"mode"` of `"implicit"` or `"explicit"` and a `"ttl"` of `"30m"`.
    BreakpointForm,
    /// Anthropic, prompt caching: a request has at most 4 breakpoints, including that of automatic caching.
    /// OpenAI, client library: "For cache matching, OpenAI considers up to the latest 80 breakpoints in the
    /// conversation", including the implicit one. OpenAI does not reject more, but ignores the earliest, which is
    /// never intended.
    BreakpointLimit,
    /// Anthropic, prompt caching: a breakpoint is not on a thinking block or empty text. OpenAI, prompt
    /// caching: a breakpoint is on "a supported content block inside an input message", so never on an
    /// assistant message.
    BreakpointPlace,
    /// OpenAI, prompt caching: before GPT-5.6 "only implicit caching is supported", and
    /// `prompt_cache_breakpoint` and `prompt_cache_options` are rejected. Models with other names are not
    /// checked.
    BreakpointModel,
    /// Anthropic, prompt caching: in the order tools, system, messages, breakpoints with a lifetime of one hour
    /// precede those with a lifetime of five minutes.
    BreakpointOrder,
    /// Anthropic, vision: an image is an http(s) URL, or PNG, JPEG, GIF or WebP as base64 without line
    /// breaks, with the media type of its bytes. OpenAI: an image is a `data:` or http(s) URL.
    ImageForm,
    /// Anthropic, vision: an image has at most 8,000 pixels per side, or 2,000 if there are more than 20
    /// images, and at most 5 MB ("image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes").
    ImageSize,
    /// Anthropic: the body is smaller than 32 MB.
    BodySize,
    /// OpenAI: a `tool` message contains only text.
    ToolText,
    /// OpenAI: `prompt_cache_key` has at most 64 characters.
    CacheKey,
    /// OpenAI: a string has at most 1,048,576 characters.
    StringLength,
}

/// A broken rule and its position in a body.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Violation {
    /// JSON pointer (RFC 6901) to the offending value; empty for the whole body.
    pub path: String,
    pub rule: Rule,
    /// Description of the problem, as a clause.
    pub detail: String,
}

impl fmt::Display for Rule {
    /// Writes the rule's name, which is stable across versions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the request" } else { &self.path };
        write!(f, "{place}: {} ({})", self.detail, self.rule)
    }
}
