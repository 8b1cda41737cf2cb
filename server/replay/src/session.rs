//! Plays a trace under several policies.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;
use strata_base::key::FileKey;
use strata_code::outline::language_of;
use strata_conversation::history::{
    ContentBlock, NewMessage, ResultPart, Role, TextOrList, ToolOutcome as CallOutcome,
};
use strata_conversation::providers::Format;
use strata_conversation::trace::{Trace, TraceTurn};
use strata_prompt::assembly::{PromptRequest, PromptServices, Request, ToolResult};
use strata_prompt::diff::changed_lines;
use strata_prompt::session::Session;
use strata_prompt::settings::Settings;
use strata_prompt::tiers::PolicyName;
use strata_tokens::cost::Prices;
use strata_tokens::models::Model;

use crate::bound::CostBound;
use crate::columns::{ColumnStats, LayoutColumn, share};
use crate::gap::{ChargedPrompt, CostGap};
use crate::runner::{PromptStats, ReplayError, Runner, SessionTotals, model_prices, provider_format};
use crate::scenario::{IncludedParts, Scenario};
use crate::varied::{PlayedSession, TurnConditions};

/// Results of replaying one session in a repository.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionStats {
    pub name: String,
    /// How files are selected: `win3` selects those of the turn and the three turns before it, `grow` those of all
    /// turns so far, and `people` selects files as people do.
    pub selection: String,
    pub turns: usize,
    pub columns: BTreeMap<LayoutColumn, ColumnStats>,
    /// Lower bound on the cost of any layout, relative to the cost without a cache.
    pub bound: f64,
    /// Why `ledger` costs more than the bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<CostGap>,
    /// Results with the file list and the session state in the prompts.
    pub everything: Option<FullPromptStats>,
    /// Results with excerpts in the prompts; absent without a budget for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpts: Option<ExcerptStats>,
    /// Number of prompts that omitted something to fit into the window.
    pub cut_short: usize,
    /// Why the session was not played to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(skip)]
    pub prompts: usize,
}

/// The results of playing a session.
struct PlayOutcome {
    totals: SessionTotals,
    bound: CostBound<String>,
    /// The prompts of `ledger`.
    prompts: Vec<ChargedPrompt>,
}

/// Results of the default layout policy, `ledger`, if Strata adds relevant code (excerpts) to the prompts.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExcerptStats {
    /// Token limit for code that a question adds.
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
pub(crate) struct FullPromptStats {
    /// Results relative to the same prompts without a cache.
    pub ledger: ColumnStats,
}

impl SessionStats {
    /// Plays `session` under `policies`, and under `flat`, which is the reference for all results.
    pub(crate) fn play(
        session: &PlayedSession<'_>,
        policies: &[PolicyName],
        services: PromptServices<'_>,
        turn_done: &dyn Fn(),
    ) -> Self {
        let PlayOutcome { totals, bound, prompts } =
            play(session, IncludedParts::Table, 0, policies, services, turn_done);
        let none = totals.columns.get(&LayoutColumn::None).map_or(0.0, |totals| totals.cost);
        let mut stats = Self {
            name: session.trace.name.clone(),
            selection: session.selection.clone(),
            turns: totals.turns,
            columns: ColumnStats::from_totals(&totals.columns),
            bound: share(bound.total(), none),
            gap: (!prompts.is_empty() && !session.is_varied())
                .then(|| CostGap::between(&prompts, &bound, model_prices(services)).into_share_of(none)),
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
            let PlayOutcome { totals, .. } =
                play(session, IncludedParts::Everything, 0, ledger, services, turn_done);
            let ledger = ColumnStats::from_totals(&totals.columns).remove(&LayoutColumn::Ledger);
            stats.everything = ledger.map(|ledger| FullPromptStats { ledger });
            stats.cut_short += totals.cut_short;
            stats.prompts += totals.prompts;
            let problem = totals.problem.map(|problem| format!("with everything: {problem}"));
            stats.problem = stats.problem.or(problem);
        }
        stats.play_with_excerpts(session, policies, services, turn_done);
        stats
    }

