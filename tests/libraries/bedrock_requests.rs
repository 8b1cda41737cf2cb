//! Requests to Bedrock, which have the model in their address, and their answers.

use std::time::Duration;

use e2e::{Dialect, ModelServer, Reply};
use serde_json::json;
use strata_base::cancel::Cancel;
use strata_conversation::providers::ProviderName;
use strata_host::provider::Provider;
use strata_host::summarise::SummaryQuestion;

use super::configured_provider::{KEY, provider};

#[test]
fn a_question_goes_to_the_model_in_the_address() {
    let said = |content: serde_json::Value, stop: &str| {
        let body = json!({
            "output": { "message": { "role": "assistant", "content": content } }, "stopReason": stop,
            "usage": { "inputTokens": 10, "outputTokens": 5, "totalTokens": 15 }, "metrics": { "latencyMs": 1 },
        });
        Reply::Body("application/json", body.to_string())
    };
    let text = json!([{ "text": "A summary." }]);
    for (reply, expected) in [
        (said(text.clone(), "end_turn"), Ok("A summary.")),
        (said(text.clone(), "max_tokens"), Err("did not finish its answer")),
        (
            said(text, "guardrail_intervened"),
            Err("the provider's content rules stopped it (`guardrail_intervened`)"),
        ),
        (
            Reply::RefuseWith(
                400,
                json!({ "message": "The provided model identifier is invalid." }).to_string(),
            ),
            Err("The provided model identifier is invalid."),
        ),
        (
            Reply::RefuseWith(403, json!({ "Message": "Invalid API Key format" }).to_string()),
            Err("check the key"),
        ),
    ] {
        // Only the replies matter, which this server sends as they are.
        let server = ModelServer::start(Dialect::Anthropic, vec![reply]);
        let model = "eu.anthropic.claude-x-v1:0".to_owned();
        let like = provider(Dialect::Anthropic, server.base_url());
        let provider = Provider { kind: ProviderName::Bedrock, model, ..like };
        let question = SummaryQuestion {
            system: "Summarize.".to_owned(),
            prompt: "They talked.".to_owned(),
            max_output_tokens: 500,
        };
        let answer = provider.ask(&question, Duration::from_secs(20), &Cancel::new());
        match expected {
            Ok(expected) => assert_eq!(answer.unwrap(), expected),
            Err(expected) => {
                let error = answer.unwrap_err().to_string();
                assert!(error.contains(expected), "{error}");
            }
        }
        let asked = &server.asked()[0];
        assert_eq!(asked.line, "POST /model/eu.anthropic.claude-x-v1:0/converse");
        assert_eq!(asked.header("authorization"), Some(&*format!("Bearer {KEY}")));
        let expected = json!({
            "messages": [{ "role": "user", "content": [{ "text": "They talked." }] }],
            "system": [{ "text": "Summarize." }], "inferenceConfig": { "maxTokens": 500 },
        });
        assert_eq!(asked.body, expected);
    }
}
