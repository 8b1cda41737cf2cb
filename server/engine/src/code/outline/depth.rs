//! Whether a text nests `<` deeper than any parser should be asked to read. Looks at bytes only, whatever the language.
//!
//! `A<A<A<` may be types in types or comparisons. Where a grammar leaves that open, the parser follows both readings to the
//! end of the text and then takes memory by the square of the depth, without asking whether to go on: 16,000 of them, 32 KB
//! of C#, took seven seconds and 2 GB. `cargo bench -p e2e --bench survival` has such texts.

/// More `<` than this that nothing closes make a text too deep. Types nest ten deep; comparisons are over with their
/// statement or the brackets they stand in. So many took 30 to 60 MB.
const DEEPEST: usize = 1_000;

/// The depth of a text, fed piece by piece.
#[derive(Default)]
struct Depth {
    /// `<` without `>` since the innermost open bracket, or since the last `;` after it.
    here: usize,
    /// The same of the brackets around it, outermost first.
    around: Vec<usize>,
    /// The sum of `around`.
    outside: usize,
    deepest: usize,
}

/// Whether a text is too deep. `rest` is the text from an offset on, or the start of it.
pub(super) fn is_too_deep<'a>(rest: &impl Fn(usize) -> &'a [u8]) -> bool {
    // Nearly all texts have too few of them to be too deep, and counting is much faster than following.
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
