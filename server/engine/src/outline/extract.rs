//! From a syntax tree to an outline, in one walk over the tree that asks the outline query only at nodes
//! where one of its patterns starts. Iterative: depth costs memory on the heap, never stack.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use strata_grammars::LanguageId;
use tree_sitter::{Node, QueryCursor, StreamingIterator};

use super::head::{self, Span, SpanKind};
use super::tables::{Role, Tables, flag, usage};
use super::{
    Located, MAX_IMPORTS, MAX_REFERENCES, MAX_SYMBOLS, Outline, Scope, Symbol, SymbolKind, SyntaxTree,
};
use crate::cancel::{Cancel, Cancelled};

/// The most bytes of a name; longer ones are generated.
const MAX_NAME: usize = 120;
/// The most characters of an import or attribute.
const MAX_DETAIL: usize = 80;
/// The most attributes, and of names set on an instance, kept of one symbol.
const MAX_DETAILS: usize = 64;
/// How many nodes to visit between two looks at the cancel flag.
const CHECK_EVERY: usize = 4_096;

/// See [`Outline::of`].
pub(super) fn outline(tree: &SyntaxTree, source: &str, cancel: &Cancel) -> Result<Outline, Cancelled> {
    Ok(walked(tree, source, cancel)?.finish())
}

/// See [`located`](super::located()).
pub(super) fn located(tree: &SyntaxTree, source: &str, cancel: &Cancel) -> Result<Vec<Located>, Cancelled> {
    let drafts = walked(tree, source, cancel)?.symbols;
    let located = |(index, draft): (usize, Draft<'_>)| {
        let (range, name_range) = (draft.range.clone(), draft.name_range.clone());
        Located { index, symbol: draft.symbol(), range, name_range }
    };
    Ok(drafts.into_iter().enumerate().map(located).collect())
}

/// The walk at its end.
fn walked<'a>(tree: &SyntaxTree, source: &'a str, cancel: &Cancel) -> Result<Walk<'a>, Cancelled> {
    let mut walk = Walk::new(tree.language(), source);
    let mut cursor = tree.root().walk();
    let mut query_cursor = QueryCursor::new();
    query_cursor.set_max_start_depth(Some(0));
    let mut parents: Vec<u16> = Vec::new();
    let mut visited = 0_usize;
    loop {
        visited += 1;
        if visited.is_multiple_of(CHECK_EVERY) {
            cancel.check()?;
        }
        let node = cursor.node();
        let kind = node.kind_id();
        let flags = walk.tables.flags(kind);
        let depth = parents.len();
        walk.enter(&node, flags, depth);
        if flags & flag::PATTERN != 0 {
            walk.query(&mut query_cursor, &node, depth);
        }
        if flags & flag::IDENTIFIER != 0 {
            let usage = match parents.last() {
                Some(&parent) if walk.tables.flags(parent) & flag::POSITION != 0 => {
                    walk.tables.usage(parent, || cursor.field_id())
                }
                _ => usage::PLAIN,
            };
            walk.mention(&node, usage);
        }
        if cursor.goto_first_child() {
            parents.push(kind);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                walk.close_all();
                return Ok(walk);
            }
            parents.pop();
        }
    }
}

/// What a walk has gathered so far.
struct Walk<'a> {
    source: &'a str,
    language: LanguageId,
    tables: &'static Tables,
    symbols: Vec<Draft<'a>>,
    /// The definitions the walk is inside of, outermost first.
    open: Vec<Open>,
    /// Words in front of declarations, outermost first.
    modifiers: Vec<Modifier<'a>>,
    /// Attributes seen in front of a definition that has not come yet.
    pending: Option<Pending>,
    imports: Vec<String>,
    known_imports: FxHashSet<String>,
    /// Values, and functions of several clauses, by the definition they belong to; the second assignment to a name, and
    /// the second clause with as many parts, defines nothing.
    once: FxHashSet<(Option<usize>, &'a str, Option<usize>)>,
    instance: FxHashSet<(usize, &'a str)>,
    mentions: FxHashMap<&'a str, u8>,
    tests: u32,
}

/// A symbol whose definition may not be over yet.
struct Draft<'a> {
    kind: SymbolKind,
    depth: u32,
    scope: Scope,
    name: &'a str,
    range: Range<usize>,
    name_range: Range<usize>,
    head: String,
    attributes: Vec<String>,
    instance: Vec<&'a str>,
}

