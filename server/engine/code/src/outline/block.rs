//! Renders outlines as map blocks, which describe a file to a model in few tokens. A block depends only on
//! the file's name and outline. It contains no line numbers and nothing about other files, so an edit changes
//! only one block.

use std::fmt::Write as _;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_base::sanitize::escape_line_start;
use strata_grammars::LanguageId;

use super::head::one_line;
use super::visibility::VisibilityTracker;
use super::{NameList, Outline, Symbol, SymbolKind, Unparsed};

/// Explanation of the symbol map, for the model that reads it.
pub const LEGEND: &str = "The symbol map lists the definitions of files not shown in full. A line without indentation is a file's \
                          path. Below it, `imports` lists its imports, and each other line is the head of a definition, without its \
                          body, indented by one space per level. Fields, constants and variables of one level share a line. `.a .b` \
                          are attributes set on the instance. `path: A, B` names top-level definitions only; a path alone is a test \
                          file, a generated file or a file without definitions. A line ` …` ends a block with definitions left out, \
                          and `…` marks cut text.";

/// Approximate maximum size of a block, in bytes. A block that is cut off ends with the number of definitions left
/// out.
const MAX_BLOCK_BYTES: usize = 32_768;
/// Maximum number of imports listed in a block.
const MAX_LISTED_IMPORTS: usize = 40;
/// Maximum number of sections or keys listed per parent in documents. The first ones are representative, as in a
/// changelog or a table.
const MAX_SIBLINGS: usize = 40;
/// Maximum indentation, in levels.
const MAX_INDENT_LEVELS: usize = 12;
/// Maximum length of an attribute, in characters.
const MAX_ATTRIBUTE_CHARS: usize = 60;
/// Maximum number of names in a block at `MapLevel::Names`.
const MAX_BLOCK_NAMES: usize = 24;
/// Maximum length, in characters, of a name in a block at `MapLevel::Names`. Headings may be whole sentences.
const MAX_BLOCK_NAME_CHARS: usize = 48;

/// How much of a file its map block shows. Each level includes the previous one.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum MapLevel {
    /// The file's path only.
    Path,
    /// The path and the names of top-level definitions.
    Names,
    /// The signatures of definitions that other files refer to.
    Signatures,
    /// The signatures of all public definitions.
    Public,
    /// All signatures, including fields, and the imports.
    #[default]
    Full,
}

/// The part of an outline that a map block shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockDetail {
    pub level: MapLevel,
    /// Names of definitions to show in addition to those that the level includes.
    #[serde(default, skip_serializing_if = "NameList::is_empty")]
    pub shown: NameList,
}

impl BlockDetail {
    pub(crate) fn for_level(level: MapLevel) -> Self {
        Self { level, shown: NameList::default() }
    }
}

/// One file's part of the symbol map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapBlock {
    /// Text of the block, ending with a line break.
    pub text: Arc<str>,
    pub text_hash: ContentHash,
}

pub fn map_block(language: LanguageId, key: &FileKey, outline: &Outline) -> MapBlock {
    let mut text = escape_line_start(key.as_str());
    if let Some(reason) = outline.unparsed {
        text.push_str(&no_outline_note(reason));
    } else if language.is_test_file(key.as_str()) {
        push_counts(&mut text, outline);
    } else {
        text.push('\n');
        push_imports(&mut text, &outline.imports);
        push_symbols(&mut text, outline.visible_symbols(), outline.visible_symbols().count());
        if outline.tests > 0 {
            let _ = writeln!(text, " {}", count_with_noun(outline.tests, "test", "tests"));
        }
        push_unparsed_lines(&mut text, outline);
    }
    MapBlock { text_hash: ContentHash::from_text(&text), text: text.into() }
}

