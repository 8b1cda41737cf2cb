//! What the names of OpenAI's models tell.

/// Whether a model of OpenAI reasons, as `gpt-5` and later, `o1` and `o3-mini` do; `None` for other names, including
/// those with a prefix.
pub(in crate::providers) fn is_reasoning_model(model: &str) -> Option<bool> {
    if let Some(version) = model.strip_prefix("chatgpt-").or(model.strip_prefix("gpt-")) {
        let digits = version.bytes().take_while(u8::is_ascii_digit).count();
        // OpenAI's versions have one digit, unlike `gpt-45`.
        return version.get(..digits).filter(|digits| digits.len() == 1).map(|digit| digit >= "5");
    }
    let mut series = model.strip_prefix('o')?.chars();
    let is_number = series.next().is_some_and(|first| first.is_ascii_digit());
    let is_series = is_number && series.next().is_none_or(|next| next == '-' || next.is_ascii_digit());
    is_series.then_some(true)
}
