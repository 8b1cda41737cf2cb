//! Removes server-side calls unless their results follow in the same turn. If the model also called a client
//! tool, the result is in a later turn, and is removed too. The provider only accepts such a result if nothing
//! but client results precedes it (Anthropic, "Server tools"), but a prompt has context at that position.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::utterance::Utterance;
use crate::history::ContentBlock;
use crate::history::foreign::Half;

/// Index of an utterance in its turn, and of a block in the utterance.
type BlockPosition = (usize, usize);

/// Removes server-side calls and results without a counterpart in the same turn.
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
    // Position of each call; `None` once its result is found.
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