/// Returns the map block of a file at a given level of detail, ending with a line break.
pub(crate) fn block_text(
    language: LanguageId,
    key: &FileKey,
    outline: &Outline,
    detail: &BlockDetail,
) -> String {
    let mut text = escape_line_start(key.as_str());
    if let Some(reason) = outline.unparsed {
        return text + &no_outline_note(reason);
    }
    match detail.level {
        MapLevel::Path => text.push('\n'),
        MapLevel::Names => push_names(&mut text, outline),
        MapLevel::Signatures | MapLevel::Public => {
            text.push('\n');
            let shown = shown_symbols(language, outline, detail);
            let count = shown.len();
            push_symbols(&mut text, shown.into_iter(), count);
            if count < outline.visible_symbols().count() {
                text.push_str(" …\n");
            }
            push_unparsed_lines(&mut text, outline);
        }
        MapLevel::Full => {
            text.push('\n');
            push_imports(&mut text, &outline.imports);
            push_symbols(&mut text, outline.visible_symbols(), outline.visible_symbols().count());
            if outline.tests > 0 {
                let _ = writeln!(text, " {}", count_with_noun(outline.tests, "test", "tests"));
            }
            push_unparsed_lines(&mut text, outline);
        }
    }
    text
}

/// Appends a line with the lines that could not be parsed, if there are any.
fn push_unparsed_lines(text: &mut String, outline: &Outline) {
    if !outline.unparsed_lines.is_empty() {
        let _ = writeln!(text, " … unparsed lines {}", outline.unparsed_lines);
    }
}

/// Returns the definitions that a partial block shows: the chosen ones, the public ones if the level includes
/// them, and the containers of both.
fn shown_symbols<'a>(language: LanguageId, outline: &'a Outline, detail: &BlockDetail) -> Vec<&'a Symbol> {
    let chosen: FxHashSet<&str> = detail.shown.iter().collect();
    let mut visibility = VisibilityTracker::new(language);
    let mut shown: Vec<&Symbol> = Vec::new();
    // Containers of the current definition that have not been added to `shown` yet, by depth.
    let mut containers: Vec<Option<&Symbol>> = Vec::new();
    for symbol in outline.visible_symbols() {
        let is_public = visibility.is_public(symbol);
        let depth = usize::try_from(symbol.depth).unwrap_or(usize::MAX);
        containers.truncate(depth);
        let is_shown = (detail.level == MapLevel::Public && is_public)
            || (symbol.kind != SymbolKind::Impl && chosen.contains(&*symbol.name));
        if is_shown {
            shown.extend(containers.iter_mut().filter_map(Option::take));
            shown.push(symbol);
        }
        containers.push((!is_shown).then_some(symbol));
    }
    shown
}

fn push_names(text: &mut String, outline: &Outline) {
    let mut listed = FxHashSet::default();
    let mut separator = ": ";
    let top_level = outline.visible_symbols().filter(|symbol| symbol.depth == 0);
    for symbol in
        top_level.filter(|symbol| listed.insert(&*symbol.name)).take(MAX_BLOCK_NAMES + 1).enumerate()
    {
        text.push_str(separator);
        separator = ", ";
        match symbol {
            (MAX_BLOCK_NAMES, _) => text.push('…'),
            (_, symbol) => text.push_str(&one_line(&symbol.name, MAX_BLOCK_NAME_CHARS)),
        }
    }
    text.push('\n');
}

/// Returns what follows the path of a file that was not parsed.
fn no_outline_note(reason: Unparsed) -> String {
    format!(" (no outline: {reason})\n")
}

fn push_counts(text: &mut String, outline: &Outline) {
    let count = |is_counted: fn(SymbolKind) -> bool| {
        let matching = outline.symbols.iter().filter(|symbol| symbol.depth == 0 && is_counted(symbol.kind));
        u32::try_from(matching.count()).unwrap_or(u32::MAX)
    };
    let parts = [
        (outline.tests, "test", "tests"),
        (count(SymbolKind::is_type), "type", "types"),
        (count(SymbolKind::is_function), "function", "functions"),
    ];
    let mut separator = ": ";
    for (number, singular, plural) in parts {
        if number > 0 {
            text.push_str(separator);
            text.push_str(&count_with_noun(number, singular, plural));
            separator = ", ";
        }
    }
    text.push('\n');
}

fn count_with_noun(number: u32, singular: &str, plural: &str) -> String {
    format!("{number} {}", if number == 1 { singular } else { plural })
}

