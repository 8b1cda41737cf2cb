//! Escapes names and fences texts, so that neither can start a new section in a prompt.

use strata_base::sanitize::is_invisible;

/// Formats a name as inline code. Escapes invisible characters and backticks, so that the name stays on one line and
/// inside the code.
pub fn inline_code(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    out.push('`');
    for character in name.chars() {
        if character == '`' || is_invisible(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    out.push('`');
    out
}

/// Returns a fence that nothing in the text can close.
pub fn fence_for(text: &str) -> String {
    let longest_run = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest_run.max(2) + 1)
}
