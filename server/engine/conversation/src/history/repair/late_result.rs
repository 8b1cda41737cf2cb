//! Results that arrive after the assistant has continued without them. Providers accept a result only directly after its
//! call, so the model gets a late one as text.

use strata_base::sanitize::escape_closing_tags;

use crate::history::{ContentBlock, ResultPart, ToolOutcome};

/// Tag around the text of a late result.
const TAG: &str = "late_tool_result";

/// A call that got a substitute result.
pub(super) struct SubstitutedCall {
    /// Id under which the call is sent.
    pub(super) sent_as: String,
    /// Name of the tool.
    pub(super) tool: String,
}

impl SubstitutedCall {
    /// Converts the call's result to a text that names the call, followed by the images of the result.
    pub(super) fn late_result(&self, content: Vec<ResultPart>, outcome: ToolOutcome) -> Vec<ContentBlock> {
        let (mut text, mut images) = (String::new(), Vec::new());
        for part in content {
            match part {
                ResultPart::Text { text: part } => text.extend(["\n", &escape_closing_tags(&part, &[TAG])]),
                ResultPart::Image(image) => images.push(ContentBlock::Image(image)),
                // The recipient accepts these parts only inside a result.
                ResultPart::Foreign(foreign) => {
                    text.extend(
                        foreign.text().map(|part| format!("\n{}", escape_closing_tags(part, &[TAG]))),
                    );
                }
            }
        }
        let Self { sent_as, tool } = self;
        let outcome = if outcome == ToolOutcome::Error { " outcome=\"error\"" } else { "" };
        let open = format!("<{TAG} tool=\"{tool}\" call=\"{sent_as}\"{outcome}>");
        let mut blocks = vec![ContentBlock::text(format!("{open}{text}\n</{TAG}>"))];
        blocks.append(&mut images);
        blocks
    }
}