fn push_imports(text: &mut String, imports: &NameList) {
    let mut separator = " imports ";
    let mut omitted = 0_usize;
    for (index, import) in imports.iter().enumerate() {
        if index >= MAX_LISTED_IMPORTS {
            omitted += 1;
            continue;
        }
        text.push_str(separator);
        text.push_str(import);
        separator = ", ";
    }
    if omitted > 0 {
        let _ = write!(text, ", … {omitted} more");
    }
    if !imports.is_empty() {
        text.push('\n');
    }
}

/// Appends the lines of definitions to `text`. `visible` is the number of symbols in `shown`.
fn push_symbols<'a>(text: &mut String, shown: impl Iterator<Item = &'a Symbol>, visible: usize) {
    let mut processed = 0_usize;
    // Depth of the line of values that the next value can join.
    let mut open_value_depth = None;
    let mut siblings = SiblingCounts::default();
    // Heads already written, by level: a prototype and its definition, or the branches of a conditional, have the same
    // head.
    let mut heads: Vec<FxHashSet<&str>> = Vec::new();
    for symbol in shown {
        if text.len() > MAX_BLOCK_BYTES {
            break;
        }
        if !siblings.count_and_check_limit(symbol) {
            continue;
        }
        processed += 1;
        let level = usize::try_from(symbol.depth).unwrap_or(usize::MAX).saturating_add(1);
        heads.truncate(level);
        let is_callable = symbol.kind.is_function() || symbol.kind == SymbolKind::Macro;
        if is_callable && symbol.attributes.is_empty() {
            heads.resize_with(level, FxHashSet::default);
            if heads.last_mut().is_some_and(|heads| !heads.insert(&symbol.head)) {
                continue;
            }
        }
        let is_joinable = symbol.kind.is_value() && symbol.attributes.is_empty();
        if is_joinable && open_value_depth == Some(symbol.depth) {
            text.push_str(", ");
            text.push_str(&symbol.head);
            continue;
        }
        if open_value_depth.is_some() {
            text.push('\n');
        }
        open_value_depth = is_joinable.then_some(symbol.depth);
        push_indent(text, symbol.depth);
        for attribute in symbol.attributes.iter() {
            text.push_str(&one_line(attribute, MAX_ATTRIBUTE_CHARS));
            text.push(' ');
        }
        text.push_str(&symbol.head);
        if !is_joinable {
            text.push('\n');
            push_instance_attributes(text, symbol);
        }
    }
    if open_value_depth.is_some() {
        text.push('\n');
    }
    let omitted = visible.saturating_sub(processed);
    if omitted > 0 {
        let _ = writeln!(text, " … {omitted} more");
    }
}

/// Number of document sections and keys counted so far at each level, below the current ancestors.
#[derive(Default)]
struct SiblingCounts(Vec<usize>);

impl SiblingCounts {
    /// Counts a symbol. Returns `false` if the symbol or one of its ancestors exceeds [`MAX_SIBLINGS`]. Definitions
    /// in code have no limit.
    fn count_and_check_limit(&mut self, symbol: &Symbol) -> bool {
        if !symbol.kind.is_document() {
            return true;
        }
        let level = usize::try_from(symbol.depth).unwrap_or(usize::MAX).min(MAX_INDENT_LEVELS);
        self.0.resize(level + 1, 0);
        if let Some(count) = self.0.get_mut(level) {
            *count += 1;
        }
        self.0.iter().all(|count| *count <= MAX_SIBLINGS)
    }
}

fn push_instance_attributes(text: &mut String, symbol: &Symbol) {
    if symbol.instance.is_empty() {
        return;
    }
    push_indent(text, symbol.depth.saturating_add(1));
    let mut separator = ".";
    for name in symbol.instance.iter() {
        text.push_str(separator);
        text.push_str(name);
        separator = " .";
    }
    text.push('\n');
}

fn push_indent(text: &mut String, depth: u32) {
    let spaces = usize::try_from(depth).unwrap_or(MAX_INDENT_LEVELS).min(MAX_INDENT_LEVELS) + 1;
    text.extend(std::iter::repeat_n(' ', spaces));
}
