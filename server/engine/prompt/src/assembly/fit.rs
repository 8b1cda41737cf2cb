//! Decides what to omit from a prompt that does not fit. The map and the file list shrink first. Then excerpts are
//! dropped, then whole files, largest first, and finally old exchanges. Plans are made from token counts alone; only
//! laying out a plan shows whether the prompt really fits.

use std::collections::{BTreeMap, HashSet};

use strata_base::key::FileKey;

use crate::tiers::LayoutReuse;

/// Limits on the contents of a prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ContentPlan {
    omitted_files: Vec<FileKey>,
    /// Number of excerpts to include, most important first.
    pub(super) excerpts: usize,
    /// How much of the last prompt's layout may be kept.
    pub(super) reuse: LayoutReuse,
    /// Token limit for all map blocks together.
    pub(super) map_budget: usize,
    /// Token limit for the repository file list.
    pub(super) list_budget: usize,
    /// Token limit for the conversation; `None` for no limit.
    pub(super) history_limit: Option<usize>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct OptionalTokenCounts {
    /// Tokens of each selected file.
    pub(super) files: BTreeMap<FileKey, usize>,
    /// Tokens of each excerpt, most important first.
    pub(super) excerpts: Vec<usize>,
}

impl ContentPlan {
    /// Returns a plan with all files and excerpts, the map and the file list within their budgets, and the whole
    /// conversation.
    pub(super) fn complete(map_budget: usize, list_budget: usize) -> Self {
        let excerpts = usize::MAX;
        Self {
            omitted_files: Vec::new(),
            excerpts,
            reuse: LayoutReuse::Maximal,
            map_budget,
            list_budget,
            history_limit: None,
        }
    }

    /// Returns a plan with the whole conversation but no excerpts, map or file list, and without the selected `files`.
    pub(super) fn minimal(files: impl IntoIterator<Item = FileKey>) -> Self {
        let omitted_files = files.into_iter().collect();
        Self {
            omitted_files,
            excerpts: 0,
            reuse: LayoutReuse::None,
            map_budget: 0,
            list_budget: 0,
            history_limit: None,
        }
    }

    /// Returns the same plan, but keeps nothing of the last prompt's layout.
    pub(super) fn without_layout_reuse(self) -> Self {
        Self { reuse: LayoutReuse::None, ..self }
    }

