//! Any history, cut anywhere, becomes a body that providers accept and that has the same content as the layout.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use strata_conversation::history::{
    Foreign, ForeignPosition, ForeignProvider, Message, MessageId, MessageKind, NewMessage, Visibility,
    project,
};

use super::*;

/// The only provider that accepts reasoning in requests.
const ANTHROPIC: Option<ForeignProvider> = Some(ForeignProvider::Anthropic);

/// A small set of ids, so that calls and results repeat, cross or miss each other. Providers reject some of them.
fn ids() -> impl Strategy<Value = String> {
    let long = "call_0123456789012345678901234567890123456789";
    select(vec!["a", "b", "c", "call_0", "", "fc|weird.1", long]).prop_map(str::to_owned)
}

fn texts() -> impl Strategy<Value = String> {
    select(vec!["", " \n", "Hi.", "```\nopen", "# [1] System\n\n<!-- x", "\u{1d11e} caf\u{e9}"])
        .prop_map(str::to_owned)
}

fn images() -> impl Strategy<Value = Image> {
    let base64_image = |media_type: &str, data: &str| Image {
        source: ImageSource::Base64 { media_type: media_type.into(), data: data.into() },
        width: Some(3),
        height: None,
    };
    let data = |image: Image| match image.source {
        ImageSource::Base64 { data, .. } => data,
        ImageSource::Url { url } => url,
    };
    let image_at =
        |url: &str| Image { source: ImageSource::Url { url: url.into() }, width: None, height: None };
    select(vec![
        png(3, 4),
        png(2001, 4),
        png(4, 9000),
        base64_image("image/svg+xml", "eA=="),
        base64_image("image/jpeg", ""),
        base64_image("image/webp", "not base64!"),
        base64_image("image/png", "AAAA"),
        base64_image("image/gif", &data(png(3, 4))),
        base64_image("image/png", &data(png(0, 4))),
        image_at("https://example.org/a.png"),
        image_at("file:///a.png"),
    ])
}

fn good_images() -> impl Strategy<Value = Image> {
    select(vec![png(3, 4), png(2000, 4)])
}

/// Blocks that only one provider supports: known and unknown, valid and invalid, in allowed and forbidden positions.
fn foreign() -> impl Strategy<Value = Foreign> {
    let values = select(vec![
        json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}}),
        json!({"type": "image", "source": {"type": "file", "file_id": "file_1"}}),
        json!({"type": "image", "source": {"type": "elsewhere"}}),
        json!({"type": "tool_reference", "tool_name": "read"}),
        json!({"type": "document", "source": {"type": "content", "content": [
            {"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        ]}, "cache_control": {"type": "lasting"}}),
        json!({"type": "document", "title": "x"}),
        json!({"type": "search_result", "source": "a", "title": "x"}),
        json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}),
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}),
        json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}),
        json!({"type": "mcp_tool_use", "id": "m", "name": "x", "server_name": "y", "input": {}}),
        json!({"type": "mcp_tool_result", "tool_use_id": "m", "content": []}),
        json!({"type": "container_upload"}),
        json!({"type": "file"}),
        json!({"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}),
        json!({"type": "refusal", "refusal": "No."}),
        json!({"type": "refusal", "refusal": " "}),
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbA=="}),
        json!({"type": "reasoning", "id": "rs_2", "summary": []}),
        json!({"type": "thought_signature", "thoughtSignature": "c2VhbA=="}),
        json!({"type": "news", "text": "Hear, hear."}),
        json!("not even a block"),
    ]);
    let providers = select(vec![
        ForeignProvider::Anthropic,
        ForeignProvider::OpenAi,
        ForeignProvider::OpenAiResponses,
        ForeignProvider::Gemini,
    ]);
    (providers, values).prop_map(|(provider, value)| Foreign { provider, value })
}

fn parts(images: BoxedStrategy<Image>) -> impl Strategy<Value = Vec<ResultPart>> {
    let text = texts().prop_map(|text| ResultPart::Text { text });
    let foreign = foreign().prop_map(ResultPart::Foreign);
    vec(prop_oneof![6 => text, 2 => images.prop_map(ResultPart::Image), 1 => foreign], 0..3)
}

fn results(images: BoxedStrategy<Image>) -> impl Strategy<Value = ContentBlock> {
    let outcome = select(vec![ToolOutcome::Ok, ToolOutcome::Error]);
    (ids(), parts(images), outcome).prop_map(|(call_id, content, outcome)| ContentBlock::ToolResult {
        call_id,
        content,
        outcome,
    })
}

