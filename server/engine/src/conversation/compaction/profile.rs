//! Compaction profiles as data: when a conversation is compacted, what of it stays word for word, how the rest is
//! summarised and how the conversation is rebuilt. The five that ship are five values of one type; a person changes
//! them, or makes more, by naming figures in the settings. Decides nothing.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conversation::extractive::Structure;

/// Tool results that the model may see unless the settings say otherwise (`tool_output.cutoff`): the same figure decides which
/// are archived and which a compaction digests.
pub(crate) const KEPT_RESULTS: usize = 10;

/// The profiles that ship.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ProfileName")]
pub enum Family {
    /// Cut where the topic changed, else a summary pair in front of the newest exchanges.
    #[default]
    Topic,
    /// The first message, a summary by phases and themes, the newest messages.
    Continuation,
    /// A structured checkpoint in front of the newest messages.
    Checkpoint,
    /// A running summary in front of the newest iterations.
    Rolling,
    /// Everything becomes one message that another agent can go on from.
    Handoff,
}

/// When a profile looks whether a compaction is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "CompactionMoment")]
pub enum Moment {
    /// After a turn was recorded; the next prompt may still be made of the old conversation.
    AfterTurn,
    /// Before a prompt is assembled, which waits for it.
    BeforeAssembling,
    /// After a turn was recorded, too: a turn is to a conversation what an iteration is to a loop.
    OnIteration,
}

/// What makes a compaction due. Any one of the conditions is enough; `None` never does.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Trigger {
    /// The conversation weighs more than this share of what a request may weigh, and a compaction pays.
    pub history_share: Option<f64>,
    /// The conversation weighs more than so many tokens.
    pub history_over: Option<usize>,
    /// The whole prompt weighs so many tokens or more.
    pub context_from: Option<usize>,
    /// The whole prompt weighs more than this share of the window.
    pub window_share: Option<f64>,
    /// The whole prompt comes near the end of the window.
    pub reserve: Option<Reserve>,
    /// The model sees more than so many messages.
    pub messages_over: Option<usize>,
    /// The conversation has more than so many exchanges.
    pub exchanges_over: Option<usize>,
}

/// How near the end of the window is near.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reserve {
    /// So many tokens are kept free.
    pub tokens: usize,
    /// The limit when the window is unknown or not larger than the reserve, in tokens; 0 is none.
    pub otherwise: usize,
    /// The limit when there is neither, in messages; 0 is none.
    pub messages: usize,
}

/// Whether the first message stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum First {
    /// Word for word.
    Kept,
    /// Only in the summary.
    Summarised,
}

/// What stays word for word besides what is pinned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Keep {
    /// The first message.
    pub(crate) first: First,
    /// The newest messages that weigh at most so many tokens together, at most half of the limit that triggers. 0: by
    /// number.
    pub tokens: usize,
    /// The newest messages by number, where weight leaves nothing to summarise.
    pub messages: usize,
    /// So many of the newest exchanges in any case.
    pub exchanges: usize,
}

/// What a summary may be like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SummaryRules {
    /// At most so many tokens.
    pub tokens: usize,
    /// From and to how many words, where the profile says so.
    pub words: Option<(usize, usize)>,
    /// Characters of each tool result that the summariser is shown; 0 shows them whole.
    pub result_chars: usize,
    /// Characters of the arguments of each tool call that the summariser is shown; 0 shows them whole.
    pub call_chars: usize,
    /// How older tool results in what is kept are digested. `None` keeps all.
    pub digest: Option<Digest>,
}

/// The digest of tool results in what is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digest {
    /// Visible results that stay, the newest; 0 keeps all.
    pub kept_results: usize,
    /// Characters of each result that is digested.
    pub line_chars: usize,
    /// Results that are named, the newest; of the others the digest gives the number.
    pub lines: usize,
}

/// What becomes of the lists of a session when it was compacted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lists {
    /// They stay.
    Stay,
    /// The list of files read is cleared, because their texts are gone; the last 10 steps stay.
    Shortened,
    /// New ones are begun.
    Renewed,
}

/// A named set of compaction rules.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Whose sections and whose way of rebuilding it has.
    pub family: Family,
    /// When it looks.
    pub moment: Moment,
    /// What makes it due.
    pub(crate) trigger: Trigger,
    /// What stays.
    pub keep: Keep,
    /// How the rest is summarised.
    pub summary: SummaryRules,
    /// What share of the window the prompt should weigh afterwards at most.
    pub target_share: Option<f64>,
    /// What becomes of the session's lists.
    pub(crate) lists: Lists,
}

