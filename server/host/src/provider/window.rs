//! Asks a server on this machine for the window of its model, which is often smaller than the model's own, and beyond
//! which some servers cut the beginning of a prompt without an error. Asks no other server.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use strata_engine::cancel::Cancel;
use strata_engine::conversation::reply::ProviderError;
use strata_engine::json;
use strata_engine::prompt::settings::ProviderName;

use super::address::{Address, Target};
use super::model::Provider;
use super::outcome::Limits;

/// Timeout for a question about the server, which answers at once unless it hangs.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// Timeout for loading a model. Tens of gigabytes from a slow disk take a minute or two.
const LOAD_TIMEOUT: Duration = Duration::from_secs(120);

/// Models (base URL and name) that Ollama could not load for their windows. The wait is not repeated by each question
/// of this process.
static UNLOADED: Mutex<BTreeSet<(Option<String>, String)>> = Mutex::new(BTreeSet::new());

/// Maximum size of a reply in bytes. Descriptions of models contain their templates and licenses.
const MAX_REPLY: usize = 4 << 20;

impl Provider {
    /// Returns whether the server is on this machine.
    pub fn is_local(&self) -> bool {
        Address::of(self).is_ok_and(|address| address.is_on_this_machine())
    }

    /// Returns the tokens of the window that the server gives to the model. `None` if the server is not on this machine
    /// or does not say. Ollama loads the model for that, as the next request would.
    pub fn window(&self, cancel: &Cancel) -> Option<usize> {
        if !self.is_local() {
            return None;
        }
        let tokens = match self.kind {
            ProviderName::Ollama => self.ollama_window(cancel),
            ProviderName::OpenAi | ProviderName::Responses => self.compatible_window(cancel),
            ProviderName::Anthropic | ProviderName::Gemini | ProviderName::Bedrock => None,
        };
        tokens.and_then(|tokens| usize::try_from(tokens).ok()).filter(|tokens| *tokens > 0)
    }

    /// Reads the window of the loaded model, or else that in the model's file, or else loads the model:
    /// <https://docs.ollama.com/api/ps>, <https://docs.ollama.com/api/show>, <https://docs.ollama.com/api/generate>.
    fn ollama_window(&self, cancel: &Cancel) -> Option<u64> {
        let is_ours = |model: &&Value| {
            let name = model.get("model").or(model.get("name")).and_then(Value::as_str).unwrap_or_default();
            name == self.model || name.strip_suffix(":latest") == Some(&self.model)
        };
        let running = || {
            let list = self.look_up(Target::Server(&["api", "ps"]), None, LOOKUP_TIMEOUT, cancel)?;
            list.get("models")?.as_array()?.iter().find(is_ours)?.get("context_length")?.as_u64()
        };
        if let Some(tokens) = running() {
            return Some(tokens);
        }
        let named = json!({"model": self.model});
        let model = self.look_up(Target::Server(&["api", "show"]), Some(&named), LOOKUP_TIMEOUT, cancel)?;
        let parameters = model.get("parameters").and_then(Value::as_str).unwrap_or_default();
        let set = parameters.lines().find_map(|line| line.strip_prefix("num_ctx")?.trim().parse().ok());
        if set.is_some() {
            return set;
        }
        let unloaded = || UNLOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.base_url.clone(), self.model.clone());
        if unloaded().contains(&key) {
            return None;
        }
        let load = json!({"model": self.model, "stream": false});
        let loaded = self.look_up(Target::Server(&["api", "generate"]), Some(&load), LOAD_TIMEOUT, cancel);
        if loaded.is_none() && !cancel.is_cancelled() {
            unloaded().insert(key);
        }
        loaded?;
        running()
    }

    /// Reads the window from the list of models of vLLM and SGLang, or from the properties of llama.cpp's server, or from
    /// LM Studio's list of models.
    fn compatible_window(&self, cancel: &Cancel) -> Option<u64> {
        let list = self.look_up(Target::Models, None, LOOKUP_TIMEOUT, cancel)?;
        let model = self.entry(&list)?;
        // https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/openai/models/protocol.py
        if let Some(tokens) = model.get("max_model_len") {
            return tokens.as_u64();
        }
        // https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
        if model.get("owned_by").is_some_and(|owner| owner == "llamacpp") {
            let properties = self.look_up(Target::Server(&["props"]), None, LOOKUP_TIMEOUT, cancel)?;
            return properties.pointer("/default_generation_settings/n_ctx")?.as_u64();
        }
        // https://lmstudio.ai/docs/developer/rest/endpoints
        let list = self.look_up(Target::Server(&["api", "v0", "models"]), None, LOOKUP_TIMEOUT, cancel)?;
        self.entry(&list)?.get("loaded_context_length")?.as_u64()
    }

    /// Returns the entry of the model in a list. llama.cpp lists its only model under any name.
    fn entry<'a>(&self, list: &'a Value) -> Option<&'a Value> {
        let models = list.get("data")?.as_array()?;
        let is_ours = |model: &&Value| model.get("id").is_some_and(|id| *id == self.model.as_str());
        match models.as_slice() {
            [only] => Some(only),
            all => all.iter().find(is_ours),
        }
    }

    fn look_up(
        &self,
        target: Target,
        body: Option<&Value>,
        patience: Duration,
        cancel: &Cancel,
    ) -> Option<Value> {
        let limits = Limits { deadline: patience, stall: patience, max_reply_bytes: MAX_REPLY, retries: 0 };
        let read = |bytes: &[u8]| -> Result<Value, ProviderError> {
            json::from_slice(bytes).map_err(|_| ProviderError::of_status(200, bytes, None))
        };
        let found = self.request(target, body, &read, &limits, cancel);
        found.inspect_err(|error| tracing::debug!(%error, "cannot read the server's window")).ok()
    }
}
