//! Finds the definitions that match a query, and every mention of them.

use std::collections::BTreeSet;
use std::ops::Range;

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_base::text::LineStarts;

use super::file_search::MentionSearch;
use super::name_resolver::{DefinitionId, NameResolver, ReferenceSources, ResolvedValue};
use super::report::{Confidence, ReferenceHit, ReferenceReport};
use super::targets::{SearchTargets, resolve_mention};
use crate::outline::{Symbol, SymbolKind, name_parts};
use crate::symbols::SymbolIndex;

/// The target of a search for references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceQuery<'q> {
    /// The name as typed.
    text: &'q str,
    /// Last part of the qualified name.
    pub name: &'q str,
    /// Preceding parts of the qualified name: enclosing types or modules, outermost first.
    containers: Vec<&'q str>,
    /// Restricts the search to definitions in this file.
    pub path: Option<&'q FileKey>,
}

impl<'q> ReferenceQuery<'q> {
    /// Parses a qualified name: `name`, `Type.name`, `Type::name`, `module.Type.name`.
    pub fn new(text: &'q str, path: Option<&'q FileKey>) -> Self {
        let text = text.trim();
        let text = text.strip_suffix("()").unwrap_or(text);
        let mut parts = name_parts(text);
        let name = parts.pop().unwrap_or_default();
        Self { text, name, containers: parts, path }
    }

    /// Returns the query without splitting the name, if a definition has this whole name, such as `log::info` in a
    /// shell.
    fn with_whole_name(&self, index: &SymbolIndex) -> Option<Self> {
        let has_whole_name = |symbol: &Symbol| *symbol.name == *self.text && symbol.kind != SymbolKind::Impl;
        let mut files = index.iter().filter(|(_, file)| !file.language.is_document());
        let is_defined =
            self.text != self.name && files.any(|(_, file)| file.outline.symbols.iter().any(has_whole_name));
        is_defined.then(|| Self { name: self.text, containers: Vec::new(), ..self.clone() })
    }

    /// Whether the query matches a definition in `file` that is nested in the types of `container`.
    fn matches_definition(&self, file: &FileKey, container: &[&str]) -> bool {
        if self.path.is_some_and(|path| path != file) {
            return false;
        }
        let path = file.as_str();
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let modules = stem.split('/').filter(|part| !matches!(*part, "__init__" | "index" | "mod" | "lib"));
        let path_parts: Vec<&str> = modules.chain(container.iter().copied()).collect();
        // The query may omit leading parts.
        path_parts.ends_with(&self.containers)
    }
}

/// Finds the references to the target of a query.
///
/// # Errors
/// [`Cancelled`] if the flag is raised before the search finishes.
pub fn find_references(
    sources: ReferenceSources<'_>,
    query: &ReferenceQuery<'_>,
    cancel: &Cancel,
) -> Result<ReferenceReport, Cancelled> {
    let unsplit_query = query.with_whole_name(sources.index);
    let query = unsplit_query.as_ref().unwrap_or(query);
    let resolver = NameResolver::new(sources, cancel, 1);
    let mut targets = SearchTargets::default();
    if !query.name.is_empty() {
        targets.add_definitions(
            &resolver,
            query.name,
            &|file, container, _| query.matches_definition(file, container),
            cancel,
        )?;
    }
    if targets.definitions.is_empty() {
        let ids = inherited_members(&resolver, query, cancel)?;
        let is_inherited =
            |_: &FileKey, _: &[&str], id: Option<DefinitionId>| id.is_some_and(|id| ids.contains(&id));
        targets.add_definitions(&resolver, query.name, &is_inherited, cancel)?;
    }
    // Without a definition, every mention of the name is a guess.
    targets.add_overrides(&resolver);
    MentionSearch::new(sources, targets, query.name, cancel).run(resolver)
}

/// Finds the inherited members that match a query: looks up the last part of its name in the base types of the type that the
/// preceding parts name.
fn inherited_members(
    resolver: &NameResolver<'_>,
    query: &ReferenceQuery<'_>,
    cancel: &Cancel,
) -> Result<BTreeSet<DefinitionId>, Cancelled> {
    let Some((name, containers)) = query.containers.split_last() else { return Ok(BTreeSet::new()) };
    let owner = ReferenceQuery { name, containers: containers.to_vec(), ..query.clone() };
    let mut owners = SearchTargets::default();
    owners.add_definitions(
        resolver,
        name,
        &|file, container, _| owner.matches_definition(file, container),
        cancel,
    )?;
    let mut ids = BTreeSet::new();
    for id in owners.ids {
        resolver.reset_steps();
        let values = resolver.resolve_member(&ResolvedValue::Definition(id), query.name).into_iter();
        ids.extend(values.filter_map(|value| match value {
            ResolvedValue::Definition(id) => Some(id),
            _ => None,
        }));
    }
    Ok(ids)
}

/// Finds the references to the name at `range` in a file: mentions of the same local variable or definition, or, if the
/// name cannot be resolved, of every definition with that name. The report is empty if the file or the name does not
/// exist.
///
/// # Errors
/// [`Cancelled`] if the flag is raised before the search finishes.
pub fn find_references_at(
    sources: ReferenceSources<'_>,
    file: &FileKey,
    range: &Range<usize>,
    cancel: &Cancel,
) -> Result<ReferenceReport, Cancelled> {
    let resolver = NameResolver::new(sources, cancel, 1);
    let Some((text, _)) = resolver.parse_file(file)? else { return Ok(ReferenceReport::default()) };
    let Some(name) = text.get(range.clone()).filter(|name| !name.is_empty()) else {
        return Ok(ReferenceReport::default());
    };
    let mut targets = SearchTargets::default();
    let file_names =
        resolver.file_number(file).and_then(|number| Some((number, resolver.file_scopes(number)?)));
    if let Some((number, names)) = file_names {
        let values = resolve_mention(&resolver, number, &names, name, range);
        let ids = values.iter().filter_map(|value| match value {
            ResolvedValue::Definition(id) => Some(*id),
            _ => None,
        });
        let ids: BTreeSet<DefinitionId> = ids.collect();
        let is_local = |id: &DefinitionId| {
            let group = names.groups.get(id.group);
            id.file == number && group.is_some_and(|group| !names.is_referable(group))
        };
        if values == [ResolvedValue::Outside] || ids.iter().any(is_local) {
            let mut report = ReferenceReport::default();
            let starts = LineStarts::new(&names.text);
            for range in names.mentions(name, cancel)? {
                if resolve_mention(&resolver, number, &names, name, &range) == values {
                    let (text, confidence) = (&names.text, Confidence::Certain);
                    report.hits.push(ReferenceHit::new(file, text, &starts, range, confidence, Vec::new()));
                }
            }
            return Ok(report);
        }
        let filter = |_: &FileKey, _: &[&str], id: Option<DefinitionId>| {
            ids.is_empty() || id.is_some_and(|id| ids.contains(&id))
        };
        targets.add_definitions(&resolver, name, &filter, cancel)?;
    } else {
        let definers = sources.graph.definers(file, name);
        let filter = |key: &FileKey, _: &[&str], _: Option<DefinitionId>| {
            definers.is_empty() || definers.contains(&key)
        };
        targets.add_definitions(&resolver, name, &filter, cancel)?;
    }
    targets.add_overrides(&resolver);
    MentionSearch::new(sources, targets, name, cancel).run(resolver)
}
