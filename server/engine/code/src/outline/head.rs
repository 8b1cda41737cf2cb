//! Renders the head of a definition, and other text copied from sources into a map, on one line: collapses whitespace,
//! drops comments, and truncates long strings.

use std::ops::Range;

use strata_base::sanitize::is_invisible;
use strata_base::text::floor_char_boundary;
use strata_tokens::redaction::{contains_or_is_secret, contains_secret, find_secrets};

use super::source::SourceText;

/// Minimum length of a credential, in bytes. Providers issue at least 16 letters and digits.
const MIN_SECRET_BYTES: usize = 16;

/// Maximum length of a head, in characters, including the truncation mark.
const MAX_HEAD_CHARS: usize = 200;
/// Minimum number of characters for the name of a head and the text after it.
const MIN_CHARS_FROM_NAME: usize = 80;
/// Maximum length of the word before the name, such as its qualifier, that stays if the text before the name is cut.
const MAX_QUALIFIER_CHARS: usize = 30;
/// Minimum number of characters for the text before the name, if there is that much.
const MIN_CHARS_BEFORE_NAME: usize = 40;
/// Maximum length of a string literal in a head, in characters.
const MAX_LITERAL_CHARS: usize = 24;
/// Maximum number of bytes to read of a head, not counting bodies inside it. Limits the work when heads are nested.
pub(super) const MAX_HEAD_SCAN_BYTES: usize = 4_096;

/// A part of a head that is not ordinary code.
#[derive(Clone, Debug)]
pub(crate) struct HeadSpan {
    pub(crate) range: Range<usize>,
    pub(crate) kind: HeadSpanKind,
}

/// How to treat a [`HeadSpan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadSpanKind {
    /// Omitted: a comment, or an attribute that is shown elsewhere.
    Dropped,
    /// A string literal, copied or truncated.
    Literal,
    /// A secret, replaced by `…`.
    Secret,
}

/// Renders a head: `prefix`, then the text of `range` with its spans replaced, without punctuation that opens a body.
/// The spans must be sorted by their start. Reads at most `scan` bytes before the name and as many after its start. If
/// the text before the name leaves no room for the name, it is cut first.
pub(super) fn render_head(
    source: &SourceText<'_>,
    range: Range<usize>,
    scan: usize,
    name: &Range<usize>,
    spans: &[HeadSpan],
    prefix: &str,
) -> String {
    let name_at = name.start.clamp(range.start, range.end);
    let before = range.start..name_at.min(range.start.saturating_add(scan));
    let mut line = LineBuilder::new(usize::MAX);
    line.push_code(prefix);
    write_spans(&mut line, source, before.clone(), spans);
    let reserved = source
        .text(name.clone())
        .chars()
        .count()
        .clamp(MIN_CHARS_FROM_NAME, MAX_HEAD_CHARS - MIN_CHARS_BEFORE_NAME);
    let is_before_cut = before.end < name_at;
    line.max = MAX_HEAD_CHARS;
    if is_before_cut || line.chars > MAX_HEAD_CHARS - reserved {
        let rest = name_at..range.end.min(name_at.saturating_add(scan));
        let mut untruncated = line.clone();
        write_spans(&mut untruncated, source, rest, spans);
        if is_before_cut || untruncated.is_full() {
            line.truncate_to(MAX_HEAD_CHARS - reserved - 1);
        }
    }
    let end = range.end.min(name_at.saturating_add(scan));
    let read_end = write_spans(&mut line, source, name_at..end, spans);
    line.is_cut |= end < range.end && read_end < range.end;
    line.finish_head()
}

