//! Settings for compaction and tool results. No setting contains a key or another secret.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compaction::{AutoCompaction, Family, KEPT_RESULTS, NoSuchProfile, Profile, ProfileOptions};
use super::key_variable::KeyVariable;

/// Author of compaction summaries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SummariserKind {
    /// The client if it supports `strata/summarize`, otherwise the provider of `compaction.model` if its key is
    /// available, otherwise `extractive`.
    #[default]
    Auto,
    /// No model: summaries are extracted from the conversation by fixed rules, offline.
    Extractive,
    /// The client, with the editor's own models and keys (`strata/summarize`).
    Client,
    /// A provider over HTTP, with a key from the environment.
    Http,
}

/// Settings for compacting conversations.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompactionSettings {
    /// Whether to check if conversations need compaction.
    pub enabled: bool,
    /// Whether to run a compaction automatically when it is due.
    pub auto: bool,
    /// Compaction profile: `topic`, `continuation`, `checkpoint`, `rolling`, `handoff`, or one of your own from
    /// `compaction.profiles`.
    #[schemars(extend("x-workspace" = Family::ALL.map(Family::name)))]
    pub profile: String,
    /// Your own compaction profiles, and overrides for the built-in ones, keyed by profile name.
    #[schemars(extend("x-workspace" = Family::ALL.map(Family::name)))]
    pub profiles: BTreeMap<String, ProfileOptions>,
    /// Who writes summaries. Defaults to your editor's model if it offers one, otherwise to the provider of
    /// `compaction.model`, otherwise to no model.
    pub summariser: SummariserKind,
    /// Name of the model that writes summaries, as the provider spells it.
    pub model: Option<String>,
    /// Model that detects topic changes. If unset, the `topic` profile always summarizes.
    pub detection_model: Option<String>,
    /// Base URL of the provider, if not the default: `https:`, or `http:` for a server on this machine.
    pub base_url: Option<String>,
    /// Environment variable with the provider's key, if not the default one. The name must end in `_API_KEY`,
    /// `_TOKEN` or `_KEY`.
    pub key_env: Option<KeyVariable>,
    /// Timeout for one model response, in seconds.
    pub timeout_s: u64,
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            auto: true,
            profile: Family::Topic.name().to_owned(),
            profiles: BTreeMap::new(),
            summariser: SummariserKind::Auto,
            model: None,
            detection_model: None,
            base_url: None,
            key_env: None,
            // Seconds; `docs/compaction.md`, "Who writes the summary", states this default.
            timeout_s: 60,
        }
    }
}

impl CompactionSettings {
    /// Returns the active profile, with the cutoff of `results`. Falls back to `topic` if the name is
    /// unknown, although validation of the settings rejects unknown names.
    pub fn profile(&self, results: &ToolOutputSettings) -> Profile {
        self.profile_named(&self.profile, results).unwrap_or_else(|_| Family::default().profile())
    }

    /// Returns the profile called `name`, with the cutoff of `results`.
    ///
    /// # Errors
    /// [`NoSuchProfile`] if `name` is neither built in nor in `profiles`.
    pub fn profile_named(&self, name: &str, results: &ToolOutputSettings) -> Result<Profile, NoSuchProfile> {
        Ok(Profile::named(name, &self.profiles)?.with_cutoff(results.cutoff))
    }

    /// Returns whether to check if a compaction is due.
    pub(crate) fn watched(&self) -> AutoCompaction {
        if self.enabled { AutoCompaction::On } else { AutoCompaction::Off }
    }
}

/// Which part of a long output to keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TruncateMode {
    /// Keeps only the beginning.
    Head,
    /// Keeps the beginning and the end, with a marker between them.
    #[default]
    HeadTail,
}

/// How to summarize archived tool results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToolSummaryStrategy {
    /// Summarizes with a model, or with `heuristic` if the model fails.
    #[default]
    Llm,
    /// Quotes the beginning and the end of each result.
    Heuristic,
    /// Does not archive results.
    Off,
}

/// When to archive results beyond `tool_output.cutoff`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ArchivalMode {
    /// Archives immediately.
    Eager,
    /// Archives as soon as the savings exceed the cost of rewriting the cache.
    #[default]
    CacheAware,
}

/// Limits for tool results: how much of each to keep, and how many the model sees. 0 means no limit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolOutputSettings {
    /// Maximum number of lines to keep of each tool output.
    #[schemars(extend("x-workspace" = true))]
    pub max_lines: usize,
    /// Maximum number of characters to keep of each tool output.
    #[schemars(extend("x-workspace" = true))]
    pub max_chars: usize,
    /// Maximum number of bytes to keep of each tool output.
    #[schemars(extend("x-workspace" = true))]
    pub max_bytes: usize,
    /// Number of characters above which an output is written to a file and replaced by a notice in the
    /// conversation.
    #[schemars(extend("x-workspace" = true))]
    pub large_output_threshold: usize,
    /// Maximum disk space, in MiB, for outputs written to files, across all workspaces. When the limit is
    /// exceeded, the oldest files are deleted first.
    pub spill_quota_mib: NonZeroU32,
    /// Which part of a long output to keep.
    #[schemars(extend("x-workspace" = true))]
    pub(crate) truncate_mode: TruncateMode,
    /// Maximum number of tool results that the model sees. Older ones are archived after a turn, or digested
    /// when the `checkpoint` profile compacts. 0 means no limit.
    #[schemars(extend("x-workspace" = true))]
    pub cutoff: usize,
    /// How to summarize archived results.
    pub(crate) summary: ToolSummaryStrategy,
    /// When to archive results beyond `cutoff`.
    #[schemars(extend("x-workspace" = true))]
    pub(crate) ageing: ArchivalMode,
}

/// 256 MiB: enough for more than a thousand outputs at the default threshold.
const SPILL_QUOTA_MIB: NonZeroU32 = NonZeroU32::new(256).unwrap();

impl Default for ToolOutputSettings {
    fn default() -> Self {
        Self {
            max_lines: 2_000,
            max_chars: 200 << 10,
            max_bytes: 50 << 10,
            large_output_threshold: 200 << 10,
            spill_quota_mib: SPILL_QUOTA_MIB,
            truncate_mode: TruncateMode::default(),
            cutoff: KEPT_RESULTS,
            summary: ToolSummaryStrategy::default(),
            ageing: ArchivalMode::default(),
        }
    }
}
