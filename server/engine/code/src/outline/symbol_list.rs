//! The symbols of a file, as a list whose parts are shared between versions of the file.

use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Symbol;

/// An immutable list of symbols, cheap to clone. Equality does not depend on how the list is divided into
/// parts.
#[derive(Clone, Default)]
pub struct SymbolList {
    /// Non-empty parts of the list.
    parts: Arc<[Arc<[Symbol]>]>,
    len: usize,
}

impl SymbolList {
    pub fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the symbols in order.
    pub fn iter(&self) -> impl Iterator<Item = &Symbol> + Clone {
        self.parts.iter().flat_map(|part| part.iter())
    }

    /// Builds a list from its parts.
    pub(super) fn from_parts(parts: impl IntoIterator<Item = Arc<[Symbol]>>) -> Self {
        let parts: Arc<[_]> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let len = parts.iter().map(|part| part.len()).sum();
        Self { parts, len }
    }
}

impl From<Vec<Symbol>> for SymbolList {
    fn from(symbols: Vec<Symbol>) -> Self {
        Self::from_parts([symbols.into()])
    }
}

impl FromIterator<Symbol> for SymbolList {
    fn from_iter<I: IntoIterator<Item = Symbol>>(symbols: I) -> Self {
        Self::from_parts([symbols.into_iter().collect()])
    }
}

impl PartialEq for SymbolList {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.parts, &other.parts) || (self.len == other.len && self.iter().eq(other.iter()))
    }
}

impl Eq for SymbolList {}

impl fmt::Debug for SymbolList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for SymbolList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Some formats have no mark for the end of a list, so they need the length in advance.
        let mut list = serializer.serialize_seq(Some(self.len))?;
        self.iter().try_for_each(|symbol| list.serialize_element(symbol))?;
        list.end()
    }
}

impl<'de> Deserialize<'de> for SymbolList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use strata_base::cancel::Cancel;
    use strata_grammars::LanguageId;

    use super::super::Outline;
    use super::*;

    #[test]
    fn lists_are_equal_however_they_are_divided() {
        let rust = LanguageId::by_name("rust").unwrap();
        let undivided = Outline::read(rust, rust.fixture, &Cancel::new()).unwrap().symbols;
        let all: Vec<Symbol> = undivided.iter().cloned().collect();
        let divided = SymbolList::from_parts(all.chunks(3).map(Arc::from).chain([[].into()]));
        assert_eq!(divided, undivided);
        assert_eq!((divided.len(), divided.iter().nth(4)), (all.len(), Some(&all[4])));
        let json = serde_json::to_string(&divided).unwrap();
        assert_eq!(json, serde_json::to_string(&undivided).unwrap());
        assert_eq!(serde_json::from_str::<SymbolList>(&json).unwrap(), divided);
        assert_ne!(SymbolList::from(all[1..].to_vec()), divided);
    }
}
