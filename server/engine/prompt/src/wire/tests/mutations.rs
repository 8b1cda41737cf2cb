//! Breaks one rule at a time in a valid body, and tests that the check names this rule. To add a breach, add a line to
//! a table.

use std::collections::{BTreeMap, BTreeSet};

use super::breaches::{BEDROCK, GEMINI, RESPONSES, valid_bedrock, valid_gemini, valid_responses};
use super::*;

/// A change to a body that breaks a rule.
type Breach = fn(&mut Value);

/// Pairs of a rule and a change that breaks it.
pub(super) type Breaches = [(Rule, Breach)];

fn valid_anthropic() -> Value {
    json!({
        "model": "claude",
        "tools": [{"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}],
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        "messages": [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2VhbA=="},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}},
                {"type": "tool_use", "id": "toolu_2", "name": "read", "input": {"path": "b"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "one"},
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": [{"type": "text", "text": "two"}],
                 "is_error": true},
                {"type": "text", "text": "Go on.", "cache_control": {"type": "ephemeral"}},
                picture(&png(10, 10)),
            ]},
        ],
    })
}

fn valid_openai() -> Value {
    let call =
        |id: &str| json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}});
    json!({
        "model": "gpt-5.6-sol",
        "prompt_cache_key": "strata-1",
        "prompt_cache_options": {"mode": "explicit"},
        "tools": [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}],
        "messages": [
            {"role": "system", "content": [text_with_breakpoint("Be brief.")]},
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": null, "tool_calls": [call("call_1"), call("call_2")]},
            {"role": "tool", "tool_call_id": "call_1", "content": "one"},
            {"role": "tool", "tool_call_id": "call_2", "content": [text_with_breakpoint("two")]},
            {"role": "user", "content": [
                text_with_breakpoint("Go on."),
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            ]},
        ],
    })
}

/// Creates a text with a breakpoint in OpenAI's form.
fn text_with_breakpoint(text: &str) -> Value {
    json!({"type": "text", "text": text, "prompt_cache_breakpoint": {"mode": "explicit"}})
}

fn texts_with_breakpoints() -> Value {
    vec![text_with_breakpoint("1"); 78].into()
}

fn picture(image: &Image) -> Value {
    match &image.source {
        ImageSource::Base64 { media_type, data } => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
        }
        ImageSource::Url { url } => json!({"type": "image", "source": {"type": "url", "url": url}}),
    }
}

/// Creates a declared tool in OpenAI's form.
fn function(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}})
}

/// Creates a tool call that ran on the provider's servers.
fn server_use(kind: &str, id: &str) -> Value {
    json!({"type": kind, "id": id, "name": "web_search", "server_name": "web", "input": {"query": "x"}})
}

/// Creates the result of a tool call on the provider's servers.
fn server_result(kind: &str, id: &str) -> Value {
    json!({"type": kind, "tool_use_id": id, "content": []})
}

/// Creates a document that contains a block with this breakpoint.
fn document(control: Value) -> Value {
    let inside = json!([{"type": "text", "text": "x", "cache_control": control}]);
    json!({"type": "document", "source": {"type": "content", "content": inside}})
}

/// Creates a PNG image with this many bytes of base64.
fn image_of_size(bytes: usize) -> Value {
    let mut picture = picture(&png(1, 1));
    let data = at(&mut picture, "/source/data");
    let head = data.as_str().unwrap_or_default();
    *data = json!(head.to_owned() + &"A".repeat(bytes - head.len()));
    picture
}

/// Returns the value at a JSON pointer, for modification.
#[track_caller]
pub(super) fn at<'a>(body: &'a mut Value, pointer: &str) -> &'a mut Value {
    body.pointer_mut(pointer).unwrap_or_else(|| panic!("nothing at {pointer}"))
}

/// Returns the list at a JSON pointer, for modification.
#[track_caller]
pub(super) fn list<'a>(body: &'a mut Value, pointer: &str) -> &'a mut Vec<Value> {
    at(body, pointer).as_array_mut().unwrap_or_else(|| panic!("no list at {pointer}"))
}

#[track_caller]
pub(super) fn set(body: &mut Value, pointer: &str, key: &str, value: Value) {
    let object = at(body, pointer).as_object_mut().unwrap_or_else(|| panic!("no object at {pointer}"));
    object.insert(key.into(), value);
}

#[track_caller]
pub(super) fn remove(body: &mut Value, pointer: &str, key: &str) {
    let object = at(body, pointer).as_object_mut().unwrap_or_else(|| panic!("no object at {pointer}"));
    object.shift_remove(key).unwrap_or_else(|| panic!("no {key} at {pointer}"));
}

const CALLS: &str = "/messages/1/content";
const LAST: &str = "/messages/2/content";

