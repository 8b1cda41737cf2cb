//! The bound equals that of the reference implementation, and no way of caching a session costs less.

use proptest::prelude::*;
use strata_base::hash::ContentHash;
use strata_tokens::cost::{BreakpointLifetime, CacheMarker, RequestSpan, SimulatedProvider};
use strata_tokens::models::CacheKind;

use super::*;

/// The needs of nine turns, from the Python reference that accompanies the specification: its `fuzz_trace` of
/// nine turns with random seed 3, replayed with outside edits, a random selection, expiry with probability 0.3
/// (seed 3), and compaction at 700 tokens to two turns. Each line is a turn. It starts with `expired` if the
/// cache expired before the turn, followed by `name=tokens` with `s` for the system prompt, `h` for messages,
/// and `f:` and `m:` for files and map blocks.
const FUZZ: &str = include_str!("fuzz.txt");

fn prices(read: f64, write: f64) -> Prices {
    let kind = CacheKind::Explicit { max_breakpoints: 4, max_matched: 0, lookback: 20 };
    Prices { read, write, seconds: 300, extended: None, min_tokens: 1, kind, long_context: None, list: None }
}

fn reference(prices: Prices) -> f64 {
    let mut bound = CostBound::new(prices);
    for turn in FUZZ.lines() {
        if turn.starts_with("expired") {
            bound.expire_cache();
        }
        bound.add_turn(turn.split(' ').filter_map(|word| word.split_once('=')).map(|(name, tokens)| {
            let tokens = tokens.parse().unwrap();
            (
                name,
                if name.contains(':') {
                    NeededTokens::AnyVersion(tokens)
                } else {
                    NeededTokens::Exact(tokens)
                },
            )
        }));
    }
    bound.total()
}

#[test]
fn the_reference_computes_the_same() {
    for (read, write, expected) in [(0.1, 1.25, 27245.45), (0.1, 2.0, 39559.00), (0.5, 1.0, 35811.50)] {
        let total = reference(prices(read, write));
        assert!((total - expected).abs() < 1e-6, "{total} instead of {expected} at {read} and {write}");
    }
}

#[test]
fn any_version_asks_for_the_smallest_so_far_even_across_an_expiry() {
    let mut bound = CostBound::new(prices(0.1, 1.25));
    bound.add_turn([("f", NeededTokens::AnyVersion(100))]);
    bound.add_turn([("f", NeededTokens::AnyVersion(60))]);
    bound.add_turn([("f", NeededTokens::AnyVersion(90))]);
    // 60 tokens in three turns, and 40 in one.
    assert!((bound.total() - (60.0 * 1.45 + 40.0)).abs() < 1e-9);
    bound.expire_cache();
    bound.add_turn([("f", NeededTokens::AnyVersion(90))]);
    assert!((bound.total() - (60.0 * 1.45 + 40.0 + 60.0)).abs() < 1e-9);
}

#[test]
fn an_exact_need_is_met_by_nothing_smaller() {
    let mut bound = CostBound::new(prices(0.1, 1.25));
    bound.add_turn([("system", NeededTokens::Exact(100))]);
    bound.add_turn([("system", NeededTokens::Exact(60))]);
    bound.add_turn([("system", NeededTokens::Exact(90))]);
    // 60 tokens in three turns, 30 in two, and 10 in one.
    assert!((bound.total() - (60.0 * 1.45 + 30.0 * 1.35 + 10.0)).abs() < 1e-9);
}

fn session() -> impl Strategy<Value = Vec<Vec<(u8, usize)>>> {
    prop::collection::vec(prop::collection::vec((0..10_u8, 0..5_usize), 0..10), 0..20)
}

proptest! {
    /// Blocks in any order, with breakpoints anywhere, at a provider without a minimum prefix.
    #[test]
    fn no_session_costs_less(session in session(), marks in prop::collection::vec(0..10_usize, 20), write in 1.0..2.5) {
        let prices = prices(0.1, write);
        let (mut bound, mut provider, mut paid) = (CostBound::new(prices), SimulatedProvider::new(prices), 0.0);
        for (turn, mark) in session.iter().zip(marks) {
            let spans: Vec<RequestSpan> = turn.iter().enumerate().map(|(at, &(name, tokens))| RequestSpan {
                hash: ContentHash::from_parts([&[name, tokens as u8][..]]),
                tokens,
                mark: if at <= mark && at + 4 > mark { CacheMarker::Breakpoint(BreakpointLifetime::Short) } else { CacheMarker::None },
                continues_run: false,
            }).collect();
            paid += provider.charge(&spans, 0).unwrap().cost;
            let mut needed = turn.clone();
            needed.sort_unstable();
            needed.dedup_by_key(|(name, _)| *name);
            bound.add_turn(needed.into_iter().map(|(name, tokens)| (name, NeededTokens::AnyVersion(tokens))));
        }
        prop_assert!(bound.total() <= paid + 1e-6, "{} > {paid}", bound.total());
    }

    #[test]
    fn it_grows_with_every_turn_and_every_expiry(session in session()) {
        let (mut bound, mut total) = (CostBound::new(prices(0.1, 1.25)), 0.0);
        let mut cold = bound.clone();
        for turn in session {
            bound.add_turn(turn.iter().map(|&(name, tokens)| (name, NeededTokens::Exact(tokens))));
            cold.expire_cache();
            cold.add_turn(turn.iter().map(|&(name, tokens)| (name, NeededTokens::Exact(tokens))));
            prop_assert!(bound.total() >= total - 1e-9);
            prop_assert!(cold.total() >= bound.total() - 1e-6);
            total = bound.total();
        }
    }
}
