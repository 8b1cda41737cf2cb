//! `strata record`: records the outcome of a prompt that you sent yourself.

use std::path::Path;
use std::process::ExitCode;

use strata_app::commands::prompt::{RecordOutcome, RecordParams};
use strata_app::commands::{RecoverableRequestError, RequestStatus, Usage};

use crate::arguments::RecordArguments;
use crate::ask::{ContinueMode, open_session};
use crate::failure::Failure;
use crate::output::{self, pluralize};
use crate::{input, repository};

pub(crate) fn run(arguments: &RecordArguments) -> Result<ExitCode, Failure> {
    let RecordArguments { session, prompt, input, output, cache_read, cache_write, .. } = arguments;
    let mut headless = repository::open_stored(&arguments.repository)?;
    open_session(&mut headless, session, ContinueMode::InPlace)?;
    let tokens = |given: &Option<u64>| given.unwrap_or_default();
    let usage = [input, output, cache_read, cache_write].into_iter().any(Option::is_some).then(|| Usage {
        input: tokens(input),
        output: tokens(output),
        cache_read: tokens(cache_read),
        cache_write: tokens(cache_write),
    });
    let outcome = RecordParams { id: prompt.clone(), usage, ..RecordParams::default() };
    let outcome = if arguments.too_long {
        RecordParams { error: Some(RecoverableRequestError::ContextLimit), ..outcome }
    } else {
        let answer = input::read_file(Path::new("-"))?;
        let status = if arguments.aborted { RequestStatus::Aborted } else { RequestStatus::Complete };
        RecordParams { status, response: Some(answer.trim_end_matches(['\n', '\r']).into()), ..outcome }
    };
    let reply = headless.call::<RecordOutcome>(outcome)?;
    headless.store_session()?;
    arguments.reply_format.print_sentence(&reply, |reply| {
        for warning in &reply.warnings {
            output::print_message(&format!("warning: {warning}"));
        }
        let next = if reply.retry {
            "; assemble the prompt again; the conversation will be compacted first"
        } else {
            ""
        };
        Ok(format!("session {} has {}{next}", headless.session_id(), pluralize(reply.messages, "message")))
    })?;
    Ok(ExitCode::SUCCESS)
}
