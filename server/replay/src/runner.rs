//! One session under one policy: assemble, charge, check, record, as an editor does.

use std::collections::BTreeMap;
use std::time::Instant;

use strata_engine::code::symbols::MapMember;
use strata_engine::conversation::dialect::Format;
use strata_engine::conversation::history::ContentBlock;
use strata_engine::prompt::assembly::{
    AssembleError, PreparedPrompt, PromptRequest, PromptServices, WarningCode, assemble,
};
use strata_engine::prompt::layout::{Layout, Part};
use strata_engine::prompt::session::{Outcome, Session, Status};
use strata_engine::prompt::tiers::PolicyName;
use strata_engine::tokens::cost::{Charge, Prices, Provider, Usage};

use crate::columns::{Column, ColumnTotals};
use crate::gap::ChargedPrompt;
use crate::promises::{BrokenPromise, broken_promises, has_whole_map};
use crate::scenario::Scenario;

/// A session under a policy, with the providers that its prompts go to.
pub struct Runner {
    pub policy: PolicyName,
    /// May be changed between prompts.
    pub session: Session,
    /// Receives the session's own prompts; independent of the session's own account.
    provider: Provider,
    /// Providers of the same prompts in other layouts.
    baselines: Vec<(Column, Provider)>,
}

#[derive(Clone, Debug)]
pub struct PromptStats {
    /// The cost in each column that the runner covers.
    pub(crate) charges: Vec<(Column, Charge)>,
    pub(crate) nanos: u64,
    pub(crate) members: Vec<MapMember>,
    /// System prompt and messages, named, with their tokens: what every layout needs.
    pub(crate) message_tokens: Vec<(String, usize)>,
    /// What the prompt consists of and what it cost.
    pub(crate) charged: ChargedPrompt,
    /// Whether something had to be left out to fit the window: figures of such prompts do not compare.
    pub(crate) cut_short: bool,
}

/// The results of a session's prompts under several policies.
#[derive(Default)]
pub(crate) struct SessionTotals {
    /// Turns that were played under all policies.
    pub(crate) turns: usize,
    /// Prompts of those.
    pub(crate) prompts: usize,
    pub(crate) columns: BTreeMap<Column, ColumnTotals>,
    pub(crate) cut_short: usize,
    /// Why the session was not played to its end.
    pub(crate) problem: Option<String>,
}

impl SessionTotals {
    /// Plays a turn under each policy, up to an error. Returns whether the session continues.
    pub(crate) fn play_turn(
        &mut self,
        runners: &mut [Runner],
        turn_done: &dyn Fn(),
        mut play: impl FnMut(&mut Runner) -> Result<PromptStats, ReplayError>,
    ) -> bool {
        for runner in &mut *runners {
            match play(runner) {
                Ok(prompt) => {
                    for (column, charge) in prompt.charges {
                        self.columns.entry(column).or_default().add(charge, prompt.nanos);
                    }
                    self.cut_short += usize::from(prompt.cut_short);
                }
                Err(error) => {
                    self.problem = Some(error.to_string());
                    return false;
                }
            }
        }
        self.turns += 1;
        self.prompts += runners.len();
        turn_done();
        true
    }
}

