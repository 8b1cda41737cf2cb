//! Combines the pieces of a walk: keeps the first of repeated definitions, moves names set on an instance to
//! its type, removes duplicate imports and mentions, and enforces limits.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use strata_grammars::LanguageId;

use super::extract::{InstanceNameDraft, MAX_ATTRIBUTES_PER_SYMBOL, Redefinition, SymbolDraft, WalkFindings};
use super::tables::usage;
use super::{MAX_IMPORTS, MAX_REFERENCES, MAX_SYMBOLS, NameList, Outline, Symbol, UnparsedLines};

/// A symbol with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedSymbol {
    /// Index among the symbols of the file's [`Outline`].
    pub index: usize,
    pub symbol: Symbol,
    /// Byte range of the definition, including its body and the clauses that follow it directly, but not the
    /// decorators around it.
    pub range: Range<usize>,
    /// Byte ranges of further clauses of the definition that do not follow it directly.
    pub clauses: Vec<Range<usize>>,
    /// Byte range of the name. Usually inside `range`, but some languages put the name elsewhere.
    pub name_range: Range<usize>,
}

/// Builds the outline of a text that was walked in one piece.
pub(super) fn build_outline(language: LanguageId, findings: WalkFindings<'_>) -> Outline {
    let WalkFindings { symbols, instance, imports, mentions, tests } = findings;
    let mut references: Vec<&str> = mentions
        .iter()
        .filter(|(name, usage)| is_reference(**usage) && !language.is_builtin(name))
        .map(|(name, _)| &**name)
        .collect();
    references.sort_unstable();
    references.truncate(MAX_REFERENCES);
    Outline {
        symbols: select_symbols(symbols, &instance).shown.into_iter().map(|(_, symbol)| symbol).collect(),
        imports: distinct_imports(imports.iter().map(String::as_str)),
        references: references.iter().collect(),
        tests,
        generated: false,
        unparsed: None,
        unparsed_lines: UnparsedLines::default(),
    }
}

/// Returns the symbols of [`build_outline`] with their positions.
pub(super) fn located_symbols(findings: WalkFindings<'_>) -> Vec<LocatedSymbol> {
    let WalkFindings { symbols: drafts, instance, .. } = findings;
    let ranges = |draft: &SymbolDraft<'_>| (draft.range.clone(), draft.name_range.clone());
    let draft_ranges: Vec<_> = drafts.iter().map(ranges).collect();
    let levels: Vec<u32> = drafts.iter().map(|draft| draft.level).collect();
    let SelectedSymbols { shown, clauses } = select_symbols(drafts, &instance);
    let mut located: Vec<LocatedSymbol> = Vec::with_capacity(shown.len());
    // Index in `located` of each draft that is shown.
    let mut indices: FxHashMap<usize, usize> = FxHashMap::default();
    for (draft, symbol) in shown {
        let Some((range, name_range)) = draft_ranges.get(draft).cloned() else { continue };
        let index = located.len();
        indices.insert(draft, index);
        located.push(LocatedSymbol { index, symbol, range, clauses: Vec::new(), name_range });
    }
    // The last clause so far of each definition that has several.
    let mut latest: FxHashMap<usize, usize> = FxHashMap::default();
    for DefinitionClause { draft, definition } in clauses {
        let previous = latest.insert(definition, draft).unwrap_or(definition);
        let level = levels.get(draft);
        let mut drafts_between =
            levels.get(previous + 1..draft).unwrap_or_default().iter().zip(previous + 1..draft);
        let follows = !drafts_between.any(|(other, other_draft)| {
            level.is_some_and(|level| other <= level) && indices.contains_key(&other_draft)
        });
        let located_definition = indices.get(&definition).and_then(|index| located.get_mut(*index));
        let Some((located_definition, (range, _))) = located_definition.zip(draft_ranges.get(draft)) else {
            continue;
        };
        let last = located_definition.clauses.last_mut().unwrap_or(&mut located_definition.range);
        match follows {
            true => last.end = last.end.max(range.end),
            false => located_definition.clauses.push(range.clone()),
        }
    }
    located
}

/// The symbols that are shown, each with its index among all drafts, and the clauses that are not shown.
struct SelectedSymbols {
    shown: Vec<(usize, Symbol)>,
    clauses: Vec<DefinitionClause>,
}

/// A draft that is another clause of an earlier definition.
#[derive(Clone, Copy)]
struct DefinitionClause {
    /// Index of the clause among all drafts.
    draft: usize,
    /// Index of the definition among all drafts.
    definition: usize,
}

