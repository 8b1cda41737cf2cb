//! Drafts a compaction and installs the draft: sends the engine's questions to a model and returns the answers. The
//! engine decides what is kept.

use strata_base::cancel::Cancel;
use strata_conversation::compaction::{
    CompactionDraft, CompactionRun, CompactionStrategy, ContextPressure, DraftRefusal, NoSuchProfile,
    NotCompacted, Profile, RequestSize,
};
use strata_prompt::assembly::{history_size, with_token_counters};
use strata_prompt::session::Session;

use crate::clock::now_ms;
use crate::format::{self, group_digits};
use crate::model::snapshot::Snapshot;
use crate::services::Services;
use crate::services::compaction_notice::{CompactionNotice, CompactionReason, CompactionState};

/// A compaction that frees less than the size of the request divided by this number gets a note for the user.
const MIN_FREED_SHARE_DIVISOR: usize = 10;

#[derive(Clone, Debug)]
pub struct CompactionJob {
    pub session: String,
    pub profile: Profile,
    pub reason: CompactionReason,
    /// Size of the request that the compaction makes room for. Defaults to the size of a request like the last one.
    pub size: Option<RequestSize>,
}

/// Why a compaction produced no draft.
#[derive(Debug, thiserror::Error)]
pub enum DraftError {
    /// The conversation cannot be compacted.
    #[error(transparent)]
    NotCompacted(#[from] NotCompacted),
    /// The compaction was cancelled.
    #[error("the compaction was cancelled; the conversation is unchanged")]
    Cancelled,
}

/// Why a draft was not installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The profile of the draft is gone from the settings.
    #[error(transparent)]
    NoSuchProfile(#[from] NoSuchProfile),
    /// The messages or the profile have changed since the draft was made.
    #[error(transparent)]
    Refused(#[from] DraftRefusal),
}

impl CompactionJob {
    /// Drafts a compaction of `session`. Asks the model that writes summaries, on the caller's thread.
    ///
    /// # Errors
    /// Returns a [`DraftError`] if the conversation cannot be compacted or `cancel` is raised.
    pub fn draft(
        &self,
        session: &Session,
        snapshot: &Snapshot,
        services: &Services,
        cancel: &Cancel,
    ) -> Result<CompactionDraft, DraftError> {
        let summarizer = services.summarizer(snapshot);
        let prompt_services = snapshot.prompt_services();
        let pressure = self.pressure(session, snapshot);
        let tools = snapshot.settings.tools.clone();
        let mut run = with_token_counters(prompt_services, |scales| {
            let profile = self.profile.clone();
            let summariser = summarizer.summarizer_within(pressure.window);
            CompactionRun::new(&session.history, profile, pressure, summariser, tools, scales)
        })?;
        let (mut author, mut fell_back) = (None, None);
        while let Some(question) = run.question() {
            let answer = summarizer.ask(question, cancel);
            if cancel.is_cancelled() {
                return Err(DraftError::Cancelled);
            }
            if let Err(problem) = &answer {
                tracing::warn!(purpose = ?question.purpose, %problem, "a model did not answer a request for a compaction");
            }
            let answer = answer.map(|answer| {
                author = Some(answer.by);
                fell_back = answer.fell_back.or(fell_back.take());
                answer.text
            });
            with_token_counters(prompt_services, |scales| run.handle_answer(answer, scales));
        }
        let mut draft = with_token_counters(prompt_services, |scales| run.finish(scales))?;
        if draft.strategy == CompactionStrategy::Model {
            draft.summarised_by = author;
        }
        let fell_back = fell_back
            .map(|reason| format!("the provider wrote the summary, because the client did not: {reason}"));
        draft.notes.extend(fell_back);
        draft
            .notes
            .extend(summarizer.problem().map(|problem| format!("summarized without a model: {problem}")));
        Ok(draft)
    }

    /// Installs a draft. Rejects the draft if the profile or the messages have changed since it was made.
    ///
    /// # Errors
    /// Returns an [`InstallError`] if the draft is rejected.
    pub fn install(
        &self,
        session: &mut Session,
        draft: CompactionDraft,
        snapshot: &Snapshot,
    ) -> Result<(), InstallError> {
        let settings = &snapshot.settings;
        let profile = settings.compaction.profile_named(&draft.profile.name, &settings.tool_output)?;
        session.compact(draft, &profile, &settings.tools, now_ms())?;
        if self.reason == CompactionReason::ContextLimit {
            session.record_recovery();
        }
        Ok(())
    }

    /// Returns whether the session has messages that the profile does not keep. Without any, an automatic compaction is
    /// not worth announcing.
    pub fn has_old_messages(&self, session: &Session, snapshot: &Snapshot) -> bool {
        let pressure = self.pressure(session, snapshot);
        with_token_counters(snapshot.prompt_services(), |scales| {
            !self.profile.old_messages(&session.history, &pressure, scales.message).is_empty()
        })
    }

    fn pressure(&self, session: &Session, snapshot: &Snapshot) -> ContextPressure {
        session.pressure(self.size, snapshot.prompt_services(), now_ms())
    }

    pub fn started_notice(&self, session: &Session, snapshot: &Snapshot) -> CompactionNotice {
        let before = history_size(&session.history, snapshot.prompt_services());
        CompactionNotice { before: Some(before), ..self.notice(CompactionState::Started) }
    }

    /// Returns a notice with this state and no details.
    fn notice(&self, state: CompactionState) -> CompactionNotice {
        CompactionNotice {
            state,
            session: self.session.clone(),
            profile: self.profile.name.clone(),
            reason: self.reason,
            strategy: None,
            before: None,
            after: None,
            summarised_by: None,
            notes: Vec::new(),
            error: None,
        }
    }

    /// Returns the notice that the compaction has ended, with the details of the installed draft if it is known.
    pub fn ended_notice(&self, draft: Option<&CompactionDraft>) -> CompactionNotice {
        let ended = self.notice(CompactionState::Ended);
        let Some(draft) = draft else { return ended };
        let mut notes = draft.notes.clone();
        notes.extend(self.little_freed_note(draft));
        CompactionNotice {
            strategy: Some(draft.strategy),
            before: Some(draft.before),
            after: Some(draft.after),
            summarised_by: draft.summarised_by.clone(),
            notes,
            ..ended
        }
    }

    /// Returns a note for the user if the compaction freed little of a request that the provider rejected as too long.
    fn little_freed_note(&self, draft: &CompactionDraft) -> Option<String> {
        let freed = draft.before.tokens.saturating_sub(draft.after.tokens);
        let request = self.size.map_or(draft.before.tokens, |size| size.tokens);
        (self.reason == CompactionReason::ContextLimit && freed < request / MIN_FREED_SHARE_DIVISOR).then(|| {
            format!(
                "compaction freed only {} of the {} tokens in the request; if the model rejects it again, deselect files or \
                 shorten the prompt",
                format::tokens(freed),
                group_digits(request)
            )
        })
    }

    pub fn failed_notice(&self, error: &impl ToString) -> CompactionNotice {
        CompactionNotice { error: Some(error.to_string()), ..self.notice(CompactionState::Failed) }
    }
}
