//! Reports the contents of a prompt in short tables: parts, tiers, files, coverage and warnings.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::gauge::{bar, share};
use crate::output::{ExternalText, count, counted};
use strata_app::format::dollars;
use strata_app::table::{Align, Table};

/// The fields used from the reply to `strata.prompt.assemble`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    model: ExternalText,
    format: String,
    policy: String,
    tokens: Tokens,
    tiers: Vec<Tier>,
    files: Vec<File>,
    system_files: SystemFiles,
    coverage: Coverage,
    cost: Cost,
    warnings: Vec<Warning>,
}

/// Expected cost of the input.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    expected: InputCost,
    cold: InputCost,
    warm: InputCost,
    output_price: Option<f64>,
}

#[derive(Deserialize)]
struct InputCost {
    tokens: f64,
    dollars: Option<f64>,
}

#[derive(Deserialize)]
struct Tokens {
    total: usize,
    parts: Map<String, Value>,
    limit: usize,
    window: usize,
}

#[derive(Deserialize)]
struct Tier {
    tier: String,
    items: usize,
    tokens: usize,
    marked: bool,
}

#[derive(Deserialize)]
struct File {
    path: String,
    hash: String,
    tokens: usize,
    tier: String,
    #[serde(default)]
    excerpts: Vec<Excerpt>,
}

#[derive(Deserialize)]
struct Excerpt {
    excerpt: String,
    lines: Option<String>,
    reason: Option<String>,
    rank: usize,
    tokens: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Coverage {
    blocks: usize,
    names: usize,
    directories: usize,
    map_budget: usize,
}

/// Names of the files in the system prompt, by their role.
#[derive(Deserialize)]
struct SystemFiles {
    rules: Vec<ExternalText>,
    skills: Vec<ExternalText>,
    memory: Vec<ExternalText>,
}

#[derive(Deserialize)]
struct Warning {
    message: ExternalText,
}

impl Report {
    /// Renders the report.
    pub(super) fn render(&self) -> String {
        let mut text = format!("{}, {}, {}\n\n", self.model.line(), self.format, self.policy);
        text.push_str(&self.parts());
        text.push('\n');
        text.push_str(&self.tiers());
        for table in [self.files(), self.excerpts()].into_iter().flatten() {
            text.push('\n');
            text.push_str(&table);
        }
        // Writing to a string does not fail.
        let _ = writeln!(text, "\n{}\n{}", self.cost(), self.coverage());
        let SystemFiles { rules, skills, memory } = &self.system_files;
        for (kind, files) in [("rules", rules), ("skills", skills), ("memory", memory)] {
            if !files.is_empty() {
                let files: Vec<String> = files.iter().map(|file| file.line().to_string()).collect();
                let _ = writeln!(text, "{kind}: {}", files.join(", "));
            }
        }
        for warning in &self.warnings {
            let _ = writeln!(text, "warning: {}", warning.message.line());
        }
        text
    }

    fn parts(&self) -> String {
        let Tokens { total, parts, limit, window } = &self.tokens;
        let mut table = Table::new([Align::Right, Align::Left]);
        table.row(["tokens".to_owned(), "part".to_owned()]);
        for (part, tokens) in parts {
            let tokens = tokens.as_u64().and_then(|tokens| usize::try_from(tokens).ok()).unwrap_or_default();
            let excerpts = if part == "files" { self.excerpt_tokens().min(tokens) } else { 0 };
            if tokens > excerpts {
                table.row([count(tokens - excerpts), label(part)]);
            }
            if excerpts > 0 {
                table.row([count(excerpts), "excerpts".to_owned()]);
            }
        }
        table
            .row([count(*total), format!("total, of at most {} (window {})", count(*limit), count(*window))]);
        table.render()
    }

