//! Settings of what becomes of a conversation: compaction, and results of tools. A setting never holds a key or a secret.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compaction::{AutoCompaction, Family, KEPT_RESULTS, NoSuchProfile, Profile, ProfileOptions};
use super::key_variable::KeyVariable;

/// Who writes the summaries of compactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SummariserKind {
    /// The client when it answers `strata/summarize`, else the provider of `compaction.model` when its key is there, else no model.
    #[default]
    Auto,
    /// No model: they are extracted from the conversation, offline.
    Extractive,
    /// The client, with the models and keys that the editor has (`strata/summarize`).
    Client,
    /// A provider over HTTP; its key comes from the environment.
    Http,
}

/// Compaction of the conversation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompactionSettings {
    /// Whether the conversation is watched at all.
    pub enabled: bool,
    /// Whether a compaction that is due runs by itself.
    pub auto: bool,
    /// The rules: `topic`, `continuation`, `checkpoint`, `rolling`, `handoff`, or the name of a profile of one's own.
    #[schemars(extend("x-workspace" = Family::ALL.map(Family::name)))]
    pub profile: String,
    /// Profiles of one's own, and figures that replace those of the five.
    #[schemars(extend("x-workspace" = Family::ALL.map(Family::name)))]
    pub profiles: BTreeMap<String, ProfileOptions>,
    /// Who writes summaries. By default your editor's model where it offers one, else the provider of `compaction.model`, else no model.
    pub summariser: SummariserKind,
    /// The model that writes summaries, by its provider's name.
    pub model: Option<String>,
    /// The model that finds where the topic changed. Without it, `topic` summarises.
    pub detection_model: Option<String>,
    /// The address of the provider, when not its usual one: `https:`, or `http:` on this machine.
    pub base_url: Option<String>,
    /// The environment variable that holds the provider's key, when not the usual one. Its name ends in `_API_KEY`, `_TOKEN` or `_KEY`.
    pub key_env: Option<KeyVariable>,
    /// How long one answer of a model may take, in seconds.
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
            // 60 s: `docs/compaction.md`, "Who writes the summary".
            timeout_s: 60,
        }
    }
}

impl CompactionSettings {
    /// The profile in force, with the cutoff of `results`. A name that nothing has, which settings are refused for, stands for
    /// `topic`.
    pub fn profile(&self, results: &ToolOutputSettings) -> Profile {
        self.profile_named(&self.profile, results).unwrap_or_else(|_| Family::default().profile())
    }

    /// The profile of this name, with the cutoff of `results`.
    ///
    /// # Errors
    /// [`NoSuchProfile`].
    pub fn profile_named(&self, name: &str, results: &ToolOutputSettings) -> Result<Profile, NoSuchProfile> {
        Ok(Profile::named(name, &self.profiles)?.with_cutoff(results.cutoff))
    }

    /// Whether the conversation is watched.
    pub(crate) fn watched(&self) -> AutoCompaction {
        if self.enabled { AutoCompaction::On } else { AutoCompaction::Off }
    }
}

/// Which part of a text stays when it is too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TruncateMode {
    /// Its beginning.
    Head,
    /// Its beginning and its end, with a marker between them.
    #[default]
    HeadTail,
}

/// Who says in a few words what archived results were.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToolSummaryStrategy {
    /// A model; when it fails, as `heuristic`.
    #[default]
    Llm,
    /// The beginning and the end of what they said.
    Heuristic,
    /// Nobody: results are never archived.
    Off,
}

/// When results over the cutoff are archived.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ArchivalMode {
    /// At once.
    Eager,
    /// When it costs no more than it saves.
    #[default]
    CacheAware,
}

/// Results of tools: how much of them is kept, and for how long they are shown. A limit of 0 is none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolOutputSettings {
    /// Lines that are kept of one output.
    #[schemars(extend("x-workspace" = true))]
    pub max_lines: usize,
    /// Characters that are kept of one output.
    #[schemars(extend("x-workspace" = true))]
    pub max_chars: usize,
    /// Bytes that are kept of one output.
    #[schemars(extend("x-workspace" = true))]
    pub max_bytes: usize,
    /// Outputs of more characters go to a file, and only a notice is kept.
    #[schemars(extend("x-workspace" = true))]
    pub large_output_threshold: usize,
    /// What outputs in files may take together, in MiB, those of all workspaces included: the oldest make room when one is
    /// written.
    pub spill_quota_mib: NonZeroU32,
    /// Which part of a long output is kept.
    #[schemars(extend("x-workspace" = true))]
    pub(crate) truncate_mode: TruncateMode,
    /// Tool results that the model may see. Older ones are archived after a turn, and digested by a compaction with `checkpoint`.
    /// 0 is no cutoff.
    #[schemars(extend("x-workspace" = true))]
    pub cutoff: usize,
    /// Who sums up what is archived.
    pub(crate) summary: ToolSummaryStrategy,
    /// When results are archived.
    #[schemars(extend("x-workspace" = true))]
    pub(crate) ageing: ArchivalMode,
}

/// More than a thousand outputs of the size from which they go to files.
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
