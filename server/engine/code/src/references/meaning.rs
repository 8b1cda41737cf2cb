//! Resolves names and expressions across files: from a name's scope to the target of its imports, and from a member to
//! the type of its value, using annotations, calls and assignments. Infers types over a few steps only, and does not
//! find references itself.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_grammars::ImportStyle;

use super::names_cache::NamesCache;
use super::report::SearchedPart;
use super::scopes::{Binding, DEFAULT, FileNames, Group, Import, Reach, ScopeKind, Shape};
use crate::outline::{self, SyntaxTree};
use crate::symbols::{FileSymbols, References, SymbolIndex};

/// Maximum number of steps for resolving one reference. The limit is high because a package may re-export the names
/// of many modules.
const STEPS: u32 = 2_000;
/// Maximum nesting depth of the steps that resolve one reference.
const MAX_DEPTH: u32 = 60;
/// Maximum number of meanings to consider for one expression.
const MAX_VALUES: usize = 8;
/// Maximum number of names resolved in one annotation.
const MAX_NAMES: usize = 16;
/// Maximum number of parsed files kept in memory.
const MAX_FILES: usize = 256;
/// Maximum size of the texts that one search parses, in bytes. A text that is parsed twice counts twice.
const MAX_PARSED: usize = 128 << 20;

/// Inputs of a search for references.
#[derive(Clone, Copy)]
pub struct ReferenceSources<'a> {
    pub index: &'a SymbolIndex,
    pub graph: &'a References,
    pub names: &'a NamesCache,
    /// Returns the current text of a file, or `None` if it cannot be read.
    pub texts: &'a (dyn Fn(&FileKey) -> Option<Arc<str>> + Sync),
    /// Calls a function for each part of the files with the part's number and the number of parts, on several threads
    /// if the caller likes, and returns the results in any order.
    pub each_part: &'a (dyn Fn(PartSearch<'_>) -> Vec<SearchedPart> + Sync),
}

/// Searches one part of the files. Takes the part's number and the number of parts.
pub type PartSearch<'a> = &'a (dyn Fn(usize, usize) -> SearchedPart + Sync);

/// A definition: all bindings of a name in one scope of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DefinitionId {
    pub(super) file: usize,
    pub(super) group: usize,
}

/// The meaning of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A module, imported by `file` under `path`.
    Module {
        file: usize,
        path: Box<str>,
    },
    Definition(DefinitionId),
    /// An instance of the type with this definition.
    Instance(DefinitionId),
    /// The value on which a method is called that returns it.
    Receiver,
    /// Something defined outside the repository.
    Outside,
    Unknown,
}

/// Resolves names and expressions. Reads files on demand.
pub(super) struct Meanings<'a> {
    pub(super) sources: ReferenceSources<'a>,
    cancel: &'a Cancel,
    files: RefCell<FxHashMap<usize, Option<Arc<FileNames>>>>,
    steps: Cell<u32>,
    depth: Cell<u32>,
    cancelled: Cell<bool>,
    /// Number of bytes that may still be parsed.
    left: Cell<usize>,
    /// Files that were not parsed, because nothing was left.
    skipped: RefCell<BTreeSet<FileKey>>,
}

/// A step in progress. Decrements the nesting depth when dropped.
struct Step<'m>(&'m Cell<u32>);

impl Drop for Step<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

impl<'a> Meanings<'a> {
    /// Creates a resolver for a search that is divided into so many `parts`.
    pub(super) fn new(sources: ReferenceSources<'a>, cancel: &'a Cancel, parts: usize) -> Self {
        Self {
            sources,
            cancel,
            files: RefCell::default(),
            steps: Cell::new(0),
            depth: Cell::new(0),
            cancelled: Cell::new(false),
            left: Cell::new(MAX_PARSED / parts.max(1)),
            skipped: RefCell::default(),
        }
    }

    /// Returns the files that were not searched, because the others were too large in total.
    pub(super) fn into_skipped(self) -> BTreeSet<FileKey> {
        self.skipped.into_inner()
    }

    pub(super) fn number(&self, key: &FileKey) -> Option<usize> {
        self.sources.graph.files().binary_search(key).ok()
    }

