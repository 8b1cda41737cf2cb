//! Resolves the name at the cursor from the file's own definitions, then from its imports, and otherwise to every
//! definition of that name.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write as _;
use std::rc::Rc;

use serde_json::{Value, json};
use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_code::outline::LocatedSymbol;
use strata_prompt::layout::fence_for;
use tower_lsp::ls_types::{Hover, HoverContents, Location, MarkupContent, MarkupKind};

use super::lsp_request::{Caret, DeclarationInclusion, file_key};
use super::page::ParsedSource;
use crate::position::PositionEncoding;
use strata_app::model::snapshot::Snapshot;

/// Maximum number of definitions in a hover.
const MAX_HOVER_DEFINITIONS: usize = 5;

/// Returns a hover with the signatures of the definitions of the name at the caret.
pub(super) fn hover(
    caret: &Caret,
    snapshot: &Snapshot,
    encoding: PositionEncoding,
    cancel: &Cancel,
) -> Result<Option<Value>, Cancelled> {
    let Some(target) = NameAtCaret::read(caret, snapshot, encoding, cancel)? else { return Ok(None) };
    let mut text = String::new();
    let definitions = target.definitions(snapshot, cancel)?;
    for (key, page, definition) in definitions.iter().take(MAX_HOVER_DEFINITIONS) {
        let gap = if text.is_empty() { "" } else { "\n\n" };
        let fence = fence_for(&definition.symbol.head);
        let name = key.external().markdown();
        let _ = write!(text, "{gap}{fence}{}\n{}\n{fence}\n{name}", page.language(), definition.symbol.head);
    }
    if let omitted @ 1.. = definitions.len().saturating_sub(MAX_HOVER_DEFINITIONS) {
        let _ = write!(text, "\n\nand {omitted} more");
    }
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text });
    let range = Some(target.page.range(&target.range));
    Ok((!definitions.is_empty()).then(|| json!(Hover { contents, range })))
}

/// Returns the locations where the name at the caret is defined.
pub(super) fn definition_locations(
    caret: &Caret,
    snapshot: &Snapshot,
    encoding: PositionEncoding,
    cancel: &Cancel,
) -> Result<Option<Value>, Cancelled> {
    let Some(target) = NameAtCaret::read(caret, snapshot, encoding, cancel)? else { return Ok(None) };
    let definitions = target.definitions(snapshot, cancel)?;
    let locations: Vec<Location> =
        definitions.iter().map(|(_, page, definition)| page.location(&definition.name_range)).collect();
    Ok((!locations.is_empty()).then(|| json!(locations)))
}

pub(super) fn references(
    caret: &Caret,
    declarations: DeclarationInclusion,
    snapshot: &Snapshot,
    encoding: PositionEncoding,
    cancel: &Cancel,
) -> Result<Option<Value>, Cancelled> {
    let Some(target) = NameAtCaret::read(caret, snapshot, encoding, cancel)? else { return Ok(None) };
    let report = snapshot.references_at(&target.key, &target.range, cancel)?;
    let mut pages: BTreeMap<&FileKey, Option<ParsedSource>> = BTreeMap::new();
    let mut locations = Vec::new();
    for reference in &report.hits {
        if declarations == DeclarationInclusion::Excluded && reference.is_definition {
            continue;
        }
        let page = match pages.entry(&reference.file) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(slot) => {
                slot.insert(ParsedSource::open(&reference.file, snapshot, encoding, cancel)?)
            }
        };
        locations.extend(page.as_ref().map(|page| page.location(&reference.range)));
    }
    Ok(Some(json!(locations)))
}

struct NameAtCaret {
    key: FileKey,
    page: ParsedSource,
    name: String,
    range: std::ops::Range<usize>,
    encoding: PositionEncoding,
}

impl NameAtCaret {
    fn read(
        caret: &Caret,
        snapshot: &Snapshot,
        encoding: PositionEncoding,
        cancel: &Cancel,
    ) -> Result<Option<Self>, Cancelled> {
        let Some(key) = file_key(&caret.uri, snapshot) else { return Ok(None) };
        let Some(page) = ParsedSource::open(&key, snapshot, encoding, cancel)? else { return Ok(None) };
        let Some((name, range)) = page.name_at(caret.position) else { return Ok(None) };
        let name = name.to_owned();
        Ok(Some(Self { key, page, name, range, encoding }))
    }

    /// Returns the files that may define the name as used in this file, most likely first. If no such file is known,
    /// returns only this file.
    fn definers<'a>(&'a self, snapshot: &'a Snapshot) -> Vec<&'a FileKey> {
        let definers = snapshot.index.references.definers(&self.key, &self.name);
        if definers.is_empty() { vec![&self.key] } else { definers }
    }

    fn definitions(
        &self,
        snapshot: &Snapshot,
        cancel: &Cancel,
    ) -> Result<Vec<(FileKey, Rc<ParsedSource>, LocatedSymbol)>, Cancelled> {
        let mut definitions = Vec::new();
        for key in self.definers(snapshot) {
            cancel.check()?;
            let Some(page) = ParsedSource::open(key, snapshot, self.encoding, cancel)?.map(Rc::new) else {
                continue;
            };
            let located_definitions = symbols_named(&page, &self.name, cancel)?;
            definitions.extend(
                located_definitions.into_iter().map(|definition| (key.clone(), Rc::clone(&page), definition)),
            );
        }
        Ok(definitions)
    }
}

fn symbols_named(page: &ParsedSource, name: &str, cancel: &Cancel) -> Result<Vec<LocatedSymbol>, Cancelled> {
    let mut located_definitions = page.symbols(cancel)?;
    located_definitions.retain(|definition| *definition.symbol.name == *name);
    Ok(located_definitions)
}
