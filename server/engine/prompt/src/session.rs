//! One conversation with all of its state. A session is a value: each change either succeeds completely or leaves the
//! session as it was. A session does not store itself, and callers provide the time.

mod archival;
mod cache_memory;
mod compaction;
mod last_turn;
mod saved_session;
mod step_history;
mod stored_state;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::key::FileKey;
use strata_conversation::history::{
    ContentBlock, History, MessageId, NewMessage, NoSuchMessage, Role, Visibility,
};
use strata_tokens::calibration::{Calibration, Calibrations};
use strata_tokens::cost::{
    Amount, Bill, CacheAccount, CacheEstimate, ComparedCaches, ComparisonTotals, Usage,
};
use strata_tokens::redaction::{Placeholder, placeholders};

use crate::assembly::{AssembledPrompt, LargePart, PreparedPrompt, PromptRequest, Request, format_parts};
use crate::layout::{ItemKey, Layout, Tier};
use crate::tiers::TierState;

use self::cache_memory::{LastPromptSize, PendingPrompt, PromptToRecord};
use self::last_turn::LastTurnInput;

pub use archival::PromptFit;
pub use cache_memory::CacheMemory;
pub use last_turn::LastTurn;
pub use saved_session::SavedSession;
pub(crate) use step_history::StepHistory;

/// Maximum number of prompts that await an answer. A further prompt replaces the oldest one (`docs/prompt.md`, "The
/// turn").
const MAX_PENDING_PROMPTS: usize = 8;
/// Number of `record` replies to keep, so that a repeated call returns the same reply.
const MAX_RECORD_REPLIES: usize = 8;

/// Billed usage of a session, with its cost.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Billed tokens by kind.
    #[serde(flatten)]
    pub usage: Usage,
    /// Cost of the input, in tokens of uncached input; absent if no bill was reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Cost of input and output in US dollars; absent if the price of a model is unknown or no bill was reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars: Option<f64>,
}

/// How a request to the provider ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "TurnStatus")]
pub enum RequestStatus {
    /// The answer is complete.
    #[default]
    Complete,
    /// The user stopped the answer. The part received so far is kept.
    Aborted,
    /// The request failed. The prompt is treated as not sent.
    Error,
}

/// A cause of a failed request that Strata can recover from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "TurnError")]
pub enum RecoverableRequestError {
    /// The provider rejected the prompt as too long.
    ContextLimit,
}

/// Result of a request to the provider.
#[derive(Clone, PartialEq, Debug)]
pub struct RequestOutcome {
    pub status: RequestStatus,
    /// Why the request failed, if known.
    pub error: Option<RecoverableRequestError>,
    /// Content of the answer, as far as it was received.
    pub answer: Vec<ContentBlock>,
    /// Billed usage, if reported.
    pub usage: Option<Usage>,
    /// Time of the answer, in milliseconds since 1970.
    pub time_ms: u64,
}

/// The reply to `prompt.record`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordResult {
    /// Id of the recorded prompt.
    pub id: String,
    /// How the request ended.
    pub status: RequestStatus,
    /// Number of messages in the conversation after this prompt was recorded.
    pub messages: usize,
    /// Billed usage of the session so far.
    pub totals: Usage,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Whether to compact the conversation, assemble the prompt again and send it once more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub retry: bool,
}

/// Why a session refused an operation. The conversation is unchanged.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SessionError {
    /// No prompt with this id awaits an answer.
    #[error(
        "prompt `{0}` no longer exists: it was discarded, or more than {MAX_PENDING_PROMPTS} newer ones were assembled; assemble it again"
    )]
    NoSuchPrompt(String),
    /// The prompt was too long for the provider even after a compaction. Contains the largest parts of the prompt, if
    /// known.
    #[error(
        "the prompt was too long again after the conversation was compacted; deselect files, or shorten the prompt or the system \
         prompt{}{}",
        if .0.is_empty() { "" } else { "; the largest parts: " },
        format_parts(.0)
    )]
    AlreadyRecovered(Vec<LargePart>),
    /// There is no compaction to undo.
    #[error("this conversation has no compaction to undo")]
    NothingToUndo,
}

/// A conversation with its selected files, its overrides of settings, and the state of its prompts.
#[derive(Clone, Debug)]
pub struct Session {
    pub id: Arc<str>,
    pub history: History,
    /// Stored state besides the messages, whose fields are accessed through `Deref`.
    saved: Arc<SavedSession>,
    /// State of the provider's cache and of the prompts that wait for an answer.
    pub cache: Arc<CacheMemory>,
    /// Calibrations from reported usage, by model, including those of other conversations.
    pub calibrations: Calibrations,
    recovery: ContextLimitRecovery,
    /// Model that rejected the last prompt as too long, and the token limit for later prompts to that model.
    rejection: Option<(Arc<str>, usize)>,
    recorded: VecDeque<RecordResult>,
}

