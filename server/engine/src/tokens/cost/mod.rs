//! The cost of a request, given the provider's cache: model prices, a provider that bills by the documented rules, and a lower
//! bound. In multiples of the price of one plain input token. Orders no content, sets no marks and reads no clock.

mod account;
mod bound;
mod forecast;
mod pace;
mod prices;
mod provider;
mod span;
mod usage;

pub(crate) use account::{Account, CacheShortfall, SentRequest};
pub use bound::{Bound, Need};
pub(crate) use forecast::SessionTrend;
pub use forecast::{CostOutlook, Forecast, switch};
pub(crate) use pace::Pace;
pub use prices::Prices;

pub use provider::{Charge, Provider};
pub use span::{Mark, Span};
pub(crate) use usage::BilledInput;
pub use usage::Usage;
