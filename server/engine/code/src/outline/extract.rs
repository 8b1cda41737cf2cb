//! Builds outlines in one walk over a syntax tree, running the outline query only at nodes where a pattern can start.
//! The walk can be split into pieces and resumed at any boundary. Iterative, so deep nesting uses heap instead of
//! stack. `resolve` combines the pieces.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::FxHashMap;
use strata_base::cancel::{Cancel, Cancelled};
use strata_grammars::LanguageId;
use tree_sitter::{Node, QueryCursor, StreamingIterator, TreeCursor};

use super::head::{self, HeadSpan, HeadSpanKind};
use super::mask::{ParseMask, words};
use super::qualified::name_parts;
use super::source::SourceText;
use super::tables::{OutlineRole, OutlineTables, flag, usage};
use super::tree::parse_part;
use super::{NameList, Symbol, SymbolKind, SymbolPurpose, SyntaxTree};

/// Maximum length of a name, in bytes. Longer names are assumed to be generated, and are ignored.
pub(super) const MAX_NAME_BYTES: usize = 120;
/// Maximum number of bytes before a mentioned name that may show that it is a secret.
const MAX_BYTES_BEFORE_SECRET_NAME: usize = 120;
/// Maximum length of an import or attribute, in characters.
const MAX_IMPORT_OR_ATTRIBUTE_CHARS: usize = 80;
/// Maximum number of attributes per symbol, and of names set on its instances.
pub(super) const MAX_ATTRIBUTES_PER_SYMBOL: usize = 64;
/// Maximum number of bytes of a captured text that count toward a hash.
const MAX_HASHED_BYTES: usize = 512;
/// Maximum depth of sources inside other sources, such as macros in the arguments of macros.
const MAX_EMBEDDING_DEPTH: usize = 4;
/// Number of nodes visited between checks of the cancel flag.
const NODES_PER_CANCEL_CHECK: usize = 4_096;

/// Walks a whole tree and returns its symbols, imports and mentioned names.
///
/// # Errors
/// [`Cancelled`] if the flag is raised before the walk finishes.
pub(super) fn walk_tree<'a>(
    tree: &SyntaxTree,
    source: SourceText<'a>,
    cancel: &Cancel,
) -> Result<WalkFindings<'a>, Cancelled> {
    let mut walk = Walk::new(tree, source, None);
    walk.run(&mut tree.root().walk(), &mut SinglePiece, cancel)?;
    Ok(walk.findings)
}

/// Walks a tree from the start or from an anchor, and passes its findings to `plan` in pieces. Returns `None` if the
/// tree has no such anchor.
///
/// # Errors
/// [`Cancelled`] if the flag is raised before the walk finishes.
pub(super) fn walk_tree_from<'a>(
    tree: &SyntaxTree,
    source: SourceText<'a>,
    from: Option<(&WalkAnchor, usize)>,
    plan: &mut impl PiecePlan<'a>,
    cancel: &Cancel,
) -> Result<Option<()>, Cancelled> {
    let mut walk = Walk::new(tree, source, Some(0));
    let mut cursor = tree.root().walk();
    if let Some((anchor, start)) = from
        && !walk.resume_at_anchor(&mut cursor, anchor, start)
    {
        return Ok(None);
    }
    if walk.run(&mut cursor, plan, cancel)? == WalkAction::Continue {
        plan.take_last_piece(walk.findings);
    }
    Ok(Some(()))
}

/// The contents of a text or of a piece of it: symbols and imports in source order, mentioned names, and the number
/// of tests.
#[derive(Default)]
pub(super) struct WalkFindings<'a> {
    pub(super) symbols: Vec<SymbolDraft<'a>>,
    pub(super) instance: Vec<InstanceNameDraft<'a>>,
    pub(super) imports: Vec<String>,
    /// [`usage`] bits of each mentioned name.
    pub(super) mentions: FxHashMap<Cow<'a, str>, u8>,
    pub(super) tests: u32,
}

/// A symbol under construction: its head may not be complete yet.
pub(super) struct SymbolDraft<'a> {
    pub(super) kind: SymbolKind,
    /// Number of enclosing definitions.
    pub(super) level: u32,
    pub(super) scope: SymbolPurpose,
    pub(super) repeat: Redefinition,
    pub(super) name: Cow<'a, str>,
    /// Type or module that the source names next to the symbol; empty if there is none.
    pub(super) container: Cow<'a, str>,
    pub(super) range: Range<usize>,
    pub(super) name_range: Range<usize>,
    pub(super) head: String,
    pub(super) attributes: Vec<String>,
}

/// How a symbol relates to an earlier definition with the same name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Redefinition {
    /// A separate symbol.
    New,
    /// The same symbol: an assignment to an existing value, or another clause of a function with the same number of
    /// parts.
    Same {
        /// Number of parts of the clause, usually parameters; `None` for values.
        parts: Option<usize>,
    },
}

/// A name set on an instance, as in `self.width = ...`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct InstanceNameDraft<'a> {
    /// Number of symbols in the piece that precede the name.
    pub(super) preceding_symbols: usize,
    /// Level of the enclosing type to which the name belongs.
    pub(super) owner: u32,
    pub(super) name: Cow<'a, str>,
}

/// A position at which one walk can stop and another can start: the walk is about to enter a node, and its
/// whole state follows from the enclosing nodes.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct WalkAnchor {
    /// Number of nodes that enclose the node about to be entered.
    pub(super) depth: usize,
    pub(super) kind: u16,
    /// Level of the outermost enclosing definition that is a test scope; `usize::MAX` if there is none.
    pub(super) tests_from: usize,
    /// Hash of how the walk treats the enclosing nodes.
    pub(super) context_hash: u64,
}

