//! The outline of a text that is being edited. Keeps the findings of a walk in pieces of about a kilobyte.
//! After an edit, walks only the touched pieces again and updates only dependent results. The result is
//! identical to [`Outline::from_tree`] for the same tree. While the text is broken, as it often is during typing,
//! keeps the last unbroken outline.

mod piece;
mod plan;
mod touched;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use ropey::Rope;
use rustc_hash::FxHashMap;
use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_grammars::LanguageId;

use self::piece::{InstanceName, OutlinePiece};
use self::plan::{MIN_PIECE_BYTES, PieceSplitter, WalkedPiece};
use self::touched::{floor_char_boundary, map_through_edits, piece_start, touched_pieces, touched_runs};
use super::block::map_block;
use super::extract::{
    InstanceNameDraft, Redefinition, SymbolDraft, WalkAnchor, WalkFindings, walk_tree_from,
};
use super::generated;
use super::mask::ParseMask;
use super::mentions::MentionCounter;
use super::resolve::{SymbolSelector, distinct_imports};
use super::source::SourceText;
use super::{
    MAX_REFERENCES, MAX_SYMBOLS, MapBlock, NameList, Outline, Symbol, SymbolList, SyntaxTree, TreeEdit,
    UnparsedLines,
};

/// Number of bytes to copy from the rope beyond a run of edited pieces, in case the walk reads past the end of the
/// run.
const READ_AHEAD_BYTES: usize = 4 * MIN_PIECE_BYTES;
/// Maximum number of pending edits. After more edits, the outline is rebuilt instead of updated.
const MAX_PENDING_EDITS: usize = 1_000;

/// The outline of a text that is being edited, with the data for updating it after edits.
#[derive(Debug)]
pub(crate) struct LiveOutline {
    language: LanguageId,
    syntax: SyntaxValidity,
    /// What was hidden from the parser in the outlined text.
    mask: ParseMask,
    /// Edits since the outlined version.
    pending: Vec<TreeEdit>,
    pieces: Vec<OutlinePiece>,
    /// Start of each piece in bytes; the first is 0.
    starts: Vec<usize>,
    mentions: MentionCounter,
    outline: Outline,
    shown_symbols: OutlineCompleteness,
    /// The map block, if it was requested since the outline last changed.
    block: Option<(FileKey, MapBlock)>,
}

/// Whether an outline matches the current text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OutlineFreshness {
    Current,
    /// The outline belongs to an earlier version of the text.
    Stale,
}

/// Whether the outlined text has syntax errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SyntaxValidity {
    Valid,
    Broken,
}

/// Whether all found symbols are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OutlineCompleteness {
    All,
    /// Some repeated definitions are omitted, along with their members.
    Some,
}

/// How much of an outline a change affects.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum OutlineChangeExtent {
    None,
    /// Only the results of the pieces that were walked again.
    Local,
    Global,
}

/// A range of old pieces and the pieces that replace them.
struct PieceSplice<'a> {
    old: Range<usize>,
    new: Vec<WalkedPiece<'a>>,
}

impl LiveOutline {
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised before the walk finishes.
    pub(crate) fn new(tree: &SyntaxTree, text: &Rope, cancel: &Cancel) -> Result<Self, Cancelled> {
        let language = tree.language;
        let mut live = Self {
            language,
            syntax: if tree.has_error() { SyntaxValidity::Broken } else { SyntaxValidity::Valid },
            mask: tree.mask().clone(),
            pending: Vec::new(),
            pieces: Vec::new(),
            starts: Vec::new(),
            mentions: MentionCounter::new(language),
            outline: Outline::default(),
            shown_symbols: OutlineCompleteness::All,
            block: None,
        };
        let source = text.to_string();
        let mut plan = PieceSplitter::new(&[], &[], &[], (WalkAnchor::default(), 0));
        walk_tree_from(tree, SourceText::from_text(&source), None, &mut plan, cancel)?;
        let splice = PieceSplice { old: 0..0, new: plan.walked };
        live.replace(vec![splice], Vec::new());
        live.outline.generated = is_generated(language, text);
        live.outline.unparsed = tree.unparsed;
        live.outline.unparsed_lines = UnparsedLines::find(tree, &source);
        Ok(live)
    }

