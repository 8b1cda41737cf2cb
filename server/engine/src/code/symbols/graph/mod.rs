//! Who mentions whom. A name that a file mentions means the file that its imports lead to and that defines
//! the name; a name that no import explains means, with less certainty, every file that defines it. An
//! import none of whose names are used is a weak reference of its own. It knows files and names, no
//! positions: where in a file a name stands is for whoever has the text.

mod clusters;
mod links;
mod names;
mod pins;
mod rank;
mod update;
mod walk;

#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use strata_grammars::LanguageId;

use self::names::{NameTable, Place};
pub use self::rank::{Ranking, Seeds};
use super::imports::Resolver;
use super::index::SymbolIndex;
use super::manifests::Manifests;
use crate::key::FileKey;

/// The graph of references between the files that have outlines. A clone shares everything.
#[derive(Clone, Debug)]
pub struct References {
    resolver: Arc<Resolver>,
    names: Arc<NameTable>,
    /// By file, in key order.
    nodes: Vec<Arc<Node>>,
    /// The edges of all nodes, seen from their ends.
    incoming: Arc<Incoming>,
    /// How much of the repository lies around each file; the greatest is 1. Worked out when it is asked for.
    centrality: Arc<OnceLock<Vec<f64>>>,
}

/// What one file defines, mentions and refers to. Names and files are numbers.
#[derive(Debug)]
struct Node {
    language: LanguageId,
    tests: bool,
    parts: Parts,
    /// Which file a mentioned name means, because of an import; sorted.
    pins: Box<[Pin]>,
    /// The files it refers to, sorted.
    edges: Box<[Edge]>,
}

/// What is known of a file by itself and the names of the others.
#[derive(Debug, PartialEq)]
struct Parts {
    /// Sorted by name, each once.
    defines: Box<[Definition]>,
    /// Names that some file of the family defines, sorted.
    mentions: Box<[u32]>,
    /// Files that its imports mean, sorted, with the weight of an import that is all there is.
    imports: Box<[Edge]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Definition {
    name: u32,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pin {
    name: u32,
    file: u32,
    /// Over how many files it was found.
    round: u8,
}

/// A reference to a file, or from one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Edge {
    file: u32,
    weight: f32,
}

/// Edges by the file they lead to.
#[derive(Debug, Default)]
struct Incoming {
    starts: Vec<u32>,
    edges: Vec<Edge>,
}

/// A file that defines a name, and who means it.
#[derive(Clone, Debug, PartialEq)]
pub struct NameReferences {
    /// The file that defines the name.
    pub definer: FileKey,
    /// The files that mention it and mean this definition, with the likelihood (at most 1); strongest
    /// first.
    pub referrers: Vec<(FileKey, f64)>,
}

impl Default for References {
    fn default() -> Self {
        Self::build(&SymbolIndex::new(), &Arc::default())
    }
}

impl References {
    /// The graph of an index, its imports resolved with what the project files say.
    pub fn build(index: &SymbolIndex, manifests: &Arc<Manifests>) -> Self {
        links::build(index, manifests)
    }

    /// The graph after the outlines of `changed` files changed, `index` being as they are now. Costs little when a file
    /// defines and imports the same as before, which is what most edits leave it with; else as much as
    /// building anew, which gives the same.
    pub fn updated(&self, index: &SymbolIndex, changed: &[FileKey]) -> Self {
        update::updated(self, index, changed).unwrap_or_else(|| Self::build(index, self.resolver.manifests()))
    }

    /// How many other files mention a name the file defines. A file that only mentions names with
    /// several definers counts for the likelihood that it means this one.
    pub fn incoming(&self, key: &FileKey) -> f64 {
        let edges = self.number(key).map(|number| self.incoming.of(number)).unwrap_or_default();
        edges.iter().map(|edge| f64::from(edge.weight.min(1.0))).sum()
    }

    /// The files that refer to the file, strongest first.
    pub fn dependents(&self, key: &FileKey) -> Vec<&FileKey> {
        self.by_strength(self.number(key).map(|number| self.incoming.of(number)).unwrap_or_default())
    }

    /// The files that the file refers to, strongest first.
    pub fn dependencies(&self, key: &FileKey) -> Vec<&FileKey> {
        self.by_strength(
            self.number(key).and_then(|number| self.node(number)).map_or(&[], |node| &node.edges),
        )
    }

