//! The outline of a text that is being edited. Keeps the findings of a walk in pieces of about a kilobyte.
//! After an edit, walks only the touched pieces again and updates only dependent results. The result is
//! identical to [`Outline::of`] for the same tree. While the text is broken, as it often is during typing,
//! keeps the last unbroken outline.

mod course;
mod piece;
mod touched;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use ropey::Rope;
use rustc_hash::FxHashMap;
use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_grammars::LanguageId;

use self::course::{PIECE, Pieces, WalkedPiece};
use self::piece::{Piece, Set};
use self::touched::{floor, moved, place, runs, touched_pieces};
use super::block::{Signature, map_block_signed};
use super::extract::{Anchor, Draft, Findings, Instance, Reach, Repeat, findings_from};
use super::generated;
use super::mask::Mask;
use super::mentions::Mentions;
use super::resolve::{Resolver, first_mentions};
use super::source::Source;
use super::{
    MAX_REFERENCES, MAX_SYMBOLS, MapBlock, Names, Outline, Symbol, Symbols, SyntaxTree, TreeEdit,
    UnparsedLines,
};

/// Number of bytes to copy from the rope beyond a run of edited pieces, in case the walk reads past the end of the
/// run.
const AT_HAND: usize = 4 * PIECE;
/// Maximum number of pending edits. After more edits, the outline is rebuilt instead of updated.
const MAX_PENDING: usize = 1_000;

/// The outline of a text that is being edited, with the data for updating it after edits.
#[derive(Debug)]
pub(crate) struct LiveOutline {
    language: LanguageId,
    of: Text,
    /// What was hidden from the parser in the outlined text.
    mask: Mask,
    /// Edits since the outlined version.
    pending: Vec<TreeEdit>,
    pieces: Vec<Piece>,
    /// Start of each piece in bytes; the first is 0.
    starts: Vec<usize>,
    mentions: Mentions,
    outline: Outline,
    signature: Signature,
    shows: ShownSymbols,
    /// The map block, if it was requested since the outline last changed.
    block: Option<(FileKey, MapBlock)>,
}

/// Whether an outline matches the current text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Currency {
    Current,
    /// The outline belongs to an earlier version of the text.
    Behind,
}

/// Whether the outlined text has syntax errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Text {
    Sound,
    Broken,
}

/// Whether all found symbols are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ShownSymbols {
    All,
    /// Some repeated definitions are omitted, along with their members.
    Some,
}

/// How much of an outline a change affects.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Effect {
    None,
    /// Only the results of the pieces that were walked again.
    Here,
    Everywhere,
}

/// A range of old pieces and the pieces that replace them.
struct Splice<'a> {
    old: Range<usize>,
    new: Vec<WalkedPiece<'a>>,
}

impl LiveOutline {
    /// Builds the outline of a parsed text.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised before the walk finishes.
    pub(crate) fn new(tree: &SyntaxTree, text: &Rope, cancel: &Cancel) -> Result<Self, Cancelled> {
        let language = tree.language;
        let mut live = Self {
            language,
            of: if tree.has_error() { Text::Broken } else { Text::Sound },
            mask: tree.mask().clone(),
            pending: Vec::new(),
            pieces: Vec::new(),
            starts: Vec::new(),
            mentions: Mentions::new(language),
            outline: Outline::default(),
            signature: Signature::of([].iter()),
            shows: ShownSymbols::All,
            block: None,
        };
        let whole = text.to_string();
        let mut course = Pieces::new(&[], &[], &[], (Anchor::default(), 0));
        findings_from(tree, Source::whole(&whole), None, &mut course, cancel)?;
        let splice = Splice { old: 0..0, new: course.found };
        live.replace(vec![splice], Vec::new());
        live.outline.generated = says_generated(language, text);
        live.outline.unparsed = tree.unparsed;
        live.outline.unparsed_lines = UnparsedLines::of(tree, &whole);
        Ok(live)
    }

