//! What a keystroke costs: a one-line edit of a large open buffer until its outline, its map block and the token count of
//! that are current, next to tree-sitter's own edit and incremental parse of the same edit, in the same run and in turn.
//! `cargo bench -p e2e --bench keystroke -- [FILE]...`; without files the texts are generated.
//!
//! Every edit is undone before the next one, out of the measure. "broken" edits open a string or a bracket that nothing
//! closes. Such a text is settled once before a prompt; the last column is what that takes, away from any keystroke.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on must fail")]

use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

use e2e::Times;
use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::buffer::Buffer;
use strata_code::document::Document;
use strata_grammars::LanguageId;
use strata_tokens::counting::{TokenCounter, Tokenizer};
use tree_sitter::{InputEdit, Parser, Point, Tree};

const SIZES: [usize; 2] = [265_000, 1_000_000];
/// Edits of one kind at each of the three places.
const EDITS: usize = 20;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    println!(
        "{:<32}{:<18}{:>10}{:>10}{:>10}{:>10}{:>8}{:>8}{:>10}",
        "text", "edit", "bare", "p99", "ours", "p99", "ratio", "p99", "settled"
    );
    if files.is_empty() {
        for language in ["python", "rust", "typescript"] {
            for size in SIZES {
                let source = generated(language, size);
                let name = format!("{language}, {} KB", source.len() / 1_000);
                measure(&name, LanguageId::by_name(language).unwrap(), &source);
            }
        }
    }
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        let first_line = source.lines().next().unwrap_or_default();
        let Some(language) = LanguageId::by_path(&file, first_line) else { continue };
        let name = file.rsplit('/').next().unwrap_or(&file);
        measure(&format!("{name}, {} KB", source.len() / 1_000), language, &source);
    }
}

/// A kind of edit: what it does to a line at some place, if that line is fit for it.
struct Kind {
    name: &'static str,
    edit: fn(language: &str, line: &str, number: usize) -> Option<(usize, String)>,
}

const KINDS: [Kind; 6] = [
    Kind { name: "in a body", edit: in_a_body },
    Kind { name: "a known name", edit: known_name },
    Kind { name: "a new function", edit: new_function },
    Kind { name: "a signature", edit: signature },
    Kind { name: "broken: string", edit: |_, line, _| in_statement(line).map(|at| (at, "\"".to_owned())) },
    Kind { name: "broken: bracket", edit: |_, line, _| in_statement(line).map(|at| (at, "(".to_owned())) },
];

/// After the white space of a statement inside a body.
fn in_statement(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start().len();
    let is_statement =
        indent >= 4 && line.contains(" = ") && !line.trim_start().starts_with(['/', '#', '*', '"']);
    is_statement.then(|| line.find(" = ").unwrap_or(0) + 3)
}

fn in_a_body(language: &str, line: &str, number: usize) -> Option<(usize, String)> {
    in_statement(line)?;
    let indent = line.len() - line.trim_start().len();
    let statement = match language {
        "python" => format!("fresh_{number} = compute(fresh_{number}, 1)\n"),
        "rust" => format!("let fresh_{number} = compute(other_{number}, 1);\n"),
        _ => format!("const fresh_{number} = compute(other_{number}, 1);\n"),
    };
    Some((0, format!("{}{statement}", &line[..indent])))
}

fn known_name(_: &str, line: &str, number: usize) -> Option<(usize, String)> {
    Some((in_statement(line)?, format!("{number} + ")))
}

fn new_function(language: &str, line: &str, number: usize) -> Option<(usize, String)> {
    let text = match language {
        "python" if line.starts_with("def ") => format!("def fresh_{number}(a, b): return a + b\n"),
        "rust" if line.starts_with("pub fn ") => format!("fn fresh_{number}(a: u32) -> u32 {{ a + 1 }}\n"),
        "typescript" if line.starts_with("export function ") => {
            format!("function fresh_{number}(a: number): number {{ return a + 1; }}\n")
        }
        _ => return None,
    };
    Some((0, text))
}