/// Figures that replace those of a profile, or make a new one of it. Every field is optional.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProfileOptions {
    /// The profile that it starts from; its own name when that is one of the five, else `topic`.
    pub like: Option<Family>,
    /// When it looks.
    pub moment: Option<Moment>,
    /// Share of a request's limit that the conversation may weigh, and at least 24,000 tokens, before it is compacted as soon as that pays. 0 never.
    #[schemars(extend("x-workspace" = true))]
    pub history_share: Option<f64>,
    /// Due when the conversation weighs more, in tokens. 0 never.
    #[schemars(extend("x-workspace" = true))]
    pub history_over: Option<usize>,
    /// Due when the whole prompt weighs as much, in tokens. 0 never.
    #[schemars(extend("x-workspace" = true))]
    pub context_from: Option<usize>,
    /// Due when the whole prompt weighs more than this share of the window. 0 never.
    #[schemars(extend("x-workspace" = true))]
    pub window_share: Option<f64>,
    /// Tokens of the window that are kept free.
    #[schemars(extend("x-workspace" = true))]
    pub reserve_tokens: Option<usize>,
    /// The limit in tokens when the window is unknown or not over the reserve.
    #[schemars(extend("x-workspace" = true))]
    pub max_tokens: Option<usize>,
    /// The limit in messages when neither is known.
    #[schemars(extend("x-workspace" = true))]
    pub max_messages: Option<usize>,
    /// Due when the model sees more messages. 0 never.
    #[schemars(extend("x-workspace" = true))]
    pub messages_over: Option<usize>,
    /// Due when there are more exchanges. 0 never.
    #[schemars(extend("x-workspace" = true))]
    pub exchanges_over: Option<usize>,
    /// Whether the first message stays.
    #[schemars(extend("x-workspace" = true))]
    pub keep_first: Option<bool>,
    /// The newest tokens that stay.
    #[schemars(extend("x-workspace" = true))]
    pub keep_tokens: Option<usize>,
    /// The newest messages that stay at least.
    #[schemars(extend("x-workspace" = true))]
    pub keep_messages: Option<usize>,
    /// The newest exchanges that stay at least.
    #[schemars(extend("x-workspace" = true))]
    pub keep_exchanges: Option<usize>,
    /// What the summary may weigh, in tokens.
    #[schemars(extend("x-workspace" = true))]
    pub summary_tokens: Option<usize>,
    /// What share of the window the prompt should weigh afterwards.
    #[schemars(extend("x-workspace" = true))]
    pub target_share: Option<f64>,
    /// Characters of each tool result that the model which summarises is shown. 0 shows them whole.
    #[schemars(extend("x-workspace" = true))]
    pub result_chars: Option<usize>,
    /// Characters of the arguments of each tool call that the model which summarises is shown. 0 shows them whole.
    #[schemars(extend("x-workspace" = true))]
    pub call_chars: Option<usize>,
    /// Characters of each result in the digest of `checkpoint`.
    #[schemars(extend("x-workspace" = true))]
    pub digest_chars: Option<usize>,
    /// Maximum results that the digest of `checkpoint` names; of older ones it gives the number.
    #[schemars(extend("x-workspace" = true))]
    pub digest_lines: Option<usize>,
}

/// A profile that does not exist.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no compaction profile `{name}`; there are {known}")]
pub struct NoSuchProfile {
    /// The name that was given.
    pub name: String,
    /// The names that there are.
    pub known: String,
}

impl Family {
    /// The five.
    pub const ALL: [Self; 5] =
        [Self::Topic, Self::Continuation, Self::Checkpoint, Self::Rolling, Self::Handoff];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Topic => "topic",
            Self::Continuation => "continuation",
            Self::Checkpoint => "checkpoint",
            Self::Rolling => "rolling",
            Self::Handoff => "handoff",
        }
    }

    /// The one of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }

    /// The sections of its summaries.
    pub(crate) fn structure(self) -> Structure {
        match self {
            Self::Topic => Structure::Topic,
            Self::Continuation => Structure::Continuation,
            Self::Checkpoint => Structure::Checkpoint,
            Self::Rolling => Structure::Rolling,
            Self::Handoff => Structure::Handoff,
        }
    }

    /// The profile as it ships. Where a figure comes from: `docs/compaction.md`, "The five profiles".
    pub fn profile(self) -> Profile {
        let nothing = Keep { first: First::Summarised, tokens: 0, messages: 0, exchanges: 0 };
        let summary =
            SummaryRules { tokens: 500, words: None, result_chars: 1_800, call_chars: 1_200, digest: None };
        let profile = Profile {
            name: self.name().to_owned(),
            family: self,
            moment: Moment::AfterTurn,
            trigger: Trigger::default(),
            keep: nothing.clone(),
            summary: summary.clone(),
            target_share: None,
            lists: Lists::Stay,
        };
        match self {
            Self::Topic => Profile {
                trigger: Trigger { history_share: Some(0.5), ..Trigger::default() },
                keep: Keep { tokens: 4_000, exchanges: 2, ..nothing },
                ..profile
            },
            Self::Continuation => Profile {
                moment: Moment::BeforeAssembling,
                trigger: Trigger { window_share: Some(0.8), messages_over: Some(25), ..Trigger::default() },
                keep: Keep { first: First::Kept, messages: 6, ..nothing },
                summary: SummaryRules { tokens: 1_600, words: Some((300, 800)), ..summary },
                target_share: Some(0.5),
                lists: Lists::Shortened,
                ..profile
            },
            Self::Checkpoint => Profile {
                trigger: Trigger {
                    reserve: Some(Reserve { tokens: 16_384, otherwise: 8_000, messages: 50 }),
                    ..Trigger::default()
                },
                keep: Keep { tokens: 20_000, messages: 5, ..nothing },
                summary: SummaryRules {
                    tokens: 2_000,
                    digest: Some(Digest { kept_results: KEPT_RESULTS, line_chars: 160, lines: 40 }),
                    ..summary
                },
                ..profile
            },
            Self::Rolling => Profile {
                moment: Moment::OnIteration,
                trigger: Trigger { exchanges_over: Some(5), ..Trigger::default() },
                keep: Keep { exchanges: 5, ..nothing },
                summary: SummaryRules { tokens: 2_000, words: Some((0, 500)), ..summary },
                ..profile
            },
            Self::Handoff => Profile {
                moment: Moment::BeforeAssembling,
                trigger: Trigger { context_from: Some(200_000), ..Trigger::default() },
                // Its document shows the summariser the conversation as it is.
                summary: SummaryRules { tokens: 4_000, result_chars: 0, call_chars: 0, ..summary },
                lists: Lists::Renewed,
                ..profile
            },
        }
    }
}

