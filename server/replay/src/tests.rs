//! Sessions from small traces: their order, their totals, and the report on a session that cannot be played.

mod provider_requests;
mod random_sessions;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use strata_conversation::trace::{SelectionRule, Trace, TraceTurn};
use strata_prompt::diff::unified_diff;
use strata_prompt::settings::Settings;
use strata_tokens::models::CacheTtl;

use super::*;
use crate::columns::LayoutColumn;
use crate::record_file::{read_trace, write_trace};
use crate::session::SessionStats;

const ALL: [PolicyName; 2] = [PolicyName::Ripple, PolicyName::Ledger];

/// Creates a session of this many turns, each of which changes the file that it mentions.
fn trace(name: &str, turns: usize) -> Trace {
    let path = |turn: usize| format!("m{}.py", turn % 3);
    let text = |turn: usize| format!("def f(x):\n    return {turn}\n{}", "    # more\n".repeat(300));
    let turn = |at: usize| TraceTurn {
        prompt: format!("change {at}"),
        answer: "done".into(),
        edits: [(path(at), Some(text(at + 10)))].into(),
        touched: vec![path(at)],
        ..TraceTurn::default()
    };
    Trace {
        name: name.into(),
        files0: (0..6).map(|at| (format!("m{at}.py"), text(at))).collect(),
        recency: BTreeMap::new(),
        sel: SelectionRule::Window(3),
        turns: (0..turns).map(turn).collect(),
    }
}

fn saved(folder: &Path, traces: &[Trace]) -> Sources {
    for (at, trace) in traces.iter().enumerate() {
        write_trace(&folder.join(format!("{at}.json.gz")), trace).unwrap();
    }
    Sources { traces: vec![folder.to_owned()], ..Sources::default() }
}

fn settings() -> Settings {
    settings_for("claude-sonnet-4-5")
}

/// Settings with the lifetime that suits turns a minute apart.
pub(crate) fn settings_for(model: &str) -> Settings {
    let mut settings = Settings { model: model.to_owned(), ..Settings::default() };
    settings.cache.ttl = CacheTtl::FiveMinutes;
    // With automatic context, each session is also replayed with it.
    settings.context.auto_budget = 0;
    settings
}

fn played(traces: &[Trace], policies: &[PolicyName]) -> Replay {
    let folder = tempfile::tempdir().unwrap();
    let material = Material::gather(&saved(folder.path(), traces), |_| ()).unwrap();
    Replay::play(&material, policies, &settings(), |_| ())
}

fn shares(session: &SessionStats) -> Vec<(LayoutColumn, f64)> {
    session.columns.iter().map(|(column, cell)| (*column, cell.share)).collect()
}

#[test]
fn every_run_says_the_same_in_the_order_of_the_material() {
    let traces: Vec<Trace> = (0..5).map(|at| trace(&format!("t{at}"), 9 - at)).collect();
    let (one, two) = (played(&traces, &ALL), played(&traces, &ALL));
    let names: Vec<&str> = one.sessions.iter().map(|session| &*session.name).collect();
    assert_eq!(names, ["t0", "t1", "t2", "t3", "t4"]);
    assert_eq!((one.turns, one.incomplete_replays().count()), (9 + 8 + 7 + 6 + 5, 0));
    // `flat`, `ripple` and `ledger` for the table; `flat` and `ledger` with all parts.
    assert_eq!(one.prompts, one.turns * 5);
    for (session, again) in one.sessions.iter().zip(&two.sessions) {
        assert_eq!(shares(session), shares(again));
        assert_eq!(session.columns.len(), LayoutColumn::ALL.len());
        assert_eq!(session.columns[&LayoutColumn::None].share, 1.0);
        assert!(session.bound > 0.0 && session.bound <= session.columns[&LayoutColumn::Ledger].share);
    }
    let alone = played(&traces[2..3], &ALL);
    assert_eq!(shares(&alone.sessions[0]), shares(&one.sessions[2]));
}

#[test]
fn a_policy_that_was_not_asked_for_is_not_played() {
    let replay = played(&[trace("t", 4)], &[PolicyName::Ripple]);
    let session = &replay.sessions[0];
    assert!(
        session.columns.contains_key(&LayoutColumn::Ripple)
            && !session.columns.contains_key(&LayoutColumn::Ledger)
    );
    assert!(session.everything.is_none());
    assert_eq!(replay.prompts, 4 * 2);
    assert_eq!(replay.summary.unwrap().lines.len(), LayoutColumn::ALL.len() - 1);
}

