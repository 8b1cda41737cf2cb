//! Formats times for users, to the minute and in UTC.

const MINUTE_MS: u64 = 60_000;
const DAY_MINUTES: u64 = 24 * 60;

/// Formats milliseconds since 1970 as `2026-03-09 14:05`.
pub(crate) fn moment(ms: u64) -> String {
    let minutes = ms / MINUTE_MS;
    let (year, month, day) = date(minutes / DAY_MINUTES);
    let minute = minutes % DAY_MINUTES;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", minute / 60, minute % 60)
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
    fn days_are_those_of_the_calendar() {
        let of = |seconds: u64| moment(seconds * 1_000);
        assert_eq!(of(0), "1970-01-01 00:00");
        assert_eq!(of(951_782_399), "2000-02-28 23:59");
        assert_eq!(of(951_782_400), "2000-02-29 00:00");
        assert_eq!(of(4_107_542_400), "2100-03-01 00:00");
        assert_eq!(of(1_795_244_700), "2026-11-21 07:05");
        assert_eq!(moment(u64::MAX).len(), "584556019-04-03 14:25".len());
    }
}
