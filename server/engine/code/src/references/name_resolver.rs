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

use super::names_cache::FileScopesCache;
use super::report::SearchedPart;
use super::scopes::{
    Binding, BindingGroup, BindingKind, DEFAULT_EXPORT, ExpressionShape, FileScopes, Import, ScopeKind,
};
use crate::outline::{self, SyntaxTree};
use crate::symbols::{FileSymbols, ReferenceGraph, SymbolIndex};

/// Maximum number of steps for resolving one reference. The limit is high because a package may re-export the names
/// of many modules.
const MAX_RESOLUTION_STEPS: u32 = 2_000;
/// Maximum nesting depth of the steps that resolve one reference.
const MAX_RESOLUTION_DEPTH: u32 = 60;
/// Maximum number of meanings to consider for one expression.
const MAX_RESOLVED_VALUES: usize = 8;
/// Maximum number of names resolved in one annotation.
const MAX_ANNOTATION_NAMES: usize = 16;
/// Maximum number of parsed files kept in memory.
const MAX_CACHED_PARSED_FILES: usize = 256;
/// Maximum size of the texts that one search parses, in bytes. A text that is parsed twice counts twice.
const MAX_PARSED_BYTES: usize = 128 << 20;

/// Inputs of a search for references.
#[derive(Clone, Copy)]
pub struct ReferenceSources<'a> {
    pub index: &'a SymbolIndex,
    pub graph: &'a ReferenceGraph,
    pub names: &'a FileScopesCache,
    /// Returns the current text of a file, or `None` if it cannot be read.
    pub texts: &'a (dyn Fn(&FileKey) -> Option<Arc<str>> + Sync),
    /// Calls a function for each part of the files with the part's number and the number of parts, on several threads
    /// if the caller likes, and returns the results in any order.
    pub each_part: &'a (dyn Fn(SearchPartFn<'_>) -> Vec<SearchedPart> + Sync),
}

/// Searches one part of the files. Takes the part's number and the number of parts.
pub type SearchPartFn<'a> = &'a (dyn Fn(usize, usize) -> SearchedPart + Sync);

/// A definition: all bindings of a name in one scope of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DefinitionId {
    pub(super) file: usize,
    pub(super) group: usize,
}

/// The meaning of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ResolvedValue {
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
pub(super) struct NameResolver<'a> {
    pub(super) sources: ReferenceSources<'a>,
    cancel: &'a Cancel,
    files: RefCell<FxHashMap<usize, Option<Arc<FileScopes>>>>,
    steps: Cell<u32>,
    depth: Cell<u32>,
    cancelled: Cell<bool>,
    /// Number of bytes that may still be parsed.
    remaining_bytes: Cell<usize>,
    /// Files that were not parsed, because nothing was left.
    skipped: RefCell<BTreeSet<FileKey>>,
}

/// A step in progress. Decrements the nesting depth when dropped.
struct StepGuard<'m>(&'m Cell<u32>);

impl Drop for StepGuard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

impl<'a> NameResolver<'a> {
    /// Creates a resolver for a search that is divided into so many `parts`.
    pub(super) fn new(sources: ReferenceSources<'a>, cancel: &'a Cancel, parts: usize) -> Self {
        Self {
            sources,
            cancel,
            files: RefCell::default(),
            steps: Cell::new(0),
            depth: Cell::new(0),
            cancelled: Cell::new(false),
            remaining_bytes: Cell::new(MAX_PARSED_BYTES / parts.max(1)),
            skipped: RefCell::default(),
        }
    }

    /// Returns the files that were not searched, because the others were too large in total.
    pub(super) fn into_skipped(self) -> BTreeSet<FileKey> {
        self.skipped.into_inner()
    }

    pub(super) fn file_number(&self, key: &FileKey) -> Option<usize> {
        self.sources.graph.files().binary_search(key).ok()
    }

