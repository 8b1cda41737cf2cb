//! Symbols by a part of their names, as a person types it. Compares letters; knows nothing of references.

use crate::cancel::{Cancel, Cancelled};
use crate::key::FileKey;
use crate::outline::{Symbol, SymbolKind};

use super::index::SymbolIndex;

/// A symbol that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found<'a> {
    /// The file it is in.
    pub file: &'a FileKey,
    /// Its place among the symbols of the file's outline.
    pub at: usize,
    /// The symbol.
    pub symbol: &'a Symbol,
    /// The name of the symbol it is directly in.
    pub container: Option<&'a str>,
}

/// How near a name is to what was typed; less is nearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Closeness {
    kind: Match,
    rest: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    Start,
    Inside,
    Scattered,
}

/// The symbols whose names have the letters of `query` in them, in order, letter case aside; the closest first, equal ones
/// by file and place; at most `limit`. Implementations are left out: they have the names of their types.
///
/// # Errors
/// [`Cancelled`] when the flag went up first.
pub fn find<'a>(
    index: &'a SymbolIndex,
    query: &str,
    limit: usize,
    cancel: &Cancel,
) -> Result<Vec<Found<'a>>, Cancelled> {
    let query = query.to_lowercase();
    let mut found: Vec<(Closeness, &FileKey, usize)> = Vec::new();
    for (key, file) in index.iter() {
        cancel.check()?;
        for (at, symbol) in file.outline.symbols.iter().enumerate() {
            if let Some(closeness) =
                closeness(&symbol.name, &query).filter(|_| symbol.kind != SymbolKind::Impl)
            {
                found.push((closeness, key, at));
            }
        }
    }
    found.sort_unstable();
    found.truncate(limit);
    let located = found.into_iter().filter_map(|(_, file, at)| {
        let symbols = &index.get(file)?.outline.symbols;
        let symbol = symbols.get(at)?;
        let before = (0..at).rev().filter_map(|at| symbols.get(at));
        let around = before.into_iter().find(|other| other.depth < symbol.depth);
        Some(Found { file, at, symbol, container: around.map(|around| &*around.name) })
    });
    Ok(located.collect())
}

fn closeness(name: &str, query: &str) -> Option<Closeness> {
    let name = name.to_lowercase();
    let kind = match name.find(query) {
        Some(0) => Match::Start,
        Some(_) => Match::Inside,
        None => {
            let mut letters = name.chars();
            query.chars().all(|wanted| letters.any(|letter| letter == wanted)).then_some(Match::Scattered)?
        }
    };
    Some(Closeness { kind, rest: name.len().saturating_sub(query.len()) })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use strata_grammars::LanguageId;

    use super::*;
    use crate::symbols::FileSymbols;

    #[test]
    fn the_closest_names_come_first() {
        let mut names = ["rerun", "run", "running", "prune", "reduction", "RunFast", "other"].to_vec();
        names.retain(|name| closeness(name, "run").is_some());
        names.sort_by_key(|name| closeness(name, "run"));
        assert_eq!(names, ["run", "running", "RunFast", "rerun", "prune", "reduction"]);
        assert!(closeness("RunFast", "rf").is_some() && closeness("RunFast", "fr").is_none());
        assert!(closeness("anything", "").is_some());
    }

    #[test]
    fn what_is_found_says_where_it_is() {
        let rust = LanguageId::by_name("rust").unwrap();
        let key = FileKey::new("a.rs");
        let source = "struct Till;\nimpl Till { fn pay(&self) {} }\nfn payment() {}\n";
        let symbols = FileSymbols::read(rust, &key, source, &Cancel::new()).unwrap();
        let index: SymbolIndex = [(key.clone(), Arc::new(symbols))].into_iter().collect();
        let found = |query, limit| -> Vec<(String, Option<String>)> {
            let found = find(&index, query, limit, &Cancel::new()).unwrap();
            found.iter().map(|f| (f.symbol.name.to_string(), f.container.map(str::to_owned))).collect()
        };
        let pay = ("pay".to_owned(), Some("Till".to_owned()));
        assert_eq!(found("PAY", 9), [pay.clone(), ("payment".to_owned(), None)]);
        assert_eq!(found("pay", 1), [pay]);
        assert_eq!(found("till", 9), [("Till".to_owned(), None)], "the struct and not its implementation");
    }
}
