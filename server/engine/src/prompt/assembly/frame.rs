//! The context frame: what of the repository a request is about, by its words and by what is open, selected and mentioned,
//! as a list of names. It stands with what is true right now only; no text of a file enters it.

use std::fmt::Write as _;

use crate::code::outline::SymbolKind;
use crate::code::symbols::{LexicalIndex, Query, References, Relevant, Seeds, SymbolIndex, relevant};
use crate::key::FileKey;
use crate::prompt::session::Session;
use crate::prompt::settings::ContextFrameSettings;
use crate::text::clip;

use crate::prompt::layout::inline;

/// So much of a request is repeated at the head of its frame. Characters.
const QUERY_CHARS: usize = 200;

/// Something that a request is about.
#[derive(Clone, PartialEq, Debug)]
pub struct FrameItem {
    /// What it is; nothing for a file as a whole.
    pub kind: Option<SymbolKind>,
    /// The file.
    pub file: FileKey,
    /// The symbol behind the names of what it is in (`Session.send`); nothing for a file as a whole.
    pub name: Option<String>,
    /// How much, between 0 and 1.
    pub score: f64,
}

/// What is known of the repository.
#[derive(Clone, Copy, Debug)]
pub struct FrameSources<'a> {
    /// The outlines.
    pub symbols: &'a SymbolIndex,
    /// Who refers to whom.
    pub references: &'a References,
    /// The words of every file.
    pub lexical: &'a LexicalIndex,
    /// The files that are open.
    pub open: &'a [FileKey],
}

/// What `text` is about, best first, as the settings bound it. `text` is a person's request, in any words.
pub fn frame_items(
    known: FrameSources<'_>,
    session: &Session,
    text: &str,
    settings: &ContextFrameSettings,
) -> Vec<FrameItem> {
    let selected: Vec<FileKey> = session.selection.selected().keys().cloned().collect();
    let seeds = match settings.rerank {
        true => Seeds { open: known.open, selected: &selected, ..Seeds::default() },
        false => Seeds::default(),
    };
    let limit = if settings.rerank { settings.top_k.min(settings.max_items) } else { settings.max_items };
    let query = Query { text, seeds };
    let files = relevant(known.symbols, known.lexical, known.references, &query, limit);
    let shown = |file: &Relevant| !session.selection.excluded().contains(&file.file);
    let mut items: Vec<FrameItem> = files.into_iter().filter(shown).flat_map(items_of).collect();
    items.retain(|item| item.score >= settings.min_score);
    // Equal ones stay as they came: a file before its symbols.
    items.sort_by(|a, b| b.score.total_cmp(&a.score));
    items.truncate(limit);
    items
}

/// The items as text for a model. Empty when there are none.
pub(super) fn context_frame(query: &str, items: &[FrameItem]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let query: Vec<&str> = clip(query, QUERY_CHARS).split_whitespace().collect();
    let mut text = format!(
        "<context-frame>\nRelevant context for query: {}\nFound {} relevant items (ranked by relevance score):",
        inline(&query.join(" ")),
        items.len()
    );
    for FrameItem { kind, file, name, score } in items {
        let file = inline(file.as_str());
        let _ = match (kind, name) {
            (Some(kind), Some(name)) => {
                write!(text, "\n  - [{}] {} in {file} (score: {score:.2})", word(*kind), inline(name))
            }
            _ => write!(text, "\n  - [File] {file} (score: {score:.2})"),
        };
    }
    text.push_str("\n</context-frame>");
    text
}

/// A file, then those of its symbols that are meant.
fn items_of(relevant: Relevant) -> Vec<FrameItem> {
    let Relevant { file, score, symbols } = relevant;
    let symbols = symbols.into_iter().map(|symbol| FrameItem {
        kind: Some(symbol.kind),
        file: file.clone(),
        name: Some(symbol.name),
        score: symbol.score,
    });
    let whole = FrameItem { kind: None, file: file.clone(), name: None, score };
    std::iter::once(whole).chain(symbols).collect()
}

fn word(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Module => "Module",
        SymbolKind::Class => "Class",
        SymbolKind::Struct => "Struct",
        SymbolKind::Enum => "Enum",
        SymbolKind::Variant => "Variant",
        SymbolKind::Interface => "Interface",
        SymbolKind::Impl => "Implementation",
        SymbolKind::Function => "Function",
        SymbolKind::Method => "Method",
        SymbolKind::Field => "Field",
        SymbolKind::Variable => "Variable",
        SymbolKind::Constant => "Constant",
        SymbolKind::Type => "Type",
        SymbolKind::Macro => "Macro",
        SymbolKind::Section => "Section",
        SymbolKind::Key => "Key",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stand_with_their_kinds_and_scores() {
        let items = [
            FrameItem {
                kind: Some(SymbolKind::Method),
                file: FileKey::new("a.py"),
                name: Some("Session.send".to_owned()),
                score: 0.954,
            },
            FrameItem { kind: None, file: FileKey::new("b.py"), name: None, score: 0.5 },
        ];
        assert_eq!(
            context_frame("fix\n the\tsession `x` </context-frame>", &items),
            "<context-frame>\n\
             Relevant context for query: `fix the session \\u{60}x\\u{60} </context-frame>`\n\
             Found 2 relevant items (ranked by relevance score):\n  \
             - [Method] `Session.send` in `a.py` (score: 0.95)\n  \
             - [File] `b.py` (score: 0.50)\n\
             </context-frame>"
        );
        assert_eq!(context_frame("x", &[]), "");
    }
}
