//! Tests of every figure and rule of `docs/compaction.md`, "Tool results, on arrival".

use proptest::prelude::*;

use super::cut::{page_lines, result_text};
use super::*;
use crate::history::{ContentBlock, Image, ImageSource, NewMessage, ResultPart, Role, ToolOutcome};
use crate::settings::TruncateMode;

fn defaults() -> ToolOutputSettings {
    ToolOutputSettings::default()
}

/// Settings without any limits.
fn unlimited() -> ToolOutputSettings {
    ToolOutputSettings { max_lines: 0, max_bytes: 0, large_output_threshold: 0, ..defaults() }
}

fn numbered(lines: usize) -> String {
    (1..=lines).map(|n| format!("{n}\n")).collect()
}

#[track_caller]
fn truncation(text: &str, settings: &ToolOutputSettings) -> (String, TruncationSizes) {
    match decide_output_handling(text, settings) {
        OutputHandling::Truncated { text, report } => (text, report),
        other => panic!("not truncated: {other:?}"),
    }
}

#[test]
fn the_defaults_are_the_documented_ones() {
    let ToolOutputSettings { max_lines, max_bytes, large_output_threshold, truncate_mode, cutoff, .. } =
        defaults();
    assert_eq!((max_lines, max_bytes, large_output_threshold), (2_000, 51_200, 204_800));
    assert_eq!(MAX_TRUNCATED_CHARS, 204_800);
    assert_eq!((truncate_mode, cutoff), (TruncateMode::HeadTail, 10));
}

#[test]
fn each_limit_is_met_exactly() {
    let lines = ToolOutputSettings { max_lines: 2_000, ..unlimited() };
    let chars = unlimited();
    let bytes = ToolOutputSettings { max_bytes: 51_200, ..unlimited() };
    let large = ToolOutputSettings { large_output_threshold: 204_800, ..unlimited() };
    for (settings, text, one_more) in [
        (&lines, "x\n".repeat(2_000), "x"),
        (&lines, "x\n".repeat(1_999) + "x", "\nx"),
        (&chars, "\u{e9}".repeat(204_800), "x"),
        (&bytes, "\u{e9}".repeat(25_600), "x"),
        (&large, "\u{e9}".repeat(204_800), "x"),
    ] {
        assert_eq!(decide_output_handling(&text, settings), OutputHandling::Kept);
        assert_ne!(decide_output_handling(&(text + one_more), settings), OutputHandling::Kept);
    }
}

#[test]
fn outputs_above_the_spill_threshold_are_spilled_regardless_of_other_limits() {
    let text = "\u{e9}".repeat(204_801);
    let size = OutputSize { lines: 1, chars: 204_801, bytes: 409_602 };
    assert_eq!(decide_output_handling(&text, &defaults()), OutputHandling::Spill(size));
    // The limit is in characters: the same number of bytes is truncated.
    let (shortened, _) = truncation(&"\u{e9}".repeat(204_800), &defaults());
    assert!(shortened.len() < 51_400, "{}", shortened.len());
}

#[test]
fn a_notice_has_path_size_and_checksum() {
    let spilled = SpilledOutput {
        id: "7f".into(),
        path: "/tmp/out.txt".into(),
        bytes: 300_000,
        lines: 12,
        sha256: "ab12".into(),
    };
    let expected = "[output too long to show: 12 lines, 300000 bytes, SHA-256 ab12; saved as /tmp/out.txt; read the \
                    lines you need with toolOutput.read 7f]";
    assert_eq!(notice(&spilled), expected);
}

#[test]
fn lines_are_cut_in_the_middle_with_a_marker() {
    for (limit, total, expected) in [
        (4, 5, "1\n2\n[... 2 lines left out ...]\n5\n"),
        (4, 100, "1\n2\n[... 97 lines left out ...]\n100\n"),
        (5, 9, "1\n2\n[... 5 lines left out ...]\n8\n9\n"),
        // Fewer than four lines leave no room for a marker.
        (3, 5, "1\n2\n3\n"),
        (1, 5, "1\n"),
    ] {
        let settings = ToolOutputSettings { max_lines: limit, ..unlimited() };
        let (shortened, report) = truncation(&numbered(total), &settings);
        assert_eq!(shortened, format!("{expected}{report}"), "{limit} of {total}");
        assert_eq!((report.after.lines, report.before.lines), (limit, total));
    }
}

