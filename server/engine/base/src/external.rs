//! Text from outside: names of files, symbols, branches and tools, headings, and the words of models. Whoever wrote it
//! may want it to be read as something else: as a link that runs a command, as an image that is fetched, or as another
//! line of the output. [`ExternalText`] cannot be printed, and has one method for each medium that can print it.

use std::fmt::{self, Write as _};

/// Text from outside. Has no `Display`, so it reaches an output only through the method of that medium.
///
/// Every medium shows invisible characters as escapes such as `\u{202e}` ([`is_invisible`]), because terminals obey
/// them and readers do not see them. In prompts, a name that does not begin a line is inline code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ExternalText<'a>(&'a str);

/// Text from outside, as one medium shows it.
#[derive(Clone, Copy)]
pub struct RenderedText<'a> {
    text: &'a str,
    medium: TextPlacement,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TextPlacement {
    Line,
    Lines,
    Label,
    Notice,
    Markdown,
    LineStart,
    ToolLine,
}

enum CharacterForm {
    Plain,
    /// As `\u{...}`, which is visible and active nowhere.
    Escaped,
    /// With a backslash before it.
    Quoted,
}

impl<'a> ExternalText<'a> {
    pub fn new(text: &'a (impl AsRef<str> + ?Sized)) -> Self {
        Self(text.as_ref())
    }

    /// For the terminal, the log and messages: one line.
    pub fn line(self) -> RenderedText<'a> {
        self.render(TextPlacement::Line)
    }

    /// For the terminal, if the text has several lines, such as the content of a file: keeps line breaks, tabs, and the
    /// characters that join or vary visible ones, as in emoji.
    pub fn lines(self) -> RenderedText<'a> {
        self.render(TextPlacement::Lines)
    }

    /// For labels: one line without icons. VS Code turns `$(x)` into an icon in most labels.
    pub fn label(self) -> RenderedText<'a> {
        self.render(TextPlacement::Label)
    }

    /// For notifications: one line without links and icons. VS Code turns `[x](y)` into a link in every notification, also
    /// if `y` runs a command of the editor.
    pub fn notice(self) -> RenderedText<'a> {
        self.render(TextPlacement::Notice)
    }

    /// For Markdown: one line that is only text. Source: CommonMark 0.31, "Backslash escapes", and the extended
    /// autolinks of GitHub Flavored Markdown.
    pub fn markdown(self) -> RenderedText<'a> {
        self.render(TextPlacement::Markdown)
    }

    /// A name at the start of a line, in a prompt or in the result of a tool: one line that is no match (`12: text`),
    /// heading, hint or warning.
    pub fn line_start(self) -> RenderedText<'a> {
        self.render(TextPlacement::LineStart)
    }

    /// A line of content in the result of a tool, after its position: keeps tabs.
    pub fn tool_line(self) -> RenderedText<'a> {
        self.render(TextPlacement::ToolLine)
    }

    fn render(self, medium: TextPlacement) -> RenderedText<'a> {
        RenderedText { text: self.0, medium }
    }
}

impl fmt::Debug for ExternalText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl TextPlacement {
    /// Returns how a character is written, depending on the ones before and after it.
    fn character_form(self, before: Option<char>, character: char, after: Option<char>) -> CharacterForm {
        if is_invisible(character) {
            let is_allowed = match self {
                Self::Lines => matches!(character, '\n' | '\t') || is_joiner(before, character),
                Self::ToolLine => character == '\t',
                _ => false,
            };
            return if is_allowed { CharacterForm::Plain } else { CharacterForm::Escaped };
        }
        match self {
            Self::Line | Self::Lines | Self::ToolLine => CharacterForm::Plain,
            Self::Label | Self::Notice => match (before, character) {
                (Some('$'), '(') => CharacterForm::Escaped,
                (Some(']'), '(') if self == Self::Notice => CharacterForm::Escaped,
                _ => CharacterForm::Plain,
            },
            // Indented text would be code.
            Self::Markdown if before.is_none() && character.is_whitespace() => CharacterForm::Escaped,
            Self::Markdown if is_active_in_markdown(before, character) => CharacterForm::Quoted,
            Self::Markdown => CharacterForm::Plain,
            Self::LineStart => {
                let starts_markup =
                    before.is_none() && (character.is_whitespace() || LINE_MARKUP.contains(character));
                let ends_label =
                    character == ':' && after.is_none_or(|c| c.is_whitespace() || c.is_ascii_digit());
                let ends_number = character == '-'
                    && before.is_some_and(|c| c.is_ascii_digit())
                    && after.is_none_or(char::is_whitespace);
                if starts_markup || ends_label || ends_number {
                    CharacterForm::Escaped
                } else {
                    CharacterForm::Plain
                }
            }
        }
    }
}

