//! Finds the definitions that match a query, and every mention of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use strata_grammars::LanguageId;

use super::by_name::LikelyFiles;
use super::meaning::{Confidence, DefinitionId, Meanings, ReferenceSources, Value};
use super::scopes::{FileNames, ScopeKind};
use crate::cancel::{Cancel, Cancelled};
use crate::code::outline::{self, QualifiedNames, Symbol, SymbolKind, name_parts};
use crate::code::symbols::SymbolIndex;
use crate::key::FileKey;
use crate::text::{first_line, line_starts};

/// Maximum length of a reported line, in characters.
const MAX_LINE: usize = 200;

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

/// A definition that matches the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDefinition {
    pub file: FileKey,
    /// One-based line number.
    pub line: usize,
    /// Byte range of the name.
    pub range: Range<usize>,
    /// Names of the enclosing types, outermost first.
    pub container: Vec<String>,
    /// Head of the definition in the outline, or the source line if the outline does not contain it.
    pub head: Box<str>,
    /// Kind of the symbol; `None` for a name set on instances.
    pub kind: Option<SymbolKind>,
}

/// A mention of one of the definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceHit {
    pub file: FileKey,
    /// One-based line number.
    pub line: usize,
    /// Byte range of the name.
    pub range: Range<usize>,
    /// The line without leading and trailing whitespace.
    pub text: Box<str>,
    pub confidence: Confidence,
    /// Indices of the definitions that the mention refers to; empty if it could be any of them.
    pub means: Vec<usize>,
    /// Whether the mention is the name in a definition.
    pub is_definition: bool,
}

