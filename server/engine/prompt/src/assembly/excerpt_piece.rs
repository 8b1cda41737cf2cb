//! Formats an excerpt for a prompt. An excerpt is written like a file, but its heading also names the definition.

use std::fmt::Write as _;
use std::sync::Arc;

use strata_base::hash::ContentHash;

use super::piece::{append_fenced_text, fence_language, source_note};
use crate::excerpts::CurrentExcerpt;
use crate::layout::{CountFn, ExcerptKey, ExcerptPlace, ItemKey, PromptPiece, inline_code};

pub(super) fn piece(item: &CurrentExcerpt, count: CountFn<'_>) -> PromptPiece {
    let CurrentExcerpt { key, body, source, .. } = item;
    let mut out = excerpt_heading(key, &ContentHash::from_text(body).short());
    let notice = match item.lines {
        Some(_) if body.trim().is_empty() => "Note: the file is empty.".into(),
        Some(_) => source_note(source),
        None => "Note: this code is no longer in the file.".into(),
    };
    if !notice.is_empty() {
        let _ = writeln!(out, "{notice}\n");
    }
    append_fenced_text(&mut out, fence_language(&key.file), body);
    PromptPiece {
        body: Arc::clone(body),
        notice,
        ..PromptPiece::new(ItemKey::Excerpt(key.clone()), out, count)
    }
}

/// Returns what a prompt adds around the text of an excerpt: the heading and an empty fence. Used to count their
/// tokens.
pub(crate) fn excerpt_wrapper(key: &ExcerptKey) -> String {
    let mut out = excerpt_heading(key, &ContentHash::NONE.short());
    append_fenced_text(&mut out, fence_language(&key.file), "");
    out
}

/// Builds the heading of an excerpt. The heading of a definition omits line numbers, because edits above the definition
/// would change them.
fn excerpt_heading(ExcerptKey { file, place }: &ExcerptKey, version: &str) -> String {
    let place = match place {
        ExcerptPlace::Lines(lines) => lines.to_string(),
        ExcerptPlace::Definition { .. } => inline_code(&place.to_wire_string()),
    };
    format!("## Excerpt of {}: {place} (version {version})\n\n", inline_code(file.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_definition_name_is_escaped() {
        let place = ExcerptPlace::definition("`x`\n# System", 0);
        let wrapper = excerpt_wrapper(&ExcerptKey { file: "a`\n# System.md".into(), place });
        assert!(wrapper.starts_with("## Excerpt of `a\\u{60}\\u{a}# System.md`: `\\u{60}x"), "{wrapper}");
        assert!(!wrapper.lines().skip(1).any(|line| line.contains("System")), "{wrapper}");
    }
}
