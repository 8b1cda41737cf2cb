//! The repository as a prompt sees it: read before, complete in itself.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::piece::FileText;
use super::system_context::SystemContext;
use crate::code::symbols::{References, SymbolIndex};
use crate::key::FileKey;
use crate::prompt::excerpts::ExcerptSelection;
use crate::prompt::layout::Seeds;
use crate::prompt::trust::Trust;

/// The repository at the moment of the prompt. Everything in it was read before.
pub struct Workspace<'a> {
    /// The current text of every selected file that could be read.
    pub texts: &'a BTreeMap<FileKey, FileText>,
    /// Why the others could not be read.
    pub unreadable: &'a BTreeMap<FileKey, String>,
    /// The outlines, with those of open buffers over those on disk.
    pub symbols: &'a SymbolIndex,
    /// The reference graph.
    pub references: &'a References,
    /// The context frame; may be empty.
    pub context_frame: &'a str,
    /// Seeds of tiers from the reference graph.
    pub seeds: &'a Seeds,
    /// Every file of the repository, in key order.
    pub listing: &'a [FileKey],
    /// Files that are open in the editor.
    pub open: &'a [FileKey],
    /// The excerpts that the prompt is to have.
    pub excerpts: &'a ExcerptSelection,
    /// Whether the outlines are complete.
    pub index: IndexState,
    /// Whether the user trusts the workspace.
    pub trust: Trust,
    /// Standing instructions of the workspace.
    pub standing: &'a SystemContext,
    /// The session state, which follows everything that may be cached.
    pub session_state: &'a str,
}

/// Whether the repository was indexed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IndexState {
    /// Not complete yet.
    Building,
    /// It was.
    Ready,
}
