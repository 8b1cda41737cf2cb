//! The rules that a conversation must keep for every provider.

use super::anthropic::AnthropicMessages;
use super::dialect::Dialect;
use super::openai::ChatCompletionsDialect;
use super::request::Envelope;
use super::rule::Violation;
use super::spoken::{Speaker, SpokenBlock, SpokenMessage};
use crate::history::{ContentBlock, Message, project};

/// The formats whose rules include those of the others.
const STRICTEST_DIALECTS: [&dyn Dialect; 2] = [&AnthropicMessages, &ChatCompletionsDialect];

/// Returns the rules that the conversation would break if it were sent with another user message. Empty if every
/// provider would accept the conversation.
pub fn violations(messages: &[&Message]) -> Vec<Violation> {
    violations_with_prompt(messages, &[ContentBlock::text("Go on.")])
}

/// Returns the rules that the conversation would break if it were sent with another user message of these blocks.
pub(crate) fn violations_with_prompt(messages: &[&Message], prompt: &[ContentBlock]) -> Vec<Violation> {
    let broken = STRICTEST_DIALECTS.into_iter().flat_map(|dialect| {
        let projection = project(messages.iter().copied(), prompt, dialect.properties().origin);
        let coming: Vec<ContentBlock> = projection.results.into_iter().chain(projection.prompt).collect();
        let history =
            projection.history.iter().map(|message| (Speaker::from(message.role), &message.content));
        let mut spoken: Vec<SpokenMessage<'_>> = Vec::new();
        for (speaker, contents) in history.chain([(Speaker::User, &coming)]) {
            let blocks = contents.iter().map(|content| SpokenBlock { content, mark: None });
            match spoken.last_mut() {
                Some(last) if last.speaker == speaker => last.blocks.extend(blocks),
                _ if contents.is_empty() => {}
                _ => spoken.push(SpokenMessage { speaker, blocks: blocks.collect(), volatile: 0 }),
            }
        }
        dialect.check(&dialect.body(&spoken, &Envelope::without_tools("any")).fields.into())
    });
    broken.collect()
}
