//! The definitions whose references are searched for, and whether a mention refers to one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_grammars::LanguageId;

use super::meaning::{DefinitionId, Meanings, Value};
use super::report::{Confidence, FoundDefinition, line_of, line_text};
use super::scopes::{FileNames, ScopeKind};
use crate::outline::{self, QualifiedNames, SymbolKind};

/// Selects definitions by file, names of enclosing types, and identity.
pub(super) type DefinitionFilter<'m> = dyn Fn(&FileKey, &[&str], Option<DefinitionId>) -> bool + 'm;

/// The definitions whose references are searched for.
#[derive(Default)]
pub(super) struct Wanted {
    pub(super) definitions: Vec<FoundDefinition>,
    pub(super) languages: BTreeSet<LanguageId>,
    pub(super) ids: BTreeSet<DefinitionId>,
    /// Index in `definitions`, keyed by identity.
    places: BTreeMap<DefinitionId, usize>,
    /// All members with the name, each with the type that contains it.
    members: BTreeMap<DefinitionId, DefinitionId>,
    /// Whether one of the definitions is a member of a type.
    pub(super) has_member: bool,
}

impl Wanted {
    /// Adds the definitions of a name in all files.
    pub(super) fn define_all(
        &mut self,
        meanings: &Meanings<'_>,
        name: &str,
        means: &DefinitionFilter<'_>,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let code = meanings.sources.index.iter().filter(|(_, file)| !file.language.is_document());
        for (key, file) in code {
            let mut symbols = file.outline.symbols.iter();
            let defines = symbols.any(|symbol| {
                *symbol.name == *name || symbol.instance.iter().any(|instance| instance == name)
            });
            if defines {
                self.define(meanings, key, name, means, cancel)?;
            }
        }
        Ok(())
    }

    /// Adds the definitions of a name in one file.
    fn define(
        &mut self,
        meanings: &Meanings<'_>,
        key: &FileKey,
        name: &str,
        means: &DefinitionFilter<'_>,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let Some((text, tree)) = meanings.parsed(key)? else { return Ok(()) };
        let places = outline::located(&tree, &text, cancel)?;
        let names = meanings.number(key).and_then(|number| Some((number, meanings.file(number)?)));
        let mut found: Vec<FoundDefinition> = Vec::new();
        match names {
            Some((number, names)) => {
                let groups = names.groups.iter().enumerate();
                let groups = groups.filter(|(_, group)| *group.name == *name);
                for (at, group) in groups.filter(|(_, group)| names.is_definition(group)) {
                    let id = DefinitionId { file: number, group: at };
                    let container = names.container(group);
                    let is_member = names.scopes.get(group.scope).is_some_and(|s| s.kind == ScopeKind::Type);
                    let around =
                        group.bindings.first().and_then(|binding| names.type_around(binding.name.start));
                    if let Some(around) = around.filter(|_| is_member) {
                        self.members.insert(id, DefinitionId { file: number, group: around });
                    }
                    let Some(binding) = group.bindings.iter().find(|binding| binding.import.is_none()) else {
                        continue;
                    };
                    if !means(key, &container, Some(id)) {
                        continue;
                    }
                    self.ids.insert(id);
                    self.places.insert(id, self.definitions.len() + found.len());
                    self.has_member |= is_member;
                    let symbol = places.iter().find(|place| place.name_range == binding.name);
                    let container = container.into_iter().map(str::to_owned).collect();
                    found.push(FoundDefinition {
                        file: key.clone(),
                        line: line_of(&text, binding.name.start),
                        range: binding.name.clone(),
                        container,
                        head: symbol
                            .map_or_else(|| line_text(&text, binding.name.start), |s| s.symbol.head.clone()),
                        kind: symbol.map(|place| place.symbol.kind),
                    });
                }
            }
            None => {
                let mut around = QualifiedNames::default();
                for place in &places {
                    let symbol = &place.symbol;
                    around.enter(symbol);
                    if *symbol.name != *name || symbol.kind == SymbolKind::Impl {
                        continue;
                    }
                    let container = around.container_parts();
                    let shorter = around.shorter_parts().is_some_and(|mut parts| {
                        parts.pop();
                        means(key, &parts, None)
                    });
                    if shorter || means(key, &container, None) {
                        self.has_member |= !container.is_empty() || is_member(symbol.kind);
                        found.push(FoundDefinition {
                            file: key.clone(),
                            line: line_of(&text, place.name_range.start),
                            range: place.name_range.clone(),
                            container: container.iter().map(|part| (*part).to_owned()).collect(),
                            head: symbol.head.clone(),
                            kind: Some(symbol.kind),
                        });
                    }
                }
            }
        }
        if !found.is_empty() {
            self.languages.insert(tree.language);
            self.definitions.append(&mut found);
        }
        Ok(())
    }

