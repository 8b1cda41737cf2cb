//! Numbers the names that files export, and records which files define them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::symbols::index::FileSymbols;

/// Minimum length of a tracked name, in bytes.
const MIN_TRACKED_NAME_BYTES: usize = 3;

/// Where in a file a name is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DefinitionScope {
    /// Only inside types. A mention is usually a call on a value whose type is unknown.
    Member,
    /// Outside any type.
    Outer,
}

/// A file that defines a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Definer {
    pub(super) file: u32,
    pub(super) scope: DefinitionScope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ExportedDefinition {
    pub(super) name: u32,
    pub(super) scope: DefinitionScope,
}

/// The exported names of all files, separated by language family.
#[derive(Clone, Debug, Default)]
pub(super) struct NameTable {
    families: Vec<(&'static str, FxHashMap<Arc<str>, u32>)>,
    texts: Vec<Arc<str>>,
    /// Index in `definers` at which each name's definers start.
    starts: Vec<u32>,
    /// Definers grouped by name; definitions outside types first, then by file.
    definers: Vec<Definer>,
}

impl NameTable {
    /// Returns the names that a file exports, sorted, without duplicates. Assigns IDs to new names.
    pub(super) fn intern_definitions(&mut self, file: &FileSymbols) -> Box<[ExportedDefinition]> {
        let family = self.intern_family(file.language.family);
        let Some((_, ids)) = self.families.get_mut(family) else { return Box::default() };
        let mut names = Vec::new();
        for (text, scope) in exported_definitions(file) {
            let name = match ids.get(text) {
                Some(&name) => name,
                None => {
                    let name = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
                    let text: Arc<str> = text.into();
                    self.texts.push(Arc::clone(&text));
                    ids.insert(text, name);
                    name
                }
            };
            names.push(ExportedDefinition { name, scope });
        }
        sort_and_dedup(names)
    }

    /// Returns the names that a file exports, like [`intern_definitions`](Self::intern_definitions), or `None` if one
    /// of them has no ID yet.
    pub(super) fn known_definitions(&self, file: &FileSymbols) -> Option<Box<[ExportedDefinition]>> {
        let family = file.language.family;
        let ids = &self.families.iter().find(|(name, _)| *name == family)?.1;
        let names: Option<Vec<ExportedDefinition>> = exported_definitions(file)
            .map(|(text, scope)| Some(ExportedDefinition { name: *ids.get(text)?, scope }))
            .collect();
        names.map(sort_and_dedup)
    }

    /// Records which files define each name. `by_file` must be in the order of file numbers.
    pub(super) fn index_definers<'a>(
        &mut self,
        by_file: impl Iterator<Item = &'a [ExportedDefinition]> + Clone,
    ) {
        let mut starts = vec![0_u32; self.texts.len() + 1];
        for definition in by_file.clone().flatten() {
            if let Some(count) = starts.get_mut(definition.name as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut definers = vec![Definer { file: 0, scope: DefinitionScope::Member }; sum as usize];
        for (file, definitions) in (0_u32..).zip(by_file) {
            for definition in definitions {
                let Some(index) = next.get_mut(definition.name as usize) else { continue };
                if let Some(slot) = definers.get_mut(*index as usize) {
                    *slot = Definer { file, scope: definition.scope };
                }
                *index += 1;
            }
        }
        for (&start_index, &end_index) in starts.iter().zip(starts.iter().skip(1)) {
            if let Some(definers) = definers.get_mut(start_index as usize..end_index as usize) {
                definers.sort_by_key(|definer| definer.scope != DefinitionScope::Outer);
            }
        }
        self.starts = starts;
        self.definers = definers;
    }

    /// Returns the names that a file mentions and that some file of its language family defines, sorted.
    pub(super) fn mentioned_names(&self, file: &FileSymbols) -> Box<[u32]> {
        let family = file.language.family;
        let Some((_, ids)) = self.families.iter().find(|(name, _)| *name == family) else {
            return Box::default();
        };
        let mut names: Vec<u32> =
            file.outline.references.iter().filter_map(|name| ids.get(name).copied()).collect();
        names.sort_unstable();
        names.into()
    }

    /// Returns the ID of a name in a language family, or `None` if the name is not tracked.
    pub(super) fn name_id(&self, family: &str, text: &str) -> Option<u32> {
        self.families.iter().find(|(name, _)| *name == family)?.1.get(text).copied()
    }

    /// Returns the IDs of a name, one for each language family that defines it.
    pub(super) fn name_ids(&self, text: &str) -> Vec<u32> {
        self.families.iter().filter_map(|(_, ids)| ids.get(text).copied()).collect()
    }

    /// Returns the spelling of the name with this ID.
    pub(super) fn text(&self, name: u32) -> Option<&str> {
        self.texts.get(name as usize).map(|text| &**text)
    }

    /// Returns all names with their IDs.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        (0_u32..).zip(&self.texts).map(|(name, text)| (name, &**text))
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns the files that define a name, with definitions outside types first, then by file number.
    pub(super) fn definers(&self, name: u32) -> &[Definer] {
        let index = name as usize;
        let (Some(&start), Some(&end)) = (self.starts.get(index), self.starts.get(index + 1)) else {
            return &[];
        };
        self.definers.get(start as usize..end as usize).unwrap_or_default()
    }

    fn intern_family(&mut self, family: &'static str) -> usize {
        self.families.iter().position(|(name, _)| *name == family).unwrap_or_else(|| {
            self.families.push((family, FxHashMap::default()));
            self.families.len() - 1
        })
    }
}

/// Returns the exported definitions of a file, in outline order.
fn exported_definitions(file: &FileSymbols) -> impl Iterator<Item = (&str, DefinitionScope)> {
    let language = file.language;
    let symbols = file.outline.visible_symbols().filter(|symbol| symbol.kind.is_referable());
    let named = symbols.filter(move |symbol| {
        symbol.name.len() >= MIN_TRACKED_NAME_BYTES && !language.is_builtin(&symbol.name)
    });
    named.map(|symbol| {
        (&*symbol.name, if symbol.depth == 0 { DefinitionScope::Outer } else { DefinitionScope::Member })
    })
}

/// Sorts definitions by name. Of duplicates, keeps the definition outside types.
fn sort_and_dedup(mut definitions: Vec<ExportedDefinition>) -> Box<[ExportedDefinition]> {
    definitions.sort_unstable_by(|a, b| a.name.cmp(&b.name).then_with(|| b.scope.cmp(&a.scope)));
    definitions.dedup_by_key(|definition| definition.name);
    definitions.into()
}
