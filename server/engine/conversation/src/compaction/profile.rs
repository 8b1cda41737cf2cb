//! Compaction profiles: when a conversation is compacted, what stays verbatim, how the rest is summarized,
//! and how the conversation is rebuilt. The five built-in profiles are values of one type, which settings can
//! override or extend.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::extractive::SummaryStructure;

/// Default of `tool_output.cutoff`: the number of newest tool results that are neither archived nor digested.
pub(crate) const DEFAULT_KEPT_TOOL_RESULTS: usize = 10;

/// A built-in compaction profile.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ProfileName")]
pub enum BuiltinProfile {
    /// Cuts the conversation where the topic changed. Otherwise replaces older exchanges with a pair of
    /// summary messages.
    #[default]
    Topic,
    /// Keeps the first message, a summary by phases and themes, and the newest messages.
    Continuation,
    /// Keeps a structured checkpoint and the newest messages.
    Checkpoint,
    /// Keeps a running summary and the newest iterations.
    Rolling,
    /// Replaces the conversation with one message from which another agent can continue.
    Handoff,
}

/// Divisor of the trigger limit that gives the token limit for a summary. Kept messages take up to half of
/// the trigger limit, so the compacted conversation stays well below it.
pub(super) const SUMMARY_LIMIT_DIVISOR: usize = 4;

/// When Strata checks whether a compaction is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompactionMoment {
    /// Checks after each turn. The next prompt may still use the uncompacted conversation.
    AfterTurn,
    /// Checks before each prompt is assembled. If a compaction is due, the prompt waits until it is finished.
    BeforeAssembling,
    /// Checks after each turn, because every turn counts as an iteration.
    OnIteration,
}

/// Conditions that make a compaction due. Any one of them is enough. `None` disables a condition.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trigger {
    /// Size of the conversation above which a compaction is due if it also saves money, in tokens.
    pub pays_over: Option<usize>,
    /// Size of the conversation above which a compaction is due, in tokens.
    pub history_over: Option<usize>,
    /// Size of the whole prompt at which a compaction is due, in tokens.
    pub context_from: Option<usize>,
    /// Size of the whole prompt above which a compaction is due, as a share of the window.
    pub window_share: Option<f64>,
    /// Free space to keep in the window. A compaction is due when the whole prompt leaves no more than this.
    pub reserve: Option<WindowReserve>,
    /// Number of messages above which a compaction is due, not counting those hidden from the model.
    pub messages_over: Option<usize>,
    /// Number of exchanges above which a compaction is due.
    pub exchanges_over: Option<usize>,
}

/// Minimum free space in the window, with fallbacks for an unknown window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowReserve {
    /// Tokens to keep free in the window.
    pub tokens: usize,
    /// Token limit for the prompt if the window is unknown or not larger than the reserve; 0 for no limit.
    pub otherwise: usize,
    /// Maximum number of messages if neither the window nor `otherwise` sets a limit; 0 for no limit.
    pub messages: usize,
}

/// How a compaction treats the first message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FirstMessageRetention {
    /// The first message is kept verbatim.
    Kept,
    /// The first message is summarized with the others.
    Summarised,
}

/// What a compaction keeps verbatim, besides pinned messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeepRules {
    pub(crate) first: FirstMessageRetention,
    /// Token limit for the newest messages to keep, capped at half of the size at which a compaction is
    /// due. If 0, `messages` determines how many messages to keep.
    pub tokens: usize,
    /// Number of newest messages to keep if `tokens` is 0 or would leave nothing to summarize.
    pub messages: usize,
    /// Number of newest exchanges to keep even if they exceed `tokens`. Fewer are kept if they exceed the
    /// limits that `split` applies.
    pub exchanges: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SummaryRules {
    /// Token limit for the summary.
    pub tokens: usize,
    /// Minimum and maximum number of words in the summary, if the profile sets them.
    pub words: Option<(usize, usize)>,
    /// Maximum characters of each tool result in the summarizer's input; 0 for no limit.
    pub result_chars: usize,
    /// Maximum characters of each tool call's arguments in the summarizer's input; 0 for no limit.
    pub call_chars: usize,
    /// How to digest older tool results in the kept messages. `None` keeps them in full.
    pub digest: Option<DigestLimits>,
}

