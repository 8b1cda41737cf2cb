//! The definitions whose references are searched for, and whether a mention refers to one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_grammars::LanguageId;

use super::name_resolver::{DefinitionId, NameResolver, ResolvedValue};
use super::report::{Confidence, FoundDefinition, line_number, line_text};
use super::scopes::{FileScopes, ScopeKind};
use crate::outline::{self, QualifiedNameTracker, SymbolKind};

/// Selects definitions by file, names of enclosing types, and identity.
pub(super) type DefinitionFilter<'m> = dyn Fn(&FileKey, &[&str], Option<DefinitionId>) -> bool + 'm;

/// The definitions whose references are searched for.
#[derive(Default)]
pub(super) struct SearchTargets {
    pub(super) definitions: Vec<FoundDefinition>,
    pub(super) languages: BTreeSet<LanguageId>,
    pub(super) ids: BTreeSet<DefinitionId>,
    /// Index in `definitions`, keyed by identity.
    definition_indices: BTreeMap<DefinitionId, usize>,
    /// All members with the name, each with the type that contains it.
    members: BTreeMap<DefinitionId, DefinitionId>,
    /// Whether one of the definitions is a member of a type.
    pub(super) has_member: bool,
}

impl SearchTargets {
    /// Adds the definitions of a name in all files.
    pub(super) fn add_definitions(
        &mut self,
        resolver: &NameResolver<'_>,
        name: &str,
        filter: &DefinitionFilter<'_>,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let code = resolver.sources.index.iter().filter(|(_, file)| !file.language.is_document());
        for (key, file) in code {
            let mut symbols = file.outline.symbols.iter();
            let defines = symbols.any(|symbol| {
                *symbol.name == *name || symbol.instance.iter().any(|instance| instance == name)
            });
            if defines {
                self.add_definitions_in(resolver, key, name, filter, cancel)?;
            }
        }
        Ok(())
    }

    /// Adds the definitions of a name in one file.
    fn add_definitions_in(
        &mut self,
        resolver: &NameResolver<'_>,
        key: &FileKey,
        name: &str,
        filter: &DefinitionFilter<'_>,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let Some((text, tree)) = resolver.parse_file(key)? else { return Ok(()) };
        let located = outline::locate_symbols(&tree, &text, cancel)?;
        let names =
            resolver.file_number(key).and_then(|number| Some((number, resolver.file_scopes(number)?)));
        let mut found_definitions: Vec<FoundDefinition> = Vec::new();
        match names {
            Some((number, names)) => {
                let groups = names.groups.iter().enumerate();
                let groups = groups.filter(|(_, group)| *group.name == *name);
                for (group_index, group) in groups.filter(|(_, group)| names.is_referable(group)) {
                    let id = DefinitionId { file: number, group: group_index };
                    let container = names.container(group);
                    let is_member = names.scopes.get(group.scope).is_some_and(|s| s.kind == ScopeKind::Type);
                    let containing_type = group
                        .bindings
                        .first()
                        .and_then(|binding| names.enclosing_type_group(binding.name.start));
                    if let Some(containing_type) = containing_type.filter(|_| is_member) {
                        self.members.insert(id, DefinitionId { file: number, group: containing_type });
                    }
                    let Some(binding) = group.bindings.iter().find(|binding| binding.import.is_none()) else {
                        continue;
                    };
                    if !filter(key, &container, Some(id)) {
                        continue;
                    }
                    self.ids.insert(id);
                    self.definition_indices.insert(id, self.definitions.len() + found_definitions.len());
                    self.has_member |= is_member;
                    let symbol = located.iter().find(|place| place.name_range == binding.name);
                    let container = container.into_iter().map(str::to_owned).collect();
                    found_definitions.push(FoundDefinition {
                        file: key.clone(),
                        line: line_number(&text, binding.name.start),
                        range: binding.name.clone(),
                        container,
                        head: symbol
                            .map_or_else(|| line_text(&text, binding.name.start), |s| s.symbol.head.clone()),
                        kind: symbol.map(|place| place.symbol.kind),
                    });
                }
            }
            None => {
                let mut qualified = QualifiedNameTracker::default();
                for place in &located {
                    let symbol = &place.symbol;
                    qualified.enter(symbol);
                    if *symbol.name != *name || symbol.kind == SymbolKind::Impl {
                        continue;
                    }
                    let container = qualified.container_parts();
                    let matches_shorter_name = qualified.alternative_parts().is_some_and(|mut parts| {
                        parts.pop();
                        filter(key, &parts, None)
                    });
                    if matches_shorter_name || filter(key, &container, None) {
                        self.has_member |= !container.is_empty() || is_member_kind(symbol.kind);
                        found_definitions.push(FoundDefinition {
                            file: key.clone(),
                            line: line_number(&text, place.name_range.start),
                            range: place.name_range.clone(),
                            container: container.iter().map(|part| (*part).to_owned()).collect(),
                            head: symbol.head.clone(),
                            kind: Some(symbol.kind),
                        });
                    }
                }
            }
        }
        if !found_definitions.is_empty() {
            self.languages.insert(tree.language);
            self.definitions.append(&mut found_definitions);
        }
        Ok(())
    }