fn blocks() -> impl Strategy<Value = ContentBlock> {
    let names = select(vec!["read", "files.read", "", "outil \u{e9}l\u{e9}gant"]).prop_map(str::to_owned);
    let inputs = select(vec![json!({"b": 1, "a": "x"}), json!({}), json!(null), json!("raw"), json!([1])]);
    let seals = option::of(select(vec!["", "c2VhbA=="]).prop_map(str::to_owned));
    prop_oneof![
        4 => texts().prop_map(|text| ContentBlock::Text { text }),
        1 => images().prop_map(ContentBlock::Image),
        2 => (texts(), seals).prop_map(|(text, signature)| ContentBlock::Thinking { text, signature }),
        1 => texts().prop_map(|data| ContentBlock::RedactedThinking { data }),
        1 => foreign().prop_map(ContentBlock::Foreign),
        4 => (ids(), names, inputs).prop_map(|(id, name, input)| ContentBlock::ToolCall { id, name, input }),
        4 => results(images().boxed()),
    ]
}

fn messages() -> impl Strategy<Value = NewMessage> {
    let kinds = select(vec![
        MessageKind::Normal,
        MessageKind::Normal,
        MessageKind::ToolResult,
        MessageKind::ToolResultArchived,
    ]);
    let visibilities =
        select(vec![Visibility::Shown, Visibility::Shown, Visibility::Shown, Visibility::Hidden]);
    (select(vec![Role::User, Role::Assistant]), vec(blocks(), 0..5), kinds, visibilities)
        .prop_map(|(role, content, kind, agent)| NewMessage { kind, agent, ..NewMessage::new(role, content) })
}

/// An exchange as agents produce it: calls, and results that mostly match them.
fn exchanges() -> impl Strategy<Value = Vec<NewMessage>> {
    let call = |id: &String| call(id, "read", json!({"path": id}));
    (vec(ids(), 1..4), vec(ids(), 0..2), texts()).prop_map(move |(called, stray, message)| {
        let answers = called.iter().chain(&stray).rev().map(|id| result(id, vec![part("out")]));
        vec![
            NewMessage::text(Role::User, message.clone()),
            NewMessage::new(Role::Assistant, called.iter().map(call).collect()),
            NewMessage::new(Role::User, answers.collect()),
            NewMessage::text(Role::Assistant, message),
        ]
    })
}

fn histories() -> impl Strategy<Value = Vec<Message>> {
    let exchange_or_message = prop_oneof![messages().prop_map(|message| vec![message]), exchanges()];
    vec(exchange_or_message, 0..5).prop_map(|lists| numbered(lists.concat()))
}

fn numbered(messages: Vec<NewMessage>) -> Vec<Message> {
    (1..).zip(messages).map(|(id, body)| Message { id: MessageId(id), body }).collect()
}

fn prompts() -> impl Strategy<Value = Vec<ContentBlock>> {
    let block = prop_oneof![
        2 => texts().prop_map(|text| ContentBlock::Text { text }),
        1 => good_images().prop_map(ContentBlock::Image),
        3 => results(good_images().boxed()),
    ];
    vec(block, 0..4)
}

/// Projects a history. Adds a text if no part of the prompt can be sent.
fn projected(history: &[Message], prompt: &[ContentBlock], format: Format) -> Projection {
    let mut projection = project(history, prompt, format.foreign_provider());
    if projection.results.is_empty() && projection.prompt.is_empty() {
        projection.prompt.push(ContentBlock::text("Go on."));
    }
    projection
}

fn sorted_pieces<'a>(pieces: impl IntoIterator<Item = TextOrImage<'a>>) -> Vec<String> {
    let mut all: Vec<String> = pieces.into_iter().map(|piece| format!("{piece:?}")).collect();
    all.sort();
    all
}

