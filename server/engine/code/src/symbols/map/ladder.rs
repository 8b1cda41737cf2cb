//! The levels at which a file can appear in the map, with their costs and values, which do not depend on the
//! budget.

use rustc_hash::FxHashMap;

use crate::outline::{BlockDetail, MapLevel, Symbol, VisibilityTracker};
use crate::symbols::index::FileSymbols;

/// Value of a definition without mentions, relative to the value of a single mention.
const UNMENTIONED_DEFINITION_VALUE: f64 = 0.05;
/// Exponent for the number of mentions, so that each further mention adds less value.
const MENTION_EXPONENT: f64 = 0.5;
/// Exponent for dividing a file's rank among its definitions. At 1, a file with many definitions would have
/// no more value than a file with few.
const RANK_SHARE_EXPONENT: f64 = 0.5;
/// Value of a definition's name, relative to its signature.
const NAME_TO_SIGNATURE_VALUE: f64 = 0.1;
/// Value of the path of a file shown by path only, relative to all signatures of a source file.
const PATH_TO_SIGNATURES_VALUE: f64 = 0.01;
/// Value of imports and fields, relative to all signatures.
const NON_SIGNATURE_VALUE: f64 = 0.05;

/// The levels at which a file can be shown.
pub(super) struct DetailLadder<'a> {
    /// Names of definitions that other files refer to, in the order in which higher rungs add them.
    names: Vec<&'a str>,
    rungs: Vec<Rung>,
}

/// One level of detail at which a file can be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rung {
    /// Number of definitions shown because other files refer to them.
    names: usize,
    level: MapLevel,
    /// Approximate length of the shown text, in bytes.
    pub(super) cost: f64,
    pub(super) value: f64,
}

/// All definitions that share a name.
struct NameGroup<'a> {
    name: &'a str,
    value: f64,
    cost: f64,
    lines: Vec<usize>,
}

impl<'a> DetailLadder<'a> {
    /// Returns the ladder of a file that is shown by path only. `path` is the path's length in bytes.
    pub(super) fn path_only(path: usize, score: f64) -> Self {
        let rung = Rung {
            names: 0,
            level: MapLevel::Path,
            cost: path as f64 + 1.0,
            value: score * PATH_TO_SIGNATURES_VALUE,
        };
        Self { names: Vec::new(), rungs: vec![rung] }
    }

    /// Builds the ladder of a file from its score and mention counts. `path` is the path's length in bytes.
    pub(super) fn new(
        file: &'a FileSymbols,
        path: usize,
        score: f64,
        mentioned: &FxHashMap<&str, f64>,
        question_value: &dyn Fn(&str) -> f64,
    ) -> Self {
        let symbols: Vec<&Symbol> = file.outline.visible_symbols().collect();
        let lines: Vec<f64> = symbols.iter().map(|symbol| line_bytes(symbol)).collect();
        let mut visibility = VisibilityTracker::new(file.language);
        let public: Vec<bool> = symbols.iter().map(|symbol| visibility.is_public(symbol)).collect();
        let value: Vec<f64> = symbols
            .iter()
            .map(|symbol| {
                let mentions = mentioned.get(&*symbol.name).copied().unwrap_or(0.0);
                let is_valued = symbol.kind.is_referable() || symbol.kind.is_document();
                if is_valued {
                    (UNMENTIONED_DEFINITION_VALUE + mentions).powf(MENTION_EXPONENT)
                        + question_value(&symbol.name)
                } else {
                    0.0
                }
            })
            .collect();
        // Use a minimum, so that a file without definitions also has a value.
        let sum: f64 = value.iter().sum::<f64>().max(UNMENTIONED_DEFINITION_VALUE);
        let scale = score / sum.powf(RANK_SHARE_EXPONENT);
        let name_groups = name_groups(&symbols, &lines, &value, scale, |name| {
            mentioned.get(name).is_some_and(|mentions| *mentions > 0.0) || question_value(name) > 0.0
        });
        let mut rungs = vec![names_only_rung(&symbols, &value, path, scale)];
        let mut visible_lines = VisibleLines::new(&symbols, &lines, path);
        let mut total_value = 0.0;
        for (index, group) in name_groups.iter().enumerate() {
            for line in &group.lines {
                visible_lines.add(*line);
            }
            total_value += group.value;
            let rung = Rung {
                names: index + 1,
                level: MapLevel::Signatures,
                cost: visible_lines.cost,
                value: total_value,
            };
            rungs.push(rung);
        }
        for (index, (is_public, value)) in public.iter().zip(&value).enumerate() {
            if *is_public && visible_lines.add(index) {
                total_value += value * scale;
            }
        }
        if !file.language.is_document() {
            let rung = Rung {
                names: name_groups.len(),
                level: MapLevel::Public,
                cost: visible_lines.cost,
                value: total_value,
            };
            rungs.push(rung);
        }
        let full = file.block.text.len() as f64;
        let value = scale * sum * (1.0 + NON_SIGNATURE_VALUE);
        rungs.push(Rung { names: 0, level: MapLevel::Full, cost: full, value });
        Self { names: name_groups.into_iter().map(|group| group.name).collect(), rungs }
    }