    /// Adds the definitions that override a wanted one or are overridden by it, since a call may reach either.
    pub(super) fn add_overrides(&mut self, resolver: &NameResolver<'_>) {
        let ancestors: BTreeMap<DefinitionId, Vec<DefinitionId>> = self
            .members
            .iter()
            .map(|(member, containing_type)| {
                resolver.reset_steps();
                (*member, resolver.self_and_base_types(*containing_type))
            })
            .collect();
        loop {
            let is_related = |a: &DefinitionId, b: &DefinitionId| {
                let is_below = |lower: &DefinitionId, upper: &DefinitionId| {
                    let containing_type = self.members.get(upper);
                    containing_type.is_some_and(|containing_type| {
                        ancestors.get(lower).is_some_and(|all| all.contains(containing_type))
                    })
                };
                is_below(a, b) || is_below(b, a)
            };
            let unrelated = self.members.keys().filter(|member| !self.ids.contains(member));
            let related: Vec<DefinitionId> = unrelated
                .filter(|member| self.ids.iter().any(|id| is_related(member, id)))
                .copied()
                .collect();
            if related.is_empty() {
                break;
            }
            self.ids.extend(related);
        }
    }

    /// Returns how certain it is that a mention with these values refers to a wanted definition, and the
    /// indices of the possible definitions, which are empty if it could be any of them. Returns `None` if the
    /// mention refers to something else.
    pub(super) fn match_values(&self, values: &[ResolvedValue]) -> Option<(Confidence, Vec<usize>)> {
        let ids = values.iter().filter_map(|value| match value {
            ResolvedValue::Definition(id) if self.ids.contains(id) => Some(id),
            _ => None,
        });
        let ids: Vec<&DefinitionId> = ids.collect();
        if !ids.is_empty() {
            let indices = ids.into_iter().filter_map(|id| self.definition_indices.get(id).copied());
            return Some((Confidence::Certain, indices.collect()));
        }
        (self.has_member && values.contains(&ResolvedValue::Unknown)).then(|| (Confidence::Guess, Vec::new()))
    }
}

/// Resolves the mention of `name` at `range`.
pub(super) fn resolve_mention(
    resolver: &NameResolver<'_>,
    file: usize,
    names: &FileScopes,
    name: &str,
    range: &Range<usize>,
) -> Vec<ResolvedValue> {
    resolver.reset_steps();
    let start = range.start;
    let by_scope = || resolver.resolve_name(file, names.scope_at(start), name);
    if names.labels.contains(&start) {
        return Vec::new();
    }
    if let Some(import) = names.imported.get(&start) {
        return resolver.resolve_import(file, import);
    }
    let bound = names.bound.get(&start);
    if let (None, Some(object)) = (bound, names.members.get(&start)) {
        let objects = resolver.resolve_expression(file, object);
        return objects.iter().flat_map(|value| resolver.resolve_member(value, name)).collect();
    }
    if names.keys.contains(&start) {
        let mut values = if bound.is_none() { by_scope() } else { Vec::new() };
        values.retain(|value| *value != ResolvedValue::Outside);
        let is_defined_here = |annotation: Option<&Range<usize>>| {
            annotation.is_some_and(|annotation| resolver.is_repository_type(file, annotation))
        };
        if names.annotation_of_object_with_key(start).is_none_or(is_defined_here) {
            values.push(ResolvedValue::Unknown);
        }
        return values;
    }
    let Some(&group) = bound else { return by_scope() };
    let bindings = names.groups.get(group).into_iter().flat_map(|group| &group.bindings);
    let imports = bindings.filter_map(|binding| binding.import.as_ref());
    let imports: Vec<ResolvedValue> =
        imports.flat_map(|import| resolver.resolve_import(file, import)).collect();
    if imports.is_empty() { vec![ResolvedValue::Definition(DefinitionId { file, group })] } else { imports }
}

fn is_member_kind(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Method | SymbolKind::Field)
}
