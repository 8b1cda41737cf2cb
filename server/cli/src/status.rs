//! `strata status`: what a session weighs and costs, from what is stored of it: the meter, the tiers, the last cache break.
//! With `--watch` it goes on as long as somebody looks. Never writes to a session. Sees files as they are on disk: unsaved
//! text is with the editor's server only.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use strata_lsp::workbench::{Access, Workbench};

use crate::arguments::StatusArguments;
use crate::failure::Failure;
use crate::gauge::{bar, share};
use crate::output::{self, count, counted};
use crate::repository;
use crate::table::{Align, Table};

/// How often `--watch` looks.
const EVERY: Duration = Duration::from_secs(1);
/// Empties the screen and goes to its first line (ECMA-48: CUP, ED).
const ANEW: &str = "\x1b[H\x1b[2J";

/// What is read of a session in the reply of `strata.session.list`.
#[derive(Deserialize)]
struct Listed {
    id: String,
    name: String,
    messages: usize,
}

/// What is read of the reply of `strata.budget.report`.
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
    input: usize,
    output: usize,
    cache_read: usize,
    cache_write: usize,
    /// Absent before anything was billed.
    cost: Option<f64>,
}

/// What is read of the reply of `strata.tiers.report`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layout {
    model: String,
    policy: String,
    turns: usize,
    tiers: Vec<Tier>,
    expected_percent: f64,
    cached_percent: Option<f64>,
}

#[derive(Deserialize)]
struct Tier {
    tier: String,
    items: usize,
    tokens: usize,
}

/// What is read of the reply of `strata.compaction.status`.
#[derive(Deserialize)]
struct Compaction {
    enabled: bool,
    profile: String,
    tokens: usize,
    threshold: usize,
    percent: f64,
    due: bool,
}

/// What is read of the reply of `strata.tiers.explainBreak`.
#[derive(Deserialize)]
struct Break {
    sentence: String,
}

pub(crate) fn run(arguments: &StatusArguments) -> Result<ExitCode, Failure> {
    let mut workbench = repository::open_stored(&arguments.repository)?;
    repository::index(&mut workbench)?;
    let look = |workbench: &mut Workbench| {
        let replies = Replies::read(workbench, arguments.id.as_deref())?;
        if arguments.json { Ok(format!("{}\n", replies.0)) } else { replies.render() }
    };
    if !arguments.watch {
        let text = look(&mut workbench)?;
        output::result(|out| out.write_all(output::printable(&text).as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let anew = if io::stdout().is_terminal() { ANEW } else { "" };
    let mut shown = String::new();
    loop {
        let text = match look(&mut workbench) {
            Ok(text) => text,
            // It may be there in a moment.
            Err(Failure::Said(message)) => format!("{message}\n"),
            Err(nobody_reads) => return Err(nobody_reads),
        };
        if text != shown {
            output::result(|out| write!(out, "{anew}{}", output::printable(&text)))?;
            shown = text;
        }
        thread::sleep(EVERY);
        workbench.refresh(|_| ()).map_err(|error| Failure::said(error.to_string()))?;
    }
}

/// What the commands say of a session: one object, a field for each.
struct Replies(Value);

impl Replies {
    /// Of this session, or of the one that was written to last.
    fn read(workbench: &mut Workbench, id: Option<&str>) -> Result<Self, Failure> {
        let mut sessions = workbench.run("strata.session.list", json!({}))?;
        let sessions = sessions["sessions"].take();
        let found =
            sessions.as_array().into_iter().flatten().find(|session| id.is_none_or(|id| session["id"] == id));
        let Some(session) = found else {
            return Err(Failure::said(match id {
                Some(id) => {
                    format!("there is no session `{id}`; `strata sessions list` shows those that are stored")
                }
                None => "no session is stored for this workspace yet".to_owned(),
            }));
        };
        workbench.resume(session["id"].as_str().unwrap_or_default(), Access::Read)?;
        let mut run = |command: &str| workbench.run(command, json!({}));
        Ok(Self(json!({
            "session": session,
            "budget": run("strata.budget.report")?,
            "tiers": run("strata.tiers.report")?,
            "compaction": run("strata.compaction.status")?,
            "lastBreak": run("strata.tiers.explainBreak")?,
        })))
    }

    fn render(mut self) -> Result<String, Failure> {
        let session: Listed = output::understood(self.0["session"].take())?;
        let budget: Budget = output::understood(self.0["budget"].take())?;
        let layout: Layout = output::understood(self.0["tiers"].take())?;
        let compaction: Compaction = output::understood(self.0["compaction"].take())?;
        let last: Break = output::understood(self.0["lastBreak"].take())?;

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
        row("cache", layout.expected_percent, "of the next prompt is expected to be read from it".to_owned());
        if let Some(percent) = layout.cached_percent {
            row("", percent, "of the input billed so far was".to_owned());
        }
        let mut text = format!(
            "{}{}\n{}, policy {}, {}, {}\n\n",
            session.id,
            if session.name.is_empty() { String::new() } else { format!(" \"{}\"", session.name) },
            layout.model,
            layout.policy,
            counted(session.messages, "message"),
            counted(layout.turns, "turn"),
        );
        text.push_str(&table.render());
        let Totals { input, output, cache_read, cache_write, cost } = budget.totals;
        if let Some(cost) = cost {
            let [input, read, written, output] = [input, cache_read, cache_write, output].map(count);
            text.push_str(&format!(
                "\nbilled tokens: {input} plain, {read} read from the cache, {written} written to it, {output} answered; the input at \
                 the price of {cost:.0} plain\n"
            ));
        }
        text.push('\n');
        text.push_str(&tiers(&layout.tiers));
        text.push_str(&format!("\nlast cache break: {}\n", last.sentence));
        Ok(text)
    }
}

/// The tiers as bars of what they weigh.
fn tiers(tiers: &[Tier]) -> String {
    let all: usize = tiers.iter().map(|tier| tier.tokens).sum();
    let mut table = Table::new([Align::Left, Align::Left, Align::Right, Align::Left]);
    for Tier { tier, items, tokens } in tiers {
        table.row([tier.clone(), bar(share(*tokens, all)), count(*tokens), counted(*items, "item")]);
    }
    table.render()
}
