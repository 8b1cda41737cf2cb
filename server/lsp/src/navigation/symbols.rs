//! Returns the symbols of a document as a tree, and the symbols of all files that match a query.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use strata_base::cancel::{Cancel, Cancelled};
use strata_base::external::ExternalText;
use strata_base::key::FileKey;
use strata_code::outline::{LocatedSymbol, SymbolKind};
use strata_code::symbols::{SymbolMatch, find_symbols};
use tower_lsp::ls_types::{self as lsp, DocumentSymbol, SymbolInformation};

use super::page::ParsedSource;
use crate::client::ClientInfo;
use crate::position::PositionEncoding;
use strata_app::model::snapshot::Snapshot;

/// Maximum number of workspace symbols to return. Users refine the query rather than read a longer list.
const MAX_WORKSPACE_SYMBOLS: usize = 128;

/// Returns the symbols of a document, nested if the client supports it.
pub(super) fn document_symbols(
    key: &FileKey,
    snapshot: &Snapshot,
    client: &ClientInfo,
    cancel: &Cancel,
) -> Result<Option<Value>, Cancelled> {
    let Some(page) = ParsedSource::open(key, snapshot, client.encoding, cancel)? else { return Ok(None) };
    let symbols = page.symbols(cancel)?;
    Ok(Some(match client.nests_symbols {
        true => json!(nested_symbols(&page, symbols)),
        false => json!(flat_symbols(&page, &symbols)),
    }))
}

/// Returns the symbols whose names contain the letters of `query` in order, ignoring case. The closest matches come
/// first.
pub(super) fn workspace_symbols(
    query: &str,
    snapshot: &Snapshot,
    encoding: PositionEncoding,
    cancel: &Cancel,
) -> Result<Value, Cancelled> {
    let index = snapshot.symbols(cancel)?;
    let matches = find_symbols(&index, query, MAX_WORKSPACE_SYMBOLS, cancel)?;
    let mut by_file: BTreeMap<&FileKey, Vec<(usize, &SymbolMatch<'_>)>> = BTreeMap::new();
    for (rank, symbol_match) in matches.iter().enumerate() {
        by_file.entry(symbol_match.file).or_default().push((rank, symbol_match));
    }
    let mut symbols_by_rank: Vec<(usize, SymbolInformation)> = Vec::new();
    for (key, matches) in by_file {
        let Some(page) = ParsedSource::open(key, snapshot, encoding, cancel)? else { continue };
        let symbols = page.symbols(cancel)?;
        for (rank, symbol_match) in matches {
            // The file may have changed since it was outlined.
            let located = symbols
                .get(symbol_match.symbol_index)
                .filter(|located| located.symbol.name == symbol_match.symbol.name);
            symbols_by_rank
                .extend(located.map(|located| (rank, symbol_information(&page, &symbols, located))));
        }
    }
    symbols_by_rank.sort_by_key(|(rank, _)| *rank);
    Ok(symbols_by_rank.into_iter().map(|(_, symbol)| json!(symbol)).collect())
}

fn nested_symbols(page: &ParsedSource, symbols: Vec<LocatedSymbol>) -> Vec<DocumentSymbol> {
    let mut roots = Vec::new();
    // Symbols that may contain the following symbols, outermost first.
    let mut open: Vec<(u32, DocumentSymbol)> = Vec::new();
    let close = |open: &mut Vec<(u32, DocumentSymbol)>, roots: &mut Vec<DocumentSymbol>| {
        if let Some((_, closed)) = open.pop() {
            match open.last_mut() {
                Some((_, parent)) => parent.children.get_or_insert_default().push(closed),
                None => roots.push(closed),
            }
        }
    };
    for located in symbols {
        while open.last().is_some_and(|(depth, _)| *depth >= located.symbol.depth) {
            close(&mut open, &mut roots);
        }
        open.push((located.symbol.depth, document_symbol(page, &located)));
    }
    while !open.is_empty() {
        close(&mut open, &mut roots);
    }
    roots
}

#[expect(deprecated, reason = "the struct literal must set a deprecated field")]
fn document_symbol(page: &ParsedSource, located: &LocatedSymbol) -> DocumentSymbol {
    // The protocol requires the selection range to be inside the symbol's range.
    let is_inside =
        located.range.start <= located.name_range.start && located.name_range.end <= located.range.end;
    let selection = if is_inside { &located.name_range } else { &(located.range.start..located.range.start) };
    DocumentSymbol {
        name: safe_label(&located.symbol.name),
        detail: Some(safe_label(&located.symbol.head)),
        kind: to_lsp_kind(located.symbol.kind),
        tags: None,
        deprecated: None,
        range: page.range(&located.range),
        selection_range: page.range(selection),
        children: None,
    }
}

fn flat_symbols(page: &ParsedSource, symbols: &[LocatedSymbol]) -> Vec<SymbolInformation> {
    symbols.iter().map(|located| symbol_information(page, symbols, located)).collect()
}

#[expect(deprecated, reason = "the struct literal must set a deprecated field")]
fn symbol_information(
    page: &ParsedSource,
    symbols: &[LocatedSymbol],
    located: &LocatedSymbol,
) -> SymbolInformation {
    let before = symbols.get(..located.index).unwrap_or_default();
    let container = before.iter().rev().find(|other| other.symbol.depth < located.symbol.depth);
    SymbolInformation {
        name: safe_label(&located.symbol.name),
        kind: to_lsp_kind(located.symbol.kind),
        tags: None,
        deprecated: None,
        location: page.location(&located.range),
        container_name: match &*located.symbol.container {
            "" => container.map(|container| safe_label(&container.symbol.name)),
            container => Some(safe_label(container)),
        },
    }
}

fn safe_label(text: &str) -> String {
    ExternalText::new(text).label().to_string()
}

fn to_lsp_kind(kind: SymbolKind) -> lsp::SymbolKind {
    match kind {
        SymbolKind::Module => lsp::SymbolKind::MODULE,
        SymbolKind::Class | SymbolKind::Impl => lsp::SymbolKind::CLASS,
        SymbolKind::Struct => lsp::SymbolKind::STRUCT,
        SymbolKind::Enum => lsp::SymbolKind::ENUM,
        SymbolKind::Variant => lsp::SymbolKind::ENUM_MEMBER,
        SymbolKind::Interface => lsp::SymbolKind::INTERFACE,
        SymbolKind::Function | SymbolKind::Macro => lsp::SymbolKind::FUNCTION,
        SymbolKind::Method => lsp::SymbolKind::METHOD,
        SymbolKind::Field => lsp::SymbolKind::FIELD,
        SymbolKind::Variable => lsp::SymbolKind::VARIABLE,
        SymbolKind::Constant => lsp::SymbolKind::CONSTANT,
        SymbolKind::Type => lsp::SymbolKind::TYPE_PARAMETER,
        SymbolKind::Section => lsp::SymbolKind::STRING,
        SymbolKind::Key => lsp::SymbolKind::KEY,
    }
}
