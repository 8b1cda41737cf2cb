//! Runs work that may wait a long time for outside events: drafts of compactions, summaries of tool results, and token
//! counts of requests. The work has its own threads, and its results enter the session's queue.

use std::sync::Arc;

use serde_json::Value;
use strata_base::cancel::Cancel;
use strata_conversation::compaction::CompactionDraft;
use strata_conversation::tool_result_archival::{Archival, ArchivalPlan};

use super::MainLoop;
use super::compactions::ActiveCompaction;
use super::queue::{AwaitedIndex, QueuedTask, SessionTarget, Task};
use super::tasks::respond;
use crate::event::{Event, Responder};
use crate::outbound::{Outbound, Work};
use strata_app::clock::now_ms;
use strata_app::commands::{self, CommandError};
use strata_app::faults::carried;
use strata_app::jobs::archival::summarize_results;
use strata_app::services::compaction::CompactionJob;
use strata_app::services::compaction_notice::{CompactionNotice, Reason};
use strata_app::services::running_compaction::DraftCell;
use strata_app::services::token_count_client::CountedPrompt;

impl MainLoop {
    /// Starts a compaction. Prompts use the uncompacted conversation in the meantime.
    pub(super) fn compact(
        &mut self,
        job: CompactionJob,
        cancel: Cancel,
        answer: Option<Responder<Result<Value, CommandError>>>,
    ) {
        if self.compactions.is_running(&job.session) {
            let error = "a compaction of this session is already running; wait for it, or cancel it";
            if let Some(answer) = answer {
                respond(answer, Err(CommandError::failed(error)));
            }
            return;
        }
        if let Reason::Due(reading) = job.reason
            && self.compactions.would_fail_again(&job.session, &reading)
        {
            return;
        }
        let Some(session) = self.world.sessions.get(&job.session).cloned() else { return };
        let is_due = matches!(job.reason, Reason::Due(_));
        if is_due && !job.has_old_messages(&session, &self.world.snapshot) {
            return;
        }
        self.services.notify_compaction(job.started(&session, &self.world.snapshot));
        let id = job.session.clone();
        let draft_cell = DraftCell::default();
        let number = self.compactions.begin(job.clone(), cancel.clone(), answer, draft_cell.clone());
        if self.world.client.shows_progress {
            self.send_to_client(Outbound::Begin(Work::Compacting(number)));
        }
        let snapshot = self.world.snapshot.clone();
        let services = Arc::clone(&self.services);
        let events = self.events.clone();
        let work = carried("draft", move || {
            let draft = job.draft(&session, &snapshot, &services, &cancel);
            draft.map(Box::new).map_err(|error| error.to_string())
        });
        self.blocking.spawn(work, move |draft| {
            let draft = draft.unwrap_or_else(|panicked| {
                tracing::error!(%panicked, "a compaction panicked; the conversation is unchanged");
                Err("an internal error stopped the compaction; please report it".to_owned())
            });
            draft_cell.fill(draft.as_deref().cloned().map_err(Clone::clone));
            let _ = events.send(Event::DraftFinished(id, number, draft));
        });
    }

    /// Queues a finished draft in its session to be installed, or ends a compaction whose draft failed.
    pub(super) fn draft_finished(
        &mut self,
        session: &str,
        number: u64,
        draft: Result<Box<CompactionDraft>, String>,
    ) {
        match draft {
            Err(error) => self.compaction_ended(session, number, Err(CommandError::failed(error))),
            Ok(draft) => {
                if let Some(running) = self.compactions.get_mut(session, number) {
                    running.notice = Some(running.job.ended(Some(&draft)));
                }
                let snapshot = self.world.snapshot.clone();
                self.queues.push(
                    session,
                    QueuedTask {
                        task: Task::Compact(number, draft),
                        snapshot,
                        target: SessionTarget::Named,
                        awaited_index: AwaitedIndex::NOTHING,
                    },
                );
                self.start_next(session);
            }
        }
    }