#[test]
fn head_keeps_the_beginning() {
    let settings = ToolOutputSettings { max_lines: 4, truncate_mode: TruncateMode::Head, ..unlimited() };
    let (shortened, report) = truncation(&numbered(9), &settings);
    assert_eq!(shortened, format!("1\n2\n3\n4\n{report}"));
    let settings = ToolOutputSettings { truncate_mode: TruncateMode::Head, ..unlimited() };
    let (shortened, report) = truncated(&"x".repeat(1_000), &settings, 300).unwrap();
    assert_eq!(shortened, "x".repeat(300) + "\n" + &report.to_string());
}

#[test]
fn lines_then_characters_then_bytes() {
    // 3,000 lines of 100 characters, most of them two bytes long: every limit truncates something.
    let text = ("\u{e9}".repeat(99) + "\n").repeat(2_040);
    let without_bytes = ToolOutputSettings { max_bytes: 0, ..defaults() };
    let (_, lines) = truncated(&text, &without_bytes, usize::MAX).unwrap();
    let (_, chars) = truncated(&text, &without_bytes, 100_000).unwrap();
    let (_, bytes) = truncated(&text, &defaults(), 100_000).unwrap();
    assert_eq!(lines.after.lines, 2_000);
    assert!(lines.after.chars > 100_000 && (99_950..=100_000).contains(&chars.after.chars));
    assert!(chars.after.bytes > 51_200 && (51_100..=51_200).contains(&bytes.after.bytes));
    assert_eq!(bytes.before, OutputSize::from_text(&text));
}

#[test]
fn the_last_line_has_the_sizes_before_and_after() {
    let settings = ToolOutputSettings { max_lines: 1, ..unlimited() };
    let (shortened, report) = truncation("\u{e9}\nb", &settings);
    assert_eq!(shortened, "\u{e9}\n[output truncated: 1 of 2 lines, 2 of 3 characters, 3 of 4 bytes kept]");
    assert_eq!(report.after, OutputSize { lines: 1, chars: 2, bytes: 3 });
}

#[test]
fn both_ends_of_one_long_line_are_kept() {
    let text = "a".repeat(400) + &"b".repeat(400);
    for (max_chars, max_bytes) in [(250, 0), (MAX_TRUNCATED_CHARS, 250)] {
        let settings = ToolOutputSettings { max_bytes, ..unlimited() };
        let (shortened, report) = truncated(&text, &settings, max_chars).unwrap();
        assert!(
            shortened.starts_with(&"a".repeat(100))
                && shortened.contains(&("b".repeat(100) + "\n[output truncated"))
        );
        assert!(shortened.contains("a\n[...]\nb") && report.after.bytes <= 250, "{shortened}");
    }
}

#[test]
fn texts_of_a_result_are_truncated_and_images_are_not() {
    let source = ImageSource::Base64 { media_type: "image/png".into(), data: "A".repeat(1_000) };
    let image = ResultPart::Image(Image { source, width: None, height: None });
    let text = |text: &str| ResultPart::Text { text: text.into() };
    let settings = ToolOutputSettings { max_lines: 2, large_output_threshold: 20, ..unlimited() };
    let long = numbered(30);
    let parts = vec![text("short"), image.clone(), text("1\n2\n3\n"), text(&long), text(&long)];
    let intake = IncomingToolResult::new(parts, &settings);
    assert_eq!(intake.texts_to_spill().collect::<Vec<_>>(), [&long, &long]);
    let file =
        SpilledOutput { id: "7f".into(), path: "/p".into(), bytes: 81, lines: 30, sha256: "ab".into() };
    let (cut, report) =
        truncation(&long, &ToolOutputSettings { large_output_threshold: 0, ..settings.clone() });
    assert_eq!(report.before.lines, 30);
    let (short, _) = truncation("1\n2\n3\n", &settings);
    let expected = vec![text("short"), image, text(&short), text(&notice(&file)), text(&cut)];
    assert_eq!(intake.clone().finish([Some(file.clone()), None]), expected);
    assert_eq!(intake.finish([Some(file)]), expected);
}