    pub(super) fn key(&self, file: usize) -> Option<&'a FileKey> {
        self.sources.graph.files().get(file)
    }

    /// Returns the names of a file, read on demand, or `None` if the file does not exist or its language has
    /// no reference rules.
    pub(super) fn file_scopes(&self, file: usize) -> Option<Arc<FileScopes>> {
        if let Some(known) = self.files.borrow().get(&file) {
            return known.clone();
        }
        let read = self.read_file_scopes(file).unwrap_or_else(|Cancelled| {
            self.cancelled.set(true);
            None
        });
        let mut files = self.files.borrow_mut();
        if files.len() >= MAX_CACHED_PARSED_FILES {
            files.clear();
        }
        files.insert(file, read.clone());
        read
    }

    /// Reads and parses a file. Returns `None` if the index does not contain the file or it cannot be read.
    pub(super) fn parse_file(&self, key: &FileKey) -> Result<Option<(Arc<str>, SyntaxTree)>, Cancelled> {
        let Some(symbols) = self.sources.index.get(key) else { return Ok(None) };
        let Some(text) = (self.sources.texts)(key) else { return Ok(None) };
        self.parse_file_text(key, symbols, text)
    }

    fn parse_file_text(
        &self,
        key: &FileKey,
        symbols: &FileSymbols,
        text: Arc<str>,
    ) -> Result<Option<(Arc<str>, SyntaxTree)>, Cancelled> {
        if symbols.outline.unparsed.is_some() {
            return Ok(None);
        }
        match self.remaining_bytes.get().checked_sub(text.len()) {
            Some(remaining_bytes) => self.remaining_bytes.set(remaining_bytes),
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
    pub(super) fn check_cancelled(&self) -> Result<(), Cancelled> {
        self.cancel.check()?;
        if self.cancelled.get() { Err(Cancelled) } else { Ok(()) }
    }

    fn read_file_scopes(&self, file: usize) -> Result<Option<Arc<FileScopes>>, Cancelled> {
        let Some(key) = self.key(file) else { return Ok(None) };
        let Some(symbols) = self.sources.index.get(key) else { return Ok(None) };
        let Some(text) = (self.sources.texts)(key) else { return Ok(None) };
        self.sources.names.get_or_read(symbols.language, &text, || {
            let Some((text, tree)) = self.parse_file_text(key, symbols, Arc::clone(&text))? else {
                return Ok(None);
            };
            FileScopes::read(tree, text, self.cancel)
        })
    }

    /// Resets the step limit for a new mention.
    pub(super) fn reset_steps(&self) {
        self.steps.set(MAX_RESOLUTION_STEPS);
    }

    /// Starts a step. Returns `None` if the limit of steps or depth is reached.
    fn start_step(&self) -> Option<StepGuard<'_>> {
        let steps_left = self.steps.get().checked_sub(1)?;
        self.steps.set(steps_left);
        let depth = self.depth.get() + 1;
        if depth > MAX_RESOLUTION_DEPTH {
            return None;
        }
        self.depth.set(depth);
        Some(StepGuard(&self.depth))
    }

    /// Resolves a name in a scope and its enclosing scopes.
    pub(super) fn resolve_name(&self, file: usize, scope: usize, name: &str) -> Vec<ResolvedValue> {
        let (Some(names), Some(_step)) = (self.file_scopes(file), self.start_step()) else {
            return vec![ResolvedValue::Unknown];
        };
        let mut next_scope = Some(scope);
        while let Some(scope_index) = next_scope {
            let Some(candidate) = names.scopes.get(scope_index) else { break };
            if let Some(id) = names.binding_group_id(scope_index, name)
                && let Some(group) = names.groups.get(id)
                && is_visible_in_scope(group, candidate.kind, scope_index == scope)
            {
                return self.resolve_group(file, id);
            }
            next_scope = candidate.parent;
        }
        for module in &names.wildcard_imports {
            if let Some(values) = self.resolve_in_module(file, module, name) {
                return values;
            }
        }
        vec![ResolvedValue::Outside]
    }

    /// Resolves an import to the modules or definitions to which it refers.
    pub(super) fn resolve_import(&self, file: usize, import: &Import) -> Vec<ResolvedValue> {
        let module = || ResolvedValue::Module { file, path: import.module.clone() };
        let Some(name) = &import.name else { return vec![module()] };
        match self.resolve_module_member(file, &import.module, name) {
            values if **name == *DEFAULT_EXPORT && values == [ResolvedValue::Outside] => vec![module()],
            values => values,
        }
    }

    pub(super) fn resolve_expression(&self, file: usize, range: &Range<usize>) -> Vec<ResolvedValue> {
        let (Some(names), Some(_step)) = (self.file_scopes(file), self.start_step()) else {
            return vec![ResolvedValue::Unknown];
        };
        let enclosing_type = || {
            let group = names.enclosing_type_group(range.start)?;
            Some(DefinitionId { file, group })
        };
        match names.expression_shape(range) {
            Some(ExpressionShape::Member { object, name }) => {
                let name = names.str(name);
                collect_values(self.resolve_expression(file, object), |value| {
                    self.resolve_member(&value, name)
                })
            }
            Some(ExpressionShape::Call { callee }) => {
                let values =
                    collect_values(self.resolve_expression(file, callee), |value| self.resolve_call(&value));
                collect_values(values, |value| match (value, names.expression_shape(callee)) {
                    (ResolvedValue::Receiver, Some(ExpressionShape::Member { object, .. })) => {
                        self.resolve_expression(file, object)
                    }
                    (ResolvedValue::Receiver, _) => vec![ResolvedValue::Unknown],
                    (value, _) => vec![value],
                })
            }
            Some(ExpressionShape::Same(parts)) => {
                collect_values(parts.iter(), |part| self.resolve_expression(file, part))
            }
            Some(ExpressionShape::Literal) => vec![ResolvedValue::Outside],
            Some(ExpressionShape::Nothing) => Vec::new(),
            Some(ExpressionShape::Own) => {
                vec![enclosing_type().map_or(ResolvedValue::Unknown, ResolvedValue::Instance)]
            }
            Some(ExpressionShape::Super) => enclosing_type()
                .map_or(vec![ResolvedValue::Unknown], |enclosing_type| self.base_types(enclosing_type)),
            Some(ExpressionShape::Typed(annotation)) => self.resolve_annotation(file, annotation),
            None => match names.str(range) {
                text if is_identifier(text) => self.resolve_name(file, names.scope_at(range.start), text),
                _ => vec![ResolvedValue::Unknown],
            },
        }
    }

    /// Resolves a member of a value.
    pub(super) fn resolve_member(&self, value: &ResolvedValue, name: &str) -> Vec<ResolvedValue> {
        let Some(_step) = self.start_step() else { return vec![ResolvedValue::Unknown] };
        match value {
            ResolvedValue::Module { file, path } => self.resolve_module_member(*file, path, name),
            ResolvedValue::Instance(id) => self.resolve_type_member(*id, name),
            ResolvedValue::Outside => vec![ResolvedValue::Outside],
            ResolvedValue::Receiver | ResolvedValue::Unknown => vec![ResolvedValue::Unknown],
            ResolvedValue::Definition(id) if self.is_type(*id) => self.resolve_type_member(*id, name),
            ResolvedValue::Definition(id) => {
                collect_values(self.resolve_value(*id), |value| self.resolve_member(&value, name))
            }
        }
    }

    /// Whether the type at the start of an annotation is defined in the repository.
    pub(super) fn is_repository_type(&self, file: usize, annotation: &Range<usize>) -> bool {
        let Some(names) = self.file_scopes(file) else { return false };
        let text = names.str(annotation);
        let start = text.find(|letter: char| letter != ':' && !letter.is_whitespace()).unwrap_or(text.len());
        let trimmed = text.get(start..).unwrap_or_default();
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '.');
        let length = trimmed.find(|letter| !is_part(letter)).unwrap_or(trimmed.len());
        let start = annotation.start + start;
        let values = self.resolve_type_names(file, &(start..start + length));
        values.iter().any(|value| matches!(value, ResolvedValue::Instance(_)))
    }

    /// Returns a type and its known base types, direct and indirect.
    pub(super) fn self_and_base_types(&self, id: DefinitionId) -> Vec<DefinitionId> {
        let mut types = vec![id];
        let mut index = 0;
        while let Some(&current) = types.get(index).filter(|_| types.len() < 4 * MAX_RESOLVED_VALUES) {
            for base in self.base_types(current) {
                if let ResolvedValue::Instance(base) = base
                    && !types.contains(&base)
                {
                    types.push(base);
                }
            }
            index += 1;
        }
        types
    }

    fn with_group<R>(
        &self,
        id: DefinitionId,
        read: impl FnOnce(&FileScopes, &BindingGroup) -> R,
    ) -> Option<R> {
        let names = self.file_scopes(id.file)?;
        names.groups.get(id.group).map(|group| read(&names, group))
    }

    fn bindings(&self, id: DefinitionId) -> Vec<Binding> {
        self.with_group(id, |_, group| group.bindings.clone()).unwrap_or_default()
    }

    fn is_type(&self, id: DefinitionId) -> bool {
        let is_type = |binding: &Binding| binding.opened_scope.is_some() || binding.base.is_some();
        self.with_group(id, |_, group| group.bindings.iter().any(is_type)).unwrap_or(false)
    }

    /// Resolves a group of bindings to the targets of its imports and aliases, and to its own definition if it has
    /// one.
    fn resolve_group(&self, file: usize, group: usize) -> Vec<ResolvedValue> {
        let bindings = self.bindings(DefinitionId { file, group });
        let mut values = collect_values(bindings.iter(), |binding| match binding {
            Binding { import: Some(import), .. } => self.resolve_import(file, import),
            Binding { reach: BindingKind::Alias, value: Some(value), .. } => {
                self.resolve_expression(file, value)
            }
            _ => Vec::new(),
        });
        if bindings.iter().any(|binding| binding.import.is_none() && binding.reach != BindingKind::Alias) {
            values.push(ResolvedValue::Definition(DefinitionId { file, group }));
        }
        values
    }

    fn import_targets(&self, file: usize, module: &str) -> Vec<usize> {
        let Some(key) = self.key(file) else { return Vec::new() };
        let Some(symbols) = self.sources.index.get(key) else { return Vec::new() };
        self.sources.graph.imported_file_numbers(key, symbols.language, module)
    }

    fn resolve_module_member(&self, file: usize, module: &str, name: &str) -> Vec<ResolvedValue> {
        let Some(_step) = self.start_step() else { return vec![ResolvedValue::Unknown] };
        if let Some(values) = self.resolve_in_module(file, module, name) {
            return values;
        }
        let is_dotted = self
            .key(file)
            .and_then(|key| self.sources.index.get(key))
            .is_some_and(|symbols| symbols.language.imports == ImportStyle::Dotted);
        if is_dotted {
            let dot = if module.ends_with('.') { "" } else { "." };
            let path = format!("{module}{dot}{name}");
            if !self.import_targets(file, &path).is_empty() {
                return vec![ResolvedValue::Module { file, path: path.into() }];
            }
        }
        vec![ResolvedValue::Outside]
    }

    /// Resolves a name in the first file of a module that exports it.
    fn resolve_in_module(&self, file: usize, module: &str, name: &str) -> Option<Vec<ResolvedValue>> {
        let targets = self.import_targets(file, module).into_iter();
        targets.map(|target| self.resolve_export(target, name)).find(|values| !values.is_empty())
    }

    /// Resolves a name exported by a file. Returns no values if the file exports no such name.
    fn resolve_export(&self, file: usize, name: &str) -> Vec<ResolvedValue> {
        let (Some(names), Some(_step)) = (self.file_scopes(file), self.start_step()) else {
            return Vec::new();
        };
        if let Some(group) = names.binding_group_id(0, name) {
            return match name {
                DEFAULT_EXPORT => {
                    let bindings = self.bindings(DefinitionId { file, group });
                    collect_values(bindings.iter(), |binding| match binding {
                        Binding { value: Some(value), .. } => self.resolve_expression(file, value),
                        Binding { import: Some(import), .. } => self.resolve_import(file, import),
                        _ => Vec::new(),
                    })
                }
                _ => self.resolve_group(file, group),
            };
        }
        for module in &names.wildcard_imports {
            for target in self.import_targets(file, module).into_iter().filter(|target| *target != file) {
                let values = self.resolve_export(target, name);
                if !values.is_empty() {
                    return values;
                }
            }
        }
        // If a module exports a single value, its members are also exports of the module.
        match names.binding_group_id(0, DEFAULT_EXPORT) {
            Some(_) if name != DEFAULT_EXPORT => {
                let mut values = collect_values(self.resolve_export(file, DEFAULT_EXPORT), |value| {
                    self.resolve_member(&value, name)
                });
                values.retain(|value| matches!(value, ResolvedValue::Definition(_)));
                values
            }
            _ => Vec::new(),
        }
    }

    fn resolve_type_member(&self, id: DefinitionId, name: &str) -> Vec<ResolvedValue> {
        let Some(_step) = self.start_step() else { return vec![ResolvedValue::Unknown] };
        let own_group = self.with_group(id, |names, group| {
            let mut scopes = group.bindings.iter().filter_map(|binding| binding.opened_scope);
            scopes.find_map(|scope| names.binding_group_id(scope, name))
        });
        if let Some(group) = own_group.flatten() {
            return self.resolve_group(id.file, group);
        }
        let mut are_bases_known = true;
        for base in self.base_types(id) {
            match base {
                ResolvedValue::Instance(base) if base != id => match self.resolve_type_member(base, name) {
                    values
                        if matches!(values.as_slice(), [ResolvedValue::Outside | ResolvedValue::Unknown]) =>
                    {
                        are_bases_known &= values != [ResolvedValue::Outside];
                    }
                    values => return values,
                },
                _ => are_bases_known = false,
            }
        }
        // If all base types are known, only a subtype can define the member. Otherwise, a base type from
        // outside the repository may define it.
        vec![if are_bases_known { ResolvedValue::Unknown } else { ResolvedValue::Outside }]
    }

    fn base_types(&self, id: DefinitionId) -> Vec<ResolvedValue> {
        let bindings = self.bindings(id);
        collect_values(bindings.iter().filter_map(|binding| binding.base.as_ref()), |base| {
            let mut values = self.resolve_type_names(id.file, base);
            values.retain(|value| *value != ResolvedValue::Instance(id));
            values
        })
    }

    /// Resolves the value of a variable, a parameter or a property.
    fn resolve_value(&self, id: DefinitionId) -> Vec<ResolvedValue> {
        let Some(_step) = self.start_step() else { return vec![ResolvedValue::Unknown] };
        let values = collect_values(self.bindings(id).iter(), |binding| match binding {
            Binding { annotation: Some(annotation), .. } => self.resolve_annotation(id.file, annotation),
            Binding { returns: Some(returns), .. } => self.resolve_annotation(id.file, returns),
            Binding { value: Some(value), is_part: true, .. } => {
                let Some(names) = self.file_scopes(id.file) else { return Vec::new() };
                collect_values(self.resolve_expression(id.file, value), |value| {
                    self.resolve_member(&value, names.str(&binding.name))
                })
            }
            Binding { value: Some(value), .. } => self.resolve_expression(id.file, value),
            Binding { import: Some(import), .. } => self.resolve_import(id.file, import),
            _ => vec![ResolvedValue::Unknown],
        });
        if values.is_empty() { vec![ResolvedValue::Unknown] } else { values }
    }

    fn resolve_call(&self, callee: &ResolvedValue) -> Vec<ResolvedValue> {
        let Some(_step) = self.start_step() else { return vec![ResolvedValue::Unknown] };
        match callee {
            ResolvedValue::Outside => vec![ResolvedValue::Outside],
            ResolvedValue::Definition(id) if self.is_type(*id) => vec![ResolvedValue::Instance(*id)],
            ResolvedValue::Definition(id) => {
                let bindings = self.bindings(*id);
                let returns: Vec<_> =
                    bindings.iter().filter_map(|binding| binding.returns.as_ref()).collect();
                if !returns.is_empty() {
                    return collect_values(returns, |returns| self.resolve_annotation(id.file, returns));
                }
                let values = bindings.iter().filter_map(|binding| binding.value.as_ref());
                let values = collect_values(values, |value| match self.resolve_expression(id.file, value) {
                    values if values == [ResolvedValue::Definition(*id)] => vec![ResolvedValue::Unknown],
                    values => collect_values(values, |value| self.resolve_call(&value)),
                });
                if values.is_empty() { vec![ResolvedValue::Unknown] } else { values }
            }
            // The only value that a module exports.
            ResolvedValue::Module { file, path } => {
                match self.resolve_module_member(*file, path, DEFAULT_EXPORT) {
                    values if values == [ResolvedValue::Outside] => vec![ResolvedValue::Unknown],
                    values => collect_values(values, |value| self.resolve_call(&value)),
                }
            }
            ResolvedValue::Instance(_) | ResolvedValue::Receiver | ResolvedValue::Unknown => {
                vec![ResolvedValue::Unknown]
            }
        }
    }

    /// Resolves a type annotation to instances of its types.
    fn resolve_annotation(&self, file: usize, range: &Range<usize>) -> Vec<ResolvedValue> {
        let values = self.resolve_type_names(file, range);
        let is_type =
            |value: &&ResolvedValue| matches!(value, ResolvedValue::Instance(_) | ResolvedValue::Receiver);
        let types: Vec<ResolvedValue> = values.iter().filter(is_type).cloned().collect();
        match types {
            types if !types.is_empty() => types,
            _ if values.contains(&ResolvedValue::Unknown) || values.is_empty() => {
                vec![ResolvedValue::Unknown]
            }
            _ => vec![ResolvedValue::Outside],
        }
    }

    /// Resolves the type names in a range, including those in strings.
    fn resolve_type_names(&self, file: usize, range: &Range<usize>) -> Vec<ResolvedValue> {
        let (Some(names), Some(_step)) = (self.file_scopes(file), self.start_step()) else {
            return vec![ResolvedValue::Unknown];
        };
        let scope = names.scope_at(range.start);
        let dotted_names = dotted_names(names.str(range));
        collect_values(dotted_names.into_iter().take(MAX_ANNOTATION_NAMES), |chain| {
            let mut parts = chain.into_iter();
            let Some((start, first)) = parts.next() else { return Vec::new() };
            let mut last = start;
            let range_of_first = range.start + start..range.start + start + first.len();
            if matches!(names.expression_shape(&range_of_first), Some(ExpressionShape::Own)) {
                return vec![ResolvedValue::Receiver];
            }
            let mut values = self.resolve_name(file, scope, first);
            for (start, part) in parts {
                last = start;
                values = collect_values(values, |value| self.resolve_member(&value, part));
            }
            if names.any.contains(&(range.start + last)) {
                return vec![ResolvedValue::Unknown];
            }
            collect_values(values, |value| match value {
                ResolvedValue::Definition(id) if self.is_type(id) => vec![ResolvedValue::Instance(id)],
                ResolvedValue::Outside => vec![ResolvedValue::Outside],
                _ => vec![ResolvedValue::Unknown],
            })
        })
    }
}

