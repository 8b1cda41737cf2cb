//! The pause to expect before the next prompt, which decides how long cache entries should live.

use super::Prices;

/// Pauses between questions in 165 public conversations with a terminal pair programmer, in seconds: the middle of each
/// twentieth of 485 pauses.
pub const OBSERVED_PAUSES_SECONDS: [u64; 20] =
    [27, 43, 63, 74, 89, 102, 119, 131, 148, 169, 191, 227, 280, 336, 404, 511, 782, 1_032, 1_699, 3_679];

/// Number of a session's own pauses that weigh as much as [`OBSERVED_PAUSES_SECONDS`].
const OBSERVED_PAUSES_WEIGHT: f64 = 10.0;

/// Returns the probability that the next prompt comes after entries with the shortest lifetime have expired, but not
/// those with the extended one. `pauses_ms` are the session's pauses so far.
pub fn extended_lifetime_probability(pauses_ms: &[u64], prices: &Prices) -> f64 {
    let Some(extended) = prices.extended else { return 0.0 };
    let [shortest, extended] = [prices.seconds, extended.seconds].map(|seconds| u64::from(seconds) * 1_000);
    let share = pause_probability(pauses_ms, |pause_ms| shortest < pause_ms && pause_ms <= extended);
    share * follow_up_probability(pauses_ms.len() + 1)
}

/// Returns the expected price of a token that stays in the next prompt: reading it, or writing it again after a pause in
/// which its cache entry expired. Of several lifetimes, the cheapest counts.
pub fn expected_reuse_price(pauses_ms: &[u64], prices: &Prices) -> f64 {
    let price = |seconds: u32, write: f64| {
        let expires = pause_probability(pauses_ms, |pause_ms| pause_ms > u64::from(seconds) * 1_000);
        prices.read + expires * (write - prices.read)
    };
    let shortest = price(prices.seconds, prices.write);
    prices.extended.map_or(shortest, |extended| shortest.min(price(extended.seconds, extended.write)))
}

/// Returns the probability that the next pause, in milliseconds, meets a condition, from the session's pauses so far and
/// from [`OBSERVED_PAUSES_SECONDS`].
fn pause_probability(pauses_ms: &[u64], is_met: impl Fn(u64) -> bool) -> f64 {
    let usual_count = OBSERVED_PAUSES_SECONDS.iter().filter(|pause| is_met(**pause * 1_000)).count() as f64;
    let session_count = pauses_ms.iter().filter(|pause| is_met(**pause)).count() as f64;
    (OBSERVED_PAUSES_WEIGHT * usual_count / OBSERVED_PAUSES_SECONDS.len() as f64 + session_count)
        / (OBSERVED_PAUSES_WEIGHT + pauses_ms.len() as f64)
}

/// Returns the probability that another prompt follows the `turn`th one, from the lengths of the same conversations:
/// of 165, 126 have a second prompt, 97 a third, 69 a fifth, 33 an eleventh, and 13 a twenty-first.
fn follow_up_probability(turn: usize) -> f64 {
    match turn {
        0..=2 => 0.77,
        3..=10 => 0.87,
        _ => 0.91,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{CacheTtl, Models};

    #[test]
    fn pauses_of_the_session_outweigh_the_usual_ones() {
        let model = Models::builtin().resolve("claude-opus-4-7").model.clone();
        let needed = |pauses_ms: &[u64]| {
            extended_lifetime_probability(pauses_ms, &Prices::for_model(&model, CacheTtl::Auto))
        };
        let usual = 6.0 / 20.0 * 0.77;
        assert!((needed(&[]) - usual).abs() < 1e-9, "{}", needed(&[]));
        assert!(needed(&[60_000; 30]) < usual / 2.0);
        assert!(needed(&[600_000; 30]) > 2.0 * usual);
        // After more than an hour, both have expired.
        assert!(needed(&[7_200_000; 30]) < usual / 2.0);
        let fixed = Prices::for_model(&model, CacheTtl::FiveMinutes);
        assert!(extended_lifetime_probability(&[600_000; 30], &fixed).abs() < 1e-9);
    }
    #[test]
    fn a_reused_token_costs_a_read_and_a_write_after_each_expiry() {
        let model = Models::builtin().resolve("claude-opus-4-7").model.clone();
        let price = |pauses_ms: &[u64], ttl| expected_reuse_price(pauses_ms, &Prices::for_model(&model, ttl));
        let assert_close =
            |price: f64, expected: f64| assert!((price - expected).abs() < 1e-9, "{price} is not {expected}");
        // Of the usual pauses, 7 of 20 are longer than five minutes, and one is longer than an hour.
        assert_close(price(&[], CacheTtl::FiveMinutes), 0.1 + 7.0 / 20.0 * 1.15);
        assert_close(price(&[], CacheTtl::OneHour), 0.1 + 1.0 / 20.0 * 1.9);
        assert_close(price(&[], CacheTtl::Auto), 0.1 + 1.0 / 20.0 * 1.9);
        assert!(price(&[60_000; 30], CacheTtl::FiveMinutes) < 0.25);
        assert!(price(&[600_000; 30], CacheTtl::FiveMinutes) > 0.9);
    }
}
