//! Prices per token of one model: read from the cache, written to it, or plain input. They are multiples of
//! the price of plain input, so that they are independent of currencies.

use serde::{Deserialize, Serialize};

use crate::models::{CacheKind, CacheLifetime, CacheTtl, ListPrice, LongContext, Model};

/// Minimum lifetime, in seconds, of an entry that counts as [`CacheTtl::OneHour`].
const ONE_HOUR: u32 = 3_600;

/// Lifetime that a breakpoint asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum BreakpointLifetime {
    /// [`Prices::seconds`].
    Short,
    /// [`Prices::extended`], if there is such a lifetime.
    Extended,
}

/// Prices of one model for one lifetime of cache entries, as multiples of its price of plain input.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Prices {
    /// Price of a token read from the cache.
    pub read: f64,
    /// Price of a token written to the cache; 1 if writes cost the same as plain input.
    pub write: f64,
    /// Lifetime of a cache entry after its last use, in seconds.
    pub seconds: u32,
    /// A longer lifetime that single breakpoints may ask for; `None` if all entries live equally long.
    #[serde(default)]
    pub extended: Option<CacheLifetime>,
    /// Minimum length of a cached prefix, in tokens.
    pub min_tokens: usize,
    /// How the end of a cached prefix is determined.
    pub kind: CacheKind,
    /// Higher price of long prompts, if any.
    pub long_context: Option<LongContext>,
    /// Price in money; `None` if it is unknown.
    #[serde(default)]
    pub list: Option<ListPrice>,
}

impl Prices {
    /// Returns the prices of `model` for cache entries that live for `ttl`. Five minutes selects the model's
    /// shortest lifetime; one hour selects the first that is long enough, or else the longest. `Auto` selects the
    /// shortest, with the one-hour lifetime as the extended one if breakpoints can ask for it. Models without
    /// lifetimes do not cache.
    pub fn for_model(model: &Model, ttl: CacheTtl) -> Self {
        let lifetimes = &model.cache.lifetimes;
        let shortest = lifetimes.first();
        let one_hour = lifetimes.iter().find(|lifetime| lifetime.seconds >= ONE_HOUR).or(lifetimes.last());
        let lifetime = match ttl {
            CacheTtl::Auto | CacheTtl::FiveMinutes => shortest,
            CacheTtl::OneHour => one_hour,
        };
        let extended = match (ttl, model.cache.kind) {
            (CacheTtl::Auto, CacheKind::Explicit { .. }) => {
                one_hour.filter(|one_hour| Some(*one_hour) != shortest).copied()
            }
            _ => None,
        };
        let prices = match (model.cache.kind, lifetime) {
            (CacheKind::None, _) | (_, None) => Self::uncached(),
            (kind, Some(&CacheLifetime { seconds, write })) => {
                Self { read: model.cache.read, write, seconds, extended, kind, ..Self::uncached() }
            }
        };
        Self {
            min_tokens: model.cache.min_tokens,
            long_context: model.long_context,
            list: model.price,
            ..prices
        }
    }

    /// Returns the lifetimes that the setting `cache.ttl` can choose for all cache entries of `model`, shortest first.
    pub fn lifetimes(model: &Model) -> Vec<CacheLifetime> {
        let mut lifetimes: Vec<CacheLifetime> = [CacheTtl::FiveMinutes, CacheTtl::OneHour]
            .into_iter()
            .map(|ttl| Self::for_model(model, ttl))
            .filter(|prices| prices.kind != CacheKind::None)
            .map(|Self { seconds, write, .. }| CacheLifetime { seconds, write })
            .collect();
        lifetimes.dedup();
        lifetimes
    }

    /// Returns the prices if all cache entries have this lifetime.
    pub(crate) fn with_lifetime(self, CacheLifetime { seconds, write }: CacheLifetime) -> Self {
        Self { seconds, write, extended: None, ..self }
    }

    /// Returns prices under which nothing is cached and all input is plain.
    pub fn uncached() -> Self {
        Self {
            read: 1.0,
            write: 1.0,
            seconds: 0,
            extended: None,
            min_tokens: 0,
            kind: CacheKind::None,
            long_context: None,
            list: None,
        }
    }

    /// Returns the price of a plain input token in a prompt of `total_tokens`: 1, or more if the prompt is
    /// long.
    pub fn input_price(&self, total_tokens: usize) -> f64 {
        match self.long_context {
            Some(long) if total_tokens > long.above => long.input,
            _ => 1.0,
        }
    }

