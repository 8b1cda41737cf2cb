//! A session whose conversation is made shorter, and as it was again. What is to be shorter, and how, is decided in
//! `compaction`.

use std::sync::Arc;

use crate::conversation::compaction::{
    CompactionStatus, Draft, DraftRefusal, Lists, Pressure, Profile, Record, commit,
};
use crate::conversation::conversation_facts::ToolPatterns;
use crate::conversation::history::History;
use crate::prompt::assembly::{PromptServices, history_tokens, with_scales};
use crate::tokens::calibration::Calibration;

use super::{Anchor, Recovery, Session};

/// Steps that stay when a compaction shortens the list (`docs/compaction.md`, "The five profiles").
const STEPS_KEPT: usize = 10;

/// There is nothing to undo.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no compaction of this conversation is left to undo")]
pub struct NothingToUndo;

/// A second prompt in a row was too long for the provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the prompt was too long once more after the conversation was compacted; deselect files, or shorten the prompt or the \
     system prompt"
)]
pub struct AlreadyRecovered;

impl Session {
    /// Whether the conversation may be compacted because a provider refused a prompt for its length.
    ///
    /// # Errors
    /// [`AlreadyRecovered`] when that was done before, and no prompt was answered since.
    pub fn may_recover(&self) -> Result<(), AlreadyRecovered> {
        if self.recovery == Recovery::Used { Err(AlreadyRecovered) } else { Ok(()) }
    }

    /// Takes note that it was.
    pub fn recovered(&mut self) {
        self.recovery = Recovery::Used;
    }

    /// What the conversation weighs. `context` is what the whole prompt weighs, when that is known; otherwise what was
    /// billed for the last one counts, with what was said since.
    ///
    /// The window is that of the last recorded prompt.
    pub fn pressure(&self, context: Option<usize>, means: PromptServices<'_>) -> Pressure {
        let history = history_tokens(&self.history, means);
        let context = context.or_else(|| self.anchored(means)).unwrap_or(history);
        let asked = self.asked.as_deref();
        let model = asked.and_then(|ask| ask.model.as_deref()).unwrap_or(&means.settings.model);
        let most = asked.and_then(|ask| ask.max_input_tokens).unwrap_or(usize::MAX);
        let window = means.models.resolve(model).model.max_input.min(most);
        let exchanges = self.history.visible().filter(|message| History::begins_exchange(message)).count();
        Pressure {
            history,
            context,
            window: (window > 0).then_some(window),
            messages: self.history.visible().count(),
            exchanges,
        }
    }

    /// How near the conversation is to a compaction by the profile in force; `context` as in
    /// [`pressure`](Self::pressure).
    pub fn compaction_status(&self, context: Option<usize>, means: PromptServices<'_>) -> CompactionStatus {
        let settings = &means.settings.compaction;
        let pressure = self.pressure(context, means);
        CompactionStatus::new(settings.watched(), &settings.profile(), &pressure, self.compactions.last())
    }

    /// Puts a draft in the place of what it was made of.
    ///
    /// # Errors
    /// [`DraftRefusal`]; the session is as it was.
    pub fn compact(
        &mut self,
        draft: Draft,
        profile: &Profile,
        tools: &ToolPatterns,
        now_ms: u64,
    ) -> Result<&Record, DraftRefusal> {
        let Draft { strategy, before, after, .. } = draft;
        let (history, rebuilt) = commit(&self.history, draft, profile)?;
        self.history = history;
        match profile.lists {
            Lists::Stay => {}
            Lists::Shortened => self.trail.shorten(STEPS_KEPT, &self.history, tools),
            Lists::Renewed => self.trail.renew(&self.history),
        }
        self.rewritten();
        let profile = profile.name.clone();
        let record = Record { profile, strategy, before, after, time_ms: now_ms, rebuilt };
        let compactions = Arc::make_mut(&mut self.compactions);
        compactions.push(record);
        compactions.last().ok_or(DraftRefusal::Changed)
    }

    /// Shows the model again what the last compaction hid; messages said since stay behind it.
    ///
    /// # Errors
    /// [`NothingToUndo`].
    pub fn undo_compaction(&mut self) -> Result<Record, NothingToUndo> {
        if self.compactions.is_empty() {
            return Err(NothingToUndo);
        }
        let record = Arc::make_mut(&mut self.compactions).pop().ok_or(NothingToUndo)?;
        self.history.take_back(&record.rebuilt);
        self.rewritten();
        Ok(record)
    }

    /// The compactions that were committed and not undone, oldest first.
    #[cfg(test)]
    pub(crate) fn compactions(&self) -> &[Record] {
        &self.compactions
    }

    /// Takes note that what was said before is not as it was: its places in the tiers are forgotten, and so is what the
    /// last prompt weighed.
    pub(super) fn rewritten(&mut self) {
        self.anchor = None;
        self.reregister_history();
        self.touch();
    }

    fn anchored(&self, means: PromptServices<'_>) -> Option<usize> {
        let Anchor { tokens, next } = self.anchor?;
        let later = self.history.sent().filter(|message| message.id >= next);
        let later: usize = with_scales(means, |scales| later.map(|message| (scales.message)(message)).sum());
        let model = &means.models.resolve(&means.settings.model).model.id;
        let factor = self.calibration(model).map_or(1.0, Calibration::factor);
        Some(tokens.saturating_add((later as f64 * factor).ceil() as usize))
    }
}
