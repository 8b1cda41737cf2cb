//! A finished prompt as a value, before anybody sends it.

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

/// A finished prompt with what recording it will change.
#[derive(Clone, Debug)]
pub struct PreparedPrompt {
    pub reply: AssembledPrompt,
    /// Its size if nothing were left out.
    pub size: RequestSize,
    /// The policy that laid it out, and why it was chosen.
    pub chosen: PolicyChoice,
    /// The prompt in order.
    pub layout: Arc<Layout>,
    /// The prompt as the provider's cache sees it.
    pub sent: SentRequest,
    /// Tokens that the policy relied on being cached; `None` when it relies on nothing.
    pub relied_on: Option<usize>,
    /// The request options, without the request itself.
    pub asked: Arc<PromptRequest>,
    /// The message that the request becomes in the history.
    pub message: Option<NewMessage>,
    /// The tiers once the turn is recorded.
    pub tiers: TierState,
    /// The members of the map once the turn is recorded.
    pub members: Vec<MapMember>,
    /// The excerpts to remember once the turn is recorded.
    pub excerpts: Excerpts,
}
