//! Valid bodies of the dialects other than Anthropic's and OpenAI's Chat Completions, and changes that each break one
//! rule.

use super::mutations::{Breaches, at, list, remove, set};
use super::*;

pub(super) fn valid_responses() -> Value {
    json!({
        "model": "gpt-5.6-sol",
        "store": false,
        "prompt_cache_key": "strata-1",
        "prompt_cache_options": {"mode": "explicit"},
        "tools": [{"type": "function", "name": "read", "parameters": {"type": "object"}, "strict": false}],
        "input": [
            {"type": "message", "role": "developer", "content": [input_text("Be brief.")]},
            {"type": "message", "role": "user", "content": [
                input_text("Look."),
                {"type": "input_image", "image_url": "https://example.org/a.png"},
            ]},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbA=="},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": "{}"},
            {"type": "function_call", "call_id": "call_2", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "one"},
            {"type": "function_call_output", "call_id": "call_2", "output": [input_text("two")]},
        ],
    })
}

fn input_text(text: &str) -> Value {
    json!({"type": "input_text", "text": text, "prompt_cache_breakpoint": {"mode": "explicit"}})
}

fn input_texts() -> Value {
    vec![input_text("1"); 81].into()
}

#[rustfmt::skip]
pub(super) const RESPONSES: &Breaches = &[
    (Rule::Shape, |b| remove(b, "", "model")),
    (Rule::Shape, |b| remove(b, "", "input")),
    (Rule::Shape, |b| set(b, "/tools/0", "type", json!("custom"))),
    (Rule::Shape, |b| set(b, "/input/2", "type", json!("news"))),
    (Rule::Role, |b| set(b, "/input/1", "role", json!("tool"))),
    (Rule::Role, |b| remove(b, "/input/1", "role")),
    (Rule::EmptyMessage, |b| set(b, "", "input", json!([]))),
    (Rule::EmptyMessage, |b| set(b, "/input/1", "content", json!([]))),
    (Rule::BlockPlace, |b| set(b, "/input/1/content/0", "type", json!("output_text"))),
    (Rule::BlockPlace, |b| set(b, "/input/3/content/0", "type", json!("input_text"))),
    (Rule::ThinkingPlace, |b| list(b, "/input").push(json!({"type": "reasoning", "encrypted_content": "x"}))),
    (Rule::ThinkingPlace, |b| list(b, "/input").swap(1, 2)),
    (Rule::ThinkingSeal, |b| remove(b, "/input/2", "encrypted_content")),
    (Rule::ThinkingSeal, |b| set(b, "/input/2", "encrypted_content", json!(""))),
    (Rule::ToolName, |b| set(b, "/tools/0", "name", json!("a b"))),
    (Rule::ToolName, |b| set(b, "/input/4", "name", json!(""))),
    (Rule::ToolTwice, |b| { let tool = at(b, "/tools/0").clone(); list(b, "/tools").push(tool); }),
    (Rule::ToolTwice, |b| { let tool = at(b, "/tools/0").clone(); list(b, "/tools").extend([tool.clone(), tool]); }),
    (Rule::ToolSchema, |b| remove(b, "/tools/0", "parameters")),
    (Rule::ToolSchema, |b| set(b, "/tools/0", "parameters", json!({"type": "string"}))),
    (Rule::CallId, |b| { for i in [4, 6] { set(b, &format!("/input/{i}"), "call_id", json!("")); } }),
    (Rule::CallId, |b| { for i in [4, 6] { set(b, &format!("/input/{i}"), "call_id", json!("x".repeat(65))); } }),
    (Rule::CallTwice, |b| set(b, "/input/5", "call_id", json!("call_1"))),
    (Rule::CallTwice, |b| { let call = at(b, "/input/4").clone(); list(b, "/input").push(call); }),
    (Rule::CallInput, |b| set(b, "/input/4", "arguments", json!({}))),
    (Rule::CallInput, |b| remove(b, "/input/5", "arguments")),
    (Rule::CallAnswered, |b| drop(list(b, "/input").pop())),
    (Rule::CallAnswered, |b| drop(list(b, "/input").remove(6))),
    (Rule::OrphanResult, |b| drop(list(b, "/input").remove(4))),
    (Rule::OrphanResult, |b| list(b, "/input").swap(4, 6)),
    (Rule::BreakpointForm, |b| set(b, "/input/1/content/0", "prompt_cache_breakpoint", json!(true))),
    (Rule::BreakpointForm, |b| set(b, "", "prompt_cache_options", json!({"mode": "none"}))),
    (Rule::BreakpointLimit, |b| set(b, "/input/1", "content", input_texts())),
    (Rule::BreakpointLimit, |b| set(b, "/input/7", "output", input_texts())),
    (Rule::BreakpointPlace, |b| set(b, "/input/3/content/0", "prompt_cache_breakpoint", json!({"mode": "explicit"}))),
    (Rule::BreakpointPlace, |b| set(b, "/input/1", "role", json!("assistant"))),
    (Rule::BreakpointModel, |b| set(b, "", "model", json!("gpt-5.1"))),
    (Rule::BreakpointModel, |b| set(b, "", "model", json!("o3"))),
    (Rule::ImageForm, |b| set(b, "/input/1/content/1", "image_url", json!("file:///a.png"))),
    (Rule::ImageForm, |b| remove(b, "/input/1/content/1", "image_url")),
    (Rule::CacheKey, |b| set(b, "", "prompt_cache_key", json!("x".repeat(65)))),
    (Rule::CacheKey, |b| set(b, "", "prompt_cache_key", json!(1))),
    (Rule::StringLength, |b| set(b, "/input/1/content/0", "text", json!("x".repeat(1_048_577)))),
    (Rule::StringLength, |b| set(b, "/input/4", "arguments", json!("x".repeat(1_048_577)))),
];

