//! The context frame: names in the repository that are relevant to a request, judging by the request's words and by
//! open, selected and mentioned files. The frame is part of the volatile content at the end of a prompt and contains no
//! file text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use strata_base::key::FileKey;
use strata_base::text::clip;
use strata_code::excerpts::definition_range;
use strata_code::outline::SymbolKind;
use strata_code::symbols::{FileRelevance, RelevanceQuery, RelevantFile, SymbolIndex, relevant_files};
use strata_conversation::selection::{Extent, LineRange, Selection};

use crate::excerpts::{ExcerptSelection, ExcerptSources, SourceFile};
use crate::session::Session;
use crate::settings::ContextFrameSettings;

use crate::layout::inline_code;

/// Maximum length of the request as repeated in the context frame, in characters.
const MAX_REPEATED_REQUEST_CHARS: usize = 200;

/// Factor for the scores of tests, examples, documents and files without an outline, unless the request asks for tests,
/// examples, documents or configuration.
const SECONDARY_FILE_FACTOR: f64 = 0.5;
/// Names of directories whose files count as tests, examples or documents.
const SECONDARY_DIRECTORIES: [&str; 8] =
    ["tests", "test", "fixtures", "fixture", "examples", "example", "docs", "doc"];
/// Words in a request that ask for tests, examples, documents or configuration.
const SECONDARY_WORDS: [&str; 9] =
    ["test", "spec", "fixture", "example", "doc", "documentation", "readme", "changelog", "config"];

/// A file or symbol that is relevant to a request.
#[derive(Clone, PartialEq, Debug)]
struct FrameItem {
    /// Kind of the symbol; `None` for a whole file.
    kind: Option<SymbolKind>,
    file: FileKey,
    /// Name of the symbol, qualified by its containers (`Session.send`); `None` for a whole file.
    name: Option<String>,
    /// Relevance, between 0 and 1.
    score: f64,
    /// Lines of the definition; `None` in the list of items, and for a definition that cannot be
    /// found.
    lines: Option<LineRange>,
}

/// Returns the context frame for `text`, the user's request: the items of [`frame_items`] that the prompt does not show
/// as a selected file or in `excerpts`, with the lines of each symbol whose definition can be found. `read` returns a
/// file's text and outline, or `None` if the file cannot be read. Returns an empty string if no item is left.
pub fn context_frame(
    sources: ExcerptSources<'_>,
    session: &Session,
    excerpts: &ExcerptSelection,
    text: &str,
    settings: &ContextFrameSettings,
    read: impl Fn(&FileKey) -> Option<SourceFile>,
) -> String {
    let mut items = locate_definitions(frame_items(sources, session, text, settings), read);
    items.retain(|item| !is_shown(item, &session.selection, excerpts));
    format_frame(text, &items)
}

/// Returns the items relevant to `text`, the user's request, best first. The settings limit their number.
fn frame_items(
    sources: ExcerptSources<'_>,
    session: &Session,
    text: &str,
    settings: &ContextFrameSettings,
) -> Vec<FrameItem> {
    let limit = if settings.rerank { settings.top_k.min(settings.max_items) } else { settings.max_items };
    let Some(relevance) = sources.relevance else { return Vec::new() };
    let matches = if settings.rerank {
        relevant_files(sources.symbols, relevance, limit)
    } else {
        let query = RelevanceQuery { text, ..RelevanceQuery::default() };
        let by_words = FileRelevance::new(relevance.lexical(), sources.references, &query);
        relevant_files(sources.symbols, &by_words, limit)
    };
    let is_included = |file: &RelevantFile| !session.selection.excluded.contains(&file.file);
    let mut items: Vec<FrameItem> =
        matches.into_iter().filter(is_included).flat_map(to_frame_items).collect();
    let wants_secondary = asks_for_secondary_files(text);
    for item in items.iter_mut().filter(|item| !wants_secondary && is_secondary(sources.symbols, &item.file))
    {
        item.score *= SECONDARY_FILE_FACTOR;
    }
    items.retain(|item| item.score >= settings.min_score);
    // The sort is stable: with equal scores, a file stays before its symbols.
    items.sort_by(|a, b| b.score.total_cmp(&a.score));
    items.truncate(limit);
    items
}

/// Sets the line range of each symbol whose definition can be found.
fn locate_definitions(
    mut items: Vec<FrameItem>,
    read: impl Fn(&FileKey) -> Option<SourceFile>,
) -> Vec<FrameItem> {
    let mut files: BTreeMap<FileKey, Option<SourceFile>> = BTreeMap::new();
    for item in &mut items {
        let Some(name) = &item.name else { continue };
        let source = files.entry(item.file.clone()).or_insert_with(|| read(&item.file));
        let Some(SourceFile { file, symbols: Some(symbols) }) = source else { continue };
        let range = definition_range(&symbols.outline, &file.text, name, 0);
        item.lines = range.and_then(|(lines, _)| LineRange::new(lines.start + 1, lines.end));
    }
    items
}

