//! Counts, for each name and kind of usage, the pieces of a text in which it occurs, so that pieces can be
//! added and removed.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use strata_grammars::LanguageId;

use super::Names;
use super::names::Change;
use super::resolve::{is_builtin, is_reference};

/// A name in one piece and how it is used there: the name's number, shifted left by three, and three bits of
/// [`usage`](super::tables::usage).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mention(u32);

/// Number of `usage` bits.
const USAGES: usize = 3;

/// The names that the pieces of a text mention.
#[derive(Debug)]
pub(super) struct Mentions {
    language: LanguageId,
    numbers: FxHashMap<Arc<str>, u32>,
    names: Vec<Name>,
    /// Numbers of names that no piece mentions any longer, for reuse.
    free: Vec<u32>,
    /// The names that count as references, sorted.
    references: Names,
    count: usize,
    /// Names whose status as a reference may have changed, with their earlier status.
    touched: BTreeMap<Arc<str>, Before>,
}

#[derive(Debug)]
struct Name {
    text: Arc<str>,
    pieces: [u32; USAGES],
}

/// Whether a name counted as a reference before the current changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Before {
    Reference,
    Nothing,
}

impl Mentions {
    pub(super) fn new(language: LanguageId) -> Self {
        Self {
            language,
            numbers: FxHashMap::default(),
            names: Vec::new(),
            free: Vec::new(),
            references: Names::default(),
            count: 0,
            touched: BTreeMap::new(),
        }
    }

    /// Adds the names of a piece. Returns their mentions, which are needed to remove the piece.
    pub(super) fn add<'a>(&mut self, piece: impl Iterator<Item = (&'a str, u8)>) -> Box<[Mention]> {
        piece
            .map(|(name, usage)| {
                let number = self.number(name);
                let mention = Mention(number << USAGES | u32::from(usage));
                self.count(mention, |pieces| *pieces += 1);
                mention
            })
            .collect()
    }

    /// Removes the names of a piece.
    pub(super) fn remove(&mut self, piece: &[Mention]) {
        for mention in piece {
            self.count(*mention, |pieces| *pieces = pieces.saturating_sub(1));
            let number = mention.0 >> USAGES;
            if let Some(name) = usize::try_from(number).ok().and_then(|at| self.names.get_mut(at))
                && name.pieces == [0; USAGES]
                && self.numbers.remove(&name.text).is_some()
            {
                self.free.push(number);
            }
        }
    }

    /// Returns the sorted names that may be defined elsewhere, and how many there are.
    pub(super) fn references(&mut self) -> (&Names, usize) {
        let touched = std::mem::take(&mut self.touched);
        let mut changes = Vec::new();
        for (name, before) in &touched {
            match (before, self.is_reference(name)) {
                (Before::Nothing, true) => changes.push((&**name, Change::In)),
                (Before::Reference, false) => changes.push((&**name, Change::Out)),
                _ => {}
            }
        }
        let ins = changes.iter().filter(|(_, change)| *change == Change::In).count();
        self.count = (self.count + ins).saturating_sub(changes.len() - ins);
        if !changes.is_empty() {
            self.references = self.references.changed(&changes);
        }
        (&self.references, self.count)
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let text: Arc<str> = name.into();
        let fresh = Name { text: text.clone(), pieces: [0; USAGES] };
        let number = match self.free.pop() {
            Some(number) => {
                if let Some(name) = usize::try_from(number).ok().and_then(|at| self.names.get_mut(at)) {
                    *name = fresh;
                }
                number
            }
            None => {
                self.names.push(fresh);
                u32::try_from(self.names.len() - 1).unwrap_or(u32::MAX)
            }
        };
        self.numbers.insert(text, number);
        number
    }

    fn count(&mut self, mention: Mention, change: impl Fn(&mut u32)) {
        let at = usize::try_from(mention.0 >> USAGES).unwrap_or(usize::MAX);
        let Some(name) = self.names.get_mut(at) else { return };
        let before = if is_reference(usage_of(&name.pieces)) { Before::Reference } else { Before::Nothing };
        for (bit, pieces) in name.pieces.iter_mut().enumerate() {
            if mention.0 >> bit & 1 == 1 {
                change(pieces);
            }
        }
        let after = is_reference(usage_of(&name.pieces));
        if (before == Before::Reference) != after
            && !self.touched.contains_key(&name.text)
            && !is_builtin(self.language, &name.text)
        {
            self.touched.insert(name.text.clone(), before);
        }
    }

    fn is_reference(&self, name: &str) -> bool {
        let number = self.numbers.get(name).and_then(|number| usize::try_from(*number).ok());
        let name = number.and_then(|number| self.names.get(number));
        name.is_some_and(|name| is_reference(usage_of(&name.pieces)))
    }
}

/// Combines the ways in which pieces use a name into `usage` bits.
fn usage_of(pieces: &[u32; USAGES]) -> u8 {
    pieces.iter().rev().fold(0, |usage, pieces| usage << 1 | u8::from(*pieces > 0))
}
