//! Runs one session under one policy: assembles, charges, checks and records each prompt, as an editor would.

use std::collections::BTreeMap;
use std::time::Instant;

use strata_code::symbols::MapMember;
use strata_conversation::history::ContentBlock;
use strata_conversation::providers::Format;
use strata_prompt::assembly::{
    AssembleError, PreparedPrompt, PromptRequest, PromptServices, WarningCode, assemble,
};
use strata_prompt::layout::{Layout, Part};
use strata_prompt::session::{RequestOutcome, RequestStatus, Session};
use strata_prompt::tiers::PolicyName;
use strata_tokens::cost::{Charge, Prices, SimulatedProvider, Usage};

use crate::columns::{ColumnTotals, LayoutColumn};
use crate::gap::ChargedPrompt;
use crate::promises::{BrokenPromise, broken_promises, has_whole_map};
use crate::scenario::Scenario;

/// A session under a policy, with simulated providers for its prompts.
pub(crate) struct Runner {
    pub(crate) policy: PolicyName,
    /// The session, which may be changed between prompts.
    pub(crate) session: Session,
    /// Simulated provider for the session's prompts. Does not use the session's own estimate of the cache.
    provider: SimulatedProvider,
    /// Simulated providers, one for each baseline layout. Each computes what the session's prompts cost in its layout.
    /// Only for the policy `flat`.
    baselines: Vec<(LayoutColumn, SimulatedProvider)>,
    /// Model that the last request named.
    model: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct PromptStats {
    /// Charge in each column that the runner covers.
    pub(crate) charges: Vec<(LayoutColumn, Charge)>,
    pub(crate) nanos: u64,
    pub(crate) members: Vec<MapMember>,
    /// Names and tokens of the system prompt and the messages, which every layout needs.
    pub(crate) message_tokens: Vec<(String, usize)>,
    /// Contents and cost of the prompt.
    pub(crate) charged: ChargedPrompt,
    /// Whether something was omitted to fit into the window. The figures of such prompts are not comparable.
    pub(crate) cut_short: bool,
}

/// Totals of a session's prompts under several policies.
#[derive(Default)]
pub(crate) struct SessionTotals {
    /// Number of turns played under all policies.
    pub(crate) turns: usize,
    /// Number of prompts in all turns played.
    pub(crate) prompts: usize,
    pub(crate) columns: BTreeMap<LayoutColumn, ColumnTotals>,
    pub(crate) cut_short: usize,
    /// Why the session was not played to its end.
    pub(crate) problem: Option<String>,
}

impl SessionTotals {
    /// Plays a turn under each policy until one fails. Returns whether the session continues.
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

/// Why a session cannot be played to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error("turn {turn}, {policy:?}: {error}")]
    Assemble {
        /// One-based number of the turn.
        turn: u64,
        policy: PolicyName,
        error: AssembleError,
    },
    /// A prompt breaks a promise. This is a bug in Strata.
    #[error("turn {turn}, {policy:?}: {}", format_broken_promises(broken))]
    Broken {
        /// One-based number of the turn.
        turn: u64,
        policy: PolicyName,
        broken: Vec<BrokenPromise>,
    },
}

/// Formats only the first broken promises, because a single cause often breaks the same promise for many files.
fn format_broken_promises(broken: &[BrokenPromise]) -> String {
    const SHOWN: usize = 3;
    let mut all: Vec<String> = broken.iter().take(SHOWN).map(ToString::to_string).collect();
    if broken.len() > SHOWN {
        all.push(format!("and {} more", broken.len() - SHOWN));
    }
    all.join("; ")
}

impl Runner {
    /// Creates a session under a policy. `flat` represents all stateless layouts.
    pub(crate) fn new(policy: PolicyName, prices: Prices) -> Self {
        let baselines: &[LayoutColumn] = match policy {
            PolicyName::Flat => &LayoutColumn::BASELINES,
            PolicyName::Ripple | PolicyName::Ledger => &[],
        };
        let baselines = baselines.iter().map(|column| (*column, SimulatedProvider::new(prices))).collect();
        let (session, provider) = (Session::new("replay"), SimulatedProvider::new(prices));
        Self { policy, session, provider, baselines, model: None }
    }

    /// Assembles the prompt that `request` asks for in the repository of `scenario`, charges and checks it, and records
    /// `answer`.
    pub(crate) fn play(
        &mut self,
        scenario: &Scenario<'_>,
        request: &PromptRequest,
        answer: Vec<ContentBlock>,
        services: PromptServices<'_>,
    ) -> Result<PromptStats, ReplayError> {
        let number = self.session.cache.breaks.turn + 1;
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
        if self.model != request.model {
            // As the engine assumes, another model finds nothing in the cache.
            self.model.clone_from(&request.model);
            let providers = self.baselines.iter_mut().map(|(_, provider)| provider);
            providers
                .chain([&mut self.provider])
                .for_each(|all| *all = SimulatedProvider::new(prepared.sent.prices));
        }
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
            charged: ChargedPrompt::new(&prepared, charged, &self.session.selection),
            cut_short: is_cut_short(&prepared, services),
        };
        let usage = Usage {
            input: charged.plain as u64,
            output: 0,
            cache_read: charged.read as u64,
            cache_write: charged.written as u64,
        };
        let reply = self.session.add_pending_prompt(prepared);
        let outcome = RequestOutcome {
            error: None,
            status: RequestStatus::Complete,
            answer,
            usage: Some(usage),
            time_ms: request.now_ms,
        };
        // The prompt was just stored, so recording it cannot fail.
        let _ = self.session.record(reply.id.as_deref().unwrap_or_default(), outcome);
        Ok(stats)
    }

    fn charges(&mut self, prepared: &PreparedPrompt, now_ms: u64) -> Vec<(LayoutColumn, Charge)> {
        let own = match self.policy {
            PolicyName::Flat => None,
            PolicyName::Ripple => Some(LayoutColumn::Ripple),
            PolicyName::Ledger => Some(LayoutColumn::Ledger),
        };
        let own = own.map(|column| (column, prepared.reply.predicted));
        let baselines = self.baselines.iter_mut().map(|(column, provider)| {
            let spans = column.spans(&prepared.layout, provider.prices.kind, 0);
            (*column, provider.charge(&spans, now_ms).unwrap_or_default())
        });
        own.into_iter().chain(baselines).collect()
    }
}

/// Returns the prices of the configured model.
pub(crate) fn model_prices(services: PromptServices<'_>) -> Prices {
    let settings = services.settings;
    Prices::for_model(&services.models.resolve(&settings.model).model, settings.cache.ttl)
}

/// Returns the format of the model's own provider, whose rules determine the cost.
pub(crate) fn provider_format(services: PromptServices<'_>) -> Format {
    Format::for_model(&services.models.resolve(&services.settings.model).model)
}

pub(crate) fn nanos_since(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn is_cut_short(prepared: &PreparedPrompt, services: PromptServices<'_>) -> bool {
    let mut codes = prepared.reply.warnings.iter().map(|warning| warning.code);
    // An unknown model causes a warning but no omission.
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