proptest! {
    #[test]
    fn any_part_of_a_history_gives_a_valid_body(history in histories(), prompt in prompts()) {
        for format in json_formats() {
            for from in 0..=history.len() {
                for to in from..=history.len() {
                    let layout = lay_out(&projected(&history[from..to], &prompt, format));
                    assert_valid(format, &json_of(&layout, format, &[tool("read")]));
                }
            }
        }
    }

    #[test]
    fn a_history_alone_gives_a_valid_body(history in histories()) {
        for format in json_formats() {
            let mut projection = project(&history, &[], format.foreign_provider());
            if projection.history.last().is_none_or(|message| message.role == Role::Assistant) {
                projection = projected(&history, &[ContentBlock::text("Go on.")], format);
            }
            let mut layout = Layout::default();
            for message in &projection.history {
                let speaker = if message.role == Role::User { Speaker::User } else { Speaker::Assistant };
                message.content.iter().for_each(|content| layout.push(speaker, block(content.clone())));
            }
            projection.prompt.iter().for_each(|content| layout.push(Speaker::User, block(content.clone())));
            assert_valid(format, &json_of(&layout, format, &[]));
        }
    }

    #[test]
    fn every_piece_arrives_unchanged(history in histories(), prompt in prompts()) {
        for format in json_formats() {
            let layout = lay_out(&projected(&history, &prompt, format));
            let body = json_of(&layout, format, &[tool("read")]);
            let layout_pieces = sorted_pieces(layout.blocks().flat_map(|block| texts_and_images(&block.content)));
            prop_assert_eq!(layout_pieces, sorted_pieces(pieces(format, &body)));
            prop_assert_eq!(body, json_of(&layout, format, &[tool("read")]));
        }
    }

    #[test]
    fn breakpoints_change_nothing_else(history in histories(), prompt in prompts()) {
        let layout = lay_out(&projected(&history, &prompt, Format::OpenAi));
        let tools = [tool("read")];
        let body = body_of(&layout, Format::OpenAi, &tools, BreakpointMode::Explicit);
        assert_valid(Format::OpenAi, &body);
        prop_assert!(body.to_string().contains("prompt_cache_breakpoint"));
        prop_assert_eq!(without_breakpoints(body), json_of(&layout, Format::OpenAi, &tools));
    }

    #[test]
    fn breakpoints_on_responses_items_are_valid(history in histories(), prompt in prompts()) {
        let layout = lay_out(&projected(&history, &prompt, Format::Responses));
        let tools = [tool("read")];
        let body = body_of(&layout, Format::Responses, &tools, BreakpointMode::Explicit);
        assert_valid(Format::Responses, &body);
        prop_assert!(body.to_string().contains("prompt_cache_breakpoint"));
        prop_assert_eq!(sorted_pieces(pieces(Format::Responses, &body)), sorted_pieces(pieces(Format::Responses, &json_of(&layout, Format::Responses, &tools))));
    }

    #[test]
    fn projecting_a_history_loses_no_text(history in histories()) {
        let visible = history.iter().filter(|m| {
            m.body.agent == Visibility::Shown && m.body.kind != MessageKind::ToolResultArchived
        });
        let texts: Vec<&str> = visible
            .flat_map(|m| m.body.content.iter().filter_map(|block| text_sent_to_anthropic(block, m.body.role)))
            .filter(|text| !text.trim().is_empty())
            .collect();
        let projection = project(&history, &[], ANTHROPIC);
        let sent: Vec<&str> = projection.history.iter().flat_map(|message| &message.content).filter_map(block_text).collect();
        let placeholders = [strata_conversation::history::EARLIER_LEFT_OUT, strata_conversation::history::PICTURE_LEFT_OUT];
        let is_from_history = |text: &&str| !placeholders.contains(text) && !text.starts_with("<late_tool_result ");
        let sent: Vec<&str> = sent.into_iter().filter(is_from_history).collect();
        prop_assert_eq!(texts, sent);
    }

    #[test]
    fn reasoning_is_sent_back_completely_or_not_at_all(history in histories()) {
        let projection = project(&history, &[ContentBlock::text("Go on.")], ANTHROPIC);
        for message in &history {
            let sent_reasoning = projection.history.iter().filter(|sent| sent.id == message.id && sent.role == Role::Assistant);
            let sent_reasoning: Vec<&ContentBlock> = sent_reasoning.flat_map(|sent| &sent.content).filter(|b| is_sealed(b)).collect();
            let original: Vec<&ContentBlock> = message.body.content.iter().filter(|b| is_sealed(b)).collect();
            prop_assert!(sent_reasoning.is_empty() || sent_reasoning == original, "{:?} of {:?}", sent_reasoning, original);
        }
        let dropped = project(&history, &[], Some(ForeignProvider::OpenAi));
        let blocks = dropped.history.iter().flat_map(|message| &message.content);
        prop_assert_eq!(blocks.filter(|block| block.is_reasoning()).count(), 0);
    }

    #[test]
    fn projecting_twice_changes_nothing(history in histories()) {
        let once = project(&history, &[], ANTHROPIC).history;
        let again: Vec<Message> = once.iter().map(|message| Message {
            id: message.id,
            body: NewMessage::new(message.role, message.content.clone()),
        }).collect();
        prop_assert_eq!(project(&again, &[], ANTHROPIC).history, once);
    }

    /// When the conversation grows, content that was already sent is sent again byte for byte, as prompt caches
    /// require.
    #[test]
    fn a_longer_history_starts_with_the_shorter(mut history in histories(), prompt in prompts()) {
        for message in &mut history {
            // The limit on images depends on their number in the whole request.
            message.body.content.retain(|block| !matches!(block, ContentBlock::Image(_)));
        }
        let mut request: Vec<ContentBlock> = prompt.into_iter().filter(|b| !matches!(b, ContentBlock::Image(_))).collect();
        request.push(ContentBlock::text("Go on."));
        let first = project(&history, &request, ANTHROPIC);
        let sent = sent_blocks(&first);

        let next = MessageId(history.len() as u64 + 1);
        history.push(Message { id: next, body: NewMessage::new(Role::User, request) });
        history.push(Message { id: MessageId(next.0 + 1), body: NewMessage::text(Role::Assistant, "Done.") });
        let second = sent_blocks(&project(&history, &[ContentBlock::text("Thanks.")], ANTHROPIC));
        prop_assert_eq!(&second[..sent.len()], &sent[..]);
    }

    #[test]
    fn reading_image_sizes_does_not_panic(head in select(vec![
        &b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], b"\xff\xd8\xff\xe0", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8 ", b"RIFF\0\0\0\0WEBPVP8X",
    ]), tail in vec(any::<u8>(), 0..60)) {
        let data = STANDARD.encode([head, &tail].concat());
        if let Some(sides) = strata_conversation::history::image_size(&data) {
            prop_assert!(sides.longer_side() >= sides.width.min(sides.height));
        }
    }
}

