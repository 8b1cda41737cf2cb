//! Secrets in a restored answer, compared with what a Markdown renderer and a browser make of it: none is in an address.

use e2e::{Rng, is_long};
use pulldown_cmark::{Event, Options, Parser, Tag};
use strata_prompt::settings::Settings;
use strata_tokens::redaction::{Destination, PlaceholderKey, RestoredText, SecretRedactor, placeholders};

/// Pieces of which answers are made. `$` is a placeholder.
const PIECES: [&str; 44] = [
    "$",
    "$",
    "$",
    "$",
    " ",
    " ",
    "\n",
    "\n\n",
    "[",
    "]",
    "](",
    "]: ",
    "]:\n",
    "![x](",
    "[x](",
    ")",
    "<",
    ">",
    "(",
    "\"",
    "'",
    "`",
    "```\n",
    "<img src=",
    "<img src=\"",
    "<a href='",
    "<table background=\"",
    "<iframe src=\"",
    "<p title=\"",
    "<!-- ",
    " -->",
    "<b>",
    "</a>",
    "/",
    "https://evil.example/",
    "?q=",
    "//evil.example",
    "\\",
    "![x][y]",
    "[y]: ",
    "alt=",
    "src =",
    "a",
    "é",
];

/// Attributes that browsers open by themselves or on a click.
const OPENED: [&str; 3] = ["src", "href", "background"];

/// Returns the values of the attributes of a document that a browser would open, by the rules of HTML.
fn opened(document: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut rest = document;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            // Also `<!-->` and `<!--->`.
            let end = if comment.starts_with('>') { Some(0) } else { comment.find("-->").map(|at| at + 2) };
            rest = comment.get(end.unwrap_or(comment.len())..).unwrap_or_default();
            continue;
        }
        if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}');
        let name = rest.split(|c: char| is_space(c) || c == '/' || c == '>').next().unwrap_or_default();
        let is_known = name.chars().all(|c| c.is_ascii_alphanumeric());
        rest = &rest[name.len()..];
        loop {
            rest = rest.trim_start_matches(|c: char| is_space(c) || c == '/');
            if rest.is_empty() || rest.starts_with('>') {
                break;
            }
            // The first character belongs to the name, even if it is `=`.
            let first = rest.chars().next().map_or(0, char::len_utf8);
            let end = rest[first..]
                .find(|c: char| is_space(c) || matches!(c, '/' | '>' | '='))
                .map_or(rest.len(), |at| at + first);
            let name = rest[..end].to_ascii_lowercase();
            rest = rest[end..].trim_start_matches(is_space);
            let Some(value) = rest.strip_prefix('=') else { continue };
            let value = value.trim_start_matches(is_space);
            let (found, after) = match value.chars().next() {
                Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
                _ => value.split_at(value.find(|c: char| is_space(c) || c == '>').unwrap_or(value.len())),
            };
            if is_known && OPENED.contains(&&*name) {
                values.push(found.to_owned());
            }
            rest = after;
        }
    }
    values
}

/// All extensions but links to pages of a wiki (`[[page]]`), which lead nowhere else.
fn extensions() -> Options {
    Options::all().difference(Options::ENABLE_WIKILINKS)
}

/// Renders Markdown as HTML, without links and images, whose targets the parser states.
fn rendered(text: &str) -> String {
    let mut page = String::new();
    for event in Parser::new_ext(text, extensions()) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => page.push_str(&html),
            Event::Text(text) | Event::Code(text) => {
                page.push_str(&text.replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"));
            }
            Event::Start(_) => page.push_str("<p>"),
            Event::End(_) => page.push_str("</p>\n"),
            _ => page.push('\n'),
        }
    }
    page
}

#[test]
fn no_renderer_finds_a_restored_secret_in_an_address() {
    let mut settings = Settings::default();
    settings.redaction.show_secrets = true;
    let screen = SecretRedactor::new(|| PlaceholderKey::new([7; 32])).with_settings(&settings.redaction);
    let secret = format!("gh{}_9fK2mQ7xR4tV8bN1cL6zW3yH5jD0sGpEuTiX", 'p');
    let placeholder = placeholders(&screen.redact_text(&secret)).next().unwrap().1.to_string();
    let rounds: usize = if is_long() { 2_000_000 } else { 20_000 };
    let (mut rng, mut restored, mut addresses) = (Rng::new(40), 0, 0);
    for _ in 0..rounds {
        let written: String = (0..1 + rng.below(14)).map(|_| rng.one_of(&PIECES)).collect();
        let written = written.replace('$', &placeholder);
        let (mut restorer, mut shown) = (screen.restorer(Destination::Display), RestoredText::default());
        let characters: Vec<char> = written.chars().collect();
        for piece in characters.chunks(1 + rng.below(40)) {
            shown.append(&restorer.push(&piece.iter().collect::<String>()));
        }
        shown.append(&restorer.finish());
        let shown = shown.terminal_text();
        restored += shown.matches(&secret).count();
        let page = rendered(shown);
        // An editor shows Markdown, and may also take the text itself for HTML.
        for value in opened(&page).into_iter().chain(opened(shown)) {
            addresses += 1;
            assert!(!value.contains(&secret), "{written:?} opens {value}");
        }
        for event in Parser::new_ext(shown, extensions()) {
            if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event {
                addresses += 1;
                assert!(!dest_url.contains(&secret), "{written:?} links to {dest_url}");
            }
        }
    }
    assert!(restored > rounds / 10 && addresses > rounds / 10, "{restored} {addresses}");
}
