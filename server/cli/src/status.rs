//! `strata status`: shows the size and cost of a stored session, its tiers, and its last cache miss. With `--watch`,
//! continues until stopped. Never writes to the session. Files have the text that they have in an editor, even if it is
//! unsaved.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use strata_app::clock::now_ms;
use strata_app::format::{self, visible_json};
use strata_app::model::index::Index;
use strata_app::model::live_view::ViewState;
use strata_app::runtime::headless::{Access, HeadlessWorkspace, SessionSource};

use crate::arguments::StatusArguments;
use crate::failure::Failure;
use crate::gauge::{bar, share};
use crate::output::{self, ExternalText, count, counted};
use crate::repository;
use crate::usage::Usage;
use strata_app::table::{Align, Table};

/// Interval at which `--watch` checks the files and the list of sessions.
const EVERY: Duration = Duration::from_secs(1);
/// Age at which the status is read again even if nothing changed, because the provider's cache expires over time.
const STALE_AFTER: Duration = Duration::from_secs(10);
/// Terminal sequence that clears the screen and moves to its first line (ECMA-48: CUP, ED).
const ANEW: &str = "\x1b[H\x1b[2J";

/// The fields used from each session in the reply to `strata.session.list`.
#[derive(Deserialize)]
struct Session {
    id: String,
    name: ExternalText,
    messages: usize,
}

/// The fields used from the reply to `strata.budget.report`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Budget {
    used: usize,
    max_input_tokens: usize,
    percent: f64,
    totals: Totals,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Totals {
    #[serde(flatten)]
    usage: Usage,
    /// `None` before the first request is billed.
    cost: Option<f64>,
    /// `None` if the price is unknown.
    dollars: Option<f64>,
}

/// The fields used from the reply to `strata.tiers.report`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layout {
    model: ExternalText,
    policy: String,
    tiers: Vec<Tier>,
    expected_percent: f64,
    /// Last recorded prompt of the session. `None` before the first one.
    last_turn: Option<LastTurn>,
    cached_percent: Option<f64>,
}

/// The last recorded prompt of the session, from any process.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LastTurn {
    turns: usize,
    model: ExternalText,
    policy: String,
    tiers: Vec<Tier>,
    cached_tokens: usize,
    cache_expires_ms: Option<u64>,
}

#[derive(Deserialize)]
struct Tier {
    tier: String,
    items: usize,
    tokens: usize,
}

/// The fields used from the reply to `strata.compaction.status`.
#[derive(Deserialize)]
struct Compaction {
    enabled: bool,
    profile: String,
    tokens: usize,
    threshold: usize,
    percent: f64,
    due: bool,
}

/// The fields used from the reply to `strata.tiers.explainBreak`.
#[derive(Deserialize)]
struct Break {
    sentence: ExternalText,
}

/// The state for which the status was last read. The status is read again if the state changes or becomes too old.
struct LastStatus {
    /// The session's entry in the list, which includes the time of its last use.
    session: Value,
    index: Arc<Index>,
    view: ViewState,
    when: Instant,
}

