//! People's sessions: whether they resemble the recorded conversations, and that a seed determines them.

use strata_base::key::FileKey;
use strata_tokens::cost::OBSERVED_PAUSES_SECONDS;

use super::*;
use crate::scenario::{IncludedParts, Scenario};

/// A session of 40 turns, each of which changes one of 30 files, and creates a file now and then.
fn trace(name: &str) -> Trace {
    let path = |at: usize| format!("src/f{:02}.py", at * 7 % 30);
    let text = |at: usize| Some(format!("version = {at}\n"));
    let turn = |at: usize| {
        let created = (at % 6 == 3).then(|| (format!("src/new{at}.py"), text(at)));
        TraceTurn {
            prompt: format!("Change {at}"),
            answer: format!("Changed {at}."),
            edits: created.into_iter().chain([(path(at), text(at))]).collect(),
            touched: vec![path(at)],
            ..TraceTurn::default()
        }
    };
    Trace {
        name: name.to_owned(),
        files0: (0..30).map(|at| (path(at), "version = 0\n".to_owned())).collect(),
        recency: (0..30).map(|at| (path(at), at as u32)).collect(),
        sel: SelectionRule::Window(3),
        turns: (0..40).map(turn).collect(),
    }
}

fn selected(session: &PlayedSession<'_>) -> Vec<BTreeSet<String>> {
    session.trace.turns.iter().map(|turn| turn.touched.iter().cloned().collect()).collect()
}

fn is_close(what: &str, value: f64, recorded: f64, tolerance: f64) {
    assert!((value - recorded).abs() < tolerance, "{what}: {value:.3} instead of {recorded:.3}");
}

#[test]
fn sessions_resemble_the_recorded_conversations() {
    let session = |at: usize| PlayedSession::human_like(&trace(&at.to_string()), at, 0);
    let sessions: Vec<_> = (0..4_000).map(session).collect();
    let share = |part: usize, whole: usize| part as f64 / whole as f64;
    let lengths: Vec<usize> = sessions.iter().map(|session| session.trace.turns.len()).collect();
    let turns: usize = lengths.iter().sum();
    let short = lengths.iter().filter(|length| **length <= 3).count();
    is_close("conversations of up to three turns", share(short, lengths.len()), 90.0 / 137.0, 0.02);

    let files: Vec<Vec<BTreeSet<String>>> = sessions.iter().map(selected).collect();
    let starting = files.iter().filter(|files| files[0].is_empty()).count();
    is_close("conversations without a file at first", share(starting, files.len()), 112.0 / 137.0, 0.03);
    let without = files.iter().flatten().filter(|files| files.is_empty()).count();
    is_close("turns without a file", share(without, turns), 222.0 / 784.0, 0.05);

    let pairs = || files.iter().flat_map(|files| files.windows(2));
    let later = pairs().count();
    let added: usize = pairs().map(|pair| pair[1].difference(&pair[0]).count()).sum();
    is_close("files added per later turn", share(added, later), 402.0 / 647.0, 0.1);
    let adding = pairs().filter(|pair| !pair[1].is_subset(&pair[0])).count();
    is_close("later turns that add a file", share(adding, later), 222.0 / 647.0, 0.03);
    let mut first_turn = 2;
    for DeselectionRates { last_turn, turns, all, some } in DESELECTION_RATES {
        let has_number = |at: usize| (first_turn..=last_turn).contains(&(at + 2));
        let numbered = files.iter().flat_map(|files| files.windows(2).enumerate());
        let with_files: Vec<&[BTreeSet<String>]> = numbered
            .filter(|(at, pair)| has_number(*at) && !pair[0].is_empty())
            .map(|(_, pair)| pair)
            .collect();
        let dropping = with_files.iter().filter(|pair| !pair[0].is_subset(&pair[1])).count();
        let dropping_all = with_files.iter().filter(|pair| pair[0].is_disjoint(&pair[1])).count();
        let what = format!("from turn {first_turn} on, turns that drop");
        is_close(
            &format!("{what} files"),
            share(dropping, with_files.len()),
            share(all + some, turns),
            0.015,
        );
        is_close(&format!("{what} all"), share(dropping_all, with_files.len()), share(all, turns), 0.015);
        first_turn = last_turn.saturating_add(1);
    }

    let pauses: Vec<u64> = sessions
        .iter()
        .flat_map(|session| {
            (1..session.trace.turns.len()).map(|turn| session.conditions(turn).pause_ms / 1_000)
        })
        .collect();
    assert!(pauses.iter().all(|pause| OBSERVED_PAUSES_SECONDS.contains(pause)));
    let long = pauses.iter().filter(|pause| **pause > 300).count();
    is_close("pauses over five minutes", share(long, later), 7.0 / 20.0, 0.02);
}

#[test]
fn twenty_sessions_have_every_length() {
    let trace = trace("t");
    for (first, seed) in [(0, 0), (3, 1), (20, 11), (7, u64::MAX)] {
        let length = |at| PlayedSession::human_like(&trace, at, seed).trace.turns.len();
        let mut lengths: Vec<usize> = (first..first + 20).map(length).collect();
        lengths.sort_unstable();
        assert_eq!(lengths, CONVERSATION_TURN_COUNTS);
    }
}

#[test]
fn a_seed_determines_the_session() {
    let session = |name: &str, seed| {
        // Every seed has a session of 32 turns at another position.
        let sessions = (0..20).map(|at| PlayedSession::human_like(&trace(name), at, seed));
        let session = sessions.max_by_key(|session| session.trace.turns.len()).unwrap();
        let pauses: Vec<u64> = (0..32).map(|turn| session.conditions(turn).pause_ms).collect();
        (selected(&session), pauses)
    };
    assert_eq!(session("a", 1), session("a", 1));
    for other in [session("a", 2), session("b", 1)] {
        assert_ne!(session("a", 1).0, other.0);
        assert_ne!(session("a", 1).1, other.1);
    }
}

#[test]
fn a_turn_selects_exactly_its_drawn_files_all_of_which_exist() {
    let mut trace = trace("t");
    for at in [2, 5, 9] {
        trace.turns[at].edits.insert("src/f07.py".to_owned(), None);
        trace.turns[at].ext.insert("src/f14.py".to_owned(), None);
    }
    for seed in 0..20 {
        let session = PlayedSession::human_like(&trace, 5, seed);
        let mut scenario = Scenario::new(&session.trace, IncludedParts::Table);
        for drawn in selected(&session) {
            let playing: BTreeSet<&str> = scenario.selected.iter().map(FileKey::as_str).collect();
            assert_eq!(playing, drawn.iter().map(String::as_str).collect());
            scenario.advance_turn();
        }
    }
}

#[test]
fn files_of_the_last_answer_are_added_first_and_then_those_of_the_next() {
    let trace = trace("t");
    let candidates = likely_next_selections(&trace, 4);
    let first: Vec<&str> = candidates.iter().take(5).map(|path| path.as_str()).collect();
    assert_eq!(first, ["src/f21.py", "src/new3.py", "src/f28.py", "src/f05.py", "src/f12.py"]);
    assert_eq!(candidates.len(), 31);
}
