//! What a request costs, given what the provider's cache holds: prices of a model, a provider that bills as
//! the documented ones do, and a bound that no one can beat. Figures are multiples of the price of one token
//! of plain input. This module orders no content, sets no marks and reads no clock.

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