/// Whether a character is invisible: a control character, a `Default_Ignorable_Code_Point` of Unicode 16
/// (DerivedCoreProperties.txt: zero-width characters, writing direction, fillers, variation selectors, tags),
/// or a line or paragraph separator.
pub fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{AD}'
                | '\u{34F}'
                | '\u{61C}'
                | '\u{115F}'..='\u{1160}'
                | '\u{17B4}'..='\u{17B5}'
                | '\u{180B}'..='\u{180F}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{3164}'
                | '\u{FE00}'..='\u{FE0F}'
                | '\u{FEFF}'
                | '\u{FFA0}'
                | '\u{FFF0}'..='\u{FFFB}'
                | '\u{1BCA0}'..='\u{1BCA3}'
                | '\u{1D173}'..='\u{1D17A}'
                | '\u{E0000}'..='\u{E0FFF}'
        )
}

/// Characters that begin a heading, tag, quote, list, fence, table or hint at the start of a line.
const LINE_MARKUP: &str = "#<>`~*+-=|([";

/// Whether the character only changes how the visible one before it is drawn.
fn is_joiner(before: Option<char>, character: char) -> bool {
    matches!(character, '\u{200C}' | '\u{200D}' | '\u{FE0E}' | '\u{FE0F}')
        && before.is_none_or(|before| !before.is_ascii() && !is_invisible(before) || before == '\u{FE0F}')
}

fn is_active_in_markdown(before: Option<char>, character: char) -> bool {
    match character {
        // Emphasis, code, links, images, tags, entities, tables, formulas, mentions, addresses (`https:`), icons.
        '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '<' | '>' | '&' | '|' | '!' | '~'
        | '$' | '@' | ':' | '#' | '^' => true,
        // `www.example.org`, `1.`
        '.' => before.is_some_and(|c| matches!(c, 'w' | 'W') || c.is_ascii_digit()),
        // Lists, rulers, underlined headings, indented code.
        '-' | '+' | '=' => before.is_none_or(char::is_whitespace),
        _ => false,
    }
}