/// Writes the text of `range` with its spans replaced, and returns the end of what was read.
fn write_spans(
    line: &mut LineBuilder,
    source: &SourceText<'_>,
    range: Range<usize>,
    spans: &[HeadSpan],
) -> usize {
    // A head without a body, such as a list, may be of any length.
    let first = spans.partition_point(|span| span.range.start < range.start);
    let last = spans.partition_point(|span| span.range.start < range.end);
    let all_spans = spans;
    let spans = spans.get(first..last).unwrap_or_default();
    // A span that starts before the range and ends in it was already written.
    let written_until = all_spans.get(..first).unwrap_or_default().iter().map(|span| span.range.end).max();
    let mut offset = range.start.max(written_until.unwrap_or(0));
    if offset >= range.end {
        return offset;
    }
    let secrets = add_secret_spans(source, offset..range.end, spans);
    for span in secrets.as_deref().unwrap_or(spans) {
        if span.range.start < offset || span.range.start >= range.end || line.is_full() {
            continue;
        }
        line.push_code(&source.text_at_char_boundaries(offset..span.range.start));
        match span.kind {
            HeadSpanKind::Dropped => line.push_code(" "),
            HeadSpanKind::Literal => line.push_literal(&source.text_at_char_boundaries(span.range.clone())),
            HeadSpanKind::Secret => line.push_code("…"),
        }
        offset = span.range.end;
    }
    if !line.is_full() {
        line.push_code(&source.text_at_char_boundaries(offset..range.end.max(offset)));
    }
    offset
}

/// Returns the spans of a head with secrets added, or `None` if it contains no secret, which is the usual
/// case. Does not insert redaction placeholders, because they depend on more than the text.
fn add_secret_spans(
    source: &SourceText<'_>,
    range: Range<usize>,
    spans: &[HeadSpan],
) -> Option<Vec<HeadSpan>> {
    let text = source.text_at_char_boundaries(range.clone());
    let span_text = |span: &HeadSpan| source.text_at_char_boundaries(span.range.clone());
    let is_secret =
        |span: &&HeadSpan| span.kind == HeadSpanKind::Literal && contains_or_is_secret(&span_text(span));
    let hits = find_secrets(&text);
    if hits.is_empty() && !spans.iter().any(|span| is_secret(&span)) {
        return None;
    }
    let mut secrets: Vec<Range<usize>> =
        hits.into_iter().map(|hit| range.start + hit.range.start..range.start + hit.range.end).collect();
    secrets.extend(spans.iter().filter(is_secret).map(|span| span.range.clone()));
    let is_disjoint = |span: &&HeadSpan| {
        !secrets.iter().any(|secret| secret.start < span.range.end && span.range.start < secret.end)
    };
    let mut all: Vec<HeadSpan> = spans.iter().filter(is_disjoint).cloned().collect();
    // Replace a literal that contains a secret as a whole.
    let with_spans = |secret: &Range<usize>| {
        let overlapping =
            spans.iter().filter(|span| span.range.start < secret.end && secret.start < span.range.end);
        overlapping
            .fold(secret.clone(), |all, span| all.start.min(span.range.start)..all.end.max(span.range.end))
    };
    all.extend(
        secrets.iter().map(|secret| HeadSpan { range: with_spans(secret), kind: HeadSpanKind::Secret }),
    );
    all.sort_by_key(|span| (span.range.start, std::cmp::Reverse(span.range.end)));
    Some(all)
}

/// Renders a text on one line of at most `max` characters.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let mut line = LineBuilder::new(max);
    let scanned = text.get(..floor_char_boundary(text, MAX_HEAD_SCAN_BYTES)).unwrap_or_default();
    let mut offset = 0;
    for hit in find_secrets(scanned) {
        line.push_code(scanned.get(offset..hit.range.start).unwrap_or_default());
        line.push_code("…");
        offset = hit.range.end;
    }
    line.push_code(scanned.get(offset..).unwrap_or_default());
    line.is_cut |= text.len() > MAX_HEAD_SCAN_BYTES;
    line.finish()
}

