//! `compaction.*`: how near a compaction is, running one, taking one back, and what to do when a provider says that a
//! prompt is too long.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::conversation::compaction::{CompactionStatus, Measured, Moment, Profile, Reading, Size};
use strata_engine::prompt::assembly::TokenReport;
use strata_engine::prompt::session::Session;

use super::{CommandError, Compacting, Context, Effect, Later, NoArguments};
use crate::compaction_job::{Job, News, Reason};
use crate::snapshot::Snapshot;

/// Which rules to follow.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunParams {
    /// The profile; the one in force when absent.
    profile: Option<String>,
}

/// What was taken back.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Undone {
    /// The profile whose compaction it was.
    profile: String,
    /// What the conversation was before this.
    before: Size,
    /// How many messages the model sees now.
    messages: usize,
}

pub(super) fn status(_: NoArguments, context: &mut Context<'_>) -> Result<CompactionStatus, CommandError> {
    let status = context.session.compaction_status(None, context.snapshot.means());
    Ok(CompactionStatus { running: context.compacting == Compacting::Yes, ..status })
}

/// The answer is what comes of the compaction.
pub(super) fn run(params: RunParams, context: &mut Context<'_>) -> Result<Later<News>, CommandError> {
    let compaction = &context.snapshot.settings.compaction;
    let profile = match params.profile {
        Some(name) => compaction.profile_named(&name)?,
        None => compaction.profile(),
    };
    begin(profile, Reason::Asked, context);
    Ok(Later::default())
}

pub(super) fn undo(_: NoArguments, context: &mut Context<'_>) -> Result<Undone, CommandError> {
    let record = context.session.undo_compaction()?;
    let messages = context.session.history.visible().count();
    Ok(Undone { profile: record.profile, before: record.after, messages })
}

/// The answer is what comes of the compaction; then the prompt is to be assembled anew and sent once more.
pub(super) fn context_limit_exceeded(
    _: NoArguments,
    context: &mut Context<'_>,
) -> Result<Later<News>, CommandError> {
    context.session.may_recover()?;
    if context.compacting == Compacting::Yes {
        return Err(CommandError::failed(
            "a compaction of this session is running; wait until it has ended, assemble the prompt anew and send it",
        ));
    }
    let profile = context.snapshot.settings.compaction.profile();
    begin(profile, Reason::ContextLimit, context);
    Ok(Later::default())
}

/// The automatic compaction that is due at this moment.
pub(super) fn due(
    moment: Moment,
    used: Option<usize>,
    window: Option<usize>,
    session: &Session,
    snapshot: &Snapshot,
) -> Option<Job> {
    let profile = automatic(snapshot)?;
    if profile.moment != moment {
        return None;
    }
    let pressure = session.pressure(used, snapshot.means()).within(window);
    let reading = profile.due(&pressure)?;
    Some(Job {
        session: session.id.to_string(),
        profile,
        reason: Reason::Due(reading),
        context: used,
        window,
    })
}

/// The automatic compaction before a prompt from which exchanges would be left out, whenever its profile looks otherwise.
pub(super) fn due_for_room(
    used: usize,
    tokens: &TokenReport,
    session: &Session,
    snapshot: &Snapshot,
) -> Option<Job> {
    let profile = automatic(snapshot)?;
    let reading = Reading { measured: Measured::ContextTokens, now: used, limit: tokens.limit, due: true };
    Some(Job {
        session: session.id.to_string(),
        profile,
        reason: Reason::Due(reading),
        context: Some(used),
        window: Some(tokens.window),
    })
}

/// The profile in force, when compactions are automatic.
fn automatic(snapshot: &Snapshot) -> Option<Profile> {
    let compaction = &snapshot.settings.compaction;
    (compaction.enabled && compaction.auto).then(|| compaction.profile())
}

fn begin(profile: Profile, reason: Reason, context: &mut Context<'_>) {
    let session = context.session.id.to_string();
    context.effects.push(Effect::Compact(Box::new(Job {
        session,
        profile,
        reason,
        context: None,
        window: None,
    })));
}
