//! `server.*`: reports the state, settings and models of the server, and reindexes the workspace.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use strata_grammars::LanguageId;
use strata_host::config::{EffectiveSettings, IgnoredSetting, SettingOrigin};
use strata_prompt::assembly::IndexState;
use strata_prompt::settings::Settings;
use strata_prompt::trust::Trust;
use strata_tokens::models::Model;

use crate::model::index::OutlineEffortCounts;

use super::{Access, BackgroundJob, Command, CommandError, Context, Effect, Empty, NoArguments};

/// The state of the server and its workspace.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerStatus {
    /// Version of the running server.
    pub version: &'static str,
    /// Id of the current session.
    pub session: String,
    /// Absolute paths of the workspace folders.
    pub roots: Vec<String>,
    /// Number of documents that are open in the editor.
    pub open_documents: usize,
    /// Whether all files have been outlined.
    pub index: IndexState,
    /// Number of files in the workspace.
    pub files: usize,
    /// Number of files with an outline.
    pub outlined: usize,
    /// Work done by the last full scan.
    pub efforts: OutlineEffortCounts,
    /// Languages that Strata can outline.
    pub languages: Vec<&'static str>,
    /// Whether the user trusts the workspace.
    pub trusted: bool,
    /// Problems found by the scan, and settings that have no effect: those that a workspace file must not set, and
    /// unknown names in `redaction.allow`.
    pub notes: Vec<String>,
}

/// The effective settings, and where they come from.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SettingsReply {
    /// Effective value of every setting.
    #[schemars(with = "Settings")]
    pub settings: Value,
    /// Origin of each value, keyed by setting.
    pub origins: BTreeMap<String, SettingOrigin>,
    /// Values that were ignored because a workspace file must not set them.
    pub ignored: Vec<IgnoredSetting>,
}

/// The model table.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelsReply {
    /// Known models, sorted by name.
    pub models: Vec<Model>,
}

pub struct ReportServerStatus;

impl Command for ReportServerStatus {
    const NAME: &str = "strata.server.status";
    const SUMMARY: &str = "Reports the state of the server.";
    const ACCESS: Access = Access::Reads;
    type Args = NoArguments;
    type Reply = ServerStatus;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<ServerStatus, CommandError> {
        let snapshot = context.snapshot;
        Ok(ServerStatus {
            version: env!("CARGO_PKG_VERSION"),
            session: context.sessions.current_id().to_string(),
            roots: snapshot.roots.iter().map(|root| root.real.display().to_string()).collect(),
            open_documents: snapshot.documents.len(),
            index: snapshot.index.state,
            files: snapshot.index.files.len(),
            outlined: snapshot.index.count_outlined(),
            efforts: snapshot.index.efforts,
            languages: LanguageId::all().map(|language| language.name).collect(),
            trusted: snapshot.trust == Trust::Trusted,
            notes: snapshot
                .index
                .all_notes()
                .chain(snapshot.configuration.ignored_setting_messages())
                .collect(),
        })
    }
}

pub struct Reindex;

impl Command for Reindex {
    const NAME: &str = "strata.server.reindex";
    const SUMMARY: &str = "Scans and outlines the repository again.";
    const ACCESS: Access = Access::Reads;
    type Args = NoArguments;
    type Reply = Empty;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<Empty, CommandError> {
        context.snapshot.outlines.forget_given_up_texts();
        context.effects.push(Effect::Start(BackgroundJob::Reindex));
        Ok(Empty {})
    }
}

pub struct ShowSettings;

impl Command for ShowSettings {
    const NAME: &str = "strata.server.settings";
    const SUMMARY: &str = "Reports the effective settings.";
    const ACCESS: Access = Access::Reads;
    type Args = NoArguments;
    type Reply = SettingsReply;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<SettingsReply, CommandError> {
        let snapshot = context.snapshot;
        let EffectiveSettings { origins, ignored, .. } = snapshot.configuration.effective_settings().clone();
        // Settings should not contain secrets. Redact them if they do.
        let mut settings = serde_json::to_value(&*snapshot.settings)
            .map_err(|error| CommandError::failed(error.to_string()))?;
        snapshot.screen.redact_value(&mut settings);
        Ok(SettingsReply { settings, origins, ignored })
    }
}

pub struct ListModels;

impl Command for ListModels {
    const NAME: &str = "strata.server.models";
    const SUMMARY: &str = "Lists the models and their properties.";
    const ACCESS: Access = Access::Reads;
    type Args = NoArguments;
    type Reply = ModelsReply;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<ModelsReply, CommandError> {
        Ok(ModelsReply { models: context.snapshot.models.iter().cloned().collect() })
    }
}
