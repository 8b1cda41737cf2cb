//! A finished prompt that has not been sent yet.

use std::sync::Arc;

use super::reply::AssembledPrompt;
use super::request::PromptRequest;
use crate::code::symbols::MapMember;
use crate::conversation::compaction::RequestSize;
use crate::conversation::history::NewMessage;
use crate::prompt::excerpts::Excerpts;
use crate::prompt::layout::Layout;
use crate::prompt::tiers::{PolicyChoice, TierState};
use crate::tokens::cost::SentRequest;

/// A finished prompt, with the session state to apply when it is recorded.
#[derive(Clone, Debug)]
pub struct PreparedPrompt {
    pub reply: AssembledPrompt,
    /// Size of the request before anything was omitted.
    pub size: RequestSize,
    /// The layout policy, and why it was chosen.
    pub chosen: PolicyChoice,
    /// The content blocks in prompt order.
    pub layout: Arc<Layout>,
    /// The request in the form from which the contents of the provider's cache are estimated.
    pub sent: SentRequest,
    /// Tokens that the policy expected the provider to have cached; `None` if it has no expectation.
    pub relied_on: Option<usize>,
    /// Whether the layout was rebuilt from scratch because the prompt did not fit otherwise.
    pub rebuilt: bool,
    /// The request's options, without its content.
    pub asked: Arc<PromptRequest>,
    /// The message that the request adds to the history; `None` if nothing is sent.
    pub message: Option<NewMessage>,
    /// State of the layout policy after this prompt.
    pub tiers: TierState,
    /// Members of the map after this prompt.
    pub members: Vec<MapMember>,
    /// Excerpts that the session remembers after this prompt.
    pub excerpts: Excerpts,
}
