//! Splits names and prose into comparable words: `getHTTPResponse`, `get_http_response` and "getting HTTP responses"
//! share words. Removes common English endings, without a dictionary.

/// Maximum length of a word, in bytes. Longer words are truncated, since they are data rather than words.
const MAX_WORD_BYTES: usize = 40;

/// Returns the words of a name in lower case, split at separators and at changes from lower to upper case.
pub(super) fn subwords(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_subword(name, |word| words.push(word.to_owned()));
    words
}

/// Calls `add` with each of the [`subwords`].
pub(super) fn each_subword(name: &str, add: impl FnMut(&str)) {
    each_subword_in(&mut String::new(), name, add);
}

/// Like [`each_subword`], but builds the words in `word`, which saves an allocation per name.
pub(super) fn each_subword_in(word: &mut String, name: &str, mut add: impl FnMut(&str)) {
    // Most names in a text are one word in lower case.
    if (1..=MAX_WORD_BYTES).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_lowercase()) {
        add(name);
        return;
    }
    word.clear();
    let mut letters = name.chars().peekable();
    let mut previous = CharClass::Mark;
    while let Some(c) = letters.next() {
        let class = CharClass::new(c);
        let next = letters.peek().map_or(CharClass::Mark, |c| CharClass::new(*c));
        // In `getHTTPResponse`, a capital starts a word if it follows or precedes a lower-case letter.
        let starts_word = class == CharClass::Capital
            && (previous != CharClass::Capital || next == CharClass::Small)
            || (class == CharClass::Digit) != (previous == CharClass::Digit);
        if (starts_word || class == CharClass::Mark) && !word.is_empty() {
            add(word);
            word.clear();
        }
        if class != CharClass::Mark && word.len() < MAX_WORD_BYTES {
            match c.is_ascii() {
                true => word.push(c.to_ascii_lowercase()),
                false => word.extend(c.to_lowercase()),
            }
        }
        previous = class;
    }
    if !word.is_empty() {
        add(word);
    }
}

/// Removes common English endings (plural, past, `-ing`) from a lower-case word. The result need not be a
/// word, but it is usually the same for all forms of a word.
pub(super) fn stem(word: &str) -> &str {
    let mut end = word.len();
    if !word.is_ascii() {
        return word;
    }
    let prefix = |end: usize| word.get(..end).unwrap_or(word);
    if let Some(len) = length_without_ending(prefix(end), "ies", 2) {
        // `queries` and `query` are both reduced to `quer`.
        return prefix(len);
    }
    if let Some(len) =
        ["sses", "shes", "ches", "xes", "zes"].iter().find_map(|e| length_without_ending(prefix(end), e, 1))
    {
        end = len + if prefix(end).ends_with("xes") || prefix(end).ends_with("zes") { 1 } else { 2 };
    } else if !prefix(end).ends_with("ss") && !prefix(end).ends_with("us") && !prefix(end).ends_with("is") {
        end = length_without_ending(prefix(end), "s", 3).unwrap_or(end);
    }
    end =
        ["ing", "ed"].iter().find_map(|ending| length_without_ending(prefix(end), ending, 3)).unwrap_or(end);
    end = length_without_ending(prefix(end), "e", 3).unwrap_or(end);
    end = length_without_ending(prefix(end), "y", 3).unwrap_or(end);
    // Reduce a doubled consonant: `stopped` becomes `stop`.
    let bytes = prefix(end).as_bytes();
    if let [.., a, b] = bytes
        && a == b
        && bytes.len() > 3
        && !matches!(b, b'l' | b's' | b'a' | b'e' | b'i' | b'o' | b'u')
    {
        end -= 1;
    }
    prefix(end)
}

/// Returns the length of a word without an ending, or `None` if the word does not have the ending or fewer
/// than `min_length` bytes would remain.
fn length_without_ending(word: &str, ending: &str, min_length: usize) -> Option<usize> {
    word.strip_suffix(ending).map(str::len).filter(|len| *len >= min_length)
}

/// Stop words, sorted for binary search.
const STOP_WORDS: [&str; 114] = [
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "but", "by", "can", "could", "did", "do", "does", "doing", "don", "each", "either",
    "else", "etc", "even", "ever", "every", "few", "for", "from", "had", "has", "have", "having", "here",
    "how", "however", "i", "if", "in", "instead", "into", "is", "isn", "it", "its", "itself", "just", "let",
    "like", "ll", "made", "make", "makes", "may", "might", "more", "most", "much", "must", "my", "no", "not",
    "now", "of", "on", "once", "one", "only", "or", "other", "our", "out", "over", "same", "should", "since",
    "so", "some", "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "those", "to", "too", "up", "us", "ve", "very", "was", "we", "were", "what", "when", "which",
    "while", "who", "why", "will", "with",
];

/// Whether a lower-case word is a stop word.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Small,
    Capital,
    Digit,
    Mark,
}

impl CharClass {
    fn new(c: char) -> Self {
        match c {
            'a'..='z' => Self::Small,
            'A'..='Z' => Self::Capital,
            '0'..='9' => Self::Digit,
            c if c.is_ascii() => Self::Mark,
            c if c.is_uppercase() => Self::Capital,
            c if c.is_alphabetic() => Self::Small,
            c if c.is_numeric() => Self::Digit,
            _ => Self::Mark,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        assert_eq!(subwords("getHTTPResponse"), ["get", "http", "response"]);
        assert_eq!(subwords("__max_redirects2__"), ["max", "redirects", "2"]);
        assert_eq!(subwords("FileKey::of größeÄnderung"), ["file", "key", "of", "größe", "änderung"]);
        assert_eq!(subwords("--"), Vec::<String>::new());
        assert_eq!(subwords(""), Vec::<String>::new());
        assert_eq!(subwords(&"a".repeat(50)), ["a".repeat(MAX_WORD_BYTES)]);
    }

    #[test]
    fn forms_of_a_word_have_the_same_stem() {
        for forms in [
            &["redirect", "redirects", "redirected", "redirecting"][..],
            &["cache", "caches", "cached", "caching"],
            &["query", "queries"],
            &["stop", "stops", "stopped", "stopping"],
            &["match", "matches", "matched"],
            &["class", "classes"],
            &["parse", "parsed", "parses"],
        ] {
            let stems: Vec<&str> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{forms:?}: {stems:?}");
        }
        assert_eq!((stem("is"), stem("status"), stem("s"), stem("")), ("is", "status", "s", ""));
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }
}