    /// Updates the outline after `edits`, unless `text` has syntax errors. `now` is the tree of `text`. On error,
    /// the outline is unchanged.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised before the walk finishes.
    pub(crate) fn refresh(
        &mut self,
        now: &SyntaxTree,
        text: &Rope,
        edits: &[TreeEdit],
        cancel: &Cancel,
    ) -> Result<Currency, Cancelled> {
        if now.has_error() {
            if self.pending.len() <= MAX_PENDING {
                self.pending.extend(edits);
            }
            return Ok(Currency::Behind);
        }
        let edits: Vec<TreeEdit> = self.pending.iter().chain(edits).copied().collect();
        let mut mask = self.mask.clone();
        for edit in &edits {
            mask.edit(edit.start.byte..edit.old_end.byte, edit.new_end.byte);
        }
        // An edit may change what is hidden far away from it.
        let is_masked_otherwise = !mask.stays_as(now.mask());
        if self.of == Text::Broken || edits.len() > MAX_PENDING || is_masked_otherwise {
            *self = Self::new(now, text, cancel)?;
        } else {
            self.catch_up(now, text, &edits, cancel)?;
            self.mask = mask;
        }
        self.pending.clear();
        Ok(Currency::Current)
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
            Some((known, block)) if known == key => block.clone(),
            _ => {
                let block = map_block_signed(self.language, key, &self.outline, self.signature);
                self.block = Some((key.clone(), block.clone()));
                block
            }
        }
    }

    /// Updates the outline from the outlined text to `text`, neither of which has syntax errors. Walks the new tree
    /// from each edited piece to the first anchor that the outline already has, because everything from there to the
    /// next edit is unchanged. Comparing the old and the new tree instead would take half as long as parsing the
    /// whole text.
    fn catch_up(
        &mut self,
        now: &SyntaxTree,
        text: &Rope,
        edits: &[TreeEdit],
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let (starts, touched) = moved(&self.starts, edits);
        let is_touched = touched_pieces(&starts, &touched);
        let texts: Vec<(usize, Range<usize>, String)> = runs(&is_touched)
            .map(|run| {
                let from = place(&starts, run.start);
                let end = place(&starts, run.end).min(text.len_bytes()).saturating_add(AT_HAND);
                let range = from..end.min(text.len_bytes());
                let range = floor(text, range.start)..floor(text, range.end);
                let piece = text.get_byte_slice(range.clone()).map(|slice| slice.to_string());
                (range.start, run, piece.unwrap_or_default())
            })
            .collect();
        let mut splices: Vec<Splice<'_>> = Vec::new();
        for (from, run, at_hand) in &texts {
            let done = splices.last().map_or(0, |splice| splice.old.end);
            if run.end <= done {
                continue;
            }
            let source = Source::part(at_hand, *from, text);
            match self.walked(now, source, &starts, &is_touched, done..run.start.max(done), cancel)? {
                Some(splice) => splices.push(splice),
                None => {
                    *self = Self::new(now, text, cancel)?;
                    return Ok(());
                }
            }
        }
        self.replace(splices, starts);
        self.outline.generated = says_generated(self.language, text);
        Ok(())
    }

    /// Walks the piece with index `first.end` again, up to an anchor after which nothing changed. If the walk cannot
    /// start there, tries earlier pieces down to `first.start`. Returns `None` if it cannot start at any of them.
    fn walked<'a>(
        &self,
        tree: &SyntaxTree,
        source: Source<'a>,
        starts: &[usize],
        touched: &[bool],
        first: Range<usize>,
        cancel: &Cancel,
    ) -> Result<Option<Splice<'a>>, Cancelled> {
        for piece in (first.start..=first.end).rev() {
            let (Some(old), Some(start)) = (self.pieces.get(piece), starts.get(piece)) else { continue };
            let from = (piece > 0).then_some((&old.anchor, *start));
            let mut course = Pieces::new(&self.pieces, starts, touched, (old.anchor.clone(), *start));
            if findings_from(tree, source, from, &mut course, cancel)?.is_some() {
                return Ok(Some(Splice { old: piece..course.candidate, new: course.found }));
            }
        }
        Ok(None)
    }

    /// Replaces pieces. `starts` are the starts of all old pieces in the new text.
    fn replace(&mut self, splices: Vec<Splice<'_>>, starts: Vec<usize>) {
        self.starts = starts;
        let is_full =
            |pieces: &[Piece]| pieces.iter().map(|piece| piece.found.len()).sum::<usize>() >= MAX_SYMBOLS;
        let mut symbols = if is_full(&self.pieces) { Effect::Everywhere } else { Effect::None };
        let mut imports = Effect::None;
        let tests_before = self.outline.tests;
        for splice in splices.into_iter().rev() {
            let new_starts: Vec<usize> = splice.new.iter().map(|found| found.start).collect();
            let mut new: Vec<Piece> =
                splice.new.into_iter().map(|found| Piece::of(found, &mut self.mentions)).collect();
            let tests: u32 = new.iter().map(|piece| piece.tests).sum();
            self.outline.tests = self.outline.tests.saturating_add(tests);
            let old = self.pieces.get(splice.old.clone()).unwrap_or_default();
            symbols = symbols.max(take_over(old, &mut new, self.shows));
            if !flat(old, |piece| &piece.imports).eq(flat(&new, |piece| &piece.imports)) {
                imports = Effect::Everywhere;
            }
            self.starts.splice(splice.old.clone(), new_starts);
            for piece in self.pieces.splice(splice.old, new) {
                self.outline.tests = self.outline.tests.saturating_sub(piece.tests);
                self.mentions.remove(&piece.mentions);
            }
        }
        if symbols == Effect::Everywhere || is_full(&self.pieces) {
            symbols = Effect::Everywhere;
            self.resolve();
        }
        if symbols != Effect::None {
            let none = Signature::of([].iter());
            self.signature =
                self.pieces.iter().filter_map(|piece| piece.signature).fold(none, Signature::join);
            self.outline.symbols = Symbols::of_parts(self.pieces.iter().map(|piece| piece.shown.clone()));
        }
        if imports != Effect::None {
            let imports = flat(&self.pieces, |piece| &piece.imports);
            self.outline.imports = first_mentions(imports.map(|import| &**import));
        }
        if symbols != Effect::None || imports != Effect::None || self.outline.tests != tests_before {
            self.block = None;
        }
        let (references, count) = self.mentions.references();
        if count > MAX_REFERENCES {
            self.outline.references = references.first(MAX_REFERENCES);
        } else if *references != self.outline.references {
            self.outline.references = references.clone();
        }
    }

    /// Recomputes which symbols are shown, at which depth, and with which instance names.
    fn resolve(&mut self) {
        let mut resolver = Resolver::default();
        let mut depths = Vec::new();
        for piece in &self.pieces {
            let mut sets = piece.instance.iter().peekable();
            for place in 0..=piece.found.len() {
                while let Some(set) = sets.next_if(|set| set.behind <= place) {
                    resolver.instance(set.owner, &set.name);
                }
                if let Some((symbol, repeat)) = piece.found.get(place).zip(piece.repeats.get(place)) {
                    depths.push(resolver.symbol(symbol, *repeat));
                }
            }
        }
        let names = resolver.into_instances();
        let names: FxHashMap<u32, Names> =
            names.into_iter().map(|(number, names)| (number, names.iter().collect())).collect();
        self.shows = if depths.contains(&None) { ShownSymbols::Some } else { ShownSymbols::All };
        let mut depths = depths.as_slice();
        let mut number = 0;
        for piece in &mut self.pieces {
            let (own, rest) = depths.split_at_checked(piece.found.len()).unwrap_or((depths, &[]));
            depths = rest;
            piece.show(own.iter().map(|depth| {
                let depth = (*depth)?;
                number += 1;
                Some((depth, names.get(&(number - 1)).cloned().unwrap_or_default()))
            }));
        }
    }
}

