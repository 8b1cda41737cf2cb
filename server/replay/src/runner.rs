//! One session that plays a trace under one policy: assemble, charge, check, record, as an editor does.

use strata_engine::conversation::dialect::Format;
use strata_engine::conversation::history::ContentBlock;
use strata_engine::key::FileKey;
use strata_engine::prompt::assembly::{
    AssembleError, Prepared, PromptRequest, PromptServices, WarningCode, assemble,
};
use strata_engine::prompt::layout::{Layout, Part};
use strata_engine::prompt::session::{Outcome, Session, Status};
use strata_engine::prompt::tiers::PolicyName;
use strata_engine::tokens::cost::{Charge, Prices, Provider, Usage};

use crate::baseline::Baseline;
use crate::promises::{BrokenPromise, WholeMap, verify, whole_map};
use crate::scenario::Scenario;
use crate::totals::Column;

/// A session under one policy.
pub struct Runner {
    policy: PolicyName,
    session: Session,
    /// The provider that the session's own prompts go to; it knows nothing of what the session believes of it.
    provider: Provider,
    /// What the same prompts cost in each column.
    providers: Vec<(Column, Baseline, Provider)>,
}

/// What one turn came to.
#[derive(Clone, Debug)]
pub struct Play {
    /// What it cost in each column that the runner stands for.
    pub charges: Vec<(Column, Charge)>,
    /// How long the prompt took, in the units of the clock.
    pub nanos: u64,
    /// Members of the map.
    pub members: Vec<FileKey>,
    /// System prompt and messages, named, with their tokens: what every layout needs.
    pub said: Vec<(String, usize)>,
    /// Whether a part of the prompt had to be left out to fit the window.
    pub cut_short: CutShort,
}

/// Whether everything fitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutShort {
    /// It did.
    No,
    /// Something was left out: figures of such turns do not compare.
    Yes,
}

impl CutShort {
    fn of(prepared: &Prepared, means: PromptServices<'_>) -> Self {
        let mut codes = prepared.reply.warnings.iter().map(|warning| warning.code);
        // Nothing is left out for want of knowledge of a model.
        let whole = codes.all(|code| code == WarningCode::UnknownModel);
        if whole && whole_map(prepared, means) == WholeMap::Yes { Self::No } else { Self::Yes }
    }
}

/// A trace cannot be played on.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// There is no prompt.
    #[error("turn {turn}, {policy:?}: {error}")]
    Assemble {
        /// The turn, counted from 1.
        turn: u64,
        /// The policy.
        policy: PolicyName,
        /// Why.
        error: AssembleError,
    },
    /// A prompt breaks a promise. This is a fault of Strata.
    #[error("turn {turn}, {policy:?}: {}", list(broken))]
    BrokenPromise {
        /// The turn, counted from 1.
        turn: u64,
        /// The policy.
        policy: PolicyName,
        /// The promises.
        broken: Vec<BrokenPromise>,
    },
}

/// The first few: what breaks one promise often breaks the same one for many files.
fn list(broken: &[BrokenPromise]) -> String {
    const SHOWN: usize = 3;
    let mut all: Vec<String> = broken.iter().take(SHOWN).map(ToString::to_string).collect();
    if broken.len() > SHOWN {
        all.push(format!("and {} more", broken.len() - SHOWN));
    }
    all.join("; ")
}

impl Runner {
    /// A new session under a policy. `flat` stands for all layouts that keep no memory.
    pub fn new(policy: PolicyName, prices: Prices) -> Self {
        let providers = match policy {
            PolicyName::Flat => {
                Baseline::ALL.map(|baseline| (Column::of(baseline), baseline, Provider::new(prices))).into()
            }
            PolicyName::Ripple | PolicyName::Ledger => Vec::new(),
        };
        Self { policy, session: Session::new("replay"), provider: Provider::new(prices), providers }
    }

    /// What lays its prompts out.
    pub fn policy(&self) -> PolicyName {
        self.policy
    }

