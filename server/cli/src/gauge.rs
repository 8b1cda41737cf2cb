//! Draws quantities as bars of block characters.

/// Length of a bar, in characters.
const BAR_CHARS: usize = 20;

/// Draws a percentage as a bar. Values above 100 fill the bar.
pub(crate) fn draw_bar(percent: f64) -> String {
    let full = (percent.clamp(0.0, 100.0) / 100.0 * BAR_CHARS as f64).round() as usize;
    format!("{}{}", "█".repeat(full), "░".repeat(BAR_CHARS - full))
}

/// Returns a part as a percentage of the total, or 0 if both are 0.
pub(crate) fn percentage(part: usize, total: usize) -> f64 {
    100.0 * part as f64 / total.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_filled_in_proportion_and_never_overflow() {
        let ends = |percent: f64| draw_bar(percent).chars().filter(|cell| *cell == '█').count();
        assert_eq!([-1.0, 0.0, 2.4, 2.6, 50.0, 99.0, 103.0].map(ends), [0, 0, 0, 1, 10, 20, 20]);
        assert!([0.0, 33.0, 400.0].iter().all(|percent| draw_bar(*percent).chars().count() == BAR_CHARS));
        assert_eq!([(0, 0), (1, 4), (4, 4)].map(|(part, total)| percentage(part, total)), [0.0, 25.0, 100.0]);
    }
}