/// State of the recovery from a prompt that the provider rejected as too long. Such a prompt triggers at most one
/// compaction until a prompt is answered (`docs/compaction.md`, "Too long for the provider").
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum ContextLimitRecovery {
    #[default]
    Possible,
    /// The next prompt must use a compacted conversation.
    Requested,
    Used,
}

impl Session {
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self {
            id: id.into(),
            history: History::default(),
            saved: Arc::default(),
            cache: Arc::default(),
            calibrations: Calibrations::default(),
            recovery: ContextLimitRecovery::default(),
            rejection: None,
            recorded: VecDeque::new(),
        }
    }

    /// Returns the calibration of a model, given its name in the model table.
    pub(crate) fn calibration(&self, model: &str) -> Option<&Calibration> {
        self.calibrations.for_model(model)
    }

    /// Copies the calibrations of other conversations, unless this conversation already has calibrations.
    pub fn inherit_calibrations(&mut self, calibrations: &Calibrations) {
        if self.calibrations.is_empty() {
            self.set_calibrations(calibrations.for_other_conversation());
        }
    }

    /// Calibrates a model with two token counts of a request that was not sent: the provider's count and Strata's
    /// estimate.
    pub fn record_token_counts(&mut self, model: &str, estimated: usize, counted: usize) {
        let mut calibrations = self.calibrations.clone();
        calibrations.learn(model, estimated, counted);
        self.set_calibrations(calibrations);
    }

    fn set_calibrations(&mut self, calibrations: Calibrations) {
        let own_calibrations = calibrations.billed_in_current_conversation();
        if own_calibrations != self.own_calibrations {
            self.own_calibrations = own_calibrations;
        }
        self.calibrations = calibrations;
    }

    /// Returns the estimated contents of the provider's cache, or `None` before the first recorded prompt.
    pub(crate) fn cache_account(&self) -> Option<&CacheAccount> {
        self.cache.account.as_deref()
    }

    pub(crate) fn last_layout(&self) -> Option<&Layout> {
        self.cache.last.as_deref()
    }

    /// Returns the tokens that the provider's cache is believed to contain for the next prompt, and when they expire.
    /// Returns `None` if no prompt was recorded or the tokens have expired.
    pub fn cached_prefix(&self, now_ms: u64) -> Option<CacheEstimate> {
        self.cache_account()?.cached_prefix(now_ms)
    }

    /// Predicts the next prompt request. It has the tools and options of the last recorded one, but no message.
    pub fn next_request(&self, now_ms: u64) -> PromptRequest {
        let last_options = self.cache.options.as_deref().cloned();
        PromptRequest { now_ms, ..last_options.unwrap_or_else(|| PromptRequest::new(Request::Nothing)) }
    }

    pub(crate) fn billed_totals(&self) -> Totals {
        let total = self.bill.total();
        Totals {
            usage: self.bill.usage(),
            cost: total.map(|total| total.cost),
            dollars: total.and_then(|total| total.known_dollars()),
        }
    }

    /// Returns whether nothing has changed since `other` was copied from this session or this session from it. Compares
    /// shared values by identity, so any change counts, also one that changes a value back.
    pub fn shares_all_state_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.saved, &other.saved)
            && Arc::ptr_eq(&self.cache, &other.cache)
            && self.history.ptr_eq(&other.history)
            && (&self.recovery, &self.rejection, &self.recorded)
                == (&other.recovery, &other.rejection, &other.recorded)
    }

    fn cache_mut(&mut self) -> &mut CacheMemory {
        Arc::make_mut(&mut self.cache)
    }

    /// Records that the conversation or the selection has changed.
    pub fn mark_changed(&mut self) {
        self.cache_mut().revision += 1;
    }

    /// Renames the session's files with `rename`. Forgets the layout of prompts, because new names change their bytes.
    pub fn rename_files(&mut self, rename: impl Fn(&FileKey) -> Option<FileKey>) {
        self.selection.rename(&rename);
        self.excerpts.rename(&rename);
        self.map_members.clear();
        self.cache_mut().tiers = TierState::default();
        self.mark_changed();
    }

    /// Updates the session after files were moved. `moved` returns the new name of a moved file. Returns whether any
    /// file of the session moved. The next prompt shows a moved file as one file removed and another added.
    pub fn move_files(&mut self, new_name: impl Fn(&FileKey) -> Option<FileKey>) -> bool {
        let selection = &self.selection;
        let chosen = selection.selected.keys().chain(&selection.excluded);
        let is_affected = chosen
            .chain(self.map_members.iter().map(|member| &member.path))
            .chain(self.excerpts.files())
            .any(|key| new_name(key).is_some());
        if is_affected {
            let current_name = |key: &FileKey| new_name(key).unwrap_or_else(|| key.clone());
            self.selection.rename(|key| Some(current_name(key)));
            self.excerpts.rename(|key| Some(current_name(key)));
            self.map_members.iter_mut().for_each(|member| member.path = current_name(&member.path));
            self.mark_changed();
        }
        is_affected
    }

    /// Replaces the conversation, for example after loading one. Resets the tiers of its messages.
    pub fn set_history(&mut self, messages: impl IntoIterator<Item = NewMessage>) {
        self.history.replace_messages(messages);
        self.reset_conversation_state();
    }

    /// Changes a message's content or visibility.
    ///
    /// # Errors
    /// Returns [`NoSuchMessage`] if the conversation has no message with this id.
    pub fn change_message(
        &mut self,
        id: MessageId,
        change: impl FnOnce(&mut NewMessage),
    ) -> Result<(), NoSuchMessage> {
        self.history.change(id, change)?;
        self.reset_after_history_change();
        Ok(())
    }

    /// Deletes a message and all later ones. Returns the number of deleted messages.
    ///
    /// # Errors
    /// Returns [`NoSuchMessage`] if the conversation has no message with this id.
    pub fn truncate_history(&mut self, from: MessageId) -> Result<usize, NoSuchMessage> {
        let deleted = self.history.truncate(from)?;
        // If a summary was deleted, undo its compaction, so that the messages it replaced are shown again.
        while let Some(record) = self.compactions.last() {
            let is_complete = record.rebuilt.added.iter().all(|id| self.history.get(*id).is_some());
            if is_complete && self.history.sent_messages().next().is_some() {
                break;
            }
            let record = Arc::make_mut(&mut self.compactions).pop();
            record.iter().for_each(|record| self.history.undo_rebuild(&record.rebuilt));
        }
        self.reset_after_history_change();
        Ok(deleted)
    }

    /// Makes a copy with a new id, which was billed nothing yet.
    #[must_use]
    pub fn copy_with_id(&self, id: impl Into<Arc<str>>) -> Self {
        let mut copy = Self { id: id.into(), ..self.clone() };
        copy.bill = Bill::default();
        copy.comparison = ComparisonTotals::default();
        copy
    }

    /// Starts another conversation with a new id and the same files. Keeps the state of the provider's cache.
    pub fn start_new_conversation(&mut self, id: impl Into<Arc<str>>) {
        self.id = id.into();
        self.set_calibrations(self.calibrations.for_other_conversation());
        self.excerpts.forget_all_but_pinned();
        self.set_history([]);
        self.bill = Bill::default();
        self.comparison = ComparisonTotals::default();
        self.looping = None;
        self.recovery = ContextLimitRecovery::default();
        self.cache_mut().pending.clear();
        self.recorded.clear();
    }

    /// Deletes all messages after `last`.
    ///
    /// # Errors
    /// Returns [`NoSuchMessage`] if the conversation has no message with this id.
    pub fn truncate_after(&mut self, last: MessageId) -> Result<(), NoSuchMessage> {
        let messages = self.history.messages();
        let at = messages.iter().position(|message| message.id == last).ok_or(NoSuchMessage(last))?;
        match messages.get(at + 1).map(|message| message.id) {
            Some(next) => self.truncate_history(next).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Resets all state that depends on the previous conversation, such as its compactions and exploration steps.
    fn reset_conversation_state(&mut self) {
        self.compactions = Arc::default();
        self.trail = StepHistory::default();
        self.recovery = ContextLimitRecovery::Possible;
        self.reset_after_history_change();
    }

    /// Resets the tiers of all messages without changing the conversation.
    pub(crate) fn reset_history_tiers(&mut self) {
        self.cache_mut().tiers.purge_history();
    }

    /// Returns the tier of an item after the last recorded prompt, or `Active` if that did not contain the item.
    pub fn tier_of(&self, key: &ItemKey) -> Tier {
        self.cache.tiers.tier_of(key)
    }

    /// Forces the next prompt to be rebuilt from scratch (`docs/tiers.md`, "Rebuilding").
    pub fn rebuild_tiers(&mut self) {
        self.cache_mut().tiers.reset_tiers();
        self.mark_changed();
    }

    /// Stores a prompt until it is answered. Returns the reply to `prompt.assemble`, with the new prompt id.
    pub fn add_pending_prompt(&mut self, prepared: PreparedPrompt) -> AssembledPrompt {
        let PreparedPrompt { reply, layout, sent, options, message, tiers, members, excerpts, .. } = prepared;
        let (model, estimated) = (reply.model.clone(), reply.tokens.total);
        let turn =
            PromptToRecord { model, estimated, layout, sent, options, message, tiers, members, excerpts };
        let id = format!("p{}", self.cache.next_prompt);
        self.cache_mut().next_prompt += 1;
        let (base, same_until) = (self.cache.revision, self.cache.revision);
        self.cache_mut().pending.push_back(PendingPrompt {
            id: id.clone(),
            base,
            same_until,
            turn: Arc::new(turn),
        });
        if self.cache.pending.len() > MAX_PENDING_PROMPTS {
            self.cache_mut().pending.pop_front();
        }
        AssembledPrompt { id: Some(id), ..reply }
    }

    /// Discards a prompt that will not be sent.
    ///
    /// # Errors
    /// Returns [`SessionError::NoSuchPrompt`] if no prompt with this id awaits an answer.
    pub fn discard_prompt(&mut self, id: &str) -> Result<(), SessionError> {
        self.take_pending(id).map(drop)
    }

    fn take_pending(&mut self, id: &str) -> Result<PendingPrompt, SessionError> {
        let at = self.cache.pending.iter().position(|pending| pending.id == id);
        at.and_then(|at| self.cache_mut().pending.remove(at))
            .ok_or_else(|| SessionError::NoSuchPrompt(id.to_owned()))
    }

    /// Records the outcome of a prompt. A repeated call changes nothing and returns the same reply.
    ///
    /// # Errors
    /// Returns [`SessionError::NoSuchPrompt`] if no prompt with this id awaits an answer. Returns
    /// [`SessionError::AlreadyRecovered`] and discards the prompt if it was too long even after a compaction.
    pub fn record(&mut self, id: &str, outcome: RequestOutcome) -> Result<RecordResult, SessionError> {
        if let Some(before) = self.recorded.iter().find(|recorded| recorded.id == id) {
            return Ok(before.clone());
        }
        let pending = self.take_pending(id)?;
        let retry = outcome.error == Some(RecoverableRequestError::ContextLimit);
        if retry {
            self.record_rejection(&pending.turn)?;
        }
        if let Some(usage) = outcome.usage {
            let sent = &pending.turn.sent;
            let predicted = CacheAccount::predict(self.cache.account.as_deref(), sent);
            let (cost, dollars) =
                (usage.cost(&sent.prices, &predicted), usage.dollars(&sent.prices, &predicted));
            self.bill.add(outcome.time_ms, &pending.turn.model, Amount::single_request(usage, cost, dollars));
        }
        let status = outcome.status;
        let is_recorded = match status {
            RequestStatus::Complete => true,
            RequestStatus::Aborted => !outcome.answer.is_empty(),
            RequestStatus::Error => false,
        };
        let warnings = if is_recorded { self.commit_turn(&pending, outcome) } else { Vec::new() };
        let recorded = RecordResult {
            id: pending.id,
            status,
            messages: self.history.messages().len(),
            totals: self.bill.usage(),
            warnings,
            retry,
        };
        self.recorded.push_back(recorded.clone());
        if self.recorded.len() > MAX_RECORD_REPLIES {
            self.recorded.pop_front();
        }
        Ok(recorded)
    }

    /// Adds an answered prompt and its answer to the conversation. Returns warnings for the user.
    fn commit_turn(
        &mut self,
        PendingPrompt { base, same_until, turn, .. }: &PendingPrompt,
        outcome: RequestOutcome,
    ) -> Vec<String> {
        let RequestOutcome { answer, usage, time_ms, .. } = outcome;
        let billed = usage.map(Usage::billed_input);
        let is_current = *base == self.cache.revision;
        let is_unchanged = *same_until == self.cache.revision;
        let mut warnings: Vec<String> = self.record_sent_prompt(turn, usage).into_iter().collect();
        if is_current {
            self.cache_mut().tiers = turn.tiers.clone();
            if let Some(billed) = billed {
                self.cache_mut().tiers.learn(billed);
            }
            self.map_members = turn.members.clone();
            self.excerpts = turn.excerpts.clone();
        } else if !is_unchanged {
            warnings.push(
                "the session changed after this prompt was assembled; its messages were recorded, but its cache layout was \
                 discarded"
                    .to_owned(),
            );
        }
        warnings.extend(secret_placeholder_warning(&placeholders_in(&answer)));
        let with_time = |message| NewMessage { time_ms: Some(time_ms), ..message };
        match (turn.message.clone(), turn.message.as_ref().and_then(|question| self.answer_to(question))) {
            // Another prompt with the same question was answered first. This answer replaces that one.
            (Some(_), Some(earlier)) if !is_unchanged => {
                let hide = |message: &mut NewMessage| message.agent = Visibility::Hidden;
                if self.history.change(earlier, hide).is_ok() {
                    self.reset_history_tiers();
                }
            }
            (Some(question), _) => drop(self.history.add(with_time(question))),
            (None, _) => {}
        }
        // The estimate includes the question, and the bill also includes the answer.
        let counted = LastPromptSize { tokens: turn.estimated, next: self.history.next_id() };
        if answer.is_empty() {
            warnings.push("the answer is empty, so only the prompt was added to the conversation".to_owned());
        } else {
            self.history.add(with_time(NewMessage::new(Role::Assistant, answer)));
        }
        let billed = usage.filter(|usage| usage.input_tokens() > 0).map(|usage| {
            let output = usize::try_from(usage.output).unwrap_or(usize::MAX);
            LastPromptSize {
                tokens: usage.input_tokens().saturating_add(output),
                next: self.history.next_id(),
            }
        });
        self.cache_mut().anchor = is_current.then(|| billed.unwrap_or(counted));
        if let Some(usage) = usage {
            self.record_token_counts(&turn.model, turn.estimated, usage.input_tokens());
        }
        self.recovery = ContextLimitRecovery::Possible;
        self.mark_changed();
        warnings
    }

    /// Returns the id of the last message if it answers exactly this question.
    fn answer_to(&self, question: &NewMessage) -> Option<MessageId> {
        let [.., asked_message, answer] = self.history.messages() else { return None };
        let is_same =
            asked_message.body.role == question.role && asked_message.body.content == question.content;
        (is_same && answer.body.role == Role::Assistant).then_some(answer.id)
    }

    /// Records a prompt that was sent. Returns a warning if the provider read less of it from the cache than expected.
    fn record_sent_prompt(
        &mut self,
        PromptToRecord { model, layout, sent, options, tiers, .. }: &PromptToRecord,
        usage: Option<Usage>,
    ) -> Option<String> {
        let billed = usage.map(Usage::billed_input);
        let cache = Arc::make_mut(&mut self.cache);
        let before = cache.account.take();
        cache.breaks.record(cache.last.as_deref(), layout, before.as_deref(), sent, &self.saved.selection);
        let account = CacheAccount::after_request(before.as_deref(), sent, billed);
        let missed = account.shortfall();
        cache.breaks.record_shortfall(missed);
        let compared = cache.compared.take().map(Arc::unwrap_or_clone);
        let (compared, charges) = ComparedCaches::after_request(compared, sent, &account);
        cache.compared = Some(Arc::new(compared));
        cache.account = Some(Arc::new(account));
        Arc::make_mut(&mut cache.pace).record(sent);
        cache.last = Some(Arc::clone(layout));
        cache.options = Some(Arc::clone(options));
        if let Some(usage) = usage {
            Arc::make_mut(&mut self.saved).comparison.add(&charges, usage, sent);
        }
        let recorded = LastTurnInput {
            previous: self.last_turn.as_deref(),
            model,
            tiers,
            layout,
            breaks: &self.cache.breaks,
            pages: &self.pages,
            cached: self.cached_prefix(sent.at_ms),
        };
        let last_turn = LastTurn::new(&recorded);
        self.last_turn = Some(Arc::new(last_turn));
        missed.map(|missed| {
            format!(
                "the provider read {} tokens from its cache instead of {}; Strata now assumes that only the \
                 tokens written by this prompt are cached",
                missed.reported, missed.expected
            )
        })
    }
}

fn placeholders_in(answer: &[ContentBlock]) -> BTreeSet<Placeholder> {
    let json = serde_json::to_string(answer).unwrap_or_default();
    placeholders(&json).map(|(_, placeholder)| placeholder).collect()
}

fn secret_placeholder_warning(placeholders: &BTreeSet<Placeholder>) -> Option<String> {
    let names: Vec<&str> = placeholders.iter().map(Placeholder::as_str).collect();
    (!names.is_empty()).then(|| {
        format!(
            "the answer has placeholders for secrets ({}); restore them with strata.redaction.restore before writing the answer to files",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests;
