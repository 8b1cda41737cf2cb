//! Finds the lines of branches that the user left: Claude Code keeps them in the file, and each line names its
//! parent.

use std::collections::{HashMap, HashSet};

pub(super) struct TranscriptNode<'a> {
    /// Id of the line. Lines without one belong to every branch.
    pub(super) id: Option<&'a str>,
    pub(super) parent: Option<&'a str>,
    /// Whether the line is a message of the conversation.
    pub(super) is_message: bool,
    /// Ids that the line shares with others of the same answer: that of the answer, and those of its calls and
    /// their results.
    pub(super) keys: Vec<&'a str>,
}

/// Returns, for each line, whether it repeats an earlier line or is on a branch that was left.
///
/// A branch was left if it starts at a line of the conversation that another branch continued later. Tool results
/// and parts of answers that run side by side are no branches: they share a key.
pub(super) fn abandoned_lines(nodes: &[Option<TranscriptNode<'_>>]) -> Vec<bool> {
    let node = |at: usize| nodes.get(at).and_then(Option::as_ref);
    let mut ids: HashMap<&str, usize> = HashMap::new();
    let mut left = Vec::new();
    for at in 0..nodes.len() {
        let id = node(at).and_then(|node| node.id);
        left.push(id.is_some_and(|id| *ids.entry(id).or_insert(at) != at));
    }
    // A parent precedes its children, so that following parents ends.
    let parent = |at: usize| ids.get(node(at)?.parent?).copied().filter(|parent| *parent < at);
    let is_first = |at: usize| node(at).is_some_and(|node| node.id.is_none_or(|id| ids.get(id) == Some(&at)));
    let is_message = |at: usize| node(at).is_some_and(|node| node.is_message);
    let Some(last) = (0..nodes.len()).rev().find(|at| is_first(*at) && is_message(*at)) else { return left };
    let mut live: HashSet<usize> = std::iter::successors(Some(last), |at| parent(*at)).collect();
    let keys = |at: usize| node(at).map(|node| node.keys.as_slice()).unwrap_or_default();
    let mut shared: HashSet<&str> = live.iter().flat_map(|at| keys(*at)).copied().collect();
    // Lines with an ancestor that is live.
    let mut descends = HashSet::new();
    for (at, is_left) in left.iter_mut().enumerate() {
        if *is_left || node(at).is_none_or(|node| node.id.is_none()) {
            continue;
        }
        if parent(at).is_some_and(|parent| live.contains(&parent) || descends.contains(&parent)) {
            descends.insert(at);
        }
        if is_message(at) && keys(at).iter().any(|key| shared.contains(key)) {
            live.insert(at);
            shared.extend(keys(at));
        }
        *is_left = is_message(at) && descends.contains(&at) && !live.contains(&at);
    }
    left
}
