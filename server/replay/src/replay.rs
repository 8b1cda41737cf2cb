//! Plays all sessions and conversations. The results come in the order of the material, and but for times they are the same
//! in every run.

use serde::Serialize;
use strata_app::index::Progress;
use strata_engine::prompt::assembly::PromptServices;
use strata_engine::prompt::settings::Settings;
use strata_engine::prompt::tiers::PolicyName;
use strata_engine::tokens::counting::TokenCounter;
use strata_engine::tokens::models::Models;

use crate::conversation::ConversationStats;
use crate::parallel::{count_steps, in_parallel};
use crate::predictions::PredictionStats;
use crate::session::SessionStats;
use crate::sources::Material;
use crate::summary::{ConversationMeans, Summary};

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replay {
    /// The model whose prices and limits were used.
    pub(crate) model: String,
    /// Set when the model is not in the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    pub(crate) sessions: Vec<SessionStats>,
    /// Their combined results; `None` without completed sessions.
    pub(crate) summary: Option<Summary>,
    pub(crate) conversations: Vec<ConversationStats>,
    /// Their combined results.
    pub(crate) conversation_means: Option<ConversationMeans>,
    /// How well the sizes of billed requests were predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) predictions: Option<PredictionStats>,
    /// Prompts that were made and checked.
    pub(crate) prompts: usize,
    /// Turns that those belong to.
    pub(crate) turns: usize,
}

impl Replay {
    /// Replays everything under `policies`. `progress` receives finished and total turns.
    pub fn play(
        material: &Material,
        policies: &[PolicyName],
        settings: &Settings,
        progress: impl Fn(Progress) + Sync,
    ) -> Self {
        let (models, counter) = (Models::builtin(), TokenCounter::new());
        let services = PromptServices { models: &models, counter: &counter, settings };
        let resolved = models.resolve(&settings.model);
        // Loading a vocabulary is not a part of the first prompt's time. If it fails, counts are estimates, as elsewhere.
        let _ = counter.warm_up(resolved.model.tokenizer);
        let Material { traces, transcripts, .. } = material;
        let of_sessions = traces.iter().map(|trace| SessionStats::turns_to_play(trace, policies, settings));
        let of_conversations = transcripts.iter().map(|(_, transcript)| transcript.turns.len());
        let turn_done = count_steps(of_sessions.chain(of_conversations).sum(), progress);
        let sessions = in_parallel(traces, |trace| SessionStats::of(trace, policies, services, &turn_done));
        let conversations = in_parallel(transcripts, |(name, transcript)| {
            ConversationStats::of(name, transcript, services, &turn_done)
        });
        let both = |of: fn(&SessionStats) -> usize, other: fn(&ConversationStats) -> usize| {
            sessions.iter().map(of).chain(conversations.iter().map(other)).sum()
        };
        Self {
            model: resolved.model.id.clone(),
            warning: resolved.warning(),
            summary: Summary::of(&sessions),
            conversation_means: ConversationMeans::of(&conversations),
            predictions: PredictionStats::of(conversations.iter().flat_map(|talk| &talk.predictions)),
            prompts: both(|session| session.prompts, |talk| talk.prompts),
            turns: both(|session| session.turns, |talk| talk.turns),
            sessions,
            conversations,
        }
    }

    /// What was not completed, and why.
    pub fn problems(&self) -> impl Iterator<Item = (&str, &str)> {
        let sessions = self.sessions.iter().map(|session| (&session.name, &session.problem));
        let conversations = self.conversations.iter().map(|talk| (&talk.name, &talk.problem));
        sessions.chain(conversations).filter_map(|(name, problem)| Some((name.as_str(), problem.as_deref()?)))
    }

    /// Prompts that had to leave something out to fit the window.
    pub(crate) fn cut_short(&self) -> usize {
        let sessions = self.sessions.iter().map(|session| session.cut_short);
        sessions.chain(self.conversations.iter().map(|talk| talk.cut_short)).sum()
    }
}
