//! What a search without any knowledge of code finds: BM25 with its usual constants (k1 = 1.2, b = 0.75) over windows of 50
//! lines, each known by its words and those of its path.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::history::Tree;
use super::{ShownLines, heading, tokens};

const LINES: usize = 50;

/// All windows, best first.
pub(crate) struct Windows(Vec<Window>);

struct Window {
    path: String,
    lines: Range<u32>,
    text: Arc<str>,
    bytes: Range<usize>,
    score: f64,
}

/// Ranks the windows of the files that `counts` accepts.
pub(crate) fn rank(tree: &Tree, subject: &str, counts: impl Fn(&str) -> bool) -> Windows {
    let mut windows = Vec::new();
    for (path, text) in tree.texts.iter().filter(|(path, _)| counts(path)) {
        let (mut byte, mut line) = (0, 0);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for chunk in lines.chunks(LINES) {
            let (bytes, count) = (chunk.iter().map(|line| line.len()).sum::<usize>(), chunk.len() as u32);
            windows.push(Window {
                path: path.clone(),
                lines: line..line + count,
                text: Arc::clone(text),
                bytes: byte..byte + bytes,
                score: 0.0,
            });
            (byte, line) = (byte + bytes, line + count);
        }
    }
    score(&mut windows, subject);
    windows.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| (&a.path, a.lines.start).cmp(&(&b.path, b.lines.start)))
    });
    Windows(windows)
}

impl Windows {
    /// The windows that fit a budget, best first.
    pub(crate) fn shown(&self, budget: usize) -> ShownLines {
        let (mut shown, mut left) = (ShownLines::default(), budget);
        for window in &self.0 {
            let tokens =
                tokens(&window.text[window.bytes.clone()]) + tokens(&heading(&window.path, &window.lines));
            if tokens <= left {
                left -= tokens;
                shown.add(&window.path, window.lines.clone());
            }
        }
        shown
    }
}

fn score(windows: &mut [Window], subject: &str) {
    let asked: Vec<String> = words(subject).into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let numbers: HashMap<&str, usize> =
        asked.iter().enumerate().map(|(at, word)| (word.as_str(), at)).collect();
    let mut lengths = Vec::with_capacity(windows.len());
    let mut counts = Vec::with_capacity(windows.len());
    for window in &*windows {
        let mut count = vec![0.0; asked.len()];
        let mut length = 0.0;
        for word in words(&window.path).into_iter().chain(words(&window.text[window.bytes.clone()])) {
            length += 1.0;
            if let Some(&at) = numbers.get(word.as_str()) {
                count[at] += 1.0;
            }
        }
        lengths.push(length);
        counts.push(count);
    }
    let all = windows.len() as f64;
    let average = lengths.iter().sum::<f64>() / all.max(1.0);
    let (k1, b) = (1.2, 0.75);
    for at in 0..asked.len() {
        let having = counts.iter().filter(|count| count[at] > 0.0).count() as f64;
        let idf = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
        for ((window, count), length) in windows.iter_mut().zip(&counts).zip(&lengths) {
            let tf = count[at];
            window.score += idf * tf * (k1 + 1.0) / (tf + k1 * (1.0 - b + b * length / average));
        }
    }
}

/// Runs of letters and digits, divided before capitals, in lower case.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in text.chars() {
        let starts = small && c.is_uppercase();
        small = c.is_lowercase();
        if starts || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
