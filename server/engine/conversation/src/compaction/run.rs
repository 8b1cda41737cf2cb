//! One compaction as a state machine: provides the questions for a model, takes the answers, and ends with a
//! draft or the reasons for having none. If no model's summary is usable, a summary is extracted without a
//! model, and as a last resort the oldest messages are dropped. Does not change the conversation (`commit`
//! does).

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::hash::ContentHash;
use strata_base::text::clip_to_tokens;

use crate::conversation_facts::{ToolPatterns, extract_facts};
use crate::extractive::{self, SummaryBudget};
use crate::history::{
    ContentBlock, History, Message, MessageId, MessageKind, Pin, RebuildStep, emergency_truncate,
};

use super::answer::{validated_summary, without_reasoning};
use super::pins::PreservedFacts;
use super::profile::{BuiltinProfile, Profile, SUMMARY_LIMIT_DIVISOR};
use super::question::{self, MIN_TOPIC_CONFIDENCE, SummarizerQuestion};
use super::rebuild::{LEFT_OUT, Rebuilder, clip_kept_results};
use super::split::{ConversationSplit, last_exchanges_start, split, split_before_index};
use super::trigger::ContextPressure;

/// Multiple of the trigger limit above which the oldest messages are dropped if no summary shortens the
/// conversation.
pub const DROP_OLDEST_LIMIT_FACTOR: usize = 2;

/// Minimum tokens to which a summary is clipped when the compacted prompt is too large.
const MIN_CLIPPED_SUMMARY_TOKENS: usize = 200;

/// Functions that count tokens.
#[derive(Clone, Copy)]
pub struct TokenCounters<'a> {
    /// Counts the tokens of a message, including the overhead of the provider's format.
    pub message: &'a dyn Fn(&Message) -> usize,
    pub text: &'a dyn Fn(&str) -> usize,
}

/// The model that writes summaries, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Summariser {
    /// No model: summaries are extracted from the conversation.
    #[default]
    Extractive,
    /// A model that the client runs, or a provider's model.
    Model {
        /// Input window of the model, in tokens.
        window: usize,
        topics: TopicDetection,
    },
}

/// Whether a model may be asked where the topic changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TopicDetection {
    /// The profile `topic` summarizes without looking for a topic change.
    #[default]
    NotAsked,
    /// The profile `topic` first looks for a topic change.
    Asked,
}

/// How a compaction shortened a conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompactionStrategy {
    /// The conversation was cut at the last topic change, without a summary.
    TopicCut,
    /// A model summarized the older messages.
    Model,
    /// The older messages were replaced with a summary extracted without a model.
    Extractive,
    /// The oldest exchanges were dropped.
    Truncated,
}

/// Number and total tokens of the messages that the model sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConversationSize {
    /// Number of messages.
    pub messages: usize,
    /// Total tokens of the messages.
    pub tokens: usize,
}

impl ConversationSize {
    /// Measures the conversation as the model sees it.
    pub fn from_history(history: &History, counters: TokenCounters<'_>) -> Self {
        let visible: Vec<_> = history.sent_messages().cloned().collect();
        Self::from_messages(&visible, counters)
    }

    fn from_messages(visible: &[Arc<Message>], counters: TokenCounters<'_>) -> Self {
        let tokens = visible.iter().map(|message| (counters.message)(message)).sum();
        Self { messages: visible.len(), tokens }
    }
}

/// Author of a compaction's summary: a model, or Strata itself if no model was used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummaryAuthor {
    /// Where the model runs, or `extractive` if no model was used.
    pub kind: AuthorKind,
    /// Name of the model: the one that the client reported with its answer, or `compaction.model`. Absent if no
    /// model was used or the client did not report one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// How a summary was written: by a model that the client ran, by a provider's model, or without a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthorKind {
    /// The client ran the model (`strata/summarize`).
    Client,
    /// Strata called a provider's model over HTTP.
    Http,
    /// No model was used. The summary was extracted from the conversation.
    Extractive,
}

impl SummaryAuthor {
    pub(crate) const EXTRACTIVE: Self = Self { kind: AuthorKind::Extractive, model: None };
}

/// A shortened conversation, ready to be committed.
#[derive(Clone, PartialEq, Debug)]
pub struct CompactionDraft {
    /// Profile that was applied.
    pub profile: Profile,
    pub strategy: CompactionStrategy,
    pub before: ConversationSize,
    pub after: ConversationSize,
    /// Author of the summary, if there is one.
    pub summarised_by: Option<SummaryAuthor>,
    pub notes: Vec<String>,
    pub(super) epoch: ContentHash,
    pub(super) basis: DraftBasis,
    pub(super) entries: Vec<RebuildStep>,
}

