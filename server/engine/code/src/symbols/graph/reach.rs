//! Finds the files that are connected by imports, directly or indirectly.

use strata_base::key::FileKey;

use super::model::References;

impl References {
    /// Returns, indexed by file number, whether each file imports one of `keys` or is imported by one, directly or
    /// indirectly. Files in `keys` count as connected.
    pub(crate) fn connected(&self, keys: &[&FileKey]) -> Vec<bool> {
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
        let (below, above) = (reached(&imports, &start), reached(&importers, &start));
        below.into_iter().zip(above).map(|(below, above)| below || above).collect()
    }
}

fn reached(edges: &[Vec<usize>], start: &[usize]) -> Vec<bool> {
    let mut reached = vec![false; edges.len()];
    let mut open = start.to_vec();
    while let Some(file) = open.pop() {
        if let Some(mark) = reached.get_mut(file).filter(|mark| !**mark) {
            *mark = true;
            open.extend(edges.get(file).into_iter().flatten());
        }
    }
    reached
}
