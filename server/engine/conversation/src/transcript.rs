//! Reads recorded sessions of a coding agent: Claude Code's JSON Lines, converted to turns with messages and
//! usage. Skips events for the agent's own user interface.
//!
//! The format is undocumented. This module follows files of versions 2.0 and 2.1. If a user went back to an
//! earlier message, only the branch that was continued last is read (`branch`).

mod branch;
mod clock;

use serde::Deserialize;
use serde_json::Value;
use strata_base::json;
use strata_tokens::cost::Usage;

use crate::history::{ContentBlock, ResultPart};
use crate::providers::anthropic::exchange::{normalize_content, read_block};
use branch::TranscriptNode;
pub(super) use clock::format_timestamp;

/// Model name of answers that the agent wrote itself, such as the report of a failed request.
const NO_MODEL: &str = "<synthetic>";

/// A session of a coding agent, parsed from its recording.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Transcript {
    /// Answered requests, in order.
    pub turns: Vec<TranscriptTurn>,
    /// The last request, if it has no answer.
    pub unanswered: Option<TranscriptTurn>,
    /// Working directory of the agent, from the first line that has one.
    pub folder: Option<String>,
    /// Number of lines that could not be parsed.
    pub skipped: usize,
}

/// A request to the model and its answer.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TranscriptTurn {
    /// The user's messages that were unanswered when the conversation was compacted. The summary in `request`
    /// covers them.
    pub lost: Vec<ContentBlock>,
    /// Whether the request still includes the earlier conversation.
    pub past: PriorHistoryForm,
    /// The user's messages since the last answer: prompts and tool results. Empty if the model was called
    /// again without new input.
    pub request: Vec<ContentBlock>,
    pub answer: Vec<ContentBlock>,
    /// Model that wrote the answer; empty if not recorded.
    pub model: String,
    /// Billed usage, if recorded.
    pub billed: Option<Usage>,
    /// Time when the request was complete, in milliseconds since 1970.
    pub time_ms: Option<u64>,
    /// Time when the answer was complete, in milliseconds since 1970.
    pub answered_ms: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PriorHistoryForm {
    #[default]
    Kept,
    /// The conversation was compacted, so the request begins with the summary.
    Summarised,
}

/// Parses a recorded session. Skips answers that no model wrote, and the lines of subagents, which have
/// separate conversations with the model. If all lines belong to subagents, parses these lines as the session.
/// Counts lines that are not JSON, and messages without content, as skipped.
pub fn parse(text: &str) -> Transcript {
    let text = text.trim_start_matches('\u{feff}');
    let lines: Vec<Option<Line>> =
        text.lines().filter(|line| !line.trim().is_empty()).map(|line| json::from_str(line).ok()).collect();
    let of_the_main_agent = lines.iter().flatten().any(|line| line.is_message() && !line.is_sidechain);
    let nodes: Vec<_> =
        lines.iter().map(|line| line.as_ref().map(|line| line.node(of_the_main_agent))).collect();
    let is_left = branch::abandoned_lines(&nodes);
    let mut parser = TranscriptParser::default();
    for (line, is_left) in lines.into_iter().zip(is_left) {
        match line {
            Some(line) if is_left || (of_the_main_agent && line.is_sidechain) => {}
            Some(line) => parser.read_line(line),
            None => parser.transcript.skipped += 1,
        }
    }
    parser.finish()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    subtype: String,
    #[serde(default)]
    is_sidechain: bool,
    uuid: Option<String>,
    parent_uuid: Option<String>,
    /// Parent of the first line after a compaction.
    logical_parent_uuid: Option<String>,
    timestamp: Option<String>,
    cwd: Option<String>,
    message: Option<Value>,
}

#[derive(Deserialize)]
struct Message {
    id: Option<String>,
    #[serde(default)]
    model: String,
    content: Value,
    usage: Option<UsageRecord>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct UsageRecord {
    input_tokens: u64,
    output_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
}

impl Line {
    fn is_message(&self) -> bool {
        matches!(&*self.kind, "user" | "assistant")
    }

    /// Returns what connects the line with others. `skips_subagents` tells whether subagents are not part of the
    /// conversation.
    fn node(&self, skips_subagents: bool) -> TranscriptNode<'_> {
        let message = self.message.as_ref();
        let id = message.and_then(|message| message.get("id")?.as_str());
        let blocks = message.and_then(|message| message.get("content")?.as_array()).into_iter().flatten();
        let calls = blocks.filter_map(|block| match block.get("type")?.as_str()? {
            "tool_use" => block.get("id")?.as_str(),
            "tool_result" => block.get("tool_use_id")?.as_str(),
            _ => None,
        });
        TranscriptNode {
            id: self.uuid.as_deref(),
            parent: self.parent_uuid.as_deref().or(self.logical_parent_uuid.as_deref()),
            is_message: self.is_message() && !(skips_subagents && self.is_sidechain),
            keys: id.into_iter().chain(calls).collect(),
        }
    }
}