/// The references to the target of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceReport {
    /// The matching definitions, sorted by file and position.
    pub definitions: Vec<FoundDefinition>,
    /// All mentions including definitions, sorted by file and position.
    pub hits: Vec<ReferenceHit>,
    /// Number of omitted mentions that match only by name, where the name is also built into the language.
    /// Most of them refer to something else.
    pub unlikely: usize,
    /// Number of files that were not searched, because the others were too large in total.
    pub unsearched: usize,
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
    let meanings = Meanings::new(sources, cancel);
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
    if wanted.definitions.is_empty() {
        return Ok(ReferenceReport { unsearched: meanings.skipped(), ..ReferenceReport::default() });
    }
    wanted.relate(&meanings);
    everywhere(&meanings, wanted, query.name, cancel)
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
    let meanings = Meanings::new(sources, cancel);
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
            for range in outline::mentions_of(&names.tree, &names.text, name, cancel)? {
                if mention(&meanings, number, &names, name, &range) == meant {
                    report.add(file, &names.text, range, Confidence::Certain, Vec::new());
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
    everywhere(&meanings, wanted, name, cancel)
}

/// Searches all files that could mention the definitions.
fn everywhere(
    meanings: &Meanings<'_>,
    wanted: Wanted,
    name: &str,
    cancel: &Cancel,
) -> Result<ReferenceReport, Cancelled> {
    let ReferenceSources { index, graph, texts } = meanings.sources;
    let mut report = ReferenceReport::default();
    let families: BTreeSet<&str> = wanted.languages.iter().map(|language| language.family).collect();
    let definers = wanted.definitions.iter().map(|definition| &definition.file);
    let definers: Vec<&FileKey> = definers.collect();
    let connected = graph.connected(&definers);
    let is_test = |key: &FileKey| index.get(key).is_some_and(|file| file.language.is_test_file(key.as_str()));
    let only_tests = definers.iter().all(|key| is_test(key));
    let likely = LikelyFiles::new(graph, index, name, definers.into_iter());
    for (key, file) in index.iter().filter(|(_, file)| families.contains(file.language.family)) {
        meanings.check()?;
        if texts(key).is_none_or(|text| !text.contains(name)) {
            continue;
        }
        let names = meanings.number(key).and_then(|number| Some((number, meanings.file(number)?)));
        match names {
            Some((number, names)) => {
                // A guess is likely only in a file that imports connect with the definition, or in a test. A
                // definition in tests is used only in its own file.
                let is_likely = match only_tests {
                    true => wanted.definitions.iter().any(|found| found.file == *key),
                    false => connected.get(number).is_some_and(|connected| *connected) || is_test(key),
                };
                for range in outline::mentions_of(&names.tree, &names.text, name, cancel)? {
                    let values = mention(meanings, number, &names, name, &range);
                    match wanted.judged(&values) {
                        Some((Confidence::Guess, _)) if !is_likely => {}
                        Some((Confidence::Guess, _)) if is_builtin(file.language, name) => {
                            report.unlikely += 1;
                        }
                        Some((confidence, means)) => {
                            report.add(key, &names.text, range, confidence, means);
                        }
                        None => {}
                    }
                }
            }
            None => {
                let Some(confidence) = likely.confidence(key) else { continue };
                let Some((text, tree)) = meanings.parsed(key)? else { continue };
                for range in outline::mentions_of(&tree, &text, name, cancel)? {
                    report.add(key, &text, range, confidence, Vec::new());
                }
            }
        }
    }
    meanings.check()?;
    report.unsearched = meanings.skipped();
    report.definitions = wanted.definitions;
    report.mark_definitions();
    Ok(report)
}

/// Resolves the mention of `name` at `range`.
fn mention(
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
    if let Some(object) = names.members.get(&start) {
        let objects = meanings.expression(file, object);
        return objects.iter().flat_map(|value| meanings.member(value, name)).collect();
    }
    let bound = names.bound.get(&start);
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

/// Selects definitions by file, names of enclosing types, and identity.
type DefinitionFilter<'m> = dyn Fn(&FileKey, &[&str], Option<DefinitionId>) -> bool + 'm;

/// The definitions whose references are searched for.
#[derive(Default)]
struct Wanted {
    definitions: Vec<FoundDefinition>,
    languages: BTreeSet<LanguageId>,
    ids: BTreeSet<DefinitionId>,
    /// Index in `definitions`, keyed by identity.
    places: BTreeMap<DefinitionId, usize>,
    /// All members with the name, each with the type that contains it.
    members: BTreeMap<DefinitionId, DefinitionId>,
    /// Whether one of the definitions is a member of a type.
    has_member: bool,
}

impl Wanted {
    /// Adds the definitions of a name in all files.
    fn define_all(
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
    fn relate(&mut self, meanings: &Meanings<'_>) {
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
    fn judged(&self, values: &[Value]) -> Option<(Confidence, Vec<usize>)> {
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

impl ReferenceReport {
    fn add(
        &mut self,
        key: &FileKey,
        text: &str,
        range: Range<usize>,
        confidence: Confidence,
        means: Vec<usize>,
    ) {
        self.hits.push(ReferenceHit {
            file: key.clone(),
            line: line_of(text, range.start),
            text: line_text(text, range.start),
            range,
            confidence,
            means,
            is_definition: false,
        });
    }

    fn mark_definitions(&mut self) {
        let places: BTreeSet<(&FileKey, usize)> =
            self.definitions.iter().map(|found| (&found.file, found.range.start)).collect();
        for hit in &mut self.hits {
            hit.is_definition = places.contains(&(&hit.file, hit.range.start));
        }
    }
}

fn is_builtin(language: LanguageId, name: &str) -> bool {
    language.builtins.binary_search(&name).is_ok()
}

fn line_of(text: &str, byte: usize) -> usize {
    line_starts(text).take_while(|start| *start <= byte).count()
}

fn line_text(text: &str, byte: usize) -> Box<str> {
    let before = text.get(..byte).unwrap_or_default();
    let start = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let line = first_line(text.get(start..).unwrap_or_default()).trim();
    match line.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()).into(),
        None => line.into(),
    }
}