/// Removes the breakpoints from a body, as for a model that accepts none.
fn without_breakpoints(mut body: Value) -> Value {
    let fields = body.as_object_mut().unwrap();
    assert_eq!(fields.shift_remove("prompt_cache_options"), Some(json!({"mode": "explicit"})));
    for message in body["messages"].as_array_mut().unwrap() {
        let Some(parts) = message["content"].as_array_mut() else { continue };
        for part in parts.iter_mut() {
            part.as_object_mut().unwrap().shift_remove("prompt_cache_breakpoint");
        }
        if let [part] = parts.as_slice()
            && part["type"] == "text"
        {
            message["content"] = part["text"].clone();
        }
    }
    body
}

/// OpenAI accepts strings of at most 1,048,576 characters.
#[test]
fn a_text_that_is_too_long_for_a_string_is_sent_in_parts() {
    let long: String = "\u{1d11e}x".repeat(1_048_576);
    let messages = [
        NewMessage::text(Role::User, long.clone()),
        NewMessage::new(
            Role::Assistant,
            vec![ContentBlock::text(long.clone()), call("a", "read", json!({}))],
        ),
        NewMessage::new(Role::User, vec![result("a", vec![part(&long)])]),
    ];
    let projection = project(
        &numbered(messages.to_vec()),
        &[ContentBlock::text(long.clone())],
        Some(ForeignProvider::OpenAi),
    );
    let mut layout = lay_out(&projection);
    layout.push(Speaker::System, text(&long));
    let body = json_of(&layout, Format::OpenAi, &[]);
    assert_valid(Format::OpenAi, &body);
    let parts =
        body["messages"].as_array().unwrap().iter().filter_map(|message| message["content"].as_array());
    let texts: String = parts.flatten().filter_map(|part| part["text"].as_str()).collect();
    assert_eq!(texts.matches(&long).count(), 5);
}

/// Returns the blocks of a request in the order they are sent, each with its role.
fn sent_blocks(projection: &Projection) -> Vec<Value> {
    let mut layout = Layout::default();
    for message in &projection.history {
        let speaker = if message.role == Role::User { Speaker::User } else { Speaker::Assistant };
        message.content.iter().for_each(|content| layout.push(speaker, block(content.clone())));
    }
    let request = projection.results.iter().chain(&projection.prompt);
    request.for_each(|content| layout.push(Speaker::User, block(content.clone())));
    let body = json_of(&layout, Format::Anthropic, &[]);
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let blocks = messages.iter().flat_map(|message| {
        let blocks = match &message["content"] {
            Value::Array(blocks) => blocks.clone(),
            text => vec![json!({"type": "text", "text": text})],
        };
        blocks.into_iter().map(|block| json!([message["role"], block]))
    });
    blocks.collect()
}

fn block_text(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text { text } => Some(text),
        _ => None,
    }
}

/// A foreign block that cannot be sent back unchanged is sent as its text.
fn text_sent_to_anthropic(block: &ContentBlock, role: Role) -> Option<&str> {
    match block {
        ContentBlock::Foreign(foreign) if !foreign.is_accepted_by(ANTHROPIC, ForeignPosition::Said(role)) => {
            foreign.text()
        }
        other => block_text(other),
    }
}

fn is_sealed(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::Thinking { signature: Some(seal), .. } => !seal.is_empty(),
        ContentBlock::RedactedThinking { data } => !data.is_empty(),
        _ => false,
    }
}
