//! A day at the editor: documents are opened, typed in and closed, prompts and outlines asked for, over and over. What the
//! server takes of the machine does not grow.

use std::env;
use std::thread;
use std::time::{Duration, Instant};

use e2e::process::Process;
use e2e::{Editor, Repo, Rng};
use serde_json::json;

use crate::is_long;

const EDITS: usize = 100_000;
const REQUESTS: usize = 5_000;
/// How long a long day is, in minutes, unless `STRATA_SOAK_MINUTES` says so.
const MINUTES: u64 = 60;
/// Share of the day after which everything that is kept once should be there.
const WARM: f64 = 0.25;
/// KiB that a short day may cost: what an allocator keeps back.
const SLACK: u64 = 24 << 10;
/// Descriptors by which the two halves of a day may differ: on a busy machine, files that are read for a moment are open
/// at every look. A leak shows as one for each document closed or each request, of which a short day has 50.
const PASSING: usize = 4;

/// Documents are kept at about this many bytes.
fn length() -> usize {
    if is_long() { 20_000 } else { 2_000 }
}

/// One look at the process, at this time since the start.
struct Sample {
    hours: f64,
    memory: u64,
    descriptors: usize,
}

#[test]
fn a_day_of_typing_costs_no_memory() {
    let (edits, requests, day) = if is_long() {
        let minutes = env::var("STRATA_SOAK_MINUTES").ok().and_then(|text| text.parse().ok());
        (EDITS, REQUESTS, Duration::from_secs(60 * minutes.unwrap_or(MINUTES)))
    } else {
        (EDITS / 100, REQUESTS / 100, Duration::ZERO)
    };
    let repo = repository();
    let mut editor = Editor::start(&repo);
    let process = Process::new(editor.server.process_id());
    let mut rng = Rng::new(42);
    let mut samples = Vec::new();
    let mut hands = PAGES.map(|page| Hand { page, at: 0, rest: "" });
    let begun = Instant::now();
    for page in PAGES {
        editor.open(page.path);
    }
    editor.select(&PAGES.map(|page| page.path));
    for edit in 0..edits {
        let hand = &mut hands[rng.below(PAGES.len())];
        hand.press(&mut editor, &mut rng);
        if edit % (edits / requests) == 0 {
            ask(&mut editor, hand.page.path, &mut rng);
        }
        // About once in a second: what comes and goes weighs little then.
        if edit % (edits / 4_000).max(1) == 0
            && let (Some(memory), Some(descriptors)) = (process.own_memory(), process.descriptors())
        {
            samples.push(Sample { hours: begun.elapsed().as_secs_f64() / 3_600.0, memory, descriptors });
        }
        let due = day.mul_f64((edit + 1) as f64 / edits as f64);
        thread::sleep(due.saturating_sub(begun.elapsed()));
    }
    for Page { path, .. } in PAGES {
        assert_eq!(editor.assemble().count(&editor.text(path)), 1, "{path} is in step at the end of the day");
    }
    let took = begun.elapsed();
    let warm: Vec<&Sample> = samples.iter().skip((samples.len() as f64 * WARM) as usize).collect();
    let (Some(first), Some(last)) = (warm.first(), warm.last()) else { return };
    let slope = slope(&warm);
    let (early, late) = warm.split_at(warm.len() / 2);
    let open = |samples: &[&Sample]| {
        let counts = || samples.iter().map(|sample| sample.descriptors);
        (counts().min().unwrap(), counts().max().unwrap())
    };
    let ((early, _), (late, _), (least, most)) = (open(early), open(late), open(&warm));
    eprintln!(
        "{edits} edits and {requests} requests in {took:.0?}: {} KiB after a quarter, {} KiB at the end; {least} to {most} \
         descriptors",
        first.memory, last.memory,
    );
    assert!(late <= early + PASSING, "{early} descriptors in the first half, {late} in the second");
    if !day.is_zero() {
        eprintln!(
            "{:?} KiB in the middle of each twelfth of the day, {slope:+.0} KiB an hour",
            middles(&samples)
        );
    }
    if day.as_secs() >= 60 * MINUTES {
        assert!(slope <= 1_024.0);
    } else {
        // Too short to tell a slope.
        assert!(last.memory <= first.memory + SLACK, "{} to {} KiB", first.memory, last.memory);
    }
}

