//! Detects text that nests `<` too deeply for a parser. Examines bytes only, independent of the language.
//!
//! `A<A<A<` may be nested types or a series of comparisons. Where a grammar leaves this open, the parser
//! follows both readings to the end of the text and then needs memory proportional to the square of the
//! depth, without checking for cancellation. With 16,000 unclosed `<` (32 KB of C#), it took seven seconds
//! and 2 GB. `cargo bench -p e2e --bench survival` contains such texts.

/// Maximum number of unclosed `<` in a text to parse. Parsing a text at this limit took 30 to 60 MB. Real types nest
/// about ten deep, and the `<` of a comparison counts only up to the end of its statement or of the enclosing
/// brackets.
pub(super) const MAX_OPEN_ANGLES: usize = 1_000;

/// Tracks the nesting depth of a text that is read in pieces.
#[derive(Default)]
struct AngleDepth {
    /// Number of unclosed `<` since the innermost open bracket, or since the last `;` after it.
    current: usize,
    /// Number of unclosed `<` in each enclosing pair of brackets, outermost first.
    enclosing: Vec<usize>,
    /// Sum of `enclosing`.
    enclosing_total: usize,
    deepest: usize,
}

/// Whether a text nests `<` too deeply to be parsed. `chunk_at(offset)` returns the next chunk of the text from an
/// offset, or an empty slice at the end.
pub(super) fn has_too_deep_angles<'a>(chunk_at: &impl Fn(usize) -> &'a [u8]) -> bool {
    // Counting is much faster than tracking depth, and rules out nearly all texts.
    let count = |chunk: &[u8]| chunk.iter().filter(|&&byte| byte == b'<').count();
    if chunks(chunk_at).map(count).sum::<usize>() <= MAX_OPEN_ANGLES {
        return false;
    }
    let mut depth = AngleDepth::default();
    chunks(chunk_at).for_each(|chunk| depth.scan(chunk));
    depth.deepest > MAX_OPEN_ANGLES
}

fn chunks<'a>(chunk_at: &impl Fn(usize) -> &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let chunk = chunk_at(start);
        start += chunk.len();
        (!chunk.is_empty()).then_some(chunk)
    })
}

impl AngleDepth {
    fn scan(&mut self, chunk: &[u8]) {
        for byte in chunk {
            match byte {
                b'<' => {
                    self.current += 1;
                    self.deepest = self.deepest.max(self.enclosing_total + self.current);
                }
                b'>' => self.current = self.current.saturating_sub(1),
                b';' => self.current = 0,
                b'(' | b'[' | b'{' => {
                    self.enclosing.push(self.current);
                    self.enclosing_total += std::mem::take(&mut self.current);
                }
                b')' | b']' | b'}' => {
                    if let Some(outer) = self.enclosing.pop() {
                        self.enclosing_total -= outer;
                        self.current = outer;
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn too_deep(text: &str) -> bool {
        has_too_deep_angles(&|offset| &text.as_bytes()[offset..text.len().min(offset + 1_000)])
    }

    #[test]
    fn unclosed_angles_count_whatever_separates_them() {
        for unit in
            ["A<", "A <\n", "A<B, C<", "A&B<", "(A<", "A()<", "A{}<", "A=B<", "A[1]<", "(A;B<", "A><<"]
        {
            assert!(too_deep(&unit.repeat(1_001)), "{unit:?}");
            assert!(!too_deep(&unit.repeat(400)), "{unit:?}");
        }
    }

    #[test]
    fn closed_angles_and_comparisons_do_not_count() {
        for unit in [
            "Vec<Vec<u8>> ",
            "for (i = 0; i < n; i++) {}\n",
            "if (a < b) {}\n",
            "fn f() { if a < b {} }\n",
            "<p>",
            "a << 3;",
            "a < b\nc > d\n",
            "]<>",
        ] {
            assert!(!too_deep(&unit.repeat(5_000)), "{unit:?}");
        }
    }
}
