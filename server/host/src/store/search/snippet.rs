//! Extracts a short snippet around a match.

/// Returns the text around the first occurrence of a term, on one line of at most `max` characters. If no term occurs
/// literally, returns the beginning of the text.
pub(super) fn snippet(text: &str, terms: &[&str], max_chars: usize) -> String {
    let folded = fold_case(text);
    let match_start =
        terms.iter().filter_map(|term| folded.find(&*fold_case(term))).min().unwrap_or_default();
    let before = max_chars / 4;
    let start =
        text[..match_start].char_indices().rev().take(before).last().map_or(match_start, |(index, _)| index);
    let mut line = String::new();
    let mut chars_left = max_chars;
    let mut needs_space = start > 0;
    if start > 0 {
        line.push('…');
        chars_left = chars_left.saturating_sub(1);
        needs_space = false;
    }
    for c in text[start..].chars() {
        if c.is_whitespace() {
            needs_space = !line.is_empty();
            continue;
        }
        if chars_left <= 1 + usize::from(needs_space) {
            line.push('…');
            break;
        }
        if std::mem::take(&mut needs_space) {
            line.push(' ');
            chars_left -= 1;
        }
        line.push(c);
        chars_left -= 1;
    }
    line
}

/// Folds case without changing byte lengths, so that byte offsets remain valid.
fn fold_case(text: &str) -> String {
    text.chars()
        .map(|c| {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(folded), None) if folded.len_utf8() == c.len_utf8() => folded,
                _ => c,
            }
        })
        .collect()
}