/// A document and the lines that are typed in it. Those of another language would have its parser recover all day.
struct Page {
    path: &'static str,
    lines: [&'static str; 4],
}

const PAGES: [Page; 3] = [
    Page {
        path: "src/a.rs",
        lines: ["fn g(x: u32) -> u32 { h(x) }\n", "// why é🦀\n", "\n", "const C: &str = \"c\";\n"],
    },
    Page { path: "src/b.py", lines: ["def g(x): return h(x)\n", "# why é🦀\n", "\n", "C = 'c'\n"] },
    Page {
        path: "src/c.ts",
        lines: ["function g(x) { return h(x) }\n", "// why é🦀\n", "\n", "const C = 'c'\n"],
    },
];

fn repository() -> Repo {
    let repo = Repo::new("//- notes.md\n# Notes\n");
    for page in PAGES {
        repo.write(page.path, page.lines.concat().repeat(length() / 60));
    }
    repo
}

/// Where someone types.
struct Hand {
    page: Page,
    /// Bytes before it.
    at: usize,
    /// What is still to be typed of a line.
    rest: &'static str,
}

impl Hand {
    /// The next key; now and then another place, a line that goes, or the document closed and opened.
    fn press(&mut self, editor: &mut Editor, rng: &mut Rng) {
        if rng.below(500) == 0 {
            editor.close(self.page.path);
            editor.open(self.page.path);
        }
        let text = &editor.document(self.page.path).text;
        let line = |at: usize| text[..at].rfind('\n').map_or(0, |end| end + 1);
        if self.rest.is_empty() || self.at > text.len() || !text.is_char_boundary(self.at) {
            self.rest = self.page.lines[rng.below(4)];
            let near = rng.below(text.len());
            self.at = line((near..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap());
            if text.len() > length() {
                let end = text[self.at..].find('\n').map_or(text.len(), |length| self.at + length + 1);
                return editor.change(self.page.path, |document| vec![document.edit(self.at..end, "")]);
            }
        }
        let key = self.rest.chars().next().unwrap().len_utf8();
        let (typed, rest) = self.rest.split_at(key);
        editor.change(self.page.path, |document| vec![document.edit(self.at..self.at, typed)]);
        self.at += key;
        self.rest = rest;
    }
}

/// One of the requests that editors and people make.
fn ask(editor: &mut Editor, path: &str, rng: &mut Rng) {
    let uri = editor.document(path).uri.clone();
    let document = json!({ "uri": uri });
    match rng.below(8) {
        0 | 1 => drop(editor.assemble()),
        2 => drop(editor.run("symbols.map", json!({ "budget": 1_000 }))),
        3 => drop(editor.run("prompt.preview", json!({ "prompt": "Why?" }))),
        4 => drop(editor.run("server.status", json!({}))),
        5 => drop(editor.run("tiers.report", json!({}))),
        6 => drop(
            editor
                .server
                .request("textDocument/documentSymbol", json!({ "textDocument": document }))
                .unwrap(),
        ),
        _ => {
            let position = json!({ "line": rng.below(300), "character": 4 });
            let params = json!({ "textDocument": document, "position": position });
            drop(editor.server.request("textDocument/hover", params).unwrap());
        }
    }
    // No one looks at these, and a test that keeps them would grow itself.
    editor.server.heard("strata/status");
}

/// The median of each twelfth, which tells growth from what comes and goes.
fn middles(samples: &[Sample]) -> Vec<u64> {
    let stretches = samples.chunks(samples.len().div_ceil(12).max(1));
    let middle = |stretch: &[Sample]| {
        let mut memory: Vec<u64> = stretch.iter().map(|sample| sample.memory).collect();
        memory.sort_unstable();
        memory[memory.len() / 2]
    };
    stretches.map(middle).collect()
}

/// KiB an hour, by least squares.
fn slope(samples: &[&Sample]) -> f64 {
    let count = samples.len() as f64;
    let mean = |of: fn(&Sample) -> f64| samples.iter().map(|sample| of(sample)).sum::<f64>() / count;
    let (hours, memory) = (mean(|sample| sample.hours), mean(|sample| sample.memory as f64));
    let (mut both, mut square) = (0.0, 0.0);
    for sample in samples {
        both += (sample.hours - hours) * (sample.memory as f64 - memory);
        square += (sample.hours - hours).powi(2);
    }
    both / square.max(f64::MIN_POSITIVE)
}
