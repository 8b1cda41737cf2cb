//! Detects text that nests `<` too deeply for a parser. Examines bytes only, independent of the language.
//!
//! `A<A<A<` may be nested types or a series of comparisons. Where a grammar leaves this open, the parser
//! follows both readings to the end of the text and then needs memory proportional to the square of the
//! depth, without checking for cancellation. With 16,000 unclosed `<` (32 KB of C#), it took seven seconds
//! and 2 GB. `cargo bench -p e2e --bench survival` contains such texts.

/// Maximum number of unclosed `<` in a text to parse. Parsing a text at this limit took 30 to 60 MB. Real types nest
/// about ten deep, and the `<` of a comparison counts only up to the end of its statement or of the enclosing
/// brackets.
pub(super) const DEEPEST: usize = 1_000;

/// Tracks the nesting depth of a text that is read in pieces.
#[derive(Default)]
struct Depth {
    /// Number of unclosed `<` since the innermost open bracket, or since the last `;` after it.
    here: usize,
    /// Number of unclosed `<` in each enclosing pair of brackets, outermost first.
    around: Vec<usize>,
    /// Sum of `around`.
    outside: usize,
    deepest: usize,
}

/// Whether a text nests `<` too deeply to be parsed. `rest(offset)` returns the next chunk of the text from an
/// offset, or an empty slice at the end.
pub(super) fn is_too_deep<'a>(rest: &impl Fn(usize) -> &'a [u8]) -> bool {
    // Counting is much faster than tracking depth, and rules out nearly all texts.
    let count = |piece: &[u8]| piece.iter().filter(|&&byte| byte == b'<').count();
    if pieces(rest).map(count).sum::<usize>() <= DEEPEST {
        return false;
    }
    let mut depth = Depth::default();
    pieces(rest).for_each(|piece| depth.read(piece));
    depth.deepest > DEEPEST
}

fn pieces<'a>(rest: &impl Fn(usize) -> &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let piece = rest(start);
        start += piece.len();
        (!piece.is_empty()).then_some(piece)
    })
}

impl Depth {
    fn read(&mut self, piece: &[u8]) {
        for byte in piece {
            match byte {
                b'<' => {
                    self.here += 1;
                    self.deepest = self.deepest.max(self.outside + self.here);
                }
                b'>' => self.here = self.here.saturating_sub(1),
                b';' => self.here = 0,
                b'(' | b'[' | b'{' => {
                    self.around.push(self.here);
                    self.outside += std::mem::take(&mut self.here);
                }
                b')' | b']' | b'}' => {
                    if let Some(before) = self.around.pop() {
                        self.outside -= before;
                        self.here = before;
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
        is_too_deep(&|offset| &text.as_bytes()[offset..text.len().min(offset + 1_000)])
    }

    #[test]
    fn nests_that_nothing_closes_are_too_deep_whatever_stands_between() {
        for unit in
            ["A<", "A <\n", "A<B, C<", "A&B<", "(A<", "A()<", "A{}<", "A=B<", "A[1]<", "(A;B<", "A><<"]
        {
            assert!(too_deep(&unit.repeat(1_001)), "{unit:?}");
            assert!(!too_deep(&unit.repeat(400)), "{unit:?}");
        }
    }

    #[test]
    fn what_is_closed_or_over_is_not_deep() {
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