/// A definition the walk is inside of.
struct Open {
    symbol: usize,
    end: usize,
    /// Where its name starts: the name in its own definition is no mention of it.
    name: usize,
    head: Range<usize>,
    spans: Vec<Span>,
    prefix: String,
    /// The depth of its node in the tree.
    depth: usize,
    /// Whether what it contains is local to a function.
    local: bool,
    /// Whether nothing it contains is kept, and it has no symbol of its own.
    hidden: bool,
    scope: Scope,
    /// The innermost type around its contents.
    owner: Option<usize>,
    /// How many modifiers were there before it: they belong to it, not to what it contains.
    modifiers: usize,
}

struct Modifier<'a> {
    text: &'a str,
    end: usize,
}

struct Pending {
    depth: usize,
    attributes: Vec<String>,
    scope: Scope,
}

/// The parts of a matched definition.
#[derive(Clone, Copy)]
struct Definition<'t> {
    pattern: usize,
    /// What it defines; nothing when what it matches is local.
    kind: Option<SymbolKind>,
    name: Option<Node<'t>>,
    body: Option<Node<'t>>,
    /// How many parts a clause has.
    clause: Option<usize>,
}

impl<'a> Walk<'a> {
    fn new(language: LanguageId, source: &'a str) -> Self {
        Self {
            source,
            language,
            tables: Tables::of(language),
            symbols: Vec::new(),
            open: Vec::new(),
            modifiers: Vec::new(),
            pending: None,
            imports: Vec::new(),
            known_imports: FxHashSet::default(),
            once: FxHashSet::default(),
            instance: FxHashSet::default(),
            mentions: HashMap::with_capacity_and_hasher(256, FxBuildHasher),
            tests: 0,
        }
    }

    /// Leaves everything that ends before the node, and notes the node's part in an open head.
    fn enter(&mut self, node: &Node<'_>, flags: u8, depth: usize) {
        let start = node.start_byte();
        while self.open.last().is_some_and(|open| open.end <= start) {
            self.close();
        }
        let inherited = self.open.last().map_or(0, |open| open.modifiers);
        while self.modifiers.len() > inherited && self.modifiers.last().is_some_and(|m| m.end <= start) {
            self.modifiers.pop();
        }
        if let Some(pending) = &self.pending
            && depth <= pending.depth
            && flags & flag::PATTERN == 0
            && node.is_named()
            && !node.is_extra()
        {
            self.pending = None;
        }
        if let Some(open) = self.open.last_mut()
            && start < open.head.end
            && node.end_byte() <= open.head.end
        {
            if node.is_error() {
                // The head is what was understood of it, or a body would become part of it.
                if start > open.name {
                    open.head.end = start;
                }
            } else if flags & flag::STRING != 0 {
                open.spans.push(Span { range: node.byte_range(), kind: SpanKind::Literal });
            } else if node.is_named() && node.is_extra() {
                open.spans.push(Span { range: node.byte_range(), kind: SpanKind::Dropped });
            }
        }
    }

    /// Asks the outline query what starts at the node.
    fn query(&mut self, cursor: &mut QueryCursor, node: &Node<'_>, depth: usize) {
        let Some(query) = self.tables.query else { return };
        let mut definition: Option<Definition<'_>> = None;
        let mut matches = cursor.matches(query, *node, self.source.as_bytes());
        while let Some(found) = matches.next() {
            let mut candidate =
                Definition { pattern: found.pattern_index, kind: None, name: None, body: None, clause: None };
            let mut defines = false;
            for capture in found.captures {
                match self.tables.role(capture.index) {
                    Role::Definition(kind) => {
                        candidate.kind = Some(kind);
                        defines = true;
                    }
                    Role::Local => defines = true,
                    Role::Clause => candidate.clause = Some(capture.node.named_child_count()),
                    Role::Name => candidate.name = candidate.name.or(Some(capture.node)),
                    Role::Body => candidate.body = candidate.body.or(Some(capture.node)),
                    Role::Modifier => {
                        let text = self.text(&capture.node);
                        self.modifiers.push(Modifier { text, end: node.end_byte() });
                    }
                    Role::Attribute => self.attribute(&capture.node, depth),
                    Role::Import => self.import(&capture.node),
                    Role::Instance => self.instance(&capture.node),
                    Role::Reference => self.mention(&capture.node, usage::MEMBER),
                    Role::Test => self.tests = self.tests.saturating_add(1),
                    Role::TestScope => self.pending(depth).scope = Scope::Tests,
                    Role::Silent => {}
                }
            }
            if defines && definition.is_none_or(|best| candidate.pattern < best.pattern) {
                definition = Some(candidate);
            }
        }
        if let Some(definition) = definition {
            match definition.kind {
                Some(kind) => self.define(node, depth, kind, definition),
                None => {
                    self.pending.take_if(|pending| pending.depth >= depth);
                    self.hide(node, depth, usize::MAX);
                }
            }
        }
    }