/// Limits for digesting older tool results in the kept messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DigestLimits {
    /// Number of newest results to keep in full; 0 keeps all.
    pub kept_results: usize,
    /// Maximum characters of each digested result.
    pub line_chars: usize,
    /// Maximum number of results listed, newest first. Older ones are only counted.
    pub lines: usize,
}

/// How a compaction changes two lists of the session: the files read and the steps (tool calls) taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActivityListUpdate {
    /// Keeps the lists of files read and steps.
    Keep,
    /// Clears the list of files read, because their content is no longer in the conversation, and keeps the
    /// last 10 steps.
    Shorten,
    /// Clears the lists of files read and steps.
    Clear,
}

/// A named set of compaction rules.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    pub name: String,
    /// Built-in profile that determines the sections of the summary and the rebuilt conversation.
    pub builtin: BuiltinProfile,
    /// When to check whether a compaction is due.
    pub moment: CompactionMoment,
    pub trigger: Trigger,
    pub keep: KeepRules,
    pub summary: SummaryRules,
    /// Maximum share of the window that the compacted prompt may take.
    pub target_share: Option<f64>,
    pub lists: ActivityListUpdate,
}

/// A compaction profile of your own, or overrides for a built-in one. Every field is optional.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProfileOptions {
    /// Built-in profile that supplies every value not set here. Defaults to the built-in profile of the same name, or
    /// else to `topic`.
    pub like: Option<BuiltinProfile>,
    /// When to check whether a compaction is due: after a turn, before a prompt is built, or after an iteration.
    pub moment: Option<CompactionMoment>,
    /// Size of the conversation, in tokens, above which it is compacted as soon as compacting saves money. 0 disables
    /// this condition.
    #[schemars(extend("x-workspace" = true))]
    pub pays_over: Option<usize>,
    /// Size of the conversation, in tokens, above which a compaction is due. 0 disables this condition.
    #[schemars(extend("x-workspace" = true))]
    pub history_over: Option<usize>,
    /// Size of the whole prompt, in tokens, at which a compaction is due. 0 disables this condition.
    #[schemars(extend("x-workspace" = true))]
    pub context_from: Option<usize>,
    /// Share of the input window, from 0 to 1. A compaction is due when the whole prompt exceeds this share. 0
    /// disables this condition.
    #[schemars(extend("x-workspace" = true))]
    pub window_share: Option<f64>,
    /// Tokens of the input window to keep free. A compaction is due when the whole prompt leaves no more than this.
    #[schemars(extend("x-workspace" = true))]
    pub reserve_tokens: Option<usize>,
    /// Size of the whole prompt, in tokens, at which a compaction is due if the window is unknown or not larger than
    /// `reserve_tokens`.
    #[schemars(extend("x-workspace" = true))]
    pub max_tokens: Option<usize>,
    /// Number of messages at which a compaction is due if the window is unknown or not larger than `reserve_tokens`,
    /// and `max_tokens` is 0.
    #[schemars(extend("x-workspace" = true))]
    pub max_messages: Option<usize>,
    /// Number of messages above which a compaction is due, not counting those hidden from the model. 0 disables this
    /// condition.
    #[schemars(extend("x-workspace" = true))]
    pub messages_over: Option<usize>,
    /// Number of exchanges above which a compaction is due. An exchange is a user message with everything up to the
    /// next one. 0 disables this condition.
    #[schemars(extend("x-workspace" = true))]
    pub exchanges_over: Option<usize>,
    /// Whether to keep the first message verbatim.
    #[schemars(extend("x-workspace" = true))]
    pub keep_first: Option<bool>,
    /// How much of the end of the conversation to keep verbatim, in tokens. If 0, `keep_messages` applies instead.
    #[schemars(extend("x-workspace" = true))]
    pub keep_tokens: Option<usize>,
    /// Number of newest messages to keep verbatim if `keep_tokens` is 0, or if it would leave nothing to summarize.
    #[schemars(extend("x-workspace" = true))]
    pub keep_messages: Option<usize>,
    /// Number of newest exchanges to keep verbatim even if they exceed `keep_tokens`. Fewer are kept if they exceed
    /// six times `keep_tokens`, half of the request limit, or the size at which a compaction is due.
    #[schemars(extend("x-workspace" = true))]
    pub keep_exchanges: Option<usize>,
    /// Token limit for the summary.
    #[schemars(extend("x-workspace" = true))]
    pub summary_tokens: Option<usize>,
    /// Target size of the compacted prompt, as a share of the input window from 0 to 1. To reach it, kept tool
    /// results and the summary are shortened.
    #[schemars(extend("x-workspace" = true))]
    pub target_share: Option<f64>,
    /// Maximum length of each tool result that the summarizing model sees, in characters. 0 means no limit.
    #[schemars(extend("x-workspace" = true))]
    pub result_chars: Option<usize>,
    /// Maximum length of each tool call's arguments that the summarizing model sees, in characters. 0 means no
    /// limit.
    #[schemars(extend("x-workspace" = true))]
    pub call_chars: Option<usize>,
    /// Maximum length of each result in the digest of older tool results, in characters. Applies only to
    /// `checkpoint` and to profiles based on it (`like`).
    #[schemars(extend("x-workspace" = true))]
    pub digest_chars: Option<usize>,
    /// Maximum number of results listed in the digest of older tool results, newest first. The others are only
    /// counted. Applies only to `checkpoint` and to profiles based on it (`like`).
    #[schemars(extend("x-workspace" = true))]
    pub digest_lines: Option<usize>,
}

