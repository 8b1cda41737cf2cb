//! Texts that open something again and again and close nothing.

/// What to repeat: brackets, comments, strings, interpolations and here-documents of any language. Each is tried in every
/// language, because a parser that recovers from errors reads what its language does not have as well.
pub const NESTS: [&str; 24] = [
    "(",
    "[",
    "{",
    "<",
    "(*",
    "/*",
    "{-",
    "<!--",
    "--[[",
    "=begin\n",
    "\"",
    "'",
    "`",
    "'''",
    "\"#{",
    "\"${",
    "f\"{",
    "$\"{",
    "`${",
    "\"\\(",
    "\"$(",
    "<<A\n",
    "(* \"a\" ",
    "- ",
];
