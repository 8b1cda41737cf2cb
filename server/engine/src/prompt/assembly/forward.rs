//! Requests for conversations that a client keeps: its own instructions, tools and messages as they are, with breakpoints where
//! the next request of the same conversation looks for them. Knows no session and adds nothing.

use crate::conversation::dialect::{self, Format, Speaker};
use crate::conversation::history::{ContentBlock, Message, ProjectedMessage, project};
use crate::hash::ContentHash;
use crate::prompt::layout::{Layout, LayoutBlock, Part, Tier};
use crate::prompt::wire::{self, Body, Envelope, Tool};
use crate::tokens::models::{CacheKind, Model, Ttl};

use super::measure::Measure;
use super::reply::AssembleError;
use super::services::PromptServices;

/// A conversation that a client keeps.
#[derive(Clone, Copy, Debug)]
pub struct ClientConversation<'a> {
    /// Instructions above the messages.
    pub system: &'a str,
    /// The tools it declares, in its order.
    pub tools: &'a [Tool],
    /// Its messages, oldest first.
    pub messages: &'a [Message],
}

/// A request for such a conversation.
#[derive(Clone, Debug)]
pub struct ForwardedRequest {
    /// Ready to be sent, but for the limit of the answer.
    pub body: Body,
    /// Tokens reserved for the answer.
    pub output_reserve: usize,
}

/// Writes a request for `model`, repaired only where the provider would reject it.
///
/// # Errors
/// [`AssembleError::Empty`] and [`AssembleError::Invalid`].
pub fn forward(
    conversation: ClientConversation<'_>,
    format: Format,
    model: &str,
    means: PromptServices<'_>,
) -> Result<ForwardedRequest, AssembleError> {
    let resolved = means.models.resolve(model);
    let measure = Measure::new(&resolved, means);
    let layout = laid_out(conversation, format, means.settings.cache.ttl, &resolved.model);
    if layout.messages.iter().all(|message| message.speaker == Speaker::System) {
        return Err(AssembleError::Empty);
    }
    let cache_key = beginning(&layout).to_string();
    let (model, breakpoints) = (measure.model_id(), measure.breakpoints());
    let envelope = Envelope { model, tools: conversation.tools, cache_key: Some(&cache_key), breakpoints };
    let body = wire::render(&layout, format, &envelope).body;
    if let Body::Json(body) = &body {
        let violations = dialect::check(format, body);
        if !violations.is_empty() {
            return Err(AssembleError::Invalid { violations });
        }
    }
    Ok(ForwardedRequest { body, output_reserve: measure.output_reserve() })
}

/// Breakpoints follow the instructions, which end the prefix with the tools, and the last turns of the user. One request ends at
/// each of those: the last is for the next request; at those before it, earlier requests left their entries, which some providers
/// only find at a breakpoint in the same place.
fn laid_out(conversation: ClientConversation<'_>, format: Format, ttl: Ttl, model: &Model) -> Layout {
    let most = match model.cache.kind {
        CacheKind::Explicit { max_breakpoints, .. } => max_breakpoints,
        CacheKind::Automatic { .. } | CacheKind::None => 0,
    };
    let carriers = format.carriers();
    let mut layout = Layout::default();
    if !conversation.system.trim().is_empty() {
        layout.push(Speaker::System, block(ContentBlock::text(conversation.system)));
        if most > 0 {
            layout.mark_end(ttl, carriers);
        }
    }
    let turns = turns(project(conversation.messages, &[], format.provider()).history);
    let mut asked = turns.iter().filter(|(speaker, _)| *speaker == Speaker::User).count();
    for (speaker, blocks) in turns {
        blocks.into_iter().for_each(|content| layout.push(speaker, block(content)));
        if speaker == Speaker::User {
            if asked < most {
                layout.mark_end(ttl, carriers);
            }
            asked -= 1;
        }
    }
    layout
}

/// Joins neighbors of one speaker.
fn turns(history: Vec<ProjectedMessage>) -> Vec<(Speaker, Vec<ContentBlock>)> {
    let mut turns: Vec<(Speaker, Vec<ContentBlock>)> = Vec::new();
    for ProjectedMessage { role, content, .. } in history {
        match turns.last_mut() {
            Some((speaker, blocks)) if *speaker == role.into() => blocks.extend(content),
            _ => turns.push((role.into(), content)),
        }
    }
    turns
}

fn block(content: ContentBlock) -> LayoutBlock {
    let (part, tier) = (Part::History, Tier::Active);
    LayoutBlock { content, part, items: Vec::new(), tier, tokens: 0, mark: None }
}

/// What all requests of one conversation begin with, so that they meet the same cache.
fn beginning(layout: &Layout) -> ContentHash {
    let first = layout.messages.first().map(|message| {
        let contents: Vec<&ContentBlock> = message.blocks.iter().map(|block| &block.content).collect();
        serde_json::to_string(&contents).unwrap_or_default()
    });
    ContentHash::of(&first.unwrap_or_default())
}
