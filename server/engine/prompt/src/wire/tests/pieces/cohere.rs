//! Reads the texts and images of a finished body.

use serde_json::Value;
use strata_conversation::providers::TextOrImage;

use super::openai;

pub(super) fn pieces(body: &Value) -> Vec<TextOrImage<'_>> {
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let plans = messages.filter_map(|message| message.get("tool_plan")?.as_str()).map(TextOrImage::text);
    plans.chain(openai::pieces(body)).collect()
}
