//! Snapshots of one prompt in each dialect.

use expect_test::{Expect, expect};

use super::*;

/// Lays out a prompt with everything that a dialect has to write.
fn layout_with_everything() -> Layout {
    let mut layout = Layout::default();
    layout.push(Speaker::System, text("You read code."));
    layout.push(Speaker::System, marked(ContentBlock::text("# Legend"), Tier::L0, Ttl::OneHour));
    layout.push(Speaker::User, text("Show me a.rs."));
    let sealed = ContentBlock::Thinking { text: "A file.".into(), signature: Some("c2VhbA==".into()) };
    let redacted = ContentBlock::RedactedThinking { data: "ZGF0YQ==".into() };
    layout.push(Speaker::Assistant, block(sealed));
    layout.push(Speaker::Assistant, block(redacted));
    layout.push(Speaker::Assistant, text("I read it."));
    layout.push(Speaker::Assistant, block(call("call_1", "read", json!({"path": "a.rs", "lines": [1, 2]}))));
    layout.push(Speaker::Assistant, block(call("call_2", "draw", json!({}))));
    layout.push(Speaker::User, text("Said while the tools ran."));
    layout
        .push(Speaker::User, marked(result("call_1", vec![part("fn a() {}\n")]), Tier::L3, Ttl::FiveMinutes));
    let image = Image { width: Some(8), height: Some(9), ..png(8, 9) };
    layout.push(
        Speaker::User,
        block(result("call_2", vec![part("drawn"), part("twice"), ResultPart::Image(image)])),
    );
    let source = ImageSource::Url { url: "https://example.org/b.png".into() };
    layout.push(Speaker::User, block(ContentBlock::Image(Image { source, width: None, height: None })));
    layout
}

fn assert_shows(body: &Value, expected: &Expect) {
    expected.assert_eq(&format!("{body:#}\n"));
}

