//! Finds pairs and groups of files that refer to each other.

use std::collections::BTreeMap;

use strata_base::key::FileKey;

use super::model::ReferenceGraph;

impl ReferenceGraph {
    /// Returns the pairs of files that refer to each other, with the weight of the weaker of the two references.
    /// Each pair and the list are sorted by key.
    #[cfg(test)]
    pub(crate) fn mutual_pairs(&self) -> Vec<(&FileKey, &FileKey, f64)> {
        let pairs = self.mutual_edges();
        pairs.filter_map(|(a, b, weight)| Some((self.key(a)?, self.key(b)?, weight))).collect()
    }

    /// Returns the groups of at least two files that are connected by mutual references of at least `min_weight`.
    /// Each group is sorted. The largest group comes first; groups of equal size are ordered by their first key.
    /// Used to form initial tiers.
    pub fn clusters(&self, min_weight: f64) -> Vec<Vec<FileKey>> {
        let mut parent: Vec<usize> = (0..self.nodes.len()).collect();
        for (a, b, weight) in self.mutual_edges() {
            if weight >= min_weight {
                let (a_root, b_root) =
                    (find_root(&mut parent, a as usize), find_root(&mut parent, b as usize));
                if let Some(slot) = parent.get_mut(a_root.max(b_root)) {
                    *slot = a_root.min(b_root);
                }
            }
        }
        let mut groups: BTreeMap<usize, Vec<FileKey>> = BTreeMap::new();
        for (number, key) in self.files().iter().enumerate() {
            groups.entry(find_root(&mut parent, number)).or_default().push(key.clone());
        }
        let mut clusters: Vec<_> = groups.into_values().filter(|group| group.len() > 1).collect();
        clusters.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.first().cmp(&b.first())));
        clusters
    }

    fn mutual_edges(&self) -> impl Iterator<Item = (u32, u32, f64)> {
        (0_u32..).zip(&self.nodes).flat_map(move |(a, node)| {
            node.edges.iter().filter(move |edge| edge.file > a).filter_map(move |edge| {
                let back = self.node(edge.file)?.weight_to(a)?;
                Some((a, edge.file, f64::from(edge.weight.min(back))))
            })
        })
    }
}

/// Returns the representative of a file's group. Shortens the path to it for later lookups.
fn find_root(parent: &mut [usize], mut at: usize) -> usize {
    while let Some(&up) = parent.get(at) {
        if up == at {
            break;
        }
        let above = parent.get(up).copied().unwrap_or(up);
        if let Some(slot) = parent.get_mut(at) {
            *slot = above;
        }
        at = above;
    }
    at
}
