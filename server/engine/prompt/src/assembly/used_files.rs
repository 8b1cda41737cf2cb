//! Lists the files and excerpts that a finished prompt shows. Reads the layout only.

use std::collections::BTreeMap;

use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_conversation::selection::LineRange;

use crate::layout::{ExcerptKey, ItemKey, Layout, Tier};

use super::piece::FileText;
use super::reply::{UsedExcerpt, UsedFile};
use super::workspace::Workspace;

/// Returns the files whose text a prompt shows, in key order.
pub(super) fn used_files(layout: &Layout, workspace: &Workspace<'_>) -> Vec<UsedFile> {
    let mut selected_tokens: BTreeMap<&FileKey, (usize, Tier)> = BTreeMap::new();
    let mut excerpt_tokens: BTreeMap<&ExcerptKey, (usize, Tier)> = BTreeMap::new();
    for block in layout.blocks() {
        for item in &block.items {
            let entry = match item {
                ItemKey::File(path) | ItemKey::Lines(path, _) => {
                    selected_tokens.entry(path).or_insert((0, block.tier))
                }
                ItemKey::Excerpt(key) => excerpt_tokens.entry(key).or_insert((0, block.tier)),
                _ => continue,
            };
            entry.0 += block.tokens;
        }
    }
    let selected_files = selected_tokens.into_iter().filter_map(|(path, (tokens, tier))| {
        let FileText { text, source, .. } = workspace.texts.get(path)?.clone();
        let hash = ContentHash::from_text(&text);
        Some((path, UsedFile { path: path.clone(), source, hash, tokens, tier, excerpts: Vec::new() }))
    });
    let mut files: BTreeMap<&FileKey, UsedFile> = selected_files.collect();
    for (rank, item) in workspace.excerpts.items.iter().enumerate() {
        let Some(&(tokens, tier)) = excerpt_tokens.get(&item.key) else { continue };
        let lines = item.lines.clone().and_then(|lines| LineRange::new(lines.start + 1, lines.end));
        let file = files.entry(&item.key.file).or_insert_with(|| UsedFile {
            path: item.key.file.clone(),
            source: item.source.clone(),
            hash: item.hash,
            tokens: 0,
            tier,
            excerpts: Vec::new(),
        });
        file.tokens += tokens;
        let (excerpt, reason, standing) = (item.key.clone(), item.reason, item.standing);
        file.excerpts.push(UsedExcerpt { excerpt, lines, reason, standing, rank, tokens });
    }
    files.into_values().collect()
}
