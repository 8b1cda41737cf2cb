//! The steps of a conversation: its tool calls with their outcomes, and the files it read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::history::{ContentBlock, Message, MessageId, OpenCalls, ToolOutcome};

use super::call::CallSubject;
use super::clip::one_line;
use super::{FileTrace, StepOutcome, ToolPatterns, ToolPurpose, extract_facts, todos};

/// Maximum characters of a step's subject.
const MAX_STEP_SUBJECT_CHARS: usize = 200;

/// A tool call and its outcome.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Message that called the tool.
    pub message: MessageId,
    /// Name of the tool.
    pub tool: String,
    /// Path, command line or query; empty if the call has none.
    pub subject: String,
    /// Whether the call succeeded or failed, if its result is known.
    pub(crate) ended: StepOutcome,
}

/// Returns all tool calls in order, except those that change files or update a to-do list.
pub fn non_edit_steps<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    tools: &ToolPatterns,
) -> Vec<Step> {
    steps_with_purpose(messages, tools)
        .into_iter()
        .filter(|(purpose, _)| *purpose != ToolPurpose::Edit)
        .map(|(_, step)| step)
        .collect()
}

/// Returns the last `most` tool calls in order, not counting those that update a to-do list.
pub(crate) fn last_calls<'a>(
    messages: impl DoubleEndedIterator<Item = &'a Message>,
    tools: &ToolPatterns,
    most: usize,
) -> Vec<Step> {
    let is_call = |block: &&ContentBlock| matches!(block, ContentBlock::ToolCall { name, input, .. } if !todos::is_todo_call(name, input));
    let mut call_count = 0;
    let mut last: Vec<&Message> = messages
        .rev()
        .take_while(|message| {
            let enough = call_count >= most;
            call_count += message.body.content.iter().filter(is_call).count();
            !enough
        })
        .collect();
    last.reverse();
    let mut calls = steps_with_purpose(last, tools);
    calls.drain(..calls.len().saturating_sub(most));
    calls.into_iter().map(|(_, step)| step).collect()
}

/// Returns all tool calls except those that update a to-do list.
fn steps_with_purpose<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    tools: &ToolPatterns,
) -> Vec<(ToolPurpose, Step)> {
    let mut calls: Vec<(ToolPurpose, Step)> = Vec::new();
    let mut open = OpenCalls::default();
    for message in messages {
        open.begin_message(message);
        for block in &message.body.content {
            match block {
                ContentBlock::ToolCall { id, name, input } if todos::is_todo_call(name, input) => {
                    open.add_call(id.as_str(), None);
                }
                ContentBlock::ToolCall { id, name, input } => {
                    let purpose = tools.purpose(name);
                    let subject = CallSubject::new(name, purpose, input);
                    open.add_call(id.as_str(), Some(calls.len()));
                    let step = Step {
                        message: message.id,
                        tool: name.clone(),
                        subject: one_line(subject.label().unwrap_or_default(), MAX_STEP_SUBJECT_CHARS),
                        ended: StepOutcome::Unanswered,
                    };
                    calls.push((purpose, step));
                }
                ContentBlock::ToolResult { call_id, outcome, .. } => {
                    if let Some((_, step)) =
                        open.close_call(call_id).flatten().and_then(|at| calls.get_mut(at))
                    {
                        step.ended = StepOutcome::from(*outcome);
                    }
                }
                _ => {}
            }
        }
    }
    calls
}

/// Returns the files that were read, least recent first, each with the index of the message that read it
/// last.
pub fn files_read<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    tools: &ToolPatterns,
) -> Vec<(usize, String)> {
    let read = |(path, trace): (String, FileTrace)| trace.last_read.map(|last| (last, path));
    let mut files: Vec<(usize, String)> =
        extract_facts(messages, tools).files.into_iter().filter_map(read).collect();
    files.sort();
    files
}

impl From<ToolOutcome> for StepOutcome {
    fn from(outcome: ToolOutcome) -> Self {
        match outcome {
            ToolOutcome::Ok => Self::Well,
            ToolOutcome::Error => Self::Badly,
        }
    }
}
