//! Selects as many lines as fit, highest value first, and arranges them in sections.

use crate::conversation_facts::labels::state_label;
use crate::conversation_facts::{FileState, to_brace_notation};

use super::lines::{LineContent, SummaryLine};
use super::structure::SummaryStructure;

/// Maximum number of further lines to try after the first line that does not fit, because shorter ones may
/// still fit.
const MAX_TRIES_AFTER_MISFIT: usize = 12;

/// Which headings a summary contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum HeadingSelection {
    /// All headings, so that the reader sees which sections are empty.
    All,
    /// Only headings of sections with content. Used if empty sections would displace more than a quarter of
    /// the lines.
    Filled,
}

/// Returns the text of a summary with as many of the `lines` as `fits` accepts; empty if not even one line
/// fits.
pub(super) fn fit_summary(
    structure: SummaryStructure,
    lines: Vec<SummaryLine>,
    fits: &dyn Fn(&str) -> bool,
) -> String {
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(lines[at].worth), at));
    let layout = SummaryLayout { structure, lines: &lines };
    let [all, filled] = [HeadingSelection::All, HeadingSelection::Filled]
        .map(|headings| layout.fitting_lines(&order, headings, fits));
    let (chosen, headings) = if count_chosen(&all) * 4 < count_chosen(&filled) * 3 {
        (filled, HeadingSelection::Filled)
    } else {
        (all, HeadingSelection::All)
    };
    let text = layout.text(&chosen, headings);
    if count_chosen(&chosen) > 0 && fits(&text) { text } else { String::new() }
}

fn count_chosen(chosen: &[bool]) -> usize {
    chosen.iter().filter(|&&chosen| chosen).count()
}

struct SummaryLayout<'a> {
    structure: SummaryStructure,
    lines: &'a [SummaryLine],
}

impl SummaryLayout<'_> {
    /// Selects lines: the longest prefix of `order` that fits, then later ones that still fit.
    fn fitting_lines(
        &self,
        order: &[usize],
        headings: HeadingSelection,
        fits: &dyn Fn(&str) -> bool,
    ) -> Vec<bool> {
        let first = |most: usize| {
            let mut chosen = vec![false; self.lines.len()];
            order[..most].iter().for_each(|&at| chosen[at] = true);
            chosen
        };
        let (mut least, mut most) = (0, order.len());
        while least < most {
            let middle = least + (most - least).div_ceil(2);
            if fits(&self.text(&first(middle), headings)) {
                least = middle;
            } else {
                most = middle - 1;
            }
        }
        let mut chosen = first(least);
        for &at in order[least..].iter().skip(1).take(MAX_TRIES_AFTER_MISFIT) {
            chosen[at] = true;
            chosen[at] = fits(&self.text(&chosen, headings));
        }
        chosen
    }

    fn text(&self, chosen: &[bool], headings: HeadingSelection) -> String {
        let mut text = String::new();
        // The heading of a group is written before the first section of the group that is written.
        let mut waiting: Option<&str> = None;
        for section in self.structure.sections() {
            let mut body = String::new();
            for &part in section.parts {
                let of_part =
                    self.lines.iter().zip(chosen).filter(|(line, chosen)| **chosen && line.part == part);
                write_topic_lines(of_part.map(|(line, _)| &line.content), &mut body);
            }
            if section.parts.is_empty() {
                waiting = Some(section.heading);
                continue;
            }
            if body.is_empty() {
                if headings == HeadingSelection::Filled {
                    continue;
                }
                body.push_str("- none\n");
            }
            for heading in waiting.take().into_iter().chain([section.heading]) {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(heading);
                text.push('\n');
            }
            text.push_str(&body);
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// Writes the lines of one part. Files with the same state share a line.
fn write_topic_lines<'a>(contents: impl Iterator<Item = &'a LineContent>, body: &mut String) {
    const STATES: [FileState; 5] =
        [FileState::Edited, FileState::Created, FileState::Deleted, FileState::Read, FileState::Mentioned];
    let mut files: Vec<(FileState, &str)> = Vec::new();
    for content in contents {
        match content {
            LineContent::Text(text) => body.extend(["- ", text, "\n"]),
            LineContent::File { state, path } => files.push((*state, path)),
        }
    }
    for state in STATES {
        let paths = files.iter().filter(|(file_state, _)| *file_state == state).map(|(_, path)| *path);
        let list = to_brace_notation(paths);
        if !list.is_empty() {
            body.extend(["- ", state_label(state), &list, "\n"]);
        }
    }
}
