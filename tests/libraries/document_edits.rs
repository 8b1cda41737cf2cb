//! Random edits, as an editor tells them, against a plain string. The model below finds lines and counts units by
//! itself; the two sides share nothing but the protocol. `STRATA_LONG=1` makes ten times as many.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "test support outside of test functions")]

use std::fmt;
use std::ops::Range;

use e2e::{Rng, Unit, is_long};
use serde_json::{Value, json};
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::buffer::Buffer;
use strata_code::document::Document;
use strata_lsp::position::PositionEncoding;
use strata_lsp::sync;

const ENCODINGS: [PositionEncoding; 3] =
    [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32];

/// What is typed: one to four bytes, one or two UTF-16 units, joined characters, all line ends, and the characters that
/// look like line ends and are none in the protocol.
const KEYS: [&str; 24] = [
    "a",
    "b",
    " ",
    "fn x() {",
    "}",
    "\n",
    "\n",
    "\r\n",
    "\r\n",
    "\r",
    "é",
    "ß",
    "€",
    "漢字",
    "🦀",
    "👩\u{200D}👩\u{200D}👧",
    "e\u{301}",
    "\u{B}",
    "\u{C}",
    "\u{85}",
    "\u{2028}",
    "\u{FEFF}",
    "\t",
    "\u{10FFFF}",
];

/// The text is cut when it is longer than this, in bytes: long enough for several of a rope's chunks.
const LONG: usize = 2_000;

/// A text as an editor has it, with its lines.
struct Model {
    text: String,
    lines: Vec<Line>,
}

/// One line of a text, in bytes of it.
#[derive(Clone, Copy)]
struct Line {
    start: usize,
    /// What ends the line is not counted.
    end: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Position {
    line: u32,
    character: u32,
}

impl Model {
    fn new(text: &str) -> Self {
        Self { text: text.to_owned(), lines: lines(text) }
    }

    fn replace(&mut self, range: Range<usize>, text: &str) {
        self.text.replace_range(range, text);
        self.lines = lines(&self.text);
    }

    /// The position of a byte; `None` inside a character and between the two bytes of a CRLF, for which the protocol has
    /// no name.
    fn position(&self, byte: usize, encoding: PositionEncoding) -> Option<Position> {
        let line = self.lines.partition_point(|line| line.start <= byte).checked_sub(1)?;
        let Line { start, end } = self.lines[line];
        let before = self.text.get(start..byte).filter(|_| byte <= end)?;
        Some(Position { line: small(line), character: small(units(before, encoding)) })
    }

    /// The byte of a position: after the end of a line is its end, the line after the last one is the end of the
    /// text. `None` for what is inside a character or further down.
    fn byte(&self, position: Position, encoding: PositionEncoding) -> Option<usize> {
        if position.line as usize == self.lines.len() {
            return Some(self.text.len());
        }
        let Line { start, end } = *self.lines.get(position.line as usize)?;
        let mut left = position.character as usize;
        let mut byte = start;
        for character in self.text[start..end].chars() {
            if left == 0 {
                return Some(byte);
            }
            left = left.checked_sub(units(character.encode_utf8(&mut [0; 4]), encoding))?;
            byte += character.len_utf8();
        }
        Some(end)
    }
}

/// The lines of a text; the last one ends with it. `\n`, `\r\n` and `\r` end a line, nothing else does.
fn lines(text: &str) -> Vec<Line> {
    let bytes = text.as_bytes();
    let mut lines = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        let byte = bytes[at];
        at += 1;
        if byte == b'\r' || byte == b'\n' {
            lines.push(Line { start, end: at - 1 });
            at += usize::from(byte == b'\r' && bytes.get(at) == Some(&b'\n'));
            start = at;
        }
    }
    lines.push(Line { start, end: text.len() });
    lines
}

/// What someone types at once.
fn typed(rng: &mut Rng) -> String {
    let keys = rng.one_of(&[0, 1, 1, 1, 2, 5, 30]);
    (0..keys).map(|_| rng.one_of(&KEYS)).collect()
}

/// A byte that has a position, at `from` or after it.
fn byte(rng: &mut Rng, model: &Model, from: usize, encoding: PositionEncoding) -> usize {
    let wanted = from + rng.below(model.text.len() - from + 1);
    (wanted..).find(|byte| model.position(*byte, encoding).is_some()).unwrap()
}

/// Both sides of the comparison.
struct Pair {
    model: Model,
    buffer: Buffer,
    encoding: PositionEncoding,
    version: i32,
}

impl Pair {
    fn new(text: &str, encoding: PositionEncoding) -> Self {
        let buffer = Buffer::new(&key(), Document::open(text, 1, "rust"));
        Self { model: Model::new(text), buffer, encoding, version: 1 }
    }

    /// One notification to the server's side.
    fn tell(&mut self, changes: &[Value]) {
        self.version += 1;
        let changes: Vec<_> =
            changes.iter().map(|change| serde_json::from_value(change.clone()).unwrap()).collect();
        self.buffer = sync::apply_changes(&self.buffer, self.version, &changes, self.encoding);
    }

