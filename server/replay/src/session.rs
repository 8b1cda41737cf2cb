//! Plays a trace under several policies.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;
use strata_engine::code::outline::language_of;
use strata_engine::conversation::history::ContentBlock;
use strata_engine::conversation::trace::{Trace, TraceTurn};
use strata_engine::key::FileKey;
use strata_engine::prompt::assembly::{PromptRequest, PromptServices};
use strata_engine::prompt::diff::changed_lines;
use strata_engine::prompt::session::Session;
use strata_engine::prompt::settings::Settings;
use strata_engine::prompt::tiers::PolicyName;

use crate::bound::Bound;
use crate::columns::{Column, ColumnStats, share};
use crate::gap::{ChargedPrompt, Gap};
use crate::runner::{PromptStats, ReplayError, Runner, SessionTotals, format_of, prices_of};
use crate::scenario::{PromptParts, Scenario};

/// Time between two prompts of a replay, in milliseconds. Cache entries with a lifetime of five minutes survive it.
pub(crate) const PAUSE_MS: u64 = 60_000;

/// Results of replaying one session in a repository.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionStats {
    pub name: String,
    /// How files are selected: `win3` selects those of the turn and the three turns before it, `grow` those of all
    /// turns so far.
    pub selection: String,
    pub turns: usize,
    pub columns: BTreeMap<Column, ColumnStats>,
    /// Lower bound on the cost of any layout, relative to the cost without a cache.
    pub bound: f64,
    /// Why `ledger` costs more than the bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
    /// Results with the file list and the session state in the prompts.
    pub everything: Option<Everything>,
    /// Results with excerpts in the prompts; absent without a budget for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpts: Option<WithExcerpts>,
    /// Number of prompts that omitted something to fit into the window.
    pub cut_short: usize,
    /// Why the session was not played to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(skip)]
    pub prompts: usize,
}

/// The results of playing a session.
struct Played {
    totals: SessionTotals,
    bound: Bound<String>,
    /// The prompts of `ledger`.
    prompts: Vec<ChargedPrompt>,
}

/// Results of `ledger` with excerpts in its prompts.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WithExcerpts {
    /// Maximum tokens of code that a question adds.
    pub budget: usize,
    /// Results relative to the same prompts without a cache.
    pub ledger: ColumnStats,
    /// Input cost relative to the cost without excerpts.
    pub ratio: f64,
    /// Share of the changed ranges that excerpts show in full when no file is selected.
    pub changes_shown: f64,
}

/// Results of `ledger` with all parts that an editor's prompts have.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Everything {
    /// Results relative to the same prompts without a cache.
    pub ledger: ColumnStats,
}

impl SessionStats {
    /// Plays `trace` under `policies`, and under `flat`, which is the reference for all results.
    pub(crate) fn of(
        trace: &Trace,
        policies: &[PolicyName],
        services: PromptServices<'_>,
        turn_done: &dyn Fn(),
    ) -> Self {
        let Played { totals, bound, prompts } =
            play(trace, PromptParts::Table, 0, policies, services, turn_done);
        let none = totals.columns.get(&Column::None).map_or(0.0, |totals| totals.cost);
        let mut stats = Self {
            name: trace.name.clone(),
            selection: trace.sel.to_string(),
            turns: totals.turns,
            columns: ColumnStats::of_each(&totals.columns),
            bound: share(bound.total(), none),
            gap: (!prompts.is_empty())
                .then(|| Gap::of(&prompts, &bound, prices_of(services)).relative_to(none)),
            everything: None,
            excerpts: None,
            cut_short: totals.cut_short,
            problem: totals
                .problem
                .or_else(|| (totals.turns == 0).then(|| "the session has no turns".to_owned())),
            prompts: totals.prompts,
        };
        if policies.contains(&PolicyName::Ledger) {
            let ledger = &[PolicyName::Ledger];
            let Played { totals, .. } = play(trace, PromptParts::Everything, 0, ledger, services, turn_done);
            let ledger = ColumnStats::of_each(&totals.columns).remove(&Column::Ledger);
            stats.everything = ledger.map(|ledger| Everything { ledger });
            stats.cut_short += totals.cut_short;
            stats.prompts += totals.prompts;
            let problem = totals.problem.map(|problem| format!("with everything: {problem}"));
            stats.problem = stats.problem.or(problem);
        }
        stats.play_with_excerpts(trace, policies, services, turn_done);
        stats
    }

