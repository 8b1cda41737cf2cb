//! Builds requests for conversations that a client keeps. The client's instructions, tools and messages are used as
//! they are, with cache breakpoints where the next request of the same conversation looks for them. No session is
//! involved.

use strata_base::hash::ContentHash;
use strata_conversation::history::{ContentBlock, Message, ProjectedMessage, project};
use strata_conversation::providers::{self, Envelope, Format, Speaker, Tool, ToolChoice};
use strata_tokens::models::{Model, Ttl};

use crate::layout::{Layout, LayoutBlock, Part, Tier};
use crate::wire::{self, Body};

use super::measure::Measure;
use super::reply::AssembleError;
use super::request::PromptServices;

/// A conversation that the client keeps instead of Strata.
#[derive(Clone, Copy, Debug)]
pub struct ClientConversation<'a> {
    /// System instructions, which precede the messages.
    pub system: &'a str,
    /// Tools that the client declares, in the client's order.
    pub tools: &'a [Tool],
    /// Messages of the conversation, oldest first.
    pub messages: &'a [Message],
}

#[derive(Clone, Debug)]
pub struct ForwardedRequest {
    /// The request body, complete except for the limit on output tokens.
    pub body: Body,
    /// Tokens reserved for the answer.
    pub output_reserve: usize,
}

/// Builds a request to `model`. Changes the conversation only where the provider would otherwise reject it.
///
/// # Errors
/// Returns [`AssembleError::Empty`] if there are no messages, and [`AssembleError::Invalid`] if the request breaks a
/// provider's rule.
pub fn build_forwarded_request(
    conversation: ClientConversation<'_>,
    format: Format,
    model: &str,
    services: PromptServices<'_>,
) -> Result<ForwardedRequest, AssembleError> {
    let resolved = services.models.resolve(model);
    let measure = Measure::new(&resolved, services);
    let layout = lay_out(conversation, format, services.settings.cache.ttl.shortest(), &resolved.model);
    if layout.messages.iter().all(|message| message.speaker == Speaker::System) {
        return Err(AssembleError::Empty);
    }
    let cache_key = first_message_hash(&layout).to_string();
    let (model, breakpoints) = (measure.model_id(), measure.breakpoint_mode());
    let (tools, tool_choice) = (conversation.tools, ToolChoice::Auto);
    let envelope = Envelope { model, tools, tool_choice, cache_key: Some(&cache_key), breakpoints };
    let body = wire::render(&layout, format, &envelope).body;
    if let Body::Json(body) = &body {
        let violations = providers::check(format, body);
        if !violations.is_empty() {
            return Err(AssembleError::Invalid { violations });
        }
    }
    Ok(ForwardedRequest { body, output_reserve: measure.output_reserve() })
}

/// Lays out the conversation with cache breakpoints. One follows the instructions, which end the stable prefix together
/// with the tools. The others follow the last user turns, because a request ends at each of them. The last breakpoint
/// serves the next request. The earlier ones let the provider find the entries of earlier requests, because some
/// providers look up entries only at breakpoints.
fn lay_out(conversation: ClientConversation<'_>, format: Format, ttl: Ttl, model: &Model) -> Layout {
    let max_breakpoints = model.cache.kind.max_markers();
    let carriers = format.breakpoint_targets();
    let mut layout = Layout::default();
    if !conversation.system.trim().is_empty() {
        layout.push(Speaker::System, history_block(ContentBlock::text(conversation.system)));
        if max_breakpoints > 0 {
            layout.set_end_breakpoint(ttl, carriers);
        }
    }
    let turns = join_into_turns(project(conversation.messages, &[], format.foreign_provider()).history);
    let mut user_turns_left = turns.iter().filter(|(speaker, _)| *speaker == Speaker::User).count();
    for (speaker, blocks) in turns {
        blocks.into_iter().for_each(|content| layout.push(speaker, history_block(content)));
        if speaker == Speaker::User {
            if user_turns_left < max_breakpoints {
                layout.set_end_breakpoint(ttl, carriers);
            }
            user_turns_left -= 1;
        }
    }
    layout
}

/// Joins consecutive messages of one speaker into turns.
fn join_into_turns(history: Vec<ProjectedMessage>) -> Vec<(Speaker, Vec<ContentBlock>)> {
    let mut turns: Vec<(Speaker, Vec<ContentBlock>)> = Vec::new();
    for ProjectedMessage { role, content, .. } in history {
        match turns.last_mut() {
            Some((speaker, blocks)) if *speaker == role.into() => blocks.extend(content),
            _ => turns.push((role.into(), content)),
        }
    }
    turns
}

fn history_block(content: ContentBlock) -> LayoutBlock {
    let (part, tier) = (Part::History, Tier::Active);
    LayoutBlock { content, part, items: Vec::new(), tier, tokens: 0, mark: None }
}

/// Returns a hash of the first message. All requests of a conversation share this message, so they use the same cache.
fn first_message_hash(layout: &Layout) -> ContentHash {
    let first = layout.messages.first().map(|message| {
        let contents: Vec<&ContentBlock> = message.blocks.iter().map(|block| &block.content).collect();
        serde_json::to_string(&contents).unwrap_or_default()
    });
    ContentHash::from_text(&first.unwrap_or_default())
}
