//! Imports conversations, detecting the format from the content rather than the file name.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use strata_base::json;

use super::agents::{self, ImportedMessages};
use super::{ReadError, ReadList};
use crate::history::NewMessage;
use crate::providers::{anthropic, openai, responses};
use crate::transcript;

/// Format of an imported conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ConversationForm")]
pub enum ConversationFormat {
    /// JSON Lines recorded by Claude Code.
    ClaudeCode,
    /// JSON Lines recorded by Codex.
    Codex,
    /// A session recorded by Gemini CLI.
    GeminiCli,
    /// An export of opencode.
    Opencode,
    /// Aider's chat history in Markdown.
    Aider,
    /// ChatGPT's export of conversations, of which the one updated last is imported.
    Chatgpt,
    /// Messages of Anthropic's Messages API.
    Anthropic,
    /// Messages of OpenAI's Chat Completions API.
    #[serde(rename = "openai")]
    OpenAi,
    /// Items of OpenAI's Responses API.
    #[serde(rename = "openai_responses")]
    OpenAiResponses,
    /// Strata's own format: a list or JSON Lines, where each item is a [`NewMessage`] or a `Message`.
    Strata,
}

/// The known formats, for an error message.
const KNOWN_FORMATS: &str = "exports of Strata, opencode and ChatGPT; recordings of Claude Code, Codex, Gemini CLI and Aider; \
                     messages of Anthropic's and OpenAI's APIs";

/// A conversation imported from text.
#[derive(Clone, PartialEq, Debug)]
pub struct ImportedConversation {
    pub form: ConversationFormat,
    /// Instructions to the model that precede the conversation.
    pub system: Vec<NewMessage>,
    pub messages: Vec<NewMessage>,
    /// Number of lines or items that are not messages.
    pub skipped: usize,
}

/// Detects the format of JSON or JSON Lines; `None` if the text contains no known conversation. Messages that
/// contain only text look the same in several formats and count as Anthropic's.
#[cfg(test)]
pub(crate) fn detect_format(text: &str) -> Option<ConversationFormat> {
    ParsedText::new(text).detect_format()
}

/// Imports a conversation in any of the supported formats.
///
/// # Errors
/// [`ReadError`] if the format is unknown or a part does not fit it. For JSON Lines, the path starts with the
/// zero-based number of the line, not counting blank lines.
pub fn import_conversation(text: &str) -> Result<ImportedConversation, ReadError> {
    let text = text.trim_start_matches('\u{feff}');
    let parsed = ParsedText::new(text);
    let Some(form) = parsed.detect_format() else {
        return Err(ReadError::new(format!(
            "contains no conversation in a known format; known: {KNOWN_FORMATS}"
        )));
    };
    let recorded = |(messages, skipped)| (ReadList { system: Vec::new(), messages }, skipped);
    let (ReadList { system, messages }, skipped) = match form {
        ConversationFormat::ClaudeCode => {
            let transcript = transcript::parse(text);
            recorded((transcript.messages(), transcript.skipped))
        }
        ConversationFormat::Codex => recorded(agents::read_codex(parsed.candidate_messages())?),
        ConversationFormat::GeminiCli => recorded(agents::read_gemini_cli(&parsed.into_value())),
        ConversationFormat::Opencode => recorded(agents::read_opencode(&parsed.into_value())),
        ConversationFormat::Aider => recorded(agents::read_aider(text)),
        ConversationFormat::Chatgpt => {
            recorded(agents::read_chatgpt(&agents::chatgpt_conversations(&parsed.into_value())))
        }
        ConversationFormat::Strata => recorded(parsed.read_strata()?),
        ConversationFormat::Anthropic => (anthropic::exchange::read_conversation(&parsed.into_value())?, 0),
        ConversationFormat::OpenAi => (openai::exchange::read_conversation(&parsed.into_value())?, 0),
        ConversationFormat::OpenAiResponses => {
            (responses::exchange::read_conversation(&parsed.into_value())?, 0)
        }
    };
    Ok(ImportedConversation { form, system, messages, skipped })
}

/// Imported text, parsed as JSON or JSON Lines.
enum ParsedText {
    /// A single JSON value.
    Whole(Value),
    /// A JSON value for each line; `None` for lines that are not JSON.
    Lines(Vec<Option<Value>>),
    /// Aider's chat history.
    Markdown,
}