    /// The session as it is.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The session, to be changed between turns.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Plays a turn of `scenario` at the time `now_ms`. `clock` says how late it is, in nanoseconds.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub fn play(
        &mut self,
        scenario: &Scenario<'_>,
        now_ms: u64,
        means: PromptServices<'_>,
        clock: &dyn Fn() -> u64,
    ) -> Result<Option<Play>, ReplayError> {
        let Some(turn) = scenario.turn() else { return Ok(None) };
        let mut selection = self.session.selection.clone();
        scenario.select_in(&mut selection);
        if selection != self.session.selection {
            self.session.selection = selection;
            self.session.touch();
        }
        let format = Some(format_of(means));
        let ask = PromptRequest {
            policy: Some(self.policy),
            format,
            now_ms,
            ..PromptRequest::prompt(turn.prompt.clone())
        };
        self.play_ask(scenario, &ask, vec![ContentBlock::text(turn.answer.clone())], means, clock).map(Some)
    }

    /// Plays a turn that asks something else than the trace does.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub fn play_ask(
        &mut self,
        scenario: &Scenario<'_>,
        ask: &PromptRequest,
        answer: Vec<ContentBlock>,
        means: PromptServices<'_>,
        clock: &dyn Fn() -> u64,
    ) -> Result<Play, ReplayError> {
        let number = self.session.breaks().turns() + 1;
        let fail = |error| ReplayError::Assemble { turn: number, policy: self.policy, error };
        let (prepared, nanos, mut broken) =
            scenario.with_workspace(&self.session.selection, |workspace| {
                let started = clock();
                let prepared = assemble(workspace, &self.session, ask, means).map_err(fail)?;
                let nanos = clock() - started;
                let again = assemble(workspace, &self.session, ask, means).map_err(fail)?;
                let mut broken = verify(&prepared, &self.session, ask, workspace, means);
                if again.reply.body != prepared.reply.body {
                    broken.push(BrokenPromise::NotDeterministic);
                }
                Ok((prepared, nanos, broken))
            })?;
        let spans = &prepared.sent.spans;
        let charged = self.provider.charge(spans, ask.now_ms).unwrap_or_default();
        let predicted = prepared.reply.predicted;
        if charged != predicted {
            broken.push(BrokenPromise::Predicted { predicted, charged });
        }
        if !broken.is_empty() {
            return Err(ReplayError::BrokenPromise { turn: number, policy: self.policy, broken });
        }
        let charges = self.charges(&prepared, ask.now_ms);
        let play = Play {
            charges,
            nanos,
            members: prepared.members.clone(),
            said: said(&prepared.layout),
            cut_short: CutShort::of(&prepared, means),
        };
        let usage = Usage {
            input: charged.plain as u64,
            output: 0,
            cache_read: charged.read as u64,
            cache_write: charged.written as u64,
        };
        let reply = self.session.keep(prepared);
        let outcome = Outcome { status: Status::Complete, answer, usage: Some(usage), time_ms: ask.now_ms };
        // The prompt was kept a moment ago.
        let _ = self.session.record(reply.id.as_deref().unwrap_or_default(), outcome);
        Ok(play)
    }

    fn charges(&mut self, prepared: &Prepared, now_ms: u64) -> Vec<(Column, Charge)> {
        let own = match self.policy {
            PolicyName::Flat => None,
            PolicyName::Ripple => Some(Column::Ripple),
            PolicyName::Ledger => Some(Column::Ledger),
        };
        let own = own.map(|column| (column, prepared.reply.predicted));
        let others = self.providers.iter_mut().map(|(column, baseline, provider)| {
            let spans = baseline.lay(&prepared.layout, provider.prices().kind, 0);
            (*column, provider.charge(&spans, now_ms).unwrap_or_default())
        });
        own.into_iter().chain(others).collect()
    }
}

/// The form that the model's own provider takes: its rules are those that are charged by.
pub(super) fn format_of(means: PromptServices<'_>) -> Format {
    Format::of(&means.models.resolve(&means.settings.model).model)
}

fn said(layout: &Layout) -> Vec<(String, usize)> {
    let mut said = Vec::new();
    let mut request = 0;
    for block in layout.blocks() {
        let name = match block.part {
            Part::System => "system".to_owned(),
            Part::History | Part::Prompt => {
                request += 1;
                format!("said:{request}")
            }
            _ => continue,
        };
        said.push((name, block.tokens));
    }
    said
}