pub(super) fn valid_gemini() -> Value {
    json!({
        "model": "gemini-3-flash",
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [{"functionDeclarations": [{"name": "read", "parametersJsonSchema": {"type": "object"}}]}],
        "contents": [
            {"role": "user", "parts": [
                {"text": "Look."},
                {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
            ]},
            {"role": "model", "parts": [
                {"text": "I look."},
                {"functionCall": {"id": "1", "name": "read", "args": {}}, "thoughtSignature": "c2VhbA=="},
                {"functionCall": {"id": "2", "name": "read", "args": {}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "1", "name": "read", "response": {"output": "one"}}},
                {"functionResponse": {"id": "2", "name": "read", "response": {"error": "two"}}},
            ]},
        ],
    })
}

#[rustfmt::skip]
pub(super) const GEMINI: &Breaches = &[
    (Rule::Shape, |b| remove(b, "", "model")),
    (Rule::Shape, |b| remove(b, "", "contents")),
    (Rule::Shape, |b| set(b, "", "messages", json!([]))),
    (Rule::Shape, |b| set(b, "/contents/0/parts/0", "text", json!(1))),
    (Rule::Shape, |b| set(b, "/systemInstruction", "parts", json!([{"inlineData": {}}]))),
    (Rule::Role, |b| set(b, "/contents/1", "role", json!("assistant"))),
    (Rule::Role, |b| remove(b, "/contents/0", "role")),
    (Rule::EmptyMessage, |b| set(b, "", "contents", json!([]))),
    (Rule::EmptyMessage, |b| set(b, "/contents/0", "parts", json!([]))),
    (Rule::BlockPlace, |b| list(b, "/contents/1/parts").push(json!({"inlineData": {"mimeType": "image/png", "data": "AA=="}}))),
    (Rule::BlockPlace, |b| set(b, "/contents/1", "role", json!("user"))),
    (Rule::ThinkingSeal, |b| remove(b, "/contents/1/parts/1", "thoughtSignature")),
    (Rule::ThinkingSeal, |b| set(b, "/contents/1/parts/1", "thoughtSignature", json!(""))),
    (Rule::ToolName, |b| set(b, "/tools/0/functionDeclarations/0", "name", json!("a b"))),
    (Rule::ToolName, |b| set(b, "/contents/1/parts/1/functionCall", "name", json!(""))),
    (Rule::ToolTwice, |b| { let tool = at(b, "/tools/0").clone(); list(b, "/tools").push(tool); }),
    (Rule::ToolTwice, |b| { let f = at(b, "/tools/0/functionDeclarations/0").clone(); list(b, "/tools/0/functionDeclarations").push(f); }),
    (Rule::ToolSchema, |b| remove(b, "/tools/0/functionDeclarations/0", "parametersJsonSchema")),
    (Rule::ToolSchema, |b| set(b, "/tools/0/functionDeclarations/0", "parametersJsonSchema", json!(true))),
    (Rule::CallInput, |b| set(b, "/contents/1/parts/1/functionCall", "args", json!("{}"))),
    (Rule::CallInput, |b| remove(b, "/contents/1/parts/2/functionCall", "args")),
    (Rule::CallAnswered, |b| drop(list(b, "/contents").pop())),
    (Rule::CallAnswered, |b| drop(list(b, "/contents/2/parts").pop())),
    (Rule::OrphanResult, |b| set(b, "/contents/2/parts/0/functionResponse", "id", json!("9"))),
    (Rule::OrphanResult, |b| { let one = at(b, "/contents/2/parts/0").clone(); list(b, "/contents/2/parts").push(one); }),
    (Rule::ImageForm, |b| set(b, "/contents/0/parts/1/inlineData", "mimeType", json!("image/gif"))),
    (Rule::ImageForm, |b| set(b, "/contents/0/parts/1/inlineData", "data", json!(""))),
];

pub(super) fn valid_bedrock() -> Value {
    let point = json!({"cachePoint": {"type": "default"}});
    json!({
        "modelId": "anthropic.claude-sonnet-4-5",
        "toolConfig": {"tools": [{"toolSpec": {"name": "read", "inputSchema": {"json": {"type": "object"}}}}]},
        "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default", "ttl": "1h"}}],
        "messages": [
            {"role": "user", "content": [
                {"text": "Look."},
                {"image": {"format": "png", "source": {"bytes": "AA=="}}},
                point,
            ]},
            {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2VhbA=="}}},
                {"toolUse": {"toolUseId": "t1", "name": "read", "input": {}}},
                {"toolUse": {"toolUseId": "t2", "name": "read", "input": {}}},
            ]},
            {"role": "user", "content": [
                {"toolResult": {"toolUseId": "t1", "content": [{"text": "one"}]}},
                {"toolResult": {"toolUseId": "t2", "content": [{"text": "two"}], "status": "error"}},
            ]},
        ],
    })
}

