//! Extracts a short snippet around a match.

/// Returns the text around the first occurrence of a term, on one line of at most `max` characters. If no term occurs
/// literally, returns the beginning of the text.
pub(super) fn snippet(text: &str, terms: &[&str], max: usize) -> String {
    let folded = fold(text);
    let at = terms.iter().filter_map(|term| folded.find(&*fold(term))).min().unwrap_or_default();
    let before = max / 4;
    let start = text[..at].char_indices().rev().take(before).last().map_or(at, |(at, _)| at);
    let mut line = String::new();
    let mut left = max;
    let mut space = start > 0;
    if start > 0 {
        line.push('…');
        left = left.saturating_sub(1);
        space = false;
    }
    for c in text[start..].chars() {
        if c.is_whitespace() {
            space = !line.is_empty();
            continue;
        }
        if left <= 1 + usize::from(space) {
            line.push('…');
            break;
        }
        if std::mem::take(&mut space) {
            line.push(' ');
            left -= 1;
        }
        line.push(c);
        left -= 1;
    }
    line
}

/// Folds case without changing byte lengths, so that byte offsets remain valid.
fn fold(text: &str) -> String {
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
