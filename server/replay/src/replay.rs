//! Plays what was gathered and says what came of each session. Two at a time; the results come in the order of the
//! material, and but for times they are the same in every run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::predictions::{Predicted, predictions};
use serde::Serialize;
use strata_engine::conversation::trace::Trace;
use strata_engine::conversation::transcript::Transcript;
use strata_engine::prompt::assembly::PromptServices;
use strata_engine::prompt::settings::Settings;
use strata_engine::prompt::tiers::PolicyName;
use strata_engine::tokens::counting::TokenCounter;
use strata_engine::tokens::models::Models;

use crate::conversation::{ConversationReplay, billed_share};
use crate::predictions::stats::Predictions;
use crate::runner::ReplayError;
use crate::scenario::Content;
use crate::session::SessionReplay;
use crate::sources::Material;
use crate::summary::{ConversationMeans, Summary};
use crate::totals::{Column, Totals};
use strata_app::index::Progress;

/// Sessions that are played at the same time.
const THREADS: usize = 2;

/// What came of all sessions.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replay {
    /// The model whose prices and limits were used.
    pub model: String,
    /// Set when the model is not in the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    pub sessions: Vec<Session>,
    /// What they come to together; nothing without sessions that were played to their end.
    pub summary: Option<Summary>,
    pub conversations: Vec<Conversation>,
    /// What those come to together.
    pub conversation_means: Option<ConversationMeans>,
    /// How well the size of billed requests was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predictions: Option<Predictions>,
    /// Prompts that were made and checked.
    pub prompts: usize,
    /// Turns that those belong to.
    pub turns: usize,
}

/// What came of one session in a repository.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    pub name: String,
    /// How its files are selected: `win3` for those of this turn and the three before, `grow` for all so far.
    pub selection: String,
    pub turns: usize,
    /// What each layout came to.
    pub columns: BTreeMap<Column, Cell>,
    /// What no layout can undercut, as a share of no cache.
    pub bound: f64,
    /// The same session with file list and session state in its prompts.
    pub everything: Option<Everything>,
    /// Prompts that had to leave something out to fit the window.
    pub cut_short: usize,
    /// Why it was not played to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(skip)]
    pub(super) prompts: usize,
}

/// What a session came to in one layout.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cell {
    /// Its cost as a share of no cache.
    pub share: f64,
    /// The share of its input that was read from the cache.
    pub hit_share: f64,
    /// Its input as a multiple of `flat`'s.
    pub length: f64,
    #[serde(flatten)]
    pub totals: Totals,
}

/// `ledger` with everything in its prompts that an editor's have.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Everything {
    /// What it came to; shares are of the same prompts without a cache.
    pub ledger: Cell,
}

/// What came of one recorded conversation.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    pub name: String,
    pub turns: usize,
    /// Lines of the record that could not be read.
    pub skipped_lines: usize,
    /// What the provider billed, as a share of what it would have cost without a cache; with tools and system prompt of
    /// the agent, which the record does not hold.
    pub billed: Option<f64>,
    pub columns: BTreeMap<Column, Cell>,
    /// Prompts that had to leave something out to fit the window.
    pub cut_short: usize,
    /// Why it was not played to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(skip)]
    pub(super) prompts: usize,
    #[serde(skip)]
    pub(super) predicted: Vec<Predicted>,
}

#[derive(Clone, Copy)]
enum Job<'a> {
    Session(&'a Trace, Content),
    Conversation(&'a str, &'a Transcript),
}

enum Done {
    Session(Session),
    Conversation(Conversation),
}

impl Replay {
    /// Plays all of it under `policies`. `progress` is told how many turns were played, and of how many.
    pub fn play(
        material: &Material,
        policies: &[PolicyName],
        settings: &Settings,
        progress: impl Fn(Progress) + Sync,
    ) -> Self {
        let (models, counter) = (Models::builtin(), TokenCounter::new());
        let means = PromptServices { models: &models, counter: &counter, settings };
        // Loading a vocabulary is no part of the first prompt's time. If it fails, counts are estimates, as elsewhere.
        let _ = counter.warm_up(models.resolve(&settings.model).model.tokenizer);
        let mut jobs = Vec::new();
        for trace in &material.traces {
            jobs.push(Job::Session(trace, Content::Table));
            if policies.contains(&PolicyName::Ledger) {
                jobs.push(Job::Session(trace, Content::Everything));
            }
        }
        jobs.extend(
            material.transcripts.iter().map(|(name, transcript)| Job::Conversation(name, transcript)),
        );

        let total = jobs.iter().map(Job::turns).sum();
        let done = AtomicUsize::new(0);
        let turn_done = || progress(Progress { done: done.fetch_add(1, Ordering::Relaxed) + 1, total });
        let mut results = in_parallel(jobs.len(), |at| match jobs.get(at) {
            Some(Job::Session(trace, content)) => {
                Some(Done::Session(play_session(trace, *content, policies, means, &turn_done)))
            }
            Some(Job::Conversation(name, transcript)) => {
                Some(Done::Conversation(play_conversation(name, transcript, means, &turn_done)))
            }
            None => None,
        });
        Self::collect(jobs.iter().zip(results.drain(..).flatten()), means)
    }

    /// Whether every prompt kept what is promised.
    pub fn problems(&self) -> impl Iterator<Item = (&str, &str)> {
        let sessions = self.sessions.iter().map(|session| (&session.name, &session.problem));
        let conversations = self.conversations.iter().map(|told| (&told.name, &told.problem));
        sessions.chain(conversations).filter_map(|(name, problem)| Some((name.as_str(), problem.as_deref()?)))
    }

