//! Qualified names: the name of a definition with its containers, as outlines show it and as queries spell it. A member
//! belongs to its type wherever it is written, so the containers are the enclosing definitions and the
//! [`container`](super::Symbol::container) that some languages write next to the name (`func (b *B) Close()`).

use super::{Symbol, SymbolKind};

/// Tracks the qualified name of the current definition while the definitions of a file are visited in order.
#[derive(Debug, Default)]
pub(crate) struct QualifiedNameTracker<'a> {
    /// Depth of the current definition and of each definition around it, with the number of names before it.
    ancestors: Vec<(u32, usize)>,
    names: Vec<&'a str>,
    /// Kind of each definition in `ancestors`, and whether its members can also be reached without its name.
    kinds: Vec<(SymbolKind, bool)>,
    /// Number of names that belong to containers of the current definition.
    containers: usize,
}

impl<'a> QualifiedNameTracker<'a> {
    /// Makes the next definition the current one. Must be called for every definition, in order.
    pub(crate) fn enter(&mut self, symbol: &'a Symbol) {
        while let Some((_, names)) = self.ancestors.pop_if(|(depth, _)| *depth >= symbol.depth) {
            self.names.truncate(names);
        }
        self.kinds.truncate(self.ancestors.len());
        // Members of a part inside a type, such as a companion object, are also members of the type.
        let is_part =
            symbol.kind == SymbolKind::Impl && self.kinds.last().is_some_and(|(kind, _)| kind.is_type());
        self.kinds.push((symbol.kind, is_part));
        self.ancestors.push((symbol.depth, self.names.len()));
        if !symbol.container.is_empty() {
            self.names.push(&symbol.container);
        }
        self.containers = self.names.len();
        self.names.push(&symbol.name);
    }

    /// Returns the name of the current definition with its containers, separated by dots.
    pub(crate) fn dotted_name(&self) -> String {
        self.names.join(".")
    }

    pub(crate) fn own_name(&self) -> &'a str {
        self.names.last().copied().unwrap_or_default()
    }

    pub(crate) fn container(&self) -> Option<&'a str> {
        self.names.get(..self.containers).unwrap_or_default().last().copied()
    }

    /// Returns the parts of the names of all containers, outermost first.
    pub(crate) fn container_parts(&self) -> Vec<&'a str> {
        self.names.iter().take(self.containers).flat_map(|name| name_parts(name)).collect()
    }

    /// Returns the parts of the qualified name as a query may also spell it: without the parts inside of types that
    /// contain the definition. `None` if there are no such parts.
    pub(crate) fn alternative_parts(&self) -> Option<Vec<&'a str>> {
        let (_, ancestors) = self.kinds.split_last()?;
        if !ancestors.iter().any(|(_, is_part)| *is_part) {
            return None;
        }
        let starts = self.ancestors.iter().map(|(_, names)| *names);
        let ends = starts.clone().skip(1).chain([self.names.len()]);
        let name_ranges = starts.zip(ends).zip(&self.kinds).enumerate();
        let name_ranges =
            name_ranges.filter(|(index, (_, (_, is_part)))| !is_part || index + 1 == self.kinds.len());
        let names = name_ranges.filter_map(|(_, ((start, end), _))| self.names.get(start..end)).flatten();
        Some(names.flat_map(|name| name_parts(name)).collect())
    }

    /// Whether the qualified name, as a query may spell it, ends with these parts.
    pub(crate) fn ends_with(&self, suffix: &[&str]) -> bool {
        self.parts().ends_with(suffix)
            || self.alternative_parts().is_some_and(|parts| parts.ends_with(suffix))
    }

    /// Returns the parts of the containers' names and of the current definition's own name.
    pub(crate) fn parts(&self) -> Vec<&'a str> {
        self.names.iter().flat_map(|name| name_parts(name)).collect()
    }
}

/// Returns the name of a definition with its containers, separated by dots. `index` is its position in `symbols`, which
/// are all definitions of the file.
pub fn qualified_name<'a>(symbols: impl Iterator<Item = &'a Symbol>, index: usize) -> String {
    let mut names = QualifiedNameTracker::default();
    symbols.take(index + 1).for_each(|symbol| names.enter(symbol));
    names.dotted_name()
}

