//! Creates and applies unified diffs between two texts. A library compares the lines. This module defines the format,
//! the line endings, and the limit on the number of compared lines. It does not write file names or colors, and does
//! not merge.
//!
//! A line ends only at `\n`, so that texts with CRLF, a lone CR or Unicode separators survive unchanged. The diff of
//! two texts is always the same, because the search for a shorter one has no time limit.

use std::fmt::Write as _;
use std::ops::Range;

use gix_imara_diff::{Algorithm, Diff, InternedInput};

/// Maximum number of differing lines to compare, old and new together. Above this limit, the diff replaces the whole
/// text. Comparing this many random lines takes about 0.2 s, and the time grows faster than linearly. A diff of this
/// size would not be read anyway.
const MAX_COMPARED_LINES: usize = 50_000;

/// Marker after a last line without a line break, as in Git.
const NO_NEWLINE: &str = "\\ No newline at end of file\n";

/// Returns the diff from `old` to `new`: hunks with `@@` lines and up to `context` unchanged lines around each change,
/// without file headers. The diff of equal texts is empty. Runs in nearly linear time.
pub fn unified_diff(old: &str, new: &str, context: usize) -> String {
    let mut text = String::new();
    if old == new {
        return text;
    }
    let (old, new) = (lines_with_endings(old), lines_with_endings(new));
    for hunk in hunks(changes(&old, &new), context) {
        // Every hunk has at least one change.
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let before = context.min(first.old.start);
        let after = context.min(old.len() - last.old.end);
        let spans =
            [first.old.start - before..last.old.end + after, first.new.start - before..last.new.end + after];
        let [from, to] = spans.clone().map(|span| format_range(&span));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "@@ -{from} +{to} @@");
        let mut written = spans[0].start;
        for change in hunk {
            write_lines(&mut text, ' ', &old[written..change.old.start]);
            write_lines(&mut text, '-', &old[change.old.clone()]);
            write_lines(&mut text, '+', &new[change.new.clone()]);
            written = change.old.end;
        }
        write_lines(&mut text, ' ', &old[written..spans[0].end]);
    }
    text
}

/// Returns the zero-based line ranges of `old` that `new` changes. The range of a pure addition covers the lines before
/// and after it.
pub fn changed_lines(old: &str, new: &str) -> Vec<Range<usize>> {
    let (old, new) = (lines_with_endings(old), lines_with_endings(new));
    let changed_range = |Change { old: lines, .. }: Change| match lines.is_empty() {
        true => lines.start.saturating_sub(1)..(lines.end + 1).min(old.len()),
        false => lines,
    };
    changes(&old, &new).into_iter().map(changed_range).collect()
}

/// Applies a diff in the format of [`unified_diff`] to `old`. Returns `None` if `diff` is not in this format, or if a line
/// number, a count, or an unchanged or removed line does not match `old`.
pub fn apply(old: &str, diff: &str) -> Option<String> {
    let old = lines_with_endings(old);
    let mut output = PatchedText::default();
    let mut old_line = 0;
    let mut rest = lines_with_endings(diff).into_iter().peekable();
    while let Some(header) = rest.next() {
        let [from, to] = parse_hunk_header(header)?;
        output.append_lines(old.get(old_line..from.start)?)?;
        if output.lines != to.start {
            return None;
        }
        old_line = from.start;
        while old_line < from.end || output.lines < to.end {
            let line = rest.next()?;
            let (sign, mut line) = (line.get(..1)?, line.get(1..)?);
            if !line.ends_with('\n') {
                return None;
            }
            if rest.next_if_eq(&NO_NEWLINE).is_some() {
                line = line.strip_suffix('\n')?;
            }
            if sign != "+" {
                if old_line == from.end || *old.get(old_line)? != line {
                    return None;
                }
                old_line += 1;
            }
            match sign {
                " " | "+" if output.lines < to.end => output.append_lines(&[line])?,
                "-" => {}
                _ => return None,
            }
        }
    }
    output.append_lines(old.get(old_line..)?)?;
    Some(output.text)
}

/// A replacement, as zero-based line ranges of both texts. One of the ranges may be empty.
#[derive(Clone, Debug)]
struct Change {
    old: Range<usize>,
    new: Range<usize>,
}

/// A text under construction, with its number of lines.
#[derive(Default)]
struct PatchedText {
    text: String,
    lines: usize,
}

impl PatchedText {
    /// Appends lines. Returns `None` if the text so far ends without a line break.
    fn append_lines(&mut self, lines: &[&str]) -> Option<()> {
        for line in lines {
            if !(self.text.is_empty() || self.text.ends_with('\n')) || line.is_empty() {
                return None;
            }
            self.text.push_str(line);
            self.lines += 1;
        }
        Some(())
    }
}

