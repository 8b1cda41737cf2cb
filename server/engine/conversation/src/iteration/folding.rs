//! Folds iterations that have left the window into the summary: decides when a fold is due, and installs the
//! text. Iterations of a failed fold are offered again at the next interval.

use strata_base::text::clip_to_tokens;

use super::extract::extract_summary;
use super::fold::{FoldKind, FoldRequest};
use super::{AgentLoop, FoldingState, Iteration, RollingConfig};

/// Maximum number of iterations per fold. Limits the size of the request that asks a model to summarize them.
const MAX_FOLD_ITERATIONS: usize = 20;
/// Maximum number of iterations that wait for the next interval. Above it, each new iteration offers a fold,
/// and a failed fold is summarized without a model, so that the memory of a loop stays bounded.
const MAX_WAITING_ITERATIONS: usize = 50;

/// Reason for rejecting a summary. The loop is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FoldError {
    /// The summary was replaced after the fold was created.
    #[error("the summary has changed since the request")]
    Stale,
    /// The new summary contains no text.
    #[error("the summary is empty")]
    Empty,
}

impl AgentLoop {
    /// Returns the fold that is due, if any. It merges up to [`MAX_FOLD_ITERATIONS`] waiting iterations into the
    /// summary, and at the end of an interval rewrites the summary. `None` if there is nothing to merge or rewrite, or
    /// while folding is paused.
    pub(super) fn due_fold(&mut self, config: &RollingConfig) -> Option<FoldRequest> {
        let interval = config.summarize_every;
        let complete = interval > 0 && self.total > 0 && self.total.is_multiple_of(interval);
        if complete {
            self.folding = FoldingState::Running;
        }
        let kind = if complete { FoldKind::Renew } else { FoldKind::Incorporate };
        let nothing = match kind {
            FoldKind::Renew => self.waiting.is_empty() && self.summary.is_empty(),
            FoldKind::Incorporate => {
                let paused =
                    self.folding == FoldingState::Paused && self.waiting.len() <= MAX_WAITING_ITERATIONS;
                self.waiting.is_empty() || paused
            }
        };
        if nothing {
            return None;
        }
        Some(FoldRequest {
            kind,
            existing: self.summary.clone(),
            edition: self.edition,
            iterations: self.waiting.iter().take(MAX_FOLD_ITERATIONS).cloned().collect(),
            recent: match kind {
                FoldKind::Renew => self.iterations.clone(),
                FoldKind::Incorporate => Vec::new(),
            },
            max_tokens: config.max_summary_tokens,
        })
    }

    /// Replaces the summary with `text`, clipped to the budget, and releases the folded iterations. Names
    /// iterations without output. `count` counts tokens.
    ///
    /// # Errors
    /// [`FoldError`] if the fold is outdated or `text` is empty. The loop is unchanged.
    pub fn apply_fold(
        &mut self,
        fold: &FoldRequest,
        text: &str,
        count: &dyn Fn(&str) -> usize,
    ) -> Result<(), FoldError> {
        if !self.is_fold_current(fold) {
            return Err(FoldError::Stale);
        }
        let text = text.trim();
        if text.is_empty() {
            return Err(FoldError::Empty);
        }
        let most = fold.max_tokens;
        let silence = fold.silent_iterations_note().filter(|silence| !text.contains(silence.as_str()));
        self.summary = match silence {
            None => clip_to_tokens(text, most, count),
            Some(silence) => {
                let note = format!("\n\n{silence}");
                let text = clip_to_tokens(text, most.saturating_sub(count(&note)), count);
                clip_to_tokens(&format!("{}{note}", text.trim_end()), most, count)
            }
        };
        self.edition = self.edition.wrapping_add(1);
        self.waiting.drain(..fold.iterations.len());
        self.folding = FoldingState::Running;
        Ok(())
    }

    /// Reports that writing the summary failed. Folding pauses until the next interval, unless
    /// `summarize_every` is 0. If more than `MAX_WAITING_ITERATIONS` iterations wait, those in `fold` are summarized
    /// without a model.
    pub fn record_failed_fold(
        &mut self,
        fold: &FoldRequest,
        config: &RollingConfig,
        count: &dyn Fn(&str) -> usize,
    ) {
        if !self.is_fold_current(fold) {
            return;
        }
        if config.summarize_every > 0 {
            self.folding = FoldingState::Paused;
        }
        if self.waiting.len() > MAX_WAITING_ITERATIONS {
            let text = extract_summary(fold, count);
            // If this fails too, the iterations keep waiting.
            let _ = self.apply_fold(fold, &text, count);
        }
    }

    /// Whether a fold (a request to merge iterations into the summary) is still up to date: the summary has not been
    /// replaced since, and the fold's iterations are still the oldest ones that wait to be merged.
    fn is_fold_current(&self, fold: &FoldRequest) -> bool {
        let waiting = self.waiting.get(..fold.iterations.len()).unwrap_or_default();
        let same = |(a, b): (&Iteration, &Iteration)| a.number == b.number;
        fold.edition == self.edition
            && waiting.len() == fold.iterations.len()
            && waiting.iter().zip(&fold.iterations).all(same)
    }
}
