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
    /// What it would weigh if nothing had to be left out.
    pub size: RequestSize,
    /// The policy that laid it out, and who decided on that.
    pub chosen: PolicyChoice,
    /// The prompt in order.
    pub layout: Arc<Layout>,
    /// The prompt as the provider's cache sees it.
    pub sent: SentRequest,
    /// Tokens that the policy relied on being cached; `None` when it relies on nothing.
    pub relied_on: Option<usize>,
    /// How it was asked for, without the request itself.
    pub asked: Arc<PromptRequest>,
    /// What the request becomes in the history.
    pub message: Option<NewMessage>,
    /// The tiers once the turn is recorded.
    pub tiers: TierState,
    /// The members of the map once the turn is recorded.
    pub members: Vec<MapMember>,
    /// What is remembered of excerpts once the turn is recorded.
    pub excerpts: Excerpts,
}