fn signature(language: &str, line: &str, number: usize) -> Option<(usize, String)> {
    let marks = ["def ", "fn ", "function "];
    marks.iter().find(|mark| {
        line.trim_start().trim_start_matches("pub ").trim_start_matches("export ").starts_with(**mark)
    })?;
    let at = line.find('(')? + 1;
    if line[at..].starts_with(['&', 's']) {
        return None;
    }
    let parameter = match language {
        "python" => format!("extra_{number}, "),
        "rust" => format!("extra_{number}: u32, "),
        _ => format!("extra_{number}: number, "),
    };
    Some((at, parameter))
}

fn measure(name: &str, language: LanguageId, source: &str) {
    let lines: Vec<(usize, &str)> = source
        .split_inclusive('\n')
        .scan(0, |at, line| {
            *at += line.len();
            Some((*at - line.len(), line))
        })
        .collect();
    for kind in &KINDS {
        let edits: Vec<(usize, String)> = [0, 5, 10]
            .iter()
            .flat_map(|tenth| {
                let from = (lines.len() * tenth / 10).min(lines.len().saturating_sub(400));
                let fit = lines[from..].iter().enumerate().filter_map(|(number, (start, line))| {
                    let (at, text) = (kind.edit)(language.name, line, number)?;
                    Some((start + at, text))
                });
                fit.take(EDITS).collect::<Vec<_>>()
            })
            .collect();
        if edits.is_empty() {
            continue;
        }
        let mut bare = Bare::new(language, source);
        let mut ours = Ours::new(language, source);
        let mut times = Vec::new();
        for (at, text) in &edits {
            let one = bare.replace(*at..*at, text);
            let other = ours.replace(*at..*at, text);
            let settled = ours.settle();
            times.push((one, other, settled));
            bare.replace(*at..at + text.len(), "");
            ours.replace(*at..at + text.len(), "");
        }
        let column = |which: fn(&(Duration, Duration, Duration)) -> Duration| {
            let column: Times = times.iter().map(which).collect();
            (column.percentile(50), column.percentile(99))
        };
        let (bare, ours) = (column(|time| time.0), column(|time| time.1));
        let settled = column(|time| time.2).0;
        let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
        println!(
            "{name:<32}{:<18}{:>10.1?}{:>10.1?}{:>10.1?}{:>10.1?}{:>8.2}{:>8.2}{settled:>10.1?}",
            kind.name,
            bare.0,
            bare.1,
            ours.0,
            ours.1,
            ratio(ours.0, bare.0),
            ratio(ours.1, bare.1),
        );
    }
}

/// tree-sitter alone, with the text in one piece.
struct Bare {
    parser: Parser,
    text: String,
    tree: Tree,
}

impl Bare {
    fn new(language: LanguageId, source: &str) -> Self {
        let mut parser = Parser::new();
        parser.set_language(&language.grammar()).unwrap();
        let tree = parser.parse(source, None).unwrap();
        Self { parser, text: source.to_owned(), tree }
    }

    /// Measures the tree alone: changing the text is free.
    fn replace(&mut self, range: Range<usize>, text: &str) -> Duration {
        let (start_byte, old_end_byte, new_end_byte) = (range.start, range.end, range.start + text.len());
        let (start_position, old_end_position) =
            (point(&self.text, start_byte), point(&self.text, old_end_byte));
        self.text.replace_range(range, text);
        let new_end_position = point(&self.text, new_end_byte);
        let clock = Instant::now();
        self.tree.edit(&InputEdit {
            start_byte,
            old_end_byte,
            new_end_byte,
            start_position,
            old_end_position,
            new_end_position,
        });
        self.tree = self.parser.parse(&self.text, Some(&self.tree)).unwrap();
        clock.elapsed()
    }
}

/// Where a byte stands, as line and bytes into the line.
fn point(text: &str, byte: usize) -> Point {
    let before = &text.as_bytes()[..byte];
    let line = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    Point::new(before.iter().filter(|&&byte| byte == b'\n').count(), byte - line)
}

/// A buffer as the server keeps it.
struct Ours {
    key: FileKey,
    buffer: Buffer,
    counter: TokenCounter,
}