impl fmt::Display for RenderedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = None;
        let mut rest = self.text.chars();
        while let Some(character) = rest.next() {
            match self.medium.character_form(before, character, rest.clone().next()) {
                CharacterForm::Plain => f.write_char(character)?,
                CharacterForm::Quoted => write!(f, "\\{character}")?,
                CharacterForm::Escaped => write!(f, "{}", character.escape_unicode())?,
            }
            before = Some(character);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    use super::*;

    const LINK: &str = "[Repair](command:workbench.action.terminal.sendSequence?%7B%7D).py";

    /// Names that someone could give a file, made of what some medium obeys.
    fn hostile_name() -> impl Strategy<Value = String> {
        const PIECES: &[&str] = &[
            "a",
            "Zß",
            "漢",
            "7",
            " ",
            "/",
            ".",
            "12",
            "w",
            "www.evil.example",
            "https://evil.example/x.png",
            "x@y.example",
            "warning: ",
            "error: ",
            "12: ",
            "3- ",
            "(more: ",
            "[Repair](command:x)",
            "![x](https:/evil.example/b.png)",
            "](",
            "$(",
            "$(sync~spin)",
            "%{",
            "<img src=x>",
            "</context>",
            "&lt;",
            "&#x5b;",
            "`",
            "``",
            "|",
            "# ",
            "- ",
            "+ ",
            "1. ",
            "1) ",
            "> ",
            "---",
            "===",
            "\\",
            "*",
            "_",
            "~~",
            "^",
            "!",
            "{",
            "}",
            "(",
            ")",
            "[",
            "]",
            ":",
            "=",
            "\n",
            "\r\n",
            "\t",
            "\u{0}",
            "\u{1b}[2J",
            "\u{1b}]8;;http://evil.example\u{7}",
            "\u{85}",
            "\u{61c}",
            "\u{200b}",
            "\u{200d}",
            "\u{202e}",
            "\u{2028}",
            "\u{2066}",
            "\u{fe0f}",
            "\u{feff}",
            "\u{e0041}",
            "\u{e01ef}",
            "👩",
            "\u{a0}",
            "\u{3000}",
        ];
        let piece = prop_oneof![
            4 => prop::sample::select(PIECES).prop_map(str::to_owned),
            1 => any::<char>().prop_map(String::from),
        ];
        prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }

    /// The text that a reader of Markdown sees, or the first thing that is not text.
    fn visible_text(markdown: &str) -> Result<String, String> {
        let mut text = String::new();
        for event in Parser::new_ext(markdown, Options::all() - Options::ENABLE_SMART_PUNCTUATION) {
            match event {
                Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph) => {}
                Event::Text(part) => text.push_str(&part),
                other => return Err(format!("{other:?}")),
            }
        }
        Ok(text)
    }

    #[test]
    fn a_name_is_inert_in_every_medium() {
        let external = ExternalText::new(LINK);
        assert_eq!(external.line().to_string(), LINK);
        assert_eq!(
            external.notice().to_string(),
            "[Repair]\\u{28}command:workbench.action.terminal.sendSequence?%7B%7D).py"
        );
        let markdown = external.markdown().to_string();
        assert_eq!(visible_text(&markdown).as_deref(), Ok(LINK), "{markdown}");
        let name = ExternalText::new("a\nwarning: b").line_start().to_string();
        assert_eq!(name, "a\\u{a}warning\\u{3a} b");
        assert_eq!(ExternalText::new("12: b").line_start().to_string(), "12\\u{3a} b");
        assert_eq!(ExternalText::new("$(x)").label().to_string(), "$\\u{28}x)");
    }

    #[test]
    fn an_ordinary_name_is_unchanged() {
        for name in [
            "src/lib.rs",
            "a b/é-1.md",
            "untitled:Untitled-1",
            "web/[id]/page.tsx",
            "日本語/ファイル.py",
            "a_b(1).c",
        ] {
            let external = ExternalText::new(name);
            for rendered in [
                external.line(),
                external.lines(),
                external.label(),
                external.notice(),
                external.line_start(),
            ] {
                assert_eq!(rendered.to_string(), name);
            }
            assert_eq!(visible_text(&external.markdown().to_string()).as_deref(), Ok(name));
        }
        assert_eq!(ExternalText::new("src/lib.rs").markdown().to_string(), "src/lib.rs");
        let answer = "👩\u{200d}💻 ❤\u{fe0f}:\n\tx\n";
        assert_eq!(ExternalText::new(answer).lines().to_string(), answer);
    }

    proptest! {
        #[test]
        fn no_invisible_character_remains(name in hostile_name()) {
            let external = ExternalText::new(&name);
            let rendered_names = [external.line(), external.label(), external.notice(), external.markdown(), external.line_start()];
            for rendered in rendered_names.map(|rendered| rendered.to_string()) {
                prop_assert!(!rendered.chars().any(is_invisible), "{rendered:?}");
            }
            let line = external.tool_line().to_string();
            prop_assert!(!line.chars().any(|c| c != '\t' && is_invisible(c)), "{line:?}");
            let lines = external.lines().to_string();
            let bare = lines.replace(['\u{200c}', '\u{200d}', '\u{fe0e}', '\u{fe0f}', '\n', '\t'], "");
            prop_assert!(!bare.chars().any(is_invisible), "{lines:?}");
        }

        #[test]
        fn no_link_icon_or_markup_remains(name in hostile_name()) {
            let external = ExternalText::new(&name);
            let notice = external.notice().to_string();
            prop_assert!(!notice.contains("](") && !notice.contains("$("), "{notice}");
            prop_assert!(!external.label().to_string().contains("$("));
            let markdown = external.markdown().to_string();
            let indent = name.chars().next().filter(|c| c.is_whitespace() && !is_invisible(*c));
            let expected = match indent {
                Some(first) => format!("{}{}", first.escape_unicode(), ExternalText::new(&name[first.len_utf8()..]).line()),
                None => external.line().to_string(),
            };
            let text = visible_text(&markdown).map(|text| text.trim_end().to_owned());
            prop_assert_eq!(text, Ok(expected.trim_end().to_owned()), "{:?}", markdown);
            // GitHub Flavored Markdown makes links of bare addresses.
            let markdown = markdown.to_lowercase().replace("\\://", "");
            prop_assert!(!markdown.contains("://") && !markdown.contains("www."), "{markdown}");
        }

        #[test]
        fn a_name_cannot_imitate_a_line_of_a_result(name in hostile_name()) {
            use regex::Regex;
            let forged = Regex::new(r"^(\d+[-:]\s|\w+:(\s|$)|[#<>`~*+=|(\s-])").unwrap();
            let name = ExternalText::new(&name).line_start().to_string();
            prop_assert!(!forged.is_match(&name), "{name}");
        }
    }
}