fn says_generated(language: LanguageId, text: &Rope) -> bool {
    let end = floor(text, generated::HEAD.min(text.len_bytes()));
    let head = text.get_byte_slice(0..end).map_or(Cow::Borrowed(""), Cow::from);
    generated::is_generated(language, &head, text.len_bytes(), text.len_lines() - 1)
}

impl Piece {
    fn of(found: WalkedPiece<'_>, mentions: &mut Mentions) -> Self {
        let Findings { symbols, instance, imports, mentions: names, tests } = found.findings;
        let reach = symbols.iter().map(|draft| draft.reach).collect();
        let repeats = symbols.iter().map(|draft| draft.repeat).collect();
        let symbols: Arc<[Symbol]> = symbols.into_iter().map(Draft::symbol).collect();
        let set = |set: Instance<'_>| Set { behind: set.behind, owner: set.owner, name: (*set.name).into() };
        Self {
            anchor: found.anchor,
            reach,
            repeats,
            shown: symbols.clone(),
            found: symbols,
            instance: instance.into_iter().map(set).collect(),
            imports: imports.into_iter().map(String::into_boxed_str).collect(),
            mentions: mentions.add(names.iter().map(|(name, usage)| (&**name, *usage))),
            tests,
            signature: None,
        }
    }

    /// Sets which symbols are shown. `how` yields, for each found symbol, its depth and the names set on its
    /// instances, or `None` to hide the symbol.
    fn show(&mut self, how: impl Iterator<Item = Option<(u32, Names)>>) {
        let how: Vec<Option<(u32, Names)>> = how.collect();
        let is_as_found = self.found.iter().zip(&how).all(|(symbol, how)| {
            how.as_ref().is_some_and(|(depth, names)| *depth == symbol.depth && names.is_empty())
        });
        let shown = if is_as_found {
            self.found.clone()
        } else {
            let symbol = |(symbol, how): (&Symbol, &Option<(u32, Names)>)| {
                let (depth, instance) = how.clone()?;
                Some(Symbol { depth, instance, ..symbol.clone() })
            };
            self.found.iter().zip(&how).filter_map(symbol).collect()
        };
        if self.signature.is_some() && (Arc::ptr_eq(&shown, &self.shown) || shown == self.shown) {
            return;
        }
        let reach = self.reach.iter().zip(&how).filter(|(_, how)| how.is_some()).map(|(reach, _)| reach);
        let visible = shown.iter().zip(reach).filter(|(_, reach)| **reach == Reach::Visible);
        self.signature = Some(Signature::of(visible.map(|(symbol, _)| symbol)));
        self.shown = shown;
    }
}