#[rustfmt::skip]
pub(super) const BEDROCK: &Breaches = &[
    (Rule::Shape, |b| remove(b, "", "modelId")),
    (Rule::Shape, |b| set(b, "/messages/0", "content", json!("x"))),
    (Rule::Shape, |b| set(b, "/toolConfig", "tools", json!([]))),
    (Rule::Role, |b| set(b, "/messages/1", "role", json!("model"))),
    (Rule::Role, |b| remove(b, "/messages/0", "role")),
    (Rule::EmptyMessage, |b| set(b, "", "messages", json!([]))),
    (Rule::EmptyMessage, |b| set(b, "/messages/0", "content", json!([]))),
    (Rule::EmptyText, |b| set(b, "/messages/0/content/0", "text", json!(" "))),
    (Rule::EmptyText, |b| set(b, "/system/0", "text", json!(""))),
    (Rule::FirstUser, |b| drop(list(b, "/messages").remove(0))),
    (Rule::FirstUser, |b| set(b, "/messages/0", "role", json!("assistant"))),
    (Rule::Alternation, |b| { let first = at(b, "/messages/0").clone(); list(b, "/messages").insert(0, first); }),
    (Rule::Alternation, |b| { let last = at(b, "/messages/0").clone(); list(b, "/messages").push(last); }),
    (Rule::TrailingAssistant, |b| drop(list(b, "/messages").pop())),
    (Rule::TrailingAssistant, |b| list(b, "/messages").push(json!({"role": "assistant", "content": [{"text": "Yes."}]}))),
    (Rule::BlockPlace, |b| set(b, "/messages/0", "role", json!("assistant"))),
    (Rule::BlockPlace, |b| set(b, "/messages/1", "role", json!("user"))),
    (Rule::ThinkingSeal, |b| remove(b, "/messages/1/content/0/reasoningContent/reasoningText", "signature")),
    (Rule::ThinkingSeal, |b| set(b, "/messages/1/content/0", "reasoningContent", json!({"redactedContent": ""}))),
    (Rule::ToolName, |b| set(b, "/toolConfig/tools/0/toolSpec", "name", json!("a b"))),
    (Rule::ToolName, |b| set(b, "/messages/1/content/1/toolUse", "name", json!(""))),
    (Rule::ToolTwice, |b| { let tool = at(b, "/toolConfig/tools/0").clone(); list(b, "/toolConfig/tools").push(tool); }),
    (Rule::ToolTwice, |b| { let tool = at(b, "/toolConfig/tools/0").clone(); list(b, "/toolConfig/tools").extend([tool.clone(), tool]); }),
    (Rule::ToolSchema, |b| remove(b, "/toolConfig/tools/0/toolSpec", "inputSchema")),
    (Rule::ToolSchema, |b| set(b, "/toolConfig/tools/0/toolSpec/inputSchema", "json", json!({"type": "array"}))),
    (Rule::CallId, |b| set(b, "/messages/1/content/1/toolUse", "toolUseId", json!("a b"))),
    (Rule::CallId, |b| set(b, "/messages/2/content/0/toolResult", "toolUseId", json!("x".repeat(65)))),
    (Rule::CallTwice, |b| set(b, "/messages/1/content/2/toolUse", "toolUseId", json!("t1"))),
    (Rule::CallTwice, |b| { let call = at(b, "/messages/1/content/1").clone(); list(b, "/messages/1/content").push(call); }),
    (Rule::CallInput, |b| set(b, "/messages/1/content/1/toolUse", "input", json!("{}"))),
    (Rule::CallInput, |b| remove(b, "/messages/1/content/2/toolUse", "input")),
    (Rule::CallAnswered, |b| drop(list(b, "/messages/2/content").pop())),
    (Rule::CallAnswered, |b| drop(list(b, "/messages").pop())),
    (Rule::OrphanResult, |b| drop(list(b, "/messages/1/content").pop())),
    (Rule::OrphanResult, |b| { let one = at(b, "/messages/2/content/0").clone(); list(b, "/messages/2/content").push(one); }),
    (Rule::ErrorContent, |b| set(b, "/messages/2/content/1/toolResult", "content", json!([]))),
    (Rule::ErrorContent, |b| set(b, "/messages/2/content/1/toolResult", "content",
        json!([{"image": {"format": "png", "source": {"bytes": "AA=="}}}]))),
    (Rule::BreakpointForm, |b| set(b, "/system/1/cachePoint", "ttl", json!("30m"))),
    (Rule::BreakpointForm, |b| remove(b, "/messages/0/content/2/cachePoint", "type")),
    (Rule::BreakpointLimit, |b| { let point = at(b, "/messages/0/content/2").clone(); list(b, "/messages/0/content").extend([point.clone(), point.clone(), point]); }),
    (Rule::BreakpointLimit, |b| { let point = at(b, "/messages/0/content/2").clone(); list(b, "/messages/2/content").extend([point.clone(), point.clone(), point]); }),
    (Rule::BreakpointPlace, |b| list(b, "/messages/0/content").rotate_right(1)),
    (Rule::BreakpointPlace, |b| { let point = at(b, "/messages/0/content/2").clone(); list(b, "/messages/1/content").insert(1, point); }),
    (Rule::BreakpointOrder, |b| { set(b, "/system/1/cachePoint", "ttl", json!("5m")); set(b, "/messages/0/content/2/cachePoint", "ttl", json!("1h")); }),
    (Rule::BreakpointOrder, |b| list(b, "/messages/2/content").push(json!({"cachePoint": {"type": "default", "ttl": "1h"}}))),
    (Rule::ImageForm, |b| set(b, "/messages/0/content/1/image", "format", json!("heic"))),
    (Rule::ImageForm, |b| set(b, "/messages/0/content/1/image/source", "bytes", json!(""))),
];
