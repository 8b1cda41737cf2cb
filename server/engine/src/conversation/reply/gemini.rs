//! Assembles replies of Google's `generateContent` and `streamGenerateContent`:
//! <https://ai.google.dev/api/generate-content>. Each event is a complete reply object with further parts.

use serde_json::{Value, json};

use super::draft::{Draft, ReplyEvent, text};
use super::end::{self, end};
use super::usage;
use crate::conversation::history::Provider;

#[derive(Debug, Default)]
pub(super) struct Assembly {
    pub(super) draft: Draft,
    /// Number of calls so far, from which ids are derived for calls without one.
    calls: usize,
}

impl Assembly {
    pub(super) fn event(&mut self, data: &Value, out: &mut Vec<ReplyEvent>) {
        let candidate = data.pointer("/candidates/0");
        let blocked = data.pointer("/promptFeedback/blockReason").and_then(Value::as_str);
        self.draft.has_begun |=
            candidate.is_some() || blocked.is_some() || data.get("usageMetadata").is_some();
        let parts = candidate.and_then(|candidate| candidate.pointer("/content/parts")?.as_array());
        for part in parts.into_iter().flatten() {
            self.part(part, out);
        }
        // Each event counts the whole reply so far.
        let usage = data.get("usageMetadata").and_then(|billed| usage::GEMINI.read(billed));
        self.draft.usage = usage.or(self.draft.usage);
        let finish = candidate.and_then(|candidate| candidate.get("finishReason")?.as_str());
        self.draft.end = finish.map(end).or(blocked.map(end::blocked));
    }

    pub(super) fn whole(&mut self, body: &Value) -> Option<()> {
        self.event(body, &mut Vec::new());
        self.draft.has_begun.then_some(())
    }

    fn part(&mut self, part: &Value, out: &mut Vec<ReplyEvent>) {
        let is_thought = part.get("thought").and_then(Value::as_bool).unwrap_or(false);
        if is_thought {
            if !text(part, "text").is_empty() {
                out.push(ReplyEvent::Thinking(text(part, "text").to_owned()));
            }
            return;
        }
        if let Some(signature) = part.get("thoughtSignature").filter(|signature| signature.is_string()) {
            let kept = json!({"type": "thought_signature", "thoughtSignature": signature});
            self.draft.keep(Provider::Gemini, kept);
        }
        if let Some(call) = part.get("functionCall") {
            let id = match text(call, "id") {
                "" => format!("call_{}", self.calls),
                id => id.to_owned(),
            };
            self.calls += 1;
            let input = call.get("args").cloned().unwrap_or_else(|| json!({}));
            self.draft.call(&id, text(call, "name"), input, out);
        } else {
            self.draft.say(text(part, "text"), out);
        }
    }
}