    /// The files that the imports of a file mean, in key order.
    pub fn imports(&self, key: &FileKey) -> Vec<&FileKey> {
        let node = self.number(key).and_then(|number| self.node(number));
        node.into_iter().flat_map(|node| &node.parts.imports).filter_map(|edge| self.key(edge.file)).collect()
    }

    /// Every file that defines a name, in key order, and who means it.
    pub fn references_to(&self, name: &str) -> Vec<NameReferences> {
        let mut found = Vec::new();
        for name in self.names.numbers(name) {
            let definers = self.names.definers(name);
            let mut places = FxHashMap::default();
            for definer in definers {
                let Some(key) = self.key(definer.file) else { continue };
                places.insert(definer.file, found.len());
                found.push(NameReferences { definer: key.clone(), referrers: Vec::new() });
            }
            for (from_file, node) in (0_u32..).zip(&self.nodes) {
                if node.parts.mentions.binary_search(&name).is_err() {
                    continue;
                }
                for edge in links::meant(self, from_file, node, name) {
                    let entry = places.get(&edge.file).and_then(|at| found.get_mut(*at));
                    if let (Some(entry), Some(key)) = (entry, self.key(from_file)) {
                        entry.referrers.push((key.clone(), f64::from(edge.weight)));
                    }
                }
            }
        }
        for entry in &mut found {
            entry.referrers.sort_by(|(a_key, a), (b_key, b)| b.total_cmp(a).then_with(|| a_key.cmp(b_key)));
        }
        found.sort_by(|a, b| a.definer.cmp(&b.definer));
        found
    }

    /// The files that define a name as `from` means it, likeliest first: its own definition, what its imports
    /// lead to, else whoever defines it.
    pub fn definers(&self, from: &FileKey, name: &str) -> Vec<&FileKey> {
        let Some((number, node)) = self.number(from).and_then(|n| Some((n, self.node(n)?))) else {
            return Vec::new();
        };
        let Some(name) = self.names.number(node.language.family(), name) else { return Vec::new() };
        if node.place(name).is_some() {
            return self.key(number).into_iter().collect();
        }
        let meant = links::meant(self, number, node, name);
        if meant.is_empty() {
            return self.names.definers(name).iter().filter_map(|definer| self.key(definer.file)).collect();
        }
        self.by_strength(&meant)
    }

    /// The files of the graph, in key order.
    pub fn files(&self) -> &[FileKey] {
        self.resolver.files()
    }

    fn number(&self, key: &FileKey) -> Option<u32> {
        self.files().binary_search(key).ok().and_then(|number| u32::try_from(number).ok())
    }

    fn key(&self, number: u32) -> Option<&FileKey> {
        self.files().get(number as usize)
    }

    fn node(&self, number: u32) -> Option<&Node> {
        self.nodes.get(number as usize).map(|node| &**node)
    }

    fn by_strength(&self, edges: &[Edge]) -> Vec<&FileKey> {
        let mut edges = edges.to_vec();
        edges.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.file.cmp(&b.file)));
        edges.iter().filter_map(|edge| self.key(edge.file)).collect()
    }
}

impl Node {
    /// Where the file defines a name, when it does.
    fn place(&self, name: u32) -> Option<Place> {
        let defines = &self.parts.defines;
        let at = defines.binary_search_by_key(&name, |definition| definition.name).ok()?;
        defines.get(at).map(|definition| definition.place)
    }

    fn pins_of(&self, name: u32) -> &[Pin] {
        let from = self.pins.partition_point(|pin| pin.name < name);
        let rest = self.pins.get(from..).unwrap_or_default();
        let len = rest.partition_point(|pin| pin.name == name);
        rest.get(..len).unwrap_or_default()
    }

    fn weight_to(&self, file: u32) -> Option<f32> {
        let at = self.edges.binary_search_by_key(&file, |edge| edge.file).ok()?;
        self.edges.get(at).map(|edge| edge.weight)
    }
}

impl Incoming {
    fn of_all(nodes: &[Arc<Node>]) -> Self {
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
                let Some(at) = next.get_mut(edge.file as usize) else { continue };
                if let Some(slot) = edges.get_mut(*at as usize) {
                    *slot = Edge { file, weight: edge.weight };
                }
                *at += 1;
            }
        }
        Self { starts, edges }
    }

    /// The edges that lead to a file, by the file they come from.
    fn of(&self, file: u32) -> &[Edge] {
        let at = file as usize;
        let (Some(&from), Some(&to)) = (self.starts.get(at), self.starts.get(at + 1)) else { return &[] };
        self.edges.get(from as usize..to as usize).unwrap_or_default()
    }
}