    /// Updates the outline after `edits`, unless `text` has syntax errors. `now` is the tree of `text`. On error,
    /// the outline is unchanged.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised before the walk finishes.
    pub(crate) fn refresh(
        &mut self,
        tree: &SyntaxTree,
        text: &Rope,
        edits: &[TreeEdit],
        cancel: &Cancel,
    ) -> Result<OutlineFreshness, Cancelled> {
        if tree.has_error() {
            if self.pending.len() <= MAX_PENDING_EDITS {
                self.pending.extend(edits);
            }
            return Ok(OutlineFreshness::Stale);
        }
        let edits: Vec<TreeEdit> = self.pending.iter().chain(edits).copied().collect();
        let mut mask = self.mask.clone();
        for edit in &edits {
            mask.edit(edit.start.byte..edit.old_end.byte, edit.new_end.byte);
        }
        // An edit may change what is hidden far away from it.
        let is_mask_changed = !mask.is_reusable_as(tree.mask());
        if self.syntax == SyntaxValidity::Broken || edits.len() > MAX_PENDING_EDITS || is_mask_changed {
            *self = Self::new(tree, text, cancel)?;
        } else {
            self.update_pieces(tree, text, &edits, cancel)?;
            self.mask = mask;
        }
        self.pending.clear();
        Ok(OutlineFreshness::Current)
    }

    pub(crate) fn language(&self) -> LanguageId {
        self.language
    }

    pub(crate) fn outline(&self) -> Outline {
        self.outline.clone()
    }

    /// Returns the map block of the outline. The block is cached until an edit changes it.
    pub(crate) fn block(&mut self, key: &FileKey) -> MapBlock {
        match &self.block {
            Some((cached_key, block)) if cached_key == key => block.clone(),
            _ => {
                let block = map_block(self.language, key, &self.outline);
                self.block = Some((key.clone(), block.clone()));
                block
            }
        }
    }

    /// Updates the outline from the outlined text to `text`, neither of which has syntax errors. Walks the new tree
    /// from each edited piece to the first anchor that the outline already has, because everything from there to the
    /// next edit is unchanged. Comparing the old and the new tree instead would take half as long as parsing the
    /// whole text.
    fn update_pieces(
        &mut self,
        tree: &SyntaxTree,
        text: &Rope,
        edits: &[TreeEdit],
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let (starts, touched) = map_through_edits(&self.starts, edits);
        let is_touched = touched_pieces(&starts, &touched);
        let texts: Vec<(usize, Range<usize>, String)> = touched_runs(&is_touched)
            .map(|run| {
                let from = piece_start(&starts, run.start);
                let end =
                    piece_start(&starts, run.end).min(text.len_bytes()).saturating_add(READ_AHEAD_BYTES);
                let range = from..end.min(text.len_bytes());
                let range = floor_char_boundary(text, range.start)..floor_char_boundary(text, range.end);
                let piece = text.get_byte_slice(range.clone()).map(|slice| slice.to_string());
                (range.start, run, piece.unwrap_or_default())
            })
            .collect();
        let mut splices: Vec<PieceSplice<'_>> = Vec::new();
        for (from, run, piece_text) in &texts {
            let replaced_end = splices.last().map_or(0, |splice| splice.old.end);
            if run.end <= replaced_end {
                continue;
            }
            let source = SourceText::from_rope_part(piece_text, *from, text);
            match self.rewalk_pieces(
                tree,
                source,
                &starts,
                &is_touched,
                replaced_end..run.start.max(replaced_end),
                cancel,
            )? {
                Some(splice) => splices.push(splice),
                None => {
                    *self = Self::new(tree, text, cancel)?;
                    return Ok(());
                }
            }
        }
        self.replace(splices, starts);
        self.outline.generated = is_generated(self.language, text);
        Ok(())
    }

