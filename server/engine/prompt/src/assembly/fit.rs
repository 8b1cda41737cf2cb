//! Decides what to omit from a prompt that does not fit. The map and the file list shrink first. Then excerpts are
//! dropped, then whole files, largest first, and finally old exchanges. Plans are made from token counts alone; only
//! laying out a plan shows whether the prompt really fits.

use std::collections::{BTreeMap, HashSet};

use strata_base::key::FileKey;

use crate::tiers::Cut;

/// Limits on the contents of a prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Plan {
    shed: Vec<FileKey>,
    /// Number of excerpts to include, most important first.
    pub(super) excerpts: usize,
    /// How much of the last prompt's layout may be kept.
    pub(super) cut: Cut,
    /// Token limit for all map blocks together.
    pub(super) map_budget: usize,
    /// Token limit for the repository file list.
    pub(super) list_budget: usize,
    /// Token limit for the conversation; `None` for no limit.
    pub(super) history_limit: Option<usize>,
}

/// Token counts of all optional content.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct OptionalWeights {
    /// Tokens of each selected file.
    pub(super) files: BTreeMap<FileKey, usize>,
    /// Tokens of each excerpt, most important first.
    pub(super) excerpts: Vec<usize>,
}

impl Plan {
    /// Returns a plan with all files and excerpts, the map and the file list within their budgets, and the whole
    /// conversation.
    pub(super) fn everything(map_budget: usize, list_budget: usize) -> Self {
        let excerpts = usize::MAX;
        Self { shed: Vec::new(), excerpts, cut: Cut::Deepest, map_budget, list_budget, history_limit: None }
    }

    /// Returns a plan with the whole conversation but no excerpts, map or file list, and without the selected `files`.
    pub(super) fn nothing(files: impl IntoIterator<Item = FileKey>) -> Self {
        let shed = files.into_iter().collect();
        Self { shed, excerpts: 0, cut: Cut::Fresh, map_budget: 0, list_budget: 0, history_limit: None }
    }

    /// Returns the same plan, but keeps nothing of the last prompt's layout.
    pub(super) fn laid_afresh(self) -> Self {
        Self { cut: Cut::Fresh, ..self }
    }

    /// Returns the same plan, but keeps as much as possible of the last prompt's layout.
    pub(super) fn kept(self) -> Self {
        Self { cut: Cut::Deepest, ..self }
    }

    /// Returns the same plan, but takes `tokens` from the budget of the map and, if that is too small, from the budget
    /// of the file list.
    pub(super) fn with_headroom(self, tokens: usize) -> Self {
        let map_budget = self.map_budget.saturating_sub(tokens);
        let rest = tokens - (self.map_budget - map_budget);
        Self { map_budget, list_budget: self.list_budget.saturating_sub(rest), ..self }
    }

    /// Returns the same plan, but limits the conversation to `tokens`. The newest exchange is always kept.
    pub(super) fn with_history_limit(self, tokens: usize) -> Self {
        Self { history_limit: Some(tokens), ..self }
    }

    /// Returns the selected files to omit, largest first.
    pub(super) fn shed(&self) -> &[FileKey] {
        &self.shed
    }

    /// Returns a plan for a prompt that is about `excess` tokens smaller, or `None` if nothing is left to drop.
    /// Headings and separators are not counted, so the prompt can turn out slightly larger.
    pub(super) fn tighter(&self, excess: usize, weights: &OptionalWeights) -> Option<Self> {
        let mut plan = self.clone();
        // Budgets are rarely used up, so subtracting only the excess might change nothing for many rounds.
        let less = |budget: usize| budget.saturating_sub(excess.max(budget / 8));
        if plan.map_budget > 0 {
            plan.map_budget = less(plan.map_budget);
        } else if plan.list_budget > 0 {
            plan.list_budget = less(plan.list_budget);
        } else if plan.excerpts.min(weights.excerpts.len()) > 0 {
            plan.excerpts = plan.excerpts.min(weights.excerpts.len()) - 1;
        } else {
            let shed: HashSet<&FileKey> = self.shed.iter().collect();
            let kept = weights.files.iter().filter(|(key, _)| !shed.contains(key));
            let (largest, _) = kept.max_by_key(|(key, tokens)| (**tokens, std::cmp::Reverse(*key)))?;
            plan.shed.push(largest.clone());
        }
        Some(plan)
    }
}

