//! Checks a body for Cohere's v2 chat API: the rules of OpenAI's Chat Completions, whose messages and tools it has, and
//! the differences.

use serde_json::Value;

use crate::providers::json_fields::list;
use crate::providers::{Findings, Rule, openai};

pub(super) fn check(body: &Value) -> Findings {
    let mut findings = openai::check::check(body);
    for (index, message) in list(body, "messages").iter().enumerate() {
        let path = format!("/messages/{index}");
        if message.get("role").is_some_and(|role| role == "developer") {
            findings.add(Rule::Role, format!("{path}/role"), "`developer` is not a known role");
        }
        let is_before_calls = message.get("tool_calls").is_some();
        if message.get("tool_plan").is_some_and(|plan| !plan.is_string() || !is_before_calls) {
            findings.add(Rule::Shape, format!("{path}/tool_plan"), "a plan must be a string before calls");
        }
        for (at, part) in list(message, "content").iter().enumerate() {
            if !part.get("type").is_some_and(|kind| kind == "text" || kind == "image_url") {
                findings.add(Rule::Shape, format!("{path}/content/{at}"), "unknown part type");
            }
        }
    }
    let choice = body.get("tool_choice");
    if choice.is_some_and(|choice| choice != "NONE" && choice != "REQUIRED") {
        findings.add(Rule::Shape, "/tool_choice", "`tool_choice` must be `NONE` or `REQUIRED`");
    }
    findings
}