/// How a walk proceeds at an anchor, as decided by a [`PiecePlan`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WalkAction {
    Continue,
    /// End the piece and start another.
    Cut,
    Stop,
}

/// Decides where a walk is split into pieces and where it stops.
pub(super) trait PiecePlan<'a> {
    /// Returns the byte offset from which the plan needs anchors.
    fn next_anchor_offset(&self) -> usize;
    /// Decides what to do at an anchor before a node that starts at byte `start`.
    fn action_at_anchor(&mut self, anchor: &WalkAnchor, start: usize) -> WalkAction;
    /// Receives the findings before an anchor at byte `start`.
    fn take_piece(&mut self, findings: WalkFindings<'a>, anchor: WalkAnchor, start: usize);
    /// Receives the findings up to the end of the text.
    fn take_last_piece(&mut self, findings: WalkFindings<'a>);
}

struct SinglePiece;

impl<'a> PiecePlan<'a> for SinglePiece {
    fn next_anchor_offset(&self) -> usize {
        usize::MAX
    }

    fn action_at_anchor(&mut self, _: &WalkAnchor, _: usize) -> WalkAction {
        WalkAction::Continue
    }

    fn take_piece(&mut self, _: WalkFindings<'a>, _: WalkAnchor, _: usize) {}

    fn take_last_piece(&mut self, _: WalkFindings<'a>) {}
}

/// The state of a walk over a syntax tree.
struct Walk<'a> {
    source: SourceText<'a>,
    language: LanguageId,
    tables: &'static OutlineTables,
    findings: WalkFindings<'a>,
    /// The definitions that contain the current node, outermost first.
    open: Vec<OpenDefinition>,
    /// The ancestors of the current node, outermost first.
    ancestors: Vec<Ancestor>,
    /// Modifiers that apply to the next definition, outermost first.
    modifiers: Vec<DefinitionModifier<'a>>,
    /// Attributes that belong to the next definition.
    pending: Option<PendingAttributes>,
    /// End of the innermost value or block around the current node that contains no visible definitions.
    opaque_until: usize,
    /// End of the last import. No piece may start before it, because an edit inside the import would change the
    /// previous piece.
    import_until: usize,
    /// Hash of the query's result for the current node, for [`WalkAnchor::context_hash`]; `None` if no anchors are
    /// recorded.
    query_hash: Option<u64>,
    mask: ParseMask,
    /// Number of hidden parts before the current node.
    passed_hidden: usize,
    /// Number of enclosing sources inside the text, such as arguments of macros.
    nesting: usize,
}

/// An ancestor of the current node.
struct Ancestor {
    kind: u16,
    end: usize,
    /// Value of [`WalkAnchor::context_hash`] for the nodes from the root down to this one.
    context_hash: u64,
    /// The [`usage`] bits of the names directly inside, if the node is a list.
    list: Option<u8>,
}

/// A definition that contains the current node.
struct OpenDefinition {
    kind: SymbolKind,
    /// Index of the definition's symbol among those found since the last cut; `None` once the head is
    /// written.
    symbol: Option<usize>,
    end: usize,
    /// Byte range of the name, which does not count as a reference to the definition itself.
    name: Range<usize>,
    head: Range<usize>,
    /// Range of the body, if it lies in the middle of the head because the name follows it; otherwise empty.
    gap: Range<usize>,
    /// Whether a syntax error ended the head early.
    is_broken: bool,
    /// Level of the heading, if the definition is a section of a document.
    heading: Option<u8>,
    /// Whether the section ends at a later heading or with what contains it, rather than with its node.
    is_unclosed: bool,
    spans: Vec<HeadSpan>,
    prefix: String,
    /// Depth of the definition's node in the tree.
    depth: usize,
    /// Whether the members are local to a function.
    is_local: bool,
    /// Whether the definition has no symbol and its contents are ignored.
    is_hidden: bool,
    scope: SymbolPurpose,
    /// Level of the innermost type that contains the members.
    owner: Option<u32>,
    /// Number of modifiers before the body. They apply to the definition, but not to its members.
    modifiers: usize,
}

struct DefinitionModifier<'a> {
    text: Cow<'a, str>,
    end: usize,
    extent: ModifierExtent,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ModifierExtent {
    /// The modifier applies to the remainder of the node that contains it.
    Node,
    /// The modifier applies to everything after it, up to the next modifier of this scope.
    Rest,
}

struct PendingAttributes {
    depth: usize,
    attributes: Vec<String>,
    scope: SymbolPurpose,
}

/// The captured parts of a definition.
#[derive(Clone, Copy)]
struct DefinitionCaptures<'t> {
    pattern: usize,
    /// The kind of symbol; `None` for local definitions.
    kind: Option<SymbolKind>,
    name: Option<Node<'t>>,
    body: Option<Node<'t>>,
    /// Number of parts, usually parameters, if the definition is a clause.
    clause: Option<usize>,
    /// Start and end of the container that the definition names.
    container: Option<(usize, usize)>,
    /// Part of the definition that belongs to this name only, if it declares several.
    declarator: Option<Node<'t>>,
    heading: Option<Heading>,
}

/// The heading of a section.
#[derive(Clone, Copy)]
struct Heading {
    level: u8,
    /// Whether the node is only the heading, without the section.
    is_alone: bool,
}

impl<'a> Walk<'a> {
    fn new(tree: &SyntaxTree, source: SourceText<'a>, query_hash: Option<u64>) -> Self {
        Self {
            source,
            language: tree.language,
            tables: OutlineTables::for_language(tree.language),
            findings: WalkFindings::default(),
            open: Vec::new(),
            ancestors: Vec::new(),
            modifiers: Vec::new(),
            pending: None,
            opaque_until: 0,
            import_until: 0,
            query_hash,
            mask: tree.mask().clone(),
            passed_hidden: 0,
            nesting: 0,
        }
    }

    /// Walks from the cursor's node to the end of the tree, or until `plan` stops the walk.
    fn run(
        &mut self,
        cursor: &mut TreeCursor<'_>,
        plan: &mut impl PiecePlan<'a>,
        cancel: &Cancel,
    ) -> Result<WalkAction, Cancelled> {
        let mut query_cursor = single_node_cursor();
        let mut visited = 0_usize;
        loop {
            visited += 1;
            if visited.is_multiple_of(NODES_PER_CANCEL_CHECK) {
                cancel.check()?;
            }
            let node = cursor.node();
            let kind = node.kind_id();
            let flags = self.tables.flags(kind);
            let start = node.start_byte();
            self.close_ended_definitions(start);
            self.mention_hidden_words_before(start);
            if start >= plan.next_anchor_offset()
                && let Some(anchor) = self.anchor_before(&node)
            {
                match plan.action_at_anchor(&anchor, start) {
                    WalkAction::Continue => {}
                    WalkAction::Cut => plan.take_piece(self.take_findings(), anchor, start),
                    WalkAction::Stop => {
                        plan.take_piece(self.take_findings(), anchor, start);
                        return Ok(WalkAction::Stop);
                    }
                }
            }
            self.update_open_head(&node, flags);
            self.query_hash = self.query_hash.map(|_| 0);
            if flags & flag::PATTERN_START != 0 {
                self.run_query(&mut query_cursor, &node);
            }
            if flags & flag::NAME_NODE != 0 {
                let usage = match self.usage_bits_at(cursor) {
                    usage::UNCLASSIFIED_USAGE if flags & flag::TYPE_NAME_NODE != 0 => usage::MEMBER_USAGE,
                    usage => usage,
                };
                self.add_mention(&node, usage);
            }
            let list = self.list_usage_bits(kind, cursor);
            if cursor.goto_first_child() {
                self.push_ancestor(&node, list);
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    self.mention_hidden_words_before(usize::MAX);
                    self.open
                        .iter_mut()
                        .for_each(|open| write_head(&self.source, &mut self.findings.symbols, open));
                    return Ok(WalkAction::Continue);
                }
                self.ancestors.pop();
            }
        }
    }

    /// Moves the cursor to the node at byte `start` that corresponds to `anchor`, and restores the state of the walk
    /// there. Returns `false` if the tree has no such node.
    fn resume_at_anchor(&mut self, cursor: &mut TreeCursor<'_>, anchor: &WalkAnchor, start: usize) -> bool {
        let mut query_cursor = single_node_cursor();
        for _ in 0..anchor.depth {
            let node = cursor.node();
            let kind = node.kind_id();
            self.query_hash = Some(0);
            if self.tables.flags(kind) & flag::PATTERN_START != 0 {
                let open_count = self.open.len();
                self.run_query(&mut query_cursor, &node);
                if let Some(open) = self.open.get_mut(open_count) {
                    open.symbol = None;
                    if open_count >= anchor.tests_from {
                        open.scope = SymbolPurpose::Tests;
                    }
                }
            }
            self.push_ancestor(&node, self.list_usage_bits(kind, cursor));
            if cursor.goto_first_child_for_byte(start).is_none() {
                return false;
            }
        }
        self.findings = WalkFindings::default();
        self.pending = None;
        self.passed_hidden = self.mask.hidden_ranges().partition_point(|hidden| hidden.start < start);
        let node = cursor.node();
        let is_same_node = node.start_byte() == start && node.end_byte() > start;
        is_same_node
            && self.context_hash() == anchor.context_hash
            && self.outermost_test_level() == anchor.tests_from
    }

    /// Returns the anchor before a node, if the walk's state follows from the enclosing nodes alone.
    fn anchor_before(&self, node: &Node<'_>) -> Option<WalkAnchor> {
        let start = node.start_byte();
        let is_resumable = self.pending.is_none()
            && start >= self.opaque_until.max(self.import_until)
            && self.modifiers.iter().all(|modifier| modifier.extent == ModifierExtent::Node)
            && node.end_byte() > start
            && self.open.iter().all(|open| !open.is_broken && !open.is_unclosed && open.is_past_head(start));
        is_resumable.then(|| WalkAnchor {
            depth: self.ancestors.len(),
            kind: node.kind_id(),
            tests_from: self.outermost_test_level(),
            context_hash: self.context_hash(),
        })
    }

    fn outermost_test_level(&self) -> usize {
        self.open.iter().position(|open| open.scope == SymbolPurpose::Tests).unwrap_or(usize::MAX)
    }

    fn context_hash(&self) -> u64 {
        self.ancestors.last().map_or(0, |ancestor| ancestor.context_hash)
    }

    /// Returns the [`usage`] bits of a name at the cursor.
    fn usage_bits_at(&self, cursor: &TreeCursor<'_>) -> u8 {
        match self.ancestors.last() {
            Some(Ancestor { list: Some(usage), .. }) => *usage,
            Some(parent) if self.tables.flags(parent.kind) & flag::NAMES_BY_POSITION != 0 => {
                self.tables.usage_bits(parent.kind, || cursor.field_id())
            }
            _ => usage::UNCLASSIFIED_USAGE,
        }
    }

    /// Returns the [`usage`] bits of the names directly inside the cursor's node, if it is a list.
    fn list_usage_bits(&self, kind: u16, cursor: &TreeCursor<'_>) -> Option<u8> {
        (self.tables.flags(kind) & flag::LIST_AT_OWN_POSITION != 0).then(|| self.usage_bits_at(cursor))
    }

    fn push_ancestor(&mut self, node: &Node<'_>, list: Option<u8>) {
        let kind = node.kind_id();
        let context_hash = self
            .query_hash
            .map_or(0, |query_hash| mix_hash(mix_hash(self.context_hash(), u64::from(kind)), query_hash));
        self.ancestors.push(Ancestor { kind, end: node.end_byte(), context_hash, list });
    }

    fn take_findings(&mut self) -> WalkFindings<'a> {
        for open in &mut self.open {
            write_head(&self.source, &mut self.findings.symbols, open);
            open.symbol = None;
        }
        std::mem::take(&mut self.findings)
    }

    /// Adds the names in hidden parts of the text that start before byte `start`, which are not in the tree.
    fn mention_hidden_words_before(&mut self, start: usize) {
        while let Some(hidden) =
            self.mask.hidden_ranges().get(self.passed_hidden).filter(|hidden| hidden.start < start)
        {
            let hidden = hidden.clone();
            self.passed_hidden += 1;
            let text = self.source.text(hidden.clone());
            for name in words(&text) {
                let (from, end) = (hidden.start + name.start, hidden.start + name.end);
                self.add_mention_range(from..end, usage::UNCLASSIFIED_USAGE);
            }
        }
    }

    /// Closes the definitions and modifiers that end at or before byte `start`.
    fn close_ended_definitions(&mut self, start: usize) {
        while let Some(mut open) = self.open.pop_if(|open| open.end <= start) {
            write_head(&self.source, &mut self.findings.symbols, &mut open);
        }
        let inherited = self.open.last().map_or(0, |open| open.modifiers);
        while self.modifiers.len() > inherited && self.modifiers.last().is_some_and(|m| m.end <= start) {
            self.modifiers.pop();
        }
    }

    /// Updates the innermost open definition for a node: records the node if it is not ordinary code, ends the head
    /// at a syntax error, and drops pending attributes that belong to no definition.
    fn update_open_head(&mut self, node: &Node<'_>, flags: u8) {
        let start = node.start_byte();
        if let Some(pending) = &self.pending
            && self.ancestors.len() <= pending.depth
            && flags & flag::PATTERN_START == 0
            && node.is_named()
            && !node.is_extra()
        {
            self.pending = None;
        }
        if let Some(open) = self.open.last_mut()
            && start == open.gap.start
            && node.end_byte() == open.gap.end
        {
            open.spans.push(HeadSpan { range: node.byte_range(), kind: HeadSpanKind::Dropped });
        } else if let Some(open) = self.open.last_mut()
            && open.is_in_head(start)
            && node.end_byte() <= open.head.end
        {
            if node.is_error() {
                // The head ends at the error. Otherwise, a body could become part of it.
                if start > open.name.start {
                    open.head.end = start;
                    open.is_broken = true;
                }
            } else if flags & flag::STRING_NODE != 0 {
                open.spans.push(HeadSpan { range: node.byte_range(), kind: HeadSpanKind::Literal });
            } else if node.is_named() && node.is_extra() {
                open.spans.push(HeadSpan { range: node.byte_range(), kind: HeadSpanKind::Dropped });
            }
        }
    }

    /// Runs the outline query at a node.
    fn run_query(&mut self, cursor: &mut QueryCursor, node: &Node<'_>) {
        let Some(query) = self.tables.query else { return };
        let mut definition: Option<DefinitionCaptures<'_>> = None;
        let mut declared: Vec<DefinitionCaptures<'_>> = Vec::new();
        let mut sources: Vec<Node<'_>> = Vec::new();
        let mut opaque_until = self.opaque_until;
        let mut matches = cursor.matches(query, *node, self.source);
        while let Some(query_match) = matches.next() {
            let mut candidate = DefinitionCaptures::for_pattern(query_match.pattern_index);
            let mut defines = false;
            let mut import: Option<Range<usize>> = None;
            for capture in query_match.captures {
                let role = self.tables.role(capture.index);
                self.hash_capture(query_match.pattern_index, capture.index, role, &capture.node);
                match role {
                    OutlineRole::Definition(kind) => {
                        candidate.kind = Some(kind);
                        defines = true;
                    }
                    OutlineRole::Local => defines = true,
                    OutlineRole::Clause => candidate.clause = Some(capture.node.named_child_count()),
                    OutlineRole::Name => candidate.name = candidate.name.or(Some(capture.node)),
                    OutlineRole::Body => candidate.body = candidate.body.or(Some(capture.node)),
                    OutlineRole::Container => {
                        let start = candidate.container.map_or(capture.node.start_byte(), |(start, _)| start);
                        candidate.container = Some((start, capture.node.end_byte()));
                    }
                    OutlineRole::Declarator => candidate.declarator = Some(capture.node),
                    OutlineRole::Section(level) => {
                        candidate.heading = Some(Heading { level, is_alone: false });
                    }
                    OutlineRole::Heading(level) => {
                        candidate.heading = Some(Heading { level, is_alone: true });
                    }
                    OutlineRole::Source => sources.push(capture.node),
                    OutlineRole::Modifier => {
                        let text = self.text(&capture.node);
                        self.modifiers.push(DefinitionModifier {
                            text,
                            end: node.end_byte(),
                            extent: ModifierExtent::Node,
                        });
                    }
                    OutlineRole::ModifierOfRest => self.add_open_ended_modifier(&capture.node),
                    OutlineRole::Attribute => self.assign_attribute(&capture.node),
                    OutlineRole::Omit => self.omit_from_head(&capture.node),
                    OutlineRole::Opaque => opaque_until = opaque_until.max(capture.node.end_byte()),
                    OutlineRole::Import => {
                        let start = import.map_or(capture.node.start_byte(), |import| import.start);
                        import = Some(start..capture.node.end_byte());
                    }
                    OutlineRole::Instance => self.add_instance_name(&capture.node),
                    OutlineRole::Reference => self.add_mention(&capture.node, usage::MEMBER_USAGE),
                    OutlineRole::Test => self.findings.tests = self.findings.tests.saturating_add(1),
                    OutlineRole::TestScope => self.pending_attributes().scope = SymbolPurpose::Tests,
                    OutlineRole::Lead | OutlineRole::Silent => {}
                }
            }
            if let Some(range) = import {
                self.import_until = self.import_until.max(range.end);
                self.add_import(range);
            }
            if defines && candidate.declarator.is_some() {
                declared.push(candidate);
            }
            if defines && definition.is_none_or(|best| candidate.pattern < best.pattern) {
                definition = Some(candidate);
            }
        }
        if let Some(definition) = definition {
            match definition.kind {
                Some(kind) if definition.declarator.is_some() => {
                    declared.retain(|other| other.pattern == definition.pattern);
                    self.define_all(node, kind, declared);
                }
                Some(kind) => self.define(node, kind, definition),
                None => {
                    let depth = self.ancestors.len();
                    self.pending.take_if(|pending| pending.depth >= depth);
                    self.hide_definitions_inside(node);
                }
            }
        }
        self.opaque_until = opaque_until;
        for source in sources {
            self.walk_embedded_source(&source);
        }
    }

    /// Walks the text between the first and the last byte of a node as source text of the same language.
    fn walk_embedded_source(&mut self, node: &Node<'_>) {
        let range = node.start_byte() + 1..node.end_byte().saturating_sub(1);
        // No piece may start inside, because the walk cannot resume there.
        self.import_until = self.import_until.max(node.end_byte());
        if range.start >= range.end || self.nesting >= MAX_EMBEDDING_DEPTH {
            return;
        }
        let text = self.source.text(range.clone());
        let Some(tree) = parse_part(self.language, &text, range.start, node.start_position()) else { return };
        let (open, ancestors, modifiers) = (self.open.len(), self.ancestors.len(), self.modifiers.len());
        let (query_hash, opaque_until) = (self.query_hash.take(), self.opaque_until);
        self.pending = None;
        self.nesting += 1;
        // Only cancellation stops this walk, and the flag is never raised.
        let _ = self.run(&mut tree.root().walk(), &mut SinglePiece, &Cancel::new());
        self.nesting -= 1;
        self.open.truncate(open);
        self.ancestors.truncate(ancestors);
        self.modifiers.truncate(modifiers);
        self.pending = None;
        (self.query_hash, self.opaque_until) = (query_hash, opaque_until);
    }

    /// Adds a capture to the hash of the query's result for the current node.
    fn hash_capture(&mut self, pattern: usize, capture: u32, role: OutlineRole, node: &Node<'_>) {
        let Some(mut query_hash) = self.query_hash else { return };
        query_hash = mix_hash(mix_hash(query_hash, pattern as u64), u64::from(capture));
        let role_suffices = matches!(
            role,
            OutlineRole::Definition(_)
                | OutlineRole::Local
                | OutlineRole::Clause
                | OutlineRole::Opaque
                | OutlineRole::Body
                | OutlineRole::Test
                | OutlineRole::TestScope
                | OutlineRole::Declarator
                | OutlineRole::Section(_)
                | OutlineRole::Heading(_)
                | OutlineRole::Lead
                | OutlineRole::Source
                | OutlineRole::Silent
        );
        if !role_suffices {
            let text = self.text(node);
            for bytes in text.as_bytes().chunks(8).take(MAX_HASHED_BYTES / 8) {
                query_hash =
                    mix_hash(query_hash, bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
            }
            query_hash = mix_hash(query_hash, text.len() as u64);
        }
        self.query_hash = Some(query_hash);
    }

    /// Makes the walk ignore the definitions inside a node, unless the node is part of a head.
    fn hide_definitions_inside(&mut self, node: &Node<'_>) {
        let parent = self.open.last();
        // A head contains no definitions, and its spans must still be recorded.
        if parent.is_some_and(|open| open.is_in_head(node.start_byte())) {
            return;
        }
        self.open.push(OpenDefinition {
            kind: SymbolKind::Variable,
            symbol: None,
            end: node.end_byte(),
            name: usize::MAX..usize::MAX,
            head: 0..0,
            gap: 0..0,
            is_broken: false,
            heading: None,
            is_unclosed: false,
            spans: Vec::new(),
            prefix: String::new(),
            depth: self.ancestors.len(),
            is_local: true,
            is_hidden: true,
            scope: parent.map_or(SymbolPurpose::Product, |open| open.scope),
            owner: parent.and_then(|open| open.owner),
            modifiers: self.modifiers.len(),
        });
    }

    /// Adds the definitions of all names that a node declares. Each is shown without the others.
    fn define_all(&mut self, node: &Node<'_>, kind: SymbolKind, mut declared: Vec<DefinitionCaptures<'_>>) {
        let declarator_range = |definition: &DefinitionCaptures<'_>| {
            definition.declarator.map_or(0..0, |declarator| declarator.byte_range())
        };
        declared.sort_by_key(|definition| declarator_range(definition).start);
        declared.dedup_by_key(|definition| definition.name.map(|name| name.id()));
        let Some((first, others)) = declared.split_first() else { return };
        let end = others.last().map_or(0, |last| declarator_range(last).end);
        let first_index = self.findings.symbols.len();
        self.define(node, kind, *first);
        let Some(symbol) = self.findings.symbols.get(first_index) else { return };
        let (level, scope, repeat) = (symbol.level, symbol.scope, symbol.repeat);
        let (kind, attributes) = (symbol.kind, symbol.attributes.clone());
        let Some(open) = self.open.last_mut() else { return };
        if !others.is_empty() {
            let rest = declarator_range(first).end..end;
            open.spans.push(HeadSpan { range: rest, kind: HeadSpanKind::Dropped });
        }
        let prefix = open.prefix.clone();
        for definition in others {
            let Some(name_node) = definition.name else { continue };
            let (name, name_range) = self.definition_name(&name_node, definition.body);
            if !is_name(&name) {
                continue;
            }
            let own_range = declarator_range(definition);
            let skipped = [declarator_range(first).start..own_range.start, own_range.end..end];
            let spans = skipped.map(|range| HeadSpan { range, kind: HeadSpanKind::Dropped });
            let head_end = definition.body.map_or(node.end_byte(), |body| body.start_byte());
            let head = node.start_byte()..head_end.max(own_range.start);
            let head = head::render_head(
                &self.source,
                head,
                head::MAX_HEAD_SCAN_BYTES,
                &name_range,
                &spans,
                &prefix,
            );
            self.findings.symbols.push(SymbolDraft {
                kind,
                level,
                scope,
                repeat,
                head: if head.is_empty() { head::one_line_name(&name) } else { head },
                name,
                container: self.container(definition),
                range: node.byte_range(),
                name_range,
                attributes: attributes.clone(),
            });
        }
    }

    /// Returns a name and its byte range, without quotes around it, the colon of a symbol before it, or a `=` between
    /// it and its value.
    fn definition_name(&self, node: &Node<'_>, body: Option<Node<'_>>) -> (Cow<'a, str>, Range<usize>) {
        let (text, range) = (self.text(node), node.byte_range());
        if text.len() > 1 && text.ends_with('=') && body.is_some_and(|body| body.start_byte() == range.end) {
            let bare_range = range.start..range.end - 1;
            return (self.source.text(bare_range.clone()), bare_range);
        }
        let is_symbol = self.tables.flags(node.kind_id()) & flag::SYMBOL_NODE != 0;
        let colon = text.strip_prefix(':').filter(|bare_name| is_symbol && !bare_name.is_empty());
        let quoted = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
        let bare_range = match (colon, quoted) {
            (Some(bare_name), _) => {
                match bare_name.strip_prefix('"').and_then(|bare_name| bare_name.strip_suffix('"')) {
                    Some(inner) if !inner.is_empty() => range.start + 2..range.end - 1,
                    _ => range.start + 1..range.end,
                }
            }
            (_, Some(inner)) if !inner.trim().is_empty() => range.start + 1..range.end - 1,
            _ => return (text, range),
        };
        (self.source.text(bare_range.clone()), bare_range)
    }

    /// Returns the container that a definition names, or an empty text.
    fn container(&self, definition: &DefinitionCaptures<'_>) -> Cow<'a, str> {
        let text = definition.container.map(|(start, end)| {
            // A container that includes the name, such as `Till::pay`, is what stands before the name.
            let name =
                definition.name.map(|name| name.start_byte()).filter(|name| (start..end).contains(name));
            self.source.text(start..name.unwrap_or(end))
        });
        let text = text.unwrap_or_default();
        if text.len() <= MAX_NAME_BYTES && !head::is_secret_name(&text) { text } else { Cow::Borrowed("") }
    }

    /// Returns the innermost enclosing node that is no section, with its depth: the document, or a quote or list item
    /// in it.
    fn container_of_sections(&self) -> Option<(usize, &Ancestor)> {
        let is_section = |ancestor: &Ancestor| self.tables.flags(ancestor.kind) & flag::PATTERN_START != 0;
        self.ancestors.iter().enumerate().rev().find(|(_, ancestor)| !is_section(ancestor))
    }

    /// Ends the sections that a heading of this level closes. A heading in a quote closes none outside, since the walk's
    /// state after the quote would otherwise depend on what is in it.
    fn close_sections(&mut self, level: u8, start: usize) {
        let container = self.container_of_sections().map_or(0, |(depth, _)| depth);
        let ends = |open: &OpenDefinition| {
            open.depth > container && open.heading.is_some_and(|heading| heading >= level)
        };
        let Some(first) = self.open.iter().position(ends) else { return };
        for open in self.open.iter_mut().skip(first) {
            open.end = start;
            if let Some(draft) = open.symbol.and_then(|at| self.findings.symbols.get_mut(at)) {
                draft.range.end = draft.range.end.min(start);
            }
        }
        self.close_ended_definitions(start);
    }

    fn define(&mut self, node: &Node<'_>, kind: SymbolKind, definition: DefinitionCaptures<'_>) {
        let depth = self.ancestors.len();
        let start = node.start_byte();
        if let Some(heading) = definition.heading {
            self.close_sections(heading.level, start);
        }
        let is_unclosed = definition.heading.is_some_and(|heading| heading.is_alone);
        let container = if is_unclosed { self.container_of_sections() } else { None };
        let definition_end = container.map_or(node.end_byte(), |(_, container)| container.end);
        let pending = self.pending.take_if(|pending| pending.depth >= depth);
        let pending = pending.filter(|pending| pending.depth == depth);
        let Some(name_node) = definition.name else { return };
        let (name, name_range) = self.definition_name(&name_node, definition.body);
        let parent = self.open.last();
        // A definition inside a head is shown as part of it.
        if start < self.opaque_until || parent.is_some_and(|open| open.is_hidden || open.is_in_head(start)) {
            return;
        }
        let is_local = parent.is_some_and(|open| open.is_local);
        if !is_name(&name) || self.open.len() >= self.tables.levels || (is_local && kind.is_value()) {
            return;
        }
        let repeat = match definition.clause {
            None if !kind.is_value() => Redefinition::New,
            parts => Redefinition::Same { parts },
        };
        let kind = match (kind, parent) {
            (SymbolKind::Function, Some(parent)) if parent.kind.is_type() => SymbolKind::Method,
            (kind, _) => kind,
        };
        let level = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        let owner = if kind.is_type() { Some(level) } else { parent.and_then(|open| open.owner) };
        let modifiers = self.modifiers.get(parent.map_or(0, |open| open.modifiers)..).unwrap_or_default();
        let prefix = modifiers.iter().take(4).flat_map(|m| [&*m.text, " "]).collect();
        let end = node.end_byte();
        let body = definition.body.map_or(end..end, |body| body.byte_range());
        let (head, gap) = if body.start >= name_node.end_byte() {
            (start..body.start, end..end)
        } else if body.end <= name_node.start_byte() {
            (start..end, body)
        } else {
            (start..end, end..end)
        };
        let outer_scope = parent.map_or(SymbolPurpose::Product, |open| open.scope);
        let (attributes, scope) =
            pending.map_or((Vec::new(), SymbolPurpose::Product), |p| (p.attributes, p.scope));
        self.open.push(OpenDefinition {
            kind,
            symbol: Some(self.findings.symbols.len()),
            end: definition_end,
            name: name_range.clone(),
            head,
            gap,
            is_broken: false,
            heading: definition.heading.map(|heading| heading.level),
            is_unclosed,
            spans: Vec::new(),
            prefix,
            depth,
            is_local: is_local || kind.is_function(),
            is_hidden: false,
            scope: if outer_scope == SymbolPurpose::Tests { outer_scope } else { scope },
            owner,
            modifiers: self.modifiers.len(),
        });
        self.findings.symbols.push(SymbolDraft {
            kind,
            level,
            scope,
            repeat,
            name,
            container: self.container(&definition),
            range: start..definition_end,
            name_range,
            head: String::new(),
            attributes,
        });
    }

    /// Adds a modifier such as `private:`, which applies up to the next one or the end of the enclosing definition.
    fn add_open_ended_modifier(&mut self, node: &Node<'_>) {
        let (inherited, end) = self.open.last().map_or((0, usize::MAX), |open| (open.modifiers, open.end));
        let own_modifiers = self.modifiers.get(inherited..).unwrap_or_default();
        if let Some(previous) =
            own_modifiers.iter().position(|modifier| modifier.extent == ModifierExtent::Rest)
        {
            self.modifiers.truncate(inherited + previous);
        }
        self.modifiers.push(DefinitionModifier { text: self.text(node), end, extent: ModifierExtent::Rest });
    }

    /// Assigns an attribute to a definition. An attribute at the start of a head belongs to that definition. Deeper
    /// inside a head, it belongs to a parameter and stays in place. Elsewhere, it is kept for the next definition.
    fn assign_attribute(&mut self, node: &Node<'_>) {
        let text = head::one_line(&self.text(node), MAX_IMPORT_OR_ATTRIBUTE_CHARS);
        if let Some(open) = self.open.last_mut()
            && open.is_in_head(node.start_byte())
        {
            if open.depth + 1 != self.ancestors.len() {
                return;
            }
            open.spans.push(HeadSpan { range: node.byte_range(), kind: HeadSpanKind::Dropped });
            if let Some(symbol) = open.symbol.and_then(|symbol| self.findings.symbols.get_mut(symbol))
                && symbol.attributes.len() < MAX_ATTRIBUTES_PER_SYMBOL
            {
                symbol.attributes.push(text);
            }
            return;
        }
        let pending = self.pending_attributes();
        if pending.attributes.len() < MAX_ATTRIBUTES_PER_SYMBOL {
            pending.attributes.push(text);
        }
    }

    /// Omits a node from the head being read, because callers do not need it.
    fn omit_from_head(&mut self, node: &Node<'_>) {
        if let Some(open) = self.open.last_mut()
            && open.is_in_head(node.start_byte())
        {
            open.spans.push(HeadSpan { range: node.byte_range(), kind: HeadSpanKind::Dropped });
        }
    }

    fn pending_attributes(&mut self) -> &mut PendingAttributes {
        let depth = self.ancestors.len();
        let new_pending =
            || PendingAttributes { depth, attributes: Vec::new(), scope: SymbolPurpose::Product };
        let pending = self.pending.get_or_insert_with(new_pending);
        if pending.depth != depth {
            *pending = new_pending();
        }
        pending
    }

    fn add_import(&mut self, range: Range<usize>) {
        let text = self.source.text(range);
        let text = text.trim_matches(['"', '\'', '`']);
        if self.open.last().is_none_or(|open| open.scope != SymbolPurpose::Tests) {
            self.findings.imports.push(head::one_line(text, MAX_IMPORT_OR_ATTRIBUTE_CHARS));
        }
    }

    fn add_instance_name(&mut self, node: &Node<'_>) {
        let name = self.text(node);
        let Some(owner) = self.open.last().and_then(|open| open.owner) else { return };
        if name.len() <= MAX_NAME_BYTES && !self.is_secret_mention(&name, node.byte_range()) {
            self.findings.instance.push(InstanceNameDraft {
                preceding_symbols: self.findings.symbols.len(),
                owner,
                name,
            });
        }
    }

    fn add_mention(&mut self, node: &Node<'_>, usage: u8) {
        if self.open.last().is_some_and(|open| open.name.start == node.start_byte()) {
            return;
        }
        self.add_mention_range(node.byte_range(), usage);
    }

    fn add_mention_range(&mut self, range: Range<usize>, usage: u8) {
        let name = self.source.text(range.clone());
        // Single letters are type parameters or loop variables and hardly distinguish files. A line break
        // occurs only in names of broken text, and is the separator of stored names.
        if name.len() < 2
            || name.len() > MAX_NAME_BYTES
            || name.contains('\n')
            || self.is_secret_mention(&name, range)
        {
            return;
        }
        *self.findings.mentions.entry(name).or_default() |= usage;
    }

    /// Whether the screen finds the mentioned name at `range` in its line, as it would in the text of the file.
    fn is_secret_mention(&self, name: &str, range: Range<usize>) -> bool {
        let before = || {
            self.source
                .text_at_char_boundaries(range.start.saturating_sub(MAX_BYTES_BEFORE_SECRET_NAME)..range.end)
        };
        head::may_be_secret_name(name)
            && head::is_secret_name_on_line(name, before().lines().last().unwrap_or_default())
    }

    fn text(&self, node: &Node<'_>) -> Cow<'a, str> {
        self.source.text(node.byte_range())
    }
}

impl OpenDefinition {
    /// Whether text that starts at byte `start` is shown as part of the head.
    fn is_in_head(&self, start: usize) -> bool {
        start < self.head.end && !self.gap.contains(&start)
    }

    /// Whether the shown part of the head ends at or before byte `start`.
    fn is_past_head(&self, start: usize) -> bool {
        let name = self.name.start.clamp(self.head.start, self.head.end);
        start >= self.head.end.min(name + head::MAX_HEAD_SCAN_BYTES + self.gap.len())
    }
}

impl SymbolDraft<'_> {
    /// Converts the draft to a symbol without considering other definitions of the same name. The symbol's
    /// depth is its level.
    pub(super) fn into_symbol(self) -> Symbol {
        Symbol {
            kind: self.kind,
            depth: self.level,
            scope: self.scope,
            name: head::one_line_name(&self.name).into(),
            container: container_name(&self.container).into(),
            head: self.head.into(),
            attributes: self.attributes.iter().collect(),
            instance: NameList::default(),
        }
    }
}

