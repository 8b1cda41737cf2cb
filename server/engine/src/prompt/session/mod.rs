//! One conversation with everything that belongs to it. A value: every change makes the next state whole
//! or not at all. It does not store itself and reads no clock.

mod cache_memory;
mod last_turn;
mod older;
mod saved_session;
mod shorter;
mod trail;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::code::symbols::MapMember;
use crate::conversation::compaction::Record;
use crate::conversation::history::{
    ContentBlock, History, MessageId, NewMessage, NoSuchMessage, Role, Visibility,
};
use crate::conversation::iteration::Loop;
use crate::conversation::selection::Selection;
use crate::conversation::urls::Pages;
use crate::key::FileKey;
use crate::prompt::assembly::{AssembledPrompt, LargePart, PreparedPrompt, PromptRequest, Request, list};
use crate::prompt::excerpts::Excerpts;
use crate::prompt::layout::Layout;
use crate::prompt::tiers::{Breaks, PolicyName, TierState};
use crate::tokens::calibration::{Calibration, Calibrations};
use crate::tokens::cost::{Account, BilledInput, Pace, SentRequest, Usage};
use crate::tokens::redaction::{Placeholder, placeholders};

use self::last_turn::RecordedTurn;

pub use cache_memory::CacheMemory;
pub use last_turn::{CacheEstimate, LastTurn, TierWeight};
pub use older::Room;
pub use saved_session::SavedSession;
pub(crate) use trail::StepHistory;

/// Prompts that wait for their answer: at most this many; the oldest is dropped (`docs/prompt.md`,
/// "The turn").
const MAX_PENDING: usize = 8;
/// Replies of `record` that are remembered, so that a repeat gets the same one.
const MAX_RECORDED: usize = 8;

/// Billed usage of a session.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Totals {
    /// In tokens.
    #[serde(flatten)]
    pub usage: Usage,
    /// Cost of the input, in tokens of plain input; absent without a bill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "TurnStatus")]
pub enum Status {
    /// The whole answer came.
    #[default]
    Complete,
    /// The user stopped it; the answer so far counts.
    Aborted,
    /// It failed; the prompt is treated as not sent.
    Error,
}

/// Why a request failed, where Strata can do something about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "TurnError")]
pub enum RequestError {
    /// The provider says that the prompt is too long.
    ContextLimit,
}

/// The outcome of a prompt.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Its outcome.
    pub status: Status,
    /// Why it failed, where that is known.
    pub error: Option<RequestError>,
    /// The answer so far.
    pub answer: Vec<ContentBlock>,
    /// The billed usage, if known.
    pub usage: Option<Usage>,
    /// When the answer came, in milliseconds since 1970.
    pub time_ms: u64,
}

/// The reply of `prompt.record`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordResult {
    /// The prompt.
    pub id: String,
    /// Its outcome.
    pub status: Status,
    /// How many messages the conversation has now.
    pub messages: usize,
    /// Billed usage of the session so far.
    pub totals: Usage,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Whether to assemble the prompt again and send it once more: the conversation is compacted first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub retry: bool,
}

/// Why a session is unchanged.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SessionError {
    /// The prompt of this name is not waiting for its answer.
    #[error(
        "prompt `{0}` no longer exists: it was discarded, or more than {MAX_PENDING} newer ones were assembled; assemble it again"
    )]
    NoSuchPrompt(String),
    /// A second prompt in a row was too long for the provider. Holds its largest parts, where it is known.
    #[error(
        "the prompt was too long again after the conversation was compacted; deselect files, or shorten the prompt or the system \
         prompt{}{}",
        if .0.is_empty() { "" } else { "; the largest parts: " },
        list(.0)
    )]
    AlreadyRecovered(Vec<LargePart>),
    /// No compaction can be undone.
    #[error("this conversation has no compaction left to undo")]
    NothingToUndo,
}

/// A prompt that waits for its answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pending {
    id: String,
    /// The revision of the session it was made from.
    base: u64,
    /// The latest revision that differs only by automatic changes: a compaction, archived results.
    same_until: u64,
    turn: Arc<Turn>,
}

/// The data for recording a prompt. The client has the body; it is not kept.
#[derive(Debug, Serialize, Deserialize)]
struct Turn {
    model: String,
    /// Its weight by our estimate, in tokens.
    estimated: usize,
    layout: Arc<Layout>,
    sent: SentRequest,
    asked: Arc<PromptRequest>,
    message: Option<NewMessage>,
    tiers: TierState,
    members: Vec<MapMember>,
    excerpts: Excerpts,
}