    /// Walks the piece with index `first.end` again, up to an anchor after which nothing changed. If the walk cannot
    /// start there, tries earlier pieces down to `first.start`. Returns `None` if it cannot start at any of them.
    fn rewalk_pieces<'a>(
        &self,
        tree: &SyntaxTree,
        source: SourceText<'a>,
        starts: &[usize],
        touched: &[bool],
        first: Range<usize>,
        cancel: &Cancel,
    ) -> Result<Option<PieceSplice<'a>>, Cancelled> {
        for piece in (first.start..=first.end).rev() {
            let (Some(old), Some(start)) = (self.pieces.get(piece), starts.get(piece)) else { continue };
            let from = (piece > 0).then_some((&old.anchor, *start));
            let mut plan = PieceSplitter::new(&self.pieces, starts, touched, (old.anchor.clone(), *start));
            if walk_tree_from(tree, source, from, &mut plan, cancel)?.is_some() {
                return Ok(Some(PieceSplice { old: piece..plan.candidate, new: plan.walked }));
            }
        }
        Ok(None)
    }

    /// Replaces pieces. `starts` are the starts of all old pieces in the new text.
    fn replace(&mut self, splices: Vec<PieceSplice<'_>>, starts: Vec<usize>) {
        self.starts = starts;
        let has_max_symbols = |pieces: &[OutlinePiece]| {
            pieces.iter().map(|piece| piece.symbols.len()).sum::<usize>() >= MAX_SYMBOLS
        };
        let mut symbols = if has_max_symbols(&self.pieces) {
            OutlineChangeExtent::Global
        } else {
            OutlineChangeExtent::None
        };
        let mut imports = OutlineChangeExtent::None;
        let tests_before = self.outline.tests;
        for splice in splices.into_iter().rev() {
            let new_starts: Vec<usize> = splice.new.iter().map(|walked| walked.start).collect();
            let mut new: Vec<OutlinePiece> =
                splice.new.into_iter().map(|walked| OutlinePiece::new(walked, &mut self.mentions)).collect();
            let tests: u32 = new.iter().map(|piece| piece.tests).sum();
            self.outline.tests = self.outline.tests.saturating_add(tests);
            let old = self.pieces.get(splice.old.clone()).unwrap_or_default();
            symbols = symbols.max(carry_over_shown(old, &mut new, self.shown_symbols));
            if !iter_field(old, |piece| &piece.imports).eq(iter_field(&new, |piece| &piece.imports)) {
                imports = OutlineChangeExtent::Global;
            }
            self.starts.splice(splice.old.clone(), new_starts);
            for piece in self.pieces.splice(splice.old, new) {
                self.outline.tests = self.outline.tests.saturating_sub(piece.tests);
                self.mentions.remove(&piece.mentions);
            }
        }
        if symbols == OutlineChangeExtent::Global || has_max_symbols(&self.pieces) {
            symbols = OutlineChangeExtent::Global;
            self.update_shown_symbols();
        }
        if symbols != OutlineChangeExtent::None {
            self.outline.symbols =
                SymbolList::from_parts(self.pieces.iter().map(|piece| piece.shown.clone()));
        }
        if imports != OutlineChangeExtent::None {
            let imports = iter_field(&self.pieces, |piece| &piece.imports);
            self.outline.imports = distinct_imports(imports.map(|import| &**import));
        }
        if symbols != OutlineChangeExtent::None
            || imports != OutlineChangeExtent::None
            || self.outline.tests != tests_before
        {
            self.block = None;
        }
        let (references, count) = self.mentions.update_references();
        if count > MAX_REFERENCES {
            self.outline.references = references.first(MAX_REFERENCES);
        } else if *references != self.outline.references {
            self.outline.references = references.clone();
        }
    }

    /// Recomputes which symbols are shown, at which depth, and with which instance names.
    fn update_shown_symbols(&mut self) {
        let mut resolver = SymbolSelector::default();
        let mut depths = Vec::new();
        for piece in &self.pieces {
            let mut instance_names = piece.instance.iter().peekable();
            for index in 0..=piece.symbols.len() {
                while let Some(set) = instance_names.next_if(|set| set.preceding_symbols <= index) {
                    resolver.add_instance_name(set.owner, &set.name);
                }
                if let Some((symbol, repeat)) = piece.symbols.get(index).zip(piece.repeats.get(index)) {
                    depths.push(resolver.visible_depth(symbol, *repeat));
                }
            }
        }
        let names = resolver.into_instance_names();
        let names: FxHashMap<u32, NameList> =
            names.into_iter().map(|(number, names)| (number, names.iter().collect())).collect();
        self.shown_symbols =
            if depths.contains(&None) { OutlineCompleteness::Some } else { OutlineCompleteness::All };
        let mut depths = depths.as_slice();
        let mut number = 0;
        for piece in &mut self.pieces {
            let (own_depths, rest) = depths.split_at_checked(piece.symbols.len()).unwrap_or((depths, &[]));
            depths = rest;
            piece.set_shown_symbols(own_depths.iter().map(|depth| {
                let depth = (*depth)?;
                number += 1;
                Some((depth, names.get(&(number - 1)).cloned().unwrap_or_default()))
            }));
        }
    }
}

fn is_generated(language: LanguageId, text: &Rope) -> bool {
    let end = floor_char_boundary(text, generated::HEAD_BYTES.min(text.len_bytes()));
    let head = text.get_byte_slice(0..end).map_or(Cow::Borrowed(""), Cow::from);
    generated::is_generated(language, &head, text.len_bytes(), text.len_lines() - 1)
}

