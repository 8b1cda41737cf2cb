//! The names of one file: its scopes, their bindings and imports, and the structure of its expressions, according to
//! `references.scm`.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};
use strata_base::cancel::{Cancel, Cancelled};
use strata_grammars::LanguageId;
use tree_sitter::{Node, Query, QueryCursor, QueryMatch, StreamingIterator};

use crate::outline::{self, SyntaxTree};

/// Number of matches between checks of the cancel flag.
const MATCHES_PER_CANCEL_CHECK: usize = 4_096;

#[derive(Debug)]
pub(super) struct FileScopes {
    pub(super) text: Arc<str>,
    pub(super) tree: SyntaxTree,
    /// Scopes in order of their start, outer before inner. The file's own scope is first.
    pub(super) scopes: Vec<Scope>,
    pub(super) groups: Vec<BindingGroup>,
    /// Modules from which all names are imported (`import *`).
    pub(super) wildcard_imports: Vec<Box<str>>,
    /// Index of the group of each bound name, keyed by the start of the name.
    pub(super) bound: FxHashMap<usize, usize>,
    /// Imported names, keyed by the start of the name.
    pub(super) imported: FxHashMap<usize, Import>,
    /// Range of the object of each member access, keyed by the start of the member's name.
    pub(super) members: FxHashMap<usize, Range<usize>>,
    /// Names of members in quotes, such as `object["name"]`.
    quoted: Vec<Range<usize>>,
    /// Byte offsets at which object keys in values of unknown type start.
    pub(super) keys: FxHashSet<usize>,
    /// Ranges of object values that initialize a variable, in order, each with the range of the variable's type
    /// annotation, if any.
    records: Vec<(Range<usize>, Option<Range<usize>>)>,
    /// Byte offsets at which argument labels start.
    pub(super) labels: FxHashSet<usize>,
    /// Starts of the names of types that accept every value, such as `any`.
    pub(super) any: FxHashSet<usize>,
    shapes: FxHashMap<(usize, usize), ExpressionShape>,
}

/// A region of a file in which names are bound.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) range: Range<usize>,
    pub(super) kind: ScopeKind,
    pub(super) parent: Option<usize>,
    /// Start of the name of the definition that opens the scope.
    name: Option<usize>,
    pub(super) names: FxHashMap<Box<str>, usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ScopeKind {
    /// A file or namespace. Its names are visible inside and reachable from outside.
    Module,
    /// A type. Its names are reached through a value or the type's own name.
    Type,
    /// A function. Its names are private.
    Function,
}

