//! Updates the graph after an edit that leaves most of it unchanged.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use strata_base::key::FileKey;

use super::links::{import_edges, reference_edges};
use super::model::{FileNode, FileRelations, IncomingEdges, ReferenceGraph, ResolvedMention};
use super::pins::{self, NameStateTable, ResolutionFiles};
use crate::symbols::index::SymbolIndex;

/// Implements [`ReferenceGraph::updated`]. Returns `None` if the references of other files change too,
/// because files were added or removed, or a file defines or re-exports different names.
pub(super) fn updated_references(
    graph: &ReferenceGraph,
    index: &SymbolIndex,
    changed: &[FileKey],
) -> Option<ReferenceGraph> {
    if index.len() != graph.files().len() {
        return None;
    }
    let mut changed_parts: Vec<(u32, FileRelations)> = Vec::with_capacity(changed.len());
    for key in changed {
        let (number, symbols) = (graph.number(key)?, index.get(key)?);
        let old_node = graph.node(number).filter(|old_node| old_node.language == symbols.language)?;
        let defines = graph.names.known_definitions(symbols)?;
        let imports = import_edges(&graph.resolver, key, symbols);
        if defines != old_node.parts.defines || imports != old_node.parts.imports {
            return None;
        }
        let mentions = graph.names.mentioned_names(symbols);
        if mentions != old_node.parts.mentions {
            changed_parts.push((number, FileRelations { defines, mentions, imports }));
        }
    }
    if changed_parts.is_empty() {
        return Some(graph.clone());
    }
    let mut parts: Vec<&FileRelations> = graph.nodes.iter().map(|node| &node.parts).collect();
    for (number, new_parts) in &changed_parts {
        *parts.get_mut(*number as usize)? = new_parts;
    }
    let scope = ResolutionFiles { parts: &parts, is_entry: &|file| graph.resolver.is_entry(file) };
    let pins_of = |file: u32| -> &[ResolvedMention] { graph.node(file).map_or(&[], |node| &node.pins) };
    let mut marks = NameStateTable::new(graph.names.len());
    let mut pinned = Vec::with_capacity(changed_parts.len());
    for (number, _) in &changed_parts {
        let pins = pins::resolve_file_mentions(scope, &mut marks, *number, &pins_of);
        // Files that import this one may resolve names through its pins.
        if pins != graph.node(*number)?.pins && is_imported(graph, *number) {
            return None;
        }
        pinned.push(pins);
    }
    let mut nodes = graph.nodes.clone();
    let mut weights = FxHashMap::default();
    for ((number, parts), pins) in changed_parts.into_iter().zip(pinned) {
        let old_node = graph.node(number)?;
        let mut node = FileNode {
            language: old_node.language,
            is_test: old_node.is_test,
            parts,
            pins,
            edges: Box::default(),
        };
        node.edges = reference_edges(&graph.resolver, &graph.names, number, &node, &mut weights);
        *nodes.get_mut(number as usize)? = Arc::new(node);
    }
    let incoming = Arc::new(IncomingEdges::from_nodes(&nodes));
    let (resolver, names) = (Arc::clone(&graph.resolver), Arc::clone(&graph.names));
    Some(ReferenceGraph {
        resolver,
        names,
        nodes,
        incoming,
        centrality: Arc::default(),
        mentioned: Arc::default(),
    })
}

/// Whether any file imports the file `number`.
fn is_imported(graph: &ReferenceGraph, number: u32) -> bool {
    graph
        .nodes
        .iter()
        .any(|node| node.parts.imports.binary_search_by_key(&number, |import| import.file).is_ok())
}
