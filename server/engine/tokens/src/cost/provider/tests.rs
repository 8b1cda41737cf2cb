//! The provider bills as documented, and exactly like a slow implementation of the same rules.

use proptest::prelude::*;

use super::*;
use crate::models::{CacheLifetime, LongContext};

/// Prices of a provider with explicit markers, such as Anthropic.
fn explicit() -> Prices {
    Prices {
        read: 0.1,
        write: 1.25,
        seconds: 300,
        extended: None,
        min_tokens: 1_024,
        kind: CacheKind::Explicit { max_breakpoints: 4, max_matched: 0, lookback: 20 },
        long_context: None,
        list: None,
    }
}

/// Prices of a provider with automatic caching, such as OpenAI.
fn automatic() -> Prices {
    Prices { write: 1.0, kind: CacheKind::Automatic { granularity: 128 }, ..explicit() }
}

/// A span named `name`, with a breakpoint if the name ends in `|`.
fn span(name: &str, tokens: usize) -> RequestSpan {
    let mark = if name.ends_with('|') {
        CacheMarker::Breakpoint(BreakpointLifetime::Short)
    } else {
        CacheMarker::None
    };
    RequestSpan {
        hash: ContentHash::from_text(name.trim_end_matches('|')),
        tokens,
        mark,
        continues_run: false,
    }
}

fn request(spans: &[(&str, usize)]) -> Vec<RequestSpan> {
    spans.iter().map(|(name, tokens)| span(name, *tokens)).collect()
}

fn bill(provider: &mut SimulatedProvider, now_ms: u64, spans: &[(&str, usize)]) -> Charge {
    provider.charge(&request(spans), now_ms).unwrap()
}

#[track_caller]
fn assert_cost(charge: Charge, expected: f64) {
    assert!((charge.cost - expected).abs() < 1e-6, "{charge:?} should cost {expected}");
}

#[test]
fn a_marked_prefix_is_written_once_and_read_afterwards() {
    let mut provider = SimulatedProvider::new(explicit());
    let first = bill(&mut provider, 0, &[("a", 1000), ("b|", 1000), ("c", 500)]);
    assert_eq!((first.read, first.written, first.plain), (0, 2000, 500));
    assert_cost(first, 2000.0 * 1.25 + 500.0);
    let second = bill(&mut provider, 1, &[("a", 1000), ("b|", 1000), ("d", 500)]);
    assert_eq!((second.read, second.written, second.plain), (2000, 0, 500));
    assert_cost(second, 200.0 + 500.0);
    let changed_in_front = bill(&mut provider, 2, &[("A", 1000), ("b|", 1000)]);
    assert_cost(changed_in_front, 2500.0);
}

#[test]
fn a_prefix_below_the_minimum_is_not_cached() {
    let mut provider = SimulatedProvider::new(explicit());
    for now_ms in 0..2 {
        assert_cost(bill(&mut provider, now_ms, &[("z|", 500), ("y", 100)]), 600.0);
    }
}

#[test]
fn a_marker_looks_back_over_twenty_spans_including_its_own() {
    for (distance, found) in [(19, true), (20, false)] {
        let mut provider = SimulatedProvider::new(explicit());
        bill(&mut provider, 0, &[("r|", 2000)]);
        let names: Vec<String> = (1..distance).map(|n| n.to_string()).chain(["e|".to_owned()]).collect();
        let spans = [span("r", 2000)].into_iter().chain(names.iter().map(|name| span(name, 10)));
        let charge = provider.charge(&spans.collect::<Vec<_>>(), 1).unwrap();
        assert_eq!(charge.read, if found { 2000 } else { 0 }, "{distance} spans after the entry");
    }
}