impl OutlinePiece {
    fn new(walked: WalkedPiece<'_>, mentions: &mut MentionCounter) -> Self {
        let WalkFindings { symbols, instance, imports, mentions: names, tests } = walked.findings;
        let repeats = symbols.iter().map(|draft| draft.repeat).collect();
        let symbols: Arc<[Symbol]> = symbols.into_iter().map(SymbolDraft::into_symbol).collect();
        let set = |set: InstanceNameDraft<'_>| InstanceName {
            preceding_symbols: set.preceding_symbols,
            owner: set.owner,
            name: (*set.name).into(),
        };
        Self {
            anchor: walked.anchor,
            repeats,
            shown: symbols.clone(),
            symbols,
            instance: instance.into_iter().map(set).collect(),
            imports: imports.into_iter().map(String::into_boxed_str).collect(),
            mentions: mentions.add(names.iter().map(|(name, usage)| (&**name, *usage))),
            tests,
        }
    }

    /// Sets which symbols are shown. `how` yields, for each found symbol, its depth and the names set on its
    /// instances, or `None` to hide the symbol.
    fn set_shown_symbols(&mut self, placements: impl Iterator<Item = Option<(u32, NameList)>>) {
        let placements: Vec<Option<(u32, NameList)>> = placements.collect();
        let is_unchanged = self.symbols.iter().zip(&placements).all(|(symbol, placement)| {
            placement.as_ref().is_some_and(|(depth, names)| *depth == symbol.depth && names.is_empty())
        });
        let shown = if is_unchanged {
            self.symbols.clone()
        } else {
            let symbol = |(symbol, placement): (&Symbol, &Option<(u32, NameList)>)| {
                let (depth, instance) = placement.clone()?;
                Some(Symbol { depth, instance, ..symbol.clone() })
            };
            self.symbols.iter().zip(&placements).filter_map(symbol).collect()
        };
        if !Arc::ptr_eq(&shown, &self.shown) && shown != self.shown {
            self.shown = shown;
        }
    }
}

/// Carries the shown state of old symbols over to new pieces if the rest of the text cannot affect it. `shown_symbols`
/// describes the whole text.
fn carry_over_shown(
    old: &[OutlinePiece],
    new: &mut [OutlinePiece],
    shown_symbols: OutlineCompleteness,
) -> OutlineChangeExtent {
    if old.iter().any(|piece| piece.shown.len() != piece.symbols.len()) {
        return OutlineChangeExtent::Global;
    }
    let (before, after) = (symbols_with_redefinitions(old), symbols_with_redefinitions(new));
    let is_same_shape = |(a, b): &(&SymbolWithRedefinition<'_>, &SymbolWithRedefinition<'_>)| {
        properties_affecting_others(a) == properties_affecting_others(b)
    };
    let prefix = before.iter().zip(&after).take_while(is_same_shape).count();
    let (before_rest, after_rest) = (before.len() - prefix, after.len() - prefix);
    let max_suffix = before_rest.min(after_rest);
    let suffix =
        before.iter().rev().zip(after.iter().rev()).take(max_suffix).take_while(is_same_shape).count();
    let (removed, added) = (before_rest - suffix, after_rest - suffix);
    let (old_sets, new_sets) = (instance_names(old, prefix, removed), instance_names(new, prefix, added));
    if old_sets != new_sets {
        return OutlineChangeExtent::Global;
    }
    let was_shown: Vec<&Symbol> = iter_field(old, |piece| &piece.shown).collect();
    if removed + added > 0 {
        let removed_or_added =
            || before.iter().skip(prefix).take(removed).chain(after.iter().skip(prefix).take(added));
        let outermost = removed_or_added().map(|(symbol, _)| symbol.depth).min().unwrap_or(0);
        // The following symbols that the changed ones may have contained before or may contain now.
        let inside = || after.iter().skip(prefix + added).take_while(|(symbol, _)| symbol.depth > outermost);
        let repeats = removed_or_added().chain(inside()).any(|(_, repeat)| *repeat != Redefinition::New);
        let reach = prefix..=prefix + inside().count();
        let affects_instances = new_sets
            .iter()
            .any(|(preceding_symbols, owner, _)| reach.contains(preceding_symbols) && *owner >= outermost)
            || was_shown.iter().skip(prefix).take(removed).any(|symbol| !symbol.instance.is_empty());
        if repeats || affects_instances || (shown_symbols == OutlineCompleteness::Some && outermost > 0) {
            return OutlineChangeExtent::Global;
        }
    }
    let carried = |symbol: &&Symbol| (symbol.depth, symbol.instance.clone());
    let new_placement = |(symbol, _): &SymbolWithRedefinition<'_>| (symbol.depth, NameList::default());
    let placements: Vec<(u32, NameList)> = was_shown
        .iter()
        .take(prefix)
        .map(carried)
        .chain(after.iter().skip(prefix).take(added).map(new_placement))
        .chain(was_shown.iter().skip(prefix + removed).map(carried))
        .collect();
    let mut placements = placements.into_iter();
    for piece in &mut *new {
        let count = piece.symbols.len();
        piece.set_shown_symbols(placements.by_ref().take(count).map(Some));
    }
    let is_same = iter_field(new, |piece| &piece.shown).eq(was_shown);
    if is_same { OutlineChangeExtent::None } else { OutlineChangeExtent::Local }
}

