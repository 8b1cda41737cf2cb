//! `strata cost`: shows what the conversations of a workspace were billed.

use std::process::ExitCode;

use strata_app::clock::now_ms;
use strata_app::commands::Amount;
use strata_app::commands::cost::{CostEntry, CostParams, CostReport, ReportCosts};
use strata_app::format::dollars;
use strata_app::table::{Align, Table};

use crate::arguments::CostArguments;
use crate::failure::Failure;
use crate::output::{self, count, pluralize};
use crate::sessions::MAX_NAME_CHARS;
use crate::usage::{cached_percent, format_count};
use crate::{repository, when};

pub(crate) fn run(arguments: &CostArguments) -> Result<ExitCode, Failure> {
    let since_ms = arguments.since.map(|since| since.start_ms(now_ms()));
    let mut headless = repository::open_stored(&arguments.repository)?;
    let report = headless.call::<ReportCosts>(CostParams { since_ms, by: arguments.by })?;
    if arguments.json {
        output::print_json(&report)?;
        return Ok(ExitCode::SUCCESS);
    }
    if report.entries.is_empty() {
        output::print_message("nothing was billed to the conversations of this workspace");
        return Ok(ExitCode::SUCCESS);
    }
    output::print_report(&render(&report))?;
    Ok(ExitCode::SUCCESS)
}

fn render(report: &CostReport) -> String {
    let mut table = Table::new([Align::Right, Align::Right, Align::Right, Align::Right, Align::Left]);
    table.add_row(["cost", "tokens in", "cached", "out", ""].map(str::to_owned));
    for entry in &report.entries {
        table.add_row(cost_row(&entry.amount, entry_label(entry)));
    }
    let total = &report.total;
    table.add_row(cost_row(total, format!("total, {}", format_requests(total.requests))));
    let mut text = format!("{}\nprices: {}\n", table.render(), output::one_line(&report.prices));
    if total.unpriced > 0 {
        text.push_str(&format!(
            "The price of {} is unknown. To set a price for later requests, use the setting models.model.NAME.price \
             (`strata help cost`).\n",
            format_requests(total.unpriced)
        ));
    }
    text
}

fn format_requests(number: u64) -> String {
    pluralize(usize::try_from(number).unwrap_or(usize::MAX), "request")
}

fn entry_label(entry: &CostEntry) -> String {
    match (entry.day_ms, &entry.model, &entry.session) {
        (Some(ms), ..) => when::format_day(ms),
        (_, Some(model), _) => model.clone(),
        (_, _, Some(session)) => {
            let about = output::shorten(entry.about.as_deref().unwrap_or_default(), MAX_NAME_CHARS);
            format!("{session} {about}")
        }
        _ => String::new(),
    }
}

fn cost_row(amount: &Amount, name: String) -> [String; 5] {
    let Amount { usage, .. } = amount;
    let cached = format!("{:.0} %", cached_percent(*usage));
    [format_price(amount), count(usage.input_tokens()), cached, format_count(usage.output), name]
}

/// Returns the cost in money, marked if it does not include everything.
fn format_price(amount: &Amount) -> String {
    match amount.unpriced {
        0 => dollars(amount.dollars),
        all if all == amount.requests => "unknown".to_owned(),
        _ => format!("{} + unknown", dollars(amount.dollars)),
    }
}
