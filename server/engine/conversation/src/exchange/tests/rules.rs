//! Broken rules are attributed to the messages that break them.

use super::*;
use crate::providers::{Format, Rule};

fn broken_rules(messages: &[NewMessage], format: Format, purpose: Purpose) -> Vec<(Option<usize>, Rule)> {
    violations(messages, format, purpose).into_iter().map(|broken| (broken.index, broken.rule)).collect()
}

fn user(text: &str) -> NewMessage {
    NewMessage::text(Role::User, text)
}

fn calls(id: &str) -> NewMessage {
    NewMessage::new(Role::Assistant, vec![call(id, json!({}))])
}

#[test]
fn a_broken_rule_is_attributed_to_its_message() {
    let hidden = NewMessage { agent: Visibility::Hidden, ..user("aside") };
    let list = [user("Hi."), hidden, calls("a"), user(" ")];
    let expected = [(Some(3), Rule::EmptyText), (Some(2), Rule::CallAnswered)];
    assert_eq!(broken_rules(&list, Format::Anthropic, Purpose::Request), expected);
    assert_eq!(broken_rules(&list, Format::OpenAi, Purpose::Request), [(Some(2), Rule::CallAnswered)]);
    assert_eq!(broken_rules(&list, Format::Markdown, Purpose::Request), []);
    assert_eq!(broken_rules(&[], Format::Anthropic, Purpose::Record), [(None, Rule::EmptyMessage)]);
}

#[test]
fn one_message_may_become_several_provider_messages() {
    let both = NewMessage::new(Role::Assistant, vec![call("a", json!({})), call("b", json!({}))]);
    let mut answers = results("a", "one");
    answers.content.extend(results("b", "two").content);
    let list = [user("Hi."), both, answers, results("c", "three")];
    assert_eq!(broken_rules(&list, Format::OpenAi, Purpose::Request), [(Some(3), Rule::OrphanResult)]);
}

#[test]
fn a_record_may_end_with_the_assistant_and_a_request_may_not() {
    let list = [user("Hi."), NewMessage::text(Role::Assistant, "Hello.")];
    assert_eq!(
        broken_rules(&list, Format::Anthropic, Purpose::Request),
        [(Some(1), Rule::TrailingAssistant)]
    );
    assert_eq!(broken_rules(&list, Format::Anthropic, Purpose::Record), []);
}

#[test]
fn an_archived_result_still_answers_its_call() {
    let archived = NewMessage {
        agent: Visibility::Hidden,
        kind: MessageKind::ToolResultArchived,
        ..results("a", "out")
    };
    assert_eq!(broken_rules(&[user("Hi."), calls("a"), archived], Format::Anthropic, Purpose::Request), []);
}