#[test]
fn a_session_that_cannot_be_played_does_not_stop_the_others() {
    let replay = played(&[trace("empty", 0), trace("whole", 5)], &ALL);
    let problems: Vec<_> = replay.incomplete_replays().collect();
    assert_eq!(problems, [("empty", "the session has no turns")]);
    let summary = replay.summary.as_ref().unwrap();
    assert_eq!(summary.sessions, 1);
    let ledger = summary.lines.iter().find(|line| line.column == LayoutColumn::Ledger).unwrap();
    assert_eq!(ledger.cost, replay.sessions[1].columns[&LayoutColumn::Ledger].share);
}

#[test]
fn the_summary_counts_each_session_the_same() {
    let replay = played(&[trace("short", 3), trace("long", 12)], &ALL);
    let summary = replay.summary.as_ref().unwrap();
    for line in &summary.lines {
        let costs = replay.sessions.iter().map(|session| session.columns[&line.column].share);
        assert!((line.cost - costs.sum::<f64>() / 2.0).abs() < 1e-12);
        let makes_prompts =
            matches!(line.column, LayoutColumn::Flat | LayoutColumn::Ripple | LayoutColumn::Ledger);
        assert_eq!(line.time.is_some(), makes_prompts, "{}", line.column);
    }
}

#[test]
fn varied_sessions_keep_every_promise() {
    for model in ["claude-sonnet-4-5", "gpt-5.6-sol", "gpt-5.4"] {
        let settings = settings_for(model);
        let traces = vec![trace("a", 12), trace("b", 20)];
        let mut material = Material::from_git_traces(traces);
        (material.workload, material.seed) = (Workload::Varied, 1);
        let replay = Replay::play(&material, &ALL, &settings, |_| ());
        assert_eq!(replay.incomplete_replays().count(), 0);
        for session in &replay.sessions {
            assert!(session.turns > 10 && session.gap.is_none());
            assert!(session.bound <= session.columns[&LayoutColumn::Ledger].share);
        }
    }
}

#[test]
fn peoples_sessions_keep_every_promise_and_each_turn_counts_the_same() {
    for model in ["claude-sonnet-4-5", "gpt-5.6-sol"] {
        let mut material = Material::from_git_traces((0..7).map(|at| trace(&format!("t{at}"), 8)).collect());
        material.workload = Workload::People;
        let replay = Replay::play(&material, &ALL, &settings_for(model), |_| ());
        assert_eq!(replay.incomplete_replays().count(), 0);
        assert!(replay.sessions.iter().all(|session| session.selection == "people"));
        for line in &replay.summary.as_ref().unwrap().lines {
            let cells = replay.sessions.iter().map(|session| &session.columns[&line.column]);
            let cost: f64 = cells.clone().map(|cell| cell.totals.cost).sum();
            assert!((line.cost_a_turn - cost / replay.turns as f64).abs() < 1e-9);
            let none = replay.sessions.iter().map(|session| session.columns[&LayoutColumn::None].totals.cost);
            assert!((line.cost - cost / none.sum::<f64>()).abs() < 1e-12);
            let first: f64 = cells.map(|cell| cell.totals.first).sum();
            assert!((line.first - first / 7.0).abs() < 1e-9);
        }
    }
}

#[test]
fn the_gap_is_explained_to_the_last_token() {
    for model in ["claude-sonnet-4-5", "gpt-5", "claude-opus-4-7"] {
        let settings = settings_for(model);
        let material = Material::from_git_traces(vec![trace("a", 3), trace("b", 12)]);
        let replay = Replay::play(&material, &[PolicyName::Ledger], &settings, |_| ());
        assert_eq!(replay.incomplete_replays().count(), 0);
        for session in &replay.sessions {
            let gap = session.columns[&LayoutColumn::Ledger].share - session.bound;
            let explained = session.gap.as_ref().unwrap().total();
            assert!((explained - gap).abs() < 1e-9, "{explained} instead of {gap}");
        }
        let text = replay.gap_report();
        assert!(text.contains("\ngap ") && text.contains("\nb "), "{text}");
    }
    let ripple = played(&[trace("t", 2)], &[PolicyName::Ripple]);
    assert!(ripple.sessions[0].gap.is_none());
}

#[test]
fn progress_counts_every_turn_once() {
    let folder = tempfile::tempdir().unwrap();
    let material = Material::gather(&saved(folder.path(), &[trace("a", 3), trace("b", 4)]), |_| ()).unwrap();
    let seen = Mutex::new(Vec::new());
    Replay::play(&material, &ALL, &settings(), |progress| seen.lock().unwrap().push(progress));
    let mut done: Vec<usize> = seen.lock().unwrap().iter().map(|progress| progress.done).collect();
    done.sort_unstable();
    assert_eq!(done, (1..=14).collect::<Vec<_>>());
    assert!(seen.lock().unwrap().iter().all(|progress| progress.total == 14));
}

