//! Wording of the log for the model: the legend and updates. Updates name the file, its base version and its new
//! version. Names and texts of files cannot start a section.

use std::fmt::Write as _;
use std::sync::LazyLock;

use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_code::outline;

use crate::layout::{ExcerptKey, ItemKey, PromptPiece, fence_for, inline_code};

use super::listing::{FileListChange, FileListChanges};

static LEGEND: LazyLock<String> = LazyLock::new(|| {
    format!(
        "# How to read what follows\n\n{}\nThe messages below are a log: later text is newer, and the last word on a file counts. A \
         full file stays valid until a later block changes it. `Update of` is a unified diff against the named version; apply several \
         in order. `All updates of` is one diff against the last full text above it and replaces the updates in between. A later full \
         text, outline or list of changed files replaces the earlier one. Your own edits of a full file count only if a later \
         block contains them, or if the list of current versions at the end says that they were applied.",
        outline::LEGEND
    )
});

/// Returns the legend of the log. It is part of the system message unless the log begins after a conversation.
pub(super) fn legend() -> &'static str {
    &LEGEND
}

pub(super) fn map_blocks(pieces: &[&PromptPiece]) -> String {
    let length: usize = pieces.iter().map(|piece| piece.text.len() + 1).sum();
    let mut out = String::with_capacity(length + 32);
    out.push_str("# Repository Structure\n");
    for piece in pieces {
        out.push('\n');
        out.push_str(&piece.text);
    }
    out
}

/// Formats a map block that replaces an earlier one.
pub(super) fn map_block_update(path: &FileKey, piece: &PromptPiece) -> String {
    format!("## Outline of {}, replacing the one above\n\n{}", inline_code(path.as_str()), piece.text)
}

pub(super) fn file_list(heading: &str, list: &str) -> String {
    format!("{heading}\n\n{list}")
}

pub(super) fn file_list_changes(changes: &FileListChanges) -> String {
    let mut out = String::from("# Repository Files: changes since the list above\n\n");
    for (path, change) in changes {
        let sign = match change {
            FileListChange::Added => '+',
            FileListChange::Removed => '-',
        };
        let _ = writeln!(out, "{sign} {}", inline_code(path.as_str()));
    }
    out
}

/// Formats a diff from the last shown version of a file.
pub(super) fn delta(key: &ItemKey, from: &str, to: &str, diff: &str) -> String {
    format_update(&item_name(key), from, to, diff)
}

/// Formats a diff from a version that the model knows only from its own edits, which no block names.
pub(super) fn delta_after_edits(key: &ItemKey, from: &str, to: &str, diff: &str) -> String {
    format_update(&format!("{} after your edits", item_name(key)), from, to, diff)
}

fn format_update(subject: &str, from: &str, to: &str, diff: &str) -> String {
    fenced_diff(
        &format!("## Update of {subject}: version {} to {}", version_label(from), version_label(to)),
        diff,
    )
}

/// Formats a diff from the last full text of a file.
pub(super) fn net_diff(key: &ItemKey, from: &str, to: &str, diff: &str) -> String {
    let heading = format!(
        "## All updates of {} since its last full text: version {} to {}",
        item_name(key),
        version_label(from),
        version_label(to)
    );
    fenced_diff(&heading, diff)
}

/// The updates of a file since its last full text.
#[derive(Clone, Copy, Debug)]
pub(super) struct UpdateCounts {
    /// Number of all updates.
    pub(super) all: u32,
    /// Number of updates that the model knows because it wrote the edits itself.
    pub(super) implied: u32,
    /// Whether the model wrote edits since the last update that do not lead to the current text.
    pub(super) misses: bool,
}

/// Formats the line that gives a file's current version, and which of its updates and of the model's edits led to it.
pub(super) fn current_version_line(
    key: &ItemKey,
    now: &str,
    UpdateCounts { all, implied, misses }: UpdateCounts,
) -> String {
    let shown = all - implied.min(all);
    let plural = if shown == 1 { "" } else { "s" };
    let updates = match (shown, implied) {
        (0, 0) => String::new(),
        (0, _) => ", your edits above were applied".to_owned(),
        (_, 0) => format!(", {shown} update{plural} above"),
        _ => format!(", {shown} update{plural} above, and your edits were applied"),
    };
    let since = if misses { "; your edits since then were not applied" } else { "" };
    format!("- {}: version {}{updates}{since}", item_name(key), version_label(now))
}

/// Heading of the lines from [`current_version_line`].
pub(super) const VERSIONS_HEADING: &str = "# Current versions of updated files";

/// Returns the version label of a text, as shown next to the file's name.
fn version_label(body: &str) -> String {
    ContentHash::from_text(body).short()
}

fn item_name(key: &ItemKey) -> String {
    match key {
        ItemKey::File(path) => inline_code(path.as_str()),
        ItemKey::Lines(path, lines) => {
            format!("{} {lines} (numbered from its own first line)", inline_code(path.as_str()))
        }
        ItemKey::Excerpt(ExcerptKey { file, place }) => {
            let (place, file) = (inline_code(&place.to_wire_string()), inline_code(file.as_str()));
            format!("the excerpt {place} of {file} (numbered from its own first line)")
        }
        other => inline_code(&other.to_wire_string()),
    }
}

fn fenced_diff(heading: &str, diff: &str) -> String {
    let fence = fence_for(diff);
    let newline = if diff.is_empty() || diff.ends_with('\n') { "" } else { "\n" };
    // The diff is empty if a change was reverted.
    let note = if diff.is_empty() { "The text is unchanged since then.\n\n" } else { "" };
    format!("{heading}\n\n{note}{fence}diff\n{diff}{newline}{fence}")
}