/// All bindings of a name in one scope.
#[derive(Debug)]
pub(super) struct BindingGroup {
    pub(super) scope: usize,
    pub(super) name: Box<str>,
    /// Bindings in order of position.
    pub(super) bindings: Vec<Binding>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Binding {
    pub(super) name: Range<usize>,
    /// Range of the annotated type.
    pub(super) annotation: Option<Range<usize>>,
    /// Range of the assigned value.
    pub(super) value: Option<Range<usize>>,
    /// Range of the annotated return type.
    pub(super) returns: Option<Range<usize>>,
    /// Range of a base type.
    pub(super) base: Option<Range<usize>>,
    /// Whether the value is an object of which the binding takes the part with its name.
    pub(super) is_part: bool,
    /// Range of the name of the type to which the definition adds a member.
    owner: Option<Range<usize>>,
    /// Index of the scope that the binding opens.
    pub(super) opened_scope: Option<usize>,
    pub(super) import: Option<Import>,
    pub(super) reach: BindingKind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BindingKind {
    #[default]
    Scope,
    /// Visible only inside the scope, even if the scope is a type.
    Inside,
    /// Refers to a name of an outer scope.
    Outer,
    /// Another name for the assigned value.
    Alias,
}

/// The target of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) module: Box<str>,
    /// The imported name; `None` for the whole module.
    pub(super) name: Option<Box<str>>,
}

/// The structure of an expression.
#[derive(Clone, Debug)]
pub(super) enum ExpressionShape {
    Member {
        object: Range<usize>,
        name: Range<usize>,
    },
    Call {
        callee: Range<usize>,
    },
    Same(Vec<Range<usize>>),
    /// A value of a built-in type.
    Literal,
    /// The absence of a value, such as `null`.
    Nothing,
    /// The instance on which the enclosing method was called.
    Own,
    /// The instance on which the enclosing method was called, as a value of its base type.
    Super,
    /// A value of the annotated type.
    Typed(Range<usize>),
}

/// The name of a module's default export.
pub(super) const DEFAULT_EXPORT: &str = "default";

impl FileScopes {
    /// Collects the names of a parsed file. Returns `None` for a language without reference rules.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised before reading finishes.
    pub(super) fn read(tree: SyntaxTree, text: Arc<str>, cancel: &Cancel) -> Result<Option<Self>, Cancelled> {
        let Some(rules) = ReferenceRules::for_language(tree.language) else { return Ok(None) };
        let mut builder = FileScopesBuilder::new(&text);
        let mut cursor = QueryCursor::new();
        {
            let mut matches = cursor.matches(rules.query, tree.root(), text.as_bytes());
            let mut match_count = 0_usize;
            while let Some(query_match) = matches.next() {
                match_count += 1;
                if match_count.is_multiple_of(MATCHES_PER_CANCEL_CHECK) {
                    cancel.check()?;
                }
                builder.add_match(&MatchCaptures::new(query_match, &rules.roles));
            }
        }
        Ok(Some(builder.finish(tree, Arc::clone(&text))))
    }

    /// Returns the ranges of all mentions of a name, in order.
    ///
    /// # Errors
    /// [`Cancelled`] if the flag is raised.
    pub(super) fn mentions(&self, name: &str, cancel: &Cancel) -> Result<Vec<Range<usize>>, Cancelled> {
        let mut mentions = outline::find_mentions(&self.tree, &self.text, name, cancel)?;
        mentions.extend(self.quoted.iter().filter(|range| self.str(range) == name).cloned());
        mentions.sort_unstable_by_key(|range| range.start);
        Ok(mentions)
    }

    /// Returns the index of the innermost scope that contains a byte.
    pub(super) fn scope_at(&self, byte: usize) -> usize {
        innermost_scope(&self.scopes, byte)
    }

    pub(super) fn expression_shape(&self, range: &Range<usize>) -> Option<&ExpressionShape> {
        self.shapes.get(&(range.start, range.end))
    }

