//! `strata record`: records the outcome of a prompt that you sent yourself.

use std::path::Path;
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::json;

use crate::arguments::RecordArguments;
use crate::ask::{Opening, open_session};
use crate::failure::Failure;
use crate::output::{self, counted};
use crate::{input, repository};

/// The fields used from the reply to `strata.prompt.record`.
#[derive(Deserialize)]
struct Recorded {
    messages: usize,
    warnings: Vec<String>,
    #[serde(default)]
    retry: bool,
}

pub(crate) fn run(arguments: &RecordArguments) -> Result<ExitCode, Failure> {
    let RecordArguments { session, prompt, input, output, cache_read, cache_write, .. } = arguments;
    let mut headless = repository::open_stored(&arguments.repository)?;
    open_session(&mut headless, session, Opening::Session)?;
    let usage = [input, output, cache_read, cache_write].into_iter().any(Option::is_some).then(|| {
        let tokens = |given: &Option<u64>| given.unwrap_or_default();
        json!({
            "input": tokens(input), "output": tokens(output),
            "cacheRead": tokens(cache_read), "cacheWrite": tokens(cache_write),
        })
    });
    let reply = if arguments.too_long {
        headless
            .run("strata.prompt.record", json!({ "id": prompt, "error": "context_limit", "usage": usage }))?
    } else {
        let answer = input::file(Path::new("-"))?;
        let status = if arguments.aborted { "aborted" } else { "complete" };
        let outcome = json!({
            "id": prompt, "status": status, "response": answer.trim_end_matches(['\n', '\r']), "usage": usage,
        });
        headless.run("strata.prompt.record", outcome)?
    };
    headless.store_session()?;
    arguments.audience.say(reply, |reply| {
        let Recorded { messages, warnings, retry } = output::understood(reply)?;
        for warning in warnings {
            output::tell(&format!("warning: {warning}"));
        }
        let next =
            if retry { "; assemble the prompt again; the conversation will be compacted first" } else { "" };
        Ok(format!("session {} has {}{next}", headless.session_id(), counted(messages, "message")))
    })?;
    Ok(ExitCode::SUCCESS)
}
