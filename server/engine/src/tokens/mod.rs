//! What texts and requests weigh and cost: counting, models, calibration by reported usage, the provider's cache and its
//! prices; and the screening of texts for secrets, which everything that is counted has passed. Knows neither code nor
//! conversations.

pub mod calibration;
pub mod cost;
pub mod counting;
pub mod models;
pub mod redaction;
