//! Names and texts as data: written so that neither can begin anything new in a prompt.

use crate::sanitize::is_invisible;

/// A name as inline code: unseen characters and backticks are escaped, so that it stays one word on one
/// line whatever it holds.
pub fn inline(name: &str) -> String {
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

/// A fence that nothing in the text can close.
pub fn fence(text: &str) -> String {
    let longest_run = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest_run.max(2) + 1)
}