    pub(super) fn str(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    pub(super) fn binding_group_id(&self, scope: usize, name: &str) -> Option<usize> {
        self.scopes.get(scope)?.names.get(name).copied()
    }

    /// Whether other files may refer to the name whose bindings `group` contains.
    pub(super) fn is_referable(&self, group: &BindingGroup) -> bool {
        self.is_reachable(group.scope)
            && group
                .bindings
                .iter()
                .any(|binding| binding.import.is_none() && binding.reach == BindingKind::Scope)
            && &*group.name != DEFAULT_EXPORT
    }

    /// Whether other files can reach the names of a scope. False for functions, and for unnamed types outside any named
    /// type.
    fn is_reachable(&self, scope: usize) -> bool {
        let mut next_scope = self.scopes.get(scope);
        while let Some(scope) = next_scope {
            match scope.kind {
                ScopeKind::Module => return true,
                ScopeKind::Function => return false,
                ScopeKind::Type if scope.name.is_some() => return true,
                ScopeKind::Type => {}
            }
            next_scope = scope.parent.and_then(|parent| self.scopes.get(parent));
            if next_scope.is_some_and(|parent| parent.kind != ScopeKind::Type) {
                return false;
            }
        }
        false
    }

    /// Returns the annotated type of the variable that is initialized with the object value around `key`. The
    /// outer `None` means that there is no such value, the inner `None` that the variable has no annotation.
    pub(super) fn annotation_of_object_with_key(&self, key: usize) -> Option<Option<&Range<usize>>> {
        let before = self.records.partition_point(|(range, _)| range.start <= key);
        let mut enclosing = self.records.get(..before)?.iter().rev();
        enclosing.find(|(range, _)| range.end > key).map(|(_, annotation)| annotation.as_ref())
    }

    /// Returns the names of the types and namespaces that contain a group, outermost first.
    pub(super) fn container(&self, group: &BindingGroup) -> Vec<&str> {
        let mut names = Vec::new();
        let mut next_scope = Some(group.scope);
        while let Some(scope) = next_scope.and_then(|next_scope| self.scopes.get(next_scope)) {
            let owner =
                scope.name.and_then(|name| self.bound.get(&name)).and_then(|group| self.groups.get(*group));
            names.extend(owner.map(|owner| &*owner.name));
            next_scope = scope.parent;
        }
        names.reverse();
        names
    }

    /// Returns the index of the group of the innermost type that contains a byte.
    pub(super) fn enclosing_type_group(&self, byte: usize) -> Option<usize> {
        let mut next_scope = Some(self.scope_at(byte));
        while let Some(scope) = next_scope.and_then(|next_scope| self.scopes.get(next_scope)) {
            if scope.kind == ScopeKind::Type
                && let Some(group) = scope.name.and_then(|name| self.bound.get(&name))
            {
                return Some(*group);
            }
            next_scope = scope.parent;
        }
        None
    }
}

fn innermost_scope(scopes: &[Scope], byte: usize) -> usize {
    let mut index = scopes.partition_point(|scope| scope.range.start <= byte).saturating_sub(1);
    while let Some(scope) = scopes.get(index) {
        match scope.parent {
            Some(parent) if scope.range.end <= byte => index = parent,
            _ => break,
        }
    }
    index
}

/// The role of a capture in `references.scm`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReferenceRole {
    Scope(ScopeKind),
    Define,
    Owner,
    Bind,
    BindPart,
    BindInside,
    Outer,
    Alias,
    Record,
    Field,
    Type,
    Value,
    Returns,
    Base,
    Default,
    ImportModule,
    ImportFrom,
    ImportName,
    ImportAlias,
    ImportDefault,
    ImportAll,
    Access,
    Object,
    Member,
    QuotedMember,
    Call,
    Callee,
    Pass,
    Same,
    Literal,
    Nothing,
    Own,
    Super,
    Typed,
    Key,
    Label,
    Any,
    /// Used only by a predicate of the query.
    Silent,
}

struct ReferenceRules {
    query: &'static Query,
    /// Role of each capture, by capture index.
    roles: Vec<ReferenceRole>,
}

impl ReferenceRules {
    fn for_language(language: LanguageId) -> Option<&'static Self> {
        static RULES: [OnceLock<Option<ReferenceRules>>; LanguageId::COUNT] =
            [const { OnceLock::new() }; LanguageId::COUNT];
        let rules = RULES.get(language.index())?.get_or_init(|| {
            let query = language.references_query()?;
            let roles = query.capture_names().iter().map(|name| role(name).unwrap_or(ReferenceRole::Silent));
            Some(Self { query, roles: roles.collect() })
        });
        rules.as_ref()
    }
}

