//! Archives old tool results: beyond the cutoff, the oldest become stubs, and one message summarizes them. A
//! plan contains the results to archive and the question for a model. Applying the answer to the plan yields
//! the change to the conversation. Does not call models, truncate results (`tool_output`), or affect other
//! messages (`compaction`).

mod choose;
mod rewrite;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashSet;
use std::sync::Arc;

use crate::compaction::SummarizerQuestion;
use crate::history::{
    History, HistoryChange, Message, MessageId, MessageKind, NewMessage, RebuildStep, Role, Visibility,
};
use crate::settings::{ArchivalMode, ToolOutputSettings, ToolSummaryStrategy};

use choose::{is_archivable, messages_to_archive, newest_tool_round_start, waits_for_results};
use words::ArchivedResults;

#[cfg(test)]
pub(crate) use rewrite::ArchivalCost;
pub use rewrite::{CacheState, WarmCache, expected_turns, turns_until_next_archival};
#[cfg(test)]
pub(crate) use words::{
    ARCHIVED, MAX_HEURISTIC_SUMMARY_CHARS, MAX_MODEL_SUMMARY_CHARS, MAX_SUMMARIZER_RESULT_CHARS,
};

/// Tool results to archive, and how to summarize them.
#[derive(Clone, PartialEq, Debug)]
pub struct ArchivalPlan {
    archive: Vec<MessageId>,
    /// Question for a model; `None` to summarize without a model.
    pub question: Option<SummarizerQuestion>,
    heuristic: String,
}

/// Tool results to archive, with the summary that replaces them.
#[derive(Clone, PartialEq, Debug)]
pub struct Archival {
    /// Ids of the messages whose results are archived, oldest first.
    pub archived: Vec<MessageId>,
    /// Summary of the results, visible to the model but not to the user.
    pub summary: NewMessage,
}

/// Plans what to archive now, if anything: whole messages, oldest first, until the model sees at most
/// `cutoff` results (0 means no limit). Keeps pinned messages and the newest round of calls.
pub fn plan_archival(
    messages: &[Arc<Message>],
    settings: &ToolOutputSettings,
    cache: &CacheState<'_>,
) -> Option<ArchivalPlan> {
    if settings.summary == ToolSummaryStrategy::Off || settings.cutoff == 0 {
        return None;
    }
    let archive = messages_to_archive(messages, settings.cutoff);
    if archive.is_empty()
        || (settings.ageing == ArchivalMode::CacheAware && !cache.is_archival_worthwhile(&archive))
    {
        return None;
    }
    let results = ArchivedResults::new(messages, &archive);
    let question = (settings.summary == ToolSummaryStrategy::Llm).then(|| results.question());
    let archive = archive.iter().map(|message| message.id).collect();
    Some(ArchivalPlan { archive, question, heuristic: results.heuristic_summary() })
}

impl ArchivalPlan {
    #[cfg(test)]
    pub(crate) fn archive(&self) -> &[MessageId] {
        &self.archive
    }

    /// Creates the summary from a model's answer or, without one, from the beginning and the end of each
    /// result.
    pub fn apply(self, answer: Option<&str>) -> Archival {
        let Self { archive, heuristic, .. } = self;
        let answer = answer.map(str::trim).filter(|answer| !answer.is_empty());
        let text = answer.map_or(heuristic, |answer| words::summary_from_answer(answer, archive.len()));
        let summary = NewMessage {
            kind: MessageKind::ToolSummary,
            user: Visibility::Hidden,
            ..NewMessage::text(Role::User, text)
        };
        Archival { archived: archive, summary }
    }
}

impl Archival {
    /// Archives the results in `history`, and inserts the summary at the end or before pending calls. Skips
    /// messages that were hidden or changed since the plan was made. Does nothing if no message remains.
    pub fn apply_to_history(self, history: &mut History) -> HistoryChange {
        let Self { archived, summary } = self;
        let messages = history.messages();
        let archived: HashSet<MessageId> = archived.into_iter().collect();
        let archived = messages.iter().filter(|m| archived.contains(&m.id) && is_archivable(m)).map(|m| m.id);
        let archived: Vec<MessageId> = archived.collect();
        if archived.is_empty() {
            return HistoryChange::default();
        }
        let mut covered = archived.clone();
        let mut entries: Vec<RebuildStep> = archived.into_iter().map(RebuildStep::Archive).collect();
        let round = newest_tool_round_start(messages);
        let waiting =
            messages.get(round).filter(|_| waits_for_results(messages.get(round..).unwrap_or_default()));
        let last = messages.last().map(|message| message.id).filter(|last| !covered.contains(last));
        match (waiting, last) {
            (Some(calls), _) => {
                covered.push(calls.id);
                entries.extend([RebuildStep::Add(summary), RebuildStep::Keep(calls.id)]);
            }
            (None, Some(last)) => {
                covered.push(last);
                entries.extend([RebuildStep::Keep(last), RebuildStep::Add(summary)]);
            }
            (None, None) => entries.push(RebuildStep::Add(summary)),
        }
        history.rebuild(&covered, entries)
    }
}
