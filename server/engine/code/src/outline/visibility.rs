//! Decides which definitions are visible to other files, based on their heads and names and on the language's rules.

use strata_grammars::LanguageId;

use super::{Symbol, SymbolKind};

/// Determines the visibility of a file's definitions, which must be visited in order.
pub(crate) struct VisibilityTracker {
    language: LanguageId,
    /// Whether each enclosing definition is public, and whether its members are public by default.
    ancestors: Vec<(bool, bool)>,
}

impl VisibilityTracker {
    /// Creates the state for the start of a file.
    pub(crate) fn new(language: LanguageId) -> Self {
        Self { language, ancestors: Vec::new() }
    }

    /// Whether the next definition is visible to other files. Must be called for every definition, in order.
    pub(crate) fn is_public(&mut self, symbol: &Symbol) -> bool {
        self.ancestors.truncate(usize::try_from(symbol.depth).unwrap_or(usize::MAX));
        let (outer, inherited) = self.ancestors.last().copied().unwrap_or((true, false));
        let is_public_itself = self.is_declared_public(symbol, inherited);
        let members_inherit =
            words(&symbol.head).any(|word| self.language.visibility.inherited.contains(&word));
        // An implementation block has no visibility of its own. The visibility of its members applies.
        self.ancestors.push((is_public_itself || symbol.kind == SymbolKind::Impl, members_inherit));
        is_public_itself && outer
    }

    fn is_declared_public(&self, symbol: &Symbol, inherited: bool) -> bool {
        let rules = &self.language.visibility;
        let has_keyword =
            |all: &[&str]| words(head_before_parameters(&symbol.head)).any(|word| all.contains(&word));
        let is_special = symbol.name.starts_with("__") && symbol.name.ends_with("__");
        let has_private_name = rules.private_names.iter().any(|start| symbol.name.starts_with(start));
        if symbol.kind == SymbolKind::Impl || (has_private_name && !is_special) || has_keyword(rules.private)
        {
            return false;
        }
        if rules.capitals && !symbol.name.starts_with(char::is_uppercase) {
            return false;
        }
        rules.public.is_empty() || inherited || has_keyword(rules.public)
    }
}

/// Returns the part of a head before its parameters and its value.
fn head_before_parameters(head: &str) -> &str {
    head.split(['(', '=']).next().unwrap_or_default()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}
