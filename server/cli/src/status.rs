//! `strata status`: shows the size and cost of a stored session, its tiers, and its last cache miss. With `--watch`,
//! continues until stopped. Never writes to the session. Files have the text that they have in an editor, even if it is
//! unsaved.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use strata_app::clock::now_ms;
use strata_app::commands::session::{ListSessions, ListedSession};
use strata_app::commands::tiers::{ExplainBreak, ExplainReply};
use strata_app::commands::{
    BudgetReport, Command, CompactionStatus, ComparedCost, CostComparison, LastTurn, LifetimeCost,
    NoArguments, Reply, Tier, Usage, budget, compaction, tiers,
};
use strata_app::format::{self, visible_json};
use strata_app::model::index::Index;
use strata_app::model::live_view::EditorViewState;
use strata_app::runtime::headless::{HeadlessWorkspace, SessionAccess, SessionSource};

use crate::arguments::StatusArguments;
use crate::failure::Failure;
use crate::gauge::{draw_bar, percentage};
use crate::output::{self, count, pluralize};
use crate::repository;
use crate::usage::format_count;
use strata_app::table::{Align, Table};

/// Interval at which `--watch` checks the files and the list of sessions.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);
/// Age at which the status is read again even if nothing changed, because the provider's cache expires over time.
const MAX_STATUS_AGE: Duration = Duration::from_secs(10);
/// Terminal sequence that clears the screen and moves to its first line (ECMA-48: CUP, ED).
const CLEAR_SCREEN: &str = "\x1b[H\x1b[2J";

/// The state for which the status was last read. The status is read again if the state changes or becomes too old.
struct LastStatus {
    /// The session's entry in the list, which includes the time of its last use.
    session: ListedSession,
    index: Arc<Index>,
    view: EditorViewState,
    when: Instant,
}