/// One conversation.
#[derive(Clone, Debug)]
pub struct Session {
    /// Its name.
    pub id: Arc<str>,
    /// The conversation itself.
    pub history: History,
    /// Which files it shows.
    pub selection: Selection,
    /// The web pages it shows.
    pub pages: Pages,
    /// The parts of files that questions brought along.
    pub excerpts: Excerpts,
    /// Maximum tokens of code that a question brings along; the setting's when absent.
    pub auto_budget: Option<usize>,
    /// The tiering rule it wishes for, whatever is set.
    pub policy: Option<PolicyName>,
    /// The policy's state.
    pub tiers: TierState,
    /// Files that have a block in the map, in order.
    pub map_members: Vec<MapMember>,
    /// Files read and steps.
    pub trail: StepHistory,
    /// The autonomous loop that runs in it.
    pub looping: Option<Loop>,
    /// Billed usage.
    pub totals: Usage,
    /// Calibration by model.
    pub calibrations: Calibrations,
    /// The compactions that were not undone, oldest first.
    compactions: Arc<Vec<Record>>,
    /// Tokens of the last prompt; `None` if the conversation has changed since.
    anchor: Option<Anchor>,
    recovery: Recovery,
    /// The last request rejected as too long: its model and minimum tokens.
    refused: Option<(Arc<str>, usize)>,
    /// Maximum input tokens of every request; the model's window when absent or larger.
    pub max_input_tokens: Option<usize>,
    /// Cost of `totals`, in tokens of plain input; `None` without a bill.
    spent: Option<f64>,
    /// When its prompts were sent, and how much of them could be cached.
    pub pace: Arc<Pace>,
    /// The believed content of the provider's cache.
    account: Option<Arc<Account>>,
    /// The last prompt that was recorded.
    last: Option<Arc<Layout>>,
    /// The options of the request.
    asked: Option<Arc<PromptRequest>>,
    /// What recorded prompts broke in the cache.
    pub breaks: Breaks,
    /// The last recorded prompt in figures; also one that another process recorded, or an earlier run.
    pub last_turn: Option<Arc<LastTurn>>,
    /// How often the conversation or the selection was changed; prompts made before a change know it.
    pub revision: u64,
    next_prompt: u64,
    pending: VecDeque<Pending>,
    recorded: VecDeque<RecordResult>,
}

/// Tokens of the last prompt with its answer, as billed or counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Anchor {
    pub(super) tokens: usize,
    /// Messages from this number on came later.
    pub(super) next: MessageId,
}

/// Whether the conversation may be compacted because a provider refused a prompt for its length: once until a prompt is
/// answered (`docs/compaction.md`, "Too long for the provider").
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Recovery {
    #[default]
    Possible,
    /// The next prompt must use a compacted conversation.
    Requested,
    Used,
}