/// Reason for not compacting a conversation.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotCompacted {
    /// The profile keeps every message.
    #[error("nothing to compact: profile `{profile}` keeps all {messages} messages")]
    NothingOld {
        profile: String,
        /// Number of messages that the model sees.
        messages: usize,
    },
    /// No strategy shortens the conversation.
    #[error("the conversation is unchanged: {}", reasons.join("; "))]
    NotShorter {
        /// Why each strategy failed.
        reasons: Vec<String>,
    },
}

/// A compaction in progress.
#[derive(Clone)]
pub struct CompactionRun {
    visible: Vec<Arc<Message>>,
    profile: Profile,
    pressure: ContextPressure,
    summariser: Summariser,
    tools: ToolPatterns,
    split: ConversationSplit,
    phase: CompactionPhase,
    failures: Vec<String>,
}

#[derive(Clone)]
enum CompactionPhase {
    /// Asks where the topic changed. The question lists the visible messages from index `from` on.
    FindTopic {
        question: SummarizerQuestion,
        from: usize,
    },
    /// Asks the `questions` one by one. `answers` contains the answers received so far, in the same order.
    AskForSummary {
        questions: Vec<SummarizerQuestion>,
        answers: Vec<String>,
    },
    Done(Box<Result<CompactionDraft, NotCompacted>>),
}

impl fmt::Debug for CompactionRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompactionRun")
            .field("profile", &self.profile.name)
            .field("split", &self.split)
            .finish_non_exhaustive()
    }
}

impl CompactionRun {
    /// Starts a compaction of the messages that the model sees.
    ///
    /// # Errors
    /// [`NotCompacted::NothingOld`] if the profile keeps every message.
    pub fn new(
        history: &History,
        profile: Profile,
        pressure: ContextPressure,
        summariser: Summariser,
        tools: ToolPatterns,
        counters: TokenCounters<'_>,
    ) -> Result<Self, NotCompacted> {
        let visible: Vec<Arc<Message>> = history.sent_messages().cloned().collect();
        let Some(split) = split(&visible, &profile, &pressure, counters.message) else {
            return Err(NotCompacted::NothingOld { profile: profile.name, messages: visible.len() });
        };
        let nothing = CompactionPhase::AskForSummary { questions: Vec::new(), answers: Vec::new() };
        let mut run = Self {
            visible,
            profile,
            pressure,
            summariser,
            tools,
            split,
            phase: nothing,
            failures: Vec::new(),
        };
        match run.summariser {
            Summariser::Extractive => run.summarise_without_model(counters),
            Summariser::Model { topics: TopicDetection::Asked, window }
                if run.profile.builtin == BuiltinProfile::Topic =>
            {
                let (question, from) = question::topic_question(&run.visible, window, counters.text);
                run.phase = CompactionPhase::FindTopic { question, from };
            }
            Summariser::Model { window, .. } => run.ask_for_summary(window, counters),
        }
        Ok(run)
    }

    /// Returns the next question; `None` when the compaction is done.
    pub fn question(&self) -> Option<&SummarizerQuestion> {
        match &self.phase {
            CompactionPhase::FindTopic { question, .. } => Some(question),
            CompactionPhase::AskForSummary { questions, answers } => questions.get(answers.len()),
            CompactionPhase::Done(_) => None,
        }
    }

    /// Takes the answer to [`question`](Self::question), or the reason why there is none. Does nothing if no
    /// question is open.
    pub fn handle_answer(&mut self, answer: Result<String, String>, counters: TokenCounters<'_>) {
        let phase = std::mem::replace(
            &mut self.phase,
            CompactionPhase::AskForSummary { questions: Vec::new(), answers: Vec::new() },
        );
        match phase {
            CompactionPhase::FindTopic { from, .. } => self.handle_topic_answer(answer, from, counters),
            CompactionPhase::AskForSummary { questions, mut answers } => {
                let Some(question) = questions.get(answers.len()) else { return };
                // The file names may be at the end of an answer that is clipped. A part of a conversation need not name
                // any.
                let only_answer = answer.as_deref().ok().filter(|_| questions.len() == 1);
                let unnamed = only_answer.and_then(|text| self.preserved_facts().unnamed_file_count(text));
                let checked =
                    validated_summary(answer, question, self.profile.builtin.structure(), counters.text);
                match unnamed.map_or(checked, |files| {
                    Err(format!("the answer names none of the {files} edited files"))
                }) {
                    Ok(text) => answers.push(text),
                    Err(reason) => {
                        self.failures.push(format!("no summary from a model: {reason}"));
                        return self.summarise_without_model(counters);
                    }
                }
                if answers.len() < questions.len() {
                    self.phase = CompactionPhase::AskForSummary { questions, answers };
                } else {
                    self.finish_round(answers, questions.len(), counters);
                }
            }
            done @ CompactionPhase::Done(_) => self.phase = done,
        }
    }

