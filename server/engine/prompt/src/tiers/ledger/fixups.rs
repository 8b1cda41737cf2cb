//! Builds the blocks that update a kept log. A changed file gets a diff from the last shown version. After several
//! diffs, it gets a single diff from its full text. If a diff is large, it gets the full text instead. A changed
//! outline is replaced, and the file list gets its additions and removals.

use std::sync::Arc;

use strata_base::key::FileKey;

use crate::diff;
use crate::layout::{ItemKey, LayoutContent, PromptPiece};

use super::listing::{FileListChange, FileListChanges};
use super::log::{LogBlock, LogEntry, VersionDiff};
use super::log_contents::{LogContents, LoggedFile};
use super::wording::{self, UpdateCounts};

/// Maximum consecutive diffs of a file. The next one is a single diff from the full text (`docs/tiers.md`).
const MAX_CONSECUTIVE_DIFFS: u32 = 3;
/// Number of unchanged lines around each change in a diff.
const DIFF_CONTEXT_LINES: usize = 2;

/// Updates to append to a log.
#[derive(Default)]
pub(super) struct LogUpdates {
    /// Blocks to append, in order.
    pub(super) blocks: Vec<LogBlock>,
    /// Versions that the model knows because its own messages contain the edits.
    pub(super) implied: Vec<LogEntry>,
    /// One line for each file whose current text differs from its last full text in the log.
    pub(super) version_lines: Vec<String>,
}

/// Builds the updates that bring the log up to date with the current content.
pub(super) fn build_updates(log_contents: &LogContents, content: &LayoutContent<'_>) -> LogUpdates {
    let mut fixups = LogUpdates::default();
    fixups.update_map_blocks(log_contents, content);
    fixups.update_file_list(log_contents, content);
    for piece in content.file_texts() {
        if let Some(file) = log_contents.files.get(&piece.key) {
            fixups.update_file(file, piece, content);
        }
    }
    fixups
}

impl LogUpdates {
    /// Updates the outlines of files that are not shown in full. An outdated outline before the file's full text does
    /// no harm.
    fn update_map_blocks(&mut self, log_contents: &LogContents, content: &LayoutContent<'_>) {
        for piece in &content.map {
            if let ItemKey::Symbol(path) = &piece.key
                && log_contents.symbols.get(path).is_some_and(|hash| *hash != piece.hash)
            {
                self.blocks.push(LogBlock::map_block_update(path, piece, content));
            }
        }
    }

    fn update_file_list(&mut self, log_contents: &LogContents, content: &LayoutContent<'_>) {
        let Some(tree) = &log_contents.tree else { return };
        let mut changes = compare_file_lists(&tree.files(), &content.tree.files);
        // A file that leaves the list because the map now outlines it still exists.
        let outlined = &content.tree.outlined;
        changes
            .retain(|path, change| *change == FileListChange::Added || outlined.binary_search(path).is_err());
        if changes.is_empty() {
            return;
        }
        let note = wording::file_list_changes(&changes);
        // A new list is better than a long list of changes.
        let is_long = (content.count)(&note) > content.tree.budget / 2;
        let list = is_long.then(|| LogBlock::file_list(content)).flatten();
        self.blocks.push(list.unwrap_or_else(|| LogBlock::file_list_changes(changes, note, content)));
    }

    fn update_file(&mut self, file: &LoggedFile, piece: &PromptPiece, content: &LayoutContent<'_>) {
        let key = &piece.key;
        let misses = file.proposed.conflicts_with(&piece.body);
        let has_same_notice = file.base.notice == piece.notice;
        let updates = if file.current_hash == piece.hash && !(misses && file.is_implied) {
            UpdateCounts { all: file.pending, implied: file.implied, misses }
        } else if file.current_hash != piece.hash
            && file.proposed.matches_text(&piece.body)
            && has_same_notice
        {
            self.implied.push(LogEntry::Implied(key.clone(), piece.hash));
            UpdateCounts { all: file.pending + 1, implied: file.implied + 1, misses: false }
        } else {
            let (block, all) = update_block(file, piece, content);
            self.blocks.push(block);
            UpdateCounts { all, implied: if all > 1 { file.implied } else { 0 }, misses: false }
        };
        if updates.all > 0 || updates.misses {
            self.version_lines.push(wording::current_version_line(key, &piece.body, updates));
        }
    }
}

/// Builds the block that updates a file. Also returns the number of updates since the file's full text.
fn update_block(file: &LoggedFile, piece: &PromptPiece, content: &LayoutContent<'_>) -> (LogBlock, u32) {
    let (key, current) = (&piece.key, &piece.body);
    // If the model also wrote edits that were not applied, it cannot know which version the others led to.
    let is_base_unclear = file.is_implied && file.proposed.conflicts_with(current);
    // A diff cannot express a changed notice, such as that the editor is out of sync.
    let full = || (LogBlock::full_text(piece, content), 0);
    let has_diff =
        |before: &Arc<str>| (before != current || is_base_unclear) && file.base.notice == piece.notice;
    let Some(before) = file.text().filter(has_diff) else { return full() };
    let diff_from = |from: &str| VersionDiff {
        to: piece.hash,
        hunks: diff::unified_diff(from, current, DIFF_CONTEXT_LINES).into(),
    };
    // The model's own edits take no room, so they do not count.
    let shown_updates = file.pending - file.implied.min(file.pending);
    let (entry, text, updates) = if shown_updates < MAX_CONSECUTIVE_DIFFS && !is_base_unclear {
        let diff = diff_from(&before);
        let delta = if file.is_implied { wording::delta_after_edits } else { wording::delta };
        let text = delta(key, &before, current, &diff.hunks);
        (LogEntry::Delta(key.clone(), diff), text, file.pending + 1)
    } else {
        let diff = diff_from(&file.base.body);
        let text = wording::net_diff(key, &file.base.body, current, &diff.hunks);
        (LogEntry::Net(key.clone(), diff), text, 1)
    };
    let update = LogBlock::file_diff(entry, key, text, content);
    if update.text_tokens() * 2 > piece.tokens { full() } else { (update, updates) }
}

/// Computes the additions and removals between two sorted lists.
pub(super) fn compare_file_lists(before: &[FileKey], current: &[FileKey]) -> FileListChanges {
    let (mut old, mut new) = (before.iter().peekable(), current.iter().peekable());
    let mut changes = FileListChanges::new();
    loop {
        let (removed, added) = match (old.peek(), new.peek()) {
            (None, None) => return changes,
            (Some(one), Some(other)) if one == other => {
                old.next();
                new.next();
                continue;
            }
            (Some(one), Some(other)) if one > other => (None, new.next()),
            (None, Some(_)) => (None, new.next()),
            (Some(_), _) => (old.next(), None),
        };
        changes.extend(removed.map(|path| (path.clone(), FileListChange::Removed)));
        changes.extend(added.map(|path| (path.clone(), FileListChange::Added)));
    }
}
