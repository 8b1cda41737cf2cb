//! Finds symbols and files by parts of their names, as typed by the user. Matches by spelling only.

use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;

use crate::outline::{QualifiedNameTracker, Symbol, SymbolKind, name_parts};

use super::index::{FileSymbols, SymbolIndex};

/// A symbol that matches a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SymbolMatch<'a> {
    pub file: &'a FileKey,
    /// Index among the symbols of the file's outline.
    pub symbol_index: usize,
    pub symbol: &'a Symbol,
    /// Name of the symbol that directly contains this one.
    pub container: Option<&'a str>,
}

/// Distance between a name and the query. A smaller value is closer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Closeness {
    kind: MatchKind,
    rest: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MatchKind {
    Start,
    Inside,
    Scattered,
}

/// The part of a path that matches the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MatchedPathPart {
    /// The query matches the file name.
    Name,
    /// The query matches only the whole path.
    Path,
}

/// Finds symbols whose names contain the letters of `query` in order, ignoring case. Returns at most `limit`
/// symbols, closest first, then in order of file and position. In a dotted query (`Type.method`), the last part
/// matches the name, and the preceding parts must equal the names of containers; or the whole query matches the name.
/// Omits implementation blocks, which share the names of their types.
///
/// # Errors
/// [`Cancelled`] if the flag is raised before the search finishes.
pub fn find_symbols<'a>(
    index: &'a SymbolIndex,
    query: &str,
    limit: usize,
    cancel: &Cancel,
) -> Result<Vec<SymbolMatch<'a>>, Cancelled> {
    let query = query.to_lowercase();
    let query_parts = name_parts(&query);
    let mut matches: Vec<(Closeness, SymbolMatch<'a>)> = Vec::new();
    for (file, symbols) in index.iter() {
        cancel.check()?;
        let mut names = QualifiedNameTracker::default();
        for (symbol_index, symbol) in symbols.outline.symbols.iter().enumerate() {
            names.enter(symbol);
            if symbol.kind == SymbolKind::Impl {
                continue;
            }
            let whole_name = closeness(&symbol.name, &query);
            let last_part =
                if query_parts.len() > 1 { last_part_closeness(&names, &query_parts) } else { None };
            if let Some(closeness) = whole_name.into_iter().chain(last_part).min() {
                matches.push((
                    closeness,
                    SymbolMatch { file, symbol_index, symbol, container: names.container() },
                ));
            }
        }
    }
    matches.sort_unstable_by_key(|(closeness, found)| (*closeness, found.file, found.symbol_index));
    matches.truncate(limit);
    Ok(matches.into_iter().map(|(_, found)| found).collect())
}

/// Returns the files that define the member `name`, such as `Type.method`, of a type that is defined in `file`, if `file`
/// does not define the member itself: in Go, a method may be in any file of its package. Files in the same directory
/// take precedence over others.
pub fn files_defining_member<'a>(index: &'a SymbolIndex, file: &FileKey, name: &str) -> Vec<&'a FileKey> {
    let name_parts = name_parts(name);
    let (Some(symbols), Some((_, owner))) = (index.get(file), name_parts.split_last()) else {
        return Vec::new();
    };
    if owner.is_empty() || defines(symbols, &name_parts) || !defines(symbols, owner) {
        return Vec::new();
    }
    let family = symbols.language.family;
    let definers =
        index.iter().filter(|(_, other)| other.language.family == family && defines(other, &name_parts));
    let mut files: Vec<&FileKey> = definers.map(|(key, _)| key).collect();
    if files.iter().any(|key| key.directory() == file.directory()) {
        files.retain(|key| key.directory() == file.directory());
    }
    files
}

/// Whether a file has a definition whose qualified name ends with these parts.
fn defines(file: &FileSymbols, parts: &[&str]) -> bool {
    let mut names = QualifiedNameTracker::default();
    file.outline.symbols.iter().any(|symbol| {
        names.enter(symbol);
        // A cheap check rules out nearly all definitions.
        parts.last().is_some_and(|last_part| symbol.name.contains(last_part)) && names.ends_with(parts)
    })
}