    /// Returns the draft. If a question is still open, the summary is extracted without a model.
    ///
    /// # Errors
    /// [`NotCompacted`] if the conversation would not get shorter.
    pub fn finish(mut self, counters: TokenCounters<'_>) -> Result<CompactionDraft, NotCompacted> {
        if !matches!(self.phase, CompactionPhase::Done(_)) {
            self.summarise_without_model(counters);
        }
        match self.phase {
            CompactionPhase::Done(result) => *result,
            _ => Err(NotCompacted::NotShorter { reasons: self.failures }),
        }
    }

    fn handle_topic_answer(
        &mut self,
        answer: Result<String, String>,
        from: usize,
        counters: TokenCounters<'_>,
    ) {
        let boundary =
            answer.ok().and_then(|answer| question::parse_topic_change(without_reasoning(&answer)));
        let confident = boundary.filter(|boundary| boundary.confidence >= MIN_TOPIC_CONFIDENCE);
        // Keep the minimum number of exchanges even if the topic is newer.
        let latest_cut = last_exchanges_start(
            &self.visible,
            self.profile.keep.exchanges,
            self.token_limit(),
            counters.message,
        );
        let at = confident
            .and_then(|boundary| from.checked_add(boundary.at))
            .filter(|at| (self.split.end..self.visible.len()).contains(at))
            .map(|at| at.min(latest_cut));
        if let Some(at) = at
            && let Some(split) = split_before_index(&self.visible, &self.profile, at)
            && split.end >= self.split.end
        {
            let summarised = std::mem::replace(&mut self.split, split);
            if self.try_finish(CompactionStrategy::TopicCut, "", counters) {
                return;
            }
            self.split = summarised;
        }
        match self.summariser {
            Summariser::Model { window, .. } => self.ask_for_summary(window, counters),
            Summariser::Extractive => self.summarise_without_model(counters),
        }
    }

    fn ask_for_summary(&mut self, window: usize, counters: TokenCounters<'_>) {
        let questions = question::summary_questions(
            &self.old_messages(),
            &self.profile_with_bounded_summary(),
            window,
            &self.tools,
            counters.text,
        );
        self.phase = CompactionPhase::AskForSummary { questions, answers: Vec::new() };
    }

    fn finish_round(&mut self, answers: Vec<String>, question_count: usize, counters: TokenCounters<'_>) {
        let Summariser::Model { window, .. } = self.summariser else {
            return self.summarise_without_model(counters);
        };
        if let [text] = answers.as_slice() {
            if !self.try_finish(CompactionStrategy::Model, text, counters) {
                self.summarise_without_model(counters);
            }
            return;
        }
        let questions = question::merge_questions(
            &answers,
            &self.old_messages(),
            &self.profile_with_bounded_summary(),
            window,
            &self.tools,
            counters.text,
        );
        // Each round of merging must reduce the number of questions, or merging would not terminate.
        if questions.len() < question_count {
            self.phase = CompactionPhase::AskForSummary { questions, answers: Vec::new() };
        } else {
            self.failures.push("the partial summaries together exceed the model's window".to_owned());
            self.summarise_without_model(counters);
        }
    }

    fn summarise_without_model(&mut self, counters: TokenCounters<'_>) {
        let summary = self.profile_with_bounded_summary().summary;
        let budget = SummaryBudget { tokens: summary.tokens, words: summary.words };
        let old = self.old_messages();
        let structure = self.profile.builtin.structure();
        let text = extractive::summarise(&old, structure, &budget, &self.tools, None, counters.text);
        if !self.try_finish(CompactionStrategy::Extractive, &text, counters) {
            self.drop_oldest(counters);
        }
    }

    fn drop_oldest(&mut self, counters: TokenCounters<'_>) {
        if let Some(limit) = self
            .token_limit()
            .filter(|limit| self.pressure.history > limit.saturating_mul(DROP_OLDEST_LIMIT_FACTOR))
        {
            let remaining = emergency_truncate(&self.visible, limit, counters.message);
            let split =
                split_before_index(&self.visible, &self.profile, self.visible.len() - remaining.len());
            if let Some(split) = split {
                self.split = split;
                if self.try_finish(CompactionStrategy::Truncated, "", counters) {
                    return;
                }
            }
        }
        let reasons = std::mem::take(&mut self.failures);
        self.phase = CompactionPhase::Done(Box::new(Err(NotCompacted::NotShorter { reasons })));
    }

