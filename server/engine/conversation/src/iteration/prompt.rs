//! Builds the prompt of a loop's next iteration: goal, summary, newest iterations and state, each with a
//! limit.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use strata_base::external::ExternalText;
use strata_base::sanitize::escape_line_start;
use strata_base::text::{clip, clip_to_tokens};

use super::{AgentLoop, FileEvent, RollingConfig};

/// Token limit for the whole prompt.
const MAX_PROMPT_TOKENS: usize = 50_000;
/// Token limit for the goal.
const MAX_GOAL_TOKENS: usize = 1_000;
/// Token limit for each iteration shown in the prompt.
const MAX_ITERATION_TOKENS: usize = 6_000;
/// Token limit for all iterations shown in the prompt together.
const MAX_ITERATIONS_TOKENS: usize = 30_000;
/// Token limit for the instructions.
const MAX_INSTRUCTION_TOKENS: usize = 500;
/// Token limit for the state: number of iterations, program, environment and file changes.
const MAX_STATE_TOKENS: usize = 4_000;
/// Token limit for each list in the state.
const MAX_LIST_TOKENS: usize = 1_000;
/// Number of newest iterations shown in the prompt.
const MAX_SHOWN_ITERATIONS: usize = 3;
/// Maximum characters of an iteration's output shown in the prompt.
const MAX_SHOWN_OUTPUT_CHARS: usize = 1_000;
/// Maximum characters of the name of a program.
const MAX_PROGRAM_NAME_CHARS: usize = 100;
/// Maximum characters of an environment variable's value, or of a path.
const MAX_VALUE_CHARS: usize = 200;
/// Maximum number of files listed with their last change.
const MAX_LISTED_FILES: usize = 20;

const LOOP_INSTRUCTIONS: &str = "# Instructions\n\
Continue working toward the goal. Output:\n\
- `<progress>what you accomplished</progress>` for progress\n\
- `<promise>COMPLETE</promise>` when goal is fully achieved";

/// Prompt of the next iteration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextualPrompt {
    /// Text of the prompt.
    pub text: String,
    /// Tokens of the prompt.
    pub tokens: usize,
    /// Non-empty sections in order, with their tokens: `goal`, `summary`, `iterations`, `state`,
    /// `instructions`.
    pub parts: Vec<(String, usize)>,
}

impl AgentLoop {
    /// `count` counts tokens.
    pub fn prompt(&self, config: &RollingConfig, count: &dyn Fn(&str) -> usize) -> ContextualPrompt {
        let sections = [
            ("goal", Some(self.goal_section(count))),
            ("summary", self.summary_section(config, count)),
            ("iterations", self.recent_iterations_section(count)),
            ("state", Some(clip_to_tokens(&self.state_section(count), MAX_STATE_TOKENS, count))),
            ("instructions", Some(clip_to_tokens(LOOP_INSTRUCTIONS, MAX_INSTRUCTION_TOKENS, count))),
        ];
        let sections: Vec<(&str, String)> =
            sections.into_iter().filter_map(|(name, text)| Some((name, text?))).collect();
        let texts: Vec<&str> = sections.iter().map(|(_, text)| text.as_str()).collect();
        let text = clip_to_tokens(&texts.join("\n\n"), MAX_PROMPT_TOKENS, count);
        ContextualPrompt {
            tokens: count(&text),
            text,
            parts: sections.iter().map(|(name, text)| ((*name).to_owned(), count(text))).collect(),
        }
    }

    fn goal_section(&self, count: &dyn Fn(&str) -> usize) -> String {
        clip_to_tokens(&format!("# Goal\n{}", self.goal), MAX_GOAL_TOKENS, count)
    }

    fn summary_section(&self, config: &RollingConfig, count: &dyn Fn(&str) -> usize) -> Option<String> {
        if self.summary.is_empty() {
            return None;
        }
        let rest = MAX_GOAL_TOKENS + MAX_ITERATIONS_TOKENS + MAX_STATE_TOKENS + MAX_INSTRUCTION_TOKENS;
        let most = config.max_summary_tokens.min(MAX_PROMPT_TOKENS - rest);
        let text = format!(
            "# Progress Summary (iterations 1-{})\n{}",
            self.last_summarized_iteration(),
            self.summary
        );
        Some(clip_to_tokens(&text, most, count))
    }

    fn recent_iterations_section(&self, count: &dyn Fn(&str) -> usize) -> Option<String> {
        let mut newest: Vec<_> = self.verbatim_iterations().rev().take(MAX_SHOWN_ITERATIONS).collect();
        newest.reverse();
        let shown = newest.into_iter().map(|iteration| {
            let text = format!(
                "## Iteration {}\n{}",
                iteration.number,
                clip(&iteration.output, MAX_SHOWN_OUTPUT_CHARS)
            );
            clip_to_tokens(&text, MAX_ITERATION_TOKENS, count)
        });
        let shown: Vec<String> = shown.collect();
        let text = format!("# Recent Iterations\n{}", shown.join("\n\n"));
        (!shown.is_empty()).then(|| clip_to_tokens(&text, MAX_ITERATIONS_TOKENS, count))
    }

    fn state_section(&self, count: &dyn Fn(&str) -> usize) -> String {
        let cli = escape_line_start(clip(&self.current_cli, MAX_PROGRAM_NAME_CHARS));
        let mut text = format!("# Current State\n- Total iterations: {}\n- Current CLI: {cli}", self.total);
        for list in [self.environment_list(), self.file_list()].into_iter().flatten() {
            text.push('\n');
            text.push_str(&clip_to_tokens(&list, MAX_LIST_TOKENS, count));
        }
        text
    }

    fn environment_list(&self) -> Option<String> {
        let variables = self.env_snapshot.iter();
        let lines: Vec<String> = variables
            .map(|(name, value)| {
                let value = ExternalText::new(clip(value, MAX_VALUE_CHARS));
                format!("  - {}: {}", escape_line_start(name), value.line())
            })
            .collect();
        (!lines.is_empty()).then(|| format!("- Environment:\n{}", lines.join("\n")))
    }

    /// Lists the last change to each file, newest first.
    fn file_list(&self) -> Option<String> {
        let mut named = BTreeSet::new();
        let events = self.file_events.iter().rev().filter(|event| named.insert(event.path.as_str()));
        let mut lines: Vec<String> = events
            .map(|FileEvent { path, change, .. }| {
                format!("  - {}: {}", escape_line_start(clip(path, MAX_VALUE_CHARS)), change.name())
            })
            .collect();
        let more = lines.len().saturating_sub(MAX_LISTED_FILES);
        lines.truncate(MAX_LISTED_FILES);
        if more > 0 {
            lines.push(format!("  - and {more} more"));
        }
        (!lines.is_empty()).then(|| format!("- Changed files, newest first:\n{}", lines.join("\n")))
    }
}
