//! Builds the graph of an index: numbers the names, resolves the imports, and weights the mentions in every file.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use strata_base::key::FileKey;
use strata_grammars::{ImportStyle, LanguageId};

use super::model::{Edge, FileNode, FileRelations, IncomingEdges, ReferenceGraph, ResolvedMention};
use super::names::{Definer, DefinitionScope, ExportedDefinition, NameTable};
use super::pins::{self, NameStateTable, ResolutionFiles};
use crate::outline::SymbolKind;
use crate::symbols::imports::Resolver;
use crate::symbols::index::{FileSymbols, SymbolIndex};
use crate::symbols::manifests::Manifests;

/// An unresolved mention of a name counts only if at most this many files define the name. If more do, a mention
/// says little about any of them, and the cost would grow with the square of the repository's size.
pub(super) const MAX_DEFINERS: usize = 16;
/// Weight of a mention that no import resolves and whose name is defined only inside types.
const MEMBER_MENTION_WEIGHT: f32 = 0.25;
/// Weight of an import whose names are never mentioned.
const IMPORT_WEIGHT: f32 = 0.25;

pub(super) fn build_graph(index: &SymbolIndex, manifests: &Arc<Manifests>) -> ReferenceGraph {
    let files = index.iter().map(|(key, file)| (key.clone(), file.language));
    let resolver = Resolver::new(files, Arc::clone(manifests));
    let mut names = NameTable::default();
    let defines: Vec<Box<[ExportedDefinition]>> =
        index.values().map(|file| names.intern_definitions(file)).collect();
    names.index_definers(defines.iter().map(|defines| &**defines));
    let parts: Vec<FileRelations> = index
        .iter()
        .zip(defines)
        .map(|((key, file), defines)| FileRelations {
            defines,
            mentions: names.mentioned_names(file),
            imports: import_edges(&resolver, key, file),
        })
        .collect();
    let all_parts: Vec<&FileRelations> = parts.iter().collect();
    let scope = ResolutionFiles { parts: &all_parts, is_entry: &|file| resolver.is_entry(file) };
    let pins = pins::resolve_all_mentions(scope, &mut NameStateTable::new(names.len()));
    let mut nodes = Vec::with_capacity(parts.len());
    let mut weights = FxHashMap::default();
    for (file, (((key, symbols), parts), pins)) in (0_u32..).zip(index.iter().zip(parts).zip(pins)) {
        let language = symbols.language;
        let is_test = language.is_test_file(key.as_str());
        let mut node = FileNode { language, is_test, parts, pins, edges: Box::default() };
        node.edges = reference_edges(&resolver, &names, file, &node, &mut weights);
        nodes.push(Arc::new(node));
    }
    let incoming = Arc::new(IncomingEdges::from_nodes(&nodes));
    let (resolver, names) = (Arc::new(resolver), Arc::new(names));
    ReferenceGraph { resolver, names, nodes, incoming, centrality: Arc::default(), mentioned: Arc::default() }
}

/// Returns the files that a mentioned name may refer to, if the file does not define the name itself.
pub(super) fn referenced_files(graph: &ReferenceGraph, file: u32, node: &FileNode, name: u32) -> Vec<Edge> {
    let mut referenced_files = Vec::new();
    for_each_referenced_file(&graph.resolver, &graph.names, file, node, name, |file, weight| {
        referenced_files.push(Edge { file, weight });
    });
    referenced_files
}

/// Returns the files that the imports of a file refer to.
pub(super) fn import_edges(resolver: &Resolver, key: &FileKey, file: &FileSymbols) -> Box<[Edge]> {
    let mut edges: Vec<Edge> = Vec::new();
    let mut add = |text: &str| {
        let files = resolver.imported_file_numbers(key, file.language, text);
        let weight = IMPORT_WEIGHT / files.len().max(1) as f32;
        edges.extend(files.into_iter().map(|file| Edge { file, weight }));
    };
    file.outline.imports.iter().for_each(&mut add);
    if file.language.imports == ImportStyle::Crate {
        for module in declared_modules(file) {
            add(&format!("self::{module}"));
        }
    }
    edges.sort_by(|a, b| a.file.cmp(&b.file).then_with(|| b.weight.total_cmp(&a.weight)));
    edges.dedup_by_key(|edge| edge.file);
    edges.into()
}

/// Returns the modules declared with `mod name;`, whose content is in other files.
fn declared_modules(file: &FileSymbols) -> impl Iterator<Item = &str> {
    let mut symbols = file.outline.symbols.iter().peekable();
    std::iter::from_fn(move || {
        loop {
            let symbol = symbols.next()?;
            let is_empty = symbols.peek().is_none_or(|next| next.depth <= symbol.depth);
            if symbol.kind == SymbolKind::Module && symbol.depth == 0 && is_empty {
                return Some(&*symbol.name);
            }
        }
    })
}

/// Returns the references of a file to other files, given its names and its [pins](super::model::ResolvedMention).
pub(super) fn reference_edges(
    resolver: &Resolver,
    names: &NameTable,
    file: u32,
    node: &FileNode,
    weights: &mut FxHashMap<u32, f32>,
) -> Box<[Edge]> {
    for &name in &node.parts.mentions {
        for_each_referenced_file(resolver, names, file, node, name, |to, weight| {
            *weights.entry(to).or_default() += weight;
        });
    }
    for import in &node.parts.imports {
        weights.entry(import.file).or_insert(import.weight);
    }
    let mut edges: Vec<Edge> = weights.drain().map(|(file, weight)| Edge { file, weight }).collect();
    edges.sort_unstable_by_key(|edge| edge.file);
    edges.into()
}

/// Calls `add` with every file that a name may refer to, and the likelihood that it does.
pub(super) fn for_each_referenced_file(
    resolver: &Resolver,
    names: &NameTable,
    file: u32,
    node: &FileNode,
    name: u32,
    mut add: impl FnMut(u32, f32),
) {
    let pinned = node.resolved_mentions(name);
    for ResolvedMention { file, .. } in pinned {
        add(*file, 1.0 / pinned.len() as f32);
    }
    let definers = names.definers(name);
    let outer_count = definers.partition_point(|definer| definer.scope == DefinitionScope::Outer);
    let candidates = if outer_count > 0 { definers.get(..outer_count).unwrap_or_default() } else { definers };
    let defines_it_itself = || candidates.iter().any(|definer| definer.file == file);
    if !pinned.is_empty() || candidates.len() > MAX_DEFINERS || defines_it_itself() {
        return;
    }
    let is_in_same_directory = |definer: &&Definer| {
        let directory = |number: u32| resolver.files().get(number as usize).map_or("", FileKey::directory);
        directory(definer.file) == directory(file)
    };
    if shares_directory(node.language) {
        let count = candidates.iter().filter(is_in_same_directory).count();
        if count > 0 {
            candidates
                .iter()
                .filter(is_in_same_directory)
                .for_each(|definer| add(definer.file, 1.0 / count as f32));
            return;
        }
    }
    let weight = if outer_count > 0 { 1.0 } else { MEMBER_MENTION_WEIGHT };
    candidates.iter().for_each(|definer| add(definer.file, weight / candidates.len() as f32));
}

/// Whether files in the same directory see each other's names without imports.
fn shares_directory(language: LanguageId) -> bool {
    matches!(language.imports, ImportStyle::Package | ImportStyle::Namespace)
}
