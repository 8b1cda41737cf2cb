//! Counts, for each name and kind of usage, the pieces of a text in which it occurs, so that pieces can be
//! added and removed.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use strata_grammars::LanguageId;

use super::NameList;
use super::names::NameChange;
use super::resolve::is_reference;

/// A name in one piece and how it is used there: the name's number, shifted left by three, and three bits of
/// [`usage`](super::tables::usage).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PackedMention(u32);

/// Number of `usage` bits.
const USAGE_BIT_COUNT: usize = 3;

/// The names that the pieces of a text mention.
#[derive(Debug)]
pub(super) struct MentionCounter {
    language: LanguageId,
    ids: FxHashMap<Arc<str>, u32>,
    names: Vec<MentionedName>,
    /// Numbers of names that no piece mentions any longer, for reuse.
    free: Vec<u32>,
    /// The names that count as references, sorted.
    references: NameList,
    count: usize,
    /// Names whose status as a reference may have changed, with their earlier status.
    touched: BTreeMap<Arc<str>, EarlierReferenceStatus>,
}

#[derive(Debug)]
struct MentionedName {
    text: Arc<str>,
    pieces: [u32; USAGE_BIT_COUNT],
}

/// Whether a name counted as a reference before the current changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EarlierReferenceStatus {
    Reference,
    Nothing,
}

impl MentionCounter {
    pub(super) fn new(language: LanguageId) -> Self {
        Self {
            language,
            ids: FxHashMap::default(),
            names: Vec::new(),
            free: Vec::new(),
            references: NameList::default(),
            count: 0,
            touched: BTreeMap::new(),
        }
    }

    /// Adds the names of a piece. Returns their mentions, which are needed to remove the piece.
    pub(super) fn add<'a>(&mut self, piece: impl Iterator<Item = (&'a str, u8)>) -> Box<[PackedMention]> {
        piece
            .map(|(name, usage)| {
                let id = self.intern_name(name);
                let mention = PackedMention(id << USAGE_BIT_COUNT | u32::from(usage));
                self.change_counts(mention, |pieces| *pieces += 1);
                mention
            })
            .collect()
    }

    /// Removes the names of a piece.
    pub(super) fn remove(&mut self, piece: &[PackedMention]) {
        for mention in piece {
            self.change_counts(*mention, |pieces| *pieces = pieces.saturating_sub(1));
            let id = mention.0 >> USAGE_BIT_COUNT;
            if let Some(name) = usize::try_from(id).ok().and_then(|at| self.names.get_mut(at))
                && name.pieces == [0; USAGE_BIT_COUNT]
                && self.ids.remove(&name.text).is_some()
            {
                self.free.push(id);
            }
        }
    }

    /// Returns the sorted names that may be defined elsewhere, and how many there are.
    pub(super) fn update_references(&mut self) -> (&NameList, usize) {
        let touched = std::mem::take(&mut self.touched);
        let mut changes = Vec::new();
        for (name, before) in &touched {
            match (before, self.is_reference(name)) {
                (EarlierReferenceStatus::Nothing, true) => changes.push((&**name, NameChange::Add)),
                (EarlierReferenceStatus::Reference, false) => changes.push((&**name, NameChange::Remove)),
                _ => {}
            }
        }
        let added = changes.iter().filter(|(_, change)| *change == NameChange::Add).count();
        self.count = (self.count + added).saturating_sub(changes.len() - added);
        if !changes.is_empty() {
            self.references = self.references.with_changes(&changes);
        }
        (&self.references, self.count)
    }

    fn intern_name(&mut self, name: &str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let text: Arc<str> = name.into();
        let new_name = MentionedName { text: text.clone(), pieces: [0; USAGE_BIT_COUNT] };
        let id = match self.free.pop() {
            Some(id) => {
                if let Some(name) = usize::try_from(id).ok().and_then(|at| self.names.get_mut(at)) {
                    *name = new_name;
                }
                id
            }
            None => {
                self.names.push(new_name);
                u32::try_from(self.names.len() - 1).unwrap_or(u32::MAX)
            }
        };
        self.ids.insert(text, id);
        id
    }

    fn change_counts(&mut self, mention: PackedMention, change: impl Fn(&mut u32)) {
        let at = usize::try_from(mention.0 >> USAGE_BIT_COUNT).unwrap_or(usize::MAX);
        let Some(name) = self.names.get_mut(at) else { return };
        let before = if is_reference(combine_usage_bits(&name.pieces)) {
            EarlierReferenceStatus::Reference
        } else {
            EarlierReferenceStatus::Nothing
        };
        for (bit, pieces) in name.pieces.iter_mut().enumerate() {
            if mention.0 >> bit & 1 == 1 {
                change(pieces);
            }
        }
        let after = is_reference(combine_usage_bits(&name.pieces));
        if (before == EarlierReferenceStatus::Reference) != after
            && !self.touched.contains_key(&name.text)
            && !self.language.is_builtin(&name.text)
        {
            self.touched.insert(name.text.clone(), before);
        }
    }

    fn is_reference(&self, name: &str) -> bool {
        let id = self.ids.get(name).and_then(|id| usize::try_from(*id).ok());
        let name = id.and_then(|id| self.names.get(id));
        name.is_some_and(|name| is_reference(combine_usage_bits(&name.pieces)))
    }
}

/// Combines the ways in which pieces use a name into `usage` bits.
fn combine_usage_bits(pieces: &[u32; USAGE_BIT_COUNT]) -> u8 {
    pieces.iter().rev().fold(0, |usage, pieces| usage << 1 | u8::from(*pieces > 0))
}
