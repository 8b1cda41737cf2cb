//! Runs compactions and archives tool results. Sends the engine's questions to a model, returns the answers, and
//! notifies the client. The engine decides what is kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strata_engine::cancel::Cancel;
use strata_engine::conversation::compaction::{
    Draft, NotCompacted, Pressure, Profile, RequestSize, Run, Size, Strategy, SummaryAuthor, TriggerReading,
};
use strata_engine::conversation::tool_result_archival::{Archival, ArchivalPlan};
use strata_engine::prompt::assembly::{history_size, with_scales};
use strata_engine::prompt::session::Session;

use crate::clock::now_ms;
use crate::commands::CommandError;
use crate::format::{self, grouped};
use crate::services::Services;
use crate::snapshot::Snapshot;

/// A compaction that frees less than the size of the request divided by this number gets a note for the user.
const WORTH_SAYING: usize = 10;

/// Why a conversation is compacted.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schemars(rename = "CompactionReason")]
pub enum Reason {
    /// The user or the client requested the compaction.
    Asked,
    /// The conversation reached a threshold of the profile.
    Due(TriggerReading),
    /// The provider rejected a prompt as too long.
    ContextLimit,
}

/// The state of a compaction. Sent to clients as `strata/compaction`, and returned by `strata.compaction.run`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Compaction")]
pub struct CompactionNotice {
    /// Whether the compaction has started, ended or failed.
    pub state: CompactionState,
    /// Id of the session being compacted.
    pub session: String,
    /// Name of the compaction profile.
    pub profile: String,
    /// Why the conversation is compacted.
    pub reason: Reason,
    /// How the conversation was shortened. Absent until the compaction has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// Size of the conversation before the compaction. Absent if unknown, such as when the compaction failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Size>,
    /// Size of the conversation after the compaction. Absent until the compaction has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Size>,
    /// Who wrote the summary. Absent until it is written, and if the conversation was only truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summarised_by: Option<SummaryAuthor>,
    /// Notes for the user, such as why no model was asked or which steps failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why the compaction failed. Absent unless it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The progress of a compaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompactionState {
    /// The compaction has started.
    Started,
    /// The conversation has been compacted.
    Ended,
    /// The compaction failed. The conversation is unchanged.
    Failed,
}

/// A compaction to run in a session.
#[derive(Clone, Debug)]
pub struct CompactionJob {
    pub session: String,
    pub profile: Profile,
    pub reason: Reason,
    /// Size of the request that the compaction makes room for. Defaults to the size of a request like the last one.
    pub size: Option<RequestSize>,
}

/// Summarizes the tool results to archive, on the caller's thread. Uses excerpts of the results if no model answers.
pub fn sum_up(ageing: ArchivalPlan, snapshot: &Snapshot, services: &Services) -> Archival {
    let summarizer = services.summarizer(snapshot);
    let answer = ageing.question.as_ref().map(|question| summarizer.ask(question, &Cancel::new()));
    if let Some(Err(problem)) = &answer {
        tracing::warn!(%problem, "tool results were archived without a model's summary");
    }
    let text = answer.and_then(Result::ok).map(|answer| answer.text);
    ageing.apply(text.as_deref())
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
    ) -> Result<Draft, DraftError> {
        let summarizer = services.summarizer(snapshot);
        let means = snapshot.means();
        let pressure = self.pressure(session, snapshot);
        let tools = snapshot.settings.tools.clone();
        let mut run = with_scales(means, |scales| {
            let profile = self.profile.clone();
            let summariser = summarizer.summariser_within(pressure.window);
            Run::new(&session.history, profile, pressure, summariser, tools, scales)
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
            with_scales(means, |scales| run.answer(answer, scales));
        }
        let mut draft = with_scales(means, |scales| run.finish(scales))?;
        if draft.strategy == Strategy::Model {
            draft.summarised_by = author;
        }
        let fell_back =
            fell_back.map(|why| format!("the provider wrote the summary, because the client did not: {why}"));
        draft.notes.extend(fell_back);
        draft
            .notes
            .extend(summarizer.problem().map(|problem| format!("summarized without a model: {problem}")));
        Ok(draft)
    }

    /// Installs a draft. Rejects the draft if the profile or the messages have changed since it was made.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the draft is rejected.
    pub fn install(
        &self,
        session: &mut Session,
        draft: Draft,
        snapshot: &Snapshot,
    ) -> Result<(), CommandError> {
        let settings = &snapshot.settings;
        let profile = settings.compaction.profile_named(&draft.profile.name, &settings.tool_output)?;
        session.compact(draft, &profile, &settings.tools, now_ms())?;
        if self.reason == Reason::ContextLimit {
            session.recovered();
        }
        Ok(())
    }

    /// Returns whether the session has messages that the profile does not keep. Without any, an automatic compaction is
    /// not worth announcing.
    pub fn has_old_messages(&self, session: &Session, snapshot: &Snapshot) -> bool {
        let pressure = self.pressure(session, snapshot);
        with_scales(snapshot.means(), |scales| {
            self.profile.has_old_messages(&session.history, &pressure, scales.message)
        })
    }

    fn pressure(&self, session: &Session, snapshot: &Snapshot) -> Pressure {
        session.pressure(self.size, snapshot.means(), now_ms())
    }

    /// Returns the notice that the compaction of `session` has started.
    pub fn started(&self, session: &Session, snapshot: &Snapshot) -> CompactionNotice {
        let before = history_size(&session.history, snapshot.means());
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
    pub fn ended(&self, draft: Option<&Draft>) -> CompactionNotice {
        let ended = self.notice(CompactionState::Ended);
        let Some(draft) = draft else { return ended };
        let mut notes = draft.notes.clone();
        notes.extend(self.little_freed(draft));
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
    fn little_freed(&self, draft: &Draft) -> Option<String> {
        let freed = draft.before.tokens.saturating_sub(draft.after.tokens);
        let request = self.size.map_or(draft.before.tokens, |size| size.tokens);
        (self.reason == Reason::ContextLimit && freed < request / WORTH_SAYING).then(|| {
            format!(
                "compaction freed only {} of the {} tokens in the request; if the model rejects it again, deselect files or \
                 shorten the prompt",
                format::tokens(freed),
                grouped(request)
            )
        })
    }

    /// Returns the notice that the compaction failed.
    pub fn failed(&self, error: &impl ToString) -> CompactionNotice {
        CompactionNotice { error: Some(error.to_string()), ..self.notice(CompactionState::Failed) }
    }
}

impl From<CompactionNotice> for Value {
    fn from(news: CompactionNotice) -> Self {
        // Plain data with string keys always serializes.
        serde_json::to_value(news).unwrap_or_default()
    }
}
