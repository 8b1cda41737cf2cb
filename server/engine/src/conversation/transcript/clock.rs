//! Parses timestamps in ISO 8601 (RFC 3339) format.

/// Converts `2026-02-11T20:36:47.925Z` or `2026-02-11T21:36:47+01:00` to milliseconds since 1970; `None` for
/// other formats and times before 1970.
pub(super) fn milliseconds(text: &str) -> Option<u64> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let [year, month, day] = numbers(date, '-')?;
    let zone = time.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = time.split_at_checked(zone)?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let [hour, minute, second] = numbers(time, ':')?;
    // Second 60 is a leap second.
    let is_a_time = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60
        && year < 10_000;
    let seconds =
        days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset(zone)?;
    let milliseconds = seconds * 1_000 + thousandths(fraction)?;
    if is_a_time { u64::try_from(milliseconds).ok() } else { None }
}

/// Parses a time zone as seconds east of UTC.
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.get(..1)? {
        "Z" | "z" => return (zone.len() == 1).then_some(0),
        "+" => 1,
        _ => -1,
    };
    let [hours, minutes] = numbers(zone.get(1..)?, ':')?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// Parses exactly `N` numbers of at most four digits.
fn numbers<const N: usize>(text: &str, separator: char) -> Option<[i64; N]> {
    let digits = |part: &str| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let numbers: Option<Vec<i64>> =
        text.split(separator).map(|part| if digits(part) { part.parse().ok() } else { None }).collect();
    numbers?.try_into().ok()
}

/// Parses the digits after the decimal point as milliseconds, ignoring further digits.
fn thousandths(fraction: &str) -> Option<i64> {
    let digits = fraction.bytes().chain(*b"00").take(3);
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(if fraction.is_empty() {
        0
    } else {
        digits.fold(0, |number, digit| number * 10 + i64::from(digit - b'0'))
    })
}

/// Returns the number of days since 1970-01-01. Follows `days_from_civil` in Howard Hinnant's
/// "chrono-Compatible Low-Level Date Algorithms": years begin in March, so that the leap day comes last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_times() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-02-11T20:36:47.925Z", 1_770_842_207_925),
            ("2026-02-11T21:36:47.925+01:00", 1_770_842_207_925),
            ("2026-02-11T15:06:47.925123-05:30", 1_770_842_207_925),
            ("2024-02-29T23:59:59.9Z", 1_709_251_199_900),
            ("2000-03-01 00:00:00z", 951_868_800_000),
        ] {
            assert_eq!(milliseconds(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_gives_none() {
        for text in [
            "",
            "T",
            "2026-02-11",
            "2026-02-11T20:36:47",
            "2026-13-11T20:36:47Z",
            "2026-02-11T24:00:00Z",
            "2026-02-11T20:36:47.9x5Z",
            "2026-02-11T20:36:47Zulu",
            "2026-02-11T20:36:47+01",
            "1969-12-31T23:59:59Z",
            "２０２６-02-11T20:36:47Z",
        ] {
            assert_eq!(milliseconds(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_day_later_is_a_day_more(year in 1970..2400_i64, month in 1..13_i64) {
            let first = days_since_1970(year, month, 1);
            prop_assert_eq!(days_since_1970(year, month, 28), first + 27);
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month { 2 => 28 + i64::from(leap), 4 | 6 | 9 | 11 => 30, _ => 31 };
            let next = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
            prop_assert_eq!(days_since_1970(next.0, next.1, 1), first + length);
        }

        #[test]
        fn no_text_makes_it_panic(text in "[0-9TZ:.+ -]{0,30}|.{0,30}") {
            let _ = milliseconds(&text);
        }
    }
}