/// A session cannot be played on.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("turn {turn}, {policy:?}: {error}")]
    Assemble {
        /// Counted from 1.
        turn: u64,
        policy: PolicyName,
        error: AssembleError,
    },
    /// A prompt breaks a promise. This is a fault of Strata.
    #[error("turn {turn}, {policy:?}: {}", list(broken))]
    Broken {
        /// Counted from 1.
        turn: u64,
        policy: PolicyName,
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
    /// A new session under a policy. `flat` represents all stateless layouts.
    pub fn new(policy: PolicyName, prices: Prices) -> Self {
        let baselines: &[Column] = match policy {
            PolicyName::Flat => &Column::BASELINES,
            PolicyName::Ripple | PolicyName::Ledger => &[],
        };
        let baselines = baselines.iter().map(|column| (*column, Provider::new(prices))).collect();
        Self { policy, session: Session::new("replay"), provider: Provider::new(prices), baselines }
    }

    /// Makes the prompt that `request` asks for in the repository of `scenario`, charges and checks it, and records `answer`.
    pub fn play(
        &mut self,
        scenario: &Scenario<'_>,
        request: &PromptRequest,
        answer: Vec<ContentBlock>,
        services: PromptServices<'_>,
    ) -> Result<PromptStats, ReplayError> {
        let number = self.session.breaks.turn + 1;
        let fail = |error| ReplayError::Assemble { turn: number, policy: self.policy, error };
        let (prepared, nanos, mut broken) =
            scenario.with_workspace(&self.session, request, services, |workspace| {
                let started = Instant::now();
                let prepared = assemble(workspace, &self.session, request, services).map_err(fail)?;
                let nanos = nanos_since(started);
                let again = assemble(workspace, &self.session, request, services).map_err(fail)?;
                let mut broken = broken_promises(&prepared, &self.session, request, workspace, services);
                if again.reply.body != prepared.reply.body {
                    broken.push(BrokenPromise::NotDeterministic);
                }
                Ok((prepared, nanos, broken))
            })?;
        let charged = self.provider.charge(&prepared.sent.spans, request.now_ms).unwrap_or_default();
        let predicted = prepared.reply.predicted;
        if charged != predicted {
            broken.push(BrokenPromise::Predicted { predicted, charged });
        }
        if !broken.is_empty() {
            return Err(ReplayError::Broken { turn: number, policy: self.policy, broken });
        }
        let stats = PromptStats {
            charges: self.charges(&prepared, request.now_ms),
            nanos,
            members: prepared.members.clone(),
            message_tokens: message_tokens(&prepared.layout),
            charged: ChargedPrompt::of(&prepared, charged, &self.session.selection),
            cut_short: is_cut_short(&prepared, services),
        };
        let usage = Usage {
            input: charged.plain as u64,
            output: 0,
            cache_read: charged.read as u64,
            cache_write: charged.written as u64,
        };
        let reply = self.session.keep(prepared);
        let outcome = Outcome {
            error: None,
            status: Status::Complete,
            answer,
            usage: Some(usage),
            time_ms: request.now_ms,
        };
        // The prompt was kept a moment ago.
        let _ = self.session.record(reply.id.as_deref().unwrap_or_default(), outcome);
        Ok(stats)
    }

    fn charges(&mut self, prepared: &PreparedPrompt, now_ms: u64) -> Vec<(Column, Charge)> {
        let own = match self.policy {
            PolicyName::Flat => None,
            PolicyName::Ripple => Some(Column::Ripple),
            PolicyName::Ledger => Some(Column::Ledger),
        };
        let own = own.map(|column| (column, prepared.reply.predicted));
        let baselines = self.baselines.iter_mut().map(|(column, provider)| {
            let spans = column.spans(&prepared.layout, provider.prices.kind, 0);
            (*column, provider.charge(&spans, now_ms).unwrap_or_default())
        });
        own.into_iter().chain(baselines).collect()
    }
}

/// The prices of the configured model.
pub(crate) fn prices_of(services: PromptServices<'_>) -> Prices {
    let settings = services.settings;
    Prices::of(&services.models.resolve(&settings.model).model, settings.cache.ttl)
}

/// The format of the model's own provider, whose rules determine the cost.
pub(crate) fn format_of(services: PromptServices<'_>) -> Format {
    Format::of(&services.models.resolve(&services.settings.model).model)
}

pub(crate) fn nanos_since(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn is_cut_short(prepared: &PreparedPrompt, services: PromptServices<'_>) -> bool {
    let mut codes = prepared.reply.warnings.iter().map(|warning| warning.code);
    // Nothing is left out for want of knowledge of a model.
    !codes.all(|code| code == WarningCode::UnknownModel) || !has_whole_map(prepared, services)
}

fn message_tokens(layout: &Layout) -> Vec<(String, usize)> {
    let mut named = Vec::new();
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
        named.push((name, block.tokens));
    }
    named
}
