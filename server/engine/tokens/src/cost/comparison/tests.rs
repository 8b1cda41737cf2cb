//! Compares the cost of simulated sessions with what a provider bills for sessions under the same conditions.

use super::*;
use crate::cost::Amount;
use crate::models::{CacheTtl, Models};

/// A session whose prompts grow by one block each, sent to a provider that bills in tokens of its own.
struct Session {
    prices: Prices,
    lifetimes: Vec<CacheLifetime>,
    account: Option<CacheAccount>,
    caches: Option<ComparedCaches>,
    comparison: ComparisonTotals,
    provider: SimulatedProvider,
    billed: Amount,
    now_ms: u64,
    blocks: Vec<usize>,
}

impl Session {
    fn new(model: &str, ttl: CacheTtl) -> Self {
        let model = &Models::builtin().resolve(model).model;
        let prices = Prices::for_model(model, ttl);
        Self {
            prices,
            lifetimes: Prices::lifetimes(model),
            account: None,
            caches: None,
            comparison: ComparisonTotals::default(),
            provider: SimulatedProvider::new(prices),
            billed: Amount::default(),
            now_ms: 1_000_000,
            blocks: vec![20_000],
        }
    }

    /// Sends the next prompt after a pause.
    fn send(&mut self, pause_s: u64) {
        self.now_ms += pause_s * 1_000;
        self.blocks.push(1_000);
        let end = self.blocks.len() - 1;
        let breakpoint = if self.prices.extended.is_some() {
            BreakpointLifetime::Extended
        } else {
            BreakpointLifetime::Short
        };
        // The provider counts a tenth more than Strata does.
        let spans = |percent: usize| -> Vec<RequestSpan> {
            let span = |(index, tokens): (usize, &usize)| RequestSpan {
                hash: ContentHash::from_text(&index.to_string()),
                tokens: tokens * percent / 100,
                mark: if index == end { CacheMarker::Breakpoint(breakpoint) } else { CacheMarker::None },
                continues_run: false,
            };
            self.blocks.iter().enumerate().map(span).collect()
        };
        let sent = SentRequest {
            spans: spans(100),
            at_ms: self.now_ms,
            identity: ContentHash::NONE,
            prices: self.prices,
            lifetimes: self.lifetimes.clone(),
        };
        let charge = self.provider.charge(&spans(110), self.now_ms).unwrap();
        let usage = Usage {
            input: charge.plain as u64,
            output: 100,
            cache_read: charge.read as u64,
            cache_write: charge.written as u64,
        };
        let dollars = usage.dollars(&self.prices, &charge);
        self.billed = self.billed + Amount::single_request(usage, usage.cost(&self.prices, &charge), dollars);
        self.account =
            Some(CacheAccount::after_request(self.account.as_ref(), &sent, Some(usage.billed_input())));
        let (caches, charges) =
            ComparedCaches::after_request(self.caches.take(), &sent, self.account.as_ref().unwrap());
        self.caches = Some(caches);
        self.comparison.add(&charges, usage, &sent);
    }

    fn simulate(model: &str, ttl: CacheTtl, pauses_s: &[u64]) -> (CostComparison, Amount) {
        let mut session = Self::new(model, ttl);
        pauses_s.iter().for_each(|pause| session.send(*pause));
        (session.comparison.report().unwrap(), session.billed)
    }
}

/// Pauses of which some are longer than five minutes, and one is longer than an hour.
const PAUSES_S: [u64; 8] = [0, 60, 600, 30, 900, 4_000, 100, 20];

fn assert_close(actual: f64, expected: f64) {
    assert!((actual - expected).abs() <= 0.001 * expected, "{actual} is not {expected}");
}

