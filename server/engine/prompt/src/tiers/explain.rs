//! Explains a cache break to the user. Names are escaped, because the text may be rendered as Markdown.

use strata_conversation::urls::Pages;

use crate::layout::{ItemKey, inline_code};

use super::{Break, BreakReason};

/// Maximum number of items that an explanation names. Further items are only counted.
const MAX_NAMED_ITEMS: usize = 3;

impl Break {
    /// Explains a cache break in one or two sentences. `pages` provides the titles of web pages.
    pub fn explain(&self, pages: &Pages) -> String {
        let items = || item_list(&self.items, pages);
        let was = if self.items.len() <= 1 { "was" } else { "were" };
        let cause = match self.reason {
            BreakReason::First => "this was the first prompt, so nothing was cached before".to_owned(),
            BreakReason::None => {
                "no cache miss: the last prompt is unchanged, with new content after it".to_owned()
            }
            BreakReason::Model => {
                "the model, the format or the tools changed, so the previous prompt's cache does not apply"
                    .to_owned()
            }
            BreakReason::Expired => {
                "the cache expired because too much time passed since the last prompt".to_owned()
            }
            BreakReason::System => "the system prompt changed, and it precedes everything else".to_owned(),
            BreakReason::Deselected => {
                format!("{} {was} deselected, which removed the text from the prompt", items())
            }
            BreakReason::Excluded => format!("{} {was} excluded and removed from the prompt", items()),
            BreakReason::Selected => {
                format!("{} was replaced by the full text of the file, which you selected", items())
            }
            BreakReason::Changed => format!("{} {was} changed, and the new text replaced the old", items()),
            BreakReason::Vanished => format!("{} {was} removed, or did not fit", items()),
            BreakReason::History if self.items.is_empty() => {
                "the conversation was edited, replaced or shortened".to_owned()
            }
            BreakReason::History => {
                format!("the conversation was edited, replaced or shortened from {} on", items())
            }
            BreakReason::Moved => format!("{} {was} moved to another place in the prompt", items()),
        };
        let token_counts = match self.reason {
            BreakReason::First | BreakReason::None => String::new(),
            _ => format!(" ({} tokens stayed cached, {} were sent again)", self.kept, self.rewritten),
        };
        let missed = self.missed.map_or(String::new(), |missed| {
            format!(
                ". The provider read {} tokens from its cache instead of {}, so less was cached than expected",
                missed.reported, missed.expected
            )
        });
        format!("Turn {}: {cause}{token_counts}{missed}.", self.turn)
    }
}

/// Formats the names of the first items and the number of the others.
fn item_list(items: &[ItemKey], pages: &Pages) -> String {
    let mut names: Vec<String> =
        items.iter().take(MAX_NAMED_ITEMS).map(|key| item_name(key, pages)).collect();
    match items.len().saturating_sub(MAX_NAMED_ITEMS) {
        0 => {}
        1 => names.push("one more".to_owned()),
        more => names.push(format!("{more} more")),
    }
    match names.pop() {
        None => "something".to_owned(),
        Some(last) if names.is_empty() => last,
        Some(last) => format!("{} and {last}", names.join(", ")),
    }
}

fn item_name(key: &ItemKey, pages: &Pages) -> String {
    match key {
        ItemKey::System => "the system prompt".to_owned(),
        ItemKey::Symbol(path) => format!("the outline of {}", inline_code(path.as_str())),
        ItemKey::File(path) => inline_code(path.as_str()),
        ItemKey::Lines(path, lines) => format!("{lines} of {}", inline_code(path.as_str())),
        ItemKey::Excerpt(excerpt) => format!("an excerpt of {}", inline_code(excerpt.file.as_str())),
        ItemKey::History(id) => format!("message {}", id.0),
        ItemKey::Url(id) => match pages.get(*id) {
            Some(page) => {
                format!("the web page {}", inline_code(page.title.as_ref().unwrap_or(&page.address)))
            }
            None => "a web page".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use strata_conversation::history::MessageId;
    use strata_tokens::cost::CacheShortfall;

    use super::*;

    fn cache_break(reason: BreakReason, items: Vec<ItemKey>) -> Break {
        Break {
            turn: 4,
            at_ms: 0,
            reason,
            items,
            kept: 1_200,
            rewritten: 340,
            moved: vec![],
            lost: 300,
            cost: 345.0,
            missed: None,
        }
    }

    #[test]
    fn explanations_name_the_file_and_the_turn() {
        let file = |path: &str| ItemKey::File(path.into());
        let explanation = |cache_break: &Break| cache_break.explain(&Pages::default());
        assert_eq!(
            explanation(&cache_break(BreakReason::Deselected, vec![file("src/a.rs")])),
            "Turn 4: `src/a.rs` was deselected, which removed the text from the prompt (1200 tokens stayed cached, 340 were \
             sent again)."
        );
        let many = ["a", "b", "c", "d", "e"].map(file).to_vec();
        assert!(
            explanation(&cache_break(BreakReason::Moved, many))
                .contains(": `a`, `b`, `c` and 2 more were moved")
        );
        let lines = ItemKey::Lines("a".into(), "L1-2".parse().unwrap());
        let both = vec![ItemKey::Symbol("b`\n".into()), lines];
        let sentence = explanation(&cache_break(BreakReason::Changed, both));
        assert!(
            sentence.contains(": the outline of `b\\u{60}\\u{a}` and L1-2 of `a` were changed"),
            "{sentence}"
        );
        let message = vec![ItemKey::History(MessageId(3))];
        assert!(
            explanation(&cache_break(BreakReason::History, message)).contains("shortened from message 3 on")
        );
    }

    #[test]
    fn a_provider_that_read_less_than_expected_is_mentioned() {
        let missed = Some(CacheShortfall { expected: 900, reported: 0 });
        let sentence = Break { missed, ..cache_break(BreakReason::None, vec![]) }.explain(&Pages::default());
        assert!(sentence.contains("read 0 tokens from its cache instead of 900"), "{sentence}");
    }
}