fn role(capture: &str) -> Option<ReferenceRole> {
    Some(match capture {
        "scope" => ReferenceRole::Scope(ScopeKind::Function),
        "scope.type" => ReferenceRole::Scope(ScopeKind::Type),
        "scope.module" => ReferenceRole::Scope(ScopeKind::Module),
        "define" => ReferenceRole::Define,
        "owner" => ReferenceRole::Owner,
        "bind" => ReferenceRole::Bind,
        "bind.part" => ReferenceRole::BindPart,
        "bind.local" => ReferenceRole::BindInside,
        "outer" => ReferenceRole::Outer,
        "alias" => ReferenceRole::Alias,
        "record" => ReferenceRole::Record,
        "field" => ReferenceRole::Field,
        "type" => ReferenceRole::Type,
        "value" => ReferenceRole::Value,
        "returns" => ReferenceRole::Returns,
        "base" => ReferenceRole::Base,
        "default" => ReferenceRole::Default,
        "import.module" => ReferenceRole::ImportModule,
        "import.from" => ReferenceRole::ImportFrom,
        "import.name" => ReferenceRole::ImportName,
        "import.alias" => ReferenceRole::ImportAlias,
        "import.default" => ReferenceRole::ImportDefault,
        "import.all" => ReferenceRole::ImportAll,
        "access" => ReferenceRole::Access,
        "object" => ReferenceRole::Object,
        "member" => ReferenceRole::Member,
        "member.quoted" => ReferenceRole::QuotedMember,
        "call" => ReferenceRole::Call,
        "callee" => ReferenceRole::Callee,
        "pass" => ReferenceRole::Pass,
        "same" => ReferenceRole::Same,
        "literal" => ReferenceRole::Literal,
        "nothing" => ReferenceRole::Nothing,
        "self" => ReferenceRole::Own,
        "super" => ReferenceRole::Super,
        "typed" => ReferenceRole::Typed,
        "key" => ReferenceRole::Key,
        "label" => ReferenceRole::Label,
        "any" => ReferenceRole::Any,
        _ => return None,
    })
}

/// The nodes of one match with their roles.
struct MatchCaptures<'t> {
    parts: Vec<(ReferenceRole, Node<'t>)>,
}

impl<'t> MatchCaptures<'t> {
    fn new(query_match: &QueryMatch<'_, 't>, roles: &[ReferenceRole]) -> Self {
        let parts = query_match.captures.iter().filter_map(|capture| {
            let role = usize::try_from(capture.index).ok().and_then(|at| roles.get(at))?;
            Some((*role, capture.node))
        });
        Self { parts: parts.collect() }
    }

    fn range(&self, searched_role: ReferenceRole) -> Option<Range<usize>> {
        self.parts.iter().find(|(role, _)| *role == searched_role).map(|(_, node)| node.byte_range())
    }
}

/// The scopes and names found in a file so far, before the scopes are nested.
struct FileScopesBuilder<'s> {
    text: &'s str,
    scopes: FxHashMap<(usize, usize), (ScopeKind, Option<usize>)>,
    bindings: FxHashMap<(usize, BindingScope), Binding>,
    names: FileScopeParts,
}

/// The scope in which a name is bound.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum BindingScope {
    /// The enclosing scope.
    Around,
    /// The parent of the scope that the definition opens.
    Outside,
    /// The enclosing type.
    Type,
    /// The type that the definition names.
    Owner,
    /// The file, as its default export.
    Default,
}

#[derive(Default)]
struct FileScopeParts {
    wildcard_imports: Vec<Box<str>>,
    imported: FxHashMap<usize, Import>,
    members: FxHashMap<usize, Range<usize>>,
    quoted: Vec<Range<usize>>,
    keys: FxHashSet<usize>,
    records: FxHashMap<(usize, usize), Option<Range<usize>>>,
    labels: FxHashSet<usize>,
    any: FxHashSet<usize>,
    shapes: FxHashMap<(usize, usize), ExpressionShape>,
}

impl<'s> FileScopesBuilder<'s> {
    fn new(text: &'s str) -> Self {
        Self {
            text,
            scopes: FxHashMap::default(),
            bindings: FxHashMap::default(),
            names: FileScopeParts::default(),
        }
    }