fn lines_with_endings(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let shorter = old.len().min(new.len()) - start;
    let same_end =
        old.iter().rev().zip(new.iter().rev()).take(shorter).take_while(|(old, new)| old == new).count();
    let full_change = Change { old: start..old.len() - same_end, new: start..new.len() - same_end };
    if full_change.old.len() + full_change.new.len() > MAX_COMPARED_LINES {
        return vec![full_change];
    }
    let mut input: InternedInput<&str> = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let range = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks().map(|hunk| Change { old: range(hunk.before), new: range(hunk.after) }).collect()
}

/// Groups changes whose context lines would touch or overlap.
fn hunks(changes: Vec<Change>, context: usize) -> Vec<Vec<Change>> {
    let mut hunks: Vec<Vec<Change>> = Vec::new();
    for change in changes {
        match hunks.last_mut() {
            Some(hunk)
                if hunk
                    .last()
                    .is_some_and(|last| change.old.start - last.old.end <= context.saturating_mul(2)) =>
            {
                hunk.push(change);
            }
            _ => hunks.push(vec![change]),
        }
    }
    hunks
}

/// Formats a range for a hunk header: the one-based first line, and the number of lines unless it is 1. An empty range
/// gets the number of the line before it, as in POSIX and Git.
fn format_range(span: &Range<usize>) -> String {
    match span.len() {
        0 => format!("{},0", span.start),
        1 => format!("{}", span.start + 1),
        count => format!("{},{count}", span.start + 1),
    }
}

/// Parses the zero-based ranges of the old and the new text from a hunk header.
fn parse_hunk_header(header: &str) -> Option<[Range<usize>; 2]> {
    let (from, to) = header.strip_prefix("@@ -")?.strip_suffix(" @@\n")?.split_once(" +")?;
    let span = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        let (start, count): (usize, usize) = (start.parse().ok()?, count.parse().ok()?);
        let start = if count == 0 { start } else { start.checked_sub(1)? };
        Some(start..start.checked_add(count)?)
    };
    Some([span(from)?, span(to)?])
}

