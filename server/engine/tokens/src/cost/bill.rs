//! What a conversation was billed, by day and model. Knows nothing about which prompts the requests were for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Usage;

/// Milliseconds of a day.
pub const DAY_MS: u64 = 86_400_000;

/// What a conversation was billed, by day and model, in the order in which the requests were answered.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bill(Vec<BillEntry>);

/// What the requests of one day to one model were billed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BillEntry {
    /// Day of the requests in UTC, as days since 1970.
    pub day: u32,
    /// Model that answered.
    pub model: String,
    /// What was billed.
    #[serde(flatten)]
    pub amount: Amount,
}

/// What a number of requests were billed.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Amount {
    /// Number of requests whose usage was reported.
    pub requests: u64,
    /// Billed tokens by kind.
    pub usage: Usage,
    /// Cost of the input, in tokens of plain input.
    pub cost: f64,
    /// Cost of input and output in US dollars, without the requests of unknown price.
    pub dollars: f64,
    /// Number of requests to models of unknown price.
    #[serde(default)]
    pub unpriced: u64,
}

impl Amount {
    /// Returns the amount of one request. `dollars` is `None` if the price is unknown.
    pub fn single_request(usage: Usage, cost: f64, dollars: Option<f64>) -> Self {
        Self {
            requests: 1,
            usage,
            cost,
            dollars: dollars.unwrap_or_default(),
            unpriced: u64::from(dollars.is_none()),
        }
    }

    /// Returns the cost in US dollars, or `None` if the price of any request is unknown.
    pub fn known_dollars(&self) -> Option<f64> {
        (self.unpriced == 0).then_some(self.dollars)
    }
}

impl std::ops::Add for Amount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            usage: self.usage + other.usage,
            cost: self.cost + other.cost,
            dollars: self.dollars + other.dollars,
            unpriced: self.unpriced.saturating_add(other.unpriced),
        }
    }
}

impl Bill {
    /// Adds a request that was answered at the time `time_ms`, in milliseconds since 1970.
    pub fn add(&mut self, time_ms: u64, model: &str, amount: Amount) {
        let day = u32::try_from(time_ms / DAY_MS).unwrap_or(u32::MAX);
        match self.0.iter_mut().rfind(|entry| entry.day == day && entry.model == model) {
            Some(entry) => entry.amount = entry.amount + amount,
            None => self.0.push(BillEntry { day, model: model.to_owned(), amount }),
        }
    }

    pub fn entries(&self) -> &[BillEntry] {
        &self.0
    }

    /// Returns the sum of all entries, or `None` if there are none.
    pub fn total(&self) -> Option<Amount> {
        self.0.iter().map(|entry| entry.amount).reduce(std::ops::Add::add)
    }

    /// Returns the billed tokens by kind.
    pub fn usage(&self) -> Usage {
        self.total().unwrap_or_default().usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(input: u64, dollars: Option<f64>) -> Amount {
        Amount::single_request(Usage { input, ..Usage::default() }, input as f64, dollars)
    }

    #[test]
    fn a_bill_adds_up_by_day_and_model() {
        let mut bill = Bill::default();
        assert_eq!((bill.total(), bill.usage()), (None, Usage::default()));
        bill.add(DAY_MS - 1, "a", amount(1, Some(0.5)));
        bill.add(DAY_MS, "a", amount(2, Some(0.25)));
        bill.add(DAY_MS, "b", amount(4, Some(1.0)));
        bill.add(2 * DAY_MS - 1, "a", amount(8, Some(0.25)));
        let entries: Vec<_> =
            bill.entries().iter().map(|entry| (entry.day, &*entry.model, entry.amount.usage.input)).collect();
        assert_eq!(entries, [(0, "a", 1), (1, "a", 10), (1, "b", 4)]);
        let total = bill.total().unwrap();
        assert_eq!((total.requests, total.usage.input, total.known_dollars()), (4, 15, Some(2.0)));
        let text = serde_json::to_string(&bill).unwrap();
        assert_eq!(serde_json::from_str::<Bill>(&text).unwrap(), bill);
    }

    #[test]
    fn a_sum_with_an_unknown_price_is_not_known() {
        let total = amount(1, Some(0.5)) + amount(2, None);
        assert_eq!((total.dollars, total.unpriced, total.known_dollars()), (0.5, 1, None));
    }
}
