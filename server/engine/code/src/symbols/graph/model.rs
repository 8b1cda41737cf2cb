//! The data model of the graph: files as nodes, names as numbers.

use std::sync::{Arc, OnceLock};

use strata_base::key::FileKey;
use strata_grammars::LanguageId;

use super::super::imports::Resolver;
use super::names::{DefinitionScope, ExportedDefinition, NameTable};

/// The graph of references between files with outlines. Clones share all data.
#[derive(Clone, Debug)]
pub struct ReferenceGraph {
    pub(super) resolver: Arc<Resolver>,
    pub(super) names: Arc<NameTable>,
    /// One node for each file, in key order.
    pub(super) nodes: Vec<Arc<FileNode>>,
    /// The edges of all nodes, grouped by target.
    pub(super) incoming: Arc<IncomingEdges>,
    /// Importance of each file, computed on first use by a random walk without seeds and scaled so that the highest
    /// value is 1.
    pub(super) centrality: Arc<OnceLock<Vec<f64>>>,
    /// Weighted number of mentions of each definition, in one list per file. Computed on first use.
    pub(super) mentioned: Arc<OnceLock<Vec<Box<[f32]>>>>,
}

/// The definitions, mentions and references of one file. Names and files are represented by numbers.
#[derive(Debug)]
pub(super) struct FileNode {
    pub(super) language: LanguageId,
    pub(super) is_test: bool,
    pub(super) parts: FileRelations,
    /// The files to which the imports resolve mentioned names, sorted.
    pub(super) pins: Box<[ResolvedMention]>,
    /// References to other files, sorted by file.
    pub(super) edges: Box<[Edge]>,
}

/// Data about a file that depends only on the file and on the names known to the graph.
#[derive(Debug, PartialEq)]
pub(super) struct FileRelations {
    /// Definitions without duplicates, sorted by name.
    pub(super) defines: Box<[ExportedDefinition]>,
    /// Mentioned names that some file of the language family defines, sorted.
    pub(super) mentions: Box<[u32]>,
    /// Imported files, sorted, with the weight that applies if none of their names is mentioned.
    pub(super) imports: Box<[Edge]>,
}

/// A file that a mentioned name refers to, according to the imports of the file that mentions it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ResolvedMention {
    pub(super) name: u32,
    pub(super) file: u32,
    /// Number of re-exports followed to find the definition.
    pub(super) round: u8,
}

/// A weighted reference to or from a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Edge {
    pub(super) file: u32,
    pub(super) weight: f32,
}

/// Edges grouped by the file to which they lead.
#[derive(Debug, Default)]
pub(super) struct IncomingEdges {
    pub(super) starts: Vec<u32>,
    pub(super) edges: Vec<Edge>,
}

impl ReferenceGraph {
    /// Returns the files of the graph, in key order.
    pub(crate) fn files(&self) -> &[FileKey] {
        self.resolver.files()
    }

    pub(super) fn number(&self, key: &FileKey) -> Option<u32> {
        self.files().binary_search(key).ok().and_then(|number| u32::try_from(number).ok())
    }

    pub(super) fn key(&self, number: u32) -> Option<&FileKey> {
        self.files().get(number as usize)
    }

    pub(super) fn node(&self, number: u32) -> Option<&FileNode> {
        self.nodes.get(number as usize).map(|node| &**node)
    }
}

impl FileNode {
    /// Returns where the file defines a name, or `None` if it does not define the name.
    pub(super) fn definition_scope(&self, name: u32) -> Option<DefinitionScope> {
        let defines = &self.parts.defines;
        let index = defines.binary_search_by_key(&name, |definition| definition.name).ok()?;
        defines.get(index).map(|definition| definition.scope)
    }

    pub(super) fn resolved_mentions(&self, name: u32) -> &[ResolvedMention] {
        let start = self.pins.partition_point(|pin| pin.name < name);
        let rest = self.pins.get(start..).unwrap_or_default();
        let len = rest.partition_point(|pin| pin.name == name);
        rest.get(..len).unwrap_or_default()
    }

    pub(super) fn weight_to(&self, file: u32) -> Option<f32> {
        let index = self.edges.binary_search_by_key(&file, |edge| edge.file).ok()?;
        self.edges.get(index).map(|edge| edge.weight)
    }
}

impl IncomingEdges {
    pub(super) fn from_nodes(nodes: &[Arc<FileNode>]) -> Self {
        let mut starts = vec![0_u32; nodes.len() + 1];
        for edge in nodes.iter().flat_map(|node| &node.edges) {
            if let Some(count) = starts.get_mut(edge.file as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut edges = vec![Edge { file: 0, weight: 0.0 }; sum as usize];
        for (file, node) in (0_u32..).zip(nodes) {
            for edge in &node.edges {
                let Some(index) = next.get_mut(edge.file as usize) else { continue };
                if let Some(slot) = edges.get_mut(*index as usize) {
                    *slot = Edge { file, weight: edge.weight };
                }
                *index += 1;
            }
        }
        Self { starts, edges }
    }

    /// Returns the edges that lead to a file. The `file` of each edge is its source.
    pub(super) fn edges_to(&self, file: u32) -> &[Edge] {
        let index = file as usize;
        let (Some(&start), Some(&end)) = (self.starts.get(index), self.starts.get(index + 1)) else {
            return &[];
        };
        self.edges.get(start as usize..end as usize).unwrap_or_default()
    }
}
