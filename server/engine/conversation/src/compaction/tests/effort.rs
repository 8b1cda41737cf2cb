//! Measures the work of a compaction: the number of calls that count tokens, and the bytes that they count. The
//! work must grow linearly with the conversation, not quadratically.

use std::cell::Cell;

use super::fixture::{call, count, count_message, history, model, pinned, pressure, result, user};
use crate::compaction::{
    BuiltinProfile, CompactionRun, Profile, Summariser, TokenCounters, TopicDetection, commit,
};
use crate::conversation_facts::ToolPatterns;
use crate::history::{History, Message};

/// Builds rounds of an agent that uses the same id for every call, as some servers do.
fn rounds(number: usize) -> History {
    let round = |n: usize| {
        let request = user(&format!("do step {n} of it"));
        [
            if n.is_multiple_of(3) { pinned(request) } else { request },
            call("call_0", "edit", &format!("src/f{n}.rs")),
            result("call_0", &"what the file says ".repeat(20)),
            model("It is done, and we decided to go on."),
        ]
    };
    history((0..number).flat_map(round))
}

#[derive(Default)]
struct Effort {
    calls: Cell<usize>,
    bytes: Cell<usize>,
}

fn effort(conversation: &History, profile: &Profile, summariser: Summariser) -> (usize, usize) {
    let effort = Effort::default();
    let note = |bytes: usize| {
        effort.calls.set(effort.calls.get() + 1);
        effort.bytes.set(effort.bytes.get() + bytes);
    };
    let message = |message: &Message| {
        let tokens = count_message(message);
        note(tokens * 4);
        tokens
    };
    let text = |text: &str| {
        note(text.len());
        count(text)
    };
    let counters = TokenCounters { message: &message, text: &text };
    let pressure = pressure(conversation, Some(60_000));
    let mut run = CompactionRun::new(
        conversation,
        profile.clone(),
        pressure,
        summariser,
        ToolPatterns::default(),
        counters,
    )
    .unwrap();
    while run.question().is_some() {
        run.handle_answer(Ok("a summary of it".to_owned()), counters);
    }
    let draft = run.finish(counters).unwrap();
    commit(conversation, draft, profile).unwrap();
    (effort.calls.get(), effort.bytes.get())
}

#[test]
fn the_work_grows_linearly_with_the_conversation() {
    let (small, large) = (rounds(150), rounds(300));
    for builtin in BuiltinProfile::ALL {
        for summariser in
            [Summariser::Extractive, Summariser::Model { window: 8_000, topics: TopicDetection::Asked }]
        {
            let mut profile = builtin.profile();
            profile.keep.tokens = profile.keep.tokens.min(4_000);
            let (calls, bytes) = effort(&small, &profile, summariser);
            let (more_calls, more_bytes) = effort(&large, &profile, summariser);
            assert!(
                more_calls * 2 <= calls * 5,
                "{builtin:?} {summariser:?}: {calls} calls, then {more_calls}"
            );
            // Bisecting the list of inserted lines adds a logarithmic factor.
            assert!(
                more_bytes * 2 <= bytes * 6,
                "{builtin:?} {summariser:?}: {bytes} bytes, then {more_bytes}"
            );
        }
    }
}