/// Renders a name on one line. Removes only whitespace and control characters, because `==` and `total=` are names too.
pub(crate) fn one_line_name(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a name contains a secret, which can happen in headings and in text without quotes. Such names are never
/// stored. That a name looks random is not enough: `Ed25519KeyPairSigner` and names of compilers do as well.
pub(super) fn is_secret_name(name: &str) -> bool {
    may_be_secret_name(name) && contains_secret(name)
}

/// Whether a name mentioned at the end of `line` is a secret, judging by the text before it.
pub(super) fn is_secret_name_on_line(name: &str, line: &str) -> bool {
    let name_start = line.len().saturating_sub(name.len());
    contains_secret(name)
        || (contains_or_is_secret(name) && find_secrets(line).iter().any(|hit| name_start < hit.range.end))
}

/// Rules out nearly all names, but no credential.
pub(super) fn may_be_secret_name(name: &str) -> bool {
    name.len() >= MIN_SECRET_BYTES && name.bytes().any(|byte| byte.is_ascii_digit())
}

/// A line under construction.
#[derive(Clone)]
struct LineBuilder {
    text: String,
    chars: usize,
    max: usize,
    /// Whether whitespace followed the last character.
    gap: bool,
    /// Whether the last character came from a literal, and so is not punctuation of the code.
    literal: bool,
    is_cut: bool,
}

impl LineBuilder {
    fn new(max: usize) -> Self {
        Self { text: String::new(), chars: 0, max, gap: false, literal: false, is_cut: false }
    }

    fn is_full(&self) -> bool {
        self.chars > self.max
    }

    fn push_code(&mut self, text: &str) {
        for c in text.chars() {
            if self.is_full() {
                return;
            }
            if c.is_whitespace() || c.is_control() {
                self.gap = true;
                continue;
            }
            let last = if self.literal { None } else { self.text.chars().next_back() };
            if matches!(c, ')' | ']' | '}') && last == Some(',') {
                // A comma after the last parameter serves only the line break, so remove it.
                self.text.pop();
                self.chars -= 1;
            }
            let is_tight = matches!(c, ')' | ']' | ',' | ';') || matches!(last, Some('(' | '['));
            self.push_space(is_tight);
            self.push_char(c);
            self.literal = false;
        }
    }

    fn push_literal(&mut self, text: &str) {
        let last = self.text.chars().next_back();
        self.push_space(matches!(last, Some('(' | '[')));
        let is_long = text.chars().nth(MAX_LITERAL_CHARS).is_some();
        let shown_chars = if is_long { MAX_LITERAL_CHARS - 2 } else { MAX_LITERAL_CHARS };
        for c in text.chars().take(shown_chars) {
            self.push_char(if c.is_control() || is_line_break(c) { ' ' } else { c });
        }
        if is_long {
            self.push_char('…');
            self.push_char(text.chars().next_back().filter(|c| !c.is_control()).unwrap_or('"'));
        }
        self.literal = true;
    }

    /// Shortens the line to at most `chars` characters and marks the cut. The last word stays if it is short.
    fn truncate_to(&mut self, chars: usize) {
        let last = self.text.rsplit(' ').next().unwrap_or_default();
        let last = Some(last)
            .filter(|last| last.chars().count() <= MAX_QUALIFIER_CHARS)
            .unwrap_or_default()
            .to_owned();
        let remaining = chars.saturating_sub(last.chars().count() + 2);
        if let Some((offset, _)) = self.text.char_indices().nth(remaining) {
            self.text.truncate(offset);
        }
        self.text.truncate(self.text.trim_end().len());
        self.text.push('…');
        if last.is_empty() {
            self.gap = true;
        } else {
            self.text.push(' ');
            self.text.push_str(&last);
        }
        self.chars = self.text.chars().count();
        self.literal = last.is_empty();
    }

    fn push_space(&mut self, is_tight: bool) {
        if self.gap && !is_tight && !self.text.is_empty() {
            self.push_char(' ');
        }
        self.gap = false;
    }

    /// Appends a character, which never breaks the line. An invisible one is escaped, unless it only selects how the one
    /// before it is drawn, as in headings with emoji.
    fn push_char(&mut self, c: char) {
        if matches!(c, '\u{200D}' | '\u{FE0E}' | '\u{FE0F}') {
            return;
        }
        if is_invisible(c) {
            for escaped in c.escape_unicode() {
                self.text.push(escaped);
                self.chars += 1;
            }
            return;
        }
        self.text.push(c);
        self.chars += 1;
    }

    fn finish(mut self) -> String {
        if self.is_full() || self.is_cut {
            let end =
                self.text.char_indices().nth(self.max.saturating_sub(1)).map_or(self.text.len(), |(i, _)| i);
            self.text.truncate(end);
            self.text.push('…');
        }
        self.text
    }

    /// Finishes a head and removes the punctuation before its body.
    fn finish_head(mut self) -> String {
        if self.is_full() || self.is_cut {
            return self.finish();
        }
        if !self.literal {
            let end =
                self.text.trim_end_matches("=>").trim_end_matches([' ', ':', '=', '{', ';', ',', '\\']).len();
            self.text.truncate(end);
        }
        self.text
    }
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(source: &str, range: Range<usize>, spans: &[HeadSpan], prefix: &str) -> String {
        super::render_head(&SourceText::from_text(source), range, MAX_HEAD_SCAN_BYTES, &(0..0), spans, prefix)
    }

    fn check(source: &str, head: &str) {
        assert_eq!(render(source, 0..source.len(), &[], ""), head);
    }

    #[test]
    fn code_is_joined_on_one_line() {
        check("def f(\n    a,\n    b = 1,\n) -> int:", "def f(a, b = 1) -> int");
        check("fn f<T>(a: [u8; 3], )\nwhere\n    T: Ord,\n", "fn f<T>(a: [u8; 3]) where T: Ord");
        check("f = async (text) =>", "f = async (text)");
        check("pub const X: u32 = ", "pub const X: u32");
        check("x\u{2028}y\u{0}z\r\n", "x y z");
        check("", "");
    }

    #[test]
    fn spans_are_dropped_or_copied_verbatim() {
        let source = "f(a /* x */, b=' , (  ', c)";
        let spans = [
            HeadSpan { range: 4..11, kind: HeadSpanKind::Dropped },
            HeadSpan { range: 15..23, kind: HeadSpanKind::Literal },
        ];
        assert_eq!(render(source, 0..source.len(), &spans, "pub "), "pub f(a, b=' , (  ', c)");
    }

    #[test]
    fn a_name_is_secret_only_where_redaction_finds_it() {
        let random = "aZ3kQ9xW7bN2mT5pR8vL";
        for name in [
            "Ed25519KeyPairSigner",
            "_ZN2io5stdio6_print17h8f3c1b0a92d4e657E",
            "css-1dbjc4n-r-18u37iz",
            random,
        ] {
            assert!(!is_secret_name(name), "{name}");
            assert!(!is_secret_name_on_line(name, &format!("    return {name}")), "{name}");
        }
        assert!(is_secret_name(&format!("Token: {random}")));
        assert!(is_secret_name(&["gh", "p_9fK2mQ7xR4tV8bN1cL6zW3yH5jD0sGpEuTiX"].concat()));
        assert!(is_secret_name_on_line(random, &format!("client_secret: {random}")));
    }

    #[test]
    fn long_heads_are_truncated() {
        let long = "ä".repeat(300);
        let head = render(&long, 0..long.len(), &[], "");
        assert_eq!(head.chars().count(), MAX_HEAD_CHARS);
        assert!(head.ends_with('…'));
        let spans = [HeadSpan { range: 0..long.len(), kind: HeadSpanKind::Literal }];
        assert_eq!(render(&long, 0..long.len(), &spans, "").chars().count(), MAX_LITERAL_CHARS);
        // The name and what follows it take precedence over a long text before it.
        let template = "template <typename A, typename B> ".repeat(9);
        for (source, expected) in [
            (format!("{template}class Till : Box"), "class Till : Box"),
            (format!("{template}{}class Till(int a)", " ".repeat(5_000)), "…"),
        ] {
            let name = source.find("Till").unwrap();
            let head = super::render_head(
                &SourceText::from_text(&source),
                0..source.len(),
                MAX_HEAD_SCAN_BYTES,
                &(name..name + 4),
                &[],
                "pub ",
            );
            assert!(head.starts_with("pub template <typename A") && head.contains("… "), "{head}");
            assert!(head.contains("Till") && head.contains(expected), "{head}");
            assert!(head.chars().count() <= MAX_HEAD_CHARS, "{head}");
        }
        let blank = format!("f{}(a)", " ".repeat(10_000));
        assert_eq!(render(&blank, 0..blank.len(), &[], ""), "f…");
    }
}
