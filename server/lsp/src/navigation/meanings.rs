//! Resolves the name at the cursor from the file's own definitions, then from its imports, and otherwise to every
//! definition of that name.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write as _;
use std::rc::Rc;

use serde_json::{Value, json};
use strata_base::cancel::{Cancel, Cancelled};
use strata_base::key::FileKey;
use strata_code::outline::Located;
use strata_prompt::layout::fence;
use tower_lsp::ls_types::{Hover, HoverContents, Location, MarkupContent, MarkupKind};

use super::page::Page;
use super::question::{Caret, Declarations, key};
use crate::position::Encoding;
use strata_app::model::snapshot::Snapshot;

/// Maximum number of definitions in a hover.
const MOST_SHOWN: usize = 5;

/// Returns a hover with the signatures of the definitions of the name at the caret.
pub(super) fn hover(
    caret: &Caret,
    snapshot: &Snapshot,
    encoding: Encoding,
    cancel: &Cancel,
) -> Result<Option<Value>, Cancelled> {
    let Some(asked) = NameAtCaret::read(caret, snapshot, encoding, cancel)? else { return Ok(None) };
    let mut text = String::new();
    let definitions = asked.definitions(snapshot, cancel)?;
    for (key, page, place) in definitions.iter().take(MOST_SHOWN) {
        let gap = if text.is_empty() { "" } else { "\n\n" };
        let fence = fence(&place.symbol.head);
        let name = key.external().markdown();
        let _ = write!(text, "{gap}{fence}{}\n{}\n{fence}\n{name}", page.language(), place.symbol.head);
    }
    if let more @ 1.. = definitions.len().saturating_sub(MOST_SHOWN) {
        let _ = write!(text, "\n\nand {more} more");
    }
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text });
    let range = Some(asked.page.range(&asked.range));
    Ok((!definitions.is_empty()).then(|| json!(Hover { contents, range })))
}

/// Returns the locations where the name at the caret is defined.
pub(super) fn definition(
    caret: &Caret,
    snapshot: &Snapshot,
    encoding: Encoding,
    cancel: &Cancel,
) -> Result<Option<Value>, Cancelled> {
    let Some(asked) = NameAtCaret::read(caret, snapshot, encoding, cancel)? else { return Ok(None) };
    let found = asked.definitions(snapshot, cancel)?;
    let found: Vec<Location> =
        found.iter().map(|(_, page, place)| page.location(&place.name_range)).collect();
    Ok((!found.is_empty()).then(|| json!(found)))
}

/// Returns the references to the name at the caret.
pub(super) fn references(
    caret: &Caret,
    declarations: Declarations,
    snapshot: &Snapshot,
    encoding: Encoding,
    cancel: &Cancel,
) -> Result<Option<Value>, Cancelled> {
    let Some(asked) = NameAtCaret::read(caret, snapshot, encoding, cancel)? else { return Ok(None) };
    let report = snapshot.references_at(&asked.key, &asked.range, cancel)?;
    let mut pages: BTreeMap<&FileKey, Option<Page>> = BTreeMap::new();
    let mut found = Vec::new();
    for hit in &report.hits {
        if declarations == Declarations::LeftOut && hit.is_definition {
            continue;
        }
        let page = match pages.entry(&hit.file) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(slot) => slot.insert(Page::open(&hit.file, snapshot, encoding, cancel)?),
        };
        found.extend(page.as_ref().map(|page| page.location(&hit.range)));
    }
    Ok(Some(json!(found)))
}

struct NameAtCaret {
    key: FileKey,
    page: Page,
    name: String,
    range: std::ops::Range<usize>,
    encoding: Encoding,
}

impl NameAtCaret {
    fn read(
        caret: &Caret,
        snapshot: &Snapshot,
        encoding: Encoding,
        cancel: &Cancel,
    ) -> Result<Option<Self>, Cancelled> {
        let Some(key) = key(&caret.uri, snapshot) else { return Ok(None) };
        let Some(page) = Page::open(&key, snapshot, encoding, cancel)? else { return Ok(None) };
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
    ) -> Result<Vec<(FileKey, Rc<Page>, Located)>, Cancelled> {
        let mut found = Vec::new();
        for key in self.definers(snapshot) {
            cancel.check()?;
            let Some(page) = Page::open(key, snapshot, self.encoding, cancel)?.map(Rc::new) else { continue };
            let places = named(&page, &self.name, cancel)?;
            found.extend(places.into_iter().map(|place| (key.clone(), Rc::clone(&page), place)));
        }
        Ok(found)
    }
}

fn named(page: &Page, name: &str, cancel: &Cancel) -> Result<Vec<Located>, Cancelled> {
    let mut places = page.symbols(cancel)?;
    places.retain(|place| *place.symbol.name == *name);
    Ok(places)
}