#[rustfmt::skip]
const ANTHROPIC: &Breaches = &[
    (Rule::Shape, |b| remove(b, "", "model")),
    (Rule::Shape, |b| remove(b, "", "messages")),
    (Rule::Shape, |b| set(b, "", "tools", json!({}))),
    (Rule::Shape, |b| set(b, "", "system", json!(1))),
    (Rule::Shape, |b| remove(b, "/messages/0", "content")),
    (Rule::Shape, |b| list(b, LAST).push(json!({"type": "input_audio"}))),
    (Rule::Shape, |b| list(b, "/system").push(picture(&png(1, 1)))),
    (Rule::Shape, |b| remove(b, "/messages/2/content/0", "tool_use_id")),
    (Rule::Shape, |b| set(b, "/messages/2/content/3/source", "type", json!("path"))),
    (Rule::Shape, |b| list(b, LAST).push(json!({"type": "document", "title": "t"}))),
    (Rule::Shape, |b| list(b, LAST).push(json!({"type": "search_result", "source": "a", "title": "t"}))),
    (Rule::Shape, |b| set(b, "/messages/2/content/0", "content", json!([{"type": "tool_reference"}]))),
    (Rule::Shape, |b| list(b, CALLS).push(json!({"type": "mcp_tool_result", "content": []}))),
    (Rule::Role, |b| set(b, "/messages/0", "role", json!("system"))),
    (Rule::Role, |b| set(b, "/messages/2", "role", json!("tool"))),
    (Rule::Role, |b| remove(b, "/messages/1", "role")),
    (Rule::Role, |b| set(b, "/messages/1", "role", json!("Assistant"))),
    (Rule::Role, |b| set(b, "/messages/2", "role", json!(["user"]))),
    (Rule::EmptyMessage, |b| set(b, "", "messages", json!([]))),
    (Rule::EmptyMessage, |b| set(b, "/messages/0", "content", json!(""))),
    (Rule::EmptyMessage, |b| set(b, "/messages/0", "content", json!([]))),
    (Rule::EmptyMessage, |b| set(b, "/messages/1", "content", json!([]))),
    (Rule::EmptyMessage, |b| list(b, "/messages").push(json!({"role": "assistant", "content": ""}))),
    (Rule::EmptyText, |b| set(b, "/messages/2/content/2", "text", json!(""))),
    (Rule::EmptyText, |b| set(b, "/messages/1/content/1", "text", json!(" \n"))),
    (Rule::EmptyText, |b| set(b, "/system/0", "text", json!(""))),
    (Rule::EmptyText, |b| set(b, "/messages/0", "content", json!("\t"))),
    (Rule::EmptyText, |b| set(b, "/messages/2/content/1/content/0", "text", json!(""))),
    (Rule::FirstUser, |b| { list(b, "/messages").remove(0); }),
    (Rule::FirstUser, |b| list(b, "/messages").insert(0, json!({"role": "assistant", "content": "Hi."}))),
    (Rule::FirstUser, |b| list(b, "/messages").swap(0, 1)),
    (Rule::FirstUser, |b| set(b, "", "messages", json!([{"role": "assistant", "content": "Hi."}]))),
    (Rule::FirstUser, |b| set(b, "/messages/0", "role", json!("assistant"))),
    (Rule::Alternation, |b| list(b, "/messages").insert(0, json!({"role": "user", "content": "Hi."}))),
    (Rule::Alternation, |b| list(b, "/messages").push(json!({"role": "user", "content": "And?"}))),
    (Rule::Alternation, |b| list(b, "/messages").insert(1, json!({"role": "assistant", "content": "Hi."}))),
    (Rule::Alternation, |b| { list(b, "/messages").remove(1); }),
    (Rule::Alternation, |b| { let last = list(b, LAST).split_off(2); list(b, "/messages").push(json!({"role": "user", "content": last})); }),
    (Rule::TrailingAssistant, |b| list(b, "/messages").push(json!({"role": "assistant", "content": "{"}))),
    (Rule::TrailingAssistant, |b| list(b, "/messages").truncate(2)),
    (Rule::TrailingAssistant, |b| list(b, "/messages").swap(1, 2)),
    (Rule::TrailingAssistant, |b| set(b, "/messages/2", "role", json!("assistant"))),
    (Rule::TrailingAssistant, |b| list(b, "/messages").push(json!({"role": "assistant", "content": [{"type": "text", "text": "So:"}]}))),
    (Rule::BlockPlace, |b| { let call = list(b, CALLS).remove(3); list(b, LAST).push(call); }),
    (Rule::BlockPlace, |b| list(b, CALLS).push(picture(&png(1, 1)))),
    (Rule::BlockPlace, |b| list(b, LAST).push(json!({"type": "redacted_thinking", "data": "eA=="}))),
    (Rule::BlockPlace, |b| { let answer = list(b, LAST).remove(0); list(b, CALLS).push(answer); }),
    (Rule::BlockPlace, |b| list(b, LAST).push(json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}))),
    (Rule::ThinkingPlace, |b| list(b, CALLS).swap(0, 1)),
    (Rule::ThinkingPlace, |b| list(b, CALLS).truncate(1)),
    (Rule::ThinkingPlace, |b| list(b, CALLS).push(json!({"type": "redacted_thinking", "data": "eA=="}))),
    (Rule::ThinkingPlace, |b| list(b, CALLS).rotate_left(1)),
    (Rule::ThinkingPlace, |b| list(b, CALLS).insert(0, json!({"type": "text", "text": "First,"}))),
    (Rule::ThinkingSeal, |b| remove(b, "/messages/1/content/0", "signature")),
    (Rule::ThinkingSeal, |b| set(b, "/messages/1/content/0", "signature", json!(""))),
    (Rule::ThinkingSeal, |b| list(b, CALLS).insert(0, json!({"type": "redacted_thinking"}))),
    (Rule::ThinkingSeal, |b| list(b, CALLS).insert(1, json!({"type": "redacted_thinking", "data": ""}))),
    (Rule::ThinkingSeal, |b| set(b, "/messages/1/content/0", "signature", json!(["c2VhbA=="]))),
    (Rule::ToolName, |b| set(b, "/tools/0", "name", json!("files.read"))),
    (Rule::ToolName, |b| set(b, "/tools/0", "name", json!(""))),
    (Rule::ToolName, |b| set(b, "/messages/1/content/2", "name", json!("read file"))),
    (Rule::ToolName, |b| set(b, "/messages/1/content/2", "name", json!("r".repeat(65)))),
    (Rule::ToolName, |b| set(b, "/tools/0", "name", json!("l\u{e9}e"))),
    (Rule::ToolTwice, |b| { let tool = at(b, "/tools/0").clone(); list(b, "/tools").push(tool); }),
    (Rule::ToolTwice, |b| list(b, "/tools").insert(0, json!({"name": "read", "input_schema": {"type": "object"}}))),
    (Rule::ToolTwice, |b| list(b, "/tools").push(json!({"name": "read", "description": "Another.", "input_schema": {"type": "object"}}))),
    (Rule::ToolTwice, |b| list(b, "/tools").extend(["write", "write"].map(|name| json!({"name": name, "input_schema": {"type": "object"}})))),
    (Rule::ToolTwice, |b| list(b, "/tools").extend(["write", "read"].map(|name| json!({"name": name, "input_schema": {"type": "object"}})))),
    (Rule::ToolSchema, |b| remove(b, "/tools/0", "input_schema")),
    (Rule::ToolSchema, |b| set(b, "/tools/0", "input_schema", json!({"type": "string"}))),
    (Rule::ToolSchema, |b| set(b, "/tools/0", "input_schema", json!({}))),
    (Rule::ToolSchema, |b| set(b, "/tools/0", "input_schema", json!(true))),
    (Rule::ToolSchema, |b| list(b, "/tools").push(json!({"name": "write", "input_schema": {"type": ["object"]}}))),
    (Rule::CallId, |b| set(b, "/messages/1/content/2", "id", json!("toolu.1"))),
    (Rule::CallId, |b| set(b, "/messages/1/content/2", "id", json!(""))),
    (Rule::CallId, |b| set(b, "/messages/1/content/3", "id", json!("a|b"))),
    (Rule::CallId, |b| set(b, "/messages/1/content/3", "id", json!("toolu 2"))),
    (Rule::CallId, |b| set(b, "/messages/1/content/2", "id", json!("to\u{f6}l_1"))),
    (Rule::CallId, |b| list(b, CALLS).extend([server_use("server_tool_use", "srv_1"), server_result("web_search_tool_result", "srv_1")])),
    (Rule::CallId, |b| list(b, CALLS).extend([server_use("mcp_tool_use", "mcp.1"), server_result("mcp_tool_result", "mcp.1")])),
    (Rule::CallTwice, |b| set(b, "/messages/1/content/3", "id", json!("toolu_1"))),
    (Rule::CallTwice, |b| { let again = list(b, "/messages")[1..].to_vec(); list(b, "/messages").extend(again); }),
    (Rule::CallTwice, |b| { let call = list(b, CALLS)[2].clone(); list(b, CALLS).push(call); }),
    (Rule::CallTwice, |b| set(b, "/messages/1/content/2", "id", json!("toolu_2"))),
    (Rule::CallTwice, |b| {
        let call = list(b, CALLS)[3].clone();
        list(b, "/messages").push(json!({"role": "assistant", "content": [call]}));
    }),
    (Rule::CallInput, |b| set(b, "/messages/1/content/2", "input", json!("{}"))),
    (Rule::CallInput, |b| remove(b, "/messages/1/content/2", "input")),
    (Rule::CallInput, |b| set(b, "/messages/1/content/3", "input", json!([]))),
    (Rule::CallInput, |b| set(b, "/messages/1/content/3", "input", json!(null))),
    (Rule::CallInput, |b| set(b, "/messages/1/content/2", "input", json!(1))),
    (Rule::CallInput, |b| list(b, CALLS).push(json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search"}))),
    (Rule::CallAnswered, |b| { list(b, LAST).remove(0); }),
    (Rule::CallAnswered, |b| { list(b, LAST).remove(1); }),
    (Rule::CallAnswered, |b| set(b, "/messages/2", "content", json!("Never mind."))),
    (Rule::CallAnswered, |b| list(b, "/messages").truncate(2)),
    (Rule::CallAnswered, |b| {
        let talk = [json!({"role": "user", "content": "Wait."}), json!({"role": "assistant", "content": "Yes?"})];
        list(b, "/messages").splice(2..2, talk);
    }),
    (Rule::ResultsFirst, |b| list(b, LAST).swap(1, 2)),
    (Rule::ResultsFirst, |b| list(b, LAST).insert(0, json!({"type": "text", "text": "Here:"}))),
    (Rule::ResultsFirst, |b| list(b, LAST).reverse()),
    (Rule::ResultsFirst, |b| list(b, LAST).rotate_left(1)),
    (Rule::ResultsFirst, |b| list(b, LAST).insert(1, picture(&png(1, 1)))),
    (Rule::OrphanResult, |b| set(b, "/messages/2/content/0", "tool_use_id", json!("toolu_9"))),
    (Rule::OrphanResult, |b| { list(b, CALLS).remove(2); }),
    (Rule::OrphanResult, |b| { let answer = list(b, LAST)[0].clone(); list(b, LAST).insert(0, answer); }),
    (Rule::OrphanResult, |b| { let answer = list(b, LAST)[0].clone(); set(b, "/messages/0", "content", json!([answer])); }),
    (Rule::OrphanResult, |b| set(b, "/messages/2/content/1", "tool_use_id", json!("toolu_1"))),
    (Rule::ServerCall, |b| list(b, CALLS).push(server_use("server_tool_use", "srvtoolu_1"))),
    (Rule::ServerCall, |b| list(b, CALLS).push(server_result("web_search_tool_result", "srvtoolu_1"))),
    (Rule::ServerCall, |b| list(b, CALLS).push(server_result("mcp_tool_result", "mcptoolu_1"))),
    (Rule::ServerCall, |b| list(b, CALLS).extend([server_result("web_fetch_tool_result", "srvtoolu_1"), server_use("server_tool_use", "srvtoolu_1")])),
    (Rule::ServerCall, |b| list(b, CALLS).extend([server_use("server_tool_use", "srvtoolu_1"), server_result("web_search_tool_result", "srvtoolu_2")])),
    (Rule::ServerCall, |b| list(b, CALLS).extend([server_use("mcp_tool_use", "srvtoolu_1"), server_result("web_search_tool_result", "srvtoolu_1")])),
    (Rule::ServerCall, |b| list(b, CALLS).extend([
        server_use("server_tool_use", "srvtoolu_1"), server_use("server_tool_use", "srvtoolu_1"), server_result("web_search_tool_result", "srvtoolu_1"),
    ])),
    (Rule::ServerCall, |b| {
        list(b, CALLS).push(server_use("server_tool_use", "srvtoolu_1"));
        let later = server_result("code_execution_tool_result", "srvtoolu_1");
        list(b, "/messages").extend([json!({"role": "assistant", "content": [later]}), json!({"role": "user", "content": "Go on."})]);
    }),
    (Rule::ErrorContent, |b| remove(b, "/messages/2/content/1", "content")),
    (Rule::ErrorContent, |b| set(b, "/messages/2/content/1", "content", json!(""))),
    (Rule::ErrorContent, |b| set(b, "/messages/2/content/1", "content", json!([]))),
    (Rule::ErrorContent, |b| list(b, "/messages/2/content/1/content").push(picture(&png(1, 1)))),
    (Rule::ErrorContent, |b| list(b, "/messages/2/content/1/content").push(json!({"type": "search_result", "source": "a"}))),
    (Rule::BreakpointForm, |b| set(b, "/system/0/cache_control", "type", json!("persistent"))),
    (Rule::BreakpointForm, |b| set(b, "/system/0/cache_control", "ttl", json!("24h"))),
    (Rule::BreakpointForm, |b| set(b, "/messages/2/content/2", "cache_control", json!(true))),
    (Rule::BreakpointForm, |b| set(b, "", "cache_control", json!({"ttl": "5m"}))),
    (Rule::BreakpointForm, |b| set(b, "/system/0/cache_control", "ttl", json!(3600))),
    (Rule::BreakpointForm, |b| list(b, LAST).push(document(json!({"type": "lasting"})))),
    (Rule::BreakpointForm, |b| set(b, "/messages/2/content/0", "content", json!([{"type": "tool_reference", "tool_name": "read", "cache_control": {}}]))),
    (Rule::BreakpointLimit, |b| {
        for at in [0, 1, 3] { set(b, &format!("/messages/2/content/{at}"), "cache_control", json!({"type": "ephemeral"})); }
    }),
    (Rule::BreakpointLimit, |b| {
        for at in [2, 3] { set(b, &format!("/messages/1/content/{at}"), "cache_control", json!({"type": "ephemeral"})); }
        set(b, "", "cache_control", json!({"type": "ephemeral"}));
    }),
    (Rule::BreakpointLimit, |b| {
        set(b, "/tools/0", "cache_control", json!({"type": "ephemeral", "ttl": "1h"}));
        set(b, "/messages/2/content/0", "cache_control", json!({"type": "ephemeral"}));
        set(b, "/messages/2/content/1/content/0", "cache_control", json!({"type": "ephemeral"}));
    }),
    (Rule::BreakpointLimit, |b| {
        let text = json!({"type": "text", "text": "More.", "cache_control": {"type": "ephemeral", "ttl": "1h"}});
        list(b, "/system").extend(vec![text; 3]);
    }),
    (Rule::BreakpointLimit, |b| {
        let tool = |name: &str| json!({"name": name, "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral", "ttl": "1h"}});
        list(b, "/tools").extend(["one", "two", "three"].map(tool));
    }),
    (Rule::BreakpointLimit, |b| list(b, LAST).extend(vec![document(json!({"type": "ephemeral"})); 3])),
    (Rule::BreakpointPlace, |b| set(b, "/messages/1/content/0", "cache_control", json!({"type": "ephemeral"}))),
    (Rule::BreakpointPlace, |b| set(b, "/messages/2/content/2", "text", json!(""))),
    (Rule::BreakpointPlace, |b| set(b, "/system/0", "text", json!(" "))),
    (Rule::BreakpointPlace, |b| list(b, CALLS).insert(0,
        json!({"type": "redacted_thinking", "data": "eA==", "cache_control": {"type": "ephemeral"}}))),
    (Rule::BreakpointPlace, |b| list(b, "/system").push(json!({"type": "text", "text": "", "cache_control": {"type": "ephemeral", "ttl": "1h"}}))),
    (Rule::BreakpointOrder, |b| set(b, "/tools/0", "cache_control", json!({"type": "ephemeral"}))),
    (Rule::BreakpointOrder, |b| set(b, "/messages/2/content/3", "cache_control", json!({"type": "ephemeral", "ttl": "1h"}))),
    (Rule::BreakpointOrder, |b| set(b, "", "cache_control", json!({"type": "ephemeral", "ttl": "1h"}))),
    (Rule::BreakpointOrder, |b| {
        remove(b, "/system/0/cache_control", "ttl");
        set(b, "/messages/2/content/2/cache_control", "ttl", json!("1h"));
    }),
    (Rule::BreakpointOrder, |b| {
        list(b, "/system").insert(0, json!({"type": "text", "text": "First.", "cache_control": {"type": "ephemeral", "ttl": "5m"}}));
    }),
    (Rule::ImageForm, |b| set(b, "/messages/2/content/3/source", "media_type", json!("image/svg+xml"))),
    (Rule::ImageForm, |b| set(b, "/messages/2/content/3/source", "media_type", json!("image/jpeg"))),
    (Rule::ImageForm, |b| remove(b, "/messages/2/content/3/source", "media_type")),
    (Rule::ImageForm, |b| set(b, "/messages/2/content/3/source", "data", json!("AAAA"))),
    (Rule::ImageForm, |b| set(b, "/messages/2/content/3/source", "data", json!("aGVsbG8sIHdvcmxkISBIZWxsbyE="))),
    (Rule::ImageForm, |b| list(b, LAST).push(picture(&png(0, 1)))),
    (Rule::ImageForm, |b| set(b, "/messages/2/content/3/source", "data", json!(""))),
    (Rule::ImageForm, |b| set(b, "/messages/2/content/3/source", "data", json!("iVBO\nRw0K"))),
    (Rule::ImageForm, |b| set(b, "/messages/2/content/3", "source", json!({"type": "url", "url": "file:///a.png"}))),
    (Rule::ImageForm, |b| set(b, "/messages/2/content/3", "source", json!({"type": "file", "file_id": ""}))),
    (Rule::ImageSize, |b| list(b, LAST).extend(vec![picture(&png(2001, 10)); 20])),
    (Rule::ImageSize, |b| list(b, LAST).push(picture(&png(10, 8001)))),
    (Rule::ImageSize, |b| list(b, LAST).push(image_of_size(5 * 1024 * 1024 + 4))),
    (Rule::ImageSize, |b| {
        list(b, LAST).extend(vec![json!({"type": "image", "source": {"type": "url", "url": "https://example.org/"}}); 19]);
        list(b, LAST).push(picture(&png(10, 2001)));
    }),
    (Rule::ImageSize, |b| set(b, "/messages/0", "content", json!([picture(&png(8001, 8001))]))),
    (Rule::ImageSize, |b| set(b, "/messages/2/content/0", "content", json!(vec![picture(&png(3000, 3000)); 20]))),
    (Rule::BodySize, |b| set(b, "/messages/0", "content", json!("x".repeat(32 * 1024 * 1024)))),
    (Rule::BodySize, |b| set(b, "/messages/0", "content", json!("\"".repeat(16 * 1024 * 1024)))),
    (Rule::BodySize, |b| set(b, "/system/0", "text", json!("x".repeat(32 * 1024 * 1024)))),
    (Rule::BodySize, |b| set(b, "/tools/0", "description", json!("\u{1d11e}".repeat(8 * 1024 * 1024)))),
    (Rule::BodySize, |b| set(b, "/messages/1/content/2/input", "path", json!("\n".repeat(16 * 1024 * 1024)))),
];

