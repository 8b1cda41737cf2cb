//! What a request costs, given what the provider's cache holds: prices of a model, a provider that bills as
//! the documented ones do, and a bound that nobody can beat. Figures are multiples of the price of one token
//! of plain input. This module orders no content, sets no marks and reads no clock.

mod account;
mod bound;
mod forecast;
mod pace;
mod prices;
mod provider;
mod span;
mod usage;

pub use account::{Account, CacheShortfall, SentRequest};
pub use bound::{Bound, Need};
pub use forecast::{CostOutlook, Forecast, SessionTrend, switch};
pub use pace::Pace;
pub use prices::Prices;
pub use provider::{Charge, Provider, TooManyBreakpoints};
pub use span::{Mark, Span};
pub use usage::{BilledInput, Usage};
