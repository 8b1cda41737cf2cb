//! Returns the symbols of a document as a tree, and the symbols of all files that match a query.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use strata_base::cancel::{Cancel, Cancelled};
use strata_base::external::External;
use strata_base::key::FileKey;
use strata_code::outline::{Located, SymbolKind};
use strata_code::symbols::{SymbolMatch, find};
use tower_lsp::ls_types::{self as lsp, DocumentSymbol, SymbolInformation};

use super::page::Page;
use crate::client::ClientInfo;
use crate::position::Encoding;
use strata_app::model::snapshot::Snapshot;

/// Maximum number of workspace symbols to return. Users refine the query rather than read a longer list.
const MOST: usize = 128;

/// Returns the symbols of a document, nested if the client supports it.
pub(super) fn of_document(
    key: &FileKey,
    snapshot: &Snapshot,
    client: &ClientInfo,
    cancel: &Cancel,
) -> Result<Option<Value>, Cancelled> {
    let Some(page) = Page::open(key, snapshot, client.encoding, cancel)? else { return Ok(None) };
    let symbols = page.symbols(cancel)?;
    Ok(Some(match client.nests_symbols {
        true => json!(nested(&page, symbols)),
        false => json!(flat(&page, &symbols)),
    }))
}

/// Returns the symbols whose names contain the letters of `query` in order, ignoring case. The closest matches come
/// first.
pub(super) fn of_workspace(
    query: &str,
    snapshot: &Snapshot,
    encoding: Encoding,
    cancel: &Cancel,
) -> Result<Value, Cancelled> {
    let index = snapshot.symbols(cancel)?;
    let found = find(&index, query, MOST, cancel)?;
    let mut by_file: BTreeMap<&FileKey, Vec<(usize, &SymbolMatch<'_>)>> = BTreeMap::new();
    for (rank, found) in found.iter().enumerate() {
        by_file.entry(found.file).or_default().push((rank, found));
    }
    let mut told: Vec<(usize, SymbolInformation)> = Vec::new();
    for (key, wanted) in by_file {
        let Some(page) = Page::open(key, snapshot, encoding, cancel)? else { continue };
        let symbols = page.symbols(cancel)?;
        for (rank, found) in wanted {
            // The file may have changed since it was outlined.
            let place = symbols.get(found.at).filter(|place| place.symbol.name == found.symbol.name);
            told.extend(place.map(|place| (rank, information(&page, &symbols, place))));
        }
    }
    told.sort_by_key(|(rank, _)| *rank);
    Ok(told.into_iter().map(|(_, symbol)| json!(symbol)).collect())
}

fn nested(page: &Page, symbols: Vec<Located>) -> Vec<DocumentSymbol> {
    let mut roots = Vec::new();
    // Symbols that may contain the following symbols, outermost first.
    let mut open: Vec<(u32, DocumentSymbol)> = Vec::new();
    let close = |open: &mut Vec<(u32, DocumentSymbol)>, roots: &mut Vec<DocumentSymbol>| {
        if let Some((_, done)) = open.pop() {
            match open.last_mut() {
                Some((_, parent)) => parent.children.get_or_insert_default().push(done),
                None => roots.push(done),
            }
        }
    };
    for place in symbols {
        while open.last().is_some_and(|(depth, _)| *depth >= place.symbol.depth) {
            close(&mut open, &mut roots);
        }
        open.push((place.symbol.depth, document_symbol(page, &place)));
    }
    while !open.is_empty() {
        close(&mut open, &mut roots);
    }
    roots
}

#[expect(deprecated, reason = "the struct literal must set a deprecated field")]
fn document_symbol(page: &Page, place: &Located) -> DocumentSymbol {
    // The protocol requires the selection range to be inside the symbol's range.
    let inside = place.range.start <= place.name_range.start && place.name_range.end <= place.range.end;
    let selection = if inside { &place.name_range } else { &(place.range.start..place.range.start) };
    DocumentSymbol {
        name: label(&place.symbol.name),
        detail: Some(label(&place.symbol.head)),
        kind: kind(place.symbol.kind),
        tags: None,
        deprecated: None,
        range: page.range(&place.range),
        selection_range: page.range(selection),
        children: None,
    }
}

fn flat(page: &Page, symbols: &[Located]) -> Vec<SymbolInformation> {
    symbols.iter().map(|place| information(page, symbols, place)).collect()
}

#[expect(deprecated, reason = "the struct literal must set a deprecated field")]
fn information(page: &Page, symbols: &[Located], place: &Located) -> SymbolInformation {
    let before = symbols.get(..place.index).unwrap_or_default();
    let around = before.iter().rev().find(|other| other.symbol.depth < place.symbol.depth);
    SymbolInformation {
        name: label(&place.symbol.name),
        kind: kind(place.symbol.kind),
        tags: None,
        deprecated: None,
        location: page.location(&place.range),
        container_name: match &*place.symbol.container {
            "" => around.map(|around| label(&around.symbol.name)),
            container => Some(label(container)),
        },
    }
}

fn label(text: &str) -> String {
    External::new(text).label().to_string()
}

fn kind(kind: SymbolKind) -> lsp::SymbolKind {
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