    /// Completes the run with `summary` if that shortens the conversation, and returns whether it did.
    fn try_finish(
        &mut self,
        strategy: CompactionStrategy,
        summary: &str,
        counters: TokenCounters<'_>,
    ) -> bool {
        let pins = self.preserved_facts();
        let rebuild = Rebuilder { visible: &self.visible, profile: &self.profile, split: &self.split };
        let write = |summary: &str| {
            let with = |missing: &str| match strategy {
                CompactionStrategy::Model | CompactionStrategy::Extractive => {
                    rebuild.rebuild_with_summary(summary, missing)
                }
                CompactionStrategy::TopicCut => rebuild.rebuild_without_summary("", missing),
                CompactionStrategy::Truncated => rebuild.rebuild_without_summary(LEFT_OUT, missing),
            };
            let without_facts = with("");
            let missing = pins.format_missing(&self.rebuilt_text(&without_facts), counters.text);
            if missing.is_empty() { without_facts } else { with(&missing) }
        };
        let mut entries = write(summary);

        let before = self.size(counters);
        let mut notes = Vec::new();
        if let Some((share, window)) = self.profile.target_share.zip(self.pressure.window) {
            let target = (window as f64 * share) as usize;
            let over = |entries: &[RebuildStep]| {
                self.rebuilt_context_tokens(entries, counters).saturating_sub(target)
            };
            let too_much = over(&entries);
            let excess = clip_kept_results(&mut entries, &self.visible, too_much, counters.text);
            if excess > 0 && !summary.is_empty() {
                // Keep a minimum, because a summary clipped to nothing would be useless.
                let summary_tokens =
                    (counters.text)(summary).saturating_sub(excess).max(MIN_CLIPPED_SUMMARY_TOKENS);
                entries = write(&clip_to_tokens(summary, summary_tokens, counters.text));
                clip_kept_results(&mut entries, &self.visible, usize::MAX, counters.text);
            }
            if over(&entries) > 0 {
                notes.push(format!(
                    "the prompt still has more than {target} tokens, {}% of the window: the kept messages and the rest of the prompt \
                     are too large",
                    (share * 100.0).round()
                ));
            }
        }
        let after = self.rebuilt_size(&entries, counters);
        if after.tokens >= before.tokens {
            self.failures.push(format!(
                "{} would not be shorter ({} tokens instead of {})",
                strategy.describe_result(),
                after.tokens,
                before.tokens
            ));
            return false;
        }
        notes.splice(0..0, std::mem::take(&mut self.failures));
        let last_old = self.split.old.last().and_then(|at| self.visible.get(*at));
        let Some(last_old) = last_old.map(|message| message.id) else { return false };
        let covered: Vec<MessageId> = self.visible.iter().map(|message| message.id).collect();
        let kept_ids: HashSet<MessageId> = entries.iter().filter_map(RebuildStep::kept_message).collect();
        let after_cut = self.visible.iter().skip(self.split.end).map(|message| message.id);
        let rewritten = after_cut.filter(|id| !kept_ids.contains(id)).collect();
        let basis = DraftBasis { covered, last_old, rewritten };
        let draft = CompactionDraft {
            profile: self.profile.clone(),
            strategy,
            before,
            after,
            summarised_by: (strategy == CompactionStrategy::Extractive).then_some(SummaryAuthor::EXTRACTIVE),
            notes,
            epoch: basis.state_hash(&self.visible),
            basis,
            entries,
        };
        self.phase = CompactionPhase::Done(Box::new(Ok(draft)));
        true
    }

    /// Returns the tokens of the whole prompt if the conversation is replaced with `entries`.
    fn rebuilt_context_tokens(&self, entries: &[RebuildStep], counters: TokenCounters<'_>) -> usize {
        let other_tokens = self.pressure.context.saturating_sub(self.pressure.history);
        other_tokens.saturating_add(self.rebuilt_size(entries, counters).tokens)
    }

    /// Returns the profile with its summary limit reduced to a share of the trigger limit.
    fn profile_with_bounded_summary(&self) -> Profile {
        let mut profile = self.profile.clone();
        let most = self.token_limit().map_or(usize::MAX, |limit| limit / SUMMARY_LIMIT_DIVISOR);
        profile.summary.tokens = profile.summary.tokens.min(most);
        profile
    }