#[test]
fn a_run_of_tool_calls_is_one_position() {
    for (calls, found) in [(18, true), (19, true), (60, true)] {
        let mut provider = SimulatedProvider::new(explicit());
        bill(&mut provider, 0, &[("r|", 2000)]);
        let run = (0..calls).map(|n| RequestSpan { continues_run: n > 0, ..span(&n.to_string(), 10) });
        let texts = (100..117).map(|n| span(&n.to_string(), 10));
        // The run, 17 texts, and the marker's own span.
        let spans = [span("r", 2000)].into_iter().chain(run).chain(texts).chain([span("e|", 10)]);
        let charge = provider.charge(&spans.collect::<Vec<_>>(), 1).unwrap();
        assert_eq!(charge.read > 0, found, "{calls} calls");
    }
}

#[test]
fn without_a_lookback_only_a_marker_at_the_same_position_reads_an_entry() {
    let kind = CacheKind::Explicit { max_breakpoints: 4, max_matched: 0, lookback: 1 };
    let mut provider = SimulatedProvider::new(Prices { kind, ..explicit() });
    bill(&mut provider, 0, &[("a", 2000), ("b|", 2000)]);
    assert_eq!(bill(&mut provider, 1, &[("a", 2000), ("b", 2000), ("c|", 10)]).read, 0);
    assert_eq!(bill(&mut provider, 2, &[("a", 2000), ("b|", 2000), ("d|", 10)]).read, 4000);
    let mut spans = request(&[("a", 2000), ("b", 2000), ("e|", 10)]);
    spans[1].mark = CacheMarker::Lookup;
    let charge = provider.charge(&spans, 3).unwrap();
    assert_eq!((charge.read, charge.written), (4000, 10), "a lookup also finds the entry");
    spans[2].mark = CacheMarker::None;
    let charge = provider.charge(&spans, 4).unwrap();
    assert_eq!((charge.read, charge.written, charge.plain), (4000, 0, 10));
}

#[test]
fn a_marker_inside_the_read_prefix_writes_no_entry() {
    let mut provider = SimulatedProvider::new(explicit());
    bill(&mut provider, 0, &[("a", 2000), ("b|", 2000)]);
    assert_eq!(bill(&mut provider, 1, &[("a|", 2000), ("b|", 2000)]).read, 4000);
    assert_eq!(bill(&mut provider, 2, &[("a|", 2000), ("n", 10)]).read, 0);
}

#[test]
fn a_marker_inside_the_read_prefix_refreshes_its_entry() {
    let mut provider = SimulatedProvider::new(explicit());
    bill(&mut provider, 0, &[("a|", 2000), ("b|", 2000)]);
    bill(&mut provider, 200_000, &[("a|", 2000), ("b|", 2000)]);
    assert_eq!(bill(&mut provider, 400_000, &[("a|", 2000), ("n", 10)]).read, 2000);
}

#[test]
fn an_entry_expires_if_it_is_unused_for_its_lifetime() {
    let prompt = [("a", 2000), ("b|", 2000)];
    let mut provider = SimulatedProvider::new(explicit());
    bill(&mut provider, 0, &prompt);
    assert_eq!(bill(&mut provider, 300_000, &prompt).read, 4000, "alive until the last moment");
    assert_eq!(bill(&mut provider, 600_000, &prompt).read, 4000, "the previous read extended its lifetime");
    assert_eq!(bill(&mut provider, 900_001, &prompt).read, 0);
    provider.clear_cache();
    assert_eq!(bill(&mut provider, 900_002, &prompt).read, 0);
}

#[test]
fn a_clock_that_goes_back_expires_nothing() {
    let mut provider = SimulatedProvider::new(explicit());
    bill(&mut provider, u64::MAX, &[("a|", 2000)]);
    assert_eq!(bill(&mut provider, 0, &[("a|", 2000)]).read, 2000);
}

#[test]
fn a_request_with_too_many_markers_is_rejected_and_changes_nothing() {
    let mut provider = SimulatedProvider::new(explicit());
    let prompt = [("a|", 2000), ("b|", 1), ("c|", 1), ("d|", 1), ("e|", 1)];
    let refused = provider.charge(&request(&prompt), 0);
    assert_eq!(refused, None);
    assert_eq!(bill(&mut provider, 1, &prompt[..1]).read, 0);
    assert!(
        SimulatedProvider::new(automatic()).charge(&request(&prompt), 0).is_some(),
        "markers are ignored"
    );
}

