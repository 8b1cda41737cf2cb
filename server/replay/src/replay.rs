//! Replays all sessions and conversations. Results are in the order of the material and, except for times, the same in
//! every run.

use serde::Serialize;
use strata_app::model::index::OutlineProgress;
use strata_prompt::assembly::PromptServices;
use strata_prompt::settings::Settings;
use strata_prompt::tiers::PolicyName;
use strata_tokens::counting::TokenCounter;
use strata_tokens::models::Models;

use crate::conversation::ConversationStats;
use crate::parallel::{parallel_map, step_counter};
use crate::predictions::PredictionStats;
use crate::session::SessionStats;
use crate::sources::{Material, Workload};
use crate::summary::{ConversationMeans, SessionMeans};
use crate::varied::PlayedSession;

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replay {
    /// Model whose prices and limits were used.
    pub(crate) model: String,
    /// Warning that the model is not in the model table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    pub(crate) sessions: Vec<SessionStats>,
    /// Combined results of the sessions; `None` if none was completed.
    pub(crate) summary: Option<SessionMeans>,
    pub(crate) conversations: Vec<ConversationStats>,
    /// Combined results of the conversations; `None` if none was completed.
    pub(crate) conversation_means: Option<ConversationMeans>,
    /// How well the sizes of billed requests were predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) predictions: Option<PredictionStats>,
    /// Number of prompts assembled and checked.
    pub(crate) prompts: usize,
    /// Number of turns to which the checked prompts belong.
    pub(crate) turns: usize,
}

impl Replay {
    /// Replays everything under `policies`. `progress` receives the number of finished turns and their total.
    pub fn play(
        material: &Material,
        policies: &[PolicyName],
        settings: &Settings,
        progress: impl Fn(OutlineProgress) + Sync,
    ) -> Self {
        let (models, counter) = (Models::builtin(), TokenCounter::default());
        let services = PromptServices { models: &models, counter: &counter, settings };
        let resolved = models.resolve(&settings.model);
        let Material { traces, transcripts, workload, has_peoples_pauses, seed, .. } = material;
        let session = |(index, trace)| match workload {
            Workload::Windows => PlayedSession::plain(trace),
            Workload::Varied => PlayedSession::varied(trace, *seed),
            Workload::People => PlayedSession::human_like(trace, index, *seed),
        };
        let mut sessions: Vec<PlayedSession<'_>> = traces.iter().enumerate().map(session).collect();
        if *has_peoples_pauses && *workload != Workload::People {
            sessions = sessions.into_iter().map(|session| session.with_human_pauses(*seed)).collect();
        }
        let of_sessions =
            sessions.iter().map(|session| SessionStats::turns_to_play(&session.trace, policies, settings));
        // With and without archiving.
        let of_conversations = transcripts.iter().map(|(_, transcript)| 2 * transcript.turns.len());
        let turn_done = step_counter(of_sessions.chain(of_conversations).sum(), progress);
        let sessions =
            parallel_map(&sessions, |session| SessionStats::play(session, policies, services, &turn_done));
        let conversations = parallel_map(transcripts, |(name, transcript)| {
            ConversationStats::play(name, transcript, services, &turn_done)
        });
        let both = |of: fn(&SessionStats) -> usize, other: fn(&ConversationStats) -> usize| {
            sessions.iter().map(of).chain(conversations.iter().map(other)).sum()
        };
        Self {
            model: resolved.model.id.clone(),
            warning: resolved.warning(),
            summary: SessionMeans::from_sessions(&sessions, *workload),
            conversation_means: ConversationMeans::from_conversations(&conversations),
            predictions: PredictionStats::from_predictions(
                conversations.iter().flat_map(|talk| &talk.predictions),
            ),
            prompts: both(|session| session.prompts, |talk| talk.prompts),
            turns: both(|session| session.turns, |talk| talk.turns),
            sessions,
            conversations,
        }
    }

    /// Returns the sessions and conversations that were not completed, with the reasons.
    pub fn incomplete_replays(&self) -> impl Iterator<Item = (&str, &str)> {
        let sessions = self.sessions.iter().map(|session| (&session.name, &session.problem));
        let conversations = self.conversations.iter().map(|talk| (&talk.name, &talk.problem));
        sessions.chain(conversations).filter_map(|(name, problem)| Some((name.as_str(), problem.as_deref()?)))
    }

    /// Returns the number of prompts that omitted something to fit into the window.
    pub(crate) fn cut_short_count(&self) -> usize {
        let sessions = self.sessions.iter().map(|session| session.cut_short);
        sessions.chain(self.conversations.iter().map(|talk| talk.cut_short)).sum()
    }
}
