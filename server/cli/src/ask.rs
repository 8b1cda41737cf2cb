//! `strata ask`: asks the configured model. Prints the answer to standard output as it arrives, and its cost to
//! standard error. Ctrl-C stops the answer and records the part received so far.

use std::process::ExitCode;

use strata_app::commands::send::SendParams;
use strata_app::commands::session::{ForkParams, ForkSession, ListSessions};
use strata_app::commands::{NoArguments, SendEnd, ToolAccess};
use strata_app::runtime::headless::{
    Cancel, HeadlessWorkspace, SessionAccess, SessionSource, SessionToContinue,
};

use crate::answer::{Audience, provider_failure};
use crate::arguments::{AskArguments, ConversationArguments};
use crate::failure::Failure;
use crate::interrupts::{INTERRUPTED_EXIT_CODE, InterruptHandler, SecondInterrupt};
use crate::output;
use crate::sessions::{EDITOR_SESSION, LATEST, MAX_NAME_CHARS, editor_session_id};
use crate::when::format_time;
use crate::{answer, input, repository, selecting};

/// Argument of `--session` that stands for a new session.
const NEW_SESSION: &str = "new";

/// How to continue the named session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ContinueMode {
    /// Continue the session itself.
    InPlace,
    /// Continue in a copy, which works even while another process is writing to the session.
    InCopy,
}

pub(crate) fn run(arguments: &AskArguments) -> Result<ExitCode, Failure> {
    let (text, piped) = (input::read_question(&arguments.text)?, input::read_piped_text(&arguments.text)?);
    let mut headless = repository::open_stored(&arguments.repository)?;
    // Check this first, so that a missing provider is reported before the slow work.
    headless.provider_report().map_err(|error| provider_failure(&error))?;
    let mode = if arguments.fork { ContinueMode::InCopy } else { ContinueMode::InPlace };
    open_conversation(&mut headless, &arguments.conversation, mode)?;
    repository::list_files(&mut headless)?;
    selecting::apply_selection(&mut headless, &arguments.selecting)?;
    selecting::add_piped_text(&mut headless, piped)?;
    let images = selecting::add_attachments(&mut headless, &arguments.selecting)?;
    repository::index_with_progress(&mut headless)?;
    let question = SendParams {
        prompt: text,
        images,
        model: arguments.model.clone(),
        policy: arguments.policy,
        tools: if arguments.tools { ToolAccess::Read } else { ToolAccess::None },
        auto_budget: arguments.auto,
        ..SendParams::default()
    };
    let cancel = Cancel::new();
    InterruptHandler::listen(SecondInterrupt::Exits).set_cancel(Some(&cancel));
    let audience = if arguments.json { Audience::Program } else { Audience::Person };
    let answer = answer::ask(&mut headless, question, &cancel, audience)?;
    if arguments.json {
        output::print_json(&answer)?;
    }
    answer::print_warnings_and_cost(&answer);
    if let Some(error) = &answer.error {
        return Err(Failure::new(format!("incomplete answer: {error}")));
    }
    Ok(if answer.end == SendEnd::Cancelled {
        ExitCode::from(INTERRUPTED_EXIT_CODE)
    } else {
        ExitCode::SUCCESS
    })
}

/// Opens the conversation that the arguments name, or else the most recently used one, if it is not old or of another
/// branch. Says which one it is if the arguments do not name it.
pub(crate) fn open_conversation(
    headless: &mut HeadlessWorkspace,
    arguments: &ConversationArguments,
    mode: ContinueMode,
) -> Result<(), Failure> {
    let ConversationArguments { session, new, continue_latest } = arguments;
    let name = match session {
        Some(session) => session,
        None if *new => NEW_SESSION,
        None if *continue_latest => LATEST,
        None => default_conversation(headless)?,
    };
    open_session(headless, name, mode)?;
    if name == LATEST { print_continued_conversation(headless) } else { Ok(()) }
}

/// Returns the conversation for a question that names none.
fn default_conversation(headless: &HeadlessWorkspace) -> Result<&'static str, Failure> {
    let reason = match headless.session_to_continue()? {
        SessionToContinue::Nothing => return Ok(NEW_SESSION),
        SessionToContinue::Session(_) => return Ok(LATEST),
        SessionToContinue::TooOld(ms) => format!("the last one is of {} UTC", format_time(ms)),
        SessionToContinue::OtherBranch(branch) => format!("the last one was on branch {branch}"),
    };
    output::print_message(&format!("starting a new conversation, because {reason}; -c continues it"));
    Ok(NEW_SESSION)
}

/// Says which conversation is continued, since the user did not name it.
fn print_continued_conversation(headless: &mut HeadlessWorkspace) -> Result<(), Failure> {
    let list = headless.call::<ListSessions>(NoArguments {})?;
    let id = headless.session_id();
    let Some(session) = list.sessions.iter().find(|session| session.id == id) else { return Ok(()) };
    let about = output::shorten(session.display_name(), MAX_NAME_CHARS);
    let when = session.updated_ms.map(|ms| format!(" of {} UTC", format_time(ms))).unwrap_or_default();
    output::print_message(&format!("continuing the conversation{when}, \"{about}\"; -n starts a new one"));
    Ok(())
}

/// Opens the named session, or begins a new one.
pub(crate) fn open_session(
    headless: &mut HeadlessWorkspace,
    name: &str,
    mode: ContinueMode,
) -> Result<(), Failure> {
    let id = match name {
        NEW_SESSION => None,
        LATEST => headless.newest_session()?,
        EDITOR_SESSION => Some(editor_session_id(headless)?),
        name => Some(headless.resolve_session_name(name)?),
    };
    let Some(id) = id else { return Ok(headless.open_session(SessionSource::New)?) };
    if mode == ContinueMode::InCopy {
        headless.open_session(SessionSource::StoredWithCache(&id, SessionAccess::Read))?;
        headless.call::<ForkSession>(ForkParams::default())?;
        return Ok(());
    }
    match headless.open_session(SessionSource::StoredWithCache(&id, SessionAccess::Write)) {
        Err(error) if error.is_session_in_use() => Err(Failure::new(format!(
            "session {id} is open in an editor or another program; use --fork to continue in a copy, or --session new to start \
             another one"
        ))),
        opened => Ok(opened?),
    }
}
