//! Servers on this machine, asked for their windows in the forms of their own APIs.

use e2e::{Dialect, ModelServer, Reply};
use serde_json::json;
use strata_base::cancel::Cancel;
use strata_host::provider::Provider;

use super::configured_provider::provider;

fn json(body: serde_json::Value) -> Reply {
    Reply::Body("application/json", body.to_string())
}

fn shown(parameters: &str) -> serde_json::Value {
    json!({
        "modelfile": "FROM x", "parameters": parameters, "template": "{{ .Prompt }}",
        "model_info": { "general.architecture": "qwen3", "qwen3.context_length": 40_960 },
        "capabilities": ["completion", "tools"],
    })
}

#[test]
fn servers_tell_their_windows() {
    let running = |name: &str| {
        json!({ "models": [
            { "name": "other:8b", "model": "other:8b", "size": 1, "digest": "d", "context_length": 2_048 },
            { "name": name, "model": name, "size": 1, "digest": "d", "size_vram": 1, "context_length": 4_096 },
        ] })
    };
    let idle = json!({ "models": [] });
    let loaded = json!({ "model": "small-model", "response": "", "done": true, "done_reason": "load" });
    let models = |model: serde_json::Value| json!({ "object": "list", "data": [model] });
    let vllm = json!({ "id": "small-model", "object": "model", "owned_by": "vllm", "max_model_len": 32_768 });
    let llama = json!({ "id": "any.gguf", "object": "model", "owned_by": "llamacpp", "meta": { "n_ctx_train": 131_072 } });
    let props = json!({ "default_generation_settings": { "n_ctx": 8_192, "params": {} }, "total_slots": 1 });
    let studio = json!({ "id": "small-model", "object": "model", "owned_by": "organization_owner" });
    let studio_loaded = json!({
        "id": "small-model", "object": "model", "type": "llm", "state": "loaded", "max_context_length": 131_072,
        "loaded_context_length": 4_096,
    });
    let studio_idle = json!({ "id": "small-model", "state": "not-loaded", "max_context_length": 131_072 });
    let (ps, show, generate) = ("GET /api/ps", "POST /api/show", "POST /api/generate");
    for (dialect, replies, expected, requests) in [
        (Dialect::Ollama, vec![json(running("small-model"))], Some(4_096), vec![ps]),
        (Dialect::Ollama, vec![json(running("small-model:latest"))], Some(4_096), vec![ps]),
        (
            Dialect::Ollama,
            vec![
                json(idle.clone()),
                json(shown("stop \"<|im_end|>\"\nnum_ctx                        16384")),
            ],
            Some(16_384),
            vec![ps, show],
        ),
        (
            Dialect::Ollama,
            vec![json(idle.clone()), json(shown("")), json(loaded), json(running("small-model"))],
            Some(4_096),
            vec![ps, show, generate, ps],
        ),
        (Dialect::Ollama, vec![json(idle), Reply::Refuse(404, vec![])], None, vec![ps, show]),
        (Dialect::OpenAi, vec![json(models(vllm.clone()))], Some(32_768), vec!["GET /v1/models"]),
        (Dialect::Responses, vec![json(models(vllm))], Some(32_768), vec!["GET /v1/models"]),
        (
            Dialect::OpenAi,
            vec![json(models(llama)), json(props)],
            Some(8_192),
            vec!["GET /v1/models", "GET /props"],
        ),
        (
            Dialect::OpenAi,
            vec![json(models(studio.clone())), json(models(studio_loaded))],
            Some(4_096),
            vec!["GET /v1/models", "GET /api/v0/models"],
        ),
        (
            Dialect::OpenAi,
            vec![json(models(studio)), json(models(studio_idle))],
            None,
            vec!["GET /v1/models", "GET /api/v0/models"],
        ),
        (Dialect::OpenAi, vec![Reply::Refuse(404, vec![])], None, vec!["GET /v1/models"]),
        (Dialect::Anthropic, vec![], None, vec![]),
        (Dialect::Gemini, vec![], None, vec![]),
    ] {
        let server = ModelServer::start(dialect, replies);
        let window = provider(dialect, server.base_url()).context_window(&Cancel::new());
        assert_eq!(window, expected, "{dialect:?} {requests:?}");
        let asked: Vec<String> = server.asked().into_iter().map(|asked| asked.line).collect();
        assert_eq!(asked, requests, "{dialect:?}");
    }
    let elsewhere = Some("https://llm.example.com/v1".to_owned());
    let elsewhere = Provider { base_url: elsewhere, ..provider(Dialect::OpenAi, String::new()) };
    assert_eq!(elsewhere.context_window(&Cancel::new()), None);
}

#[test]
fn a_model_that_cannot_be_loaded_is_loaded_for_its_window_only_once() {
    let idle = || json(json!({ "models": [] }));
    let replies = vec![
        idle(),
        json(shown("")),
        Reply::Refuse(500, vec![]),
        idle(),
        json(shown("")),
        idle(),
        json(shown("num_ctx 512")),
    ];
    let server = ModelServer::start(Dialect::Ollama, replies);
    let window = || provider(Dialect::Ollama, server.base_url()).context_window(&Cancel::new());
    // Whether it is loaded now, or its file sets a window, is still asked.
    assert_eq!([window(), window(), window()], [None, None, Some(512)]);
    let lines: Vec<String> = server.asked().into_iter().map(|asked| asked.line).collect();
    assert_eq!(lines.iter().filter(|line| line.contains("generate")).count(), 1, "{lines:?}");
}
