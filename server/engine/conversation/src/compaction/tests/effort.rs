//! Measures the work of a compaction: the number of calls that count tokens, and the bytes that they count. The
//! work must grow linearly with the conversation, not quadratically.

use std::cell::Cell;

use super::fixture::{call, count, history, model, pinned, pressure, result, user, weigh};
use crate::compaction::{Family, Profile, Run, Scales, Summariser, Topics, commit};
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

/// Returns the number of calls and bytes of one compaction.
fn effort(talk: &History, profile: &Profile, summariser: Summariser) -> (usize, usize) {
    let effort = Effort::default();
    let note = |bytes: usize| {
        effort.calls.set(effort.calls.get() + 1);
        effort.bytes.set(effort.bytes.get() + bytes);
    };
    let message = |message: &Message| {
        let weight = weigh(message);
        note(weight * 4);
        weight
    };
    let text = |text: &str| {
        note(text.len());
        count(text)
    };
    let scales = Scales { message: &message, text: &text };
    let pressure = pressure(talk, Some(60_000));
    let mut run =
        Run::new(talk, profile.clone(), pressure, summariser, ToolPatterns::default(), scales).unwrap();
    while run.question().is_some() {
        run.answer(Ok("a summary of it".to_owned()), scales);
    }
    let draft = run.finish(scales).unwrap();
    commit(talk, draft, profile).unwrap();
    (effort.calls.get(), effort.bytes.get())
}

#[test]
fn twice_the_conversation_is_at_most_about_twice_the_work() {
    let (small, large) = (rounds(150), rounds(300));
    for family in Family::ALL {
        for summariser in [Summariser::Extractive, Summariser::Model { window: 8_000, topics: Topics::Asked }]
        {
            let mut profile = family.profile();
            profile.keep.tokens = profile.keep.tokens.min(4_000);
            let (calls, bytes) = effort(&small, &profile, summariser);
            let (more_calls, more_bytes) = effort(&large, &profile, summariser);
            assert!(
                more_calls * 2 <= calls * 5,
                "{family:?} {summariser:?}: {calls} calls, then {more_calls}"
            );
            // Bisecting the list of inserted lines adds a logarithmic factor.
            assert!(
                more_bytes * 2 <= bytes * 6,
                "{family:?} {summariser:?}: {bytes} bytes, then {more_bytes}"
            );
        }
    }
}
