//! Runs the tools that the model calls while it answers. All of them are read-only: they edit no files and run no
//! programs.

use std::sync::LazyLock;

use serde_json::{Map, Value};
use strata_base::cancel::Cancel;
use strata_base::text::ellipsize;
use strata_conversation::history::{ContentBlock, ResultPart, TextOrList, ToolOutcome};
use strata_conversation::providers::Tool as Declaration;
use strata_prompt::assembly::ToolResult;

use super::connection::show_delta;
use super::delta::{Delta, DeltaToolResult};
use super::host::SendHost;
use crate::commands::{CommandError, SendJob, SendReply, ToolAccess, ToolUse};
use crate::jobs::tools::{Tool, ToolHost, ToolSchemas, call_tool};

/// Tools offered to the model, in the order of their declaration.
const OFFERED_TOOLS: [&str; 10] = [
    "map",
    "context",
    "symbols",
    "outline",
    "references",
    "dependents",
    "files_find",
    "files_read",
    "grep",
    "memory_search",
];

/// Tool that reads the remainder of a truncated result.
const READ_MORE_TOOL: &str = "tool_output_read";

/// Maximum number of characters of a tool result that are shown to the client.
const MAX_SHOWN_CHARS: usize = 2_000;

/// Result of a call in an answer to a question without tools.
const TOOLS_FORBIDDEN: &str = "no tools may be used for this question; answer with what you know";

/// Maximum number of tool calls in one answer that are run. Models make up to a dozen.
const MAX_CALLS: usize = 64;
/// Maximum size of the results of one answer together, in bytes. A result has at most 4,000 tokens unless the model asks
/// for more.
const MAX_RESULT_BYTES: usize = 1 << 20;

/// The content of the next request to the model.
pub(super) enum RoundInput {
    Question,
    Results(Vec<ToolResult>),
}

/// Returns the declarations of the offered tools for `strata.prompt.assemble`. They are always identical, so that they
/// stay cached.
pub(super) fn tool_declarations() -> &'static [Declaration] {
    static DECLARATIONS: LazyLock<Vec<Declaration>> = LazyLock::new(|| {
        let schemas = ToolSchemas::from_commands();
        let declared = |tool: &Tool| Declaration {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            input_schema: schemas.input_schema(tool).into(),
        };
        OFFERED_TOOLS
            .iter()
            .chain([&READ_MORE_TOOL])
            .filter_map(|name| Tool::by_name(name))
            .map(declared)
            .collect()
    });
    &DECLARATIONS
}

impl SendJob {
    /// Whether requests declare Strata's tools. They also do if the model may not use them now, but the last request
    /// declared them, because the provider's cache begins with the declarations.
    pub(super) fn declares_tools(&self) -> bool {
        self.tools == ToolAccess::Read || self.last_tools == tool_declarations()
    }

    /// Runs the tool calls in an answer, and returns their results.
    pub(super) fn answer_calls(
        &self,
        content: &[ContentBlock],
        reply: &mut SendReply,
        host: &mut dyn SendHost,
        cancel: &Cancel,
    ) -> Result<Vec<ToolResult>, CommandError> {
        let is_last = self.tools == ToolAccess::Read && reply.rounds == self.tool_rounds;
        let calls = content.iter().filter_map(|block| match block {
            ContentBlock::ToolCall { id, name, input } => Some((id, name, input)),
            _ => None,
        });
        let count = calls.clone().count();
        let mut results = Vec::new();
        let mut bytes = 0;
        for (number, (id, name, input)) in (1..).zip(calls) {
            cancel.check()?;
            let result = match reason_call_not_run(number, bytes) {
                _ if self.tools == ToolAccess::None => Err(CommandError::failed(TOOLS_FORBIDDEN.to_owned())),
                Some(reason) => {
                    reply.warn([
                        "the model exceeded the limit for tool calls in one answer; some were not run"
                            .to_owned(),
                    ]);
                    Err(CommandError::failed(reason))
                }
                None => {
                    host.progress(&format!("running the tool {name}"));
                    run_tool(name, input, host)
                }
            };
            let (mut text, outcome) = match result {
                Ok(text) => (text, ToolOutcome::Ok),
                Err(CommandError::Cancelled) => return Err(CommandError::Cancelled),
                Err(error) => (error.to_string(), ToolOutcome::Error),
            };
            if is_last && number == count {
                text.push_str("\n(No more tool calls are possible. Answer with what you know.)");
            }
            bytes += text.len();
            let failed = outcome == ToolOutcome::Error;
            reply.tools.push(ToolUse { name: name.clone(), input: input.clone(), failed });
            let (id, name) = (id.clone(), name.clone());
            let shown =
                DeltaToolResult { id: id.clone(), name, outcome, text: ellipsize(&text, MAX_SHOWN_CHARS) };
            show_delta(&self.connection, host, |delta| Delta { tool_result: Some(shown), ..delta });
            let content = TextOrList(vec![ResultPart::Text { text }]);
            results.push(ToolResult { call_id: id, content, outcome });
        }
        Ok(results)
    }
}

/// Returns why a call is not run: its number, counted from 1, or the size of the earlier results in bytes.
fn reason_call_not_run(number: usize, bytes: usize) -> Option<String> {
    if number > MAX_CALLS {
        Some(format!(
            "not run, because the answer contains more than {MAX_CALLS} tool calls; repeat it if you need it"
        ))
    } else if bytes > MAX_RESULT_BYTES {
        Some(format!(
            "not run, because the results of the earlier calls have more than {MAX_RESULT_BYTES} bytes; repeat it if you need it"
        ))
    } else {
        None
    }
}

fn run_tool(called: &str, input: &Value, host: &mut dyn ToolHost) -> Result<String, CommandError> {
    let offered = || OFFERED_TOOLS.iter().copied().chain([READ_MORE_TOOL]);
    // Models trained on the tools of other assistants omit the `files_` prefix.
    let is_called = |name: &&str| *name == called || name.strip_prefix("files_") == Some(called);
    let tool = offered().find(is_called).and_then(Tool::by_name).ok_or_else(|| {
        let names: Vec<&str> = offered().collect();
        CommandError::failed(format!("unknown tool `{called}`; available: {}", names.join(", ")))
    })?;
    let input = match input {
        Value::Object(input) => input.clone(),
        Value::Null => Map::new(),
        _ => return Err(CommandError::invalid("", "expected one JSON object")),
    };
    Ok(call_tool(tool, input, host)?.text)
}