/// Splits a qualified name such as `Type.method`, `Type::method`, `Type#method` or `Type<T>.method` into its parts.
/// Drops type arguments, and quotes around a part. Operators and sentences remain whole: a separator stands between
/// letters, as in `a.b`, or between a name and an operator, as in `a.==`.
pub(crate) fn name_parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = name.trim();
    while !rest.is_empty() {
        let (part, after) = first_part(rest);
        let part = without_quotes(part);
        if !part.is_empty() {
            parts.push(part);
        }
        rest = after;
    }
    parts
}

/// Returns the first part of a name without its type arguments, and the text after the separator.
fn first_part(name: &str) -> (&str, &str) {
    let mut offset = 0;
    // End of the part if type arguments follow it.
    let mut end = None;
    let mut before: Option<char> = None;
    while let Some((rest, c)) = name.get(offset..).and_then(|rest| Some((rest, rest.chars().next()?))) {
        let follows_word = before.is_some_and(is_name_char);
        if let Some(length) = separator_length(rest).filter(|_| follows_word || end.is_some()) {
            let part = name.get(..end.unwrap_or(offset)).unwrap_or_default();
            return (part, name.get(offset + length..).unwrap_or_default());
        }
        let skipped = match c {
            '`' => rest.get(1..).and_then(|inside| inside.find('`')).map(|length| length + 2),
            '<' | '[' if follows_word => {
                let length = bracketed_length(rest);
                if length.is_some() && end.is_none() {
                    end = Some(offset);
                }
                length
            }
            _ => None,
        };
        let length = skipped.unwrap_or(c.len_utf8());
        // Text after type arguments means that they were not type arguments.
        if skipped.is_none() {
            end = None;
        }
        before = name.get(..offset + length).and_then(|read| read.chars().next_back());
        offset += length;
    }
    (name.get(..end.unwrap_or(offset)).unwrap_or_default(), "")
}

/// Returns the length of the separator at the start of a text, if what follows can be a part of a name.
fn separator_length(text: &str) -> Option<usize> {
    let length = ["::", ".", ":", "#"].into_iter().find(|separator| text.starts_with(separator))?.len();
    let next = text.get(length..).and_then(|after| after.chars().next())?;
    let is_part = match text.get(..length) {
        Some(":" | "#") => is_name_char(next),
        _ => !next.is_whitespace(),
    };
    is_part.then_some(length)
}

/// Returns the length of a bracketed text up to the closing bracket, or `None` if it is not closed or is an operator.
fn bracketed_length(text: &str) -> Option<usize> {
    let (open, close) = if text.starts_with('<') { ('<', '>') } else { ('[', ']') };
    if text.get(1..).is_some_and(|inside| inside.starts_with(['<', '=', ']', ' '])) {
        return None;
    }
    let mut depth = 0_usize;
    for (offset, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some(offset + 1);
            }
        }
    }
    None
}

/// Removes the quotes, or the colon of a Ruby symbol, around a part of a name.
fn without_quotes(part: &str) -> &str {
    let inside = part.trim_start_matches([':', '"', '\'']).trim_end_matches(['"']);
    if inside.is_empty() { part } else { inside }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '`' | '?' | '!' | '\'' | ')' | '"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_the_separators_of_all_languages() {
        let cases: [(&str, &[&str]); 21] = [
            ("Till.pay", &["Till", "pay"]),
            ("Till::pay", &["Till", "pay"]),
            ("Till#pay", &["Till", "pay"]),
            ("till:pay", &["till", "pay"]),
            ("Till<Vec<u8>, 4>.pay", &["Till", "pay"]),
            ("Map[string, Till].pay", &["Map", "pay"]),
            ("shop::Till<T>", &["shop", "Till"]),
            ("Till.==", &["Till", "=="]),
            ("Till.<=>", &["Till", "<=>"]),
            ("Till::operator<", &["Till", "operator<"]),
            ("Till::operator<<", &["Till", "operator<<"]),
            ("Till::operator[]", &["Till", "operator[]"]),
            ("Till::~Till", &["Till", "~Till"]),
            ("Float.+.", &["Float", "+."]),
            ("..", &[".."]),
            (":title", &["title"]),
            ("Till.`takes 1.5 coins`", &["Till", "`takes 1.5 coins`"]),
            ("C# and F#", &["C# and F#"]),
            ("Note: read this. Then go", &["Note: read this. Then go"]),
            (".button", &[".button"]),
            ("", &[]),
        ];
        for (name, parts) in cases {
            assert_eq!(name_parts(name), parts, "{name}");
        }
    }
}
