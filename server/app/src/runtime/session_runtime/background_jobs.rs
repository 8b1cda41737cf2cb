//! Runs work that may wait a long time for outside events: drafts of compactions, summaries of tool results, and token
//! counts of requests. The work has its own threads, and its results enter the session's queue.

use std::sync::Arc;

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_conversation::compaction::CompactionDraft;
use strata_conversation::tool_result_archival::ArchivalPlan;

use super::SessionRuntime;
use super::compactions::ActiveCompaction;
use super::event::{ReplySender, SessionEvent};
use super::host::{RuntimeHost, ThreadKind, spawn};
use super::progress::TrackedWork;
use super::queue::SessionTask;
use crate::clock::now_ms;
use crate::commands::{self, CommandError};
use crate::jobs::archival::summarize_results;
use crate::services::compaction::CompactionJob;
use crate::services::compaction_notice::CompactionReason;
use crate::services::running_compaction::CompactionDraftCell;

impl SessionRuntime {
    /// Starts a compaction. Prompts use the uncompacted conversation in the meantime.
    pub(super) fn compact(
        &mut self,
        job: CompactionJob,
        cancel: Cancel,
        reply: Option<ReplySender>,
        host: &mut dyn RuntimeHost,
    ) {
        if self.compactions.is_running(&job.session) {
            let error = "a compaction of this session is already running; wait for it, or cancel it";
            if let Some(reply) = reply {
                reply.send(Err(CommandError::failed(error)));
            }
            return;
        }
        if let CompactionReason::Due(reading) = job.reason
            && self.compactions.would_fail_again(&job.session, &reading)
        {
            return;
        }
        let Some(session) = host.sessions().get(&job.session).cloned() else { return };
        let is_due = matches!(job.reason, CompactionReason::Due(_));
        if is_due && !job.has_old_messages(&session, host.snapshot()) {
            return;
        }
        let (snapshot, services) = (host.snapshot().clone(), Arc::clone(host.services()));
        services.notify_compaction(job.started_notice(&session, &snapshot));
        let id = job.session.clone();
        let draft_cell = CompactionDraftCell::default();
        let number = self.compactions.begin(job.clone(), cancel.clone(), reply, draft_cell.clone());
        host.begin_progress(TrackedWork::Compacting(number));
        let work = move || {
            let draft = job.draft(&session, &snapshot, &services, &cancel);
            draft.map(Box::new).map_err(|error| CommandError::failed(error.to_string()))
        };
        spawn("draft", ThreadKind::Blocking, host, work, move |draft| {
            let draft = draft.unwrap_or(Err(CommandError::Internal));
            draft_cell.fill(draft.as_deref().cloned().map_err(ToString::to_string));
            SessionEvent::DraftFinished(id, number, draft)
        });
    }

    /// Queues a finished draft in its session to be installed, or ends a compaction whose draft failed.
    pub(super) fn handle_finished_draft(
        &mut self,
        session: &str,
        number: u64,
        draft: Result<Box<CompactionDraft>, CommandError>,
        host: &mut dyn RuntimeHost,
    ) {
        match draft {
            Err(error) => self.handle_compaction_end(session, number, Err(error), host),
            Ok(draft) => {
                if let Some(running) = self.compactions.get_mut(session, number) {
                    running.notice = Some(running.job.ended_notice(Some(&draft)));
                }
                self.push(session, SessionTask::Compact(number, draft), host);
            }
        }
    }

    pub(super) fn handle_compaction_end(
        &mut self,
        session: &str,
        number: u64,
        result: Result<Value, CommandError>,
        host: &mut dyn RuntimeHost,
    ) {
        let Some(ActiveCompaction { job, reply, notice, is_adopted, .. }) =
            self.compactions.end(session, number)
        else {
            return;
        };
        let (notice, result) = match result {
            Ok(_) => {
                self.compactions.record_success(&job);
                let notice = notice.unwrap_or_else(|| job.ended_notice(None));
                let mut reply = notice.clone().into();
                if let Some(session) = host.sessions().get(session) {
                    reply = commands::with_state_version(reply, session);
                }
                (notice, Ok(reply))
            }
            Err(error) => {
                self.compactions.record_failure(&job);
                (job.failed_notice(&error), Err(error))
            }
        };
        // If a prompt installed the draft, that prompt has already been counted.
        if result.is_ok() && !is_adopted {
            self.start_token_count(session, host);
        }
        let outcome = if result.is_ok() { "done" } else { "the conversation is unchanged" };
        host.end_progress(TrackedWork::Compacting(number), outcome);
        if let (Err(error), None) = (&result, &reply) {
            host.services().warn("compaction", format!("the conversation was not compacted: {error}"));
        }
        host.services().notify_compaction(notice);
        if let Some(reply) = reply {
            reply.send(result);
        }
    }

    /// Asks a model to summarize tool results. Does nothing if the model is already summarizing results of this session,
    /// or if a compaction is running, whose draft the archival would invalidate. The next turn plans the archival again.
    pub(super) fn summarize_tool_results(
        &mut self,
        id: &str,
        plan: ArchivalPlan,
        host: &mut dyn RuntimeHost,
    ) {
        if self.compactions.is_running(id) || !self.archiving.insert(id.to_owned()) {
            return;
        }
        let (snapshot, services) = (host.snapshot().clone(), Arc::clone(host.services()));
        let session = id.to_owned();
        let work = move || Box::new(summarize_results(plan, &snapshot, &services));
        spawn("sum up", ThreadKind::Blocking, host, work, |archival| {
            SessionEvent::ToolResultsSummarized(session, archival)
        });
    }

    /// Asks the client to count the tokens of a compacted conversation, if the client supports it.
    fn start_token_count(&mut self, id: &str, host: &mut dyn RuntimeHost) {
        let Some(token_counter) = host.services().token_count_client() else { return };
        let Some(session) = host.sessions().get(id).cloned() else { return };
        if !self.measuring.insert(id.to_owned()) {
            return;
        }
        let (snapshot, session_id) = (host.snapshot().clone(), id.to_owned());
        let work = move || {
            let count = token_counter.count_next_prompt_tokens(&session, &snapshot, now_ms(), &Cancel::new());
            if let Err(problem) = &count {
                tracing::warn!(%problem, "the client cannot count the tokens of the compacted conversation; using the estimate");
            }
            count.ok()
        };
        spawn("count", ThreadKind::Blocking, host, work, |count| {
            SessionEvent::TokensCounted(session_id, count.flatten())
        });
    }
}