pub(crate) fn run(arguments: &StatusArguments) -> Result<ExitCode, Failure> {
    let mut headless = repository::open_stored(&arguments.repository)?;
    repository::index(&mut headless)?;
    if arguments.watch {
        return watch(&mut headless, arguments);
    }
    let session = listed(&mut headless, arguments.id.as_deref())?;
    let text = told(&mut headless, &session, arguments)?;
    if arguments.json {
        output::text(&text)?;
    } else {
        output::report(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the status at every change until the output is closed.
fn watch(headless: &mut HeadlessWorkspace, arguments: &StatusArguments) -> Result<ExitCode, Failure> {
    let anew = if io::stdout().is_terminal() { ANEW } else { "" };
    let (mut seen, mut shown) = (None, String::new());
    loop {
        let text = match look(headless, arguments, &mut seen) {
            // The session may appear later, so show the error and continue.
            Err(Failure::Said(message)) => Some(format!("{}\n", ExternalText::from(message).line())),
            looked => looked?,
        };
        if let Some(text) = text.filter(|text| *text != shown) {
            output::result(|out| write!(out, "{anew}{}", output::printable(&text)))?;
            shown = text;
        }
        thread::sleep(EVERY);
        headless.index(|_| ()).map_err(|error| Failure::said(error.to_string()))?;
        headless.attach();
    }
}

/// Returns the current status, or `None` if the last one is recent, and neither the session nor the files have changed
/// since.
fn look(
    headless: &mut HeadlessWorkspace,
    arguments: &StatusArguments,
    seen: &mut Option<LastStatus>,
) -> Result<Option<String>, Failure> {
    let last = seen.take();
    let session = listed(headless, arguments.id.as_deref())?;
    let (index, view) = (Arc::clone(&headless.snapshot().index), headless.view().clone());
    let is_same = |last: &LastStatus| {
        last.session == session
            && Arc::ptr_eq(&last.index, &index)
            && last.view == view
            && last.when.elapsed() < STALE_AFTER
    };
    if last.as_ref().is_some_and(is_same) {
        *seen = last;
        return Ok(None);
    }
    let text = told(headless, &session, arguments)?;
    *seen = Some(LastStatus { session, index, view, when: Instant::now() });
    Ok(Some(text))
}

/// Returns the list entry of the session with this id or name, or of the most recently used session.
fn listed(headless: &mut HeadlessWorkspace, id: Option<&str>) -> Result<Value, Failure> {
    let id = id.map(|id| headless.session_named(id)).transpose()?;
    let id = id.as_deref();
    let mut reply = headless.run("strata.session.list", json!({}))?;
    let mut sessions = reply["sessions"].as_array_mut().into_iter().flatten();
    let found = sessions.find(|session| id.is_none_or(|id| session["id"] == id));
    found.map(Value::take).ok_or_else(|| {
        Failure::said(match id {
            Some(id) => {
                format!("no session `{id}`; `strata sessions list` shows the stored ones")
            }
            None => "no session is stored for this workspace yet".to_owned(),
        })
    })
}

/// Returns the status of a session as text or, with `--json`, as JSON.
fn told(
    headless: &mut HeadlessWorkspace,
    session: &Value,
    arguments: &StatusArguments,
) -> Result<String, Failure> {
    let replies = Replies::read(headless, session)?;
    if arguments.json { Ok(format!("{}\n", visible_json(&replies.0.to_string()))) } else { replies.render() }
}

/// The replies to several commands about a session, as one object with a field for each command.
struct Replies(Value);

impl Replies {
    fn read(headless: &mut HeadlessWorkspace, session: &Value) -> Result<Self, Failure> {
        // Read the session from disk again, since the editor's server may have changed it.
        let id = session["id"].as_str().unwrap_or_default();
        headless.open_session(SessionSource::Stored(id, Access::Read))?;
        let view = headless.view().to_string();
        let mut run = |command: &str| headless.run(command, json!({}));
        let replies = json!({
            "session": session,
            "view": view,
            "budget": run("strata.budget.report")?,
            "tiers": run("strata.tiers.report")?,
            "compaction": run("strata.compaction.status")?,
            "lastBreak": run("strata.tiers.explainBreak")?,
        });
        headless.release();
        Ok(Self(replies))
    }

    fn render(mut self) -> Result<String, Failure> {
        let session: Session = output::understood(self.0["session"].take())?;
        let budget: Budget = output::understood(self.0["budget"].take())?;
        let mut layout: Layout = output::understood(self.0["tiers"].take())?;
        let compaction: Compaction = output::understood(self.0["compaction"].take())?;
        let view: ExternalText = output::understood(self.0["view"].take())?;
        let last: Break = output::understood(self.0["lastBreak"].take())?;
        let turns = layout.last_turn.as_ref().map_or(0, |last| last.turns);
        let cached = layout.last_turn.as_ref().map_or(0, |last| last.cached(now_ms()));
        // Show the layout of the last recorded prompt, since this process has no layout of its own.
        if let Some(LastTurn { model, policy, tiers, .. }) = layout.last_turn.take() {
            (layout.model, layout.policy, layout.tiers) = (model, policy, tiers);
            layout.expected_percent = share(cached.min(budget.used), budget.used);
        }

        let mut table = Table::new([Align::Left, Align::Left, Align::Right, Align::Left]);
        let mut row = |name: &str, percent: f64, what: String| {
            table.row([name.to_owned(), bar(percent), format!("{percent:.1} %"), what]);
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
        row("cache", layout.expected_percent, "of the next prompt expected to be cached".to_owned());
        if let Some(percent) = layout.cached_percent {
            row("", percent, "of all billed input was cached".to_owned());
        }
        let mut text = format!(
            "{}{}\n{}, policy {}, {}, {}\nview: {}\n\n",
            session.id,
            if session.name.is_empty() { String::new() } else { format!(" \"{}\"", session.name.line()) },
            layout.model.line(),
            layout.policy,
            counted(session.messages, "message"),
            counted(turns, "turn"),
            view.line(),
        );
        text.push_str(&table.render());
        let Totals { usage, cost, dollars } = budget.totals;
        let Usage { input, output, cache_read, cache_write } = usage;
        if let Some(cost) = cost {
            let [input, read, written, output] = [input, cache_read, cache_write, output].map(count);
            text.push_str(&format!(
                "\nbilled: {}\n{input} tokens plain, {read} read from the cache, {written} written to it; priced as {} plain ones\n\
                 {output} tokens of output\n",
                dollars.map_or_else(|| "unknown price".to_owned(), format::dollars),
                count(cost.round() as usize),
            ));
        }
        text.push('\n');
        text.push_str(&tiers(&layout.tiers));
        text.push_str(&format!("\nlast cache miss: {}\n", last.sentence.line()));
        Ok(text)
    }
}

impl LastTurn {
    /// Returns the number of tokens expected to be in the provider's cache at the given time.
    fn cached(&self, now_ms: u64) -> usize {
        if self.cache_expires_ms.is_some_and(|at| at > now_ms) { self.cached_tokens } else { 0 }
    }
}

/// Renders the tiers, each with a bar that shows its share of the tokens.
fn tiers(tiers: &[Tier]) -> String {
    let all: usize = tiers.iter().map(|tier| tier.tokens).sum();
    let mut table = Table::new([Align::Left, Align::Left, Align::Right, Align::Left]);
    for Tier { tier, items, tokens } in tiers {
        table.row([tier.clone(), bar(share(*tokens, all)), count(*tokens), counted(*items, "item")]);
    }
    table.render()
}
