//! Tokens and costs of texts and requests: counting, models, calibration from reported usage, and the
//! provider's cache and prices. Also redacts secrets, which must happen before a text is counted.

pub mod calibration;
pub mod cost;
pub mod counting;
pub mod models;
pub mod redaction;