    /// Prompts that had to leave something out to fit the window.
    pub fn cut_short(&self) -> usize {
        let sessions = self.sessions.iter().map(|session| session.cut_short);
        sessions.chain(self.conversations.iter().map(|told| told.cut_short)).sum()
    }

    fn collect<'a>(results: impl Iterator<Item = (&'a Job<'a>, Done)>, means: PromptServices<'_>) -> Self {
        let resolved = means.models.resolve(&means.settings.model);
        let mut replay = Self {
            model: resolved.model.id.clone(),
            warning: resolved.warning(),
            sessions: Vec::new(),
            summary: None,
            conversations: Vec::new(),
            conversation_means: None,
            predictions: None,
            prompts: 0,
            turns: 0,
        };
        for (job, done) in results {
            match (job, done) {
                (Job::Session(_, Content::Everything), Done::Session(session)) => {
                    replay.prompts += session.prompts;
                    if let Some(same) = replay.sessions.last_mut() {
                        same.cut_short += session.cut_short;
                        same.everything = session
                            .columns
                            .get(&Column::Ledger)
                            .map(|cell| Everything { ledger: cell.clone() });
                        let problem = session.problem.map(|problem| format!("with everything: {problem}"));
                        same.problem = same.problem.take().or(problem);
                    }
                }
                (_, Done::Session(session)) => {
                    replay.prompts += session.prompts;
                    replay.turns += session.turns;
                    replay.sessions.push(session);
                }
                (_, Done::Conversation(conversation)) => {
                    replay.prompts += conversation.prompts;
                    replay.turns += conversation.turns;
                    replay.conversations.push(conversation);
                }
            }
        }
        replay.summary = Summary::of(&replay.sessions);
        replay.conversation_means = ConversationMeans::of(&replay.conversations);
        replay.predictions = Predictions::of(replay.conversations.iter().flat_map(|told| &told.predicted));
        replay
    }
}

impl Cell {
    fn all(totals: &BTreeMap<Column, Totals>) -> BTreeMap<Column, Self> {
        let none = totals.get(&Column::None).cloned().unwrap_or_default();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let cell = |totals: &Totals| Self {
            share: share(totals.cost, none.cost),
            hit_share: totals.hit_share(),
            length: share(totals.tokens as f64, none.tokens as f64),
            totals: totals.clone(),
        };
        totals.iter().map(|(column, totals)| (*column, cell(totals))).collect()
    }
}

impl Job<'_> {
    fn turns(&self) -> usize {
        match self {
            Job::Session(trace, _) => trace.turns.len(),
            Job::Conversation(_, transcript) => transcript.turns.len(),
        }
    }
}

fn play_session(
    trace: &Trace,
    content: Content,
    policies: &[PolicyName],
    means: PromptServices<'_>,
    turn_done: &dyn Fn(),
) -> Session {
    let policies = match content {
        Content::Table => policies,
        Content::Everything => &[PolicyName::Ledger],
    };
    let mut replay = SessionReplay::new(trace, content, policies, means);
    let (turns, problem) = to_the_end(|clock| replay.step(means, clock), turn_done);
    let problem = problem.or_else(|| (turns == 0).then(|| "it has no turns".to_owned()));
    let runners = 1 + policies.iter().filter(|policy| **policy != PolicyName::Flat).count();
    let none = replay.totals().get(&Column::None).map_or(0.0, |totals| totals.cost);
    Session {
        name: trace.name.clone(),
        selection: trace.sel.to_string(),
        turns,
        columns: Cell::all(replay.totals()),
        bound: if none > 0.0 { replay.bound() / none } else { 0.0 },
        everything: None,
        cut_short: replay.cut_short(),
        problem,
        prompts: turns * runners,
    }
}

fn play_conversation(
    name: &str,
    transcript: &Transcript,
    means: PromptServices<'_>,
    turn_done: &dyn Fn(),
) -> Conversation {
    let mut conversation = ConversationReplay::new(transcript, means);
    let (turns, problem) = to_the_end(|clock| conversation.step(means, clock), turn_done);
    Conversation {
        name: name.to_owned(),
        turns,
        skipped_lines: transcript.skipped,
        billed: billed_share(transcript),
        columns: Cell::all(conversation.totals()),
        cut_short: conversation.cut_short(),
        problem,
        // One under `flat`, one under `ledger`.
        prompts: turns * 2,
        predicted: predictions(transcript, means),
    }
}

/// Plays turn after turn: how many there were, and what ended them early.
fn to_the_end(
    mut step: impl FnMut(&dyn Fn() -> u64) -> Result<bool, ReplayError>,
    turn_done: &dyn Fn(),
) -> (usize, Option<String>) {
    let started = Instant::now();
    let clock = || u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let mut turns = 0;
    loop {
        match step(&clock) {
            Ok(true) => turns += 1,
            Ok(false) => return (turns, None),
            Err(error) => return (turns, Some(error.to_string())),
        }
        turn_done();
    }
}

/// Does `count` pieces of work; the results are in order.
pub(super) fn in_parallel<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    let run = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return;
            }
            let result = work(at);
            results.lock().unwrap_or_else(PoisonError::into_inner).insert(at, result);
        }
    };
    thread::scope(|scope| {
        for _ in 1..THREADS {
            // Without a second thread the first does it all.
            let _ = thread::Builder::new().name("strata-replay".to_owned()).spawn_scoped(scope, run);
        }
        run();
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}
