//! Who mentions whom, by name: a file that mentions a name refers to the files that define it. Names
//! are all it looks at; where an import leads is not resolved.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::index::SymbolIndex;
use crate::key::FileKey;

/// A name with more definers than this says nothing about any of them, and would cost time by the
/// square of a repository's size.
const MAX_DEFINERS: usize = 16;
/// The shortest name that counts.
const MIN_NAME: usize = 3;
/// What the mention of a name is worth that is defined only inside types: most often it is called on a
/// value that could be of any type. A definition outside any type wins over those inside.
const MEMBER_WEIGHT: f64 = 0.25;

/// How much a file gains in rank from where it stands to the focus. Multiplied with its references.
mod boost {
    /// In the focus itself.
    pub(super) const FOCUS: f64 = 50.0;
    /// Mentioned by a file of the focus, or mentions one: up to this, by the strength of the reference.
    pub(super) const NEIGHBOUR: f64 = 12.0;
    /// In the same directory as a file of the focus.
    pub(super) const DIRECTORY: f64 = 4.0;
    /// In the directory around or below one, or beside it.
    pub(super) const NEARBY: f64 = 2.0;
    /// A file of tests, whose block is a line of counts.
    pub(super) const TESTS: f64 = 0.1;
}

/// The graph of references between files.
#[derive(Clone, Debug, Default)]
pub struct References {
    files: Vec<FileKey>,
    /// By file: whom it refers to, by number, and how strongly.
    outgoing: Vec<Vec<(u32, f64)>>,
    /// The same edges seen from the other end.
    incoming: Vec<Vec<(u32, f64)>>,
    tests: Vec<bool>,
}

impl References {
    /// The graph of an index.
    pub fn build(index: &SymbolIndex) -> Self {
        let files: Vec<FileKey> = index.iter().map(|(key, _)| key.clone()).collect();
        let definers = Definers::of(index);
        let mut outgoing = vec![Vec::new(); files.len()];
        let mut incoming = vec![Vec::new(); files.len()];
        let mut weights: FxHashMap<u32, f64> = FxHashMap::default();
        for (from, (_, symbols)) in numbered(index.iter()) {
            let family = symbols.language.family();
            for name in symbols.outline.references.iter() {
                let Some(meant) = definers.get(family, name) else { continue };
                if meant.files.contains(&from) {
                    continue;
                }
                for definer in &meant.files {
                    *weights.entry(*definer).or_default() += meant.weight / meant.files.len() as f64;
                }
            }
            let mut edges: Vec<(u32, f64)> = weights.drain().collect();
            edges.sort_unstable_by_key(|(to, _)| *to);
            for &(to, weight) in &edges {
                if let Some(incoming) = incoming.get_mut(to as usize) {
                    incoming.push((from, weight));
                }
            }
            if let Some(outgoing) = outgoing.get_mut(from as usize) {
                *outgoing = edges;
            }
        }
        let tests = index.iter().map(|(key, file)| file.language.is_test_file(key.as_str())).collect();
        Self { files, outgoing, incoming, tests }
    }

    /// How many other files mention a name the file defines. A file that only mentions names with
    /// several definers counts for the likelihood that it means this one.
    pub fn incoming(&self, key: &FileKey) -> f64 {
        self.number(key).map_or(0.0, |number| self.incoming_of(number))
    }

    /// The files that mention a name the file defines, strongest first.
    pub fn dependents(&self, key: &FileKey) -> Vec<&FileKey> {
        self.ends(key, &self.incoming)
    }

    /// The files that define a name the file mentions, strongest first.
    pub fn dependencies(&self, key: &FileKey) -> Vec<&FileKey> {
        self.ends(key, &self.outgoing)
    }

    /// All files, the most useful to know first: those many others refer to, and among them those in
    /// `focus` and close to it. Equal ones by key.
    pub fn rank(&self, focus: &[FileKey]) -> Vec<FileKey> {
        let near = Near::new(self, focus);
        let mut scored: Vec<(f64, &FileKey)> = self
            .files
            .iter()
            .enumerate()
            .map(|(number, key)| {
                let tests = if self.tests.get(number).copied().unwrap_or(false) { boost::TESTS } else { 1.0 };
                ((1.0 + self.incoming_of(number)) * near.boost(number, key) * tests, key)
            })
            .collect();
        scored.sort_by(|(a, a_key), (b, b_key)| b.total_cmp(a).then_with(|| a_key.cmp(b_key)));
        scored.into_iter().map(|(_, key)| key.clone()).collect()
    }

    /// Pairs of files that refer to each other, each pair and the list in the order of keys, with the
    /// weaker of the two references.
    pub fn mutual_pairs(&self) -> Vec<(&FileKey, &FileKey, f64)> {
        let mut pairs = Vec::new();
        for (a, edges) in self.outgoing.iter().enumerate() {
            for &(b, there) in edges.iter().filter(|(b, _)| *b as usize > a) {
                if let (Some(back), Some(a_key), Some(b_key)) =
                    (self.weight(b as usize, a), self.files.get(a), self.files.get(b as usize))
                {
                    pairs.push((a_key, b_key, there.min(back)));
                }
            }
        }
        pairs
    }

