//! Parses and writes timestamps in ISO 8601 (RFC 3339) format.

use jiff::Timestamp;

/// Converts `2026-02-11T20:36:47.925Z` or `2026-02-11T21:36:47+01:00` to milliseconds since 1970; `None` for
/// other formats and times before 1970.
pub(super) fn parse_timestamp(text: &str) -> Option<u64> {
    let time: Timestamp = text.parse().ok()?;
    u64::try_from(time.as_millisecond()).ok()
}

/// Writes milliseconds since 1970 as `2026-02-11T20:36:47.925Z`.
pub(crate) fn format_timestamp(milliseconds: u64) -> String {
    let time = i64::try_from(milliseconds).ok().and_then(|time| Timestamp::from_millisecond(time).ok());
    format!("{:.3}", time.unwrap_or_default())
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
            assert_eq!(parse_timestamp(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn invalid_timestamps_give_none() {
        for text in [
            "",
            "T",
            "2026-02-11",
            "2026-02-11T20:36:47",
            "2026-13-11T20:36:47Z",
            "2026-02-11T24:00:00Z",
            "2026-02-11T20:36:47.9x5Z",
            "2026-02-11T20:36:47Zulu",
            "2026-02-30T20:36:47Z",
            "1969-12-31T23:59:59Z",
            "２０２６-02-11T20:36:47Z",
        ] {
            assert_eq!(parse_timestamp(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[0-9TZ:.+ -]{0,30}|.{0,30}") {
            let _ = parse_timestamp(&text);
        }
    }
}