#[test]
fn the_actual_cost_is_what_the_provider_billed() {
    for (model, ttl) in [
        ("claude-opus-4-7", CacheTtl::FiveMinutes),
        ("claude-opus-4-7", CacheTtl::OneHour),
        ("claude-opus-4-7", CacheTtl::Auto),
        ("gpt-5.1", CacheTtl::Auto),
        ("gpt-5.6-sol", CacheTtl::Auto),
        ("gemini-3-flash", CacheTtl::Auto),
    ] {
        let (report, billed) = Session::simulate(model, ttl, &PAUSES_S);
        assert_eq!(report.requests, billed.requests);
        // Providers that round cached prefixes down do so in tokens of their own.
        assert!(
            (report.actual.cost - billed.cost).abs() <= 0.02 * billed.cost,
            "{model}: {report:?}, {billed:?}"
        );
        let (dollars, billed_dollars) = (report.actual.dollars.unwrap(), billed.known_dollars().unwrap());
        assert!(
            (dollars - billed_dollars).abs() <= 0.02 * billed_dollars,
            "{model}: {dollars}, {billed_dollars}"
        );
    }
}

#[test]
fn each_case_costs_as_much_as_a_session_under_its_conditions() {
    let cost = |ttl, pauses: &[u64]| Session::simulate("claude-opus-4-7", ttl, pauses).1.cost;
    let (report, billed) = Session::simulate("claude-opus-4-7", CacheTtl::FiveMinutes, &PAUSES_S);
    assert_close(report.without_pauses.cost, cost(CacheTtl::FiveMinutes, &[0; 8]));
    assert_close(report.without_cache.cost, billed.usage.input_tokens() as f64);
    assert_close(report.without_cache.share, 1.0);
    let [five_minutes, one_hour] = report.lifetimes[..] else { panic!("{report:?}") };
    assert_eq!((five_minutes.seconds, one_hour.seconds), (300, 3_600));
    assert_close(five_minutes.cost.cost, billed.cost);
    assert_close(one_hour.cost.cost, cost(CacheTtl::OneHour, &PAUSES_S));
    assert!(one_hour.cost.cost < five_minutes.cost.cost);

    // The other way round, from a session whose breakpoints ask for an hour.
    let (report, billed) = Session::simulate("claude-opus-4-7", CacheTtl::Auto, &PAUSES_S);
    let [five_minutes, one_hour] = report.lifetimes[..] else { panic!("{report:?}") };
    assert_close(five_minutes.cost.cost, cost(CacheTtl::FiveMinutes, &PAUSES_S));
    assert_close(one_hour.cost.cost, billed.cost);
}

#[test]
fn a_model_with_one_lifetime_has_no_choice_of_lifetimes() {
    let (report, _) = Session::simulate("gpt-5.1", CacheTtl::Auto, &PAUSES_S);
    assert_eq!(report.lifetimes, []);
    assert!(report.without_pauses.cost < report.actual.cost);
}

#[test]
fn without_a_bill_there_is_nothing_to_compare() {
    assert_eq!(ComparisonTotals::default().report(), None);
}

#[test]
fn a_shortfall_empties_the_cache_in_each_case() {
    let mut session = Session::new("claude-opus-4-7", CacheTtl::FiveMinutes);
    session.send(0);
    // The provider loses its cache during a pause in which no entry expires.
    session.provider.clear_cache();
    session.send(10);
    let report = session.comparison.report().unwrap();
    assert_close(report.actual.cost, session.billed.cost);
    assert_close(report.without_pauses.cost, session.billed.cost);
}

#[test]
fn a_long_session_keeps_a_bounded_number_of_entries() {
    let mut caches = None;
    let prices = Prices::for_model(&Models::builtin().resolve("gpt-5.1").model, CacheTtl::Auto);
    for index in 0..3_000_u64 {
        // Each prompt differs from its first block on.
        let span = |n: u64| RequestSpan {
            hash: ContentHash::from_text(&format!("{index} {n}")),
            tokens: 1_000,
            mark: CacheMarker::None,
            continues_run: false,
        };
        let sent = SentRequest {
            spans: (0..10).map(span).collect(),
            at_ms: index * 60_000,
            identity: ContentHash::NONE,
            prices,
            lifetimes: Vec::new(),
        };
        let account = CacheAccount::after_request(None, &sent, None);
        caches = Some(ComparedCaches::after_request(caches, &sent, &account).0);
    }
    let ComparedCaches { without_pauses, shortest, longest, .. } = caches.unwrap();
    for provider in [without_pauses, shortest, longest] {
        assert!(provider.entry_count() < 3_000, "{}", provider.entry_count());
    }
}