    fn tiers(&self) -> String {
        let all = self.tiers.iter().map(|tier| tier.tokens).sum();
        let mut table = Table::new([Align::Right, Align::Left, Align::Left, Align::Right, Align::Left]);
        table.row(["tokens", "tier", "", "items", ""].map(str::to_owned));
        for Tier { tier, items, tokens, marked } in &self.tiers {
            let mark = if *marked { "breakpoint" } else { "" };
            table.row([
                count(*tokens),
                tier.clone(),
                bar(share(*tokens, all)),
                count(*items),
                mark.to_owned(),
            ]);
        }
        table.render()
    }

    fn excerpt_tokens(&self) -> usize {
        self.files.iter().flat_map(|file| &file.excerpts).map(|excerpt| excerpt.tokens).sum()
    }

    /// Renders the table of files that the prompt shows in full, or returns `None` if there are none.
    fn files(&self) -> Option<String> {
        let mut selected = self.files.iter().filter(|file| file.excerpts.is_empty()).peekable();
        selected.peek()?;
        let mut table = Table::new([Align::Right, Align::Left, Align::Left, Align::Left]);
        table.row(["tokens", "tier", "version", "file in full"].map(str::to_owned));
        for File { path, hash, tokens, tier, .. } in selected {
            let version: String = hash.chars().take(8).collect();
            table.row([count(*tokens), tier.clone(), version, path.clone()]);
        }
        Some(table.render())
    }

    /// Renders the table of excerpts that were chosen for the question, or returns `None` if there are none.
    fn excerpts(&self) -> Option<String> {
        let mut excerpts: Vec<&Excerpt> = self.files.iter().flat_map(|file| &file.excerpts).collect();
        excerpts.sort_by_key(|excerpt| excerpt.rank);
        excerpts.first()?;
        let mut table = Table::new([Align::Right, Align::Left, Align::Left, Align::Left]);
        table.row(["tokens", "lines", "chosen for", "excerpt"].map(str::to_owned));
        for Excerpt { excerpt, lines, reason, tokens, .. } in excerpts {
            let because = match reason.as_deref() {
                Some("trace") => "the stack trace",
                Some("defines") => "its name is in the prompt",
                Some("named") => "its file is named in the prompt",
                Some("called") => "code above mentions it",
                Some("words") => "words of the prompt",
                Some("file") => "its file is relevant",
                Some("open") => "its file is open",
                Some("recent") => "its file changed recently",
                _ => "",
            };
            let lines = lines.clone().unwrap_or_default();
            table.row([count(*tokens), lines, because.to_owned(), excerpt.clone()]);
        }
        Some(table.render())
    }

    fn cost(&self) -> String {
        let Cost { expected, cold, warm, output_price } = &self.cost;
        let mut table = Table::new([Align::Right, Align::Left]);
        let (unit, is_priced) = match output_price {
            Some(_) => ("cost", true),
            None => ("plain tokens", false),
        };
        table.row([unit, "expected before sending"].map(str::to_owned));
        let states =
            [(expected, "input"), (cold, "if nothing is cached"), (warm, "if it was sent just before")];
        for (cost, state) in states {
            let tokens = || count(cost.tokens.round() as usize);
            table.row([cost.dollars.filter(|_| is_priced).map_or_else(tokens, dollars), state.to_owned()]);
        }
        let answer = match output_price {
            Some(price) => [dollars(price / 1_000.0), "1,000 tokens of the answer".to_owned()],
            None => ["unknown".to_owned(), "price in money (`strata help cost`)".to_owned()],
        };
        table.row(answer);
        table.render()
    }

    fn coverage(&self) -> String {
        let Coverage { blocks, names, directories, map_budget } = self.coverage;
        format!(
            "repository: {} in the map (budget {}), {} listed by name, {} only counted by folder",
            counted(blocks, "file"),
            count(map_budget),
            count(names),
            count(directories),
        )
    }
}

/// Returns the display name of a part of the prompt.
fn label(part: &str) -> String {
    match part {
        "system" => "system prompt".to_owned(),
        "map" => "symbol map".to_owned(),
        "files" => "files in full".to_owned(),
        other => other.replace('_', " "),
    }
}
