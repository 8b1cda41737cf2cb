//! Updates the graph after an edit that leaves most of it unchanged.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use strata_base::key::FileKey;

use super::links::{edges, imports};
use super::model::{Incoming, Node, Parts, Pin, References};
use super::pins::{self, FileScope, Marks};
use crate::symbols::index::SymbolIndex;

/// Implements [`References::updated`]. Returns `None` if the references of other files change too, because
/// files were added or removed, or a file defines or re-exports different names.
pub(super) fn updated(graph: &References, index: &SymbolIndex, changed: &[FileKey]) -> Option<References> {
    if index.len() != graph.files().len() {
        return None;
    }
    let mut fresh: Vec<(u32, Parts)> = Vec::with_capacity(changed.len());
    for key in changed {
        let (number, symbols) = (graph.number(key)?, index.get(key)?);
        let before = graph.node(number).filter(|before| before.language == symbols.language)?;
        let defines = graph.names.known(symbols)?;
        let imports = imports(&graph.resolver, key, symbols);
        if defines != before.parts.defines || imports != before.parts.imports {
            return None;
        }
        let mentions = graph.names.mentioned(symbols);
        if mentions != before.parts.mentions {
            fresh.push((number, Parts { defines, mentions, imports }));
        }
    }
    if fresh.is_empty() {
        return Some(graph.clone());
    }
    let mut parts: Vec<&Parts> = graph.nodes.iter().map(|node| &node.parts).collect();
    for (number, own) in &fresh {
        *parts.get_mut(*number as usize)? = own;
    }
    let among = FileScope { parts: &parts, is_entry: &|file| graph.resolver.is_entry(file) };
    let others = |file: u32| -> &[Pin] { graph.node(file).map_or(&[], |node| &node.pins) };
    let mut marks = Marks::new(graph.names.len());
    let mut pinned = Vec::with_capacity(fresh.len());
    for (number, _) in &fresh {
        let pins = pins::of_one(among, &mut marks, *number, &others);
        // Files that import this one may resolve names through its pins.
        if pins != graph.node(*number)?.pins && is_imported(graph, *number) {
            return None;
        }
        pinned.push(pins);
    }
    let mut nodes = graph.nodes.clone();
    let mut weights = FxHashMap::default();
    for ((number, parts), pins) in fresh.into_iter().zip(pinned) {
        let before = graph.node(number)?;
        let mut node =
            Node { language: before.language, tests: before.tests, parts, pins, edges: Box::default() };
        node.edges = edges(&graph.resolver, &graph.names, number, &node, &mut weights);
        *nodes.get_mut(number as usize)? = Arc::new(node);
    }
    let incoming = Arc::new(Incoming::of_all(&nodes));
    let (resolver, names) = (Arc::clone(&graph.resolver), Arc::clone(&graph.names));
    Some(References {
        resolver,
        names,
        nodes,
        incoming,
        centrality: Arc::default(),
        mentioned: Arc::default(),
    })
}

/// Whether any file imports the file `number`.
fn is_imported(graph: &References, number: u32) -> bool {
    graph
        .nodes
        .iter()
        .any(|node| node.parts.imports.binary_search_by_key(&number, |import| import.file).is_ok())
}