impl Profile {
    /// The profile of this name, with the figures that the settings give it.
    ///
    /// # Errors
    /// [`NoSuchProfile`] when it is neither one of the five nor in `own`.
    pub(crate) fn named(name: &str, own: &BTreeMap<String, ProfileOptions>) -> Result<Self, NoSuchProfile> {
        let options = own.get(name);
        let family = match (options.and_then(|options| options.like), Family::named(name)) {
            (Some(like), _) => like,
            (None, Some(family)) => family,
            (None, None) if options.is_some() => Family::default(),
            (None, None) => {
                let shipped = Family::ALL.iter().map(|family| family.name());
                let known: Vec<&str> = shipped.chain(own.keys().map(String::as_str)).collect();
                return Err(NoSuchProfile { name: name.to_owned(), known: known.join(", ") });
            }
        };
        let profile = Self { name: name.to_owned(), ..family.profile() };
        Ok(options.map_or_else(|| profile.clone(), |options| options.applied_to(profile.clone())))
    }
}

impl Profile {
    /// The profile with the number of tool results that may stay visible. 0 is no cutoff.
    pub(crate) fn with_cutoff(mut self, cutoff: usize) -> Self {
        if let Some(digest) = &mut self.summary.digest {
            digest.kept_results = cutoff;
        }
        self
    }
}

impl ProfileOptions {
    fn applied_to(&self, mut profile: Profile) -> Profile {
        let unless_zero = |figure: usize| (figure > 0).then_some(figure);
        let trigger = &mut profile.trigger;
        let share = |share: f64| (share > 0.0).then_some(share);
        replace(&mut trigger.history_share, self.history_share.map(share));
        replace(&mut trigger.history_over, self.history_over.map(unless_zero));
        replace(&mut trigger.context_from, self.context_from.map(unless_zero));
        replace(&mut trigger.window_share, self.window_share.map(share));
        replace(&mut trigger.messages_over, self.messages_over.map(unless_zero));
        replace(&mut trigger.exchanges_over, self.exchanges_over.map(unless_zero));
        if self.reserve_tokens.is_some() || self.max_tokens.is_some() || self.max_messages.is_some() {
            let none = Reserve { tokens: 0, otherwise: 0, messages: 0 };
            let reserve = trigger.reserve.get_or_insert(none);
            replace(&mut reserve.tokens, self.reserve_tokens);
            replace(&mut reserve.otherwise, self.max_tokens);
            replace(&mut reserve.messages, self.max_messages);
        }
        let first = |kept| if kept { First::Kept } else { First::Summarised };
        replace(&mut profile.moment, self.moment);
        replace(&mut profile.keep.first, self.keep_first.map(first));
        replace(&mut profile.keep.tokens, self.keep_tokens);
        replace(&mut profile.keep.messages, self.keep_messages);
        replace(&mut profile.keep.exchanges, self.keep_exchanges);
        replace(&mut profile.summary.tokens, self.summary_tokens);
        replace(&mut profile.summary.result_chars, self.result_chars);
        replace(&mut profile.summary.call_chars, self.call_chars);
        if let Some(digest) = &mut profile.summary.digest {
            replace(&mut digest.line_chars, self.digest_chars);
            replace(&mut digest.lines, self.digest_lines);
        }
        replace(&mut profile.target_share, self.target_share.map(Some));
        profile
    }
}

fn replace<T>(figure: &mut T, by: Option<T>) {
    if let Some(by) = by {
        *figure = by;
    }
}