/// Returns the names set on instances, each with the number of preceding symbols and the level of its owner. Symbols
/// are counted as if the `skipped` symbols after the first `prefix` were absent.
fn instance_names(pieces: &[OutlinePiece], prefix: usize, skipped: usize) -> Vec<(usize, u32, &str)> {
    let mut names = Vec::new();
    let mut symbols = 0;
    for piece in pieces {
        names.extend(piece.instance.iter().map(|set| {
            let preceding_symbols = symbols + set.preceding_symbols;
            let without = if preceding_symbols > prefix {
                preceding_symbols.saturating_sub(skipped).max(prefix)
            } else {
                preceding_symbols
            };
            (without, set.owner, &*set.name)
        }));
        symbols += piece.symbols.len();
    }
    names
}

/// A symbol as found, and how it relates to earlier definitions.
type SymbolWithRedefinition<'a> = (&'a Symbol, Redefinition);

fn symbols_with_redefinitions(pieces: &[OutlinePiece]) -> Vec<SymbolWithRedefinition<'_>> {
    pieces.iter().flat_map(|piece| piece.symbols.iter().zip(piece.repeats.iter().copied())).collect()
}

/// Container and name of a definition that may be repeated, with its number of parts.
type RedefinedName<'a> = (&'a str, &'a str, Option<usize>);

/// Returns the properties of a symbol that affect how other symbols are shown.
fn properties_affecting_others<'a>(
    &(symbol, repeat): &SymbolWithRedefinition<'a>,
) -> (u32, Option<RedefinedName<'a>>) {
    let repeated_name = match repeat {
        Redefinition::New => None,
        Redefinition::Same { parts } => Some((&*symbol.container, &*symbol.name, parts)),
    };
    (symbol.depth, repeated_name)
}

/// Iterates over one field of all pieces.
fn iter_field<'a, T: 'a>(
    pieces: &'a [OutlinePiece],
    part: impl Fn(&'a OutlinePiece) -> &'a [T],
) -> impl Iterator<Item = &'a T> {
    pieces.iter().flat_map(part)
}

#[cfg(test)]
mod tests {
    use super::super::parse_rope;
    use super::*;

    /// Wherever the new pieces start, the walk gets back in step with the old ones.
    #[test]
    fn the_number_of_rewalked_pieces_does_not_grow_with_the_text() {
        let rust = LanguageId::by_name("rust").unwrap();
        let function = |number: usize| {
            let body = format!("    let value_{number} = {};\n", "x".repeat(1 + number * 37 % 90))
                .repeat(number % 4);
            format!("fn function_{number}(a: u32) {{\n{body}}}\n")
        };
        let source: String = (0..400).map(function).collect();
        for length in (1..1_200).step_by(61) {
            let mut text = Rope::from_str(&source);
            let mut before = parse_rope(rust, &text, None, &Cancel::new()).unwrap();
            let mut live = LiveOutline::new(&before, &text, &Cancel::new()).unwrap();
            assert!(live.pieces.len() > 30);
            let old: Vec<Arc<[Symbol]>> = live.pieces.iter().map(|piece| piece.symbols.clone()).collect();
            let at = source.find("fn function_50(").unwrap();
            let fresh = format!("fn fresh() {{ {} }}\n", "y".repeat(length));
            let edit = TreeEdit::from_replacement(&text, at..at, &fresh);
            text.insert(text.byte_to_char(at), &fresh);
            before.edit(&edit);
            let now = parse_rope(rust, &text, Some(&before), &Cancel::new()).unwrap();
            live.refresh(&now, &text, &[edit], &Cancel::new()).unwrap();
            let is_new = |piece: &&OutlinePiece| !old.iter().any(|old| Arc::ptr_eq(old, &piece.symbols));
            let rewalked = live.pieces.iter().filter(is_new).count();
            assert!((1..=5).contains(&rewalked), "{rewalked} of {} pieces, {length}", live.pieces.len());
        }
    }
}