#[test]
fn an_automatic_cache_reads_the_longest_known_prefix_in_steps() {
    let mut provider = SimulatedProvider::new(automatic());
    bill(&mut provider, 0, &[("a", 2000), ("b", 100)]);
    let charge = bill(&mut provider, 1, &[("a", 2000), ("c", 100)]);
    assert_eq!((charge.read, charge.written, charge.plain), (1920, 0, 180));
    assert_cost(charge, 192.0 + 180.0);
    assert_eq!(bill(&mut provider, 2, &[("x", 1000)]).read, 0);
    assert_eq!(bill(&mut provider, 3, &[("x", 1000), ("y", 1000)]).read, 0, "1000 is below the minimum");
}

#[test]
fn an_automatic_cache_may_charge_for_writes() {
    let mut provider = SimulatedProvider::new(Prices { write: 1.25, ..automatic() });
    assert_cost(bill(&mut provider, 0, &[("a", 2000)]), 2500.0);
    assert_cost(bill(&mut provider, 1, &[("a", 2000), ("b", 100)]), 192.0 + 180.0 * 1.25);
    assert_cost(bill(&mut provider, 2, &[("c", 1000)]), 1000.0);
}

#[test]
fn without_a_cache_all_input_is_plain() {
    let mut provider = SimulatedProvider::new(Prices::uncached());
    for now_ms in 0..2 {
        let charge = bill(&mut provider, now_ms, &[("a|", 2000), ("b|", 2000)]);
        assert_eq!((charge.plain, charge.cost), (4000, 4000.0));
    }
}

#[test]
fn all_parts_of_a_long_prompt_cost_more() {
    let long_context = Some(LongContext { above: 3_000, input: 2.0, output: 1.0 });
    let mut provider = SimulatedProvider::new(Prices { long_context, ..explicit() });
    assert_cost(bill(&mut provider, 0, &[("a|", 2000), ("b", 1000)]), 3500.0);
    assert_cost(bill(&mut provider, 1, &[("a|", 2000), ("b", 1001)]), 2.0 * 1201.0);
}

#[test]
fn a_long_session_drops_expired_entries() {
    let mut provider = SimulatedProvider::new(automatic());
    for turn in 0..20_000_u64 {
        let name = turn.to_string();
        bill(&mut provider, turn * 1_000, &[(name.as_str(), 2000)]);
    }
    assert!(provider.entries.len() <= MIN_SWEPT_ENTRIES, "{} entries", provider.entries.len());
}

/// A slow implementation of the same rules, which compares whole prefixes.
struct Naive {
    prices: Prices,
    /// Each prefix with its lifetime in seconds and the time of its last use.
    entries: Vec<(Vec<ContentHash>, u32, u64)>,
}

impl Naive {
    fn is_cached(&self, prefix: &[ContentHash], now_ms: u64) -> bool {
        self.seconds(prefix, now_ms).is_some()
    }

    /// Returns the lifetime of a live entry.
    fn seconds(&self, prefix: &[ContentHash], now_ms: u64) -> Option<u32> {
        let entry = self.entries.iter().find(|(prefix_hashes, seconds, used)| {
            prefix_hashes == prefix && now_ms - used <= u64::from(*seconds) * 1_000
        });
        entry.map(|(_, seconds, _)| *seconds)
    }

    fn store(&mut self, prefix: &[ContentHash], seconds: u32, now_ms: u64) {
        let seconds = self.seconds(prefix, now_ms).unwrap_or(seconds);
        self.entries.retain(|(prefix_hashes, ..)| prefix_hashes != prefix);
        self.entries.push((prefix.to_vec(), seconds, now_ms));
    }

