//! Forecasts agree with the provider's bill for a growing prompt.

use proptest::prelude::*;
use strata_base::hash::ContentHash;

use super::*;
use crate::cost::{BreakpointLifetime, CacheMarker, RequestSpan, SimulatedProvider};
use crate::models::{LongContext, Models};

fn prices(ttl: Ttl) -> Prices {
    Prices::for_model(&Models::builtin().resolve("claude-opus-4-7").model, ttl.into())
}

fn forecast(trend: SessionTrend<'_>) -> Forecast {
    Forecast::new(&trend, &prices(Ttl::FiveMinutes), &prices(Ttl::OneHour))
}

#[track_caller]
fn assert_cost(charge: Charge, expected: f64) {
    assert!((charge.cost - expected).abs() < 1e-6, "{charge:?} should cost {expected}");
}

#[test]
fn short_pauses_are_cheaper_under_five_minutes_and_long_ones_under_an_hour() {
    let minutes = |minutes: u64| minutes * 60_000;
    let short = [minutes(1), minutes(4), minutes(5)];
    let long = [minutes(1), minutes(10), minutes(30)];
    let quick = forecast(SessionTrend { marked: 40_000, growth: 1_000, pauses_ms: &short });
    assert_eq!((quick.cheaper, quick.five_minutes.expiries), (Ttl::FiveMinutes, 0));
    let slow = forecast(SessionTrend { marked: 40_000, growth: 1_000, pauses_ms: &long });
    assert_eq!((slow.cheaper, slow.five_minutes.expiries, slow.one_hour.expiries), (Ttl::OneHour, 2, 0));
    assert_cost(slow.five_minutes.spent, (37_000.0 + 1_000.0 + 39_000.0 + 40_000.0) * 1.25 + 37_000.0 * 0.1);
    assert_cost(slow.one_hour.spent, 40_000.0 * 2.0 + (37_000.0 + 38_000.0 + 39_000.0) * 0.1);
}

#[test]
fn a_pause_beyond_the_lifetime_makes_the_next_turn_write_everything() {
    let outlook = forecast(SessionTrend { marked: 40_000, growth: 1_000, pauses_ms: &[] }).five_minutes;
    assert_cost(outlook.next_in_time, 40_000.0 * 0.1 + 1_000.0 * 1.25);
    assert_cost(outlook.next_too_late, 41_000.0 * 1.25);
}

#[test]
fn a_switch_writes_everything_at_the_price_of_the_other_model() {
    assert_cost(switch_charge(&prices(Ttl::FiveMinutes), 40_000), 50_000.0);
    assert_cost(switch_charge(&Prices::uncached(), 40_000), 40_000.0);
    let long_context = Some(LongContext { above: 39_999, input: 2.0, output: 1.0 });
    assert_cost(switch_charge(&Prices { long_context, ..prices(Ttl::FiveMinutes) }, 40_000), 100_000.0);
}

#[test]
fn five_minutes_are_recommended_if_both_lifetimes_cost_the_same() {
    let trend = SessionTrend { marked: 40_000, growth: 1_000, pauses_ms: &[u64::MAX, 0] };
    let same = Forecast::new(&trend, &Prices::uncached(), &Prices::uncached());
    assert_eq!(same.cheaper, Ttl::FiveMinutes);
}

#[test]
fn a_forecast_is_serialized_in_camel_case() {
    let reply =
        serde_json::to_value(forecast(SessionTrend { marked: 4_096, growth: 0, pauses_ms: &[] })).unwrap();
    assert_eq!(reply["fiveMinutes"]["nextTooLate"]["written"], 4_096);
    assert_eq!(reply["cheaper"], "5m");
}

fn any_prices() -> impl Strategy<Value = Prices> {
    let kind = prop_oneof![
        Just(CacheKind::Explicit { max_breakpoints: 4, max_matched: 0, lookback: 20 }),
        prop::sample::select(vec![1, 128]).prop_map(|granularity| CacheKind::Automatic { granularity }),
        Just(CacheKind::None),
    ];
    let write = prop::sample::select(vec![1.0, 1.25, 2.0]);
    (kind, write, 0..4_000_usize).prop_map(|(kind, write, min_tokens)| Prices {
        kind,
        write,
        min_tokens,
        ..prices(Ttl::FiveMinutes)
    })
}

proptest! {
    /// One block for the initial prompt and one for each turn, the last one marked.
    #[test]
    fn the_provider_bills_the_same(
        prices in any_prices(),
        marked in 0..9_000_usize,
        growth in 0..900_usize,
        pauses_ms in prop::collection::vec(prop::sample::select(vec![0, 1, 299_999, 300_000, 300_001]), 0..12),
    ) {
        let turns = pauses_ms.len();
        let tokens = |turn: usize| marked.saturating_sub(growth * (turns - turn));
        let (mut provider, mut spans, mut now_ms) = (SimulatedProvider::new(prices), Vec::<RequestSpan>::new(), 0);
        let mut expected = Charge::default();
        for turn in 0..=turns {
            now_ms += if turn == 0 { 0 } else { pauses_ms[turn - 1] };
            spans.iter_mut().for_each(|span| span.mark = CacheMarker::None);
            let sent_tokens: usize = spans.iter().map(|span| span.tokens).sum();
            spans.push(RequestSpan {
                hash: ContentHash::from_text(&turn.to_string()),
                tokens: tokens(turn) - sent_tokens,
                mark: CacheMarker::Breakpoint(BreakpointLifetime::Short),
                continues_run: false,
            });
            expected = expected + provider.charge(&spans, now_ms).unwrap();
        }
        let outlook = CostOutlook::new(&SessionTrend { marked, growth, pauses_ms: &pauses_ms }, &prices);
        let Charge { read, written, plain, cost, .. } = outlook.spent;
        prop_assert_eq!((read, written, plain), (expected.read, expected.written, expected.plain));
        prop_assert!((cost - expected.cost).abs() < 1e-6);
    }

    #[test]
    fn no_input_makes_a_forecast_panic(marked: usize, growth: usize, pauses_ms: Vec<u64>) {
        let forecast = forecast(SessionTrend { marked, growth, pauses_ms: &pauses_ms });
        prop_assert!(forecast.one_hour.expiries <= forecast.five_minutes.expiries);
        prop_assert!(forecast.five_minutes.next_in_time.cost <= forecast.five_minutes.next_too_late.cost);
    }
}
