//! Costs of requests, given the content of the provider's cache: a model's prices, and a simulated provider
//! that bills as documented. Costs are multiples of the price of one plain input token, and US dollars where that
//! price is known. This module does not
//! order content, set breakpoints or read the clock.

mod account;
mod bill;
mod comparison;
mod forecast;
mod pace;
mod pauses;
mod prices;
mod provider;
mod usage;

pub use account::{CacheAccount, CacheShortfall, SentRequest};
pub use bill::{Amount, Bill, BillEntry, DAY_MS};
pub use comparison::{ComparedCaches, ComparedCost, ComparisonTotals, CostComparison, LifetimeCost};
pub(crate) use forecast::SessionTrend;
pub use forecast::{CostOutlook, Forecast, switch_charge};
pub use pace::RecentPrompts;
pub use pauses::{OBSERVED_PAUSES_SECONDS, expected_reuse_price, extended_lifetime_probability};
pub use prices::{BreakpointLifetime, Prices};

pub use provider::{CacheEstimate, CacheMarker, Charge, RequestSpan, SimulatedProvider};
pub use usage::{BilledInput, Usage};
