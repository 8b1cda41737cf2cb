//! `strata cost`: shows what the conversations of a workspace were billed.

use std::process::ExitCode;

use serde::Deserialize;
use serde_json::json;
use strata_app::clock::now_ms;
use strata_app::format::dollars;
use strata_app::table::{Align, Table};

use crate::arguments::CostArguments;
use crate::failure::Failure;
use crate::output::{self, ExternalText, count, counted};
use crate::sessions::SHOWN;
use crate::usage::Usage;
use crate::{repository, when};

/// The reply to `strata.cost.report`.
#[derive(Deserialize)]
struct CostReport {
    entries: Vec<Entry>,
    total: Amount,
    prices: ExternalText,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    session: Option<String>,
    about: Option<String>,
    model: Option<String>,
    day_ms: Option<u64>,
    #[serde(flatten)]
    amount: Amount,
}

#[derive(Deserialize)]
struct Amount {
    requests: usize,
    usage: Usage,
    dollars: f64,
    unpriced: usize,
}

pub(crate) fn run(arguments: &CostArguments) -> Result<ExitCode, Failure> {
    let since_ms = arguments.since.map(|since| since.start_ms(now_ms()));
    let mut headless = repository::open_stored(&arguments.repository)?;
    let report = headless.run("strata.cost.report", json!({ "sinceMs": since_ms, "by": arguments.by }))?;
    if arguments.json {
        output::json(&report)?;
        return Ok(ExitCode::SUCCESS);
    }
    let report: CostReport = output::understood(report)?;
    if report.entries.is_empty() {
        output::tell("nothing was billed to the conversations of this workspace");
        return Ok(ExitCode::SUCCESS);
    }
    output::report(&report.render())?;
    Ok(ExitCode::SUCCESS)
}

impl CostReport {
    fn render(&self) -> String {
        let mut table = Table::new([Align::Right, Align::Right, Align::Right, Align::Right, Align::Left]);
        table.row(["cost", "tokens in", "cached", "out", ""].map(str::to_owned));
        for entry in &self.entries {
            table.row(entry.amount.cells(entry.name()));
        }
        let total = format!("total, {}", counted(self.total.requests, "request"));
        table.row(self.total.cells(total));
        let mut text = format!("{}\nprices: {}\n", table.render(), self.prices.line());
        if self.total.unpriced > 0 {
            text.push_str(&format!(
                "The price of {} is unknown. Set it for later ones with models.model.NAME.price (`strata help cost`).\n",
                counted(self.total.unpriced, "request")
            ));
        }
        text
    }
}

impl Entry {
    fn name(&self) -> String {
        match (self.day_ms, &self.model, &self.session) {
            (Some(ms), ..) => when::day(ms),
            (_, Some(model), _) => model.clone(),
            (_, _, Some(session)) => {
                let about = output::clipped(self.about.as_deref().unwrap_or_default(), SHOWN);
                format!("{session} {about}")
            }
            _ => String::new(),
        }
    }
}

impl Amount {
    fn cells(&self, name: String) -> [String; 5] {
        let cached = format!("{:.0} %", self.usage.cached_percent());
        [self.price(), count(self.usage.input_tokens()), cached, count(self.usage.output), name]
    }

    /// Returns the cost in money, marked if it does not include everything.
    fn price(&self) -> String {
        match self.unpriced {
            0 => dollars(self.dollars),
            all if all == self.requests => "unknown".to_owned(),
            _ => format!("{} + unknown", dollars(self.dollars)),
        }
    }
}