#[derive(Default)]
struct TranscriptParser {
    transcript: Transcript,
    /// The user's messages since the last answer.
    request: Vec<ContentBlock>,
    lost: Vec<ContentBlock>,
    past: PriorHistoryForm,
    /// Time of the user's last message since the last answer, in milliseconds since 1970.
    time_ms: Option<u64>,
    /// Id of the last answer, whose blocks are on separate lines, with tool results between them.
    answer_id: Option<String>,
}

impl TranscriptParser {
    fn read_line(&mut self, mut line: Line) {
        if self.transcript.folder.is_none() {
            self.transcript.folder = line.cwd.take();
        }
        let time_ms = line.timestamp.as_deref().and_then(clock::parse_timestamp);
        match (&*line.kind, &*line.subtype) {
            ("system", "compact_boundary") => self.record_compaction(),
            _ if line.is_message() => {
                let message = line.message.and_then(|message| Message::deserialize(message).ok());
                match message.filter(|message| message.content.is_string() || message.content.is_array()) {
                    None => self.transcript.skipped += 1,
                    Some(message) if line.kind == "user" => self.add_request(message, time_ms),
                    Some(message) if message.model == NO_MODEL => {}
                    Some(message) => self.add_answer(message, time_ms),
                }
            }
            _ => {}
        }
    }

    /// Records a compaction. The next line is the summary, which also covers unanswered messages.
    fn record_compaction(&mut self) {
        self.past = PriorHistoryForm::Summarised;
        self.lost.append(&mut self.request);
    }

    fn add_request(&mut self, message: Message, time_ms: Option<u64>) {
        self.request.extend(blocks(message.content));
        self.time_ms = time_ms.or(self.time_ms);
    }

    fn add_answer(&mut self, message: Message, time_ms: Option<u64>) {
        let billed = message.usage.map(Usage::from);
        let model = message.model;
        let blocks = blocks(message.content);
        let continues = message.id.is_some() && message.id == self.answer_id;
        match self.transcript.turns.last_mut() {
            Some(turn) if continues => {
                turn.answer.extend(blocks);
                turn.answered_ms = time_ms.or(turn.answered_ms);
                turn.billed = max_usage(turn.billed, billed);
            }
            _ => {
                let request = self.take_request();
                self.transcript.turns.push(TranscriptTurn {
                    answer: blocks,
                    model,
                    billed,
                    time_ms: request.time_ms.or(time_ms),
                    answered_ms: time_ms,
                    ..request
                });
                self.answer_id = message.id;
            }
        }
    }

    /// Returns the user's messages since the last answer as a turn, and clears them.
    fn take_request(&mut self) -> TranscriptTurn {
        TranscriptTurn {
            lost: std::mem::take(&mut self.lost),
            past: std::mem::take(&mut self.past),
            request: std::mem::take(&mut self.request),
            time_ms: self.time_ms.take(),
            ..TranscriptTurn::default()
        }
    }

    fn finish(mut self) -> Transcript {
        let rest = self.take_request();
        let unanswered = (!rest.request.is_empty() || !rest.lost.is_empty()).then_some(rest);
        Transcript { unanswered, ..self.transcript }
    }
}

/// Merges usage by taking the maximum of each count, because every line of an answer repeats the counts so
/// far.
fn max_usage(earlier: Option<Usage>, later: Option<Usage>) -> Option<Usage> {
    let (Some(earlier), Some(later)) = (earlier, later) else { return earlier.or(later) };
    Some(Usage {
        input: earlier.input.max(later.input),
        output: earlier.output.max(later.output),
        cache_read: earlier.cache_read.max(later.cache_read),
        cache_write: earlier.cache_write.max(later.cache_write),
    })
}

impl From<UsageRecord> for Usage {
    fn from(billed: UsageRecord) -> Self {
        Self {
            input: billed.input_tokens,
            output: billed.output_tokens,
            cache_read: billed.cache_read_input_tokens,
            cache_write: billed.cache_creation_input_tokens,
        }
    }
}

/// Reads the content of a message.
fn blocks(mut content: Value) -> Vec<ContentBlock> {
    normalize_content(&mut content);
    content.as_array().into_iter().flatten().map(read_recorded_block).collect()
}

/// Reads a block. Converts blocks and parts of results that Strata does not support to text, because they count toward
/// the tokens.
fn read_recorded_block(value: &Value) -> ContentBlock {
    match read_block(value) {
        Ok(ContentBlock::ToolResult { call_id, content, outcome }) => {
            let part = |part| match part {
                ResultPart::Foreign(foreign) => ResultPart::Text { text: foreign.value.to_string() },
                part => part,
            };
            ContentBlock::ToolResult { call_id, content: content.into_iter().map(part).collect(), outcome }
        }
        Ok(ContentBlock::Foreign(_)) | Err(_) => ContentBlock::text(value.to_string()),
        Ok(block) => block,
    }
}

#[cfg(test)]
mod tests;