    fn str(&self, range: &Range<usize>) -> &'s str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    fn bind(&mut self, name: Range<usize>, place: BindingScope) -> &mut Binding {
        let start = name.start;
        self.bindings.entry((start, place)).or_insert_with(|| Binding { name, ..Binding::default() })
    }

    fn add_match(&mut self, parts: &MatchCaptures<'_>) {
        let define = parts.range(ReferenceRole::Define);
        for (role, node) in &parts.parts {
            let range = node.byte_range();
            match role {
                ReferenceRole::Scope(kind) => {
                    let scope = self.scopes.entry((range.start, range.end)).or_insert((*kind, None));
                    scope.1 = scope.1.or(define.as_ref().map(|name| name.start));
                }
                ReferenceRole::Define => match parts.range(ReferenceRole::Owner) {
                    Some(_) => self.bind_with_related_ranges(range, BindingScope::Owner, parts),
                    None => self.bind_with_related_ranges(range, BindingScope::Outside, parts),
                },
                ReferenceRole::Bind => self.bind_with_related_ranges(range, BindingScope::Around, parts),
                ReferenceRole::Field => self.bind_with_related_ranges(range, BindingScope::Type, parts),
                ReferenceRole::BindPart => {
                    self.bind_with_related_ranges(range.clone(), BindingScope::Around, parts);
                    self.bind(range, BindingScope::Around).is_part = true;
                }
                ReferenceRole::BindInside => {
                    self.bind(range, BindingScope::Around).reach = BindingKind::Inside;
                }
                ReferenceRole::Outer => self.bind(range, BindingScope::Around).reach = BindingKind::Outer,
                ReferenceRole::Alias => {
                    self.bind_with_related_ranges(range.clone(), BindingScope::Around, parts);
                    self.bind(range, BindingScope::Around).reach = BindingKind::Alias;
                }
                ReferenceRole::Record => {
                    let annotation = self.names.records.entry((range.start, range.end)).or_default();
                    *annotation = annotation.take().or_else(|| parts.range(ReferenceRole::Type));
                }
                ReferenceRole::Default => {
                    let binding = self.bind(range.clone(), BindingScope::Default);
                    binding.value = Some(range);
                }
                ReferenceRole::Key => {
                    self.names.keys.insert(range.start);
                }
                ReferenceRole::Label => {
                    self.names.labels.insert(range.start);
                }
                ReferenceRole::Any => {
                    self.names.any.insert(range.start);
                }
                ReferenceRole::Literal => self.record_shape(range, ExpressionShape::Literal),
                ReferenceRole::Nothing => self.record_shape(range, ExpressionShape::Nothing),
                ReferenceRole::Own => self.record_shape(range, ExpressionShape::Own),
                ReferenceRole::Super => self.record_shape(range, ExpressionShape::Super),
                ReferenceRole::Access => {
                    let quoted = parts.range(ReferenceRole::QuotedMember);
                    self.names.quoted.extend(quoted.clone());
                    let member = parts.range(ReferenceRole::Member).or(quoted);
                    if let (Some(object), Some(name)) = (parts.range(ReferenceRole::Object), member) {
                        self.names.members.insert(name.start, object.clone());
                        self.record_shape(range, ExpressionShape::Member { object, name });
                    }
                }
                ReferenceRole::Call => {
                    if let Some(callee) = parts.range(ReferenceRole::Callee) {
                        self.record_shape(range, ExpressionShape::Call { callee });
                    }
                }
                ReferenceRole::Pass => {
                    let same_value = parts.parts.iter().filter(|(role, _)| *role == ReferenceRole::Same);
                    self.record_shape(
                        range,
                        ExpressionShape::Same(same_value.map(|(_, node)| node.byte_range()).collect()),
                    );
                }
                ReferenceRole::Typed => {
                    if let Some(annotation) = parts.range(ReferenceRole::Type) {
                        self.record_shape(range, ExpressionShape::Typed(annotation));
                    }
                }
                ReferenceRole::ImportModule | ReferenceRole::ImportName | ReferenceRole::ImportDefault => {
                    self.bind_import(*role, range, parts);
                }
                ReferenceRole::ImportAll => {
                    let module = parts.range(ReferenceRole::ImportFrom).map(|range| self.str(&range).into());
                    self.names.wildcard_imports.extend(module);
                }
                _ => {}
            }
        }
    }

    /// Records the shape of an expression. Some patterns match `super()` as an ordinary call, so any other
    /// shape takes precedence over a call.
    fn record_shape(&mut self, range: Range<usize>, shape: ExpressionShape) {
        let place = (range.start, range.end);
        match shape {
            ExpressionShape::Call { .. } => {
                self.names.shapes.entry(place).or_insert(shape);
            }
            _ => {
                self.names.shapes.insert(place, shape);
            }
        }
    }

    fn bind_with_related_ranges(
        &mut self,
        name: Range<usize>,
        place: BindingScope,
        parts: &MatchCaptures<'_>,
    ) {
        let binding = self.bind(name, place);
        let add = |slot: &mut Option<Range<usize>>, role| *slot = slot.take().or_else(|| parts.range(role));
        add(&mut binding.annotation, ReferenceRole::Type);
        add(&mut binding.value, ReferenceRole::Value);
        add(&mut binding.returns, ReferenceRole::Returns);
        add(&mut binding.base, ReferenceRole::Base);
        add(&mut binding.owner, ReferenceRole::Owner);
    }

    fn bind_import(&mut self, role: ReferenceRole, range: Range<usize>, parts: &MatchCaptures<'_>) {
        let imported_name: Box<str> = self.str(&range).into();
        let alias = parts.range(ReferenceRole::ImportAlias);
        let from = parts.range(ReferenceRole::ImportFrom).map(|range| self.str(&range));
        let (name, import) = match (role, from) {
            (ReferenceRole::ImportModule, _) => match alias {
                Some(alias) => (alias, Import { module: imported_name, name: None }),
                // `import a.b` binds `a`.
                None => {
                    let first_part = imported_name.split('.').next().unwrap_or_default().len();
                    let first_part = range.start..range.start + first_part;
                    let module = self.str(&first_part).into();
                    (first_part, Import { module, name: None })
                }
            },
            (ReferenceRole::ImportDefault, Some(from)) => {
                (range, Import { module: from.into(), name: Some(DEFAULT_EXPORT.into()) })
            }
            (_, Some(from)) => {
                let import = Import { module: from.into(), name: Some(imported_name) };
                self.names.imported.insert(range.start, import.clone());
                (alias.unwrap_or(range), import)
            }
            _ => return,
        };
        self.bind(name, BindingScope::Around).import = Some(import);
    }

    fn finish(self, tree: SyntaxTree, text: Arc<str>) -> FileScopes {
        let mut scopes = nest_scopes(self.scopes, self.text.len());
        let mut bindings: Vec<((usize, BindingScope), Binding)> = self.bindings.into_iter().collect();
        // A type may be defined after its members.
        bindings.sort_unstable_by_key(|((start, place), _)| (*place == BindingScope::Owner, *start, *place));
        let scope_by_name: FxHashMap<usize, usize> = (0..)
            .zip(&scopes)
            .filter_map(|(index, scope): (usize, &Scope)| Some((scope.name?, index)))
            .collect();
        let mut groups: Vec<BindingGroup> = Vec::new();
        let mut bound = FxHashMap::default();
        for ((start, place), mut binding) in bindings {
            let enclosing_scope = innermost_scope(&scopes, start);
            let scope = match place {
                BindingScope::Around => Some(enclosing_scope),
                BindingScope::Outside => match scope_by_name.get(&start) {
                    Some(opened) => scopes.get(*opened).and_then(|scope| scope.parent),
                    None => Some(enclosing_scope),
                },
                BindingScope::Type => enclosing_type_scope(&scopes, enclosing_scope),
                BindingScope::Owner => {
                    let owner = binding.owner.as_ref().and_then(|owner| self.text.get(owner.clone()));
                    let owner = owner.and_then(|owner| visible_group(&scopes, enclosing_scope, owner));
                    let owner = owner.and_then(|group| groups.get_mut(group));
                    Some(owner.and_then(|owner| member_scope(owner, &mut scopes)).unwrap_or(enclosing_scope))
                }
                BindingScope::Default => Some(0),
            };
            let name = match place {
                BindingScope::Default => DEFAULT_EXPORT,
                _ => self.text.get(binding.name.clone()).unwrap_or_default(),
            };
            let Some(scope) = scope.filter(|_| !name.is_empty()) else { continue };
            binding.opened_scope = scope_by_name.get(&start).copied().filter(|opened| {
                place == BindingScope::Outside
                    && scopes.get(*opened).is_some_and(|scope| scope.kind != ScopeKind::Function)
            });
            let next = groups.len();
            let Some(names) = scopes.get_mut(scope).map(|scope| &mut scope.names) else { continue };
            let group = *names.entry(name.into()).or_insert(next);
            if group == next {
                groups.push(BindingGroup { scope, name: name.into(), bindings: Vec::new() });
            }
            if let Some(group) = groups.get_mut(group) {
                group.bindings.push(binding);
            }
            if place != BindingScope::Default {
                bound.insert(start, group);
            }
        }
        let FileScopeParts {
            wildcard_imports,
            imported,
            members,
            quoted,
            keys,
            records,
            labels,
            any,
            shapes,
        } = self.names;
        let records = records.into_iter().map(|((start, end), annotation)| (start..end, annotation));
        let mut records: Vec<_> = records.collect();
        records.sort_unstable_by_key(|(range, _)| range.start);
        FileScopes {
            text,
            tree,
            scopes,
            groups,
            wildcard_imports,
            bound,
            imported,
            members,
            quoted,
            keys,
            records,
            labels,
            any,
            shapes,
        }
    }
}

