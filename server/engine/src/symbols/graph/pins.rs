//! Which file a mentioned name means because of the imports: the imported file when it defines the name, or
//! the file that the imported one has it from.

use super::Pin;
use super::links::Draft;
use super::names::Place;

/// Over how many files in between a name is followed: a package's entry may take it from another entry.
const REEXPORTS: usize = 3;

/// A name in a file that imports something: whether it is mentioned there, and defined.
#[derive(Clone, Copy, Default)]
struct Mark {
    /// The number of the file plus one.
    file: u32,
    own: Option<Place>,
    /// How far away what it means was found.
    round: u8,
}

/// The pins of every file; `entries` says whether a file stands for its directory.
pub(super) fn pins(drafts: &[Draft], names: usize, is_entry: impl Fn(u32) -> bool) -> Vec<Box<[Pin]>> {
    let mut marks = vec![Mark::default(); names];
    let mut pins: Vec<Box<[Pin]>> = vec![Box::default(); drafts.len()];
    for round in 0..=REEXPORTS {
        let before = pins.clone();
        let mut changed = false;
        for (file, draft) in (0_u32..).zip(drafts) {
            if draft.imports.is_empty() {
                continue;
            }
            let Some(known) = before.get(file as usize) else { continue };
            mark(&mut marks, file, draft, known);
            let mut found = Vec::new();
            for import in &draft.imports {
                let Some(imported) = drafts.get(import.file as usize) else { continue };
                if round == 0 {
                    direct(&marks, file, import.file, imported, &mut found);
                    continue;
                }
                // What the imported file has from elsewhere, because it says so by name.
                let handed = before.get(import.file as usize).into_iter().flat_map(|pins| pins.iter());
                found.extend(handed.filter(|pin| pin.file != file && wants(&marks, file, pin.name, None)));
                // Or because it hands on all of something.
                if round == 1 && is_entry(import.file) {
                    for handed in imported.imports.iter().filter(|handed| handed.file != file) {
                        if let Some(behind) = drafts.get(handed.file as usize) {
                            direct(&marks, file, handed.file, behind, &mut found);
                        }
                    }
                }
            }
            if !found.is_empty() {
                found.extend(known.iter().copied());
                found.sort_unstable();
                found.dedup();
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

/// Marks what a file mentions, and what of it is explained.
fn mark(marks: &mut [Mark], file: u32, draft: &Draft, known: &[Pin]) {
    for &name in &draft.mentions {
        if let Some(mark) = marks.get_mut(name as usize) {
            *mark = Mark { file: file + 1, own: None, round: 0 };
        }
    }
    for definition in &draft.defines {
        if let Some(mark) = marks.get_mut(definition.name as usize).filter(|mark| mark.file == file + 1) {
            mark.own = Some(definition.place);
        }
    }
    for pin in known {
        if let Some(mark) = marks.get_mut(pin.name as usize) {
            mark.round = 1;
        }
    }
}

/// Whether a file looks for what a name means: it mentions it, nothing explains it yet, and it has no
/// definition of its own that is as good as one in `place`.
fn wants(marks: &[Mark], file: u32, name: u32, place: Option<Place>) -> bool {
    marks.get(name as usize).is_some_and(|mark| {
        mark.file == file + 1 && mark.round == 0 && mark.own.is_none_or(|own| Some(own) < place)
    })
}

fn direct(marks: &[Mark], file: u32, target: u32, imported: &Draft, found: &mut Vec<Pin>) {
    for definition in &imported.defines {
        if wants(marks, file, definition.name, Some(definition.place)) {
            found.push(Pin { name: definition.name, file: target });
        }
    }
}