    /// Adds the definitions that override a wanted one or are overridden by it, since a call may reach either.
    pub(super) fn relate(&mut self, meanings: &Meanings<'_>) {
        let ancestors: BTreeMap<DefinitionId, Vec<DefinitionId>> = self
            .members
            .iter()
            .map(|(member, around)| {
                meanings.begin();
                (*member, meanings.ancestors(*around))
            })
            .collect();
        loop {
            let is_related = |one: &DefinitionId, other: &DefinitionId| {
                let is_below = |lower: &DefinitionId, upper: &DefinitionId| {
                    let around = self.members.get(upper);
                    around.is_some_and(|around| ancestors.get(lower).is_some_and(|all| all.contains(around)))
                };
                is_below(one, other) || is_below(other, one)
            };
            let open = self.members.keys().filter(|member| !self.ids.contains(member));
            let more: Vec<DefinitionId> = open
                .filter(|member| self.ids.iter().any(|known| is_related(member, known)))
                .copied()
                .collect();
            if more.is_empty() {
                break;
            }
            self.ids.extend(more);
        }
    }

    /// Returns how certain it is that a mention with these values refers to a wanted definition, and the
    /// indices of the possible definitions, which are empty if it could be any of them. Returns `None` if the
    /// mention refers to something else.
    pub(super) fn judged(&self, values: &[Value]) -> Option<(Confidence, Vec<usize>)> {
        let ids = values.iter().filter_map(|value| match value {
            Value::Definition(id) if self.ids.contains(id) => Some(id),
            _ => None,
        });
        let ids: Vec<&DefinitionId> = ids.collect();
        if !ids.is_empty() {
            let means = ids.into_iter().filter_map(|id| self.places.get(id).copied());
            return Some((Confidence::Certain, means.collect()));
        }
        (self.has_member && values.contains(&Value::Unknown)).then(|| (Confidence::Guess, Vec::new()))
    }
}

/// Resolves the mention of `name` at `range`.
pub(super) fn mention(
    meanings: &Meanings<'_>,
    file: usize,
    names: &FileNames,
    name: &str,
    range: &Range<usize>,
) -> Vec<Value> {
    meanings.begin();
    let start = range.start;
    let bare = || meanings.name(file, names.scope_at(start), name);
    if names.labels.contains(&start) {
        return Vec::new();
    }
    if let Some(import) = names.imported.get(&start) {
        return meanings.import(file, import);
    }
    let bound = names.bound.get(&start);
    if let (None, Some(object)) = (bound, names.members.get(&start)) {
        let objects = meanings.expression(file, object);
        return objects.iter().flat_map(|value| meanings.member(value, name)).collect();
    }
    if names.keys.contains(&start) {
        let mut values = if bound.is_none() { bare() } else { Vec::new() };
        values.retain(|value| *value != Value::Outside);
        let is_own = |annotation: Option<&Range<usize>>| {
            annotation.is_some_and(|annotation| meanings.has_own_parts(file, annotation))
        };
        if names.record_at(start).is_none_or(is_own) {
            values.push(Value::Unknown);
        }
        return values;
    }
    let Some(&group) = bound else { return bare() };
    let bindings = names.groups.get(group).into_iter().flat_map(|group| &group.bindings);
    let imports = bindings.filter_map(|binding| binding.import.as_ref());
    let imports: Vec<Value> = imports.flat_map(|import| meanings.import(file, import)).collect();
    if imports.is_empty() { vec![Value::Definition(DefinitionId { file, group })] } else { imports }
}

fn is_member(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Method | SymbolKind::Field)
}
