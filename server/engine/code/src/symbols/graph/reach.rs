//! Finds the files that are connected by imports, directly or indirectly.

use strata_base::key::FileKey;

use super::model::ReferenceGraph;

impl ReferenceGraph {
    /// Returns, indexed by file number, whether each file imports one of `keys` or is imported by one, directly or
    /// indirectly. Files in `keys` count as connected.
    pub(crate) fn connected_files(&self, keys: &[&FileKey]) -> Vec<bool> {
        let imports: Vec<Vec<usize>> = self
            .nodes
            .iter()
            .map(|node| {
                let files = node.parts.imports.iter().map(|import| usize::try_from(import.file));
                files.filter_map(Result::ok).collect()
            })
            .collect();
        let mut importers: Vec<Vec<usize>> = vec![Vec::new(); imports.len()];
        for (from, targets) in imports.iter().enumerate() {
            for target in targets {
                if let Some(importers) = importers.get_mut(*target) {
                    importers.push(from);
                }
            }
        }
        let start: Vec<usize> = keys.iter().filter_map(|key| self.files().binary_search(key).ok()).collect();
        let (imported, importing) = (reachable(&imports, &start), reachable(&importers, &start));
        imported.into_iter().zip(importing).map(|(imported, importing)| imported || importing).collect()
    }
}

fn reachable(edges: &[Vec<usize>], start: &[usize]) -> Vec<bool> {
    let mut reachable = vec![false; edges.len()];
    let mut stack = start.to_vec();
    while let Some(file) = stack.pop() {
        if let Some(is_reached) = reachable.get_mut(file).filter(|is_reached| !**is_reached) {
            *is_reached = true;
            stack.extend(edges.get(file).into_iter().flatten());
        }
    }
    reachable
}
