//! What a text may contain, by the medium that shows it. Knows nothing about how the product escapes.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Medium {
    Terminal,
    /// Text of several lines on a terminal.
    Content,
    Tool,
    Notification,
    Label,
    Markdown,
    /// Contains the content of files as it is.
    Prompt,
}

/// Starts of lines that only a name or a text can have written.
const STARTS: [&str; 5] = ["warning: FORGED", "12: FORGED", "# FORGED", "(more: FORGED", "error: FORGED"];

/// Checks that nothing in the text acts on its reader.
#[track_caller]
pub(super) fn check(medium: Medium, what: &str, text: &str) {
    let is_one_line = matches!(medium, Medium::Notification | Medium::Label);
    if medium != Medium::Prompt {
        let hidden = text.chars().find(|c| is_hidden(*c) && (is_one_line || !matches!(c, '\n' | '\t')));
        assert_eq!(hidden, None, "{what} contains {hidden:?}: {text:?}");
    }
    let lines = text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']);
    // A message about a file may begin with its name, and is shown as one message.
    for line in lines.filter(|_| !is_one_line && medium != Medium::Content) {
        let forged = STARTS.iter().find(|start| line.trim_start().starts_with(**start));
        assert_eq!(forged, None, "{what} has a line that a name wrote: {text}");
    }
    if matches!(medium, Medium::Notification | Medium::Label) {
        assert!(!text.contains("$("), "{what} has an icon: {text}");
    }
    if medium == Medium::Notification {
        assert!(!text.contains("]("), "{what} has a link: {text}");
    }
    if medium == Medium::Markdown {
        markdown(what, text);
    }
}

/// Checks that the text is only code blocks and plain paragraphs, also where bare addresses become links.
#[track_caller]
fn markdown(what: &str, text: &str) {
    let mut in_code = false;
    for (event, place) in Parser::new_ext(text, Options::all()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Text(_) if !in_code => {
                let source = text[place].to_lowercase();
                let is_address =
                    source.contains("http:") || source.contains("https:") || source.contains("www.");
                assert!(!is_address, "{what} has an address: {text}");
            }
            Event::Text(_)
            | Event::SoftBreak
            | Event::Start(Tag::Paragraph)
            | Event::End(TagEnd::Paragraph) => {}
            other => panic!("{what} has {other:?}: {text}"),
        }
    }
}

/// Whether nobody sees the character: Unicode's control, format, separator and default-ignorable characters that names may contain.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}
