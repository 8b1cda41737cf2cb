//! Finds the definitions that match a query, and every mention of them.

use std::collections::BTreeSet;
use std::ops::Range;

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_base::text::LineStarts;

use super::file_search::FileSearch;
use super::meaning::{DefinitionId, Meanings, ReferenceSources, Value};
use super::report::{Confidence, ReferenceHit, ReferenceReport};
use super::wanted::{Wanted, mention};
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
    within: Vec<&'q str>,
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
        Self { text, name, within: parts, path }
    }

    /// Returns the query without splitting the name, if a definition has this whole name, such as `log::info` in a
    /// shell.
    fn of_whole_name(&self, index: &SymbolIndex) -> Option<Self> {
        let is_whole = |symbol: &Symbol| *symbol.name == *self.text && symbol.kind != SymbolKind::Impl;
        let mut files = index.iter().filter(|(_, file)| !file.language.is_document());
        let is_defined =
            self.text != self.name && files.any(|(_, file)| file.outline.symbols.iter().any(is_whole));
        is_defined.then(|| Self { name: self.text, within: Vec::new(), ..self.clone() })
    }

    /// Whether the query matches a definition in `file` that is nested in the types of `container`.
    fn means(&self, file: &FileKey, container: &[&str]) -> bool {
        if self.path.is_some_and(|path| path != file) {
            return false;
        }
        let path = file.as_str();
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let modules = stem.split('/').filter(|part| !matches!(*part, "__init__" | "index" | "mod" | "lib"));
        let around: Vec<&str> = modules.chain(container.iter().copied()).collect();
        // The query may omit leading parts.
        around.ends_with(&self.within)
    }
}

/// Finds the references to the target of a query.
///
/// # Errors
/// [`Cancelled`] if the flag is raised before the search finishes.
pub fn references(
    sources: ReferenceSources<'_>,
    query: &ReferenceQuery<'_>,
    cancel: &Cancel,
) -> Result<ReferenceReport, Cancelled> {
    let whole = query.of_whole_name(sources.index);
    let query = whole.as_ref().unwrap_or(query);
    let meanings = Meanings::new(sources, cancel, 1);
    let mut wanted = Wanted::default();
    if !query.name.is_empty() {
        wanted.define_all(
            &meanings,
            query.name,
            &|file, container, _| query.means(file, container),
            cancel,
        )?;
    }
    if wanted.definitions.is_empty() {
        let ids = inherited(&meanings, query, cancel)?;
        let means =
            |_: &FileKey, _: &[&str], id: Option<DefinitionId>| id.is_some_and(|id| ids.contains(&id));
        wanted.define_all(&meanings, query.name, &means, cancel)?;
    }
    // Without a definition, every mention of the name is a guess.
    wanted.relate(&meanings);
    FileSearch::new(sources, wanted, query.name, cancel).run(meanings)
}

/// Finds the inherited members that match a query: looks up the last part of its name in the base types of the type that the
/// preceding parts name.
fn inherited(
    meanings: &Meanings<'_>,
    query: &ReferenceQuery<'_>,
    cancel: &Cancel,
) -> Result<BTreeSet<DefinitionId>, Cancelled> {
    let Some((name, within)) = query.within.split_last() else { return Ok(BTreeSet::new()) };
    let owner = ReferenceQuery { name, within: within.to_vec(), ..query.clone() };
    let mut types = Wanted::default();
    types.define_all(meanings, name, &|file, container, _| owner.means(file, container), cancel)?;
    let mut found = BTreeSet::new();
    for id in types.ids {
        meanings.begin();
        let values = meanings.member(&Value::Definition(id), query.name).into_iter();
        found.extend(values.filter_map(|value| match value {
            Value::Definition(id) => Some(id),
            _ => None,
        }));
    }
    Ok(found)
}

/// Finds the references to the name at `range` in a file: mentions of the same local variable or definition, or, if the
/// name cannot be resolved, of every definition with that name. The report is empty if the file or the name does not
/// exist.
///
/// # Errors
/// [`Cancelled`] if the flag is raised before the search finishes.
pub fn references_at(
    sources: ReferenceSources<'_>,
    file: &FileKey,
    range: &Range<usize>,
    cancel: &Cancel,
) -> Result<ReferenceReport, Cancelled> {
    let meanings = Meanings::new(sources, cancel, 1);
    let Some((text, _)) = meanings.parsed(file)? else { return Ok(ReferenceReport::default()) };
    let Some(name) = text.get(range.clone()).filter(|name| !name.is_empty()) else {
        return Ok(ReferenceReport::default());
    };
    let mut wanted = Wanted::default();
    let own = meanings.number(file).and_then(|number| Some((number, meanings.file(number)?)));
    if let Some((number, names)) = own {
        let meant = mention(&meanings, number, &names, name, range);
        let ids = meant.iter().filter_map(|value| match value {
            Value::Definition(id) => Some(*id),
            _ => None,
        });
        let ids: BTreeSet<DefinitionId> = ids.collect();
        let is_local = |id: &DefinitionId| {
            let group = names.groups.get(id.group);
            id.file == number && group.is_some_and(|group| !names.is_definition(group))
        };
        if meant == [Value::Outside] || ids.iter().any(is_local) {
            let mut report = ReferenceReport::default();
            let starts = LineStarts::of(&names.text);
            for range in names.mentions(name, cancel)? {
                if mention(&meanings, number, &names, name, &range) == meant {
                    let (text, confidence) = (&names.text, Confidence::Certain);
                    report.hits.push(ReferenceHit::new(file, text, &starts, range, confidence, Vec::new()));
                }
            }
            return Ok(report);
        }
        let means = |_: &FileKey, _: &[&str], id: Option<DefinitionId>| {
            ids.is_empty() || id.is_some_and(|id| ids.contains(&id))
        };
        wanted.define_all(&meanings, name, &means, cancel)?;
    } else {
        let definers = sources.graph.definers(file, name);
        let means = |key: &FileKey, _: &[&str], _: Option<DefinitionId>| {
            definers.is_empty() || definers.contains(&key)
        };
        wanted.define_all(&meanings, name, &means, cancel)?;
    }
    wanted.relate(&meanings);
    FileSearch::new(sources, wanted, name, cancel).run(meanings)
}
