//! Tokens and costs of texts and requests: counting, models, calibration by reported usage, the provider's cache and prices; and
//! screening for secrets, which all counted text has passed. Knows neither code nor conversations.

pub mod calibration;
pub mod cost;
pub mod counting;
pub mod models;
pub mod redaction;