/// Error for an unknown profile name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown compaction profile `{name}`; available: {known}")]
pub struct NoSuchProfile {
    pub name: String,
    /// Names of the available profiles, separated by commas.
    pub known: String,
}

impl BuiltinProfile {
    pub const ALL: [Self; 5] =
        [Self::Topic, Self::Continuation, Self::Checkpoint, Self::Rolling, Self::Handoff];

    pub fn name(self) -> &'static str {
        match self {
            Self::Topic => "topic",
            Self::Continuation => "continuation",
            Self::Checkpoint => "checkpoint",
            Self::Rolling => "rolling",
            Self::Handoff => "handoff",
        }
    }

    /// Returns the built-in profile called `name`, or `None` if there is none.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|builtin| builtin.name() == name)
    }

    pub(crate) fn structure(self) -> SummaryStructure {
        match self {
            Self::Topic => SummaryStructure::Topic,
            Self::Continuation => SummaryStructure::Continuation,
            Self::Checkpoint => SummaryStructure::Checkpoint,
            Self::Rolling => SummaryStructure::Rolling,
            Self::Handoff => SummaryStructure::Handoff,
        }
    }

    /// Returns the profile with its default values (`docs/compaction.md`, "The five profiles").
    pub fn profile(self) -> Profile {
        let nothing =
            KeepRules { first: FirstMessageRetention::Summarised, tokens: 0, messages: 0, exchanges: 0 };
        let summary =
            SummaryRules { tokens: 500, words: None, result_chars: 1_800, call_chars: 1_200, digest: None };
        let profile = Profile {
            name: self.name().to_owned(),
            builtin: self,
            moment: CompactionMoment::AfterTurn,
            trigger: Trigger::default(),
            keep: nothing.clone(),
            summary: summary.clone(),
            target_share: None,
            lists: ActivityListUpdate::Keep,
        };
        match self {
            Self::Topic => Profile {
                trigger: Trigger { pays_over: Some(24_000), ..Trigger::default() },
                keep: KeepRules { tokens: 4_000, exchanges: 2, ..nothing },
                ..profile
            },
            Self::Continuation => Profile {
                moment: CompactionMoment::BeforeAssembling,
                trigger: Trigger { window_share: Some(0.8), messages_over: Some(25), ..Trigger::default() },
                keep: KeepRules { first: FirstMessageRetention::Kept, messages: 6, ..nothing },
                summary: SummaryRules { tokens: 1_600, words: Some((300, 800)), ..summary },
                target_share: Some(0.5),
                lists: ActivityListUpdate::Shorten,
                ..profile
            },
            Self::Checkpoint => Profile {
                trigger: Trigger {
                    reserve: Some(WindowReserve { tokens: 16_384, otherwise: 8_000, messages: 50 }),
                    ..Trigger::default()
                },
                keep: KeepRules { tokens: 20_000, messages: 5, ..nothing },
                summary: SummaryRules {
                    tokens: 2_000,
                    digest: Some(DigestLimits {
                        kept_results: DEFAULT_KEPT_TOOL_RESULTS,
                        line_chars: 160,
                        lines: 40,
                    }),
                    ..summary
                },
                ..profile
            },
            Self::Rolling => Profile {
                moment: CompactionMoment::OnIteration,
                trigger: Trigger { exchanges_over: Some(5), ..Trigger::default() },
                keep: KeepRules { exchanges: 5, ..nothing },
                summary: SummaryRules { tokens: 2_000, words: Some((0, 500)), ..summary },
                ..profile
            },
            Self::Handoff => Profile {
                moment: CompactionMoment::BeforeAssembling,
                trigger: Trigger { context_from: Some(200_000), ..Trigger::default() },
                // The summarizer of a handoff sees tool calls and results in full.
                summary: SummaryRules { tokens: 4_000, result_chars: 0, call_chars: 0, ..summary },
                lists: ActivityListUpdate::Clear,
                ..profile
            },
        }
    }
}