    /// Plays the session again with excerpts, if the settings have a budget for them.
    fn play_with_excerpts(
        &mut self,
        session: &PlayedSession<'_>,
        policies: &[PolicyName],
        services: PromptServices<'_>,
        turn_done: &dyn Fn(),
    ) {
        let budget = services.settings.context.auto_budget;
        if budget == 0 || !policies.contains(&PolicyName::Ledger) {
            return;
        }
        let ledger = &[PolicyName::Ledger];
        let PlayOutcome { totals, .. } =
            play(session, IncludedParts::Table, budget, ledger, services, turn_done);
        let ledger = ColumnStats::from_totals(&totals.columns).remove(&LayoutColumn::Ledger);
        let without = self.columns.get(&LayoutColumn::Ledger).map(|column| column.totals.cost);
        let changes_shown = excerpt_recall(session, budget, services, turn_done);
        self.excerpts = ledger.zip(without).map(|(ledger, without)| {
            let ratio = ledger.totals.cost / without.max(f64::MIN_POSITIVE);
            ExcerptStats { budget, ledger, ratio, changes_shown }
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
    session: &PlayedSession<'_>,
    parts: IncludedParts,
    auto_budget: usize,
    policies: &[PolicyName],
    services: PromptServices<'_>,
    turn_done: &dyn Fn(),
) -> PlayOutcome {
    let prices = model_prices(services);
    let others = policies.iter().copied().filter(|policy| *policy != PolicyName::Flat);
    let all = std::iter::once(PolicyName::Flat).chain(others);
    let mut runners: Vec<Runner> = all.map(|policy| Runner::new(policy, prices)).collect();
    let mut scenario = Scenario::new(&session.trace, parts);
    let mut time = PromptSchedule::new(services);
    let mut bound = CostBound::new(prices);
    let lifetime_s = prices.extended.map_or(prices.seconds, |extended| extended.seconds);
    let mut totals = SessionTotals::default();
    let mut prompts = Vec::new();
    while let Some(turn) = scenario.current_turn() {
        let conditions = session.conditions(totals.turns);
        if time.begin_turn(conditions, totals.turns) > u64::from(lifetime_s) * 1_000 || time.is_new_model {
            bound.expire_cache();
        }
        let goes_on = totals.play_turn(&mut runners, turn_done, |runner| {
            let prompt = play_turn(runner, turn, &scenario, (&time, conditions, auto_budget), services)?;
            if runner.policy == PolicyName::Flat {
                scenario.add_turn_needs(&mut bound, &prompt.members, &prompt.message_tokens, services);
            }
            if runner.policy == PolicyName::Ledger {
                prompts.push(prompt.charged.clone());
            }
            Ok(prompt)
        });
        if !goes_on {
            break;
        }
        scenario.advance_turn();
    }
    PlayOutcome { totals, bound, prompts }
}

/// Returns the share of the ranges changed in answers that the preceding prompt shows in full in its excerpts.
/// Only source files other than tests count. The session selects no file, so excerpts are the only code in the
/// prompt.
fn excerpt_recall(
    session: &PlayedSession<'_>,
    auto_budget: usize,
    services: PromptServices<'_>,
    turn_done: &dyn Fn(),
) -> f64 {
    let mut runner = Runner::new(PolicyName::Ledger, model_prices(services));
    let mut scenario = Scenario::new(&session.trace, IncludedParts::NothingSelected);
    let mut time = PromptSchedule::new(services);
    let (mut changes, mut shown) = (0_usize, 0_usize);
    for number in 0.. {
        let Some(turn) = scenario.current_turn() else { break };
        let conditions = session.conditions(number);
        time.begin_turn(conditions, number);
        if play_turn(&mut runner, turn, &scenario, (&time, conditions, auto_budget), services).is_err() {
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
        scenario.advance_turn();
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

/// The time of the next prompt, and the model that it goes to.
struct PromptSchedule {
    now_ms: u64,
    turn: usize,
    /// A model that costs, counts and limits like the configured one, if there is one.
    second_model: Option<String>,
    is_for_second_model: bool,
    is_new_model: bool,
}

impl PromptSchedule {
    fn new(services: PromptServices<'_>) -> Self {
        let Settings { model, cache, .. } = services.settings;
        let first = services.models.resolve(model).model;
        let is_like = |other: &Model| {
            other.id != first.id
                && (other.tokenizer, other.max_input) == (first.tokenizer, first.max_input)
                && Prices::for_model(other, cache.ttl) == Prices::for_model(&first, cache.ttl)
                && Format::for_model(other) == Format::for_model(&first)
        };
        let second_model = services.models.iter().find(|model| is_like(model)).map(|model| model.id.clone());
        Self { now_ms: 0, turn: 0, second_model, is_for_second_model: false, is_new_model: false }
    }

    /// Moves on to a turn. Returns the time since the one before, in milliseconds.
    fn begin_turn(&mut self, conditions: &TurnConditions, turn: usize) -> u64 {
        let pause_ms = if turn == 0 { 0 } else { conditions.pause_ms };
        let is_for_second_model = conditions.is_for_second_model && self.second_model.is_some();
        self.is_new_model = is_for_second_model != self.is_for_second_model;
        (self.turn, self.is_for_second_model) = (turn, is_for_second_model);
        self.now_ms += pause_ms;
        pause_ms
    }
}

fn play_turn(
    runner: &mut Runner,
    turn: &TraceTurn,
    scenario: &Scenario<'_>,
    (time, conditions, auto_budget): (&PromptSchedule, &TurnConditions, usize),
    services: PromptServices<'_>,
) -> Result<PromptStats, ReplayError> {
    let session = &mut runner.session;
    let mut selection = session.selection.clone();
    scenario.apply_selection(&mut selection);
    if selection != session.selection {
        session.selection = selection;
        session.mark_changed();
    }
    if conditions.is_compacted {
        compact_to_first_lines(session);
    }
    let open_call = session.history.visible_messages().last().and_then(|message| {
        message.body.content.iter().find_map(|block| match block {
            ContentBlock::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        })
    });
    let request = match open_call {
        Some(call_id) => {
            let content = vec![ResultPart::Text { text: turn.prompt.clone() }];
            Request::ToolResults(vec![ToolResult {
                call_id,
                content: TextOrList(content),
                outcome: CallOutcome::Ok,
            }])
        }
        None => Request::Prompt { text: turn.prompt.clone(), images: Vec::new() },
    };
    let request = PromptRequest {
        policy: Some(runner.policy),
        format: Some(provider_format(services)),
        model: time.second_model.clone().filter(|_| time.is_for_second_model),
        now_ms: time.now_ms,
        auto_budget: Some(auto_budget),
        ..PromptRequest::new(request)
    };
    let text = Some(&turn.answer).filter(|text| !text.is_empty());
    let call = conditions.call.clone().map(|input| ContentBlock::ToolCall {
        id: format!("call_{}", time.turn),
        name: "tool".to_owned(),
        input,
    });
    let answer = text.map(|text| ContentBlock::text(text.clone())).into_iter().chain(call).collect();
    runner.play(scenario, &request, answer, services)
}

/// Replaces all exchanges except the last with a summary, which has the first line of each text.
fn compact_to_first_lines(session: &mut Session) {
    let messages: Vec<NewMessage> =
        session.history.visible_messages().map(|message| message.body.clone()).collect();
    let is_prompt = |message: &NewMessage| {
        message.role == Role::User && !message.content.iter().any(ContentBlock::is_tool_result)
    };
    let kept = messages.iter().rposition(is_prompt).unwrap_or_default();
    let older = messages.get(..kept).unwrap_or_default();
    let lines = older.iter().flat_map(|message| message.content.iter()).filter_map(|block| match block {
        ContentBlock::Text { text } => text.lines().next(),
        _ => None,
    });
    let summary = format!("What was done so far:\n{}", lines.collect::<Vec<_>>().join("\n"));
    let begun = [NewMessage::text(Role::User, summary), NewMessage::text(Role::Assistant, "Understood.")];
    let newest = messages.get(kept..).unwrap_or_default().to_vec();
    session.set_history(begun.into_iter().chain(newest));
}