/// Whether a name bound in a scope is visible to a mention. `is_innermost` is set if the scope directly
/// contains the mention.
fn is_visible_in_scope(group: &BindingGroup, kind: ScopeKind, is_innermost: bool) -> bool {
    let outer = group.bindings.iter().all(|binding| binding.reach == BindingKind::Outer);
    let inside = group.bindings.iter().any(|binding| binding.reach == BindingKind::Inside);
    !outer && (kind != ScopeKind::Type || is_innermost || inside)
}

/// Collects the meanings of all items, without duplicates and up to [`MAX_RESOLVED_VALUES`].
fn collect_values<T>(
    items: impl IntoIterator<Item = T>,
    mut resolve: impl FnMut(T) -> Vec<ResolvedValue>,
) -> Vec<ResolvedValue> {
    let mut values: Vec<ResolvedValue> = Vec::new();
    for item in items {
        for value in resolve(item) {
            if values.len() < MAX_RESOLVED_VALUES && !values.contains(&value) {
                values.push(value);
            }
        }
    }
    values
}

fn is_identifier(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_alphabetic() || matches!(first, '_' | '$'))
        && letters.all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '$'))
}

/// Returns the dotted names in a text, each as its parts with their offsets.
fn dotted_names(text: &str) -> Vec<Vec<(usize, &str)>> {
    let mut names: Vec<Vec<(usize, &str)>> = Vec::new();
    let mut end = None;
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
    let mut offset = 0;
    while let Some(start) = text.get(offset..).and_then(|rest| rest.find(is_part)).map(|start| offset + start)
    {
        let rest = text.get(start..).unwrap_or_default();
        let word = rest.get(..rest.find(|letter| !is_part(letter)).unwrap_or(rest.len())).unwrap_or_default();
        let follows = end.is_some_and(|end: usize| text.get(end..start) == Some("."));
        match names.last_mut() {
            Some(chain) if follows => chain.push((start, word)),
            _ => names.push(vec![(start, word)]),
        }
        offset = start + word.len();
        end = Some(offset);
    }
    names
}
