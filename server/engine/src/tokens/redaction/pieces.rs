//! Streams a text in pieces that never end inside a placeholder.

use super::placeholder::open_placeholder;

/// Buffers streamed text so that no returned piece ends inside a placeholder.
#[derive(Debug, Default)]
pub struct TextPieces {
    held: String,
}

impl TextPieces {
    /// Appends a piece and returns the buffered text up to the start of a possibly incomplete placeholder.
    pub fn push(&mut self, text: &str) -> String {
        self.held.push_str(text);
        let rest = self.held.split_off(open_placeholder(&self.held));
        std::mem::replace(&mut self.held, rest)
    }

    /// Returns the remaining text at the end of the stream.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::redaction::{PlaceholderKey, placeholders};

    #[test]
    fn a_placeholder_is_never_split_however_it_comes() {
        let placeholder = PlaceholderKey::new([1; 32]).placeholder("github-token", "hunter2").to_string();
        let text = format!("[a [[secret: {placeholder}[{placeholder}] [secret:x:12] [s");
        proptest!(|(cuts in proptest::collection::vec(1_usize..9, 1..200))| {
            let (mut pieces, mut shown, mut at) = (TextPieces::default(), Vec::new(), 0);
            for cut in cuts.iter().cycle() {
                let end = (at + cut).min(text.len());
                shown.push(pieces.push(&text[at..end]));
                at = end;
                if at == text.len() {
                    break;
                }
            }
            shown.push(pieces.finish());
            prop_assert_eq!(shown.concat(), &*text);
            let whole: usize = shown.iter().map(|piece| placeholders(piece).count()).sum();
            prop_assert_eq!(whole, 2);
        });
    }

    #[test]
    fn what_is_no_placeholder_is_shown_at_once() {
        let mut pieces = TextPieces::default();
        for text in ["a[0]", "[secret]", "[secret:A", "[link](secret:", "[secret::"] {
            assert_eq!(pieces.push(text), text);
        }
        assert_eq!((pieces.push("x [sec"), pieces.push("ond]")), ("x ".to_owned(), "[second]".to_owned()));
        assert_eq!((pieces.push("["), pieces.finish()), (String::new(), "[".to_owned()));
    }
}