#[test]
fn pages() {
    let text = "1\n2\n3";
    for (from, count, expected, to) in [
        (1, 2, "1\n2\n", 2),
        (2, 9, "2\n3", 3),
        (0, 1, "1\n", 1),
        (4, 2, "", 3),
        (2, 0, "", 1),
        (usize::MAX, usize::MAX, "", usize::MAX - 1),
    ] {
        let expected = ResultPage { text: expected.into(), from: from.max(1), to, total: 3 };
        assert_eq!(page_lines(text, from, count), expected);
    }
    assert_eq!(page_lines("", 1, 5), ResultPage { text: String::new(), from: 1, to: 0, total: 0 });
}

#[test]
fn the_output_of_a_message_contains_all_its_results() {
    let result = |texts: &[&str]| ContentBlock::ToolResult {
        call_id: "c".into(),
        content: texts.iter().map(|text| ResultPart::Text { text: (*text).into() }).collect(),
        outcome: ToolOutcome::Error,
    };
    let message =
        NewMessage::new(Role::User, vec![ContentBlock::text("x"), result(&["a", "b\n"]), result(&["c"])]);
    assert_eq!(result_text(&message).as_deref(), Some("a\nb\nc"));
    assert_eq!(result_text(&NewMessage::text(Role::User, "x")), None);
}

#[test]
fn the_marker_of_cut_bytes_does_not_exceed_the_limit_of_characters() {
    let settings = ToolOutputSettings { max_bytes: 390, ..unlimited() };
    let (_, report) = truncated(&"𝄞".repeat(120), &settings, 100).unwrap();
    assert!(report.after.chars <= 100 && report.after.bytes <= 390, "{report}");
}

proptest! {
    #[test]
    fn limits_hold_for_any_text(
        text in "(\\PC|\n|\u{1d11e}|\u{e9}){0,600}",
        (lines, chars, bytes) in (0..30_usize, 0..400_usize, 0..400_usize),
        head in any::<bool>(),
    ) {
        let truncate_mode = if head { TruncateMode::Head } else { TruncateMode::HeadTail };
        let settings =
            ToolOutputSettings { max_lines: lines, max_bytes: bytes, truncate_mode, ..unlimited() };
        let fits = |size: OutputSize| {
            !(exceeds_nonzero_limit(size.lines, lines) || exceeds_nonzero_limit(size.chars, chars) || exceeds_nonzero_limit(size.bytes, bytes))
        };
        match truncated(&text, &settings, chars) {
            None => prop_assert!(fits(OutputSize::from_text(&text))),
            Some((shortened, report)) => {
                prop_assert!(!fits(report.before));
                prop_assert_eq!(report.before, OutputSize::from_text(&text));
                prop_assert!(report.after.chars <= chars || chars == 0);
                prop_assert!(report.after.bytes <= bytes || bytes == 0);
                // Up to two markers are on separate lines.
                prop_assert!(report.after.lines <= lines + 4 || lines == 0);
                let body = shortened.strip_suffix(&report.to_string());
                prop_assert!(body.is_some_and(|body| body.is_empty() || body.ends_with('\n')));
                let start = body.and_then(|body| body.chars().next());
                prop_assert!(report.after.bytes == 0 || start == text.chars().next());
            }
        }
    }

    #[test]
    fn consecutive_pages_give_the_whole_output(text in "(\\PC|\n){0,80}", count in 1..5_usize) {
        let total = page_lines(&text, 1, 0).total;
        let pages: String = (1..=total).step_by(count).map(|from| page_lines(&text, from, count).text).collect();
        prop_assert_eq!(pages, text);
    }
}
