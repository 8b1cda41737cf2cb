//! The levels at which a file can appear in the map, with their costs and values, which do not depend on the
//! budget.

use rustc_hash::FxHashMap;

use crate::outline::{BlockDetail, MapLevel, Symbol, Visibility};
use crate::symbols::index::FileSymbols;

/// Value of a definition without mentions, relative to the value of a single mention.
const BASE: f64 = 0.05;
/// Exponent for the number of mentions, so that each further mention adds less value.
const MENTIONS: f64 = 0.5;
/// Exponent for dividing a file's rank among its definitions. At 1, a file with many definitions would have
/// no more value than a file with few.
const SHARED: f64 = 0.5;
/// Value of a definition's name, relative to its signature.
const NAME: f64 = 0.1;
/// Value of the path of a file shown by path only, relative to all signatures of a source file.
const PATH: f64 = 0.01;
/// Value of imports and fields, relative to all signatures.
const REST: f64 = 0.05;

/// The levels at which a file can be shown.
pub(super) struct Ladder<'a> {
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
    pub(super) worth: f64,
}

/// All definitions that share a name.
struct Unit<'a> {
    name: &'a str,
    worth: f64,
    cost: f64,
    lines: Vec<usize>,
}

impl<'a> Ladder<'a> {
    /// Returns the ladder of a file that is shown by path only. `path` is the path's length in bytes.
    pub(super) fn of_path(path: usize, score: f64) -> Self {
        let rung = Rung { names: 0, level: MapLevel::Path, cost: path as f64 + 1.0, worth: score * PATH };
        Self { names: Vec::new(), rungs: vec![rung] }
    }

    /// Builds the ladder of a file from its score and mention counts. `path` is the path's length in bytes.
    pub(super) fn new(
        file: &'a FileSymbols,
        path: usize,
        score: f64,
        mentioned: &FxHashMap<&str, f64>,
        asked: &dyn Fn(&str) -> f64,
    ) -> Self {
        let symbols: Vec<&Symbol> = file.outline.visible().collect();
        let lines: Vec<f64> = symbols.iter().map(|symbol| line(symbol)).collect();
        let mut visibility = Visibility::of(file.language);
        let public: Vec<bool> = symbols.iter().map(|symbol| visibility.is_public(symbol)).collect();
        let worth: Vec<f64> = symbols
            .iter()
            .map(|symbol| {
                let mentions = mentioned.get(&*symbol.name).copied().unwrap_or(0.0);
                let is_found = symbol.kind.is_referable() || symbol.kind.is_document();
                if is_found { (BASE + mentions).powf(MENTIONS) + asked(&symbol.name) } else { 0.0 }
            })
            .collect();
        // Use a minimum, so that a file without definitions also has a value.
        let all: f64 = worth.iter().sum::<f64>().max(BASE);
        let scale = score / all.powf(SHARED);
        let units = units(&symbols, &lines, &worth, scale, |name| {
            mentioned.get(name).is_some_and(|mentions| *mentions > 0.0) || asked(name) > 0.0
        });
        let mut rungs = vec![named(&symbols, &worth, path, scale)];
        let mut shown = VisibleLines::new(&symbols, &lines, path);
        let mut gained = 0.0;
        for (at, unit) in units.iter().enumerate() {
            for line in &unit.lines {
                shown.add(*line);
            }
            gained += unit.worth;
            let rung = Rung { names: at + 1, level: MapLevel::Signatures, cost: shown.cost, worth: gained };
            rungs.push(rung);
        }
        for (at, (is_public, worth)) in public.iter().zip(&worth).enumerate() {
            if *is_public && shown.add(at) {
                gained += worth * scale;
            }
        }
        if !file.language.is_document() {
            let rung = Rung { names: units.len(), level: MapLevel::Public, cost: shown.cost, worth: gained };
            rungs.push(rung);
        }
        let full = file.block.text.len() as f64;
        let worth = scale * all * (1.0 + REST);
        rungs.push(Rung { names: 0, level: MapLevel::Full, cost: full, worth });
        Self { names: units.into_iter().map(|unit| unit.name).collect(), rungs }
    }

