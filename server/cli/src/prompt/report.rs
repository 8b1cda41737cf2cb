//! Reports the contents of a prompt in short tables: parts, tiers, files, coverage and warnings.

use std::fmt::Write as _;

use crate::gauge::{draw_bar, percentage};
use crate::output::{self, count, pluralize};
use strata_app::commands::{AssembledPrompt, ExcerptReason, Part, PromptCost};
use strata_app::format::dollars;
use strata_app::table::{Align, Table};

pub(super) fn render(prompt: &AssembledPrompt) -> String {
    let mut text = format!(
        "{}, {}, {}\n\n",
        output::one_line(&prompt.model),
        prompt.format.as_str(),
        prompt.policy.as_str()
    );
    text.push_str(&render_parts(prompt));
    text.push('\n');
    text.push_str(&render_tiers(prompt));
    for table in [render_files(prompt), render_excerpts(prompt)].into_iter().flatten() {
        text.push('\n');
        text.push_str(&table);
    }
    // Writing to a string does not fail.
    let _ = writeln!(text, "\n{}\n{}", render_cost(prompt), render_coverage(prompt));
    let system = &prompt.system_files;
    for (kind, files) in [("rules", &system.rules), ("skills", &system.skills), ("memory", &system.memory)] {
        if !files.is_empty() {
            let files: Vec<String> = files.iter().map(|file| output::one_line(file).to_string()).collect();
            let _ = writeln!(text, "{kind}: {}", files.join(", "));
        }
    }
    for warning in &prompt.warnings {
        let _ = writeln!(text, "warning: {}", output::one_line(&warning.message));
    }
    text
}

fn render_parts(prompt: &AssembledPrompt) -> String {
    let tokens = &prompt.tokens;
    let mut table = Table::new([Align::Right, Align::Left]);
    table.add_row(["tokens".to_owned(), "part".to_owned()]);
    for (part, in_part) in &tokens.parts {
        let excerpts = if *part == Part::Files { excerpt_tokens(prompt).min(*in_part) } else { 0 };
        if *in_part > excerpts {
            table.add_row([count(in_part - excerpts), part_label(*part)]);
        }
        if excerpts > 0 {
            table.add_row([count(excerpts), "excerpts".to_owned()]);
        }
    }
    let limit_label = format!("total, of at most {} (window {})", count(tokens.limit), count(tokens.window));
    table.add_row([count(tokens.total), limit_label]);
    table.render()
}

fn render_tiers(prompt: &AssembledPrompt) -> String {
    let total = prompt.tiers.iter().map(|tier| tier.tokens).sum();
    let mut table = Table::new([Align::Right, Align::Left, Align::Left, Align::Right, Align::Left]);
    table.add_row(["tokens", "tier", "", "items", ""].map(str::to_owned));
    for report in &prompt.tiers {
        let mark = if report.marked { "breakpoint" } else { "" };
        table.add_row([
            count(report.tokens),
            report.tier.to_string(),
            draw_bar(percentage(report.tokens, total)),
            count(report.items),
            mark.to_owned(),
        ]);
    }
    table.render()
}

fn excerpt_tokens(prompt: &AssembledPrompt) -> usize {
    prompt.files.iter().flat_map(|file| &file.excerpts).map(|excerpt| excerpt.tokens).sum()
}

/// Renders the table of files that the prompt shows in full, or returns `None` if there are none.
fn render_files(prompt: &AssembledPrompt) -> Option<String> {
    let mut selected = prompt.files.iter().filter(|file| file.excerpts.is_empty()).peekable();
    selected.peek()?;
    let mut table = Table::new([Align::Right, Align::Left, Align::Left, Align::Left]);
    table.add_row(["tokens", "tier", "version", "file in full"].map(str::to_owned));
    for file in selected {
        let version = file.hash.to_string().chars().take(8).collect();
        table.add_row([count(file.tokens), file.tier.to_string(), version, file.path.as_str().to_owned()]);
    }
    Some(table.render())
}

/// Renders the table of excerpts that were chosen for the question, or returns `None` if there are none.
fn render_excerpts(prompt: &AssembledPrompt) -> Option<String> {
    let mut excerpts: Vec<_> = prompt.files.iter().flat_map(|file| &file.excerpts).collect();
    excerpts.sort_by_key(|excerpt| excerpt.rank);
    excerpts.first()?;
    let mut table = Table::new([Align::Right, Align::Left, Align::Left, Align::Left]);
    table.add_row(["tokens", "lines", "chosen for", "excerpt"].map(str::to_owned));
    for excerpt in excerpts {
        let because = match excerpt.reason {
            Some(ExcerptReason::Trace) => "the stack trace",
            Some(ExcerptReason::Defines) => "its name is in the prompt",
            Some(ExcerptReason::Named) => "its file is named in the prompt",
            Some(ExcerptReason::Called) => "code above mentions it",
            Some(ExcerptReason::Words) => "words of the prompt",
            Some(ExcerptReason::File) => "its file is relevant",
            Some(ExcerptReason::Open) => "its file is open",
            Some(ExcerptReason::Recent) => "its file changed recently",
            None => "",
        };
        let lines = excerpt.lines.map(|lines| lines.to_string()).unwrap_or_default();
        table.add_row([count(excerpt.tokens), lines, because.to_owned(), excerpt.excerpt.to_wire_string()]);
    }
    Some(table.render())
}

fn render_cost(prompt: &AssembledPrompt) -> String {
    let PromptCost { expected, cold, warm, output_price } = &prompt.cost;
    let mut table = Table::new([Align::Right, Align::Left]);
    let (unit, is_priced) = match output_price {
        Some(_) => ("cost", true),
        None => ("plain tokens", false),
    };
    table.add_row([unit, "expected before sending"].map(str::to_owned));
    let states = [(expected, "input"), (cold, "if nothing is cached"), (warm, "if it was sent just before")];
    for (cost, state) in states {
        let tokens = || count(cost.tokens.round() as usize);
        table.add_row([cost.dollars.filter(|_| is_priced).map_or_else(tokens, dollars), state.to_owned()]);
    }
    let answer = match output_price {
        Some(price) => [dollars(price / 1_000.0), "1,000 tokens of the answer".to_owned()],
        None => ["unknown".to_owned(), "price in money (`strata help cost`)".to_owned()],
    };
    table.add_row(answer);
    table.render()
}

fn render_coverage(prompt: &AssembledPrompt) -> String {
    let coverage = &prompt.coverage;
    format!(
        "repository: {} in the map (budget {}), {} listed by name, {} only counted by folder",
        pluralize(coverage.blocks, "file"),
        count(coverage.map_budget),
        count(coverage.names),
        count(coverage.directories),
    )
}

/// Returns the display name of a part of the prompt.
fn part_label(part: Part) -> String {
    match part {
        Part::Files => "files in full".to_owned(),
        Part::Urls => "urls".to_owned(),
        other => other.to_string(),
    }
}
