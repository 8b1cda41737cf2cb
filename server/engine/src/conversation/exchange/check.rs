//! Which provider rules a list of messages breaks as it stands, and which message breaks them. Mends nothing.

use serde_json::{Value, json};

use super::{anthropic, openai};
use crate::conversation::dialect::{self, Format, Rule, Violation};
use crate::conversation::history::NewMessage;

/// What a list is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Sent as it is: it must end with the user.
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

/// The rules that the messages break when they are sent as they are. Hidden messages are not looked at, except
/// for archived results, which still answer their calls. Only lists in the forms that are read message by message are judged.
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
