//! Converts a recorded session of a coding agent to messages. `transcript` parses the record.

use serde_json::Value;
use strata_base::key::FileKey;

use crate::history::{ContentBlock, MessageKind, NewMessage, Role, Visibility};
use crate::transcript::{PriorHistoryForm, Transcript};

/// Tools of Claude Code that edit files.
const EDITS: [&str; 4] = ["Edit", "MultiEdit", "Write", "NotebookEdit"];
/// Arguments of Claude Code's editing tools that contain the path of a file.
const FILE_ARGUMENTS: [&str; 3] = ["file_path", "notebook_path", "path"];

impl Transcript {
    /// Converts the session to messages with times and files. Messages before a compaction are hidden from
    /// the model, and the summary that replaces them has [`MessageKind::Summary`]. Paths inside the session's
    /// working directory become relative.
    pub fn messages(&self) -> Vec<NewMessage> {
        let mut messages: Vec<NewMessage> = Vec::new();
        let mut hidden = 0;
        let folder = self.folder.as_deref();
        for turn in self.turns.iter().chain(&self.unanswered) {
            push_request(&turn.lost, turn.time_ms, &mut messages);
            let mut request = turn.request.as_slice();
            if turn.past == PriorHistoryForm::Summarised {
                for message in messages.iter_mut().skip(hidden) {
                    message.agent = Visibility::Hidden;
                }
                hidden = messages.len();
                if let Some((summary @ ContentBlock::Text { .. }, rest)) = request.split_first() {
                    let summary = NewMessage::new(Role::User, vec![summary.clone()]);
                    messages.push(NewMessage {
                        kind: MessageKind::Summary,
                        time_ms: turn.time_ms,
                        ..summary
                    });
                    request = rest;
                }
            }
            push_request(request, turn.time_ms, &mut messages);
            let answer = NewMessage {
                time_ms: turn.answered_ms,
                ..NewMessage::new(Role::Assistant, turn.answer.clone())
            };
            push(&mut messages, with_touched_files(answer, folder));
        }
        messages
    }
}

/// Adds the user's blocks to `messages`: first the tool results as one message, then all other blocks as
/// another.
fn push_request(blocks: &[ContentBlock], time_ms: Option<u64>, messages: &mut Vec<NewMessage>) {
    let (results, rest): (Vec<_>, Vec<_>) = blocks.iter().cloned().partition(ContentBlock::is_tool_result);
    let results = NewMessage { kind: MessageKind::ToolResult, ..NewMessage::new(Role::User, results) };
    for message in [results, NewMessage::new(Role::User, rest)] {
        push(messages, NewMessage { time_ms, ..message });
    }
}

fn push(messages: &mut Vec<NewMessage>, message: NewMessage) {
    if !message.content.is_empty() {
        messages.push(message);
    }
}

fn with_touched_files(mut message: NewMessage, folder: Option<&str>) -> NewMessage {
    for block in &message.content {
        let ContentBlock::ToolCall { name, input, .. } = block else { continue };
        let Some(path) = FILE_ARGUMENTS.iter().find_map(|key| input.get(key).and_then(Value::as_str)) else {
            continue;
        };
        let key = FileKey::new(relative_path(path, folder));
        let files = if EDITS.contains(&name.as_str()) {
            &mut message.files_modified
        } else {
            &mut message.files_mentioned
        };
        if !key.as_str().is_empty() {
            files.push(key);
        }
    }
    for files in [&mut message.files_modified, &mut message.files_mentioned] {
        files.sort();
        files.dedup();
    }
    message
}

/// Returns `path` relative to `folder` if it is inside, with `/` as the separator.
fn relative_path(path: &str, folder: Option<&str>) -> String {
    let path = path.replace('\\', "/");
    let folder = folder.map(|folder| folder.replace('\\', "/"));
    let inside = folder.as_deref().and_then(|folder| path.strip_prefix(folder.trim_end_matches('/')));
    match inside {
        Some("") => String::new(),
        Some(inside) => inside.strip_prefix('/').unwrap_or(&path).to_owned(),
        None => path.strip_prefix("./").unwrap_or(&path).to_owned(),
    }
}
