//! Server-side calls stay if their results follow in the same turn, and are removed otherwise. A result that comes a turn later,
//! because the model also called a client tool, does not count: the provider accepts it only with nothing but the client's
//! results in between (Anthropic, "Server tools"), and prompts have context there.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::utterance::Utterance;
use crate::conversation::history::ContentBlock;
use crate::conversation::history::foreign::Half;

/// An utterance, and a block in it.
type BlockPosition = (usize, usize);

/// Leaves the calls and results of one turn out that do not find each other.
pub(super) fn pair(turn: &mut [Utterance]) {
    let alone = alone(turn);
    if alone.is_empty() {
        return;
    }
    for (at, utterance) in turn.iter_mut().enumerate() {
        let mut places = 0..;
        utterance.content.retain(|_| places.next().is_some_and(|block| !alone.contains(&(at, block))));
    }
}

fn alone(turn: &[Utterance]) -> HashSet<BlockPosition> {
    let halves = turn.iter().enumerate().flat_map(|(at, utterance)| {
        let blocks = utterance.content.iter().enumerate();
        blocks.filter_map(move |(block, content)| match content {
            ContentBlock::Foreign(foreign) => Some(((at, block), foreign.half()?)),
            _ => None,
        })
    });
    // By the call, its place until its result is met.
    let mut calls: HashMap<(&str, &str), Option<BlockPosition>> = HashMap::new();
    let mut alone = HashSet::new();
    for (place, half) in halves {
        let stays = match half {
            Half::Call(kind, id) => match calls.entry((kind, id)) {
                Entry::Vacant(entry) => {
                    entry.insert(Some(place));
                    true
                }
                Entry::Occupied(_) => false,
            },
            Half::Result(kind, id) => calls.get_mut(&(kind, id)).and_then(Option::take).is_some(),
        };
        if !stays {
            alone.insert(place);
        }
    }
    alone.extend(calls.into_values().flatten());
    alone
}