    /// Returns the tokens read, written, and written for the extended lifetime.
    fn charge(&mut self, spans: &[RequestSpan], now_ms: u64) -> (usize, usize, usize) {
        let hashes: Vec<ContentHash> = spans.iter().map(|span| span.hash).collect();
        let tokens = |end: usize| spans[..end].iter().map(|span| span.tokens).sum::<usize>();
        let ends = 1..=spans.len();
        let readable = |end: &usize| self.is_cached(&hashes[..*end], now_ms);
        let minimum = self.prices.min_tokens;
        match self.prices.kind {
            CacheKind::None => (0, 0, 0),
            CacheKind::Automatic { granularity } => {
                let prefix_hashes = ends.clone().filter(readable).map(tokens).max().unwrap_or(0);
                let read = prefix_hashes / granularity * granularity;
                ends.for_each(|end| self.store(&hashes[..end], self.prices.seconds, now_ms));
                (if read < minimum { 0 } else { read }, 0, 0)
            }
            CacheKind::Explicit { max_breakpoints, lookback, .. } => {
                let extended = |end: &usize| {
                    spans[end - 1].mark == CacheMarker::Breakpoint(BreakpointLifetime::Extended)
                };
                let marked =
                    |end: &usize| spans[end - 1].mark != CacheMarker::None && tokens(*end) >= minimum;
                let markers: Vec<usize> = ends.clone().filter(marked).collect();
                let positions = |end: usize| spans[..end].iter().filter(|span| !span.continues_run).count();
                let finds = |marker: usize, end: usize| {
                    let back = if lookback == 1 { marker - end } else { positions(marker) - positions(end) };
                    back < lookback
                };
                let is_in_reach =
                    |end: &usize| markers.iter().any(|marker| end <= marker && finds(*marker, *end));
                let entry = ends.filter(is_in_reach).filter(readable).max();
                let read = entry.map_or(0, tokens);
                let tokens_after_read =
                    |end: Option<&usize>| end.map_or(0, |end| tokens(*end).saturating_sub(read));
                // Lookups and earlier markers write nothing.
                let is_breakpoint = |end: &usize| spans[end - 1].mark.breakpoint().is_some();
                let writers: Vec<usize> = (1..=spans.len()).filter(is_breakpoint).collect();
                let writers = &writers[writers.len().saturating_sub(max_breakpoints)..];
                let markers: Vec<usize> = markers.into_iter().filter(|end| writers.contains(end)).collect();
                let written = tokens_after_read(markers.last());
                let extended_tokens = tokens_after_read(markers.iter().rfind(|end| extended(end)));
                let writes_entry =
                    |end: &&usize| tokens(**end) >= read || self.is_cached(&hashes[..**end], now_ms);
                let stored_ends: Vec<usize> =
                    markers.iter().filter(writes_entry).copied().chain(entry).collect();
                for end in stored_ends {
                    let extended_tokens = self.prices.extended.filter(|_| extended(&end));
                    let seconds = extended_tokens
                        .map_or(self.prices.seconds, |extended_tokens| extended_tokens.seconds);
                    self.store(&hashes[..end], seconds, now_ms);
                }
                (read, written, extended_tokens)
            }
        }
    }
}

/// Prompts that share prefixes: each keeps part of the previous one and then differs.
fn session() -> impl Strategy<Value = Vec<(Vec<RequestSpan>, u64)>> {
    let tail = prop::collection::vec((0..6_u8, 1..4_usize, any::<bool>()), 0..8);
    let marks = (prop::collection::btree_set(0..12_usize, 0..=4), 0..12_usize);
    let pause = prop_oneof![0..200_u64, 200..3_000_u64];
    let turn = (0..12_usize, tail, marks, pause);
    prop::collection::vec(turn, 1..30).prop_map(|turns| {
        let (mut spans, mut now): (Vec<RequestSpan>, u64) = (Vec::new(), 0);
        let prompts = turns.into_iter().map(|(kept, tail, (marks, extended), pause)| {
            spans.truncate(kept);
            spans.extend(tail.into_iter().map(|(name, hundreds, continues_run)| RequestSpan {
                hash: ContentHash::from_parts([&[name, hundreds as u8][..]]),
                tokens: hundreds * 100,
                mark: CacheMarker::None,
                continues_run,
            }));
            for (at, span) in spans.iter_mut().enumerate() {
                let breakpoint =
                    if at < extended { BreakpointLifetime::Extended } else { BreakpointLifetime::Short };
                span.mark =
                    if marks.contains(&at) { CacheMarker::Breakpoint(breakpoint) } else { CacheMarker::None };
            }
            now += pause * 1_000;
            (spans.clone(), now)
        });
        prompts.collect()
    })
}