#[rustfmt::skip]
const OPENAI: &Breaches = &[
    (Rule::Shape, |b| set(b, "", "model", json!(""))),
    (Rule::Shape, |b| set(b, "", "messages", json!("Hi."))),
    (Rule::Shape, |b| set(b, "/messages/1", "content", json!({"text": "Hi."}))),
    (Rule::Shape, |b| set(b, "/messages/2", "tool_calls", json!([]))),
    (Rule::Shape, |b| remove(b, "/messages/3", "tool_call_id")),
    (Rule::Shape, |b| remove(b, "/tools/0", "type")),
    (Rule::Shape, |b| remove(b, "/messages/2/tool_calls/0", "type")),
    (Rule::Shape, |b| list(b, "/messages/5/content").push(json!({"type": "file"}))),
    (Rule::Shape, |b| list(b, "/messages/5/content").push(json!({"type": "input_audio", "input_audio": "AA=="}))),
    (Rule::Role, |b| set(b, "/messages/1", "role", json!("human"))),
    (Rule::Role, |b| remove(b, "/messages/0", "role")),
    (Rule::Role, |b| set(b, "/messages/5", "role", json!(""))),
    (Rule::Role, |b| set(b, "/messages/2", "role", json!("model"))),
    (Rule::Role, |b| set(b, "/messages/3", "role", json!("function"))),
    (Rule::EmptyMessage, |b| set(b, "", "messages", json!([]))),
    (Rule::EmptyMessage, |b| set(b, "/messages/1", "content", json!(""))),
    (Rule::EmptyMessage, |b| set(b, "/messages/5", "content", json!([]))),
    (Rule::EmptyMessage, |b| remove(b, "/messages/3", "content")),
    (Rule::EmptyMessage, |b| list(b, "/messages").push(json!({"role": "assistant", "content": null}))),
    (Rule::BlockPlace, |b| { let calls = at(b, "/messages/2/tool_calls").clone(); set(b, "/messages/1", "tool_calls", calls); }),
    (Rule::BlockPlace, |b| set(b, "/messages/5", "role", json!("assistant"))),
    (Rule::BlockPlace, |b| set(b, "/messages/5", "role", json!("system"))),
    (Rule::BlockPlace, |b| set(b, "/messages/0", "content", json!([{"type": "input_audio", "input_audio": {}}]))),
    (Rule::BlockPlace, |b| list(b, "/messages/5/content").push(json!({"type": "refusal", "refusal": "No."}))),
    (Rule::ToolName, |b| set(b, "/tools/0/function", "name", json!("files/read"))),
    (Rule::ToolName, |b| set(b, "/messages/2/tool_calls/0/function", "name", json!("a.b"))),
    (Rule::ToolName, |b| set(b, "/messages/2/tool_calls/1/function", "name", json!("r".repeat(65)))),
    (Rule::ToolName, |b| set(b, "/tools/0/function", "name", json!(""))),
    (Rule::ToolName, |b| set(b, "/messages/2/tool_calls/0/function", "name", json!("l\u{e9}e"))),
    (Rule::ToolTwice, |b| { let tool = at(b, "/tools/0").clone(); list(b, "/tools").push(tool); }),
    (Rule::ToolTwice, |b| list(b, "/tools").insert(0,
        json!({"type": "function", "function": {"name": "read", "description": "Another.", "parameters": {"type": "object"}}}))),
    (Rule::ToolTwice, |b| list(b, "/tools").extend(["write", "write"].map(function))),
    (Rule::ToolTwice, |b| list(b, "/tools").extend(["write", "read"].map(function))),
    (Rule::ToolTwice, |b| list(b, "/tools").extend(["a", "b", "a"].map(function))),
    (Rule::ToolSchema, |b| remove(b, "/tools/0/function", "parameters")),
    (Rule::ToolSchema, |b| set(b, "/tools/0/function", "parameters", json!({"type": "array"}))),
    (Rule::ToolSchema, |b| set(b, "/tools/0/function", "parameters", json!({}))),
    (Rule::ToolSchema, |b| set(b, "/tools/0/function", "parameters", json!("object"))),
    (Rule::ToolSchema, |b| list(b, "/tools").push(json!({"type": "function", "function": {"name": "write"}}))),
    (Rule::CallId, |b| set(b, "/messages/2/tool_calls/0", "id", json!(""))),
    (Rule::CallId, |b| set(b, "/messages/2/tool_calls/0", "id", json!("c".repeat(41)))),
    (Rule::CallId, |b| set(b, "/messages/2/tool_calls/1", "id", json!(""))),
    (Rule::CallId, |b| set(b, "/messages/2/tool_calls/1", "id", json!("\u{e9}".repeat(41)))),
    (Rule::CallId, |b| {
        let id = json!("c".repeat(200));
        set(b, "/messages/2/tool_calls/0", "id", id.clone());
        set(b, "/messages/3", "tool_call_id", id);
    }),
    (Rule::CallTwice, |b| set(b, "/messages/2/tool_calls/1", "id", json!("call_1"))),
    (Rule::CallTwice, |b| { let call = at(b, "/messages/2/tool_calls/0").clone(); list(b, "/messages/2/tool_calls").push(call); }),
    (Rule::CallTwice, |b| set(b, "/messages/2/tool_calls/0", "id", json!("call_2"))),
    (Rule::CallTwice, |b| { let call = at(b, "/messages/2/tool_calls/1").clone(); list(b, "/messages/2/tool_calls").insert(0, call); }),
    (Rule::CallTwice, |b| { let calls = list(b, "/messages/2/tool_calls").clone(); list(b, "/messages/2/tool_calls").extend(calls); }),
    (Rule::CallInput, |b| set(b, "/messages/2/tool_calls/0/function", "arguments", json!({}))),
    (Rule::CallInput, |b| remove(b, "/messages/2/tool_calls/1/function", "arguments")),
    (Rule::CallInput, |b| set(b, "/messages/2/tool_calls/1/function", "arguments", json!(null))),
    (Rule::CallInput, |b| set(b, "/messages/2/tool_calls/1/function", "arguments", json!(["{}"]))),
    (Rule::CallInput, |b| remove(b, "/messages/2/tool_calls/0", "function")),
    (Rule::CallAnswered, |b| { list(b, "/messages").remove(3); }),
    (Rule::CallAnswered, |b| { list(b, "/messages").remove(4); }),
    (Rule::CallAnswered, |b| list(b, "/messages").truncate(3)),
    (Rule::CallAnswered, |b| list(b, "/messages").swap(4, 5)),
    (Rule::CallAnswered, |b| list(b, "/messages").insert(3, json!({"role": "user", "content": "Wait."}))),
    (Rule::OrphanResult, |b| set(b, "/messages/3", "tool_call_id", json!("call_9"))),
    (Rule::OrphanResult, |b| { list(b, "/messages").remove(2); }),
    (Rule::OrphanResult, |b| { let answer = at(b, "/messages/3").clone(); list(b, "/messages").insert(3, answer); }),
    (Rule::OrphanResult, |b| { let answer = at(b, "/messages/3").clone(); list(b, "/messages").push(answer); }),
    (Rule::OrphanResult, |b| set(b, "/messages/4", "tool_call_id", json!("call_1"))),
    (Rule::ImageForm, |b| set(b, "/messages/5/content/1/image_url", "url", json!("a.png"))),
    (Rule::ImageForm, |b| set(b, "/messages/5/content/1/image_url", "url", json!("data:text/html,x"))),
    (Rule::ImageForm, |b| set(b, "/messages/5/content/1/image_url", "url", json!("file:///a.png"))),
    (Rule::ImageForm, |b| remove(b, "/messages/5/content/1/image_url", "url")),
    (Rule::ImageForm, |b| set(b, "/messages/5/content/1", "image_url", json!("https://example.org/a.png"))),
    (Rule::ToolText, |b| set(b, "/messages/3", "content", json!({"text": "one"}))),
    (Rule::ToolText, |b| list(b, "/messages/4/content").push(
        json!({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}))),
    (Rule::ToolText, |b| set(b, "/messages/4", "content", json!(2))),
    (Rule::ToolText, |b| list(b, "/messages/4/content").push(json!({"type": "refusal", "refusal": "No."}))),
    (Rule::ToolText, |b| list(b, "/messages/4/content").push(json!("two"))),
    (Rule::CacheKey, |b| set(b, "", "prompt_cache_key", json!("k".repeat(65)))),
    (Rule::CacheKey, |b| set(b, "", "prompt_cache_key", json!(7))),
    (Rule::CacheKey, |b| set(b, "", "prompt_cache_key", json!(null))),
    (Rule::CacheKey, |b| set(b, "", "prompt_cache_key", json!(["strata-1"]))),
    (Rule::CacheKey, |b| set(b, "", "prompt_cache_key", json!("\u{1d11e}".repeat(65)))),
    (Rule::BreakpointForm, |b| set(b, "/messages/5/content/0", "prompt_cache_breakpoint", json!({"mode": "implicit"}))),
    (Rule::BreakpointForm, |b| set(b, "/messages/5/content/0", "prompt_cache_breakpoint", json!({"type": "ephemeral"}))),
    (Rule::BreakpointForm, |b| set(b, "/messages/5/content/0", "prompt_cache_breakpoint", json!(true))),
    (Rule::BreakpointForm, |b| set(b, "/messages/4/content/0/prompt_cache_breakpoint", "ttl", json!("30m"))),
    (Rule::BreakpointForm, |b| set(b, "/prompt_cache_options", "ttl", json!("1h"))),
    (Rule::BreakpointForm, |b| set(b, "/prompt_cache_options", "mode", json!("automatic"))),
    (Rule::BreakpointForm, |b| set(b, "/prompt_cache_options", "retention", json!("24h"))),
    (Rule::BreakpointForm, |b| set(b, "", "prompt_cache_options", json!("explicit"))),
    (Rule::BreakpointLimit, |b| list(b, "/messages/5/content").extend(vec![text_with_breakpoint("1"); 78])),
    (Rule::BreakpointLimit, |b| list(b, "/messages/0/content").extend(vec![text_with_breakpoint("1"); 78])),
    (Rule::BreakpointLimit, |b| list(b, "/messages").push(json!({"role": "user", "content": texts_with_breakpoints()}))),
    (Rule::BreakpointLimit, |b| { remove(b, "", "prompt_cache_options"); list(b, "/messages/5/content").extend(vec![text_with_breakpoint("1"); 77]); }),
    (Rule::BreakpointLimit, |b| {
        set(b, "/prompt_cache_options", "mode", json!("implicit"));
        list(b, "/messages/0/content").extend(vec![text_with_breakpoint("1"); 77]);
    }),
    (Rule::BreakpointPlace, |b| list(b, "/messages").push(json!({"role": "assistant", "content": [text_with_breakpoint("Yes.")]}))),
    (Rule::BreakpointPlace, |b| set(b, "/messages/2", "content", json!([text_with_breakpoint("I look.")]))),
    (Rule::BreakpointPlace, |b| set(b, "/messages/5", "role", json!("assistant"))),
    (Rule::BreakpointPlace, |b| set(b, "/messages/0", "role", json!("assistant"))),
    (Rule::BreakpointPlace, |b| set(b, "/messages/2", "content", json!([
        {"type": "refusal", "refusal": "No.", "prompt_cache_breakpoint": {"mode": "explicit"}}]))),
    (Rule::BreakpointModel, |b| set(b, "", "model", json!("gpt-5.5"))),
    (Rule::BreakpointModel, |b| set(b, "", "model", json!("openai/gpt-5-2025-08-07"))),
    (Rule::BreakpointModel, |b| set(b, "", "model", json!("gpt-4o"))),
    (Rule::BreakpointModel, |b| set(b, "", "model", json!("o3"))),
    (Rule::BreakpointModel, |b| { remove(b, "", "prompt_cache_options"); set(b, "", "model", json!("gpt-5.1-codex")); }),
    (Rule::StringLength, |b| set(b, "/messages/1", "content", json!("x".repeat(1_048_577)))),
    (Rule::StringLength, |b| set(b, "/messages/2/tool_calls/0/function", "arguments", json!("x".repeat(1_048_577)))),
    (Rule::StringLength, |b| set(b, "/messages/5/content/0", "text", json!("\u{1d11e}".repeat(1_048_577)))),
    (Rule::StringLength, |b| set(b, "/messages/4/content/0", "text", json!("x".repeat(1_048_577)))),
    (Rule::StringLength, |b| set(b, "/tools/0/function", "description", json!("x".repeat(2_000_000)))),
];

