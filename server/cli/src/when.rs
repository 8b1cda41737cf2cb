//! Times as users read and write them, in UTC.

const MINUTE_MS: u64 = 60_000;
const DAY_MINUTES: u64 = 24 * 60;
const DAY_MS: u64 = DAY_MINUTES * MINUTE_MS;

/// Formats milliseconds since 1970 as `2026-03-09 14:05`.
pub(crate) fn moment(ms: u64) -> String {
    let minutes = ms / MINUTE_MS;
    let (year, month, day) = date(minutes / DAY_MINUTES);
    let minute = minutes % DAY_MINUTES;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", minute / 60, minute % 60)
}

/// Formats the day of a time in milliseconds since 1970 as `2026-03-09`.
pub(crate) fn day(ms: u64) -> String {
    let (year, month, day) = date(ms / DAY_MS);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The first day of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    /// A number of days up to and including today.
    Days(u64),
    /// A date, as days since 1970.
    Date(u64),
}

impl Since {
    /// Parses a date such as `2026-03-09`, or a number of days such as `7d`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let expected = || "expected a date such as 2026-03-31, or a number of days such as 7d".to_owned();
        if let Some(days) = text.strip_suffix('d') {
            return days.parse().ok().filter(|days| *days > 0).map(Self::Days).ok_or_else(expected);
        }
        let numbers: Option<Vec<u64>> = text.split('-').map(|number| number.parse().ok()).collect();
        let Some([year @ 1970..=9999, month @ 1..=12, day @ 1..=31]) = numbers.as_deref() else {
            return Err(expected());
        };
        let days = days(*year, *month, *day);
        if date(days) == (*year, *month, *day) { Ok(Self::Date(days)) } else { Err(expected()) }
    }

    /// Returns the beginning of the day, in milliseconds since 1970, given the current time.
    pub(crate) fn start_ms(self, now_ms: u64) -> u64 {
        let days = match self {
            Self::Days(days) => (now_ms / DAY_MS).saturating_sub(days - 1),
            Self::Date(days) => days,
        };
        days * DAY_MS
    }
}

/// Converts a date from 1970 on to days since 1970 (Howard Hinnant's `days_from_civil`).
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = if month > 2 { year } else { year - 1 };
    let (era, year_of_era) = (year / 400, year % 400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year - 719_468
}

/// Converts days since 1970 to year, month and day (Howard Hinnant's `civil_from_days`).
fn date(days: u64) -> (u64, u64, u64) {
    // In years that begin in March, the leap day is the last day.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_starts_with_a_date_or_some_days_ago() {
        let now = 1_795_244_700_000;
        let starts = ["2026-11-01", "1d", "7d"].map(|text| day(Since::parse(text).unwrap().start_ms(now)));
        assert_eq!(starts, ["2026-11-01", "2026-11-21", "2026-11-15"]);
        for wrong in ["", "7", "0d", "d", "2026-02-30", "2026-13-01", "1969-01-01", "2026-1", "yesterday"] {
            assert!(Since::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        let of = |seconds: u64| moment(seconds * 1_000);
        assert_eq!(of(0), "1970-01-01 00:00");
        assert_eq!(of(951_782_399), "2000-02-28 23:59");
        assert_eq!(of(951_782_400), "2000-02-29 00:00");
        assert_eq!(of(4_107_542_400), "2100-03-01 00:00");
        assert_eq!(of(1_795_244_700), "2026-11-21 07:05");
        for day in [0, 58, 59, 60, 11_016, 11_017, 20_778, 47_540, 47_541] {
            let (year, month, of_month) = date(day);
            assert_eq!(days(year, month, of_month), day);
        }
        assert_eq!(moment(u64::MAX).len(), "584556019-04-03 14:25".len());
    }
}
