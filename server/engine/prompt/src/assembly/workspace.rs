//! A snapshot of the repository for assembling a prompt. Everything in it has already been read.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::key::FileKey;
use strata_code::symbols::{FileRelevance, ReferenceGraph, SymbolIndex};

use super::piece::FileText;
use super::system_context::SystemContext;
use crate::excerpts::ExcerptSelection;
use crate::layout::TierSeeds;
use crate::trust::Trust;

/// The repository as it was when the prompt was requested.
pub struct Workspace<'a> {
    /// Current text of every selected file that could be read.
    pub texts: &'a BTreeMap<FileKey, FileText>,
    /// Why each selected file without a text could not be read.
    pub unreadable: &'a BTreeMap<FileKey, String>,
    /// Outlines of files. Those of open buffers replace those of the files on disk.
    pub symbols: &'a SymbolIndex,
    pub references: &'a ReferenceGraph,
    /// The relevance of all files to the question; `None` for a prompt without a question.
    pub relevance: Option<&'a FileRelevance<'a>>,
    /// Text of the context frame; may be empty.
    pub context_frame: &'a str,
    /// Initial tiers of files, computed from the reference graph.
    pub seeds: &'a TierSeeds,
    /// Every file of the repository, in key order.
    pub listing: &'a [FileKey],
    /// Files that are open in the editor.
    pub open: &'a [FileKey],
    pub excerpts: &'a ExcerptSelection,
    /// Whether the outlines are complete.
    pub index: IndexState,
    pub trust: Trust,
    /// Rules, skills and memory of the workspace.
    pub system_context: &'a SystemContext,
    /// Text of the session state. It follows all cacheable content.
    pub session_state: &'a str,
}

/// Whether the repository has been indexed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IndexState {
    /// Indexing is not complete.
    #[default]
    Building,
    /// Indexing is complete.
    Ready,
}