/// Carries the shown state of old symbols over to new pieces if the rest of the text cannot affect it. `shows`
/// describes the whole text.
fn take_over(old: &[Piece], new: &mut [Piece], shows: ShownSymbols) -> Effect {
    if old.iter().any(|piece| piece.shown.len() != piece.found.len()) {
        return Effect::Everywhere;
    }
    let (before, after) = (found(old), found(new));
    let same = |(a, b): &(&NamedDefinition<'_>, &NamedDefinition<'_>)| shape(a) == shape(b);
    let front = before.iter().zip(&after).take_while(same).count();
    let (before_rest, after_rest) = (before.len() - front, after.len() - front);
    let most = before_rest.min(after_rest);
    let back = before.iter().rev().zip(after.iter().rev()).take(most).take_while(same).count();
    let (gone, come) = (before_rest - back, after_rest - back);
    let (old_sets, new_sets) = (sets(old, front, gone), sets(new, front, come));
    if old_sets != new_sets {
        return Effect::Everywhere;
    }
    let was_shown: Vec<&Symbol> = flat(old, |piece| &piece.shown).collect();
    if gone + come > 0 {
        let gone_or_come = || before.iter().skip(front).take(gone).chain(after.iter().skip(front).take(come));
        let outermost = gone_or_come().map(|(symbol, _)| symbol.depth).min().unwrap_or(0);
        // The following symbols that the changed ones may have contained before or may contain now.
        let inside = || after.iter().skip(front + come).take_while(|(symbol, _)| symbol.depth > outermost);
        let repeats = gone_or_come().chain(inside()).any(|(_, repeat)| *repeat != Repeat::New);
        let reach = front..=front + inside().count();
        let owns = new_sets.iter().any(|(behind, owner, _)| reach.contains(behind) && *owner >= outermost)
            || was_shown.iter().skip(front).take(gone).any(|symbol| !symbol.instance.is_empty());
        if repeats || owns || (shows == ShownSymbols::Some && outermost > 0) {
            return Effect::Everywhere;
        }
    }
    let carried = |symbol: &&Symbol| (symbol.depth, symbol.instance.clone());
    let fresh = |(symbol, _): &NamedDefinition<'_>| (symbol.depth, Names::default());
    let how: Vec<(u32, Names)> = was_shown
        .iter()
        .take(front)
        .map(carried)
        .chain(after.iter().skip(front).take(come).map(fresh))
        .chain(was_shown.iter().skip(front + gone).map(carried))
        .collect();
    let mut how = how.into_iter();
    for piece in &mut *new {
        let count = piece.found.len();
        piece.show(how.by_ref().take(count).map(Some));
    }
    let is_same = flat(new, |piece| &piece.shown).eq(was_shown)
        && flat(new, |piece| &piece.reach).eq(flat(old, |piece| &piece.reach));
    if is_same { Effect::None } else { Effect::Here }
}

