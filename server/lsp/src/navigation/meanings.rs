//! What the name at a caret means: by the file's own definitions, by its imports, else by whoever defines such a name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::rc::Rc;

use serde_json::{Value, json};
use strata_engine::cancel::{Cancel, Cancelled};
use strata_engine::code::outline::Located;
use strata_engine::key::FileKey;
use strata_engine::prompt::layout::fence;
use tower_lsp::ls_types::{Hover, HoverContents, Location, MarkupContent, MarkupKind};

use super::page::Page;
use super::{Caret, Declarations, key};
use crate::position::Encoding;
use strata_app::snapshot::Snapshot;

/// A hover shows so many definitions of a name; who needs more looks for its definitions.
const MOST_SHOWN: usize = 5;
/// References are looked for in so many files, the likeliest: a name that more mention is best searched for as text.
const MOST_FILES: usize = 2_000;

/// The heads of a name's definitions.
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
        let _ = write!(text, "{gap}{fence}{}\n{}\n{fence}\n{key}", page.language(), place.symbol.head);
    }
    if let more @ 1.. = definitions.len().saturating_sub(MOST_SHOWN) {
        let _ = write!(text, "\n\nand {more} more");
    }
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text });
    let range = Some(asked.page.range(&asked.range));
    Ok((!definitions.is_empty()).then(|| json!(Hover { contents, range })))
}

/// Where a name is defined.
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

/// Where a name is mentioned, by the files that mean the same definition.
pub(super) fn references(
    caret: &Caret,
    declarations: Declarations,
    snapshot: &Snapshot,
    encoding: Encoding,
    cancel: &Cancel,
) -> Result<Option<Value>, Cancelled> {
    let Some(asked) = NameAtCaret::read(caret, snapshot, encoding, cancel)? else { return Ok(None) };
    let definers: BTreeSet<&FileKey> = asked.definers(snapshot).into_iter().collect();
    let mut likely: BTreeMap<FileKey, f64> = BTreeMap::new();
    for found in snapshot.index.references.references_to(&asked.name) {
        if definers.contains(&found.definer) {
            for (referrer, likelihood) in found.referrers {
                let most = likely.entry(referrer).or_default();
                *most = most.max(likelihood);
            }
        }
    }
    let mut files: Vec<(FileKey, f64)> = likely.into_iter().collect();
    files.sort_by(|(a_key, a), (b_key, b)| b.total_cmp(a).then_with(|| a_key.cmp(b_key)));
    files.truncate(MOST_FILES);
    let certain = definers.iter().map(|key| (*key).clone()).chain([asked.key.clone()]);
    let files: BTreeSet<FileKey> = certain.chain(files.into_iter().map(|(key, _)| key)).collect();
    let mut found = Vec::new();
    for key in &files {
        cancel.check()?;
        let Some(page) = Page::open(key, snapshot, encoding, cancel)? else { continue };
        let mut mentions = page.mentions_of(&asked.name, cancel)?;
        if declarations == Declarations::LeftOut && definers.contains(key) {
            let own = named(&page, &asked.name, cancel)?;
            mentions.retain(|range| own.iter().all(|place| place.name_range != *range));
        }
        found.extend(mentions.iter().map(|range| page.location(range)));
    }
    Ok(Some(json!(found)))
}

/// The name at a caret.
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

    /// The files that define it as the file means it, likeliest first; the file itself when nobody is known to.
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
