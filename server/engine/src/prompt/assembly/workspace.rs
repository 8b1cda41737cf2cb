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

/// The repository as it is at the moment of the prompt. Everything in it was read before.
pub struct Workspace<'a> {
    /// The current text of every selected file that could be read.
    pub texts: &'a BTreeMap<FileKey, FileText>,
    /// Why the others could not be read.
    pub unreadable: &'a BTreeMap<FileKey, String>,
    /// The outlines, those of open buffers laid over those of the disk.
    pub symbols: &'a SymbolIndex,
    /// Who refers to whom.
    pub references: &'a References,
    /// What of the repository the request is about, as text; empty for none.
    pub context_frame: &'a str,
    /// What the reference graph says about tiers.
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
    /// What the workspace asks to be told at all times.
    pub standing: &'a SystemContext,
    /// What is true right now only, as text: follows everything that may be cached.
    pub session_state: &'a str,
}

/// Whether the repository was indexed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IndexState {
    /// Not yet, or not completely.
    Building,
    /// It was.
    Ready,
}