impl Profile {
    /// Returns the profile called `name`, with the overrides from the settings.
    ///
    /// # Errors
    /// [`NoSuchProfile`] if `name` is neither built in nor in `custom`.
    pub(crate) fn from_name(
        name: &str,
        custom: &BTreeMap<String, ProfileOptions>,
    ) -> Result<Self, NoSuchProfile> {
        let options = custom.get(name);
        let builtin = match (options.and_then(|options| options.like), BuiltinProfile::from_name(name)) {
            (Some(like), _) => like,
            (None, Some(builtin)) => builtin,
            (None, None) if options.is_some() => BuiltinProfile::default(),
            (None, None) => {
                let names = BuiltinProfile::ALL.iter().map(|builtin| builtin.name());
                let known: Vec<&str> = names.chain(custom.keys().map(String::as_str)).collect();
                return Err(NoSuchProfile { name: name.to_owned(), known: known.join(", ") });
            }
        };
        let profile = Self { name: name.to_owned(), ..builtin.profile() };
        Ok(options.map_or_else(|| profile.clone(), |options| options.apply_to(profile.clone())))
    }
}

impl Profile {
    /// Sets the number of newest tool results that the digest keeps in full. 0 keeps all.
    pub(crate) fn with_kept_result_count(mut self, cutoff: usize) -> Self {
        if let Some(digest) = &mut self.summary.digest {
            digest.kept_results = cutoff;
        }
        self
    }
}

impl ProfileOptions {
    fn apply_to(&self, mut profile: Profile) -> Profile {
        let unless_zero = |value: usize| (value > 0).then_some(value);
        let trigger = &mut profile.trigger;
        let share = |share: f64| (share > 0.0).then_some(share);
        replace_if_some(&mut trigger.pays_over, self.pays_over.map(unless_zero));
        replace_if_some(&mut trigger.history_over, self.history_over.map(unless_zero));
        replace_if_some(&mut trigger.context_from, self.context_from.map(unless_zero));
        replace_if_some(&mut trigger.window_share, self.window_share.map(share));
        replace_if_some(&mut trigger.messages_over, self.messages_over.map(unless_zero));
        replace_if_some(&mut trigger.exchanges_over, self.exchanges_over.map(unless_zero));
        if self.reserve_tokens.is_some() || self.max_tokens.is_some() || self.max_messages.is_some() {
            let none = WindowReserve { tokens: 0, otherwise: 0, messages: 0 };
            let reserve = trigger.reserve.get_or_insert(none);
            replace_if_some(&mut reserve.tokens, self.reserve_tokens);
            replace_if_some(&mut reserve.otherwise, self.max_tokens);
            replace_if_some(&mut reserve.messages, self.max_messages);
        }
        let first =
            |is_kept| if is_kept { FirstMessageRetention::Kept } else { FirstMessageRetention::Summarised };
        replace_if_some(&mut profile.moment, self.moment);
        replace_if_some(&mut profile.keep.first, self.keep_first.map(first));
        replace_if_some(&mut profile.keep.tokens, self.keep_tokens);
        replace_if_some(&mut profile.keep.messages, self.keep_messages);
        replace_if_some(&mut profile.keep.exchanges, self.keep_exchanges);
        replace_if_some(&mut profile.summary.tokens, self.summary_tokens);
        replace_if_some(&mut profile.summary.result_chars, self.result_chars);
        replace_if_some(&mut profile.summary.call_chars, self.call_chars);
        if let Some(digest) = &mut profile.summary.digest {
            replace_if_some(&mut digest.line_chars, self.digest_chars);
            replace_if_some(&mut digest.lines, self.digest_lines);
        }
        replace_if_some(&mut profile.target_share, self.target_share.map(Some));
        profile
    }
}

fn replace_if_some<T>(value: &mut T, by: Option<T>) {
    if let Some(by) = by {
        *value = by;
    }
}