    /// Keeps nothing of what is in the node. `name` is where the name of what it defines again starts.
    fn hide(&mut self, node: &Node<'_>, depth: usize, name: usize) {
        let parent = self.open.last();
        // In a head nothing is defined anyway, and what it is made of is still to be noted.
        if parent.is_some_and(|open| node.start_byte() < open.head.end) {
            return;
        }
        self.open.push(Open {
            symbol: usize::MAX,
            end: node.end_byte(),
            name,
            head: 0..0,
            spans: Vec::new(),
            prefix: String::new(),
            depth,
            local: true,
            hidden: true,
            scope: parent.map_or(Scope::Product, |open| open.scope),
            owner: parent.and_then(|open| open.owner),
            modifiers: self.modifiers.len(),
        });
    }

    fn define(&mut self, node: &Node<'_>, depth: usize, kind: SymbolKind, found: Definition<'_>) {
        let pending = self.pending.take_if(|pending| pending.depth >= depth);
        let Some(name_node) = found.name else { return };
        let name = self.text(&name_node);
        let parent = self.open.last();
        // What is inside a head is shown there.
        if parent.is_some_and(|open| open.hidden || node.start_byte() < open.head.end) {
            return;
        }
        let local = parent.is_some_and(|open| open.local);
        let parent_symbol = parent.map(|open| open.symbol);
        let parent_kind = parent_symbol.and_then(|i| self.symbols.get(i)).map(|symbol| symbol.kind);
        if name.chars().all(|c| c.is_whitespace() || c.is_control())
            || name.len() > MAX_NAME
            || self.symbols.len() >= MAX_SYMBOLS
            || self.open.len() >= self.tables.levels
            || (local && kind.is_value())
        {
            return;
        }
        if (kind.is_value() || found.clause.is_some())
            && !self.once.insert((parent_symbol, name, found.clause))
        {
            self.hide(node, depth, name_node.start_byte());
            return;
        }
        let kind = match (kind, parent_kind) {
            (SymbolKind::Function, Some(parent)) if parent.is_type() => SymbolKind::Method,
            (kind, _) => kind,
        };
        let symbol = self.symbols.len();
        let owner = if kind.is_type() { Some(symbol) } else { parent.and_then(|open| open.owner) };
        let own_modifiers = self.modifiers.get(parent.map_or(0, |open| open.modifiers)..).unwrap_or_default();
        let prefix = own_modifiers.iter().take(4).flat_map(|m| [m.text, " "]).collect();
        let body = found.body.map_or(node.end_byte(), |body| body.start_byte());
        let head = node.start_byte()..if body < name_node.end_byte() { node.end_byte() } else { body };
        let outer_scope = parent.map_or(Scope::Product, |open| open.scope);
        let (attributes, scope) = pending.map_or((Vec::new(), Scope::Product), |p| (p.attributes, p.scope));
        self.symbols.push(Draft {
            kind,
            depth: u32::try_from(self.open.len()).unwrap_or(u32::MAX),
            scope,
            name,
            range: node.byte_range(),
            name_range: name_node.byte_range(),
            head: String::new(),
            attributes,
            instance: Vec::new(),
        });
        self.open.push(Open {
            symbol,
            end: node.end_byte(),
            name: name_node.start_byte(),
            head,
            spans: Vec::new(),
            prefix,
            depth,
            local: local || kind.is_function(),
            hidden: false,
            scope: if outer_scope == Scope::Tests { outer_scope } else { scope },
            owner,
            modifiers: self.modifiers.len(),
        });
    }