/// Returns the names set on instances, each with the number of preceding symbols and the level of its owner. Symbols
/// are counted as if the `many` symbols after the first `front` were absent.
fn sets(pieces: &[Piece], front: usize, many: usize) -> Vec<(usize, u32, &str)> {
    let mut found = Vec::new();
    let mut symbols = 0;
    for piece in pieces {
        found.extend(piece.instance.iter().map(|set| {
            let behind = symbols + set.behind;
            let without = if behind > front { behind.saturating_sub(many).max(front) } else { behind };
            (without, set.owner, &*set.name)
        }));
        symbols += piece.found.len();
    }
    found
}

/// A symbol as found, and how it relates to earlier definitions.
type NamedDefinition<'a> = (&'a Symbol, Repeat);

fn found(pieces: &[Piece]) -> Vec<NamedDefinition<'_>> {
    pieces.iter().flat_map(|piece| piece.found.iter().zip(piece.repeats.iter().copied())).collect()
}

/// Container and name of a definition that may be repeated, with its number of parts.
type RepeatedName<'a> = (&'a str, &'a str, Option<usize>);

/// Returns the properties of a symbol that affect how other symbols are shown.
fn shape<'a>(&(symbol, repeat): &NamedDefinition<'a>) -> (u32, Option<RepeatedName<'a>>) {
    let same = match repeat {
        Repeat::New => None,
        Repeat::Same { parts } => Some((&*symbol.container, &*symbol.name, parts)),
    };
    (symbol.depth, same)
}

/// Iterates over one field of all pieces.
fn flat<'a, T: 'a>(pieces: &'a [Piece], part: impl Fn(&'a Piece) -> &'a [T]) -> impl Iterator<Item = &'a T> {
    pieces.iter().flat_map(part)
}

#[cfg(test)]
mod tests {
    use super::super::parse_rope;
    use super::*;

    /// Wherever the new pieces start, the walk gets back in step with the old ones.
    #[test]
    fn what_is_walked_again_does_not_grow_with_the_text() {
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
            let old: Vec<Arc<[Symbol]>> = live.pieces.iter().map(|piece| piece.found.clone()).collect();
            let at = source.find("fn function_50(").unwrap();
            let fresh = format!("fn fresh() {{ {} }}\n", "y".repeat(length));
            let edit = TreeEdit::in_rope(&text, at..at, &fresh);
            text.insert(text.byte_to_char(at), &fresh);
            before.edit(&edit);
            let now = parse_rope(rust, &text, Some(&before), &Cancel::new()).unwrap();
            live.refresh(&now, &text, &[edit], &Cancel::new()).unwrap();
            let is_new = |piece: &&Piece| !old.iter().any(|old| Arc::ptr_eq(old, &piece.found));
            let walked = live.pieces.iter().filter(is_new).count();
            assert!((1..=5).contains(&walked), "{walked} of {} pieces, {length}", live.pieces.len());
        }
    }
}
