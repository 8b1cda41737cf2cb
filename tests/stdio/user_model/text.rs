//! Texts of UTF-16 units, as in editors whose strings may contain half of a character.

use std::char::decode_utf16;
use std::ops::Range;

use e2e::{Rng, Unit};

/// What is typed: characters of every length, and all line ends.
const KEYS: [&str; 16] = [
    "a",
    "b",
    " ",
    "fn x() {",
    "}",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "é",
    "€",
    "漢字",
    "🦀",
    "👩\u{200D}👧",
    "\"",
    "\\",
];

/// Halves of characters: of 🦀, and of none.
pub(super) const HALVES: [u16; 4] = [0xD83E, 0xDD80, 0xDBFF, 0xDC00];

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Text(pub(super) Vec<u16>);

impl Text {
    pub(super) fn new(text: &str) -> Self {
        Self(text.encode_utf16().collect())
    }

    pub(super) fn random(rng: &mut Rng) -> Self {
        let keys = rng.one_of(&[0, 1, 1, 1, 2, 5, 12]);
        Self::new(&(0..keys).map(|_| rng.one_of(&KEYS)).collect::<String>())
    }

    /// The text as a prompt shows it: a block ends with a line end.
    pub(super) fn shown(&self) -> String {
        let mut text = String::from_utf16_lossy(&self.0);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }

    pub(super) fn is_whole(&self) -> bool {
        String::from_utf16(&self.0).is_ok()
    }

    /// The text as a JSON string, with escapes for halves of characters.
    pub(super) fn json(&self) -> String {
        let inside = decode_utf16(self.0.iter().copied()).map(|decoded| match decoded {
            Ok(character) => {
                let string = serde_json::to_string(&character).unwrap();
                string[1..string.len() - 1].to_owned()
            }
            Err(half) => format!("\\u{:04x}", half.unpaired_surrogate()),
        });
        format!("\"{}\"", inside.collect::<String>())
    }

    /// A place where an editor's cursor can be: not inside a character or a line end.
    pub(super) fn place(&self, rng: &mut Rng, from: usize) -> usize {
        let wanted = from + rng.below(self.0.len() - from + 1);
        (wanted..=self.0.len()).find(|at| self.is_place(*at)).unwrap()
    }

    fn is_place(&self, at: usize) -> bool {
        let pair = (at.checked_sub(1).and_then(|before| self.0.get(before)), self.0.get(at));
        let is_inside = matches!(pair, (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) | (Some(13), Some(10)));
        !is_inside
    }

    /// The position of a place, as JSON.
    pub(super) fn position(&self, at: usize, unit: Unit) -> String {
        let mut line = 0;
        let mut start = 0;
        let mut unit_at = 0;
        while unit_at < at {
            let is_line_end = match self.0[unit_at] {
                10 => true,
                13 => self.0.get(unit_at + 1) != Some(&10),
                _ => false,
            };
            unit_at += 1;
            if is_line_end {
                line += 1;
                start = unit_at;
            }
        }
        let character: usize = decode_utf16(self.0[start..at].iter().copied())
            .map(|decoded| match (unit, decoded) {
                (Unit::Utf16, Ok(character)) => character.len_utf16(),
                (Unit::Utf8, Ok(character)) => character.len_utf8(),
                // As editors encode it that allow halves in UTF-8.
                (Unit::Utf8, Err(_)) => 3,
                (Unit::Utf32, _) | (Unit::Utf16, Err(_)) => 1,
            })
            .sum();
        format!(r#"{{"line":{line},"character":{character}}}"#)
    }

    pub(super) fn replace(&mut self, range: Range<usize>, with: &Self) {
        self.0.splice(range, with.0.iter().copied());
    }
}
