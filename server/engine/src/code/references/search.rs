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
use crate::text::{LineStarts, first_line, line_starts};

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
    /// Lines that contain the name as a word and are not among `hits`.
    pub other_lines: OtherLines,
    /// Number of indexed files that were not searched, because they cannot be read or the others were too large in
    /// total.
    pub unsearched: usize,
}

/// Numbers of lines that contain a name without being references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OtherLines {
    /// Lines of code: something else has the name, or it could not be resolved.
    pub code: usize,
    /// Lines of comments, strings and documents.
    pub text: usize,
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
    // Without a definition, every mention of the name is a guess.
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
            let starts = LineStarts::of(&names.text);
            for range in outline::mentions_of(&names.tree, &names.text, name, cancel)? {
                if mention(&meanings, number, &names, name, &range) == meant {
                    report.add(file, &names.text, &starts, range, Confidence::Certain, Vec::new());
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
    let is_undefined = wanted.definitions.is_empty();
    let mut unread = 0;
    for (key, file) in index.iter() {
        meanings.check()?;
        let Some(text) = texts(key) else {
            unread += 1;
            continue;
        };
        let mut file_lines = WordLines::of(&text, name);
        if file_lines.words.is_empty() {
            continue;
        }
        let is_document = file.language.is_document();
        let is_searched = !is_document && (is_undefined || families.contains(file.language.family));
        if !is_searched {
            // Code in another language, which may have the name of this one, such as a template.
            file_lines.is_unparsed = true;
            report.other_lines.add(&file_lines, is_document);
            continue;
        }
        if is_undefined {
            if let Some((text, tree)) = meanings.parsed(key)? {
                for range in outline::mentions_of(&tree, &text, name, cancel)? {
                    file_lines.mention(range.start);
                    file_lines.hit(range.start);
                    report.add(key, &text, &file_lines.starts, range, Confidence::Guess, Vec::new());
                }
            } else {
                file_lines.is_unparsed = true;
            }
            report.other_lines.add(&file_lines, false);
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
                    file_lines.mention(range.start);
                    let values = mention(meanings, number, &names, name, &range);
                    match wanted.judged(&values) {
                        Some((Confidence::Guess, _)) if !is_likely => {}
                        Some((Confidence::Guess, _)) if is_builtin(file.language, name) => {
                            report.unlikely += 1;
                        }
                        Some((confidence, means)) => {
                            file_lines.hit(range.start);
                            report.add(key, &names.text, &file_lines.starts, range, confidence, means);
                        }
                        None => {}
                    }
                }
            }
            None => match meanings.parsed(key)? {
                Some((text, tree)) => {
                    // A member may be used in a file that does not import the one that defines it, but is not
                    // defined there.
                    let confidence = likely.confidence(key);
                    let is_elsewhere = confidence.is_none() && wanted.has_member;
                    let places =
                        if is_elsewhere { outline::located(&tree, &text, cancel)? } else { Vec::new() };
                    let others: BTreeSet<usize> = places.iter().map(|place| place.name_range.start).collect();
                    let confidence = confidence.or(is_elsewhere.then_some(Confidence::Guess));
                    for range in outline::mentions_of(&tree, &text, name, cancel)? {
                        file_lines.mention(range.start);
                        if let Some(confidence) = confidence
                            && !others.contains(&range.start)
                        {
                            file_lines.hit(range.start);
                            report.add(key, &text, &file_lines.starts, range, confidence, Vec::new());
                        }
                    }
                }
                // All lines count as code, since nothing separates the code from its comments.
                None => file_lines.is_unparsed = true,
            },
        }
        report.other_lines.add(&file_lines, false);
    }
    meanings.check()?;
    report.unsearched = meanings.skipped() + unread;
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

/// The lines of a file that contain a name as a word.
struct WordLines {
    starts: LineStarts,
    words: BTreeSet<u32>,
    /// Lines on which code mentions the name.
    mentions: BTreeSet<u32>,
    /// Lines that are reported as references.
    hits: BTreeSet<u32>,
    is_unparsed: bool,
}

impl WordLines {
    fn of(text: &str, name: &str) -> Self {
        let mut starts = words(text, name).peekable();
        let lines = if starts.peek().is_some() { LineStarts::of(text) } else { LineStarts::of("") };
        let words = starts.map(|start| lines.line(start)).collect();
        let (mentions, hits) = (BTreeSet::new(), BTreeSet::new());
        Self { starts: lines, words, mentions, hits, is_unparsed: false }
    }

    fn mention(&mut self, byte: usize) {
        self.mentions.insert(self.starts.line(byte));
    }

    fn hit(&mut self, byte: usize) {
        self.hits.insert(self.starts.line(byte));
    }
}

impl OtherLines {
    fn add(&mut self, lines: &WordLines, is_document: bool) {
        for line in lines.words.difference(&lines.hits) {
            let is_code = lines.is_unparsed || lines.mentions.contains(line);
            if is_code && !is_document { self.code += 1 } else { self.text += 1 }
        }
    }
}

impl ReferenceReport {
    fn add(
        &mut self,
        key: &FileKey,
        text: &str,
        starts: &LineStarts,
        range: Range<usize>,
        confidence: Confidence,
        means: Vec<usize>,
    ) {
        self.hits.push(ReferenceHit {
            file: key.clone(),
            line: starts.line(range.start) as usize,
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

fn is_member(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Method | SymbolKind::Field)
}

/// Whether a word continues from one character to the next.
fn continues(before: Option<char>, after: Option<char>) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    before.is_some_and(is_part) && after.is_some_and(is_part)
}

/// Returns where a name occurs in a text as a word, or as a part of one if the name has other characters at its ends.
fn words<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let found = (!name.is_empty()).then(|| text.match_indices(name)).into_iter().flatten();
    found.map(|(start, _)| start).filter(move |start| {
        let before = text.get(..*start).and_then(|before| before.chars().next_back());
        let after = text.get(start + name.len()..).and_then(|after| after.chars().next());
        !continues(before, name.chars().next()) && !continues(name.chars().next_back(), after)
    })
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