/// Short lookbacks and low minima, so that small prompts reach them.
fn prices() -> impl Strategy<Value = Prices> {
    let explicit_kind =
        (1..6_usize, prop::sample::select(vec![0, 12])).prop_map(|(lookback, max_matched)| {
            CacheKind::Explicit {
                max_breakpoints: if max_matched == 0 { 4 } else { 2 },
                max_matched,
                lookback,
            }
        });
    let automatic_kind =
        prop::sample::select(vec![1, 128]).prop_map(|granularity| CacheKind::Automatic { granularity });
    let kind = prop_oneof![explicit_kind, automatic_kind, Just(CacheKind::None)];
    (kind, 0..900_usize, any::<bool>()).prop_map(|(kind, min_tokens, is_extended)| {
        let is_explicit = matches!(kind, CacheKind::Explicit { .. });
        let write = if is_explicit { 1.25 } else { 1.0 };
        let extended = (is_explicit && is_extended).then_some(CacheLifetime { seconds: 3_600, write: 2.0 });
        Prices { kind, min_tokens, write, extended, ..explicit() }
    })
}

proptest! {
    #[test]
    fn a_naive_implementation_bills_the_same(prices in prices(), session in session()) {
        let mut provider = SimulatedProvider::new(prices);
        let mut naive = Naive { prices, entries: Vec::new() };
        for (spans, now_ms) in session {
            let charge = provider.charge(&spans, now_ms).unwrap();
            let (read, written, long) = naive.charge(&spans, now_ms);
            prop_assert_eq!((charge.read, charge.written), (read, written));
            let more = prices.extended.map_or(0.0, |extended| extended.write - prices.write);
            let cost = Charge::new(&prices, read, written, charge.plain).cost + long as f64 * more;
            prop_assert!((charge.cost - cost).abs() < 1e-6, "{} instead of {}", charge.cost, cost);
        }
    }

    #[test]
    fn every_token_is_billed_once(prices in prices(), session in session()) {
        let mut provider = SimulatedProvider::new(prices);
        for (spans, now_ms) in session {
            let charge = provider.charge(&spans, now_ms).unwrap();
            let total = spans.iter().map(|span| span.tokens).sum::<usize>();
            prop_assert_eq!(charge.total(), total);
            let dearest = prices.lifetime(BreakpointLifetime::Extended).write.max(1.0);
            prop_assert!(charge.cost <= total as f64 * dearest + 1e-6);
            prop_assert!(charge.cost >= total as f64 * prices.read - 1e-6);
        }
    }

    #[test]
    fn neither_a_longer_prompt_nor_an_empty_cache_costs_less(
        prices in prices(), session in session(), more in 1..5_000_usize,
    ) {
        let mut provider = SimulatedProvider::new(prices);
        for (spans, now_ms) in session {
            let (mut forgetful, mut wordy) = (provider.clone(), provider.clone());
            let charge = provider.charge(&spans, now_ms).unwrap();
            forgetful.clear_cache();
            prop_assert!(forgetful.charge(&spans, now_ms).unwrap().cost >= charge.cost - 1e-6);
            let longer = [&spans[..], &[span("more", more)]].concat();
            prop_assert!(wordy.charge(&longer, now_ms).unwrap().cost >= charge.cost - 1e-6);
        }
    }

    #[test]
    fn nothing_is_read_after_a_pause_longer_than_the_lifetime(prices in prices(), session in session()) {
        let mut provider = SimulatedProvider::new(prices);
        let longest_ms = u64::from(prices.lifetime(BreakpointLifetime::Extended).seconds) * 1_000;
        for (turn, (spans, _)) in (0..).zip(session) {
            prop_assert_eq!(provider.charge(&spans, turn * (longest_ms + 1)).unwrap().read, 0);
        }
    }
}
