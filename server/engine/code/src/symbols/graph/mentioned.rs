//! Counts the mentions of each definition, in its own file and in others.

use strata_base::key::FileKey;

use super::links::for_each_referenced_file;
use super::model::ReferenceGraph;

/// Weight of a mention in the defining file, relative to one in another file.
const OWN_FILE_MENTION_WEIGHT: f32 = 0.3;
/// Weight of a mention in a test file, relative to one in any other file.
const TEST_MENTION_WEIGHT: f32 = 0.3;

impl ReferenceGraph {
    /// Returns the names that a file exports, each with the weighted number of files that mention it. A mention that
    /// may refer to several files counts in proportion to the likelihood that it refers to this one.
    pub(in crate::symbols) fn mention_counts(&self, key: &FileKey) -> impl Iterator<Item = (&str, f64)> {
        let all = self.definition_mention_counts();
        let number = self.number(key);
        let node = number.and_then(|number| self.node(number));
        let weights = number.and_then(|number| all.get(number as usize)).map_or(&[][..], |weights| weights);
        let defines = node.map_or(&[][..], |node| &node.parts.defines);
        defines
            .iter()
            .zip(weights)
            .filter_map(|(definition, weight)| Some((self.names.text(definition.name)?, f64::from(*weight))))
    }

    /// Returns, for each file, the weighted number of mentions of each of its definitions, in the order of the
    /// definitions.
    pub(super) fn definition_mention_counts(&self) -> &[Box<[f32]>] {
        self.mentioned.get_or_init(|| {
            let mut all: Vec<Box<[f32]>> =
                self.nodes.iter().map(|node| vec![0.0; node.parts.defines.len()].into()).collect();
            let mut add = |file: u32, name: u32, weight: f32| {
                let defines = self.node(file).map_or(&[][..], |node| &node.parts.defines);
                let index = defines.binary_search_by_key(&name, |definition| definition.name);
                if let (Ok(index), Some(weights)) = (index, all.get_mut(file as usize))
                    && let Some(slot) = weights.get_mut(index)
                {
                    *slot += weight;
                }
            };
            for (file, node) in (0_u32..).zip(&self.nodes) {
                let weight_factor = if node.is_test { TEST_MENTION_WEIGHT } else { 1.0 };
                for &name in &node.parts.mentions {
                    if node.definition_scope(name).is_some() {
                        add(file, name, OWN_FILE_MENTION_WEIGHT * weight_factor);
                    }
                    for_each_referenced_file(&self.resolver, &self.names, file, node, name, |to, weight| {
                        add(to, name, weight * weight_factor);
                    });
                }
            }
            all
        })
    }
}