    /// Returns the lowest trigger limit, in tokens; `None` if no condition limits the tokens.
    fn token_limit(&self) -> Option<usize> {
        self.profile.trigger.token_limit(self.pressure.window, self.pressure.limit)
    }

    /// Returns the facts that the summary must preserve.
    fn preserved_facts(&self) -> PreservedFacts {
        let old = self.old_messages();
        let newest = self.visible.get(self.split.end..).unwrap_or_default();
        PreservedFacts::new(&old, newest, &extract_facts(old.iter().map(|message| &**message), &self.tools))
    }

    /// Returns the messages to summarize.
    fn old_messages(&self) -> Vec<Arc<Message>> {
        self.split.old.iter().filter_map(|at| self.visible.get(*at)).cloned().collect()
    }

    fn size(&self, counters: TokenCounters<'_>) -> ConversationSize {
        ConversationSize::from_messages(&self.visible, counters)
    }

    fn rebuilt_size(&self, entries: &[RebuildStep], counters: TokenCounters<'_>) -> ConversationSize {
        let mut size = ConversationSize::default();
        for message in self.rebuilt_messages(entries) {
            size.messages += 1;
            size.tokens += (counters.message)(&message);
        }
        size
    }

    /// Returns the messages that the model would see after rebuilding with `entries`.
    fn rebuilt_messages<'a>(&'a self, entries: &'a [RebuildStep]) -> impl Iterator<Item = Arc<Message>> + 'a {
        let mut at = 0;
        // Entries keep the order of messages, so each search starts where the last one stopped.
        let mut find = move |id: MessageId| {
            let offset = self.visible.get(at..)?.iter().position(|message| message.id == id)?;
            at += offset + 1;
            self.visible.get(at - 1)
        };
        entries.iter().filter_map(move |entry| match entry {
            RebuildStep::Keep(id) => find(*id).cloned(),
            RebuildStep::Archive(id) => find(*id).map(|message| {
                let mut stub = Message::clone(message);
                stub.body.kind = MessageKind::ToolResultArchived;
                Arc::new(stub)
            }),
            RebuildStep::Add(body) => Some(Arc::new(Message { id: MessageId(u64::MAX), body: body.clone() })),
        })
    }

    fn rebuilt_text(&self, entries: &[RebuildStep]) -> String {
        let mut text = String::new();
        for message in self.rebuilt_messages(entries) {
            for block in &message.body.content {
                match block {
                    ContentBlock::Text { text: block_text } => text.push_str(block_text),
                    ContentBlock::ToolCall { input, .. } => text.push_str(&input.to_string()),
                    _ => {}
                }
                text.push('\n');
            }
        }
        text
    }
}

impl CompactionStrategy {
    fn describe_result(self) -> &'static str {
        match self {
            Self::TopicCut => "the conversation since the last topic change",
            Self::Model => "a model's summary",
            Self::Extractive => "a summary without a model",
            Self::Truncated => "the conversation without its oldest exchanges",
        }
    }
}

/// The part of the conversation that a draft depends on.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct DraftBasis {
    /// Ids of the messages that the draft replaces or keeps.
    pub covered: Vec<MessageId>,
    /// Id of the last message before the cut.
    pub last_old: MessageId,
    /// Ids of messages after the cut that the draft clips or archives.
    pub rewritten: Vec<MessageId>,
}

impl DraftBasis {
    /// Returns a hash of everything that the draft depends on: the messages up to the cut, rewritten messages
    /// after it, and pins. Other messages after the cut do not affect it. `sent` contains the messages that
    /// the model receives.
    pub(super) fn state_hash(&self, sent: &[Arc<Message>]) -> ContentHash {
        let end = sent.iter().position(|message| message.id == self.last_old).map_or(0, |at| at + 1);
        let rewritten: HashSet<MessageId> = self.rewritten.iter().copied().collect();
        let later = sent.iter().skip(end).filter(|message| rewritten.contains(&message.id));
        let mut state = String::new();
        for message in sent.iter().take(end).chain(later) {
            // Serializing a message cannot fail, because its maps have string keys.
            state.push_str(&serde_json::to_string(&**message).unwrap_or_default());
        }
        let covered: HashSet<MessageId> = self.covered.iter().copied().collect();
        let pinned = sent.iter().filter(|message| message.body.pin == Pin::Kept);
        for message in pinned.filter(|message| covered.contains(&message.id)) {
            state.push_str(&format!(" {}", message.id.0));
        }
        ContentHash::from_text(&state)
    }
}