    /// Returns the price in US dollars of input that costs as much as `plain` tokens of plain input, and of the `output`
    /// tokens that answer a prompt of `total_tokens`. Returns `None` if the price of the model is unknown.
    pub fn dollars(&self, plain: f64, output: u64, total_tokens: usize) -> Option<f64> {
        let ListPrice { input, output: output_price } = self.list?;
        let output_factor = match self.long_context {
            Some(long) if total_tokens > long.above => long.output,
            _ => 1.0,
        };
        Some((plain * input + output as f64 * output_price * output_factor) / 1e6)
    }

    /// Returns the lifetime of an entry that a breakpoint writes.
    pub fn lifetime(&self, breakpoint: BreakpointLifetime) -> CacheLifetime {
        let shortest = CacheLifetime { seconds: self.seconds, write: self.write };
        match breakpoint {
            BreakpointLifetime::Short => shortest,
            BreakpointLifetime::Extended => self.extended.unwrap_or(shortest),
        }
    }

    /// Whether an entry expires after `idle_ms` milliseconds without use.
    pub(super) fn has_expired_after(&self, idle_ms: u64) -> bool {
        idle_ms > u64::from(self.seconds) * 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{ModelTable, Models};

    fn prices(name: &str, ttl: CacheTtl) -> Prices {
        Prices::for_model(&Models::builtin().resolve(name).model, ttl)
    }

    #[test]
    fn the_requested_lifetime_determines_the_price_of_a_write() {
        let prices = |ttl| prices("claude-opus-4-7", ttl);
        let (short, long) = (prices(CacheTtl::FiveMinutes), prices(CacheTtl::OneHour));
        let auto = prices(CacheTtl::Auto);
        assert_eq!(auto, Prices { extended: Some(CacheLifetime { seconds: 3_600, write: 2.0 }), ..short });
        assert_eq!((short.extended, long.extended), (None, None));
        assert_eq!((short.seconds, short.write, short.read), (300, 1.25, 0.1));
        assert_eq!((long.seconds, long.write, long.read), (3_600, 2.0, 0.1));
        assert_eq!(short.kind, CacheKind::Explicit { max_breakpoints: 4, max_matched: 0, lookback: 20 });
    }

    #[test]
    fn one_hour_selects_the_first_lifetime_that_is_long_enough_or_the_longest() {
        let mut model = Model::clone(&Models::builtin().resolve("claude-opus-4-7").model);
        for (offered, short, long) in [
            (&[300, 1_800, 3_600, 7_200][..], 300, 3_600),
            (&[300, 1_800], 300, 1_800),
            (&[300, 7_200], 300, 7_200),
            (&[1_800], 1_800, 1_800),
        ] {
            model.cache.lifetimes =
                offered.iter().map(|&seconds| CacheLifetime { seconds, write: 1.25 }).collect();
            assert_eq!(Prices::for_model(&model, CacheTtl::FiveMinutes).seconds, short, "{offered:?}");
            assert_eq!(Prices::for_model(&model, CacheTtl::OneHour).seconds, long, "{offered:?}");
        }
    }

    #[test]
    fn without_a_cache_every_token_is_plain() {
        let table = "[family.x]\nprovider = \"other\"\nprefixes = [\"x\"]\ntokenizer = \"chars\"\nmax_input = 9\n\
                     max_output = 9\ntools = \"none\"\ncache = { mode = { kind = \"none\" } }\n\
                     overheads = { message = 0, reply = 0, tool_prompt = 0, tool = 0, tool_round_trip = 0 }\n";
        let models = Models::new(ModelTable::from_toml(table).unwrap()).unwrap();
        for ttl in [CacheTtl::Auto, CacheTtl::FiveMinutes, CacheTtl::OneHour] {
            assert_eq!(Prices::for_model(&models.resolve("x-1").model, ttl), Prices::uncached());
        }
    }

    #[test]
    fn all_tokens_of_a_long_prompt_cost_more() {
        let long_context = Some(LongContext { above: 200_000, input: 2.0, output: 1.5 });
        let prices = Prices { long_context, ..Prices::uncached() };
        assert_eq!((prices.input_price(200_000), prices.input_price(200_001)), (1.0, 2.0));
        assert_eq!(Prices::uncached().input_price(usize::MAX), 1.0);
        let list = Some(ListPrice { input: 3.0, output: 15.0 });
        let prices = Prices { list, ..prices };
        assert_eq!(prices.dollars(1_000_000.0, 100_000, 200_000), Some(4.5));
        assert_eq!(prices.dollars(1_000_000.0, 100_000, 200_001), Some(5.25));
        assert_eq!(Prices::uncached().dollars(1.0, 1, 1), None);
    }
}
