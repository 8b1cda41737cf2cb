//! Properties of all dialects: valid bodies for any history, unchanged texts, and every provider rule checked.

mod breaches;
mod injection;
mod journeys;
mod mutations;
pub(crate) mod pieces;
mod snapshots;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use strata_conversation::history::{
    ContentBlock, Image, ImageSource, Projection, ResultPart, Role, ToolOutcome,
};
use strata_conversation::providers::{
    BreakpointMode, Format, Rule, Speaker, TextOrImage, Tool, ToolChoice, check, texts_and_images,
};
use strata_tokens::models::Ttl;

use self::pieces::pieces;
use super::*;
use crate::layout::{ItemKey, LayoutBlock, Part, Tier};

/// The formats whose bodies can be checked.
fn json_formats() -> impl Iterator<Item = Format> {
    Format::ALL.iter().copied().filter(|format| format.dialect().is_some())
}

fn block(content: ContentBlock) -> LayoutBlock {
    LayoutBlock { content, part: Part::History, items: Vec::new(), tier: Tier::Active, tokens: 0, mark: None }
}

fn text(text: &str) -> LayoutBlock {
    block(ContentBlock::text(text))
}

fn marked(content: ContentBlock, tier: Tier, mark: Ttl) -> LayoutBlock {
    LayoutBlock { tier, mark: Some(mark), ..block(content) }
}

fn call(id: &str, name: &str, input: Value) -> ContentBlock {
    ContentBlock::ToolCall { id: id.into(), name: name.into(), input }
}

fn result(call_id: &str, content: Vec<ResultPart>) -> ContentBlock {
    ContentBlock::ToolResult { call_id: call_id.into(), content, outcome: ToolOutcome::Ok }
}

fn part(text: &str) -> ResultPart {
    ResultPart::Text { text: text.into() }
}

fn tool(name: &str) -> Tool {
    let input_schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    Tool { name: name.into(), description: "Reads a file.".into(), input_schema }
}

/// Creates the header of a PNG file of the given size. Nothing else of the file is read here.
fn png(width: u32, height: u32) -> Image {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
    let source = ImageSource::Base64 { media_type: "image/png".into(), data: STANDARD.encode(bytes) };
    Image { source, width: None, height: None }
}

/// Lays out a projection like the assembler does: instructions, files with a breakpoint, the history, the new results,
/// a volatile tail, and the prompt.
fn lay_out(projection: &Projection) -> Layout {
    let mut layout = Layout::default();
    layout.push(Speaker::System, text("You read code."));
    let files = "# Working Files\n\n```\nfn main() {}\n```\n";
    layout.push(Speaker::User, marked(ContentBlock::text(files), Tier::L1, Ttl::OneHour));
    layout.push(Speaker::Assistant, text("Understood."));
    let sent_blocks = projection
        .history
        .iter()
        .flat_map(|message| message.content.iter().map(move |block| (message, block)));
    let last_shown = sent_blocks.clone().filter(|(_, block)| !block.is_reasoning()).count();
    let mut shown_blocks = 0;
    for (message, content) in sent_blocks {
        let speaker = if message.role == Role::User { Speaker::User } else { Speaker::Assistant };
        shown_blocks += usize::from(!content.is_reasoning());
        let mark = (shown_blocks == last_shown).then_some(Ttl::FiveMinutes);
        let items = vec![ItemKey::History(message.id)];
        layout.push(speaker, LayoutBlock { items, mark, ..block(content.clone()) });
    }
    for result in &projection.results {
        layout.push(Speaker::User, block(result.clone()));
    }
    layout.push(Speaker::User, text("Today is Tuesday."));
    for content in &projection.prompt {
        layout.push(Speaker::User, block(content.clone()));
    }
    layout
}

fn json_of(layout: &Layout, format: Format, tools: &[Tool]) -> Value {
    body_of(layout, format, tools, BreakpointMode::Automatic)
}

fn body_of(layout: &Layout, format: Format, tools: &[Tool], breakpoints: BreakpointMode) -> Value {
    let envelope = Envelope {
        model: "some-model",
        tools,
        tool_choice: ToolChoice::Auto,
        cache_key: Some("strata-1"),
        breakpoints,
    };
    match render(layout, format, &envelope).body {
        Body::Json(body) => body,
        Body::Text(text) => panic!("{format:?} has no JSON body: {text}"),
    }
}

fn markdown_of(layout: &Layout) -> String {
    let breakpoints = BreakpointMode::Automatic;
    match render(
        layout,
        Format::Markdown,
        &Envelope { model: "m", tools: &[], tool_choice: ToolChoice::Auto, cache_key: None, breakpoints },
    )
    .body
    {
        Body::Text(text) => text,
        Body::Json(body) => panic!("markdown is text, not {body}"),
    }
}

#[track_caller]
fn assert_valid(format: Format, body: &Value) {
    let violations: Vec<String> = check(format, body).iter().map(ToString::to_string).collect();
    assert!(violations.is_empty(), "{violations:#?}\n{body:#}");
}

#[test]
fn bedrock_gets_the_tools_that_the_history_called() {
    let mut layout = Layout::default();
    layout.push(Speaker::User, text("Look."));
    layout.push(Speaker::Assistant, block(call("a", "read", json!({"path": "x"}))));
    layout.push(Speaker::User, block(result("a", vec![part("text")])));
    for (tools, names) in [(vec![], json!(["read"])), (vec![tool("grep")], json!(["grep"]))] {
        let envelope = Envelope {
            model: "m",
            tools: &tools,
            tool_choice: ToolChoice::Auto,
            cache_key: None,
            breakpoints: BreakpointMode::Automatic,
        };
        let Body::Json(body) = render(&layout, Format::Bedrock, &envelope).body else { panic!("no JSON") };
        let declared = body["toolConfig"]["tools"].as_array().unwrap();
        let declared: Value = declared.iter().map(|tool| tool["toolSpec"]["name"].clone()).collect();
        assert_eq!(declared, names);
        assert_eq!(check(Format::Bedrock, &body), []);
        let mut without = body.clone();
        without.as_object_mut().unwrap().shift_remove("toolConfig");
        assert_eq!(check(Format::Bedrock, &without).len(), 1);
    }
}

#[test]
fn tools_that_may_not_be_called_stay_declared() {
    let mut layout = Layout::default();
    layout.push(Speaker::User, text("Look."));
    let tools = [tool("grep")];
    for (format, field, expected) in [
        (Format::Anthropic, "tool_choice", json!({"type": "none"})),
        (Format::OpenAi, "tool_choice", json!("none")),
        (Format::Responses, "tool_choice", json!("none")),
        (Format::Gemini, "toolConfig", json!({"functionCallingConfig": {"mode": "NONE"}})),
    ] {
        let body = |tools: &[Tool], tool_choice| {
            let breakpoints = BreakpointMode::Automatic;
            let envelope = Envelope { model: "m", tools, tool_choice, cache_key: None, breakpoints };
            let Body::Json(body) = render(&layout, format, &envelope).body else { panic!("no JSON") };
            assert_eq!(check(format, &body), []);
            body
        };
        let (may, may_not) = (body(&tools, ToolChoice::Auto), body(&tools, ToolChoice::None));
        assert_eq!((may.get(field), may_not.get(field)), (None, Some(&expected)), "{format:?}");
        assert_eq!(may["tools"], may_not["tools"], "{format:?}");
        assert_eq!(body(&[], ToolChoice::None).get(field), None, "{format:?}");
    }
}
