//! Finds the starts of pre-tokens in ASCII text, 64 bytes at a time. Applies the rules of `split` to a whole
//! block with bit operations, using one bit per byte, lowest first. Starts that depend on bytes outside the
//! block are left to `split`.

use wide::i8x16;

use super::Encoding;

/// One bit for each byte of a block, lowest first.
type ByteMask = u64;
type ByteBlock = [u8; ByteMask::BITS as usize];
type SimdBytes = [u8; 16];

/// Positions in a block of the bytes of each class. The first six classes are disjoint; a byte in none of them is a
/// symbol.
struct ClassPositions {
    upper: ByteMask,
    lower: ByteMask,
    number: ByteMask,
    newline: ByteMask,
    /// White space except newlines.
    blank: ByteMask,
    /// Non-ASCII bytes, whose class is unknown here.
    foreign: ByteMask,
    /// Plain spaces, the only blanks with which a pre-token of symbols may start.
    space: ByteMask,
    quote: ByteMask,
    slash: ByteMask,
}

/// Returns the starts of pre-tokens in the 64 bytes from `at` on, as bits relative to `at`. `at` must be a
/// start itself, but its bit is not set. Every pre-token before the last start is complete. Returns 0 if the
/// end of the first pre-token cannot be determined.
#[inline]
pub(super) fn pre_token_starts(encoding: Encoding, text: &[u8], at: usize) -> ByteMask {
    let rest = text.get(at..).unwrap_or_default();
    // Return early for words in other scripts, nearly all of which have a non-ASCII character among their
    // first two bytes.
    if !rest.iter().take(2).all(u8::is_ascii) {
        return 0;
    }
    if let Some(block) = rest.first_chunk() {
        return ClassPositions::classify(block).pre_token_starts(encoding);
    }
    let mut block = [u8::MAX; size_of::<ByteBlock>()];
    block.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    ClassPositions::classify(&block).pre_token_starts(encoding)
}

impl ClassPositions {
    #[inline]
    fn classify(block: &ByteBlock) -> Self {
        let mut sets = [0; 9];
        for (index, lanes) in block.as_chunks::<{ size_of::<SimdBytes>() }>().0.iter().enumerate() {
            let bytes = i8x16::new(lanes.map(u8::cast_signed));
            let equals = |byte: u8| bytes.simd_eq(i8x16::splat(byte.cast_signed()));
            let within = |first: u8, last: u8| {
                bytes.simd_gt(i8x16::splat(first.cast_signed() - 1))
                    & bytes.simd_lt(i8x16::splat(last.cast_signed() + 1))
            };
            let (space, newline) = (equals(b' '), equals(b'\n') | equals(b'\r'));
            let masks = [
                within(b'A', b'Z'),
                within(b'a', b'z'),
                within(b'0', b'9'),
                newline,
                within(b'\t', b'\r') | space,
                bytes,
                space,
                equals(b'\''),
                equals(b'/'),
            ];
            for (set, mask) in sets.iter_mut().zip(masks) {
                // Highest bit of each of the 16 bytes.
                *set |= ByteMask::from(mask.to_bitmask() & 0xffff) << (index * size_of::<SimdBytes>());
            }
        }
        let [upper, lower, number, newline, white, foreign, space, quote, slash] = sets;
        Self { upper, lower, number, newline, blank: white & !newline, foreign, space, quote, slash }
    }

    #[inline]
    fn pre_token_starts(&self, encoding: Encoding) -> ByteMask {
        let Self { upper, lower, number, newline, blank, foreign, space, .. } = *self;
        let (letter, white) = (upper | lower, blank | newline);
        let symbol = !(letter | number | white | foreign);
        // Newlines that belong to the preceding symbols.
        let tail = runs_from(symbol << 1, newline);
        let of_symbols = symbol & !(symbol << 1) & !(space << 1);
        // A symbol or a blank leads a word if a piece starts with it.
        let of_words = letter & (number << 1 | newline << 1 | (symbol & !of_symbols) << 1);
        let inside_words = match encoding {
            Encoding::O200k => upper & lower << 1,
            Encoding::Cl100k => 0,
        };
        let before_newline = runs_from(newline.reverse_bits() << 1, blank.reverse_bits()).reverse_bits();
        // A run of white space starts after the newlines that belong to symbols, and again after its last
        // newline; its last blank leads the next piece.
        let of_white = white & !(white << 1) & !tail
            | blank & newline << 1 & (tail << 1 | !before_newline)
            | blank & !(white >> 1);
        let starts = of_words | inside_words | of_symbols | of_white | every_third_in_runs(number);
        starts & self.decidable_positions(encoding, tail) & !1
    }

    /// Returns the positions for which this block alone determines whether a piece starts there.
    #[inline]
    fn decidable_positions(&self, encoding: Encoding, tail: ByteMask) -> ByteMask {
        let letter = self.upper | self.lower;
        // A byte outside the block may be a letter that completes a contraction.
        let before_letter = (letter | self.foreign) >> 1 | 1 << (ByteMask::BITS - 1);
        let unknown = self.foreign
            | self.quote
                & before_letter
                & if encoding == Encoding::O200k { letter << 1 } else { ByteMask::MAX }
            | if encoding == Encoding::O200k { self.slash & tail << 1 } else { 0 };
        let known_bits = bits_below(unknown.trailing_zeros());
        // The end of a run of white space determines whether a piece starts inside it.
        let last = ByteMask::BITS - (known_bits & !(self.blank | self.newline)).leading_zeros();
        known_bits & (bits_below(last) << 1 | 1)
    }
}

/// Returns the bits below position `position`.
#[inline]
fn bits_below(position: u32) -> ByteMask {
    1_u64.checked_shl(position).map_or(ByteMask::MAX, |bit| bit - 1)
}

/// Returns the runs in `set` that start at a bit of `first`, which must not contain other bits of a run.
#[inline]
fn runs_from(first: ByteMask, set: ByteMask) -> ByteMask {
    // The carry of the addition stops at the end of a run.
    set & !set.wrapping_add(first & set)
}

/// Returns the first bit of each run, and every third after it.
#[inline]
fn every_third_in_runs(set: ByteMask) -> ByteMask {
    let mut starts = set & !(set << 1);
    let mut next = starts;
    while next != 0 {
        next = (((next << 1 & set) << 1) & set) << 1 & set;
        starts |= next;
    }
    starts
}
