//! Tests of the formats: a round trip loses nothing, and no input causes a panic.

mod agent_files;
mod agents;
pub(crate) mod check;
mod reading;
mod records;
mod round_trips;
mod rules;

use serde_json::{Value, json};

use super::*;
use crate::history::{
    ContentBlock, Foreign, ForeignProvider, Image, ImageSource, MessageKind, NewMessage, ResultPart, Role,
    ToolOutcome, Visibility,
};
use crate::providers::anthropic::exchange::{
    read_conversation as read_anthropic, tests::write as write_anthropic,
};
use crate::providers::openai::exchange::{read_conversation as read_openai, tests::write as write_openai};
use crate::providers::responses::exchange::{
    read_conversation as read_responses, tests::write as write_responses,
};

fn call(id: &str, input: Value) -> ContentBlock {
    ContentBlock::ToolCall { id: id.into(), name: "read".into(), input }
}

fn result(call_id: &str, content: Vec<ResultPart>) -> ContentBlock {
    ContentBlock::ToolResult { call_id: call_id.into(), content, outcome: ToolOutcome::Ok }
}

fn results(call_id: &str, text: &str) -> NewMessage {
    let message =
        NewMessage::new(Role::User, vec![result(call_id, vec![ResultPart::Text { text: text.into() }])]);
    NewMessage { kind: MessageKind::ToolResult, ..message }
}
