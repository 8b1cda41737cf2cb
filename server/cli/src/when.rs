//! Times as users read and write them, in UTC.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

const DAY_MS: u64 = 24 * 60 * 60_000;

/// Formats milliseconds since 1970 as `2026-03-09 14:05`.
pub(crate) fn format_time(ms: u64) -> String {
    utc(ms).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Formats the day of a time in milliseconds since 1970 as `2026-03-09`.
pub(crate) fn format_day(ms: u64) -> String {
    utc(ms).date().to_string()
}

/// Times after the year 9999 are shown as its end.
fn utc(ms: u64) -> DateTime {
    let time = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    Offset::UTC.to_datetime(time.unwrap_or(Timestamp::MAX))
}

/// The first day of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PeriodStart {
    /// A number of days up to and including today.
    Days(u64),
    /// A date from 1970 on.
    Date(Date),
}

impl PeriodStart {
    /// Parses a date such as `2026-03-09`, or a number of days such as `7d`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let expected = || "expected a date such as 2026-03-31, or a number of days such as 7d".to_owned();
        if let Some(days) = text.strip_suffix('d') {
            return days.parse().ok().filter(|days| *days > 0).map(Self::Days).ok_or_else(expected);
        }
        let date = Date::strptime("%Y-%m-%d", text).ok().filter(|date| date.year() >= 1970);
        date.map(Self::Date).ok_or_else(expected)
    }

    /// Returns the beginning of the day, in milliseconds since 1970, given the current time.
    pub(crate) fn start_ms(self, now_ms: u64) -> u64 {
        match self {
            Self::Days(days) => (now_ms / DAY_MS).saturating_sub(days - 1) * DAY_MS,
            Self::Date(date) => {
                let start = Offset::UTC.to_timestamp(date.at(0, 0, 0, 0));
                start.ok().and_then(|start| u64::try_from(start.as_millisecond()).ok()).unwrap_or_default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_accepts_a_date_or_a_number_of_days() {
        let now_ms = 1_795_244_700_000;
        let starts = ["2026-11-01", "1d", "7d"]
            .map(|text| format_day(PeriodStart::parse(text).unwrap().start_ms(now_ms)));
        assert_eq!(starts, ["2026-11-01", "2026-11-21", "2026-11-15"]);
        for wrong in ["", "7", "0d", "d", "2026-02-30", "2026-13-01", "1969-01-01", "2026-1", "yesterday"] {
            assert!(PeriodStart::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_formatted_in_utc() {
        let time_at = |seconds: u64| format_time(seconds * 1_000);
        assert_eq!(time_at(0), "1970-01-01 00:00");
        assert_eq!(time_at(951_782_399), "2000-02-28 23:59");
        assert_eq!(time_at(951_782_400), "2000-02-29 00:00");
        assert_eq!(time_at(4_107_542_400), "2100-03-01 00:00");
        assert_eq!(time_at(1_795_244_700), "2026-11-21 07:05");
        assert_eq!(format_time(u64::MAX), "9999-12-30 22:00");
    }
}