impl ParsedText {
    fn new(text: &str) -> Self {
        match json::from_str(text) {
            Ok(value) => Self::Whole(value),
            Err(_) if text.lines().any(|line| line.starts_with(agents::AIDER_START)) => Self::Markdown,
            Err(_) => {
                let lines = text.lines().filter(|line| !line.trim().is_empty());
                Self::Lines(lines.map(|line| json::from_str(line).ok()).collect())
            }
        }
    }

    /// Returns the values that may be messages.
    fn candidate_messages(&self) -> Vec<&Value> {
        match self {
            Self::Markdown => Vec::new(),
            Self::Lines(lines) => lines.iter().flatten().collect(),
            Self::Whole(Value::Array(items)) => items.iter().collect(),
            Self::Whole(value) => match value.get("messages").or_else(|| value.get("input")) {
                Some(Value::Array(items)) => items.iter().collect(),
                _ => vec![value],
            },
        }
    }

    /// Returns the first form that fits. Forms that are easier to recognize come first.
    fn detect_format(&self) -> Option<ConversationFormat> {
        let items = self.candidate_messages();
        let any = |predicate: fn(&Value) -> bool| items.iter().any(|item| predicate(item));
        let lines = matches!(self, Self::Lines(_)) || items.len() == 1;
        let has_key = |key: &str| matches!(self, Self::Whole(value) if value.get(key).is_some());
        let is = |predicate: fn(&Value) -> bool| matches!(self, Self::Whole(value) if predicate(value));
        let has_messages =
            any(|item| item.get("role").is_some()) || (items.is_empty() && has_key("messages"));
        let forms = [
            (ConversationFormat::Aider, matches!(self, Self::Markdown)),
            (ConversationFormat::Strata, any(is_strata_item)),
            (ConversationFormat::Codex, lines && any(agents::is_codex)),
            (ConversationFormat::Opencode, is(agents::is_opencode)),
            (ConversationFormat::GeminiCli, is(agents::is_gemini_cli)),
            (ConversationFormat::Chatgpt, is(|value| !agents::chatgpt_conversations(value).is_empty())),
            (ConversationFormat::ClaudeCode, lines && any(is_claude_code_message)),
            (
                ConversationFormat::OpenAiResponses,
                has_key("input") || any(responses::exchange::is_format_specific_item),
            ),
            (ConversationFormat::OpenAi, any(openai::exchange::is_format_specific_message)),
            (ConversationFormat::Anthropic, has_messages),
        ];
        forms.into_iter().find(|(_, fits)| *fits).map(|(form, _)| form)
    }

    /// Returns the lines as a JSON array, with `null` for those that are not JSON, or the single value
    /// unchanged.
    fn into_value(self) -> Value {
        match self {
            Self::Whole(value) => value,
            Self::Markdown => Value::Null,
            Self::Lines(lines) => lines.into_iter().map(Option::unwrap_or_default).collect(),
        }
    }

    /// Reads messages in Strata's own format. Skips values without a role, such as the header of an export.
    fn read_strata(&self) -> Result<ImportedMessages, ReadError> {
        let (mut messages, mut skipped) = (Vec::new(), 0);
        for (index, item) in self.candidate_messages().into_iter().enumerate() {
            if item.get("role").is_none() {
                skipped += 1;
                continue;
            }
            let mut item = item.clone();
            if let Some(fields) = item.as_object_mut() {
                // Ids are only valid in the session that assigned them.
                fields.shift_remove("id");
            }
            let message = NewMessage::deserialize(item)
                .map_err(|error| ReadError::new(error.to_string()).inside(index))?;
            messages.push(message);
        }
        if let Self::Lines(lines) = self {
            skipped += lines.iter().filter(|line| line.is_none()).count();
        }
        Ok((messages, skipped))
    }
}

/// Whether an item is in Strata's own format: a message with its visibility and kind, or the header of an
/// export.
fn is_strata_item(item: &Value) -> bool {
    item.get("strataSession").is_some()
        || ["role", "content", "agent", "kind"].iter().all(|key| item.get(key).is_some())
}

/// Whether an item is a message recorded by Claude Code, with the content in `message` and the role in
/// `type`.
fn is_claude_code_message(item: &Value) -> bool {
    item.get("message").is_some_and(Value::is_object)
        && item.get("type").is_some_and(|kind| kind == "user" || kind == "assistant")
}
