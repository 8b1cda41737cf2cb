//! Folds iterations that leave the window into the summary: decides what is due and accepts the text. Writes no text itself.
//! Failed folds are offered again at the next interval.

use crate::text::clip_to_weight;

use super::extract::extract;
use super::fold::{Fold, FoldKind};
use super::{Folding, Iteration, Loop, RollingConfig};

/// Maximum iterations per fold, to keep its question small.
const MOST: usize = 20;
/// Maximum iterations waiting for the next interval. Beyond that, each iteration offers a fold, and failed folds are summarized
/// without a model, so that a loop cannot grow forever.
const MOST_WAITING: usize = 50;

/// Why a text was rejected as a summary. The loop is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotFolded {
    /// Another summary is in place by now.
    #[error("the summary has changed since the request")]
    Stale,
    /// There is not text.
    #[error("the summary is empty")]
    Empty,
}

impl Loop {
    /// What to fold now: all waiting iterations, and the whole summary when an interval is complete. Nothing before an iteration
    /// has left the window.
    pub(super) fn due(&mut self, config: &RollingConfig) -> Option<Fold> {
        let interval = config.summarize_every;
        let complete = interval > 0 && self.total > 0 && self.total.is_multiple_of(interval);
        if complete {
            self.folding = Folding::Running;
        }
        let kind = if complete { FoldKind::Renew } else { FoldKind::Incorporate };
        let nothing = match kind {
            FoldKind::Renew => self.waiting.is_empty() && self.summary.is_empty(),
            FoldKind::Incorporate => {
                let paused = self.folding == Folding::Paused && self.waiting.len() <= MOST_WAITING;
                self.waiting.is_empty() || paused
            }
        };
        if nothing {
            return None;
        }
        Some(Fold {
            kind,
            existing: self.summary.clone(),
            edition: self.edition,
            iterations: self.waiting.iter().take(MOST).cloned().collect(),
            recent: match kind {
                FoldKind::Renew => self.iterations.clone(),
                FoldKind::Incorporate => Vec::new(),
            },
            max_tokens: config.max_summary_tokens,
        })
    }

    /// Puts `text` instead of the summary and releases the iterations that are in it now. It is cut to the budget, and
    /// iterations without output are named. `count` counts tokens.
    ///
    /// # Errors
    /// [`NotFolded`], and nothing has changed.
    pub fn fold(&mut self, fold: &Fold, text: &str, count: &dyn Fn(&str) -> usize) -> Result<(), NotFolded> {
        if !self.is_current(fold) {
            return Err(NotFolded::Stale);
        }
        let text = text.trim();
        if text.is_empty() {
            return Err(NotFolded::Empty);
        }
        let most = fold.max_tokens;
        let silence = fold.silence().filter(|silence| !text.contains(silence.as_str()));
        self.summary = match silence {
            None => clip_to_weight(text, most, count),
            Some(silence) => {
                let note = format!("\n\n{silence}");
                let text = clip_to_weight(text, most.saturating_sub(count(&note)), count);
                clip_to_weight(&format!("{}{note}", text.trim_end()), most, count)
            }
        };
        self.edition = self.edition.wrapping_add(1);
        self.waiting.drain(..fold.iterations.len());
        self.folding = Folding::Running;
        Ok(())
    }

    /// Reports that a fold got no text. Its iterations are offered again at the next interval.
    pub fn not_folded(&mut self, fold: &Fold, config: &RollingConfig, count: &dyn Fn(&str) -> usize) {
        if !self.is_current(fold) {
            return;
        }
        if config.summarize_every > 0 {
            self.folding = Folding::Paused;
        }
        if self.waiting.len() > MOST_WAITING {
            let text = extract(fold, count);
            // Where not even that has a word to say, the iterations go on waiting.
            let _ = self.fold(fold, &text, count);
        }
    }

    /// Whether a fold still matches the loop.
    fn is_current(&self, fold: &Fold) -> bool {
        let waiting = self.waiting.get(..fold.iterations.len()).unwrap_or_default();
        let same = |(a, b): (&Iteration, &Iteration)| a.number == b.number;
        fold.edition == self.edition
            && waiting.len() == fold.iterations.len()
            && waiting.iter().zip(&fold.iterations).all(same)
    }
}
