//! Assembles replies of Google's `generateContent` and `streamGenerateContent`:
//! <https://ai.google.dev/api/generate-content>. Each event is a complete reply object with further parts.

use serde_json::{Value, json};

use crate::history::ForeignProvider;
use crate::providers::reply::{
    ReplyDraft, StreamedReply, UsageFields, end_blocked_by_content_rules, parse_stop_reason, text,
};

/// `UsageMetadata` in <https://ai.google.dev/api/generate-content>
const USAGE_FIELDS: UsageFields = UsageFields {
    prompt: &["/promptTokenCount", "/toolUsePromptTokenCount"],
    output: &["/candidatesTokenCount", "/thoughtsTokenCount"],
    cache_read: &["/cachedContentTokenCount"],
    cache_write: &[],
    reasoning: &[],
    total: &["/totalTokenCount"],
};

#[derive(Debug, Default)]
pub(super) struct StreamedContent {
    /// Number of calls so far, from which ids are derived for calls without one.
    calls: usize,
}

impl StreamedReply for StreamedContent {
    fn read_event(&mut self, _name: &str, data: &Value, draft: &mut ReplyDraft) {
        let candidate = data.pointer("/candidates/0");
        let block_reason = data.pointer("/promptFeedback/blockReason").and_then(Value::as_str);
        draft.has_begun |=
            candidate.is_some() || block_reason.is_some() || data.get("usageMetadata").is_some();
        let parts = candidate.and_then(|candidate| candidate.pointer("/content/parts")?.as_array());
        for part in parts.into_iter().flatten() {
            self.read_part(part, draft);
        }
        // Each event counts the whole reply so far.
        let usage = data.get("usageMetadata").and_then(|billed| USAGE_FIELDS.read(billed));
        draft.usage = usage.or(draft.usage);
        let finish = candidate.and_then(|candidate| candidate.get("finishReason")?.as_str());
        draft.end = finish.map(parse_stop_reason).or(block_reason.map(end_blocked_by_content_rules));
    }

    fn read_body(&mut self, body: &Value, draft: &mut ReplyDraft) -> Option<()> {
        self.read_event("", body, draft);
        draft.has_begun.then_some(())
    }
}

impl StreamedContent {
    fn read_part(&mut self, part: &Value, draft: &mut ReplyDraft) {
        let is_thought = part.get("thought").and_then(Value::as_bool).unwrap_or(false);
        if is_thought {
            return draft.emit_thinking(text(part, "text"));
        }
        if let Some(signature) = part.get("thoughtSignature").filter(|signature| signature.is_string()) {
            let signed_thought = json!({"type": "thought_signature", "thoughtSignature": signature});
            draft.push_foreign(ForeignProvider::Gemini, signed_thought);
        }
        if let Some(call) = part.get("functionCall") {
            let id = match text(call, "id") {
                "" => format!("call_{}", self.calls),
                id => id.to_owned(),
            };
            self.calls += 1;
            let input = call.get("args").cloned().unwrap_or_else(|| json!({}));
            draft.push_call(&id, text(call, "name"), input);
        } else {
            draft.push_text(text(part, "text"));
        }
    }
}
