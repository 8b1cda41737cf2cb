//! Checks a list of messages against provider rules, and names the offending messages. Repairs nothing.

use serde_json::{Value, json};

use super::{anthropic, openai};
use crate::conversation::dialect::{self, Format, Rule, Violation};
use crate::conversation::history::NewMessage;

/// The purpose of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// To be sent as it is, so it must end with the user.
    Request,
    /// Kept, to be continued: it may end with the assistant.
    Record,
}

/// A rule that a list breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BrokenRule {
    /// The message, counted from 0, hidden ones included; `None` when it is the list as a whole.
    pub index: Option<usize>,
    pub rule: Rule,
    /// What is wrong, as a clause.
    pub detail: String,
}

/// The rules that the messages would break if sent unchanged. Ignores hidden messages, except archived results, which still
/// answer their calls. Only covers formats that are read message by message.
pub fn violations<'a>(
    messages: impl IntoIterator<Item = &'a NewMessage>,
    format: Format,
    purpose: Purpose,
) -> Vec<BrokenRule> {
    let sent = messages.into_iter().enumerate().filter(|(_, message)| message.is_sent());
    let (indices, written): (Vec<usize>, Vec<Value>) = sent
        .flat_map(|(index, message)| {
            let written = match format {
                Format::Anthropic => vec![anthropic::written(message)],
                Format::OpenAi => openai::written(message, openai::role_of(message)),
                Format::Responses | Format::Gemini | Format::Bedrock | Format::Markdown => Vec::new(),
            };
            written.into_iter().map(move |value| (index, value))
        })
        .unzip();
    let waived = |violation: &Violation| match purpose {
        Purpose::Request => false,
        Purpose::Record => violation.rule == Rule::TrailingAssistant,
    };
    let body = json!({"model": "any", "messages": written});
    let found = dialect::check(format, &body).into_iter().filter(|violation| !waived(violation));
    found
        .map(|Violation { path, rule, detail }| {
            let place = path.strip_prefix("/messages/").and_then(|rest| rest.split('/').next());
            let index = place.and_then(|place| indices.get(place.parse::<usize>().ok()?).copied());
            BrokenRule { index, rule, detail }
        })
        .collect()
}
