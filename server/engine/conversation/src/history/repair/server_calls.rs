//! Removes server-side calls unless their results follow in the same turn. If the model also called a client
//! tool, the result is in a later turn, and is removed too. The provider only accepts such a result if nothing
//! but client results precedes it (Anthropic, "Server tools"), but a prompt has context at that position.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::utterance::Utterance;
use crate::history::ContentBlock;
use crate::history::foreign::ServerToolBlock;

/// Index of an utterance in its turn, and of a block in the utterance.
type BlockPosition = (usize, usize);

/// Removes server-side calls and results without a counterpart in the same turn.
pub(super) fn remove_unpaired(turn: &mut [Utterance]) {
    let unpaired = unpaired_blocks(turn);
    if unpaired.is_empty() {
        return;
    }
    for (at, utterance) in turn.iter_mut().enumerate() {
        let mut places = 0..;
        utterance.content.retain(|_| places.next().is_some_and(|block| !unpaired.contains(&(at, block))));
    }
}

fn unpaired_blocks(turn: &[Utterance]) -> HashSet<BlockPosition> {
    let server_blocks = turn.iter().enumerate().flat_map(|(at, utterance)| {
        let blocks = utterance.content.iter().enumerate();
        blocks.filter_map(move |(block, content)| match content {
            ContentBlock::Foreign(foreign) => Some(((at, block), foreign.server_tool_block()?)),
            _ => None,
        })
    });
    // Position of each call; `None` once its result is found.
    let mut calls: HashMap<(&str, &str), Option<BlockPosition>> = HashMap::new();
    let mut unpaired = HashSet::new();
    for (place, server_block) in server_blocks {
        let is_paired = match server_block {
            ServerToolBlock::Call(kind, id) => match calls.entry((kind, id)) {
                Entry::Vacant(entry) => {
                    entry.insert(Some(place));
                    true
                }
                Entry::Occupied(_) => false,
            },
            ServerToolBlock::Result(kind, id) => calls.get_mut(&(kind, id)).and_then(Option::take).is_some(),
        };
        if !is_paired {
            unpaired.insert(place);
        }
    }
    unpaired.extend(calls.into_values().flatten());
    unpaired
}