    pub(super) fn key(&self, file: usize) -> Option<&'a FileKey> {
        self.sources.graph.files().get(file)
    }

    /// Returns the names of a file, read on demand, or `None` if the file does not exist or its language has
    /// no reference rules.
    pub(super) fn file(&self, file: usize) -> Option<Arc<FileNames>> {
        if let Some(known) = self.files.borrow().get(&file) {
            return known.clone();
        }
        let read = self.read(file).unwrap_or_else(|Cancelled| {
            self.cancelled.set(true);
            None
        });
        let mut files = self.files.borrow_mut();
        if files.len() >= MAX_FILES {
            files.clear();
        }
        files.insert(file, read.clone());
        read
    }

    /// Reads and parses a file. Returns `None` if the index does not contain the file or it cannot be read.
    pub(super) fn parsed(&self, key: &FileKey) -> Result<Option<(Arc<str>, SyntaxTree)>, Cancelled> {
        let Some(symbols) = self.sources.index.get(key) else { return Ok(None) };
        let Some(text) = (self.sources.texts)(key) else { return Ok(None) };
        self.parse(key, symbols, text)
    }

    fn parse(
        &self,
        key: &FileKey,
        symbols: &FileSymbols,
        text: Arc<str>,
    ) -> Result<Option<(Arc<str>, SyntaxTree)>, Cancelled> {
        if symbols.outline.unparsed.is_some() {
            return Ok(None);
        }
        match self.left.get().checked_sub(text.len()) {
            Some(left) => self.left.set(left),
            None => {
                self.skipped.borrow_mut().insert(key.clone());
                return Ok(None);
            }
        }
        let tree = outline::parse(symbols.language, &text, None, self.cancel)?;
        Ok(Some((text, tree)))
    }

    /// Checks whether the search was cancelled, by the flag or while reading a file.
    ///
    /// # Errors
    /// [`Cancelled`] if the search was cancelled.
    pub(super) fn check(&self) -> Result<(), Cancelled> {
        self.cancel.check()?;
        if self.cancelled.get() { Err(Cancelled) } else { Ok(()) }
    }

    fn read(&self, file: usize) -> Result<Option<Arc<FileNames>>, Cancelled> {
        let Some(key) = self.key(file) else { return Ok(None) };
        let Some(symbols) = self.sources.index.get(key) else { return Ok(None) };
        let Some(text) = (self.sources.texts)(key) else { return Ok(None) };
        self.sources.names.get_or_read(symbols.language, &text, || {
            let Some((text, tree)) = self.parse(key, symbols, Arc::clone(&text))? else { return Ok(None) };
            FileNames::read(tree, text, self.cancel)
        })
    }

    /// Resets the step limit for a new mention.
    pub(super) fn begin(&self) {
        self.steps.set(STEPS);
    }

    /// Starts a step. Returns `None` if the limit of steps or depth is reached.
    fn step(&self) -> Option<Step<'_>> {
        let left = self.steps.get().checked_sub(1)?;
        self.steps.set(left);
        let depth = self.depth.get() + 1;
        if depth > MAX_DEPTH {
            return None;
        }
        self.depth.set(depth);
        Some(Step(&self.depth))
    }

    /// Resolves a name in a scope and its enclosing scopes.
    pub(super) fn name(&self, file: usize, scope: usize, name: &str) -> Vec<Value> {
        let (Some(names), Some(_step)) = (self.file(file), self.step()) else { return vec![Value::Unknown] };
        let mut at = Some(scope);
        while let Some(number) = at {
            let Some(found) = names.scopes.get(number) else { break };
            if let Some(id) = names.group(number, name)
                && let Some(group) = names.groups.get(id)
                && is_seen(group, found.kind, number == scope)
            {
                return self.group(file, id);
            }
            at = found.around;
        }
        for module in &names.stars {
            for target in self.targets(file, module) {
                let found = self.export(target, name);
                if !found.is_empty() {
                    return found;
                }
            }
        }
        vec![Value::Outside]
    }

    /// Resolves an import to the modules or definitions to which it refers.
    pub(super) fn import(&self, file: usize, import: &Import) -> Vec<Value> {
        let module = || Value::Module { file, path: import.module.clone() };
        let Some(name) = &import.name else { return vec![module()] };
        match self.of_module(file, &import.module, name) {
            found if **name == *DEFAULT && found == [Value::Outside] => vec![module()],
            found => found,
        }
    }

    pub(super) fn expression(&self, file: usize, range: &Range<usize>) -> Vec<Value> {
        let (Some(names), Some(_step)) = (self.file(file), self.step()) else { return vec![Value::Unknown] };
        let own = || {
            let group = names.type_around(range.start)?;
            Some(DefinitionId { file, group })
        };
        match names.shape(range) {
            Some(Shape::Member { object, name }) => {
                let name = names.str(name);
                each(self.expression(file, object), |value| self.member(&value, name))
            }
            Some(Shape::Call { callee }) => {
                let found = each(self.expression(file, callee), |value| self.called(&value));
                each(found, |value| match (value, names.shape(callee)) {
                    (Value::Receiver, Some(Shape::Member { object, .. })) => self.expression(file, object),
                    (Value::Receiver, _) => vec![Value::Unknown],
                    (value, _) => vec![value],
                })
            }
            Some(Shape::Same(parts)) => each(parts.iter(), |part| self.expression(file, part)),
            Some(Shape::Literal) => vec![Value::Outside],
            Some(Shape::Nothing) => Vec::new(),
            Some(Shape::Own) => vec![own().map_or(Value::Unknown, Value::Instance)],
            Some(Shape::Super) => own().map_or(vec![Value::Unknown], |own| self.bases(own)),
            Some(Shape::Typed(annotation)) => self.annotation(file, annotation),
            None => match names.str(range) {
                text if is_word(text) => self.name(file, names.scope_at(range.start), text),
                _ => vec![Value::Unknown],
            },
        }
    }

    /// Resolves a member of a value.
    pub(super) fn member(&self, of: &Value, name: &str) -> Vec<Value> {
        let Some(_step) = self.step() else { return vec![Value::Unknown] };
        match of {
            Value::Module { file, path } => self.of_module(*file, path, name),
            Value::Instance(id) => self.of_type(*id, name),
            Value::Outside => vec![Value::Outside],
            Value::Receiver | Value::Unknown => vec![Value::Unknown],
            Value::Definition(id) if self.is_type(*id) => self.of_type(*id, name),
            Value::Definition(id) => each(self.value_of(*id), |value| self.member(&value, name)),
        }
    }

    /// Whether the type at the start of an annotation is defined in the repository.
    pub(super) fn has_own_parts(&self, file: usize, annotation: &Range<usize>) -> bool {
        let Some(names) = self.file(file) else { return false };
        let text = names.str(annotation);
        let start = text.find(|letter: char| letter != ':' && !letter.is_whitespace()).unwrap_or(text.len());
        let rest = text.get(start..).unwrap_or_default();
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '.');
        let length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let start = annotation.start + start;
        let values = self.annotated(file, &(start..start + length));
        values.iter().any(|value| matches!(value, Value::Instance(_)))
    }

    /// Returns a type and its known base types, direct and indirect.
    pub(super) fn ancestors(&self, id: DefinitionId) -> Vec<DefinitionId> {
        let mut found = vec![id];
        let mut at = 0;
        while let Some(&next) = found.get(at).filter(|_| found.len() < 4 * MAX_VALUES) {
            for base in self.bases(next) {
                if let Value::Instance(base) = base
                    && !found.contains(&base)
                {
                    found.push(base);
                }
            }
            at += 1;
        }
        found
    }

    fn with<R>(&self, id: DefinitionId, read: impl FnOnce(&FileNames, &Group) -> R) -> Option<R> {
        let names = self.file(id.file)?;
        names.groups.get(id.group).map(|group| read(&names, group))
    }

    fn bindings(&self, id: DefinitionId) -> Vec<Binding> {
        self.with(id, |_, group| group.bindings.clone()).unwrap_or_default()
    }

    fn is_type(&self, id: DefinitionId) -> bool {
        let is_type = |binding: &Binding| binding.owns.is_some() || binding.base.is_some();
        self.with(id, |_, group| group.bindings.iter().any(is_type)).unwrap_or(false)
    }

    /// Resolves a group of bindings to the targets of its imports and aliases, and to its own definition if it has
    /// one.
    fn group(&self, file: usize, group: usize) -> Vec<Value> {
        let bindings = self.bindings(DefinitionId { file, group });
        let mut found = each(bindings.iter(), |binding| match binding {
            Binding { import: Some(import), .. } => self.import(file, import),
            Binding { reach: Reach::Alias, value: Some(value), .. } => self.expression(file, value),
            _ => Vec::new(),
        });
        if bindings.iter().any(|binding| binding.import.is_none() && binding.reach != Reach::Alias) {
            found.push(Value::Definition(DefinitionId { file, group }));
        }
        found
    }

    fn targets(&self, file: usize, module: &str) -> Vec<usize> {
        let Some(key) = self.key(file) else { return Vec::new() };
        let Some(symbols) = self.sources.index.get(key) else { return Vec::new() };
        self.sources.graph.imported(key, symbols.language, module)
    }

    fn of_module(&self, file: usize, module: &str, name: &str) -> Vec<Value> {
        let Some(_step) = self.step() else { return vec![Value::Unknown] };
        for target in self.targets(file, module) {
            let found = self.export(target, name);
            if !found.is_empty() {
                return found;
            }
        }
        let dotted = self
            .key(file)
            .and_then(|key| self.sources.index.get(key))
            .is_some_and(|symbols| symbols.language.imports == ImportStyle::Dotted);
        if dotted {
            let dot = if module.ends_with('.') { "" } else { "." };
            let path = format!("{module}{dot}{name}");
            if !self.targets(file, &path).is_empty() {
                return vec![Value::Module { file, path: path.into() }];
            }
        }
        vec![Value::Outside]
    }

    /// Resolves a name exported by a file. Returns no values if the file exports no such name.
    fn export(&self, file: usize, name: &str) -> Vec<Value> {
        let (Some(names), Some(_step)) = (self.file(file), self.step()) else { return Vec::new() };
        if let Some(group) = names.group(0, name) {
            return match name {
                DEFAULT => {
                    let bindings = self.bindings(DefinitionId { file, group });
                    each(bindings.iter(), |binding| match binding {
                        Binding { value: Some(value), .. } => self.expression(file, value),
                        Binding { import: Some(import), .. } => self.import(file, import),
                        _ => Vec::new(),
                    })
                }
                _ => self.group(file, group),
            };
        }
        for module in &names.stars {
            for target in self.targets(file, module).into_iter().filter(|target| *target != file) {
                let found = self.export(target, name);
                if !found.is_empty() {
                    return found;
                }
            }
        }
        // If a module exports a single value, its members are also exports of the module.
        match names.group(0, DEFAULT) {
            Some(_) if name != DEFAULT => {
                let mut found = each(self.export(file, DEFAULT), |value| self.member(&value, name));
                found.retain(|value| matches!(value, Value::Definition(_)));
                found
            }
            _ => Vec::new(),
        }
    }

    fn of_type(&self, id: DefinitionId, name: &str) -> Vec<Value> {
        let Some(_step) = self.step() else { return vec![Value::Unknown] };
        let own = self.with(id, |names, group| {
            let mut scopes = group.bindings.iter().filter_map(|binding| binding.owns);
            scopes.find_map(|scope| names.group(scope, name))
        });
        if let Some(group) = own.flatten() {
            return self.group(id.file, group);
        }
        let mut is_known = true;
        for base in self.bases(id) {
            match base {
                Value::Instance(base) if base != id => match self.of_type(base, name) {
                    found if matches!(found.as_slice(), [Value::Outside | Value::Unknown]) => {
                        is_known &= found != [Value::Outside];
                    }
                    found => return found,
                },
                _ => is_known = false,
            }
        }
        // If all base types are known, only a subtype can define the member. Otherwise, a base type from
        // outside the repository may define it.
        vec![if is_known { Value::Unknown } else { Value::Outside }]
    }

    fn bases(&self, id: DefinitionId) -> Vec<Value> {
        let bindings = self.bindings(id);
        each(bindings.iter().filter_map(|binding| binding.base.as_ref()), |base| {
            let mut found = self.annotated(id.file, base);
            found.retain(|value| *value != Value::Instance(id));
            found
        })
    }

    /// Resolves the value of a variable, a parameter or a property.
    fn value_of(&self, id: DefinitionId) -> Vec<Value> {
        let Some(_step) = self.step() else { return vec![Value::Unknown] };
        let found = each(self.bindings(id).iter(), |binding| match binding {
            Binding { annotation: Some(annotation), .. } => self.annotation(id.file, annotation),
            Binding { returns: Some(returns), .. } => self.annotation(id.file, returns),
            Binding { value: Some(value), is_part: true, .. } => {
                let Some(names) = self.file(id.file) else { return Vec::new() };
                each(self.expression(id.file, value), |value| self.member(&value, names.str(&binding.name)))
            }
            Binding { value: Some(value), .. } => self.expression(id.file, value),
            Binding { import: Some(import), .. } => self.import(id.file, import),
            _ => vec![Value::Unknown],
        });
        if found.is_empty() { vec![Value::Unknown] } else { found }
    }

    fn called(&self, callee: &Value) -> Vec<Value> {
        let Some(_step) = self.step() else { return vec![Value::Unknown] };
        match callee {
            Value::Outside => vec![Value::Outside],
            Value::Definition(id) if self.is_type(*id) => vec![Value::Instance(*id)],
            Value::Definition(id) => {
                let bindings = self.bindings(*id);
                let returns: Vec<_> =
                    bindings.iter().filter_map(|binding| binding.returns.as_ref()).collect();
                if !returns.is_empty() {
                    return each(returns, |returns| self.annotation(id.file, returns));
                }
                let values = bindings.iter().filter_map(|binding| binding.value.as_ref());
                let found = each(values, |value| match self.expression(id.file, value) {
                    found if found == [Value::Definition(*id)] => vec![Value::Unknown],
                    found => each(found, |value| self.called(&value)),
                });
                if found.is_empty() { vec![Value::Unknown] } else { found }
            }
            // The only value that a module exports.
            Value::Module { file, path } => match self.of_module(*file, path, DEFAULT) {
                found if found == [Value::Outside] => vec![Value::Unknown],
                found => each(found, |value| self.called(&value)),
            },
            Value::Instance(_) | Value::Receiver | Value::Unknown => vec![Value::Unknown],
        }
    }

    /// Resolves a type annotation to instances of its types.
    fn annotation(&self, file: usize, range: &Range<usize>) -> Vec<Value> {
        let found = self.annotated(file, range);
        let is_type = |value: &&Value| matches!(value, Value::Instance(_) | Value::Receiver);
        let types: Vec<Value> = found.iter().filter(is_type).cloned().collect();
        match types {
            types if !types.is_empty() => types,
            _ if found.contains(&Value::Unknown) || found.is_empty() => vec![Value::Unknown],
            _ => vec![Value::Outside],
        }
    }

    /// Resolves the type names in a range, including those in strings.
    fn annotated(&self, file: usize, range: &Range<usize>) -> Vec<Value> {
        let (Some(names), Some(_step)) = (self.file(file), self.step()) else { return vec![Value::Unknown] };
        let scope = names.scope_at(range.start);
        let chains = chains(names.str(range));
        each(chains.into_iter().take(MAX_NAMES), |chain| {
            let mut parts = chain.into_iter();
            let Some((start, first)) = parts.next() else { return Vec::new() };
            let mut last = start;
            let range_of_first = range.start + start..range.start + start + first.len();
            if matches!(names.shape(&range_of_first), Some(Shape::Own)) {
                return vec![Value::Receiver];
            }
            let mut values = self.name(file, scope, first);
            for (start, part) in parts {
                last = start;
                values = each(values, |value| self.member(&value, part));
            }
            if names.any.contains(&(range.start + last)) {
                return vec![Value::Unknown];
            }
            each(values, |value| match value {
                Value::Definition(id) if self.is_type(id) => vec![Value::Instance(id)],
                Value::Outside => vec![Value::Outside],
                _ => vec![Value::Unknown],
            })
        })
    }
}

