//! Sessions as people have them (`docs/tiers.md`): their length and the selected files are drawn from recorded
//! conversations. The trace, its position among the others, and a seed determine everything.
//!
//! The tables come from 137 public conversations with a terminal pair programmer, which have 784 questions. They are the
//! half of the recordings on which Strata is tuned. Tables of twenty numbers contain the middle of each twentieth.

use std::borrow::Cow;
use std::collections::BTreeSet;

use strata_conversation::trace::{SelectionRule, Trace, TraceTurn};

use crate::rng::Rng;
use crate::varied::PlayedSession;

/// Number of turns of a conversation. 90 of the 137 conversations have at most three.
const CONVERSATION_TURN_COUNTS: [usize; 20] = [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 6, 7, 9, 17, 32];
/// Coprime to the length of [`CONVERSATION_TURN_COUNTS`], so that twenty sessions in a row have all of its lengths.
const TURN_COUNT_STRIDE: usize = 7;

/// Number of files selected in the first turn. 112 of the 137 conversations start without a file.
const FIRST_TURN_FILE_COUNTS: [usize; 20] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 4];
/// Number of files added before the second turn, most of them opened or created by the first answer.
const SECOND_TURN_ADDED_FILES: [usize; 20] = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 8];
/// Number of files added before each later turn.
const FILES_ADDED_LATER: [usize; 20] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 3];

/// How often people deselect files, by the number of the turn. Only turns with selected files count. One person, who has
/// most of the longest conversations, often deselects everything. The others deselect something in 3 % of these turns.
const DESELECTION_RATES: [DeselectionRates; 3] = [
    DeselectionRates { last_turn: 7, turns: 186, all: 6, some: 5 },
    DeselectionRates { last_turn: 20, turns: 165, all: 11, some: 5 },
    DeselectionRates { last_turn: usize::MAX, turns: 133, all: 31, some: 0 },
];
/// Number of files deselected if some stay.
const FILES_DROPPED: [usize; 10] = [1, 1, 1, 1, 1, 2, 2, 2, 3, 3];

struct DeselectionRates {
    /// Last turn to which the rates apply, counted from 1.
    last_turn: usize,
    /// Number of recorded turns, and how many of them deselect all files or only some.
    turns: usize,
    all: usize,
    some: usize,
}

impl PlayedSession<'static> {
    /// Cuts a session to the length of a recorded conversation, and selects files and pauses as in one. `index` is the
    /// position of the session among those to play.
    pub(crate) fn human_like(trace: &Trace, index: usize, seed: u64) -> Self {
        let mut draws = Rng::for_session(&trace.name, seed);
        let shift = (seed % CONVERSATION_TURN_COUNTS.len() as u64) as usize;
        let turns = CONVERSATION_TURN_COUNTS.get(
            (index % CONVERSATION_TURN_COUNTS.len() * TURN_COUNT_STRIDE + shift)
                % CONVERSATION_TURN_COUNTS.len(),
        );
        let selected = selections(trace, turns.copied().unwrap_or_default(), &mut draws);
        let turns = trace.turns.iter().zip(selected);
        let turns = turns.map(|(turn, touched)| TraceTurn { touched, ..turn.clone() }).collect();
        // Each turn lists all its files.
        let trace = Trace { sel: SelectionRule::Window(0), turns, ..trace.clone() };
        Self::new(Cow::Owned(trace), "people".to_owned()).with_human_pauses(draws.next_u64())
    }
}

/// Returns the files that are selected in each turn.
fn selections(trace: &Trace, turns: usize, draws: &mut Rng) -> Vec<Vec<String>> {
    let mut existing: BTreeSet<&String> = trace.files0.keys().collect();
    let mut selected: Vec<&String> = Vec::new();
    let mut selections = Vec::new();
    for at in 0..turns.min(trace.turns.len()) {
        let before: BTreeSet<&String> = selected.iter().copied().collect();
        selected.retain(|path| existing.contains(path));
        if at > 0 {
            deselect_as_people_do(&mut selected, at + 1, draws);
        }
        let added = draws.draw(match at {
            0 => &FIRST_TURN_FILE_COUNTS,
            1 => &SECOND_TURN_ADDED_FILES,
            _ => &FILES_ADDED_LATER,
        });
        let candidates = likely_next_selections(trace, at);
        let new = candidates.into_iter().filter(|path| existing.contains(path) && !before.contains(path));
        selected.extend(new.take(added));
        selections.push(selected.iter().copied().cloned().collect());
        for (path, text) in
            trace.turns.get(at).into_iter().flat_map(|turn| turn.edits.iter().chain(&turn.ext))
        {
            match text {
                Some(_) => existing.insert(path),
                None => existing.remove(path),
            };
        }
    }
    selections
}

/// Deselects as many files as people do before the `number`th turn.
fn deselect_as_people_do(selected: &mut Vec<&String>, number: usize, draws: &mut Rng) {
    let Some(rates) = DESELECTION_RATES.iter().find(|rates| number <= rates.last_turn) else { return };
    let drawn = draws.next_below(rates.turns);
    if drawn < rates.all {
        selected.clear();
    } else if drawn < rates.all + rates.some {
        let dropped = draws.draw(&FILES_DROPPED).min(selected.len().saturating_sub(1));
        for _ in 0..dropped {
            selected.remove(draws.next_below(selected.len()));
        }
    }
}

/// Returns files that a person may add before a turn, without repetitions, the likeliest first. Of the recorded files,
/// 57 % were changed by the last answer, which had opened or created them, and a third of the others by the next one.
fn likely_next_selections(trace: &Trace, at: usize) -> Vec<&String> {
    let last = at.checked_sub(1).and_then(|last| trace.turns.get(last));
    let next = trace.turns.get(at..).unwrap_or_default();
    let mut by_age: Vec<(&u32, &String)> = trace.recency.iter().map(|(path, age)| (age, path)).collect();
    by_age.sort_unstable();
    let mut seen = BTreeSet::new();
    last.into_iter()
        .flat_map(|turn| turn.edits.keys())
        .chain(next.iter().flat_map(|turn| &turn.touched))
        .chain(by_age.into_iter().map(|(_, path)| path))
        .filter(|path| seen.insert(*path))
        .collect()
}

#[cfg(test)]
mod tests;