impl Ours {
    fn new(language: LanguageId, source: &str) -> Self {
        let id = *language.editor_ids.first().unwrap();
        let key = FileKey::from("src/file");
        let mut ours = Self {
            buffer: Buffer::new(&key, Document::open(source, 1, id)),
            key,
            counter: TokenCounter::default(),
        };
        ours.refresh();
        ours
    }

    fn replace(&mut self, range: Range<usize>, text: &str) -> Duration {
        let clock = Instant::now();
        self.buffer.replace(range, text).unwrap();
        self.refresh();
        clock.elapsed()
    }

    fn refresh(&mut self) {
        let parsed = self.buffer.parse(&self.key, &Cancel::new()).unwrap().unwrap();
        let now = &parsed.symbols.block;
        let after = (&*now.text, now.text_hash);
        let tokens = match self.buffer.last_parse().map(|last| &last.symbols.block) {
            Some(last) => self.counter.recount(Tokenizer::O200k, (&last.text, last.text_hash), after),
            None => self.counter.count_hashed(Tokenizer::O200k, after.0, after.1),
        };
        std::hint::black_box(tokens);
        self.buffer.install_parse(parsed);
    }

    fn settle(&self) -> Duration {
        let clock = Instant::now();
        std::hint::black_box(self.buffer.symbols(&self.key, &Cancel::new()).unwrap());
        clock.elapsed()
    }
}

/// Source text of about so many bytes: functions, types with methods, comments and data, no two lines of code the same.
fn generated(language: &str, bytes: usize) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < bytes {
        number += 1;
        let _ = match language {
            "python" => write!(
                text,
                "import module_{number}\n\n\nLIMIT_{number} = {number}\n\n\ndef work_{number}(first, second: int = {number}) -> int:\n    \"\"\"Does the work.\"\"\"\n    total = first + second\n    for item in range({number}):\n        # Every item counts.\n        total = total + helper_{number}(item, name=\"text {number}\")\n        if total > LIMIT_{number}:\n            total = total % module_{number}.limit\n    return total\n\n\n@register\nclass Thing_{number}(Base):\n    size = {number}\n\n    def __init__(self, width, height):\n        self.width = width\n        self.height_{number} = height\n\n    def area(self, scale):\n        result = self.width * self.height_{number} * scale\n        return result + work_{number}(self.size, 2)\n\n\n"
            ),
            "rust" => write!(
                text,
                "use crate::module_{number}::Helper{number};\n\n/// A limit.\npub const LIMIT_{number}: u32 = {number};\n\n/// Does the work.\npub fn work_{number}(first: u32, second: u32) -> u32 {{\n    let mut total = first + second;\n    for item in 0..{number} {{\n        // Every item counts.\n        total = total + helper_{number}(item, \"text {number}\");\n        if total > LIMIT_{number} {{\n            total = total % Helper{number}::limit();\n        }}\n    }}\n    total\n}}\n\n#[derive(Debug)]\npub struct Thing{number} {{\n    pub width: u32,\n    height_{number}: u32,\n}}\n\nimpl Thing{number} {{\n    pub fn new(width: u32) -> Self {{\n        let height_{number} = width + 1;\n        Self {{ width, height_{number} }}\n    }}\n\n    pub fn area(&self, scale: u32) -> u32 {{\n        let result = self.width * self.height_{number} * scale;\n        result + work_{number}(self.width, 2)\n    }}\n}}\n\n"
            ),
            _ => write!(
                text,
                "import {{ helper{number} }} from \"./module{number}\";\n\nexport const LIMIT_{number}: number = {number};\n\n/** Does the work. */\nexport function work{number}(first: number, second: number = {number}): number {{\n    let total = first + second;\n    for (let item = 0; item < {number}; item++) {{\n        // Every item counts.\n        total = total + helper{number}(item, \"text {number}\");\n        if (total > LIMIT_{number}) {{\n            total = total % helper{number}.limit;\n        }}\n    }}\n    return total;\n}}\n\nexport class Thing{number} extends Base {{\n    private size: number = {number};\n\n    constructor(width: number) {{\n        super();\n        this.width{number} = width;\n    }}\n\n    area(scale: number): number {{\n        const result = this.width{number} * this.size * scale;\n        return result + work{number}(this.size, 2);\n    }}\n}}\n\n"
            ),
        };
    }
    text
}
