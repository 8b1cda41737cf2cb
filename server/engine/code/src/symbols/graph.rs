//! The graph of references between files. A mentioned name refers to the imported file that defines it, or,
//! if no import resolves the name, with less certainty to every file that defines it. An import whose names
//! are not mentioned is a weak reference. The graph contains files and names, but no positions.

mod clusters;
mod links;
mod mentioned;
pub(super) mod model;
mod names;
mod pins;
pub(super) mod rank;
mod reach;
mod update;
mod walk;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use strata_base::key::FileKey;
use strata_grammars::LanguageId;

use self::model::Edge;
pub(crate) use self::model::ReferenceGraph;
pub(crate) use self::rank::{Ranking, Seeds};
use super::index::SymbolIndex;
use super::manifests::Manifests;

/// A file that defines a name, and the files that refer to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NameReferences {
    pub definer: FileKey,
    /// The files whose mentions of the name refer to this definition, each with the likelihood that they do (at most
    /// 1), in descending order.
    pub referrers: Vec<(FileKey, f64)>,
}

impl Default for ReferenceGraph {
    fn default() -> Self {
        Self::build(&SymbolIndex::default(), &Arc::default())
    }
}

impl ReferenceGraph {
    /// Builds the graph of an index. Uses `manifests` to resolve imports.
    pub fn build(index: &SymbolIndex, manifests: &Arc<Manifests>) -> Self {
        links::build_graph(index, manifests)
    }

    /// Updates the graph for new outlines of the `changed` files. `index` must be current. The update is cheap
    /// if the files still define and import the same names, as after most edits; otherwise, the graph is
    /// rebuilt. The result is the same either way.
    pub fn updated(&self, index: &SymbolIndex, changed: &[FileKey]) -> Self {
        update::updated_references(self, index, changed)
            .unwrap_or_else(|| Self::build(index, self.resolver.manifests()))
    }

    /// Returns the number of other files that mention a name defined in the file. A file that only mentions names
    /// that several files define counts in proportion to the likelihood that it refers to this one.
    pub fn referrer_weight(&self, key: &FileKey) -> f64 {
        let edges = self.number(key).map(|number| self.incoming.edges_to(number)).unwrap_or_default();
        edges.iter().map(|edge| f64::from(edge.weight.min(1.0))).sum()
    }

    /// Returns the files that refer to the file, strongest references first.
    pub fn dependents(&self, key: &FileKey) -> Vec<&FileKey> {
        self.files_by_edge_weight(
            self.number(key).map(|number| self.incoming.edges_to(number)).unwrap_or_default(),
        )
    }

    /// Returns the files that the file refers to, strongest references first.
    pub fn dependencies(&self, key: &FileKey) -> Vec<&FileKey> {
        self.files_by_edge_weight(
            self.number(key).and_then(|number| self.node(number)).map_or(&[], |node| &node.edges),
        )
    }

    /// Returns the files that the imports of a file refer to, in key order.
    pub fn imports(&self, key: &FileKey) -> Vec<&FileKey> {
        let node = self.number(key).and_then(|number| self.node(number));
        node.into_iter().flat_map(|node| &node.parts.imports).filter_map(|edge| self.key(edge.file)).collect()
    }

    /// Returns the files that `import` refers to in the file `from`, as indices into [all
    /// files](Self::files).
    pub(crate) fn imported_file_numbers(
        &self,
        from: &FileKey,
        language: LanguageId,
        import: &str,
    ) -> Vec<usize> {
        let numbers = self.resolver.imported_file_numbers(from, language, import);
        numbers.into_iter().filter_map(|number| usize::try_from(number).ok()).collect()
    }

    /// Whether the graph tracks a name in a language family. Names that are too short, too common or have too
    /// many definers are not tracked.
    pub(crate) fn is_name_tracked(&self, family: &str, name: &str) -> bool {
        let number = self.names.name_id(family, name);
        number.is_some_and(|name| self.names.definers(name).len() <= links::MAX_DEFINERS)
    }

    /// Returns every file that defines a name, in key order, with the files that refer to it.
    pub(crate) fn references_to(&self, name: &str) -> Vec<NameReferences> {
        let mut references = Vec::new();
        for name in self.names.name_ids(name) {
            let definers = self.names.definers(name);
            let mut indices = FxHashMap::default();
            for definer in definers {
                let Some(key) = self.key(definer.file) else { continue };
                indices.insert(definer.file, references.len());
                references.push(NameReferences { definer: key.clone(), referrers: Vec::new() });
            }
            for (from_file, node) in (0_u32..).zip(&self.nodes) {
                if node.parts.mentions.binary_search(&name).is_err() {
                    continue;
                }
                for edge in links::referenced_files(self, from_file, node, name) {
                    let entry = indices.get(&edge.file).and_then(|index| references.get_mut(*index));
                    if let (Some(entry), Some(key)) = (entry, self.key(from_file)) {
                        entry.referrers.push((key.clone(), f64::from(edge.weight)));
                    }
                }
            }
        }
        for entry in &mut references {
            entry.referrers.sort_by(|(a_key, a), (b_key, b)| b.total_cmp(a).then_with(|| a_key.cmp(b_key)));
        }
        references.sort_by(|a, b| a.definer.cmp(&b.definer));
        references
    }

    /// Whether `.gitattributes` declares a file generated, or `None` if no rule matches the file.
    pub(in crate::symbols) fn declared_generated(&self, key: &FileKey) -> Option<bool> {
        self.resolver.manifests().is_generated(key)
    }

    /// Returns the files that define a name, in any language.
    pub(in crate::symbols) fn definers_of(&self, name: &str) -> Vec<&FileKey> {
        let numbers = self.names.name_ids(name).into_iter();
        numbers
            .flat_map(|name| self.names.definers(name))
            .filter_map(|definer| self.key(definer.file))
            .collect()
    }

    /// Returns the files that a name in `from` may refer to, most likely first: the file itself if it defines
    /// the name, otherwise the files that its imports lead to, otherwise all files that define the name.
    pub fn definers(&self, from: &FileKey, name: &str) -> Vec<&FileKey> {
        let Some((number, node)) = self.number(from).and_then(|n| Some((n, self.node(n)?))) else {
            return Vec::new();
        };
        let Some(name) = self.names.name_id(node.language.family, name) else { return Vec::new() };
        if node.definition_scope(name).is_some() {
            return self.key(number).into_iter().collect();
        }
        let referenced_files = links::referenced_files(self, number, node, name);
        if referenced_files.is_empty() {
            return self.names.definers(name).iter().filter_map(|definer| self.key(definer.file)).collect();
        }
        self.files_by_edge_weight(&referenced_files)
    }

    fn files_by_edge_weight(&self, edges: &[Edge]) -> Vec<&FileKey> {
        let mut edges = edges.to_vec();
        edges.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.file.cmp(&b.file)));
        edges.iter().filter_map(|edge| self.key(edge.file)).collect()
    }
}
