//! Resolves mentioned names through imports: to the imported file if it defines the name, or to the file from which it
//! re-exports the name.

use super::model::{Parts, Pin};
use super::names::DefinitionScope;

/// Maximum number of re-exports to follow. More than one is needed because a package's entry may re-export from another
/// entry.
const REEXPORTS: u8 = 3;

/// The files among which names are resolved.
#[derive(Clone, Copy)]
pub(super) struct FileScope<'a> {
    /// Data about each file, indexed by file number.
    pub(super) parts: &'a [&'a Parts],
    /// Whether a file represents its directory, such as `__init__.py`, and may re-export everything it imports.
    pub(super) is_entry: &'a dyn Fn(u32) -> bool,
}

/// State of each name while one file is processed. Allocated once and reused for all files.
pub(super) struct Marks(Vec<Mark>);

#[derive(Clone, Copy, Default)]
struct Mark {
    /// Number of the file that mentions the name, plus one; 0 if the name has not been marked yet.
    file: u32,
    /// Where the mentioning file itself defines the name; `None` if it does not.
    own: Option<DefinitionScope>,
    explained: bool,
}

impl Marks {
    pub(super) fn new(names: usize) -> Self {
        Self(vec![Mark::default(); names])
    }

    /// Marks the names that a file mentions, and those that are already resolved.
    fn set(&mut self, file: u32, parts: &Parts, known: &[Pin]) {
        for &name in &parts.mentions {
            if let Some(mark) = self.0.get_mut(name as usize) {
                *mark = Mark { file: file + 1, own: None, explained: false };
            }
        }
        for definition in &parts.defines {
            if let Some(mark) = self.0.get_mut(definition.name as usize) {
                mark.own = (mark.file == file + 1).then_some(definition.place);
            }
        }
        for pin in known {
            if let Some(mark) = self.0.get_mut(pin.name as usize) {
                mark.explained = true;
            }
        }
    }

    /// Whether a file still needs a definition of a name in `place`: it mentions the name, no import has resolved it
    /// yet, and its own definition, if any, ranks below `place`.
    fn wants(&self, file: u32, name: u32, place: DefinitionScope) -> bool {
        self.0.get(name as usize).is_some_and(|mark| {
            mark.file == file + 1 && !mark.explained && mark.own.is_none_or(|own| own < place)
        })
    }
}

/// Computes the pins of every file: for each name that it mentions, the files that its imports lead to.
pub(super) fn of_all(among: FileScope<'_>, marks: &mut Marks) -> Vec<Box<[Pin]>> {
    let mut pins: Vec<Box<[Pin]>> = vec![Box::default(); among.parts.len()];
    for round in 0..=REEXPORTS {
        let mut changed = false;
        for file in (0_u32..).take(among.parts.len()) {
            let of = |file: u32| pins.get(file as usize).map_or(&[][..], |pins| pins);
            let known = of(file);
            let mut found = found(among, marks, file, round, known, &of);
            if !found.is_empty() {
                found.extend_from_slice(known);
                found.sort_unstable();
                if let Some(slot) = pins.get_mut(file as usize) {
                    *slot = found.into();
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
pub(super) fn of_one<'p>(
    among: FileScope<'_>,
    marks: &mut Marks,
    file: u32,
    others: &dyn Fn(u32) -> &'p [Pin],
) -> Box<[Pin]> {
    let mut pins: Vec<Pin> = Vec::new();
    for round in 0..=REEXPORTS {
        let more = found(among, marks, file, round, &pins, others);
        pins.extend(more);
    }
    pins.sort_unstable();
    pins.into()
}

/// Returns the pins that a round adds for a file, based on the results of the previous rounds.
fn found<'p>(
    among: FileScope<'_>,
    marks: &mut Marks,
    file: u32,
    round: u8,
    known: &[Pin],
    pins: &dyn Fn(u32) -> &'p [Pin],
) -> Vec<Pin> {
    let mut found = Vec::new();
    let part = |file: u32| among.parts.get(file as usize).copied();
    let Some(own) = part(file).filter(|own| !own.imports.is_empty()) else { return found };
    marks.set(file, own, known);
    let direct = |target: u32, found: &mut Vec<Pin>| {
        for definition in part(target).into_iter().flat_map(|target| &target.defines) {
            if marks.wants(file, definition.name, definition.place) {
                found.push(Pin { name: definition.name, file: target, round });
            }
        }
    };
    for import in &own.imports {
        if round == 0 {
            direct(import.file, &mut found);
            continue;
        }
        // Add names that the imported file itself imports by name.
        for pin in pins(import.file).iter().filter(|pin| pin.round < round && pin.file != file) {
            if marks.wants(file, pin.name, DefinitionScope::Outer) {
                found.push(Pin { round, ..*pin });
            }
        }
        // Add definitions in the files that an entry file imports, since it may re-export them as a whole.
        if round == 1 && (among.is_entry)(import.file) {
            let handed = part(import.file).into_iter().flat_map(|imported| &imported.imports);
            handed.filter(|handed| handed.file != file).for_each(|handed| direct(handed.file, &mut found));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