    /// Returns the useful rungs, each with its marginal value per byte, which decreases from rung to rung.
    /// They form the upper convex hull of value over cost.
    pub(super) fn steps(&self) -> Vec<(Rung, f64)> {
        let mut rungs: Vec<Rung> = self.rungs.clone();
        rungs.sort_by(|a, b| a.cost.total_cmp(&b.cost).then_with(|| a.level.cmp(&b.level)));
        let mut hull: Vec<(Rung, f64)> = Vec::new();
        for rung in rungs {
            let slope_from = |before: Option<&(Rung, f64)>| {
                let (cost, worth) = before.map_or((0.0, 0.0), |(rung, _)| (rung.cost, rung.worth));
                (rung.worth - worth) / (rung.cost - cost).max(1.0)
            };
            if hull.last().is_some_and(|(last, _)| rung.worth <= last.worth || rung.level < last.level) {
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
    pub(super) fn least(&self) -> Option<Rung> {
        self.rungs.first().copied()
    }

    /// Returns the detail of a block at a rung.
    pub(super) fn detail(&self, rung: Rung) -> BlockDetail {
        BlockDetail { level: rung.level, shown: self.names.iter().take(rung.names).collect() }
    }
}

/// Returns the definitions that other files refer to, highest value per byte first.
fn units<'a>(
    symbols: &[&'a Symbol],
    lines: &[f64],
    worth: &[f64],
    scale: f64,
    is_unit: impl Fn(&str) -> bool,
) -> Vec<Unit<'a>> {
    let mut by_name: FxHashMap<&str, usize> = FxHashMap::default();
    let mut units: Vec<Unit<'a>> = Vec::new();
    for (at, ((symbol, cost), worth)) in symbols.iter().zip(lines).zip(worth).enumerate() {
        if !symbol.kind.is_referable() || !is_unit(&symbol.name) {
            continue;
        }
        let place = *by_name.entry(&symbol.name).or_insert(units.len());
        if place == units.len() {
            units.push(Unit { name: &symbol.name, worth: 0.0, cost: 0.0, lines: Vec::new() });
        }
        if let Some(unit) = units.get_mut(place) {
            // Count mentions of a name with several definitions only once.
            unit.worth = unit.worth.max(worth * scale);
            unit.cost += cost;
            unit.lines.push(at);
        }
    }
    units.sort_by(|a, b| (b.worth / b.cost).total_cmp(&(a.worth / a.cost)));
    units
}

fn named(symbols: &[&Symbol], worth: &[f64], path: usize, scale: f64) -> Rung {
    let outer = || symbols.iter().zip(worth).filter(|(symbol, _)| symbol.depth == 0);
    let cost: usize = outer().map(|(symbol, _)| symbol.name.len() + 2).sum();
    let worth: f64 = outer().map(|(_, worth)| worth).sum();
    Rung { names: 0, level: MapLevel::Names, cost: (path + cost + 1) as f64, worth: NAME * worth * scale }
}

/// Returns the length of a definition's line, in bytes.
fn line(symbol: &Symbol) -> f64 {
    let attributes: usize = symbol.attributes.iter().map(|attribute| attribute.len().min(60) + 1).sum();
    (symbol.depth as usize + 2 + attributes + symbol.head.len()) as f64
}

/// The lines that a block shows: selected definitions and their containers.
struct VisibleLines<'l> {
    /// For each line, the index of the line of its container, if any.
    outer: Vec<Option<usize>>,
    lines: &'l [f64],
    is_shown: Vec<bool>,
    cost: f64,
}

impl<'l> VisibleLines<'l> {
    fn new(symbols: &[&Symbol], lines: &'l [f64], path: usize) -> Self {
        let mut around: Vec<usize> = Vec::new();
        let mut outer = Vec::with_capacity(symbols.len());
        for (at, symbol) in symbols.iter().enumerate() {
            around.truncate(symbol.depth as usize);
            outer.push(around.last().copied());
            around.push(at);
        }
        // Start with the cost of the path and of a line with an ellipsis for omitted definitions.
        Self { outer, lines, is_shown: vec![false; symbols.len()], cost: path as f64 + 6.0 }
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
            next = self.outer.get(line).copied().flatten();
        }
        is_new
    }
}