const RULES: [Rule; 32] = [
    Rule::Shape,
    Rule::Role,
    Rule::EmptyMessage,
    Rule::EmptyText,
    Rule::FirstUser,
    Rule::Alternation,
    Rule::TrailingAssistant,
    Rule::BlockPlace,
    Rule::ThinkingPlace,
    Rule::ThinkingSeal,
    Rule::ToolName,
    Rule::ToolTwice,
    Rule::ToolSchema,
    Rule::CallId,
    Rule::CallTwice,
    Rule::CallInput,
    Rule::CallAnswered,
    Rule::ResultsFirst,
    Rule::OrphanResult,
    Rule::ServerCall,
    Rule::ErrorContent,
    Rule::BreakpointForm,
    Rule::BreakpointLimit,
    Rule::BreakpointPlace,
    Rule::BreakpointModel,
    Rule::BreakpointOrder,
    Rule::ImageForm,
    Rule::ImageSize,
    Rule::BodySize,
    Rule::ToolText,
    Rule::CacheKey,
    Rule::StringLength,
];

/// Minimum number of different bodies that break each rule in the most common dialects.
const BREACHES: usize = 5;
const FEWER_BREACHES: usize = 2;

fn tables() -> [(Format, Value, &'static Breaches); 5] {
    [
        (Format::Anthropic, valid_anthropic(), ANTHROPIC),
        (Format::OpenAi, valid_openai(), OPENAI),
        (Format::Responses, valid_responses(), RESPONSES),
        (Format::Gemini, valid_gemini(), GEMINI),
        (Format::Bedrock, valid_bedrock(), BEDROCK),
    ]
}

/// Returns the dialects that have a rule, according to the rule's description.
fn dialects_with(rule: Rule) -> &'static [Format] {
    use Format::{Anthropic, Bedrock, Gemini, OpenAi, Responses};
    match rule {
        Rule::Shape
        | Rule::Role
        | Rule::EmptyMessage
        | Rule::BlockPlace
        | Rule::ToolName
        | Rule::ToolTwice
        | Rule::ToolSchema
        | Rule::CallInput
        | Rule::CallAnswered
        | Rule::OrphanResult
        | Rule::ImageForm => &[Anthropic, OpenAi, Responses, Gemini, Bedrock],
        Rule::CallId
        | Rule::CallTwice
        | Rule::BreakpointForm
        | Rule::BreakpointLimit
        | Rule::BreakpointPlace => &[Anthropic, OpenAi, Responses, Bedrock],
        Rule::ThinkingSeal => &[Anthropic, Responses, Gemini, Bedrock],
        Rule::ThinkingPlace => &[Anthropic, Responses],
        Rule::EmptyText
        | Rule::FirstUser
        | Rule::Alternation
        | Rule::TrailingAssistant
        | Rule::ErrorContent
        | Rule::BreakpointOrder => &[Anthropic, Bedrock],
        Rule::ResultsFirst | Rule::ServerCall | Rule::ImageSize | Rule::BodySize => &[Anthropic],
        Rule::CacheKey | Rule::BreakpointModel | Rule::StringLength => &[OpenAi, Responses],
        Rule::ToolText => &[OpenAi],
    }
}