    /// Plays the session again with excerpts, if the settings have a budget for them.
    fn play_with_excerpts(
        &mut self,
        trace: &Trace,
        policies: &[PolicyName],
        services: PromptServices<'_>,
        turn_done: &dyn Fn(),
    ) {
        let budget = services.settings.context.auto_budget;
        if budget == 0 || !policies.contains(&PolicyName::Ledger) {
            return;
        }
        let ledger = &[PolicyName::Ledger];
        let Played { totals, .. } = play(trace, PromptParts::Table, budget, ledger, services, turn_done);
        let ledger = ColumnStats::of_each(&totals.columns).remove(&Column::Ledger);
        let without = self.columns.get(&Column::Ledger).map(|column| column.totals.cost);
        let changes_shown = changes_shown(trace, budget, services, turn_done);
        self.excerpts = ledger.zip(without).map(|(ledger, without)| {
            let ratio = ledger.totals.cost / without.max(f64::MIN_POSITIVE);
            WithExcerpts { budget, ledger, ratio, changes_shown }
        });
        self.cut_short += totals.cut_short;
        self.prompts += totals.prompts;
        let problem = totals.problem.map(|problem| format!("with excerpts: {problem}"));
        self.problem = self.problem.take().or(problem);
    }

    /// Returns the number of calls to `turn_done` for a trace that is played without errors.
    pub(crate) fn turns_to_play(trace: &Trace, policies: &[PolicyName], settings: &Settings) -> usize {
        let times = match policies.contains(&PolicyName::Ledger) {
            true => 2 + 2 * usize::from(settings.context.auto_budget > 0),
            false => 1,
        };
        trace.turns.len() * times
    }
}

fn play(
    trace: &Trace,
    parts: PromptParts,
    auto_budget: usize,
    policies: &[PolicyName],
    services: PromptServices<'_>,
    turn_done: &dyn Fn(),
) -> Played {
    let prices = prices_of(services);
    let others = policies.iter().copied().filter(|policy| *policy != PolicyName::Flat);
    let all = std::iter::once(PolicyName::Flat).chain(others);
    let mut runners: Vec<Runner> = all.map(|policy| Runner::new(policy, prices)).collect();
    let mut scenario = Scenario::new(trace, parts);
    let mut bound = Bound::new(prices);
    let mut totals = SessionTotals::default();
    let mut prompts = Vec::new();
    while let Some(turn) = scenario.turn() {
        let now_ms = totals.turns as u64 * PAUSE_MS;
        let goes_on = totals.play_turn(&mut runners, turn_done, |runner| {
            let prompt = play_turn(runner, turn, &scenario, (now_ms, auto_budget), services)?;
            if runner.policy == PolicyName::Flat {
                scenario.add_needs(&mut bound, &prompt.members, &prompt.message_tokens, services);
            }
            if runner.policy == PolicyName::Ledger {
                prompts.push(prompt.charged.clone());
            }
            Ok(prompt)
        });
        if !goes_on {
            break;
        }
        scenario.advance();
    }
    Played { totals, bound, prompts }
}

/// Returns the share of the ranges changed in answers that the preceding prompt shows in full in its excerpts.
/// Only source files other than tests count. The session selects no file, so excerpts are the only code in the
/// prompt.
fn changes_shown(
    trace: &Trace,
    auto_budget: usize,
    services: PromptServices<'_>,
    turn_done: &dyn Fn(),
) -> f64 {
    let mut runner = Runner::new(PolicyName::Ledger, prices_of(services));
    let mut scenario = Scenario::new(trace, PromptParts::NothingSelected);
    let (mut changes, mut shown) = (0_usize, 0_usize);
    for number in 0_u64.. {
        let Some(turn) = scenario.turn() else { break };
        if play_turn(&mut runner, turn, &scenario, (number * PAUSE_MS, auto_budget), services).is_err() {
            break;
        }
        for (path, text) in &turn.edits {
            let key = FileKey::from(path.as_str());
            let is_source = language_of(&key, "")
                .is_some_and(|language| !language.is_document() && !language.is_test_file(path));
            let (Some(before), Some(after), true) = (scenario.files.get(&key), text, is_source) else {
                continue;
            };
            let places = changed_lines(before, after);
            changes += places.len();
            shown += places.iter().filter(|place| is_shown(&runner.session, &key, place)).count();
        }
        scenario.advance();
        turn_done();
    }
    share(shown as f64, changes as f64)
}

/// Whether the excerpts of the last prompt show every line of a range.
fn is_shown(session: &Session, key: &FileKey, place: &Range<usize>) -> bool {
    let holds = |lines: &Range<u32>, line: usize| (lines.start as usize..lines.end as usize).contains(&line);
    let mut place = place.clone();
    place.all(|line| session.excerpts.shown_lines().any(|(file, lines)| file == key && holds(lines, line)))
}

fn play_turn(
    runner: &mut Runner,
    turn: &TraceTurn,
    scenario: &Scenario<'_>,
    (now_ms, auto_budget): (u64, usize),
    services: PromptServices<'_>,
) -> Result<PromptStats, ReplayError> {
    let session = &mut runner.session;
    let mut selection = session.selection.clone();
    scenario.apply_selection(&mut selection);
    if selection != session.selection {
        session.selection = selection;
        session.touch();
    }
    let (policy, format) = (Some(runner.policy), Some(format_of(services)));
    let auto_budget = Some(auto_budget);
    let request =
        PromptRequest { policy, format, now_ms, auto_budget, ..PromptRequest::prompt(turn.prompt.clone()) };
    runner.play(scenario, &request, vec![ContentBlock::text(turn.answer.clone())], services)
}