    fn agrees(&self) -> bool {
        let document = self.buffer.document();
        document.is_in_step() && document.rope == self.model.text.as_str()
    }

    /// One random edit of the model, and the event that tells it.
    fn edit(&mut self, rng: &mut Rng) -> Value {
        let Self { model, encoding, .. } = self;
        let text = typed(rng);
        if rng.below(500) == 0 {
            *model = Model::new(&text);
            return json!({ "text": text });
        }
        let start = byte(rng, model, 0, *encoding);
        let end = match rng.below(4) {
            _ if model.text.len() > LONG => model.text.len(),
            0 => byte(rng, model, start, *encoding),
            1 => byte(rng, model, start, *encoding).min(start + 40),
            _ => start,
        };
        let end = (end..).find(|byte| model.position(*byte, *encoding).is_some()).unwrap();
        let [from, to] = [start, end].map(|byte| {
            let mut position = model.position(byte, *encoding).unwrap();
            // Other names of the same places: far after the end of the line, and the line after the last one.
            if model.lines[position.line as usize].end == byte && rng.below(4) == 0 {
                position.character = position.character.saturating_add(rng.one_of(&[1, 7, u32::MAX]));
            }
            if byte == model.text.len() && rng.below(4) == 0 {
                position = Position { line: small(model.lines.len()), character: rng.one_of(&[0, 1, 9]) };
            }
            position
        });
        model.replace(start..end, &text);
        json!({ "range": range(from, to), "text": text })
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let document = self.buffer.document();
        writeln!(f, "{:?}, {:?}", self.encoding, document.sync)?;
        write!(f, "model  {:?}\nserver {:?}", self.model.text, document.text())
    }
}

fn units(text: &str, encoding: PositionEncoding) -> usize {
    let unit = match encoding {
        PositionEncoding::Utf8 => Unit::Utf8,
        PositionEncoding::Utf16 => Unit::Utf16,
        PositionEncoding::Utf32 => Unit::Utf32,
    };
    unit.length(text)
}

fn range(start: Position, end: Position) -> Value {
    let json = |position: Position| json!({ "line": position.line, "character": position.character });
    json!({ "start": json(start), "end": json(end) })
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap()
}

fn key() -> FileKey {
    FileKey::from("a.rs")
}

/// How many edits there are in each unit.
fn wanted() -> usize {
    if is_long() { 1_000_000 } else { 100_000 }
}

#[test]
fn random_edits_leave_the_text_of_the_editor() {
    for (seed, encoding) in (0..).zip(ENCODINGS) {
        let mut rng = Rng::new(seed);
        let mut pair = Pair::new("fn main() {\r\n    \"é🦀\"\r}\n", encoding);
        let (mut edits, mut mismatches, mut parsed_at) = (0, 0, 0);
        while edits < wanted() {
            let before = pair.model.text.clone();
            let batch = rng.one_of(&[1, 1, 1, 2, 5]);
            let changes: Vec<Value> = (0..batch).map(|_| pair.edit(&mut rng)).collect();
            pair.tell(&changes);
            edits += batch;
            if !pair.agrees() {
                mismatches += 1;
                eprintln!("{pair}\nbefore {before:?}\n{}", Value::from(changes));
                pair = Pair::new(&pair.model.text, encoding);
            }
            // From here on a syntax tree follows the edits.
            if edits >= parsed_at + 1_000 {
                parsed_at = edits;
                if let Some(parsed) = pair.buffer.parse(&key(), &Cancel::new()).unwrap() {
                    pair.buffer.install_parse(parsed);
                }
            }
        }
        eprintln!("{encoding:?}: {edits} edits, {mismatches} mismatches");
        assert_eq!(mismatches, 0);
    }
}

#[test]
fn an_invalid_range_is_never_silently_wrong() {
    let tries = wanted() / 10;
    for (seed, encoding) in (100..).zip(ENCODINGS) {
        let mut rng = Rng::new(seed);
        let (mut refused, mut taken) = (0, 0);
        for _ in 0..tries {
            let text = typed(&mut rng) + &typed(&mut rng);
            let mut pair = Pair::new(&text, encoding);
            let numbers = [0, 0, 1, 2, 3, 5, 40, u32::MAX - 1, u32::MAX];
            let mut position = || Position { line: rng.one_of(&numbers), character: rng.one_of(&numbers) };
            let (start, end) = (position(), position());
            let range = range(start, end);
            pair.tell(&[json!({ "range": range, "text": "new" })]);
            match (pair.model.byte(start, encoding), pair.model.byte(end, encoding)) {
                (Some(start), Some(end)) if start <= end => {
                    pair.model.replace(start..end, "new");
                    assert!(pair.agrees(), "{range} of {text:?}\n{pair}");
                    taken += 1;
                }
                _ => {
                    let document = pair.buffer.document();
                    assert!(!document.is_in_step(), "{range} of {text:?}\n{pair}");
                    assert_eq!(document.text(), text, "a refused change changes nothing");
                    refused += 1;
                }
            }
        }
        eprintln!("{encoding:?}: {refused} invalid ranges refused, {taken} valid ones taken");
        assert!(refused > tries / 10 && taken > tries / 10, "both kinds were tried");
    }
}

