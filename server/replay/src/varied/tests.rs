//! Varied sessions: what they contain, and that the same seed gives the same ones.

use super::*;

/// A session that changes one of five files in each turn, and a file outside of the session now and then.
fn trace(turns: usize) -> Trace {
    let text = |version: usize| (0..40).map(|line| format!("line {line} of {}\n", version * line)).collect();
    let path = |at: usize| format!("src/f{}.py", at % 5);
    let turn = |at: usize| TraceTurn {
        prompt: format!("Change {at}\n\nBecause of {at}."),
        answer: format!("Changed {at}."),
        edits: [(path(at), Some(text(at + 2)))].into(),
        touched: vec![path(at)],
        ext: if at % 7 == 3 { [("other.py".to_owned(), Some(text(at)))].into() } else { BTreeMap::new() },
        ..TraceTurn::default()
    };
    Trace {
        name: "made up".to_owned(),
        files0: (0..5).map(|at| (path(at), text(1))).collect(),
        recency: BTreeMap::new(),
        sel: SelectionRule::Window(3),
        turns: (0..turns).map(turn).collect(),
    }
}

fn files_after(trace: &Trace) -> BTreeMap<String, String> {
    let mut files = trace.files0.clone();
    for (path, text) in trace.turns.iter().flat_map(|turn| turn.edits.iter().chain(&turn.ext)) {
        match text {
            Some(text) => drop(files.insert(path.clone(), text.clone())),
            None => drop(files.remove(path)),
        }
    }
    files
}

#[test]
fn every_condition_occurs_and_all_changes_are_made() {
    let plain = trace(40);
    for seed in 0..8 {
        let PlayedSession { trace, conditions, .. } = PlayedSession::varied(&plain, seed);
        assert_eq!(trace.turns.len(), conditions.len());
        assert_eq!(files_after(&trace), files_after(&plain));
        let count = |is: &dyn Fn(&TurnConditions) -> bool| conditions.iter().filter(|one| is(one)).count();
        assert_eq!(count(&|one| one.pause_ms == LUNCH_MS), 1);
        assert_eq!(count(&|one| one.is_compacted), 1);
        assert!(count(&|one| one.call.is_some()) > 10);
        let questions = trace.turns.iter().zip(&conditions);
        let questions = questions.filter(|(turn, one)| one.call.is_none() && turn.edits.is_empty()).count();
        assert!(questions > 5, "{questions}");
        // A compaction never comes between a call and its result.
        assert!(conditions.windows(2).all(|pair| pair[0].call.is_none() || !pair[1].is_compacted));
    }
}

#[test]
fn a_seed_determines_the_session() {
    let turns = |seed| PlayedSession::varied(&trace(20), seed).trace.turns.clone();
    assert_eq!(turns(1), turns(1));
    assert_ne!(turns(1), turns(2));
}

#[test]
fn inserted_turns_do_not_shorten_a_selection() {
    let PlayedSession { trace, .. } = PlayedSession::varied(&trace(40), 0);
    assert!(trace.turns.iter().skip(20).all(|turn| turn.touched.len() >= 4));
}