/// Sorts the scopes of a file and links each to its enclosing scope.
fn nest_scopes(
    found_scopes: FxHashMap<(usize, usize), (ScopeKind, Option<usize>)>,
    end: usize,
) -> Vec<Scope> {
    let file_scope = Scope {
        range: 0..end,
        kind: ScopeKind::Module,
        parent: None,
        name: None,
        names: FxHashMap::default(),
    };
    let mut scopes = vec![file_scope];
    let mut found_scopes: Vec<_> = found_scopes.into_iter().collect();
    found_scopes.sort_unstable_by_key(|((start, end), _)| (*start, usize::MAX - end));
    let mut open = vec![0_usize];
    for ((start, end), (kind, name)) in found_scopes {
        while open.len() > 1
            && open.last().and_then(|index| scopes.get(*index)).is_some_and(|scope| scope.range.end <= start)
        {
            open.pop();
        }
        let parent = open.last().copied();
        open.push(scopes.len());
        scopes.push(Scope { range: start..end, kind, parent, name, names: FxHashMap::default() });
    }
    scopes
}

/// Returns the index of the group that a name means in a scope.
fn visible_group(scopes: &[Scope], scope: usize, name: &str) -> Option<usize> {
    let mut next_scope = Some(scope);
    while let Some(scope) = next_scope.and_then(|next_scope| scopes.get(next_scope)) {
        if let Some(group) = scope.names.get(name) {
            return Some(*group);
        }
        next_scope = scope.parent;
    }
    None
}

/// Returns the scope of the members that are defined outside their type, added if the type has no scope. Returns `None`
/// for an imported type.
fn member_scope(owner: &mut BindingGroup, scopes: &mut Vec<Scope>) -> Option<usize> {
    let binding = owner.bindings.iter_mut().find(|binding| binding.import.is_none())?;
    let next = scopes.len();
    let scope = *binding.opened_scope.get_or_insert(next);
    if scope == next {
        // No text is inside, and scopes are in order of their start.
        let end = scopes.first()?.range.end;
        let (kind, name) = (ScopeKind::Type, Some(binding.name.start));
        let names = FxHashMap::default();
        scopes.push(Scope { range: end..end, kind, parent: Some(owner.scope), name, names });
    }
    Some(scope)
}

fn enclosing_type_scope(scopes: &[Scope], scope: usize) -> Option<usize> {
    let mut next_scope = Some(scope);
    while let Some(index) = next_scope {
        let scope = scopes.get(index)?;
        if scope.kind == ScopeKind::Type {
            return Some(index);
        }
        next_scope = scope.parent;
    }
    None
}