fn select_symbols(drafts: Vec<SymbolDraft<'_>>, instance: &[InstanceNameDraft<'_>]) -> SelectedSymbols {
    let repeats: Vec<Redefinition> = drafts.iter().map(|draft| draft.repeat).collect();
    let symbols: Vec<Symbol> = drafts.into_iter().map(SymbolDraft::into_symbol).collect();
    let mut resolver = SymbolSelector::default();
    let mut instance = instance.iter().peekable();
    let mut depths = Vec::with_capacity(symbols.len());
    let mut clauses = Vec::new();
    for index in 0..=symbols.len() {
        while let Some(set) = instance.next_if(|set| set.preceding_symbols <= index) {
            resolver.add_instance_name(set.owner, &set.name);
        }
        if let Some((symbol, repeat)) = symbols.get(index).zip(repeats.get(index)) {
            depths.push(resolver.visible_depth(symbol, *repeat));
            let is_clause = matches!(repeat, Redefinition::Same { parts: Some(_) });
            clauses.extend(
                resolver
                    .repeats
                    .filter(|_| is_clause)
                    .map(|definition| DefinitionClause { draft: index, definition }),
            );
        }
    }
    let names = resolver.into_instance_names().into_iter();
    let mut names: FxHashMap<u32, NameList> =
        names.map(|(number, names)| (number, names.iter().collect())).collect();
    let mut number = 0;
    let shown = |(index, (mut symbol, depth)): (usize, (Symbol, Option<u32>))| {
        symbol.depth = depth?;
        if let Some(names) = names.remove(&number) {
            symbol.instance = names;
        }
        number += 1;
        Some((index, symbol))
    };
    let shown = symbols.into_iter().zip(depths).enumerate().filter_map(shown).collect();
    SelectedSymbols { shown, clauses }
}

/// Removes duplicate imports and keeps at most [`MAX_IMPORTS`].
pub(super) fn distinct_imports<'a>(imports: impl Iterator<Item = &'a str>) -> NameList {
    let mut known_names = FxHashSet::default();
    imports.filter(|import| known_names.insert(*import)).take(MAX_IMPORTS).collect()
}

/// Whether a name with these `usage` bits may be defined elsewhere.
pub(super) fn is_reference(usage: u8) -> bool {
    usage & usage::MEMBER_USAGE != 0 || usage == usage::UNCLASSIFIED_USAGE
}

/// Decides which definitions are shown. Definitions must be passed in source order.
#[derive(Default)]
pub(super) struct SymbolSelector<'a> {
    /// The definitions that contain the current position, by level.
    enclosing: Vec<EnclosingDefinition>,
    shown: u32,
    /// Repeatable definitions already seen, identified by the visible definition that contains them, by name,
    /// its container, and by number of parts. Each with its index among all processed definitions.
    first_definitions: FxHashMap<RedefinitionKey<'a>, usize>,
    /// Number of definitions processed.
    processed: usize,
    /// Index, among all processed definitions, of the one that the last one repeats.
    repeats: Option<usize>,
    /// Names set on instances, keyed by the index of their type among the shown definitions.
    instances: FxHashMap<u32, Vec<&'a str>>,
    known_names: FxHashSet<(u32, &'a str)>,
}

/// Identifies a definition that may be repeated: the shown definition around it, its container and name, its number of
/// parts.
type RedefinitionKey<'a> = (Option<u32>, &'a str, &'a str, Option<usize>);

/// A definition that contains the current position.
#[derive(Clone, Copy)]
struct EnclosingDefinition {
    /// Index of the definition among the shown ones; `None` if it is hidden.
    number: Option<u32>,
    /// Index, among the shown definitions, of this one or else of the innermost one that contains it.
    nearest: Option<u32>,
    /// Number of shown definitions from the outermost to this one.
    depth: u32,
    /// Whether everything inside the definition is hidden, because the definition repeats an earlier one.
    hides: bool,
}

impl<'a> SymbolSelector<'a> {
    /// Processes the next definition, whose `depth` is its level. Returns its depth among shown definitions, or `None`
    /// if it is hidden.
    pub(super) fn visible_depth(&mut self, symbol: &'a Symbol, repeat: Redefinition) -> Option<u32> {
        self.enclosing.truncate(usize::try_from(symbol.depth).unwrap_or(usize::MAX));
        let (nearest, depth, hidden) = self
            .enclosing
            .last()
            .map_or((None, 0, false), |enclosing| (enclosing.nearest, enclosing.depth, enclosing.hides));
        let is_full = usize::try_from(self.shown).is_ok_and(|shown| shown >= MAX_SYMBOLS);
        let index = self.processed;
        self.processed += 1;
        self.repeats = match repeat {
            Redefinition::Same { parts } if !hidden => {
                let key = (nearest, &*symbol.container, &*symbol.name, parts);
                let first = *self.first_definitions.entry(key).or_insert(index);
                (first != index).then_some(first)
            }
            Redefinition::Same { .. } | Redefinition::New => None,
        };
        let hides = hidden || self.repeats.is_some();
        if is_full || hides {
            self.enclosing.push(EnclosingDefinition { number: None, nearest, depth, hides });
            return None;
        }
        let number = Some(self.shown);
        self.enclosing.push(EnclosingDefinition { number, nearest: number, depth: depth + 1, hides: false });
        self.shown += 1;
        Some(depth)
    }

    /// Records a name set on an instance of the enclosing type at level `owner`.
    pub(super) fn add_instance_name(&mut self, owner: u32, name: &'a str) {
        let enclosing = usize::try_from(owner).ok().and_then(|owner| self.enclosing.get(owner));
        let Some(owner) = enclosing.and_then(|enclosing| enclosing.number) else { return };
        if self.known_names.insert((owner, name)) {
            let names = self.instances.entry(owner).or_default();
            if names.len() < MAX_ATTRIBUTES_PER_SYMBOL {
                names.push(name);
            }
        }
    }

    /// Returns the names set on instances, keyed by the index of their type among the shown definitions.
    pub(super) fn into_instance_names(self) -> FxHashMap<u32, Vec<&'a str>> {
        self.instances
    }
}
