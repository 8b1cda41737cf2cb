//! The work and the memory that parsers may take, for one text and for all texts of an index run. Counted, not timed, so
//! that a text has the same outline on every machine and under every load.

use std::sync::atomic::{AtomicU64, Ordering};

/// Work that a progress report of a parser counts as; it makes one every hundred steps. The unit of work is a character
/// read by a lexer, which takes three to ten nanoseconds.
pub(super) const WORK_PER_REPORT: u64 = 4_096;

/// Work allowed for any text: 4,000 reports.
const BASE_WORK_PER_TEXT: u64 = 4_000 * WORK_PER_REPORT;
/// Additional work allowed per byte: 64 characters, and 256 reports per KiB. Real code takes 6 to 30 reports per KiB, and
/// reads each byte 2 to 20 times. Recovering from errors takes more: headers of C++ that count as C take 60 on average,
/// and small ones up to 375. Random punctuation in an ambiguous language takes thousands and may never finish.
const ALLOWED_WORK_PER_BYTE: u64 = 64 + 256 * WORK_PER_REPORT / 1_024;
/// Work allowed for the largest text: half a minute of one processor. Enough for 30 MB of real code.
const MAX_WORK_PER_TEXT: u64 = 1 << 32;

/// Memory allowed for parsing any text, in bytes.
const BASE_MEMORY_PER_TEXT: u64 = 64 << 20;
/// Additional memory allowed per byte of the text. Real code takes 10 to 25 bytes per byte; brackets that nothing closes
/// take up to 500, since the parser keeps an entry of 200 bytes for each, and more where they are ambiguous.
const PARSE_MEMORY_PER_BYTE: u64 = 128;
/// Memory allowed for the largest text, in bytes.
const MAX_PARSE_MEMORY_BYTES: u64 = 512 << 20;

/// Work that a text may take in an index run at the expense of no other text.
const GUARANTEED_WORK_PER_TEXT: u64 = 25 * WORK_PER_REPORT;
/// The same, per byte of the text. Enough for real code without errors.
const GUARANTEED_WORK_PER_BYTE: u64 = 192;

/// Work that the texts of an index run may take together beyond their own: three seconds of one processor.
const BASE_SHARED_WORK_LIMIT: u64 = 1 << 30;
/// The same, per byte of all texts. Enough for repositories that consist of headers of C++.
const SHARED_WORK_PER_BYTE: u64 = 128;

/// The work that the parsers of an index run may take together, shared by its threads. A text may always take the work
/// of real code. Beyond that, all texts draw on the same amount, so that a few slow files do not matter and thousands
/// are given up.
#[derive(Debug)]
pub struct WorkBudget {
    remaining: AtomicU64,
}

/// The work that one text may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WorkLimit {
    pub(super) work: u64,
    /// In bytes.
    pub(super) memory: u64,
    /// Whether the limit is lower than that of the text alone.
    pub(super) is_shared: bool,
}

impl WorkLimit {
    /// For a text that is known to take little.
    pub(super) const NONE: Self = Self { work: u64::MAX, memory: u64::MAX, is_shared: false };

    /// Returns the limit for a text of this many bytes.
    pub(super) fn for_text(bytes: usize) -> Self {
        Self {
            work: linear_limit(BASE_WORK_PER_TEXT, ALLOWED_WORK_PER_BYTE, bytes).min(MAX_WORK_PER_TEXT),
            memory: linear_limit(BASE_MEMORY_PER_TEXT, PARSE_MEMORY_PER_BYTE, bytes)
                .min(MAX_PARSE_MEMORY_BYTES),
            is_shared: false,
        }
    }

    /// Returns the limit for a part of a text of this many bytes, which is parsed again on its own.
    pub(super) fn for_part(bytes: usize) -> Self {
        Self { work: guaranteed_work(bytes), ..Self::for_text(bytes) }
    }
}

impl WorkBudget {
    /// Creates the budget of a run over this many bytes of text.
    pub fn for_bytes(bytes: u64) -> Self {
        Self::with_shared_work(
            SHARED_WORK_PER_BYTE.saturating_mul(bytes).saturating_add(BASE_SHARED_WORK_LIMIT),
        )
    }

    /// Creates a budget with this much work to share. Tests use a small amount.
    pub fn with_shared_work(shared: u64) -> Self {
        Self { remaining: AtomicU64::new(shared) }
    }

    /// Returns the limit for a text of this many bytes.
    pub(super) fn limit(&self, bytes: usize) -> WorkLimit {
        let text_limit = WorkLimit::for_text(bytes);
        let work = guaranteed_work(bytes).saturating_add(self.remaining.load(Ordering::Relaxed));
        if work < text_limit.work { WorkLimit { work, is_shared: true, ..text_limit } } else { text_limit }
    }

    /// Subtracts the work that a text of this many bytes took.
    pub(super) fn spend(&self, bytes: usize, work: u64) {
        let shared_work = work.saturating_sub(guaranteed_work(bytes));
        let _ = self.remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |remaining| {
            Some(remaining.saturating_sub(shared_work))
        });
    }
}

fn guaranteed_work(bytes: usize) -> u64 {
    linear_limit(GUARANTEED_WORK_PER_TEXT, GUARANTEED_WORK_PER_BYTE, bytes)
}

fn linear_limit(per_text: u64, per_byte: u64, bytes: usize) -> u64 {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    per_byte.saturating_mul(bytes).saturating_add(per_text)
}

#[cfg(test)]
mod tests {
    use strata_base::cancel::Cancel;
    use strata_grammars::LanguageId;

    use super::super::{Outline, Unparsed, WorkBudget};

    #[test]
    fn slow_texts_share_a_budget_and_real_code_is_always_parsed() {
        let read = |budget: &WorkBudget, language: LanguageId, text: &str| {
            Outline::read_within(budget, language, text, &Cancel::new()).unwrap().unparsed
        };
        let c = LanguageId::by_name("c").unwrap();
        let slow = "let => ".repeat(4_000);
        let budget = WorkBudget::with_shared_work(1 << 26);
        let reasons: Vec<_> = (0..8).map(|_| read(&budget, c, &slow)).collect();
        assert_eq!(
            reasons.first(),
            Some(&Some(Unparsed::TooMuchWork)),
            "the first may use all of its own limit"
        );
        assert_eq!(reasons.last(), Some(&Some(Unparsed::NoWorkLeft)));
        for language in LanguageId::all() {
            assert_eq!(
                read(&WorkBudget::with_shared_work(0), language, language.fixture),
                None,
                "{language}"
            );
        }
    }
}
