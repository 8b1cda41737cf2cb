//! Settings for compaction and tool results. No setting contains a key or another secret.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::text::ParseTextError;

use super::compaction::{
    AutoCompaction, BuiltinProfile, DEFAULT_KEPT_TOOL_RESULTS, NoSuchProfile, Profile, ProfileOptions,
};

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
    /// Whether to check if a compaction is due. If off, conversations are compacted only on request, or when the
    /// model rejects a prompt as too long.
    pub enabled: bool,
    /// Whether to compact automatically when a compaction is due. If off, Strata only reports that one is due
    /// (`strata.compaction.status`).
    pub auto: bool,
    /// Compaction profile, which decides when to compact, what to keep, and what the summary looks like: `topic`,
    /// `continuation`, `checkpoint`, `rolling`, `handoff`, or one that you define in `compaction.profiles`.
    #[schemars(extend("x-workspace" = BuiltinProfile::ALL.map(BuiltinProfile::name)))]
    pub profile: String,
    /// Profiles of your own, and overrides for the built-in ones, keyed by profile name.
    #[schemars(extend("x-workspace" = BuiltinProfile::ALL.map(BuiltinProfile::name)))]
    pub profiles: BTreeMap<String, ProfileOptions>,
    /// What writes summaries. By default, your editor's model if the editor offers one, else the provider of
    /// `compaction.model`, else fixed rules without a model.
    pub summariser: SummariserKind,
    /// Model that writes summaries, by the name its provider uses. A prefix such as `ollama/` selects the provider.
    pub model: Option<String>,
    /// Model that finds topic changes for the `topic` profile. If unset, the profile always summarizes instead of
    /// cutting where the topic changed.
    pub detection_model: Option<String>,
    /// Base URL of the provider that writes summaries, for a gateway, a proxy or your own server. Must be `https:`,
    /// or `http:` for a server on this machine. Defaults to the provider's public address.
    pub base_url: Option<String>,
    /// Environment variable that contains the key for `compaction.model`. Its name must end in `_API_KEY`, `_TOKEN`
    /// or `_KEY`. Defaults to the provider's usual variable, such as `ANTHROPIC_API_KEY`.
    pub key_env: Option<KeyVariable>,
    /// Maximum time for an answer from the model that writes summaries, in seconds. After that, Strata summarizes
    /// without a model.
    pub timeout_s: u64,
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            auto: true,
            profile: BuiltinProfile::Topic.name().to_owned(),
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
    pub fn active_profile(&self, results: &ToolOutputSettings) -> Profile {
        self.profile_named(&self.profile, results).unwrap_or_else(|_| BuiltinProfile::default().profile())
    }

    /// Returns the profile called `name`, with the cutoff of `results`.
    ///
    /// # Errors
    /// [`NoSuchProfile`] if `name` is neither built in nor in `profiles`.
    pub fn profile_named(&self, name: &str, results: &ToolOutputSettings) -> Result<Profile, NoSuchProfile> {
        Ok(Profile::from_name(name, &self.profiles)?.with_kept_result_count(results.cutoff))
    }

    pub fn auto_compaction(&self) -> AutoCompaction {
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
pub enum ToolSummaryStrategy {
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
pub enum ArchivalMode {
    /// Archives immediately.
    Eager,
    /// Archives as soon as the savings exceed the cost of rewriting the cache.
    #[default]
    CacheAware,
}

/// Tool results: how much of each to keep, and how long the model sees them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolOutputSettings {
    /// Maximum length of a tool output, in lines. Longer outputs are truncated. 0 means no limit.
    #[schemars(extend("x-workspace" = true))]
    pub max_lines: usize,
    /// Maximum length of a tool output, in bytes. Longer outputs are truncated. 0 means no limit in bytes. A limit
    /// of 204,800 characters always applies.
    #[schemars(extend("x-workspace" = true))]
    pub max_bytes: usize,
    /// Size of a tool output, in characters, above which it is saved to a file instead of truncated. The
    /// conversation then contains a notice, and the model can read the file in parts. 0 never saves an output to a
    /// file.
    #[schemars(extend("x-workspace" = true))]
    pub large_output_threshold: usize,
    /// Which part of a truncated tool output to keep: only the beginning, or the beginning and the end.
    #[schemars(extend("x-workspace" = true))]
    pub(crate) truncate_mode: TruncateMode,
    /// Maximum number of tool results that the model sees in full. Older ones are archived: replaced by stubs and
    /// summarized. 0 means no limit.
    #[schemars(extend("x-workspace" = true))]
    pub cutoff: usize,
    /// How archived tool results are summarized: by a model (`llm`), or by keeping the beginning and the end of each
    /// (`heuristic`). With `off`, nothing is archived.
    pub summary: ToolSummaryStrategy,
    /// When to archive tool results beyond `cutoff`: immediately, or once that saves more than rewriting the cache
    /// costs.
    #[schemars(extend("x-workspace" = true))]
    pub ageing: ArchivalMode,
}

impl Default for ToolOutputSettings {
    fn default() -> Self {
        Self {
            max_lines: 2_000,
            max_bytes: 50 << 10,
            large_output_threshold: 200 << 10,
            truncate_mode: TruncateMode::default(),
            cutoff: DEFAULT_KEPT_TOOL_RESULTS,
            summary: ToolSummaryStrategy::default(),
            ageing: ArchivalMode::default(),
        }
    }
}

/// Suffixes that the name of a variable may have. Other names are rejected.
const KEY_VARIABLE_SUFFIXES: [&str; 3] = ["_API_KEY", "_TOKEN", "_KEY"];

/// Name of an environment variable that contains a provider's key: upper-case letters, digits and
/// underscores, ending in `_API_KEY`, `_TOKEN` or `_KEY`. Rejects other variables, such as `PATH`, so that
/// they are never sent to a provider by mistake.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^[A-Z0-9_]*(_API_KEY|_TOKEN|_KEY)$"))]
pub struct KeyVariable(String);

impl KeyVariable {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for KeyVariable {
    type Error = ParseTextError;

    fn try_from(name: String) -> Result<Self, ParseTextError> {
        let is_plain = name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        if is_plain && KEY_VARIABLE_SUFFIXES.iter().any(|ending| name.ends_with(ending)) {
            Ok(Self(name))
        } else {
            Err(ParseTextError(format!(
                "`{name}` is not allowed; use an environment variable whose name ends in _API_KEY, _TOKEN or _KEY"
            )))
        }
    }
}

impl From<KeyVariable> for String {
    fn from(variable: KeyVariable) -> Self {
        variable.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_key_variables_are_accepted() {
        for name in ["ANTHROPIC_API_KEY", "HF_TOKEN", "MY_KEY", "AZURE_2_KEY"] {
            assert_eq!(KeyVariable::try_from(name.to_owned()).map(String::from), Ok(name.to_owned()));
        }
        for name in [
            "",
            "HOME",
            "PATH",
            "KEY",
            "DATABASE_URL",
            "MY_KEY_FILE",
            "my_key",
            "A B_KEY",
            "A=B_KEY",
            "\0_KEY",
        ] {
            let refused = KeyVariable::try_from(name.to_owned()).unwrap_err();
            assert!(refused.to_string().contains("_API_KEY, _TOKEN or _KEY"), "{refused}");
        }
    }
}
