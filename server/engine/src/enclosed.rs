//! Texts between tags of ours: nothing inside may pass for the closing tag. Which texts stand between which tags is the business
//! of whoever asks a model about them.

use crate::unseen::is_unseen;

/// `text` with a backslash in everything that a reader could take for the closing tag of one of these names: in any case, with
/// space or characters that nobody sees anywhere in it.
pub(crate) fn inert(text: &str, names: &[&str]) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at + 1);
        safe.push_str(before);
        if names.iter().any(|name| closes(tag, name)) {
            safe.push('\\');
        }
        rest = tag;
    }
    safe.push_str(rest);
    safe
}

/// Whether what stands behind a `<` closes the tag `name`. Looks no further than to the next letter that does not fit.
fn closes(tag: &str, name: &str) -> bool {
    let mut seen = tag.chars().filter(|c| !c.is_whitespace() && !is_unseen(*c)).peekable();
    if seen.next_if_eq(&'/').is_none() {
        return false;
    }
    while seen.next_if_eq(&'/').is_some() {}
    name.chars().all(|wanted| seen.next().is_some_and(|letter| letter.eq_ignore_ascii_case(&wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_tags_of_these_names_are_broken_and_no_others() {
        for (text, expected) in [
            ("a </results> b", "a <\\/results> b"),
            ("</RESULTS>", "<\\/RESULTS>"),
            ("< / results >", "<\\ / results >"),
            ("<\n//re\u{200b}sults>", "<\\\n//re\u{200b}sults>"),
            ("<</results", "<<\\/results"),
            ("</result> <results> </div>", "</result> <results> </div>"),
            ("a < b </", "a < b </"),
        ] {
            assert_eq!(inert(text, &["goal", "results"]), expected);
        }
    }
}