fn write_lines(text: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push('\n');
            text.push_str(NO_NEWLINE);
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    fn check(old: &str, new: &str, context: usize, expected: &Expect) {
        let diff = unified_diff(old, new, context);
        expected.assert_eq(&diff);
        assert_eq!(apply(old, &diff).as_deref(), Some(new));
    }

    #[test]
    fn a_change_with_its_context() {
        check(
            "a\nb\nc\nd\ne\n",
            "a\nb\nC\nd\ne\n",
            1,
            &expect![[r#"
                @@ -2,3 +2,3 @@
                 b
                -c
                +C
                 d
            "#]],
        );
    }

    #[test]
    fn distant_changes_are_separate_hunks() {
        check(
            "a\n1\n2\n3\nb\n4\n5\nc\n",
            "A\n1\n2\n3\nB\n4\n5\nC\n",
            1,
            &expect![[r#"
                @@ -1,2 +1,2 @@
                -a
                +A
                 1
                @@ -4,5 +4,5 @@
                 3
                -b
                +B
                 4
                 5
                -c
                +C
            "#]],
        );
    }

    #[test]
    fn an_inserted_function_is_one_block_of_additions() {
        check(
            "fn a() {\n    x();\n}\n\nfn c() {\n    x();\n}\n",
            "fn a() {\n    x();\n}\n\nfn b() {\n    x();\n}\n\nfn c() {\n    x();\n}\n",
            1,
            &expect![[r#"
                @@ -4,2 +4,6 @@
                 
                +fn b() {
                +    x();
                +}
                +
                 fn c() {
            "#]],
        );
    }

    #[test]
    fn changed_lines_of_an_addition_are_the_lines_around_it() {
        let old = "a\nb\nc\nd\n";
        assert!(changed_lines(old, old).is_empty());
        assert_eq!(changed_lines(old, "a\nB\nc\n"), [1..2, 3..4]);
        assert_eq!(changed_lines(old, "x\na\nb\ny\nc\nd\nz\n"), [0..1, 1..3, 3..4]);
        assert_eq!(changed_lines("", "a\n").as_slice(), std::slice::from_ref(&(0..0)));
    }

    #[test]
    fn diffs_from_and_to_an_empty_text() {
        check(
            "",
            "a\nb",
            2,
            &expect![[r#"
                @@ -0,0 +1,2 @@
                +a
                +b
                \ No newline at end of file
            "#]],
        );
        check(
            "a\n",
            "",
            2,
            &expect![[r#"
                @@ -1 +0,0 @@
                -a
            "#]],
        );
    }

    #[test]
    fn a_missing_last_line_break_is_marked() {
        check(
            "a\nb",
            "a\nb\n",
            2,
            &expect![[r#"
                @@ -1,2 +1,2 @@
                 a
                -b
                \ No newline at end of file
                +b
            "#]],
        );
        check(
            "a\nb",
            "c\nb",
            2,
            &expect![[r#"
                @@ -1,2 +1,2 @@
                -a
                +c
                 b
                \ No newline at end of file
            "#]],
        );
    }

    #[test]
    fn a_diff_that_does_not_match_is_rejected() {
        let old = "a\nb\nc\n";
        let diff = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";
        assert_eq!(apply(old, diff).as_deref(), Some("a\nB\nc\n"));
        for broken in [
            "a\n",
            "@@ -1,3 +1,3 @@\n",
            "@@ -1,3 +1,3 @@\n a\n-x\n+B\n c\n",
            "@@ -1,3 +1,3 @@\n x\n-b\n+B\n c\n",
            "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c",
            "@@ -1,3 +1,3 @@\n a\n-b\n+B\n\\ No newline at end of file\n c\n",
            "@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n",
            "@@ -1,3 +1,2 @@\n a\n-b\n+B\n c\n",
            "@@ -1,2 +1,3 @@\n a\n-b\n+B\n c\n",
            "@@ -2,3 +2,3 @@\n a\n-b\n+B\n c\n",
            "@@ -1,3 +2,3 @@\n a\n-b\n+B\n c\n",
            "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n+d\n",
            "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -1 +1 @@\n-a\n+A\n",
            "@@ -1,3 +1,3 @@\n a\n-b\n+B\n?c\n",
            "@@ -1,3 +1,3 @@\n a\n-b\n+B\néc\n",
            "@@ -0 +0 @@\n",
            "@@ -1,18446744073709551615 +1 @@\n",
        ] {
            assert_eq!(apply(old, broken), None, "{broken:?}");
        }
    }

    #[test]
    fn too_many_differing_lines_are_replaced_as_a_whole() {
        let text = |word: &str| (0..30_000).map(|line| format!("{word} {line}\n")).collect::<String>();
        let (old, new) = (format!("same\n{}end\n", text("old")), format!("same\n{}end\n", text("new")));
        let diff = unified_diff(&old, &new, 1);
        assert!(diff.starts_with("@@ -1,30002 +1,30002 @@\n same\n-old 0\n"));
        assert_eq!(apply(&old, &diff), Some(new));
    }

    /// Texts with repeated lines, and with everything that other tools treat as a line end.
    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            4 => Just("a\n"), 4 => Just("b\n"), 4 => Just("\n"), 2 => Just("    a\n"), 1 => Just("}\n"),
            1 => Just("c\r\n"), 1 => Just("\r"), 1 => Just("\u{2028}"), 1 => Just("\u{85}"), 1 => Just("d"),
            1 => Just("@@ -1 +1 @@\n"), 1 => Just("\\ No newline at end of file\n"), 1 => Just("-é\n"),
            1 => Just("\0"), 1 => Just("\u{c}"),
        ];
        prop_oneof![
            8 => proptest::collection::vec(line, 0..40).prop_map(|lines| lines.concat()),
            1 => any::<String>(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn a_diff_makes_the_new_text_of_the_old_one(old in text(), new in text(), context in 0usize..5) {
            let diff = unified_diff(&old, &new, context);
            prop_assert_eq!(diff.is_empty(), old == new);
            prop_assert_eq!(apply(&old, &diff), Some(new));
        }

        #[test]
        fn a_small_edit_makes_a_small_diff(text in text(), at in any::<prop::sample::Index>(), added in text()) {
            let all = lines_with_endings(&text);
            let at = at.index(all.len() + 1);
            let new = [all[..at].concat(), added.clone(), all[at..].concat()].concat();
            let diff = unified_diff(&text, &new, 0);
            prop_assert_eq!(apply(&text, &diff), Some(new));
            // All added lines, one old line that may be grouped with them, and the lines between them.
            let changed = diff.lines().filter(|line| line.starts_with(['+', '-'])).count();
            prop_assert!(changed <= 2 * lines_with_endings(&added).len() + 4, "{}", diff);
        }

        #[test]
        fn applying_any_diff_does_not_panic(old in text(), diff in text(), from in 0usize..4, to in 0usize..4) {
            let _ = apply(&old, &diff);
            if let Some(new) = apply(&old, &format!("@@ -1,{from} +1,{to} @@\n{diff}")) {
                // A diff from `unified` gives the same text as the accepted diff.
                prop_assert_eq!(apply(&old, &unified_diff(&old, &new, 3)), Some(new));
            }
        }
    }
}