pub(crate) fn run(arguments: &StatusArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open_stored(&arguments.repository)?;
    repository::index_with_progress(&mut headless)?;
    if arguments.watch {
        return watch(&mut headless, arguments);
    }
    let session = find_session(&mut headless, arguments.id.as_deref())?;
    let text = render_status(&mut headless, &session, arguments)?;
    if arguments.json {
        output::print_text(&text)?;
    } else {
        output::print_report(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the status at every change until the output is closed.
fn watch(headless: &mut HeadlessWorkspace, arguments: &StatusArguments) -> Result<ExitCode, Failure> {
    let clear = if io::stdout().is_terminal() { CLEAR_SCREEN } else { "" };
    let (mut last_status, mut printed) = (None, String::new());
    loop {
        let text = match read_if_changed(headless, arguments, &mut last_status) {
            // The session may appear later, so show the error and continue.
            Err(Failure::Message(message)) => Some(format!("{}\n", output::one_line(&message))),
            looked => looked?,
        };
        if let Some(text) = text.filter(|text| *text != printed) {
            output::write_result(|out| write!(out, "{clear}{}", output::printable_lines(&text)))?;
            printed = text;
        }
        thread::sleep(WATCH_INTERVAL);
        headless.index(|_| ()).map_err(|error| Failure::new(error.to_string()))?;
        headless.attach_editors();
    }
}

/// Returns the current status, or `None` if the last one is recent, and neither the session nor the files have changed
/// since.
fn read_if_changed(
    headless: &mut HeadlessWorkspace,
    arguments: &StatusArguments,
    last_status: &mut Option<LastStatus>,
) -> Result<Option<String>, Failure> {
    let last = last_status.take();
    let session = find_session(headless, arguments.id.as_deref())?;
    let (index, view) = (Arc::clone(&headless.snapshot().index), headless.view().clone());
    let is_same = |last: &LastStatus| {
        last.session == session
            && Arc::ptr_eq(&last.index, &index)
            && last.view == view
            && last.when.elapsed() < MAX_STATUS_AGE
    };
    if last.as_ref().is_some_and(is_same) {
        *last_status = last;
        return Ok(None);
    }
    let text = render_status(headless, &session, arguments)?;
    *last_status = Some(LastStatus { session, index, view, when: Instant::now() });
    Ok(Some(text))
}

/// Returns the list entry of the session with this id or name, or of the most recently used session.
fn find_session(headless: &mut HeadlessWorkspace, id: Option<&str>) -> Result<ListedSession, Failure> {
    let id = id.map(|id| headless.resolve_session_name(id)).transpose()?;
    let list = headless.call::<ListSessions>(NoArguments {})?.into_inner();
    let session = list.sessions.into_iter().find(|session| id.as_ref().is_none_or(|id| session.id == *id));
    session.ok_or_else(|| {
        Failure::new(match id {
            Some(id) => {
                format!("no session `{id}`; `strata sessions list` shows the stored ones")
            }
            None => "no session is stored for this workspace yet".to_owned(),
        })
    })
}

/// Returns the status of a session as text or, with `--json`, as JSON.
fn render_status(
    headless: &mut HeadlessWorkspace,
    session: &ListedSession,
    arguments: &StatusArguments,
) -> Result<String, Failure> {
    let replies = StatusReplies::read(headless, session)?;
    if !arguments.json {
        return Ok(replies.render());
    }
    let json = serde_json::to_string(&replies).map_err(|error| Failure::new(error.to_string()))?;
    Ok(format!("{}\n", visible_json(&json)))
}

/// The replies to several commands about a session.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusReplies<'a> {
    session: &'a ListedSession,
    view: String,
    budget: Reply<BudgetReport>,
    tiers: Reply<<tiers::ReportLayout as Command>::Reply>,
    compaction: Reply<CompactionStatus>,
    last_break: Reply<ExplainReply>,
}

impl<'a> StatusReplies<'a> {
    fn read(headless: &mut HeadlessWorkspace, session: &'a ListedSession) -> Result<Self, Failure> {
        // Read the session from disk again, since the editor's server may have changed it.
        headless.open_session(SessionSource::Stored(&session.id, SessionAccess::Read))?;
        let replies = Self {
            session,
            view: headless.view().to_string(),
            budget: headless.call::<budget::ReportBudget>(compaction::ReportedRequestParams::default())?,
            tiers: headless.call::<tiers::ReportLayout>(NoArguments {})?,
            compaction: headless
                .call::<compaction::ReportCompactionStatus>(compaction::ReportedRequestParams::default())?,
            last_break: headless.call::<ExplainBreak>(NoArguments {})?,
        };
        headless.release_session();
        Ok(replies)
    }

    fn render(&self) -> String {
        let Self { session, view, budget, tiers: layout, compaction, last_break } = self;
        let last = layout.last_turn.as_ref();
        let cached = last.map_or(0, |last| cached_tokens(last, now_ms()));
        let rows = |tier: Tier, items: usize, tokens: usize| (tier.to_string(), items, tokens);
        // Show the layout of the last recorded prompt, since this process has no layout of its own.
        let (model, policy, expected, tiers) = match last {
            Some(last) => (
                &last.model,
                last.policy,
                percentage(cached.min(budget.used), budget.used),
                last.tiers.iter().map(|tier| rows(tier.tier, tier.items, tier.tokens)).collect(),
            ),
            None => (
                &layout.model,
                layout.chosen.policy,
                layout.expected_percent,
                layout.tiers.iter().map(|tier| rows(tier.tier, tier.items, tier.tokens)).collect::<Vec<_>>(),
            ),
        };
        let mut table = Table::new([Align::Left, Align::Left, Align::Right, Align::Left]);
        let mut row = |name: &str, percent: f64, detail: String| {
            table.add_row([name.to_owned(), draw_bar(percent), format!("{percent:.1} %"), detail]);
        };
        let window = count(budget.max_input_tokens);
        row("context", budget.percent, format!("{} of {window} tokens", count(budget.used)));
        if compaction.enabled {
            let due = if compaction.due { ", due" } else { "" };
            let (tokens, threshold) = (count(compaction.tokens), count(compaction.threshold));
            row(
                "compaction",
                compaction.percent,
                format!("{tokens} of {threshold} ({}){due}", compaction.profile),
            );
        }
        row("cache", expected, "of the next prompt expected to be cached".to_owned());
        if let Some(percent) = layout.cached_percent {
            row("", percent, "of all billed input was cached".to_owned());
        }
        let mut text = format!(
            "{}{}\n{}, policy {}, {}, {}\nview: {}\n\n",
            session.id,
            if session.name.is_empty() {
                String::new()
            } else {
                format!(" \"{}\"", output::one_line(&session.name))
            },
            output::one_line(model),
            policy.as_str(),
            pluralize(session.messages, "message"),
            pluralize(last.map_or(0, |last| usize::try_from(last.turns).unwrap_or(usize::MAX)), "turn"),
            output::one_line(view),
        );
        text.push_str(&table.render());
        let Usage { input, output, cache_read, cache_write } = budget.totals.usage;
        if let Some(cost) = budget.totals.cost {
            let [input, read, written, output] = [input, cache_read, cache_write, output].map(format_count);
            text.push_str(&format!(
                "\nbilled: {}\n{input} tokens plain, {read} read from the cache, {written} written to it; priced as {} plain ones\n\
                 {output} tokens of output\n",
                budget.totals.dollars.map_or_else(|| "unknown price".to_owned(), format::dollars),
                count(cost.round() as usize),
            ));
        }
        // A single request has no pause before it, and nothing to read from the cache.
        let comparison = budget.comparison.as_ref();
        if let Some(comparison) = comparison.filter(|comparison| comparison.requests > 1) {
            text.push_str(&render_comparison(comparison));
        }
        text.push('\n');
        text.push_str(&render_tiers(&tiers));
        text.push_str(&format!("\nlast cache miss: {}\n", output::one_line(&last_break.sentence)));
        text
    }
}

/// Renders what the billed requests would have cost under other conditions.
fn render_comparison(comparison: &CostComparison) -> String {
    let requests = usize::try_from(comparison.requests).unwrap_or(usize::MAX);
    let mut table = Table::new([Align::Left, Align::Right, Align::Right, Align::Right]);
    table.add_row(["", "plain tokens", "cost", "of no cache"].map(str::to_owned));
    let mut row = |name: String, compared: &ComparedCost| {
        table.add_row([
            name,
            count(compared.cost.round() as usize),
            compared.dollars.map_or_else(|| "unknown".to_owned(), format::dollars),
            format!("{:.0} %", 100.0 * compared.share),
        ]);
    };
    row("as sent".to_owned(), &comparison.actual);
    row("without pauses".to_owned(), &comparison.without_pauses);
    for LifetimeCost { seconds, cost } in &comparison.lifetimes {
        row(format!("all cached for {}", format_duration(*seconds)), cost);
    }
    row("without a cache".to_owned(), &comparison.without_cache);
    format!(
        "\nthe same {} at list price, starting with an empty cache:\n{}",
        pluralize(requests, "request"),
        table.render()
    )
}

/// Formats the lifetime of cache entries in the largest unit that divides it.
fn format_duration(seconds: u32) -> String {
    let (number, unit) = match seconds {
        seconds if seconds % 3_600 == 0 => (seconds / 3_600, "hour"),
        seconds if seconds % 60 == 0 => (seconds / 60, "minute"),
        seconds => (seconds, "second"),
    };
    pluralize(usize::try_from(number).unwrap_or(usize::MAX), unit)
}

/// Returns the number of tokens expected to be in the provider's cache at the given time.
fn cached_tokens(last: &LastTurn, now_ms: u64) -> usize {
    if last.cache_expires_ms.is_some_and(|at| at > now_ms) { last.cached_tokens } else { 0 }
}

/// Renders tiers with their items and tokens, each with a bar that shows its share of the tokens.
fn render_tiers(tiers: &[(String, usize, usize)]) -> String {
    let total: usize = tiers.iter().map(|(_, _, tokens)| tokens).sum();
    let mut table = Table::new([Align::Left, Align::Left, Align::Right, Align::Left]);
    for (tier, items, tokens) in tiers {
        table.add_row([
            tier.clone(),
            draw_bar(percentage(*tokens, total)),
            count(*tokens),
            pluralize(*items, "item"),
        ]);
    }
    table.render()
}