    pub(super) fn compaction_ended(
        &mut self,
        session: &str,
        number: u64,
        result: Result<Value, CommandError>,
    ) {
        let Some(ActiveCompaction { job, answer, notice, is_adopted, .. }) =
            self.compactions.end(session, number)
        else {
            return;
        };
        let (notice, result): (CompactionNotice, _) = match result {
            Ok(_) => {
                self.compactions.record_success(&job);
                let notice = notice.unwrap_or_else(|| job.ended(None));
                let mut reply = notice.clone().into();
                if let Some(session) = self.world.sessions.get(session) {
                    reply = commands::versioned(reply, session);
                }
                (notice, Ok(reply))
            }
            Err(error) => {
                self.compactions.record_failure(&job);
                (job.failed(&error), Err(error))
            }
        };
        // If a prompt installed the draft, that prompt has already been counted.
        if result.is_ok() && !is_adopted {
            self.count_tokens(session);
        }
        let outcome = if result.is_ok() { "done" } else { "the conversation is unchanged" };
        self.send_to_client(Outbound::End(Work::Compacting(number), outcome.to_owned()));
        if let (Err(error), None) = (&result, &answer) {
            self.services.warn("compaction", format!("the conversation was not compacted: {error}"));
        }
        self.services.notify_compaction(notice);
        if let Some(answer) = answer {
            respond(answer, result);
        }
    }

    /// Asks a model to summarize tool results. Does nothing if the model is already summarizing results of this
    /// session; the next turn will plan the archival again.
    pub(super) fn summarize_tool_results(&mut self, id: &str, plan: ArchivalPlan) {
        if !self.archiving.insert(id.to_owned()) {
            return;
        }
        let (snapshot, services) = (self.world.snapshot.clone(), Arc::clone(&self.services));
        let events = self.events.clone();
        let session = id.to_owned();
        let work = carried("sum up", move || summarize_results(plan, &snapshot, &services));
        self.blocking.spawn(work, move |archival| {
            if let Err(panicked) = &archival {
                tracing::error!(%panicked, "archiving tool results panicked; the conversation is unchanged");
            }
            let _ = events.send(Event::ToolResultsSummarized(session, archival.ok().map(Box::new)));
        });
    }

    /// Asks the client to count the tokens of a compacted conversation, if the client supports it.
    fn count_tokens(&mut self, id: &str) {
        let Some(token_counter) = self.services.token_count_client() else { return };
        let Some(session) = self.world.sessions.get(id).cloned() else { return };
        if !self.measuring.insert(id.to_owned()) {
            return;
        }
        let (snapshot, events, session_id) =
            (self.world.snapshot.clone(), self.events.clone(), id.to_owned());
        let work = carried("count", move || {
            token_counter.measure_next(&session, &snapshot, now_ms(), &Cancel::new())
        });
        self.blocking.spawn(work, move |count| {
            let count = match count {
                Ok(Ok(count)) => Some(count),
                Ok(Err(problem)) => {
                    tracing::warn!(%problem, "the client cannot count the tokens of the compacted conversation; using the estimate");
                    None
                }
                Err(panicked) => {
                    tracing::error!(%panicked, "counting tokens panicked; the conversation is unchanged");
                    None
                }
            };
            let _ = events.send(Event::TokensCounted(session_id, count));
        });
    }

    /// Queues the client's token count in its session, to calibrate estimates. `None` if the count failed.
    pub(super) fn record_token_count(&mut self, id: &str, count: Option<CountedPrompt>) {
        self.measuring.remove(id);
        if let Some(count) = count {
            let snapshot = self.world.snapshot.clone();
            self.queues.push(
                id,
                QueuedTask {
                    task: Task::Measure(count),
                    snapshot,
                    target: SessionTarget::Named,
                    awaited_index: AwaitedIndex::NOTHING,
                },
            );
            self.start_next(id);
        }
    }

    /// Queues summarized tool results in their session to be archived. `None` if the model failed to summarize them.
    pub(super) fn archive_tool_results(&mut self, id: &str, archival: Option<Box<Archival>>) {
        self.archiving.remove(id);
        if let Some(archival) = archival {
            let snapshot = self.world.snapshot.clone();
            self.queues.push(
                id,
                QueuedTask {
                    task: Task::Archive(archival),
                    snapshot,
                    target: SessionTarget::Named,
                    awaited_index: AwaitedIndex::NOTHING,
                },
            );
            self.start_next(id);
        }
    }
}