    /// Returns the useful rungs, each with its marginal value per byte, which decreases from rung to rung.
    /// They form the upper convex hull of value over cost.
    pub(super) fn efficient_rungs(&self) -> Vec<(Rung, f64)> {
        let mut rungs: Vec<Rung> = self.rungs.clone();
        rungs.sort_by(|a, b| a.cost.total_cmp(&b.cost).then_with(|| a.level.cmp(&b.level)));
        let mut hull: Vec<(Rung, f64)> = Vec::new();
        for rung in rungs {
            let slope_from = |before: Option<&(Rung, f64)>| {
                let (cost, value) = before.map_or((0.0, 0.0), |(rung, _)| (rung.cost, rung.value));
                (rung.value - value) / (rung.cost - cost).max(1.0)
            };
            if hull.last().is_some_and(|(last, _)| rung.value <= last.value || rung.level < last.level) {
                continue;
            }
            while hull
                .last()
                .is_some_and(|(_, slope)| slope_from(hull.get(hull.len().wrapping_sub(2))) >= *slope)
            {
                hull.pop();
            }
            hull.push((rung, slope_from(hull.last())));
        }
        hull
    }

    /// Returns the cheapest rung.
    pub(super) fn cheapest(&self) -> Option<Rung> {
        self.rungs.first().copied()
    }

    /// Returns the detail of a block at a rung.
    pub(super) fn block_detail(&self, rung: Rung) -> BlockDetail {
        BlockDetail { level: rung.level, shown: self.names.iter().take(rung.names).collect() }
    }
}

/// Returns the definitions that other files refer to, highest value per byte first.
fn name_groups<'a>(
    symbols: &[&'a Symbol],
    lines: &[f64],
    value: &[f64],
    scale: f64,
    is_referenced: impl Fn(&str) -> bool,
) -> Vec<NameGroup<'a>> {
    let mut by_name: FxHashMap<&str, usize> = FxHashMap::default();
    let mut name_groups: Vec<NameGroup<'a>> = Vec::new();
    for (index, ((symbol, cost), value)) in symbols.iter().zip(lines).zip(value).enumerate() {
        if !symbol.kind.is_referable() || !is_referenced(&symbol.name) {
            continue;
        }
        let group_index = *by_name.entry(&symbol.name).or_insert(name_groups.len());
        if group_index == name_groups.len() {
            name_groups.push(NameGroup { name: &symbol.name, value: 0.0, cost: 0.0, lines: Vec::new() });
        }
        if let Some(group) = name_groups.get_mut(group_index) {
            // Count mentions of a name with several definitions only once.
            group.value = group.value.max(value * scale);
            group.cost += cost;
            group.lines.push(index);
        }
    }
    name_groups.sort_by(|a, b| (b.value / b.cost).total_cmp(&(a.value / a.cost)));
    name_groups
}

fn names_only_rung(symbols: &[&Symbol], value: &[f64], path: usize, scale: f64) -> Rung {
    let top_level = || symbols.iter().zip(value).filter(|(symbol, _)| symbol.depth == 0);
    let cost: usize = top_level().map(|(symbol, _)| symbol.name.len() + 2).sum();
    let value: f64 = top_level().map(|(_, value)| value).sum();
    Rung {
        names: 0,
        level: MapLevel::Names,
        cost: (path + cost + 1) as f64,
        value: NAME_TO_SIGNATURE_VALUE * value * scale,
    }
}

/// Returns the length of a definition's line, in bytes.
fn line_bytes(symbol: &Symbol) -> f64 {
    let attributes: usize = symbol.attributes.iter().map(|attribute| attribute.len().min(60) + 1).sum();
    (symbol.depth as usize + 2 + attributes + symbol.head.len()) as f64
}

/// The lines that a block shows: selected definitions and their containers.
struct VisibleLines<'l> {
    /// For each line, the index of the line of its container, if any.
    containers: Vec<Option<usize>>,
    lines: &'l [f64],
    is_shown: Vec<bool>,
    cost: f64,
}

impl<'l> VisibleLines<'l> {
    fn new(symbols: &[&Symbol], lines: &'l [f64], path: usize) -> Self {
        let mut ancestors: Vec<usize> = Vec::new();
        let mut containers = Vec::with_capacity(symbols.len());
        for (index, symbol) in symbols.iter().enumerate() {
            ancestors.truncate(symbol.depth as usize);
            containers.push(ancestors.last().copied());
            ancestors.push(index);
        }
        // Start with the cost of the path and of a line with an ellipsis for omitted definitions.
        Self { containers, lines, is_shown: vec![false; symbols.len()], cost: path as f64 + 6.0 }
    }

    /// Shows a line and its containers. Returns whether it was not shown before.
    fn add(&mut self, line: usize) -> bool {
        let mut next = Some(line);
        let mut is_new = false;
        while let Some(line) = next {
            match self.is_shown.get_mut(line) {
                Some(shown) if !*shown => *shown = true,
                _ => break,
            }
            is_new = true;
            self.cost += self.lines.get(line).copied().unwrap_or(0.0);
            next = self.containers.get(line).copied().flatten();
        }
        is_new
    }
}