/// Returns the plan that drops as little as possible. `bare` is the token count of the prompt without optional content.
/// Returns `None` if even `bare` exceeds the limit.
pub(super) fn plan(whole: &Plan, weights: &OptionalWeights, bare: usize, limit: usize) -> Option<Plan> {
    let mut left = limit.checked_sub(bare)?;
    let mut by_size: Vec<(&FileKey, usize)> =
        weights.files.iter().map(|(key, tokens)| (key, *tokens)).collect();
    by_size.sort_by_key(|(key, tokens)| (std::cmp::Reverse(*tokens), *key));

    // Drop the largest files until the remaining files fit.
    let mut sum: usize = by_size.iter().map(|(_, tokens)| tokens).sum();
    let mut shed = Vec::new();
    for (key, tokens) in by_size {
        if sum > left {
            sum -= tokens;
            shed.push((key, tokens));
        }
    }
    left -= sum;
    // Restore dropped files that still fit, so that no file is omitted needlessly.
    shed.retain(|(_, tokens)| {
        let fits = *tokens <= left;
        if fits {
            left -= tokens;
        }
        !fits
    });

    let mut excerpts = 0;
    for tokens in weights.excerpts.iter().take(whole.excerpts) {
        if *tokens > left {
            break;
        }
        left -= tokens;
        excerpts += 1;
    }
    let list_budget = whole.list_budget.min(left);
    let map_budget = whole.map_budget.min(left - list_budget);
    let shed = shed.into_iter().map(|(key, _)| key.clone()).collect();
    Some(Plan { shed, excerpts, cut: whole.cut, map_budget, list_budget, history_limit: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(files: &[(&str, usize)]) -> OptionalWeights {
        let files = files.iter().map(|(key, tokens)| (FileKey::from(*key), *tokens)).collect();
        OptionalWeights { files, excerpts: Vec::new() }
    }

    #[test]
    fn excerpts_go_before_files_and_the_last_of_them_first() {
        let weights = OptionalWeights { excerpts: vec![20, 30, 5], ..weights(&[("a", 50)]) };
        let whole = Plan::everything(100, 0);
        let kept = |limit| {
            let plan = plan(&whole, &weights, 0, limit).unwrap();
            (plan.excerpts, plan.shed().len(), plan.map_budget)
        };
        assert_eq!(
            [kept(205), kept(104), kept(80), kept(49)],
            [(3, 0, 100), (2, 0, 4), (1, 0, 10), (1, 1, 29)]
        );
        let tighter = Plan::everything(0, 0).tighter(1, &weights).unwrap();
        assert_eq!((tighter.excerpts, tighter.shed().len()), (2, 0));
    }

    fn shed(files: &[(&str, usize)], left: usize) -> Vec<String> {
        let plan = plan(&Plan::everything(0, 0), &weights(files), 0, left).unwrap();
        plan.shed().iter().map(|key| key.as_str().to_owned()).collect()
    }

    #[test]
    fn the_largest_file_goes_first() {
        assert_eq!(shed(&[("a", 10), ("b", 50), ("c", 20)], 30), ["b"]);
        assert_eq!(shed(&[("a", 10), ("b", 50), ("c", 20)], 80), [""; 0]);
    }

    #[test]
    fn no_file_is_shed_that_would_still_have_fitted() {
        assert_eq!(shed(&[("a", 100), ("b", 60), ("c", 30)], 95), ["a"]);
        assert_eq!(shed(&[("a", 100), ("b", 99), ("c", 98), ("d", 1)], 100), ["a", "b"]);
    }

    #[test]
    fn the_map_and_the_list_take_what_files_leave() {
        let whole = Plan::everything(1_000, 300);
        let plan = plan(&whole, &weights(&[("a", 500)]), 100, 1_000).unwrap();
        assert_eq!((plan.list_budget, plan.map_budget), (300, 100));
        assert_eq!(super::plan(&whole, &weights(&[]), 1_001, 1_000), None);
    }

    #[test]
    fn files_go_the_largest_first_and_of_two_the_first_by_name() {
        let weights = weights(&[("a", 5), ("b", 7), ("c", 7), ("d", 0), ("e", 9)]);
        let mut plan = Plan::everything(0, 0);
        while let Some(next) = plan.tighter(1, &weights) {
            plan = next;
        }
        let shed: Vec<&str> = plan.shed().iter().map(FileKey::as_str).collect();
        assert_eq!(shed, ["e", "b", "c", "a", "d"]);
    }

    #[test]
    fn tightening_ends() {
        let weights = weights(&[("a", 5), ("b", 7)]);
        let mut plan = Plan::everything(10, 10);
        let mut steps = Vec::new();
        while let Some(next) = plan.tighter(6, &weights) {
            steps.push((next.map_budget, next.list_budget, next.shed.len()));
            plan = next;
        }
        assert_eq!(steps, [(4, 10, 0), (0, 10, 0), (0, 4, 0), (0, 0, 0), (0, 0, 1), (0, 0, 2)]);
    }
}