    /// Returns the same plan, but keeps as much as possible of the last prompt's layout.
    pub(super) fn with_layout_reuse(self) -> Self {
        Self { reuse: LayoutReuse::Maximal, ..self }
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
    pub(super) fn omitted_files(&self) -> &[FileKey] {
        &self.omitted_files
    }

    /// Returns a plan for a prompt that is about `excess` tokens smaller, or `None` if nothing is left to drop.
    /// Headings and separators are not counted, so the prompt can turn out slightly larger.
    pub(super) fn reduce_by(&self, excess: usize, optional_tokens: &OptionalTokenCounts) -> Option<Self> {
        let mut plan = self.clone();
        // Budgets are rarely used up, so subtracting only the excess might change nothing for many rounds.
        let less = |budget: usize| budget.saturating_sub(excess.max(budget / 8));
        if plan.map_budget > 0 {
            plan.map_budget = less(plan.map_budget);
        } else if plan.list_budget > 0 {
            plan.list_budget = less(plan.list_budget);
        } else if plan.excerpts.min(optional_tokens.excerpts.len()) > 0 {
            plan.excerpts = plan.excerpts.min(optional_tokens.excerpts.len()) - 1;
        } else {
            let omitted_files: HashSet<&FileKey> = self.omitted_files.iter().collect();
            let included = optional_tokens.files.iter().filter(|(key, _)| !omitted_files.contains(key));
            let (largest, _) = included.max_by_key(|(key, tokens)| (**tokens, std::cmp::Reverse(*key)))?;
            plan.omitted_files.push(largest.clone());
        }
        Some(plan)
    }
}

/// Returns the plan that drops as little as possible. `minimal_tokens` is the token count of the prompt without
/// optional content. Returns `None` if even `minimal_tokens` exceeds the limit.
pub(super) fn largest_fitting_plan(
    complete: &ContentPlan,
    optional_tokens: &OptionalTokenCounts,
    minimal_tokens: usize,
    limit: usize,
) -> Option<ContentPlan> {
    let mut tokens_left = limit.checked_sub(minimal_tokens)?;
    let mut by_size: Vec<(&FileKey, usize)> =
        optional_tokens.files.iter().map(|(key, tokens)| (key, *tokens)).collect();
    by_size.sort_by_key(|(key, tokens)| (std::cmp::Reverse(*tokens), *key));

    // Drop the largest files until the remaining files fit.
    let mut included_tokens: usize = by_size.iter().map(|(_, tokens)| tokens).sum();
    let mut omitted = Vec::new();
    for (key, tokens) in by_size {
        if included_tokens > tokens_left {
            included_tokens -= tokens;
            omitted.push((key, tokens));
        }
    }
    tokens_left -= included_tokens;
    // Restore dropped files that still fit, so that no file is omitted needlessly.
    omitted.retain(|(_, tokens)| {
        let fits = *tokens <= tokens_left;
        if fits {
            tokens_left -= tokens;
        }
        !fits
    });

    let mut excerpts = 0;
    for tokens in optional_tokens.excerpts.iter().take(complete.excerpts) {
        if *tokens > tokens_left {
            break;
        }
        tokens_left -= tokens;
        excerpts += 1;
    }
    let list_budget = complete.list_budget.min(tokens_left);
    let map_budget = complete.map_budget.min(tokens_left - list_budget);
    let omitted_files = omitted.into_iter().map(|(key, _)| key.clone()).collect();
    Some(ContentPlan {
        omitted_files,
        excerpts,
        reuse: complete.reuse,
        map_budget,
        list_budget,
        history_limit: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn optional_tokens(files: &[(&str, usize)]) -> OptionalTokenCounts {
        let files = files.iter().map(|(key, tokens)| (FileKey::from(*key), *tokens)).collect();
        OptionalTokenCounts { files, excerpts: Vec::new() }
    }

    #[test]
    fn excerpts_are_dropped_before_files_least_important_first() {
        let optional_tokens =
            OptionalTokenCounts { excerpts: vec![20, 30, 5], ..optional_tokens(&[("a", 50)]) };
        let complete = ContentPlan::complete(100, 0);
        let contents_within = |limit| {
            let plan = largest_fitting_plan(&complete, &optional_tokens, 0, limit).unwrap();
            (plan.excerpts, plan.omitted_files().len(), plan.map_budget)
        };
        assert_eq!(
            [contents_within(205), contents_within(104), contents_within(80), contents_within(49)],
            [(3, 0, 100), (2, 0, 4), (1, 0, 10), (1, 1, 29)]
        );
        let reduced = ContentPlan::complete(0, 0).reduce_by(1, &optional_tokens).unwrap();
        assert_eq!((reduced.excerpts, reduced.omitted_files().len()), (2, 0));
    }

    fn omitted_files(files: &[(&str, usize)], tokens_left: usize) -> Vec<String> {
        let plan =
            largest_fitting_plan(&ContentPlan::complete(0, 0), &optional_tokens(files), 0, tokens_left)
                .unwrap();
        plan.omitted_files().iter().map(|key| key.as_str().to_owned()).collect()
    }

    #[test]
    fn the_largest_file_is_omitted_first() {
        assert_eq!(omitted_files(&[("a", 10), ("b", 50), ("c", 20)], 30), ["b"]);
        assert_eq!(omitted_files(&[("a", 10), ("b", 50), ("c", 20)], 80), [""; 0]);
    }

    #[test]
    fn no_file_that_fits_is_omitted() {
        assert_eq!(omitted_files(&[("a", 100), ("b", 60), ("c", 30)], 95), ["a"]);
        assert_eq!(omitted_files(&[("a", 100), ("b", 99), ("c", 98), ("d", 1)], 100), ["a", "b"]);
    }

    #[test]
    fn the_map_and_the_list_use_the_tokens_left_by_files() {
        let complete = ContentPlan::complete(1_000, 300);
        let plan = largest_fitting_plan(&complete, &optional_tokens(&[("a", 500)]), 100, 1_000).unwrap();
        assert_eq!((plan.list_budget, plan.map_budget), (300, 100));
        assert_eq!(super::largest_fitting_plan(&complete, &optional_tokens(&[]), 1_001, 1_000), None);
    }

    #[test]
    fn files_are_omitted_largest_first_then_by_name() {
        let optional_tokens = optional_tokens(&[("a", 5), ("b", 7), ("c", 7), ("d", 0), ("e", 9)]);
        let mut plan = ContentPlan::complete(0, 0);
        while let Some(next) = plan.reduce_by(1, &optional_tokens) {
            plan = next;
        }
        let omitted_files: Vec<&str> = plan.omitted_files().iter().map(FileKey::as_str).collect();
        assert_eq!(omitted_files, ["e", "b", "c", "a", "d"]);
    }

    #[test]
    fn reducing_a_plan_terminates() {
        let optional_tokens = optional_tokens(&[("a", 5), ("b", 7)]);
        let mut plan = ContentPlan::complete(10, 10);
        let mut steps = Vec::new();
        while let Some(next) = plan.reduce_by(6, &optional_tokens) {
            steps.push((next.map_budget, next.list_budget, next.omitted_files.len()));
            plan = next;
        }
        assert_eq!(steps, [(4, 10, 0), (0, 10, 0), (0, 4, 0), (0, 0, 0), (0, 0, 1), (0, 0, 2)]);
    }
}