    /// Groups of files connected by mutual references at least as strong as `min_weight`, each of two
    /// files or more and sorted; the largest first, equal ones by their first key. For seeding tiers.
    pub fn clusters(&self, min_weight: f64) -> Vec<Vec<FileKey>> {
        let mut parent: Vec<usize> = (0..self.files.len()).collect();
        for (a, edges) in self.outgoing.iter().enumerate() {
            for &(b, there) in edges.iter().filter(|(b, _)| *b as usize > a) {
                let back = self.weight(b as usize, a).unwrap_or(0.0);
                if there.min(back) >= min_weight && back > 0.0 {
                    let (a_root, b_root) = (root(&mut parent, a), root(&mut parent, b as usize));
                    if let Some(slot) = parent.get_mut(a_root.max(b_root)) {
                        *slot = a_root.min(b_root);
                    }
                }
            }
        }
        let mut groups: BTreeMap<usize, Vec<FileKey>> = BTreeMap::new();
        for (number, key) in self.files.iter().enumerate() {
            groups.entry(root(&mut parent, number)).or_default().push(key.clone());
        }
        let mut clusters: Vec<_> = groups.into_values().filter(|group| group.len() > 1).collect();
        clusters.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.first().cmp(&b.first())));
        clusters
    }

    fn number(&self, key: &FileKey) -> Option<usize> {
        self.files.binary_search(key).ok()
    }

    fn incoming_of(&self, number: usize) -> f64 {
        self.incoming.get(number).map_or(0.0, |edges| edges.iter().map(|(_, weight)| weight.min(1.0)).sum())
    }

    fn weight(&self, from: usize, to: usize) -> Option<f64> {
        let edges = self.outgoing.get(from)?;
        let at = edges.binary_search_by_key(&to, |(to, _)| *to as usize).ok()?;
        edges.get(at).map(|(_, weight)| *weight)
    }

    fn ends(&self, key: &FileKey, edges: &[Vec<(u32, f64)>]) -> Vec<&FileKey> {
        let mut ends = self.number(key).and_then(|number| edges.get(number)).cloned().unwrap_or_default();
        ends.sort_by(|(a_end, a), (b_end, b)| b.total_cmp(a).then_with(|| a_end.cmp(b_end)));
        ends.iter().filter_map(|(end, _)| self.files.get(*end as usize)).collect()
    }
}

/// Where files stand to the focus.
struct Near<'a> {
    focus: FxHashSet<usize>,
    neighbours: FxHashMap<usize, f64>,
    directories: FxHashSet<&'a str>,
    /// The directories around those; never the top one, which is around everything and says nothing.
    around: FxHashSet<&'a str>,
}

impl<'a> Near<'a> {
    fn new(graph: &References, focus: &'a [FileKey]) -> Self {
        let numbers: FxHashSet<usize> = focus.iter().filter_map(|key| graph.number(key)).collect();
        let mut neighbours: FxHashMap<usize, f64> = FxHashMap::default();
        for &number in &numbers {
            for edges in [graph.outgoing.get(number), graph.incoming.get(number)] {
                for (end, weight) in edges.into_iter().flatten() {
                    let strongest = neighbours.entry(*end as usize).or_default();
                    *strongest = strongest.max(weight.min(1.0));
                }
            }
        }
        let directories: FxHashSet<&str> = focus.iter().map(FileKey::directory).collect();
        let around = directories.iter().filter_map(|directory| around(directory)).collect();
        Self { focus: numbers, neighbours, directories, around }
    }

    fn boost(&self, number: usize, key: &FileKey) -> f64 {
        if self.focus.contains(&number) {
            return boost::FOCUS;
        }
        let by_reference =
            self.neighbours.get(&number).map_or(1.0, |weight| 1.0 + weight * (boost::NEIGHBOUR - 1.0));
        by_reference.max(self.by_place(key.directory()))
    }

    fn by_place(&self, directory: &str) -> f64 {
        let beside_or_below = |around| self.around.contains(around) || self.directories.contains(around);
        if self.directories.contains(directory) {
            boost::DIRECTORY
        } else if self.around.contains(directory) || around(directory).is_some_and(beside_or_below) {
            boost::NEARBY
        } else {
            1.0
        }
    }
}

/// The directory around a directory, unless it is the top one.
fn around(directory: &str) -> Option<&str> {
    directory.rsplit_once('/').map(|(around, _)| around)
}

/// Which files define each name, in each family of languages.
#[derive(Default)]
struct Definers<'a> {
    families: FxHashMap<&'a str, FxHashMap<&'a str, Meant>>,
}

/// The files a name may mean, by number.
struct Meant {
    files: Vec<u32>,
    /// The weight of a mention, shared by the files.
    weight: f64,
}

impl<'a> Definers<'a> {
    fn of(index: &'a SymbolIndex) -> Self {
        let mut definers = Self::default();
        for (number, (_, file)) in numbered(index.iter()) {
            let builtins = file.language.builtins();
            let family = definers.families.entry(file.language.family()).or_default();
            for symbol in file.outline.visible().filter(|symbol| symbol.kind.is_referable()) {
                let name = &*symbol.name;
                if name.len() < MIN_NAME || builtins.binary_search(&name).is_ok() {
                    continue;
                }
                let weight = if symbol.depth == 0 { 1.0 } else { MEMBER_WEIGHT };
                let meant = family.entry(name).or_insert(Meant { files: Vec::new(), weight });
                if weight > meant.weight {
                    *meant = Meant { files: Vec::new(), weight };
                }
                // One more than allowed is kept, as the mark of too many.
                if weight >= meant.weight
                    && meant.files.len() <= MAX_DEFINERS
                    && meant.files.last() != Some(&number)
                {
                    meant.files.push(number);
                }
            }
        }
        definers
    }

    fn get(&self, family: &str, name: &str) -> Option<&Meant> {
        self.families.get(family)?.get(name).filter(|meant| meant.files.len() <= MAX_DEFINERS)
    }
}

fn numbered<T>(items: impl Iterator<Item = T>) -> impl Iterator<Item = (u32, T)> {
    (0_u32..).zip(items)
}

/// The representative of a file's group; shortens the way for the next time.
fn root(parent: &mut [usize], mut at: usize) -> usize {
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