#[test]
fn anthropic() {
    let body = json_of(&layout_with_everything(), Format::Anthropic, &[tool("read"), tool("draw")]);
    assert_valid(Format::Anthropic, &body);
    assert_shows(
        &body,
        &expect![[r##"
        {
          "model": "some-model",
          "tools": [
            {
              "name": "read",
              "description": "Reads a file.",
              "input_schema": {
                "type": "object",
                "properties": {
                  "path": {
                    "type": "string"
                  }
                }
              }
            },
            {
              "name": "draw",
              "description": "Reads a file.",
              "input_schema": {
                "type": "object",
                "properties": {
                  "path": {
                    "type": "string"
                  }
                }
              }
            }
          ],
          "system": [
            {
              "type": "text",
              "text": "You read code."
            },
            {
              "type": "text",
              "text": "# Legend",
              "cache_control": {
                "type": "ephemeral",
                "ttl": "1h"
              }
            }
          ],
          "messages": [
            {
              "role": "user",
              "content": "Show me a.rs."
            },
            {
              "role": "assistant",
              "content": [
                {
                  "type": "thinking",
                  "thinking": "A file.",
                  "signature": "c2VhbA=="
                },
                {
                  "type": "redacted_thinking",
                  "data": "ZGF0YQ=="
                },
                {
                  "type": "text",
                  "text": "I read it."
                },
                {
                  "type": "tool_use",
                  "id": "call_1",
                  "name": "read",
                  "input": {
                    "path": "a.rs",
                    "lines": [
                      1,
                      2
                    ]
                  }
                },
                {
                  "type": "tool_use",
                  "id": "call_2",
                  "name": "draw",
                  "input": {}
                }
              ]
            },
            {
              "role": "user",
              "content": [
                {
                  "type": "tool_result",
                  "tool_use_id": "call_1",
                  "content": "fn a() {}\n",
                  "cache_control": {
                    "type": "ephemeral"
                  }
                },
                {
                  "type": "tool_result",
                  "tool_use_id": "call_2",
                  "content": [
                    {
                      "type": "text",
                      "text": "drawn"
                    },
                    {
                      "type": "text",
                      "text": "twice"
                    },
                    {
                      "type": "image",
                      "source": {
                        "type": "base64",
                        "media_type": "image/png",
                        "data": "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAJCAIAAAAAAAAA"
                      }
                    }
                  ]
                },
                {
                  "type": "text",
                  "text": "Said while the tools ran."
                },
                {
                  "type": "image",
                  "source": {
                    "type": "url",
                    "url": "https://example.org/b.png"
                  }
                }
              ]
            }
          ]
        }
    "##]],
    );
}

#[test]
fn openai() {
    let body = json_of(&layout_with_everything(), Format::OpenAi, &[tool("read"), tool("draw")]);
    assert_valid(Format::OpenAi, &body);
    assert_shows(
        &body,
        &expect![[r##"
        {
          "model": "some-model",
          "prompt_cache_key": "strata-1",
          "tools": [
            {
              "type": "function",
              "function": {
                "name": "read",
                "description": "Reads a file.",
                "parameters": {
                  "type": "object",
                  "properties": {
                    "path": {
                      "type": "string"
                    }
                  }
                }
              }
            },
            {
              "type": "function",
              "function": {
                "name": "draw",
                "description": "Reads a file.",
                "parameters": {
                  "type": "object",
                  "properties": {
                    "path": {
                      "type": "string"
                    }
                  }
                }
              }
            }
          ],
          "messages": [
            {
              "role": "system",
              "content": [
                {
                  "type": "text",
                  "text": "You read code."
                },
                {
                  "type": "text",
                  "text": "# Legend"
                }
              ]
            },
            {
              "role": "user",
              "content": "Show me a.rs."
            },
            {
              "role": "assistant",
              "content": "I read it.",
              "tool_calls": [
                {
                  "id": "call_1",
                  "type": "function",
                  "function": {
                    "name": "read",
                    "arguments": "{\"path\":\"a.rs\",\"lines\":[1,2]}"
                  }
                },
                {
                  "id": "call_2",
                  "type": "function",
                  "function": {
                    "name": "draw",
                    "arguments": "{}"
                  }
                }
              ]
            },
            {
              "role": "tool",
              "tool_call_id": "call_1",
              "content": "fn a() {}\n"
            },
            {
              "role": "tool",
              "tool_call_id": "call_2",
              "content": [
                {
                  "type": "text",
                  "text": "drawn"
                },
                {
                  "type": "text",
                  "text": "twice"
                }
              ]
            },
            {
              "role": "user",
              "content": [
                {
                  "type": "image_url",
                  "image_url": {
                    "url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAJCAIAAAAAAAAA"
                  }
                },
                {
                  "type": "text",
                  "text": "Said while the tools ran."
                },
                {
                  "type": "image_url",
                  "image_url": {
                    "url": "https://example.org/b.png"
                  }
                }
              ]
            }
          ]
        }
    "##]],
    );
}

#[test]
fn markdown() {
    expect![[r##"
        # [1] System

        You read code.

        # Legend

        # [2] User

        Show me a.rs.

        # [3] Assistant

        <!-- reasoning left out -->

        <!-- reasoning left out -->

        I read it.

        Tool call `read` (`call_1`):

        ```json
        {"path":"a.rs","lines":[1,2]}
        ```

        Tool call `draw` (`call_2`):

        ```json
        {}
        ```

        # [4] User

        Tool result (`call_1`):

        ```
        fn a() {}
        ```

        Tool result (`call_2`):

        ```
        drawn
        ```

        ```
        twice
        ```

        Picture: `image/png`, 8 x 9

        Said while the tools ran.

        Picture: `https://example.org/b.png`
    "##]]
    .assert_eq(&markdown_of(&layout_with_everything()));
}

#[test]
fn one_plain_text_is_written_as_a_string() {
    let mut layout = Layout::default();
    layout.push(Speaker::System, text("Be brief."));
    layout.push(Speaker::User, text("Hi."));
    assert_shows(
        &json_of(&layout, Format::Anthropic, &[]),
        &expect![[r#"
        {
          "model": "some-model",
          "system": [
            {
              "type": "text",
              "text": "Be brief."
            }
          ],
          "messages": [
            {
              "role": "user",
              "content": "Hi."
            }
          ]
        }
    "#]],
    );
    assert_shows(
        &json_of(&layout, Format::OpenAi, &[]),
        &expect![[r#"
        {
          "model": "some-model",
          "prompt_cache_key": "strata-1",
          "messages": [
            {
              "role": "system",
              "content": "Be brief."
            },
            {
              "role": "user",
              "content": "Hi."
            }
          ]
        }
    "#]],
    );
}

/// The breakpoint of a result follows its images, and content that is not sent again becomes a separate message.
#[test]
fn openai_with_breakpoints() {
    let mut layout = layout_with_everything();
    layout.push(Speaker::User, marked(ContentBlock::text("Go on."), Tier::L3, Ttl::FiveMinutes));
    layout.push_volatile(text("Today is Tuesday."));
    let body = body_of(&layout, Format::OpenAi, &[], BreakpointMode::Explicit);
    assert_valid(Format::OpenAi, &body);
    assert_eq!(body["prompt_cache_options"], json!({"mode": "explicit"}));
    let messages = body["messages"].as_array().unwrap();
    let lines = messages.iter().flat_map(|message| {
        let parts = message["content"].as_array().cloned().unwrap_or_default();
        let role = message["role"].as_str().unwrap().to_owned();
        std::iter::once(role).chain(parts.into_iter().map(|part| {
            let mark = if part.get("prompt_cache_breakpoint").is_some() { " |" } else { "" };
            format!("  {}{mark}", part["text"].as_str().unwrap_or("(picture)").trim_end())
        }))
    });
    expect![[r##"
        system
          You read code.
          # Legend |
        user
          Show me a.rs.
        assistant
        tool
          fn a() {} |
        tool
          drawn
          twice
        user
          (picture)
          Said while the tools ran.
          (picture)
          Go on. |
        user
          Today is Tuesday."##]]
    .assert_eq(&lines.collect::<Vec<_>>().join("\n"));

    // Models that cache automatically get everything in one message, which servers of all kinds accept.
    let body = json_of(&layout, Format::OpenAi, &[]);
    assert!(!body.to_string().contains("prompt_cache_breakpoint"), "{body:#}");
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"].as_array().map(Vec::len), Some(5), "{last:#}");
}

#[test]
fn a_breakpoint_on_a_tool_result_follows_its_images() {
    let mut layout = Layout::default();
    layout.push(Speaker::User, text("Draw."));
    layout.push(Speaker::Assistant, block(call("call_1", "draw", json!({}))));
    let result_with_image = result("call_1", vec![part("drawn"), ResultPart::Image(png(8, 9))]);
    layout.push(Speaker::User, marked(result_with_image, Tier::L3, Ttl::FiveMinutes));
    let body = body_of(&layout, Format::OpenAi, &[], BreakpointMode::Explicit);
    assert_valid(Format::OpenAi, &body);
    assert_eq!(body["messages"][2]["content"][0].get("prompt_cache_breakpoint"), None);
    assert_eq!(body["messages"][3]["content"][0]["prompt_cache_breakpoint"], json!({"mode": "explicit"}));
}

#[test]
fn messages_are_counted_with_the_system_prompt() {
    let breakpoints = BreakpointMode::Automatic;
    let envelope =
        Envelope { model: "m", tools: &[], tool_choice: ToolChoice::Auto, cache_key: None, breakpoints };
    let count = |format| render(&layout_with_everything(), format, &envelope).messages;
    assert_eq!(count(Format::Anthropic), 4);
    // Two tool messages, and a user message after them.
    assert_eq!(count(Format::OpenAi), 6);
    assert_eq!(count(Format::Markdown), 4);
}

#[test]
fn a_long_cache_key_becomes_its_hash() {
    let mut layout = Layout::default();
    layout.push(Speaker::User, text("Hi."));
    let key = "k".repeat(65);
    let breakpoints = BreakpointMode::Automatic;
    let envelope = Envelope {
        model: "m",
        tools: &[],
        tool_choice: ToolChoice::Auto,
        cache_key: Some(&key),
        breakpoints,
    };
    let Body::Json(body) = render(&layout, Format::OpenAi, &envelope).body else { panic!("JSON") };
    assert_valid(Format::OpenAi, &body);
    assert_eq!(body["prompt_cache_key"].as_str().map(str::len), Some(32));
}

#[test]
fn breakpoints_on_reasoning_and_empty_text_are_left_out() {
    let mut layout = Layout::default();
    layout.push(Speaker::User, text("Hi."));
    let thinking = ContentBlock::Thinking { text: "Hm.".into(), signature: Some("c2VhbA==".into()) };
    layout.push(Speaker::Assistant, marked(thinking, Tier::L2, Ttl::FiveMinutes));
    layout.push(Speaker::Assistant, text("Hello."));
    layout.push(Speaker::User, text("Go on."));
    let body = json_of(&layout, Format::Anthropic, &[]);
    assert_valid(Format::Anthropic, &body);
    assert!(!body.to_string().contains("cache_control"));
}

#[test]
fn reasoning_without_a_signature_is_left_out() {
    let mut layout = Layout::default();
    layout.push(Speaker::User, text("Hi."));
    layout.push(Speaker::Assistant, block(ContentBlock::Thinking { text: "Hm.".into(), signature: None }));
    layout.push(Speaker::Assistant, text("Hello."));
    layout.push(Speaker::User, text("Go on."));
    assert_valid(Format::Anthropic, &json_of(&layout, Format::Anthropic, &[]));
}