/// Finds files whose paths contain the letters of `query` in order, ignoring case. Returns at most `limit`, closest
/// first, then in key order. A match in the file name is closer than one in the whole path. `files` must be sorted.
/// An empty query returns the first files.
///
/// # Errors
/// [`Cancelled`] if the flag is raised before the search finishes.
pub fn find_files<'a>(
    files: &'a [FileKey],
    query: &str,
    limit: usize,
    cancel: &Cancel,
) -> Result<Vec<&'a FileKey>, Cancelled> {
    if query.is_empty() {
        return Ok(files.iter().take(limit).collect());
    }
    let query = query.to_lowercase();
    let mut matches = Vec::new();
    for key in files {
        cancel.check()?;
        let places = [(MatchedPathPart::Name, key.file_name()), (MatchedPathPart::Path, key.as_str())];
        let closest = places.into_iter().filter_map(|(place, name)| {
            let closest = closeness(name, &query)?;
            Some((closest.kind == MatchKind::Scattered, place, closest))
        });
        matches.extend(closest.min().map(|closest| (closest, key)));
    }
    matches.sort_unstable();
    matches.truncate(limit);
    Ok(matches.into_iter().map(|(_, key)| key).collect())
}

/// Compares the last part of a qualified name with the last part of a query. The preceding parts must be equal.
fn last_part_closeness(names: &QualifiedNameTracker<'_>, query_parts: &[&str]) -> Option<Closeness> {
    let (last_part, containers) = query_parts.split_last()?;
    // A cheap check first, because most names do not match.
    closeness(names.own_name(), last_part)?;
    let has_containers = |parts: &Vec<&str>| {
        let mut nearest = parts.iter().rev().skip(1).map(|part| part.to_lowercase());
        containers.iter().rev().all(|container| nearest.next().is_some_and(|part| part == *container))
    };
    let parts = Some(names.parts())
        .filter(has_containers)
        .or_else(|| names.alternative_parts().filter(has_containers))?;
    closeness(parts.last()?, last_part)
}

fn closeness(name: &str, query: &str) -> Option<Closeness> {
    let name = name.to_lowercase();
    let kind = match name.find(query) {
        Some(0) => MatchKind::Start,
        Some(_) => MatchKind::Inside,
        None => {
            let mut letters = name.chars();
            query
                .chars()
                .all(|wanted| letters.any(|letter| letter == wanted))
                .then_some(MatchKind::Scattered)?
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
    fn files_are_found_by_their_names_and_then_by_their_paths() {
        let paths = ["lib/run.rs", "run/other.rs", "src/lib.rs", "src/r_u_n.rs", "src/rerun.rs", "z.txt"];
        let files = paths.map(FileKey::from);
        let found = |query: &str, limit| -> Vec<&str> {
            let found = find_files(&files, query, limit, &Cancel::new()).unwrap();
            found.into_iter().map(FileKey::as_str).collect()
        };
        assert_eq!(found("RUN", 9), ["lib/run.rs", "src/rerun.rs", "run/other.rs", "src/r_u_n.rs"]);
        assert_eq!(found("lib.rs", 9), ["src/lib.rs", "lib/run.rs"]);
        assert_eq!(found("src/l", 9), ["src/lib.rs"]);
        assert_eq!(found("run", 1), ["lib/run.rs"]);
        assert_eq!(found("", 2), ["lib/run.rs", "run/other.rs"]);
        assert_eq!(found("nowhere", 9), [""; 0]);
        let cancel = Cancel::new();
        cancel.cancel();
        assert_eq!(find_files(&files, "run", 9, &cancel), Err(Cancelled));
    }

    #[test]
    fn a_match_names_its_container() {
        let rust = LanguageId::by_name("rust").unwrap();
        let key = FileKey::new("a.rs");
        let source = "struct Till;\nimpl Till { fn pay(&self) {} }\nfn payment() {}\n";
        let symbols = FileSymbols::read(rust, &key, source, &Cancel::new()).unwrap();
        let index: SymbolIndex = [(key.clone(), Arc::new(symbols))].into_iter().collect();
        let found = |query, limit| -> Vec<(String, Option<String>)> {
            let found = find_symbols(&index, query, limit, &Cancel::new()).unwrap();
            found.iter().map(|f| (f.symbol.name.to_string(), f.container.map(str::to_owned))).collect()
        };
        let pay = ("pay".to_owned(), Some("Till".to_owned()));
        assert_eq!(found("PAY", 9), [pay.clone(), ("payment".to_owned(), None)]);
        assert_eq!(found("pay", 1), std::slice::from_ref(&pay));
        assert_eq!(found("till.pa", 9), std::slice::from_ref(&pay));
        assert_eq!(found("Till::pay", 9), [pay]);
        assert_eq!(found("ill.pay", 9), [], "the container's whole name must match");
        assert_eq!(found("till", 9), [("Till".to_owned(), None)], "the struct, not its implementation");
    }
}
