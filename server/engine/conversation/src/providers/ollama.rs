//! Ollama, which accepts OpenAI's Chat Completions format, and has an API of its own beside it:
//! <https://github.com/ollama/ollama/blob/main/docs/api.md>.

mod question;
mod window;

use super::endpoint::{Endpoint, QuestionEndpoint};

pub(super) static ENDPOINT: Endpoint = Endpoint {
    base_url: "http://localhost:11434",
    superfluous: &["/v1/chat/completions", "/v1", "/api/chat", "/api"],
    path: "v1/chat/completions",
    models_path: "v1/models",
    window: window::next_lookup_step,
    question: Some(QuestionEndpoint { path: "api/chat", body: question::body, read: question::read_answer }),
    ..Endpoint::PLAIN
};