/// Whether a prompt shows the code of an item: all of the symbol, or any part of a file that is named as a whole.
fn is_shown(item: &FrameItem, selection: &Selection, excerpts: &ExcerptSelection) -> bool {
    let covers =
        |first: u32, last: u32| item.lines.is_none_or(|lines| first <= lines.first() && lines.last() <= last);
    let is_selected = match selection.selected.get(&item.file) {
        Some(Extent::Whole) => true,
        Some(Extent::Lines(ranges)) => ranges.iter().any(|range| covers(range.first(), range.last())),
        None => false,
    };
    let mut lines = excerpts.items.iter().filter(|excerpt| excerpt.key.file == item.file);
    is_selected
        || lines.any(|excerpt| excerpt.lines.as_ref().is_some_and(|lines| covers(lines.start + 1, lines.end)))
}

/// Formats the items as a context frame. Returns an empty string if there are none.
fn format_frame(query: &str, items: &[FrameItem]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let query: Vec<&str> = clip(query, MAX_REPEATED_REQUEST_CHARS).split_whitespace().collect();
    let mut text = format!(
        "<context-frame>\nRelevant context for query: {}\nFound {} relevant items (ranked by relevance score):",
        inline_code(&query.join(" ")),
        items.len()
    );
    for FrameItem { kind, file, name, score, lines } in items {
        let file = inline_code(file.as_str());
        let lines = lines.map_or(String::new(), |lines| format!(" {lines}"));
        let _ = match (kind, name) {
            (Some(kind), Some(name)) => {
                write!(
                    text,
                    "\n  - [{}] {} in {file}{lines} (score: {score:.2})",
                    kind_name(*kind),
                    inline_code(name)
                )
            }
            _ => write!(text, "\n  - [File] {file} (score: {score:.2})"),
        };
    }
    text.push_str("\n</context-frame>");
    text
}

/// Whether a file is a test, an example, a document, or a file without an outline, such as configuration.
fn is_secondary(symbols: &SymbolIndex, file: &FileKey) -> bool {
    let Some(language) = symbols.get(file).map(|symbols| symbols.language) else { return true };
    let is_secondary_directory =
        |part: &str| SECONDARY_DIRECTORIES.iter().any(|name| part.eq_ignore_ascii_case(name));
    language.is_document()
        || language.is_test_file(file.as_str())
        || file.directory().split('/').any(is_secondary_directory)
}

/// Whether a request asks for tests, examples, documents or configuration.
fn asks_for_secondary_files(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.any(|word| {
        SECONDARY_WORDS.iter().any(|other| word == *other || word.strip_suffix('s') == Some(*other))
    })
}

/// Converts a search result to items: one for the file, followed by one for each of its relevant symbols.
fn to_frame_items(relevant: RelevantFile) -> Vec<FrameItem> {
    let RelevantFile { file, score, symbols } = relevant;
    let symbols = symbols.into_iter().map(|symbol| FrameItem {
        kind: Some(symbol.kind),
        file: file.clone(),
        name: Some(symbol.name),
        score: symbol.score,
        lines: None,
    });
    let file_item = FrameItem { kind: None, file: file.clone(), name: None, score, lines: None };
    std::iter::once(file_item).chain(symbols).collect()
}

fn kind_name(kind: SymbolKind) -> &'static str {
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
    use strata_base::cancel::Cancel;
    use strata_code::outline::Outline;
    use strata_code::symbols::FileSymbols;

    use super::*;

    #[test]
    fn a_frame_lists_items_with_kinds_and_scores() {
        let items = [
            FrameItem {
                kind: Some(SymbolKind::Method),
                file: FileKey::new("a.py"),
                name: Some("Session.send".to_owned()),
                score: 0.954,
                lines: LineRange::new(3, 9),
            },
            FrameItem { kind: None, file: FileKey::new("b.py"), name: None, score: 0.5, lines: None },
        ];
        assert_eq!(
            format_frame("fix\n the\tsession `x` </context-frame>", &items),
            "<context-frame>\n\
             Relevant context for query: `fix the session \\u{60}x\\u{60} </context-frame>`\n\
             Found 2 relevant items (ranked by relevance score):\n  \
             - [Method] `Session.send` in `a.py` L3-9 (score: 0.95)\n  \
             - [File] `b.py` (score: 0.50)\n\
             </context-frame>"
        );
        assert_eq!(format_frame("x", &[]), "");
    }

    #[test]
    fn source_files_rank_above_tests_and_documents_unless_asked_for() {
        assert!(
            asks_for_secondary_files("Why do the tests of `send` fail?")
                && asks_for_secondary_files("update the README")
        );
        assert!(!asks_for_secondary_files("Which contest is the latest?"));
        let python = strata_grammars::LanguageId::by_name("python").unwrap();
        let mut symbols = SymbolIndex::default();
        for path in ["src/send.py", "tests/test_send.py", "examples/send.py"] {
            let outline = Outline::read(python, "def send(): pass\n", &Cancel::new()).unwrap();
            symbols.extend([(path.into(), FileSymbols::new(python, &path.into(), outline).into())]);
        }
        let secondary = |path: &str| is_secondary(&symbols, &path.into());
        assert_eq!(
            ["src/send.py", "tests/test_send.py", "examples/send.py", "data.bin"].map(secondary),
            [false, true, true, true]
        );
    }
}