impl Session {
    /// An empty conversation.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self {
            id: id.into(),
            history: History::default(),
            selection: Selection::new(),
            pages: Pages::default(),
            excerpts: Excerpts::default(),
            auto_budget: None,
            policy: None,
            tiers: TierState::default(),
            map_members: Vec::new(),
            trail: StepHistory::default(),
            looping: None,
            totals: Usage::default(),
            calibrations: Calibrations::default(),
            compactions: Arc::default(),
            anchor: None,
            recovery: Recovery::default(),
            refused: None,
            max_input_tokens: None,
            spent: None,
            pace: Arc::default(),
            account: None,
            last: None,
            asked: None,
            breaks: Breaks::default(),
            last_turn: None,
            revision: 0,
            next_prompt: 1,
            pending: VecDeque::new(),
            recorded: VecDeque::new(),
        }
    }

    /// The calibration of one model, by its name in the table.
    pub(crate) fn calibration(&self, model: &str) -> Option<&Calibration> {
        self.calibrations.of(model)
    }

    /// Takes over what other conversations taught, unless this one was taught something itself.
    pub fn inherit(&mut self, calibrations: &Calibrations) {
        if self.calibrations.is_empty() {
            self.calibrations = calibrations.elsewhere();
        }
    }

    /// Records the model's own count for a request with this estimate that was not sent.
    pub fn measured(&mut self, model: &str, estimated: usize, counted: usize) {
        self.calibrations.learn(model, estimated, counted);
    }

    /// The believed content of the provider's cache; `None` before the first recorded prompt.
    pub(crate) fn account(&self) -> Option<&Account> {
        self.account.as_deref()
    }

    /// The last prompt that was recorded.
    pub(crate) fn last_layout(&self) -> Option<&Layout> {
        self.last.as_deref()
    }

    /// How much the provider's cache is believed to hold for the next prompt, and until when; nothing when that time is
    /// over.
    pub fn cached(&self, now_ms: u64) -> Option<CacheEstimate> {
        let account = self.account()?;
        let expires_ms = account.expires_ms().filter(|at| *at >= now_ms)?;
        Some(CacheEstimate { tokens: account.cached_tokens(), expires_ms })
    }

    /// How the next prompt will be asked for, as far as one can know: like the last one that was recorded, with the same
    /// tools and wishes. Its request is left out.
    pub fn next_ask(&self, now_ms: u64) -> PromptRequest {
        let like = self.asked.as_deref().cloned();
        PromptRequest { now_ms, ..like.unwrap_or_else(|| PromptRequest::new(Request::Nothing)) }
    }

    /// Billed usage with its cost.
    pub(crate) fn billed(&self) -> Totals {
        Totals { usage: self.totals, cost: self.spent }
    }

    /// Changes whenever anything in the session does that a command can change.
    pub fn mark(&self) -> impl PartialEq + use<> {
        (
            self.revision,
            self.next_prompt,
            self.pending.len(),
            self.recorded.back().map(|recorded| recorded.id.clone()),
        )
    }

    /// Takes note of a change to the conversation or the selection.
    pub fn touch(&mut self) {
        self.revision += 1;
    }

    /// Renames files with `rename`. Forgets the layout of prompts, because their bytes change.
    pub fn rename_files(&mut self, rename: impl Fn(&FileKey) -> Option<FileKey>) {
        self.selection.rename(&rename);
        self.excerpts.rename(&rename);
        self.map_members.clear();
        self.tiers = TierState::default();
        self.touch();
    }

    /// Some files have other names now, which `moved` says. Whether that concerns the session. To its prompts it is as if
    /// the old ones had gone and the new ones come.
    pub fn move_files(&mut self, moved: impl Fn(&FileKey) -> Option<FileKey>) -> bool {
        let selection = &self.selection;
        let chosen = selection.selected.keys().chain(&selection.excluded);
        let concerned = chosen
            .chain(self.map_members.iter().map(|member| &member.path))
            .chain(self.excerpts.files())
            .any(|key| moved(key).is_some());
        if concerned {
            let now = |key: &FileKey| moved(key).unwrap_or_else(|| key.clone());
            self.selection.rename(|key| Some(now(key)));
            self.excerpts.rename(|key| Some(now(key)));
            self.map_members.iter_mut().for_each(|member| member.path = now(&member.path));
            self.touch();
        }
        concerned
    }

    /// Replaces the conversation, as after loading one. Forgets its places in the tiers.
    pub fn set_history(&mut self, messages: impl IntoIterator<Item = NewMessage>) {
        self.history.set(messages);
        self.begun_anew();
    }

    /// Changes a message's content or visibility.
    ///
    /// # Errors
    /// [`NoSuchMessage`].
    pub fn change_message(
        &mut self,
        id: MessageId,
        change: impl FnOnce(&mut NewMessage),
    ) -> Result<(), NoSuchMessage> {
        self.history.change(id, change)?;
        self.rewritten();
        Ok(())
    }

    /// Forgets a message and all later ones, and says how many went.
    ///
    /// # Errors
    /// [`NoSuchMessage`].
    pub fn truncate_history(&mut self, from: MessageId) -> Result<usize, NoSuchMessage> {
        let gone = self.history.truncate(from)?;
        // Where a summary went, what it stands for is shown again.
        while let Some(record) = self.compactions.last() {
            let whole = record.rebuilt.added.iter().all(|id| self.history.get(*id).is_some());
            if whole && self.history.sent().next().is_some() {
                break;
            }
            let record = Arc::make_mut(&mut self.compactions).pop();
            record.iter().for_each(|record| self.history.take_back(&record.rebuilt));
        }
        self.rewritten();
        Ok(gone)
    }

    /// Starts another conversation under another name, with the same files. Keeps what the provider's cache holds of them.
    pub fn begin_again(&mut self, id: impl Into<Arc<str>>) {
        self.id = id.into();
        self.calibrations = self.calibrations.elsewhere();
        self.excerpts.begin_again();
        self.set_history([]);
        self.totals = Usage::default();
        self.spent = None;
        self.looping = None;
        self.recovery = Recovery::default();
        self.pending.clear();
        self.recorded.clear();
    }

    /// Forgets all messages after this one.
    ///
    /// # Errors
    /// [`NoSuchMessage`].
    pub fn end_with(&mut self, last: MessageId) -> Result<(), NoSuchMessage> {
        let messages = self.history.messages();
        let at = messages.iter().position(|message| message.id == last).ok_or(NoSuchMessage(last))?;
        match messages.get(at + 1).map(|message| message.id) {
            Some(next) => self.truncate_history(next).map(|_| ()),
            None => Ok(()),
        }
    }

    /// The conversation is another one: nothing of it was compacted, and nothing was looked at in it.
    fn begun_anew(&mut self) {
        self.compactions = Arc::default();
        self.trail = StepHistory::default();
        self.recovery = Recovery::Possible;
        self.rewritten();
    }

    /// Resets the tiers of all messages. The conversation stays.
    pub fn reregister_history(&mut self) {
        self.tiers.purge_history();
    }

    /// Has the next prompt rebuilt (`docs/tiers.md`, "Rebuilding").
    pub fn rebuild_tiers(&mut self) {
        self.tiers.rebuild();
        self.touch();
    }

    /// Keeps a prompt until its answer comes, gives it its name and returns the reply.
    pub fn keep(&mut self, prepared: PreparedPrompt) -> AssembledPrompt {
        let PreparedPrompt { reply, layout, sent, asked, message, tiers, members, excerpts, .. } = prepared;
        let (model, estimated) = (reply.model.clone(), reply.tokens.total);
        let turn = Turn { model, estimated, layout, sent, asked, message, tiers, members, excerpts };
        let id = format!("p{}", self.next_prompt);
        self.next_prompt += 1;
        let (base, same_until) = (self.revision, self.revision);
        self.pending.push_back(Pending { id: id.clone(), base, same_until, turn: Arc::new(turn) });
        if self.pending.len() > MAX_PENDING {
            self.pending.pop_front();
        }
        AssembledPrompt { id: Some(id), ..reply }
    }

    /// Forgets a prompt that will not be sent.
    ///
    /// # Errors
    /// [`SessionError::NoSuchPrompt`] when it is not waiting.
    pub fn discard(&mut self, id: &str) -> Result<(), SessionError> {
        self.take(id).map(drop)
    }

    fn take(&mut self, id: &str) -> Result<Pending, SessionError> {
        let at = self.pending.iter().position(|pending| pending.id == id);
        at.and_then(|at| self.pending.remove(at)).ok_or_else(|| SessionError::NoSuchPrompt(id.to_owned()))
    }

    /// Commits the turn of a prompt. A repeat changes nothing and gets the same reply.
    ///
    /// # Errors
    /// [`SessionError`]; a prompt that was too long twice in a row is forgotten.
    pub fn record(&mut self, id: &str, outcome: Outcome) -> Result<RecordResult, SessionError> {
        if let Some(before) = self.recorded.iter().find(|recorded| recorded.id == id) {
            return Ok(before.clone());
        }
        let pending = self.take(id)?;
        let retry = outcome.error == Some(RequestError::ContextLimit);
        if retry {
            self.refuse(&pending.turn)?;
        }
        if let Some(usage) = outcome.usage {
            self.totals = self.totals + usage;
            let cost = usage.cost(&pending.turn.sent.prices);
            self.spent = Some(self.spent.unwrap_or_default() + cost);
        }
        let status = outcome.status;
        let counts = match status {
            Status::Complete => true,
            Status::Aborted => !outcome.answer.is_empty(),
            Status::Error => false,
        };
        let warnings = if counts { self.commit(&pending, outcome) } else { Vec::new() };
        let recorded = RecordResult {
            id: pending.id,
            status,
            messages: self.history.messages().len(),
            totals: self.totals,
            warnings,
            retry,
        };
        self.recorded.push_back(recorded.clone());
        if self.recorded.len() > MAX_RECORDED {
            self.recorded.pop_front();
        }
        Ok(recorded)
    }

    /// Adds an answered turn, and returns warnings for the user.
    fn commit(&mut self, Pending { base, same_until, turn, .. }: &Pending, outcome: Outcome) -> Vec<String> {
        let Outcome { answer, usage, time_ms, .. } = outcome;
        let billed = usage.map(Usage::billed);
        let is_current = *base == self.revision;
        let is_same = *same_until == self.revision;
        let mut warnings: Vec<String> = self.sent(turn, billed).into_iter().collect();
        if is_current {
            self.tiers = turn.tiers.clone();
            if let Some(billed) = billed {
                self.tiers.learn(billed);
            }
            self.map_members = turn.members.clone();
            self.excerpts = turn.excerpts.clone();
        } else if !is_same {
            warnings.push(
                "the session changed after this prompt was assembled; its messages were added, its cache layout was discarded"
                    .to_owned(),
            );
        }
        warnings.extend(placeholders_said(&placeholders_in(&answer)));
        let say = |message| NewMessage { time_ms: Some(time_ms), ..message };
        match (turn.message.clone(), turn.message.as_ref().and_then(|question| self.answer_to(question))) {
            // Assembled before the same question was answered: this is another answer to it.
            (Some(_), Some(earlier)) if !is_same => {
                let hide = |message: &mut NewMessage| message.agent = Visibility::Hidden;
                if self.history.change(earlier, hide).is_ok() {
                    self.reregister_history();
                }
            }
            (Some(question), _) => drop(self.history.add(say(question))),
            (None, _) => {}
        }
        // What was counted holds the question; what was billed holds the answer, too.
        let counted = Anchor { tokens: turn.estimated, next: self.history.next_id() };
        if answer.is_empty() {
            warnings.push("the answer is empty; only the prompt was added".to_owned());
        } else {
            self.history.add(say(NewMessage::new(Role::Assistant, answer)));
        }
        let billed = usage.filter(|usage| usage.input_tokens() > 0).map(|usage| {
            let output = usize::try_from(usage.output).unwrap_or(usize::MAX);
            Anchor { tokens: usage.input_tokens().saturating_add(output), next: self.history.next_id() }
        });
        self.anchor = is_current.then(|| billed.unwrap_or(counted));
        if let Some(usage) = usage {
            self.calibrations.learn(&turn.model, turn.estimated, usage.input_tokens());
        }
        self.recovery = Recovery::Possible;
        self.touch();
        warnings
    }

    /// The answer that ends the conversation, when it is to this very question.
    fn answer_to(&self, question: &NewMessage) -> Option<MessageId> {
        let [.., asked, answer] = self.history.messages() else { return None };
        let is_same = asked.body.role == question.role && asked.body.content == question.content;
        (is_same && answer.body.role == Role::Assistant).then_some(answer.id)
    }

    /// Takes note of a prompt that was sent, and warns when the provider read less of it than was expected.
    fn sent(
        &mut self,
        Turn { model, layout, sent, asked, tiers, .. }: &Turn,
        billed: Option<BilledInput>,
    ) -> Option<String> {
        let before = self.account.as_deref();
        self.breaks.record(self.last.as_deref(), layout, before, sent, &self.selection);
        let account = Account::after(before, sent, billed);
        let missed = account.missed();
        self.breaks.missed(missed);
        self.account = Some(Arc::new(account));
        Arc::make_mut(&mut self.pace).sent(sent);
        self.last = Some(Arc::clone(layout));
        self.asked = Some(Arc::clone(asked));
        let recorded = RecordedTurn {
            before: self.last_turn.as_deref(),
            model,
            tiers,
            layout,
            breaks: &self.breaks,
            pages: &self.pages,
            cached: self.cached(sent.at_ms),
        };
        self.last_turn = Some(Arc::new(LastTurn::of(&recorded)));
        missed.map(|missed| {
            format!(
                "the provider read {} tokens from its cache instead of {}; the next prompt relies only on what this one wrote",
                missed.reported, missed.expected
            )
        })
    }
}

/// The placeholders in an answer, each once.
fn placeholders_in(answer: &[ContentBlock]) -> BTreeSet<Placeholder> {
    let said = serde_json::to_string(answer).unwrap_or_default();
    placeholders(&said).map(|(_, placeholder)| placeholder).collect()
}

fn placeholders_said(placeholders: &BTreeSet<Placeholder>) -> Option<String> {
    let names: Vec<&str> = placeholders.iter().map(Placeholder::as_str).collect();
    (!names.is_empty()).then(|| {
        format!(
            "the answer contains placeholders of secrets ({}); strata.redaction.restore restores them in text to be applied",
            names.join(", ")
        )
    })
}