#[test]
fn valid_bodies_pass() {
    for (format, sound, _) in tables() {
        assert_valid(format, &sound);
    }
}

#[test]
fn unknown_block_types_pass_in_allowed_positions() {
    let mut body = valid_anthropic();
    list(&mut body, CALLS).extend([
        server_use("server_tool_use", "srvtoolu_1"),
        server_use("mcp_tool_use", "mcptoolu_1-a"),
        server_result("mcp_tool_result", "mcptoolu_1-a"),
        server_result("web_search_tool_result", "srvtoolu_1"),
    ]);
    let mark = json!({"type": "ephemeral"});
    list(&mut body, LAST).push(document(mark.clone()));
    let reference = json!({"type": "tool_reference", "tool_name": "read", "cache_control": mark});
    set(&mut body, "/messages/2/content/0", "content", json!([reference]));
    assert_valid(Format::Anthropic, &body);

    let mut body = valid_openai();
    let long = "A".repeat(2_000_000);
    list(&mut body, "/messages/5/content").extend([
        json!({"type": "file", "file": {"file_data": long}}),
        json!({"type": "input_audio", "input_audio": {"data": long, "format": "wav"}}),
    ]);
    assert_valid(Format::OpenAi, &body);
}

#[test]
fn every_breach_is_reported() {
    let mut unnoticed = Vec::new();
    for (format, sound, table) in tables() {
        for (number, (rule, breach)) in table.iter().enumerate() {
            let mut body = sound.clone();
            breach(&mut body);
            let violations = check(format, &body);
            if !violations.iter().any(|v| v.rule == *rule) {
                unnoticed.push(format!("{format:?}, {rule}, breach {number}: {violations:?}"));
            }
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:#?}");
}

/// Checks the enum's own list of rules, so that a new rule without breaches is noticed.
#[test]
#[expect(clippy::print_stderr, reason = "it prints its figure")]
fn every_rule_is_tested_in_each_dialect_that_has_it() {
    let mut all = 0;
    for (format, sound, table) in tables() {
        let least =
            if matches!(format, Format::Anthropic | Format::OpenAi) { BREACHES } else { FEWER_BREACHES };
        let mut broken: BTreeMap<Rule, BTreeSet<String>> = BTreeMap::new();
        for (rule, breach) in table {
            let mut body = sound.clone();
            breach(&mut body);
            all += usize::from(broken.entry(*rule).or_default().insert(body.to_string()));
        }
        for rule in RULES {
            let variants = broken.get(&rule).map_or(0, BTreeSet::len);
            match dialects_with(rule).contains(&format) {
                true => assert!(variants >= least, "{format:?}, {rule}: {variants} different breaches"),
                false => assert_eq!(variants, 0, "{format:?} has no rule {rule}"),
            }
        }
    }
    eprintln!("{} rules, {all} different broken bodies, each named", RULES.len());
}

#[test]
fn rule_names_are_unique() {
    let names: BTreeSet<String> = RULES.iter().map(ToString::to_string).collect();
    assert_eq!(names.len(), RULES.len());
}

#[test]
fn bodies_at_the_limits_pass() {
    let mut body = valid_anthropic();
    list(&mut body, LAST).extend(vec![picture(&png(2000, 2000)); 30]);
    for at in [2, 3] {
        set(&mut body, &format!("/messages/1/content/{at}"), "cache_control", json!({"type": "ephemeral"}));
    }
    assert_valid(Format::Anthropic, &body);
    let mut body = valid_anthropic();
    list(&mut body, LAST).extend(vec![picture(&png(8000, 8000)); 18]);
    list(&mut body, LAST).push(image_of_size(5 * 1024 * 1024));
    assert_valid(Format::Anthropic, &body);

    let mut body = valid_openai();
    set(&mut body, "", "prompt_cache_key", json!("\u{e9}".repeat(64)));
    set(&mut body, "/messages/1", "content", json!("\u{e9}".repeat(1_048_576)));
    list(&mut body, "/messages/5/content").push(text_with_breakpoint("1"));
    assert_valid(Format::OpenAi, &body);
}

#[test]
fn breakpoints_are_rejected_for_models_that_do_not_support_them() {
    for (model, takes) in [
        ("gpt-5.6-sol", true),
        ("gpt-5.10", true),
        ("gpt-6", true),
        ("gpt-6.1-sol-2026-10-01", true),
        ("openai/gpt-7-nova", true),
        ("our-deployment", true),
        ("gpt-oss-120b", true),
        ("olmo-2", true),
        ("gpt-5", false),
        ("gpt-5.5-pro", false),
        ("gpt-5-2025-08-07", false),
        ("gpt-4.1-mini", false),
        ("gpt-3.5-turbo", false),
        ("o4-mini", false),
    ] {
        let mut body = valid_openai();
        set(&mut body, "", "model", json!(model));
        let violations: Vec<Rule> =
            check(Format::OpenAi, &body).iter().map(|violation| violation.rule).collect();
        assert_eq!(violations, if takes { vec![] } else { vec![Rule::BreakpointModel] }, "{model}");
    }
}

#[test]
fn a_violation_reads_as_a_sentence() {
    let mut body = valid_anthropic();
    list(&mut body, LAST).remove(0);
    let violations: Vec<String> = check(Format::Anthropic, &body).iter().map(ToString::to_string).collect();
    let expected =
        "/messages/1/content/2: the call `toolu_1` has no result in the next message (call_answered)";
    assert_eq!(violations, [expected]);
}

#[test]
fn checking_any_value_does_not_panic() {
    for body in [json!(null), json!([]), json!({"messages": [null, 1, {"content": [null, []]}]}), json!("x")]
    {
        for format in json_formats() {
            assert!(!check(format, &body).is_empty(), "{body}");
        }
    }
}
