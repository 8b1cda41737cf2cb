//! Parses paths as Strata prints them: with lines (`a.py#L10-40`, `a.py:10`, `a.py:4: text`), with the name of a
//! definition (`a.py#Type.method`), with escaped characters (`\u{202e}`), or as inline code. Every argument that takes a
//! path is parsed here and nowhere else. Does not read files.

use std::fmt;

use strata_conversation::selection::LineRange;

/// A path, with the part of its file that was named with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathReference {
    pub(crate) path: String,
    pub(crate) part: Option<FilePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FilePart {
    Lines(LineRange),
    /// Qualified name of a definition.
    Definition(String),
}

impl fmt::Display for FilePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lines(lines) => lines.fmt(f),
            Self::Definition(name) => name.fmt(f),
        }
    }
}

impl PathReference {
    /// Parses text that may contain lines or a definition after the path. If there are several ways to parse the text,
    /// chooses one whose path exists. A path that exists exactly as written takes precedence. Returns `None` if no path
    /// exists.
    pub(crate) fn parse(text: &str, exists: impl Fn(&str) -> bool) -> Option<Self> {
        if exists(text) {
            return Some(Self::without_part(text));
        }
        let plain = unescape(without_backticks(text.trim()));
        interpretations(text)
            .chain(interpretations(&plain))
            .find(|interpretation| exists(&interpretation.path))
    }

    /// Returns what a text most likely means whose path does not exist.
    pub(crate) fn parse_missing_path(text: &str) -> Self {
        let is_pattern = text.contains(['*', '?', '[', '{']);
        let likely = interpretations(text).find(|reading| reading.part.is_some());
        likely.filter(|_| !is_pattern).unwrap_or_else(|| Self::without_part(text))
    }

    pub(crate) fn without_part(path: &str) -> Self {
        Self { path: path.to_owned(), part: None }
    }
}

/// Returns the ways to read a text, the one with the longest path first.
fn interpretations(text: &str) -> impl Iterator<Item = PathReference> {
    let ends = text.rmatch_indices(['#', ':']).filter_map(|(at, separator)| {
        let (path, part_text) = text.split_at_checked(at)?;
        let part_text = part_text.get(1..)?;
        let part = match separator {
            "#" => match part_text.parse() {
                Ok(lines) => Some(FilePart::Lines(lines)),
                Err(_) => (!part_text.is_empty()).then(|| FilePart::Definition(part_text.to_owned())),
            },
            _ if part_text.trim().is_empty() => None,
            _ => Some(FilePart::Lines(lines_after_colon(part_text)?)),
        };
        (!path.is_empty()).then(|| PathReference { path: path.to_owned(), part })
    });
    std::iter::once(PathReference::without_part(text)).chain(ends)
}

/// Parses the lines at the start of `10`, `10-40`, `10:5`, `10: text` and `10-40 text`.
fn lines_after_colon(text: &str) -> Option<LineRange> {
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    let (first, after_first) = text.split_at_checked(digits(text))?;
    let first: u32 = first.parse().ok()?;
    let last = after_first
        .strip_prefix('-')
        .and_then(|after_first| after_first.get(..digits(after_first))?.parse().ok());
    let is_end = |next: char| next == ':' || next == '-' || next.is_whitespace();
    after_first
        .chars()
        .next()
        .is_none_or(is_end)
        .then(|| LineRange::new(first, last.unwrap_or(first).max(first)))?
}

fn without_backticks(text: &str) -> &str {
    text.strip_prefix('`').and_then(|text| text.strip_suffix('`')).unwrap_or(text)
}

/// Replaces escapes such as `\u{202e}` with their characters.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\u{") {
        plain.push_str(before);
        let escape = after.split_once('}').and_then(|(digits, after)| {
            Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, after))
        });
        match escape {
            Some((character, after)) => {
                plain.push(character);
                rest = after;
            }
            None => {
                plain.push_str("\\u{");
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use strata_base::external::ExternalText;

    use super::*;

    /// Files that exist, some with names that look like a path with a part.
    const FILES: &[&str] = &[
        "a.py",
        "src/b.md",
        "c#d.rs",
        "e:5",
        "f g.py",
        "h\u{202e}.py",
        "- i.py",
        "j#L3",
        "k.py:7:",
        "l#m#n",
    ];

    fn parsed(text: &str) -> (String, String) {
        let reference = PathReference::parse(text, |path| FILES.contains(&path));
        let PathReference { path, part } =
            reference.unwrap_or_else(|| PathReference::parse_missing_path(text));
        (path, part.map_or(String::new(), |part| part.to_string()))
    }

    #[track_caller]
    fn check(text: &str, path: &str, part: &str) {
        assert_eq!(parsed(text), (path.to_owned(), part.to_owned()), "{text}");
    }

    #[test]
    fn a_part_after_a_path_is_parsed() {
        check("a.py", "a.py", "");
        check("a.py:10", "a.py", "L10");
        check("a.py:10:5", "a.py", "L10");
        check("a.py:4:", "a.py", "L4");
        check("a.py:4: x: int = y[5:6]", "a.py", "L4");
        check("a.py:4-6", "a.py", "L4-6");
        check("a.py:", "a.py", "");
        check("a.py#L4-6", "a.py", "L4-6");
        check("a.py#Type.method", "a.py", "Type.method");
        check("src/b.md#C# for: 5 people", "src/b.md", "C# for: 5 people");
        check("c#d.rs#e", "c#d.rs", "e");
    }

    #[test]
    fn a_name_that_exists_takes_precedence() {
        check("e:5", "e:5", "");
        check("e:5:6", "e:5", "L6");
        check("j#L3", "j#L3", "");
        check("k.py:7:", "k.py:7:", "");
        check("l#m#n", "l#m#n", "");
    }

    #[test]
    fn the_part_is_split_from_a_path_that_does_not_exist() {
        check("gone.py:10", "gone.py", "L10");
        check("gone.py#x", "gone.py", "x");
        check("src/*.py", "src/*.py", "");
        check("gone", "gone", "");
    }

    /// What is printed can be typed.
    #[test]
    fn every_form_in_which_a_path_is_printed_is_parsed() {
        for file in FILES {
            let external = ExternalText::new(file);
            let printed = [
                external.line().to_string(),
                external.label().to_string(),
                external.notice().to_string(),
                external.line_start().to_string(),
                external.tool_line().to_string(),
            ];
            for text in &printed {
                check(text, file, "");
                check(&format!("`{text}`"), file, "");
                check(&format!("{text}:12:"), file, "L12");
                check(&format!("{text}:12: let x = \"#y: 3\";"), file, "L12");
                check(&format!("{text}#L12-14"), file, "L12-14");
                check(&format!("{text}#Type.name"), file, "Type.name");
            }
        }
    }
}