    fn close(&mut self) {
        let Some(open) = self.open.pop() else { return };
        if let Some(symbol) = self.symbols.get_mut(open.symbol) {
            symbol.head = head::render(self.source, open.head, &open.spans, &open.prefix);
            if symbol.head.is_empty() {
                symbol.head = head::name(symbol.name);
            }
        }
    }

    /// An attribute inside the head of its definition is that one's; any other waits for the next.
    fn attribute(&mut self, node: &Node<'_>, depth: usize) {
        let text = head::one_line(self.text(node), MAX_DETAIL);
        if let Some(open) = self.open.last_mut()
            && open.depth + 1 == depth
            && node.end_byte() <= open.head.end
        {
            open.spans.push(Span { range: node.byte_range(), kind: SpanKind::Dropped });
            if let Some(symbol) = self.symbols.get_mut(open.symbol)
                && symbol.attributes.len() < MAX_DETAILS
            {
                symbol.attributes.push(text);
            }
            return;
        }
        let pending = self.pending(depth);
        if pending.attributes.len() < MAX_DETAILS {
            pending.attributes.push(text);
        }
    }

    fn pending(&mut self, depth: usize) -> &mut Pending {
        let fresh = || Pending { depth, attributes: Vec::new(), scope: Scope::Product };
        let pending = self.pending.get_or_insert_with(fresh);
        if pending.depth != depth {
            *pending = fresh();
        }
        pending
    }

    fn import(&mut self, node: &Node<'_>) {
        let text = self.text(node);
        let text = text.trim_matches(['"', '\'', '`']);
        let for_tests = self.open.last().is_some_and(|open| open.scope == Scope::Tests);
        if self.imports.len() < MAX_IMPORTS && !for_tests {
            let text = head::one_line(text, MAX_DETAIL);
            if self.known_imports.insert(text.clone()) {
                self.imports.push(text);
            }
        }
    }

    fn instance(&mut self, node: &Node<'_>) {
        let name = self.text(node);
        let Some(owner) = self.open.last().and_then(|open| open.owner) else { return };
        if name.len() > MAX_NAME || !self.instance.insert((owner, name)) {
            return;
        }
        if let Some(symbol) = self.symbols.get_mut(owner)
            && symbol.instance.len() < MAX_DETAILS
        {
            symbol.instance.push(name);
        }
    }

    fn mention(&mut self, node: &Node<'_>, usage: u8) {
        if self.open.last().is_some_and(|open| open.name == node.start_byte()) {
            return;
        }
        let name = self.text(node);
        // One letter is a type parameter or a loop variable, and tells files apart badly anyway.
        if name.len() < 2 || name.len() > MAX_NAME {
            return;
        }
        let full = self.mentions.len() >= MAX_REFERENCES;
        match self.mentions.entry(name) {
            Entry::Occupied(mut known) => *known.get_mut() |= usage,
            Entry::Vacant(vacant) if !full => {
                vacant.insert(usage);
            }
            Entry::Vacant(_) => {}
        }
    }

    fn close_all(&mut self) {
        while !self.open.is_empty() {
            self.close();
        }
    }

    fn finish(self) -> Outline {
        let builtins = self.language.builtins();
        let mut references: Vec<&str> = self
            .mentions
            .iter()
            .filter(|(_, usage)| **usage & usage::MEMBER != 0 || **usage == usage::PLAIN)
            .map(|(name, _)| *name)
            .filter(|name| builtins.binary_search(name).is_err())
            .collect();
        references.sort_unstable();
        Outline {
            symbols: self.symbols.into_iter().map(Draft::symbol).collect(),
            imports: self.imports.iter().collect(),
            references: references.iter().collect(),
            tests: self.tests,
        }
    }

    fn text(&self, node: &Node<'_>) -> &'a str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }
}

impl Draft<'_> {
    fn symbol(self) -> Symbol {
        Symbol {
            kind: self.kind,
            depth: self.depth,
            scope: self.scope,
            name: head::name(self.name).into(),
            head: self.head.into(),
            attributes: self.attributes.iter().collect(),
            instance: self.instance.iter().collect(),
        }
    }
}