/// What happens on the way to one notification of a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Straight,
    /// It is said once more.
    Twice,
    /// The one after it comes first.
    Late,
    /// The versions after it go on from a smaller number.
    Back,
}

/// Versions may skip numbers, as the protocol says. One that does not rise tells that something was lost, doubled or changed
/// places, and from there on only a full text is believed.
#[test]
fn versions_that_do_not_rise_are_never_silently_wrong() {
    let sequences = wanted() / 10;
    let (mut straight, mut skewed, mut mended) = (0, 0, 0);
    for seed in 0..sequences {
        let mut rng = Rng::new(1_000_000 + seed as u64);
        let encoding = rng.one_of(&ENCODINGS);
        let mut pair = Pair::new("fn main() {}\r\n🦀", encoding);
        let mut said: Vec<(i32, Value)> = Vec::new();
        for _ in 0..1 + rng.below(6) {
            let version = said.last().map_or(1, |(version, _)| *version) + rng.one_of(&[1, 1, 1, 2, 1_000]);
            let edit = pair.edit(&mut rng);
            said.push((version, edit));
        }
        let at = rng.below(said.len());
        let way = rng.one_of(&[Way::Straight, Way::Twice, Way::Late, Way::Back]);
        let skews = match way {
            Way::Straight => false,
            Way::Twice => {
                said.insert(at, said[at].clone());
                true
            }
            Way::Late if at + 1 < said.len() => {
                said.swap(at, at + 1);
                true
            }
            Way::Late => false,
            Way::Back => {
                let step = said[at].0 - rng.one_of(&[0, 0, 1, 2]);
                said.iter_mut().skip(at + 1).for_each(|(version, _)| *version -= step);
                at + 1 < said.len()
            }
        };
        let mut last = 1;
        let mut expected_in_step = true;
        for (version, change) in &said {
            // A full text is the text, whatever came before it and whatever its version.
            let is_full = change.get("range").is_none();
            expected_in_step = is_full || (expected_in_step && *version > last);
            last = if is_full { *version } else { last.max(*version) };
            pair.version = version - 1;
            pair.tell(std::slice::from_ref(change));
            // Said too early, a range may not be in the text, which is found out at once.
            let is_in_step = pair.buffer.document().is_in_step();
            assert!(expected_in_step || !is_in_step, "{way:?} {said:?}\n{pair}");
        }
        if skews {
            skewed += 1;
        } else {
            straight += 1;
            assert!(pair.agrees(), "{said:?}\n{pair}");
        }
        pair.model = Model::new("all of it");
        pair.version = last;
        pair.tell(&[json!({ "text": "all of it" })]);
        assert!(pair.agrees(), "{pair}");
        mended += 1;
    }
    eprintln!("{straight} sequences in order, {skewed} with versions that do not rise, {mended} mended");
    assert!(straight > sequences / 5 && skewed > sequences / 5, "both kinds were tried");
}

#[test]
fn what_follows_an_invalid_range_waits_for_the_full_text() {
    let top = Position { line: 0, character: 0 };
    let insert = |text: &str| json!({ "range": range(top, top), "text": text });
    let reversed = range(Position { line: 0, character: 2 }, Position { line: 0, character: 1 });
    let invalid = json!({ "range": reversed, "text": "wrong" });

    let mut pair = Pair::new("text", PositionEncoding::Utf16);
    pair.tell(&[insert("a "), invalid.clone(), insert("b ")]);
    assert_eq!(
        pair.buffer.document().text(),
        "a text",
        "what came before it counts, what came behind it does not"
    );
    pair.tell(&[insert("c ")]);
    assert_eq!(pair.buffer.document().text(), "a text");
    assert!(!pair.buffer.document().is_in_step());

    pair.model = Model::new("d full");
    pair.tell(&[invalid, json!({ "text": "full" }), insert("d ")]);
    assert!(pair.agrees(), "{pair}");
}

#[test]
fn a_place_inside_a_character_is_invalid_in_the_units_that_have_one() {
    for (encoding, text, inside) in [
        (PositionEncoding::Utf8, "é", &[1][..]),
        (PositionEncoding::Utf8, "x🦀\n", &[2, 3, 4]),
        (PositionEncoding::Utf16, "é", &[]),
        (PositionEncoding::Utf16, "x🦀y\r\n", &[2]),
        (PositionEncoding::Utf32, "👩\u{200D}👧", &[]),
    ] {
        let line = text.lines().next().unwrap_or_default();
        for character in 0..=small(units(line, encoding)) {
            let position = Position { line: 0, character };
            let mut pair = Pair::new(text, encoding);
            pair.tell(&[json!({ "range": range(position, position), "text": "new" })]);
            let valid = !inside.contains(&character);
            assert_eq!(pair.buffer.document().is_in_step(), valid, "{character} of {text:?}, {encoding:?}");
        }
    }
}