impl DefinitionCaptures<'_> {
    fn for_pattern(pattern: usize) -> Self {
        Self {
            pattern,
            kind: None,
            name: None,
            body: None,
            clause: None,
            container: None,
            declarator: None,
            heading: None,
        }
    }
}

/// Returns the name of a container without pointers, type arguments and separators around it.
fn container_name(text: &str) -> String {
    let is_around = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$' | '`' | '>' | ']');
    name_parts(text.trim_matches(is_around)).join(".")
}

/// Whether a text can be the name of a symbol.
fn is_name(name: &str) -> bool {
    !name.chars().all(|c| c.is_whitespace() || c.is_control())
        && name.len() <= MAX_NAME_BYTES
        && !head::is_secret_name(name)
}

fn single_node_cursor() -> QueryCursor {
    let mut cursor = QueryCursor::new();
    cursor.set_max_start_depth(Some(0));
    cursor
}

fn write_head(source: &SourceText<'_>, symbols: &mut [SymbolDraft<'_>], open: &mut OpenDefinition) {
    if let Some(symbol) = open.symbol.and_then(|symbol| symbols.get_mut(symbol))
        && symbol.head.is_empty()
    {
        open.spans.sort_by_key(|span| span.range.start);
        let scan = head::MAX_HEAD_SCAN_BYTES + open.gap.len();
        symbol.head =
            head::render_head(source, open.head.clone(), scan, &open.name, &open.spans, &open.prefix);
        if symbol.head.is_empty() {
            symbol.head = head::one_line_name(&symbol.name);
        }
    }
}

/// Mixes two numbers into a hash (two rounds of MurmurHash3's finalizer).
fn mix_hash(a: u64, b: u64) -> u64 {
    let mut mixed = (a ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xff51_afd7_ed55_8ccd) ^ b;
    mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}
