//! For tests: checks a list of messages against provider rules, and reports the offending messages.

use serde_json::{Value, json};

use crate::history::NewMessage;
use crate::providers::{self, Format, Rule, Violation, anthropic, openai};

/// Purpose of a list of messages, which determines how it may end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// The list is sent unchanged, so it must end with a user message.
    Request,
    /// The list is stored and continued, so it may end with an assistant message.
    Record,
}

/// A rule that a list of messages breaks, and the offending message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BrokenRule {
    /// Zero-based index of the message, counting hidden ones; `None` if the list as a whole breaks the rule.
    pub index: Option<usize>,
    pub rule: Rule,
    /// Description of the problem, as a clause.
    pub detail: String,
}

/// Returns the rules that the messages would break if sent unchanged. Ignores hidden messages, except
/// archived results, which still answer their calls. Only supports `Format::Anthropic` and
/// `Format::OpenAi`; for other formats, the result is meaningless.
pub(crate) fn violations<'a>(
    messages: impl IntoIterator<Item = &'a NewMessage>,
    format: Format,
    purpose: Purpose,
) -> Vec<BrokenRule> {
    let sent = messages.into_iter().enumerate().filter(|(_, message)| message.is_sent());
    let (indices, written): (Vec<usize>, Vec<Value>) = sent
        .flat_map(|(index, message)| {
            let written = match format {
                Format::Anthropic => vec![anthropic::exchange::tests::written(message)],
                Format::OpenAi => openai::exchange::tests::written(message, message.role.as_str()),
                _ => Vec::new(),
            };
            written.into_iter().map(move |value| (index, value))
        })
        .unzip();
    let waived = |violation: &Violation| match purpose {
        Purpose::Request => false,
        Purpose::Record => violation.rule == Rule::TrailingAssistant,
    };
    let body = json!({"model": "any", "messages": written});
    let broken = providers::check(format, &body).into_iter().filter(|violation| !waived(violation));
    broken
        .map(|Violation { path, rule, detail }| {
            let place = path.strip_prefix("/messages/").and_then(|rest| rest.split('/').next());
            let index = place.and_then(|place| indices.get(place.parse::<usize>().ok()?).copied());
            BrokenRule { index, rule, detail }
        })
        .collect()
}
