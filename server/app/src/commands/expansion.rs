//! Expands the paths and patterns in arguments to files. Says that the list of files is not ready, instead of that
//! nothing matches.

use strata_base::cancel::{Cancel, Cancelled};
use strata_host::path_patterns::{
    PatternError, PatternExpansion, PatternKind, expand_path_pattern, list_below,
};
use strata_host::walk::walk;

use super::CommandError;
use super::named_file::missing_path_message;
use crate::model::index::{NotReady, walk_options};
use crate::model::path_reference::PathReference;
use crate::model::snapshot::Snapshot;

/// Why a path or pattern could not be expanded.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExpansionError {
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A part was named of a directory or glob.
    #[error("`{0}` is not a single file, so it has no lines or definitions")]
    PartOfMany(String),
    #[error(transparent)]
    NotReady(#[from] NotReady),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl ExpansionError {
    /// Creates the error of a command whose argument `field` has this path or pattern.
    pub(super) fn into_command_error(self, field: &str, snapshot: &Snapshot) -> CommandError {
        match self {
            Self::Pattern(PatternError::NotFound(path)) => {
                CommandError::invalid(field, &missing_path_message(&snapshot.index.files, &path))
            }
            Self::Pattern(_) | Self::PartOfMany(_) => CommandError::invalid(field, &self.to_string()),
            Self::NotReady(error) => error.into(),
            Self::Cancelled(error) => error.into(),
        }
    }
}

/// Expands a path or pattern to workspace files. Scans the directory that it is below. A pattern that is not below a
/// directory is matched against the list of all files, which may lack files created a moment ago, so the workspace is
/// scanned again before the pattern is said to match nothing. A part of a file stands for the file.
pub(super) fn expand_pattern(
    snapshot: &Snapshot,
    text: &str,
    cancel: &Cancel,
) -> Result<PatternExpansion, ExpansionError> {
    let PathReference { path, part } = snapshot.path_reference(text);
    let expansion = expand_path(snapshot, &path, cancel)?;
    match part {
        Some(_) if expansion.kind != PatternKind::File => Err(ExpansionError::PartOfMany(path)),
        _ => Ok(expansion),
    }
}

fn expand_path(snapshot: &Snapshot, text: &str, cancel: &Cancel) -> Result<PatternExpansion, ExpansionError> {
    let (roots, options) = (&*snapshot.roots, walk_options(&snapshot.settings, snapshot.trust));
    if let Some(listed) = list_below(roots, text, &options, cancel)? {
        return Ok(expand_path_pattern(roots, &listed, text)?);
    }
    let listing = snapshot.index.listed_entries();
    match (expand_path_pattern(roots, listing.unwrap_or_default(), text), listing) {
        (Err(PatternError::NoMatch(_)), Err(not_ready)) => Err(not_ready.into()),
        (Err(PatternError::NoMatch(_)), Ok(_)) => {
            let walked = walk(roots, &options, cancel)?;
            Ok(expand_path_pattern(roots, &walked.entries, text)?)
        }
        (expansion, _) => Ok(expansion?),
    }
}