#[test]
fn what_is_not_there_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let gather = |sources: &Sources| Material::gather(sources, |_| ()).unwrap_err();
    assert!(matches!(gather(&Sources::default()), SourceError::Nothing));
    let here = || vec![folder.path().to_owned()];
    assert!(matches!(gather(&Sources { traces: here(), ..Sources::default() }), SourceError::Empty { .. }));
    assert!(matches!(
        gather(&Sources { transcripts: here(), ..Sources::default() }),
        SourceError::Empty { .. }
    ));
    assert!(matches!(gather(&Sources { repositories: here(), ..Sources::default() }), SourceError::Git(_)));
    gix::init(folder.path()).unwrap();
    assert!(matches!(
        gather(&Sources { repositories: here(), ..Sources::default() }),
        SourceError::NoTurns(_)
    ));
    fs::write(folder.path().join("broken.json"), "{").unwrap();
    assert!(matches!(gather(&Sources { traces: here(), ..Sources::default() }), SourceError::Record(_)));
}

#[test]
fn sessions_of_one_name_get_different_ones() {
    let replay = played(&[trace("t", 1), trace("u", 1), trace("t", 1)], &[PolicyName::Flat]);
    let names: Vec<&str> = replay.sessions.iter().map(|session| &*session.name).collect();
    assert_eq!(names, ["t", "u", "t.2"]);
}

#[test]
fn an_exported_trace_carries_the_weight_of_each_diff() {
    let folder = tempfile::tempdir().unwrap();
    // A file that is created or deleted has no diff.
    let mut source = trace("t", 5);
    source.turns[1].edits.insert("new.py".into(), Some("x = 1\n".into()));
    source.turns[2].edits.insert("m5.py".into(), None);
    let material = Material::from_git_traces(vec![source.clone()]);
    assert_eq!(material.export_git_sessions(&folder.path().join("out"), &settings()).unwrap(), 1);
    let written = read_trace(&folder.path().join("out/t.json.gz")).unwrap();
    let weighed: Vec<usize> = written.turns.iter().map(|turn| turn.diff_tokens.len()).collect();
    assert_eq!(weighed, [1; 5]);
    let counter = strata_tokens::counting::TokenCounter::default();
    let tokenizer = strata_tokens::models::Models::builtin().resolve("claude-sonnet-4-5").model.tokenizer;
    // The fourth turn changes the file that the first one created.
    let (old, new) = (&source.turns[0].edits["m0.py"], &source.turns[3].edits["m0.py"]);
    let diff = unified_diff(old.as_deref().unwrap(), new.as_deref().unwrap(), 2);
    assert_eq!(written.turns[3].diff_tokens["m0.py"], counter.count(tokenizer, &diff));
    let unweighed: Vec<TraceTurn> =
        written.turns.into_iter().map(|turn| TraceTurn { diff_tokens: BTreeMap::new(), ..turn }).collect();
    assert_eq!(unweighed, source.turns);
}

#[test]
fn a_recorded_conversation_is_played_beside_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let said = |kind: &str, text: &str, more: &str| {
        let text = format!("{text} ").repeat(2_000);
        format!(r#"{{"type":"{kind}","message":{{"role":"{kind}","content":"{text}"{more}}}}}"#)
    };
    let usage = r#","id":"m1","usage":{"input_tokens":10,"cache_read_input_tokens":90}"#;
    let lines = [
        said("user", "why", ""),
        said("assistant", "because", usage),
        said("user", "and", ""),
        said("assistant", "so", ""),
    ];
    fs::create_dir(folder.path().join("deep")).unwrap();
    fs::write(folder.path().join("deep/talk.jsonl"), lines.join("\n")).unwrap();
    fs::write(folder.path().join("silent.jsonl"), "").unwrap();
    let sources = Sources { transcripts: vec![folder.path().to_owned()], ..Sources::default() };
    let material = Material::gather(&sources, |_| ()).unwrap();
    let replay = Replay::play(&material, &ALL, &settings(), |_| ());
    assert!(replay.summary.is_none() && replay.sessions.is_empty());
    let [told] = &replay.conversations[..] else { panic!("{:?}", replay.conversations) };
    assert_eq!((&*told.name, told.turns, &told.problem), ("deep/talk", 2, &None));
    assert!((told.billed.unwrap() - 0.19).abs() < 1e-9);
    assert_eq!(told.columns[&LayoutColumn::Ledger].share, told.columns[&LayoutColumn::Automatic].share);
    let means = replay.conversation_means.unwrap();
    assert_eq!((means.worst_ratio, means.ledger), (1.0, told.columns[&LayoutColumn::Ledger].share));
}
