//! Resolves mentioned names through imports: to the imported file if it defines the name, or to the file from which it
//! re-exports the name.

use super::model::{FileRelations, ResolvedMention};
use super::names::DefinitionScope;

/// Maximum number of re-exports to follow. More than one is needed because a package's entry may re-export from another
/// entry.
const MAX_REEXPORTS: u8 = 3;

/// The files among which names are resolved.
#[derive(Clone, Copy)]
pub(super) struct ResolutionFiles<'a> {
    /// Data about each file, indexed by file number.
    pub(super) parts: &'a [&'a FileRelations],
    /// Whether a file represents its directory, such as `__init__.py`, and may re-export everything it imports.
    pub(super) is_entry: &'a dyn Fn(u32) -> bool,
}

/// State of each name while one file is processed. Allocated once and reused for all files.
pub(super) struct NameStateTable(Vec<NameResolutionState>);

#[derive(Clone, Copy, Default)]
struct NameResolutionState {
    /// Number of the file that mentions the name, plus one; 0 if the name has not been marked yet.
    file: u32,
    /// Where the mentioning file itself defines the name; `None` if it does not.
    own_scope: Option<DefinitionScope>,
    is_resolved: bool,
}

impl NameStateTable {
    pub(super) fn new(names: usize) -> Self {
        Self(vec![NameResolutionState::default(); names])
    }

    /// Marks the names that a file mentions, and those that are already resolved.
    fn mark_mentioned_names(&mut self, file: u32, parts: &FileRelations, known_pins: &[ResolvedMention]) {
        for &name in &parts.mentions {
            if let Some(mark) = self.0.get_mut(name as usize) {
                *mark = NameResolutionState { file: file + 1, own_scope: None, is_resolved: false };
            }
        }
        for definition in &parts.defines {
            if let Some(mark) = self.0.get_mut(definition.name as usize) {
                mark.own_scope = (mark.file == file + 1).then_some(definition.scope);
            }
        }
        for pin in known_pins {
            if let Some(mark) = self.0.get_mut(pin.name as usize) {
                mark.is_resolved = true;
            }
        }
    }

    /// Whether a file still needs a definition of a name in `scope`: it mentions the name, no import has resolved it
    /// yet, and its own definition, if any, ranks below `scope`.
    fn needs_definition(&self, file: u32, name: u32, scope: DefinitionScope) -> bool {
        self.0.get(name as usize).is_some_and(|mark| {
            mark.file == file + 1
                && !mark.is_resolved
                && mark.own_scope.is_none_or(|own_scope| own_scope < scope)
        })
    }
}

/// Computes the pins of every file: for each name that it mentions, the files that its imports lead to.
pub(super) fn resolve_all_mentions(
    scope: ResolutionFiles<'_>,
    marks: &mut NameStateTable,
) -> Vec<Box<[ResolvedMention]>> {
    let mut pins: Vec<Box<[ResolvedMention]>> = vec![Box::default(); scope.parts.len()];
    for round in 0..=MAX_REEXPORTS {
        let mut changed = false;
        for file in (0_u32..).take(scope.parts.len()) {
            let pins_of = |file: u32| pins.get(file as usize).map_or(&[][..], |pins| pins);
            let known_pins = pins_of(file);
            let mut new_pins = resolve_mentions_in_round(scope, marks, file, round, known_pins, &pins_of);
            if !new_pins.is_empty() {
                new_pins.extend_from_slice(known_pins);
                new_pins.sort_unstable();
                if let Some(slot) = pins.get_mut(file as usize) {
                    *slot = new_pins.into();
                }
                changed = true;
            }
        }
        if !changed && round > 0 {
            break;
        }
    }
    pins
}

/// Computes the pins of one file, given the pins of all others.
pub(super) fn resolve_file_mentions<'p>(
    scope: ResolutionFiles<'_>,
    marks: &mut NameStateTable,
    file: u32,
    others: &dyn Fn(u32) -> &'p [ResolvedMention],
) -> Box<[ResolvedMention]> {
    let mut pins: Vec<ResolvedMention> = Vec::new();
    for round in 0..=MAX_REEXPORTS {
        let new = resolve_mentions_in_round(scope, marks, file, round, &pins, others);
        pins.extend(new);
    }
    pins.sort_unstable();
    pins.into()
}

/// Returns the pins that a round adds for a file, based on the results of the previous rounds.
fn resolve_mentions_in_round<'p>(
    scope: ResolutionFiles<'_>,
    marks: &mut NameStateTable,
    file: u32,
    round: u8,
    known_pins: &[ResolvedMention],
    pins: &dyn Fn(u32) -> &'p [ResolvedMention],
) -> Vec<ResolvedMention> {
    let mut pins_found = Vec::new();
    let part = |file: u32| scope.parts.get(file as usize).copied();
    let Some(parts) = part(file).filter(|parts| !parts.imports.is_empty()) else { return pins_found };
    marks.mark_mentioned_names(file, parts, known_pins);
    let add_definitions = |target: u32, pins_found: &mut Vec<ResolvedMention>| {
        for definition in part(target).into_iter().flat_map(|target| &target.defines) {
            if marks.needs_definition(file, definition.name, definition.scope) {
                pins_found.push(ResolvedMention { name: definition.name, file: target, round });
            }
        }
    };
    for import in &parts.imports {
        if round == 0 {
            add_definitions(import.file, &mut pins_found);
            continue;
        }
        // Add names that the imported file itself imports by name.
        for pin in pins(import.file).iter().filter(|pin| pin.round < round && pin.file != file) {
            if marks.needs_definition(file, pin.name, DefinitionScope::Outer) {
                pins_found.push(ResolvedMention { round, ..*pin });
            }
        }
        // Add definitions in the files that an entry file imports, since it may re-export them as a whole.
        if round == 1 && (scope.is_entry)(import.file) {
            let re_exported = part(import.file).into_iter().flat_map(|imported| &imported.imports);
            re_exported
                .filter(|re_exported| re_exported.file != file)
                .for_each(|re_exported| add_definitions(re_exported.file, &mut pins_found));
        }
    }
    pins_found.sort_unstable();
    pins_found.dedup();
    pins_found
}