/// Whether a name bound in a scope is visible to a mention. `is_innermost` is set if the scope directly
/// contains the mention.
fn is_seen(group: &Group, kind: ScopeKind, is_innermost: bool) -> bool {
    let outer = group.bindings.iter().all(|binding| binding.reach == Reach::Outer);
    let inside = group.bindings.iter().any(|binding| binding.reach == Reach::Inside);
    !outer && (kind != ScopeKind::Type || is_innermost || inside)
}

/// Collects the meanings of all items, without duplicates and up to [`MAX_VALUES`].
fn each<T>(all: impl IntoIterator<Item = T>, mut mean: impl FnMut(T) -> Vec<Value>) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for one in all {
        for value in mean(one) {
            if found.len() < MAX_VALUES && !found.contains(&value) {
                found.push(value);
            }
        }
    }
    found
}

fn is_word(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_alphabetic() || matches!(first, '_' | '$'))
        && letters.all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '$'))
}

/// Returns the dotted names in a text, each as its parts with their offsets.
fn chains(text: &str) -> Vec<Vec<(usize, &str)>> {
    let mut found: Vec<Vec<(usize, &str)>> = Vec::new();
    let mut end = None;
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find(is_part)).map(|start| at + start) {
        let rest = text.get(start..).unwrap_or_default();
        let word = rest.get(..rest.find(|letter| !is_part(letter)).unwrap_or(rest.len())).unwrap_or_default();
        let follows = end.is_some_and(|end: usize| text.get(end..start) == Some("."));
        match found.last_mut() {
            Some(chain) if follows => chain.push((start, word)),
            _ => found.push(vec![(start, word)]),
        }
        at = start + word.len();
        end = Some(at);
    }
    found
}
