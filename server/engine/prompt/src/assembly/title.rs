//! Titles of a prompt's items and parts, for lists in the user interface. They never appear in a prompt.

use std::collections::HashMap;

use strata_base::external::ExternalText;
use strata_conversation::conversation_facts::one_line;
use strata_conversation::history::{ContentBlock, Message, MessageId, ResultPart, Role};
use strata_conversation::providers::Speaker;
use strata_conversation::urls::Pages;

use crate::session::Session;

use crate::layout::{ExcerptKey, ItemKey, LayoutBlock, Part};

/// Maximum length of the title of a message or web page, in characters.
const MAX_TITLE_CHARS: usize = 60;

pub(crate) struct Titles<'a> {
    messages: HashMap<MessageId, &'a Message>,
    pages: &'a Pages,
}

impl<'a> Titles<'a> {
    pub(crate) fn new(session: &'a Session) -> Self {
        let messages = session.history.messages().iter().map(|message| (message.id, &**message)).collect();
        Self { messages, pages: &session.pages }
    }

    /// Returns the title of an item, which is never empty: a file's path, a message's speaker and first words, or a web
    /// page's title.
    pub(crate) fn item_title(&self, key: &ItemKey) -> String {
        match key {
            ItemKey::System => "System prompt".to_owned(),
            ItemKey::Symbol(path) | ItemKey::File(path) => path.notice().to_string(),
            ItemKey::Lines(path, lines) => format!("{} {lines}", path.notice()),
            ItemKey::Excerpt(ExcerptKey { file, place }) => {
                format!("{} {}", file.notice(), ExternalText::new(&place.to_wire_string()).notice())
            }
            ItemKey::History(id) => self
                .messages
                .get(id)
                .map_or_else(|| format!("Message {}", id.0), |message| message_title(message)),
            ItemKey::Url(id) => {
                let page = self.pages.get(*id);
                let names = page.into_iter().flat_map(|page| page.title.iter().chain([&page.address]));
                let mut lines =
                    names.map(|name| one_line(name, MAX_TITLE_CHARS)).filter(|line| !line.is_empty());
                lines.next().unwrap_or_else(|| "Web page".to_owned())
            }
        }
    }

    /// Returns the title of the part to which `block` belongs. A part consists of adjacent blocks with the same content
    /// and purpose.
    pub(super) fn part_title(&self, speaker: Speaker, block: &LayoutBlock) -> String {
        let item_title = block.items.first().map(|key| self.item_title(key));
        match (block.part, item_title) {
            (Part::Files | Part::Urls | Part::History, Some(title)) => title,
            (Part::Updates, Some(title)) => format!("Update of {title}"),
            // A short answer that only makes the roles alternate.
            (Part::Files | Part::Urls | Part::Map | Part::FileList, None)
                if speaker == Speaker::Assistant =>
            {
                "Acknowledgement".to_owned()
            }
            (part, _) => capitalize(&part.to_string()),
        }
    }
}

fn message_title(message: &Message) -> String {
    let first_words = first_words(message);
    match speaker_title(message) {
        speaker_title if first_words.is_empty() => speaker_title.to_owned(),
        speaker_title => format!("{speaker_title}: {first_words}"),
    }
}

fn speaker_title(message: &Message) -> &'static str {
    match message.body.role {
        _ if message.body.content.first().is_some_and(ContentBlock::is_tool_result) => "Tool result",
        Role::User => "User",
        Role::Assistant => "Assistant",
    }
}

/// Returns the first words of a message, or the name of the tool it calls.
fn first_words(message: &Message) -> String {
    let texts = message.body.content.iter().flat_map(|block| match block {
        ContentBlock::Text { text } => vec![text.as_str()],
        ContentBlock::ToolResult { content, .. } => content.iter().filter_map(part_text).collect(),
        _ => Vec::new(),
    });
    let calls = message.body.content.iter().filter_map(|block| match block {
        ContentBlock::ToolCall { name, .. } => Some(name.as_str()),
        _ => None,
    });
    texts
        .chain(calls)
        .map(|text| one_line(text, MAX_TITLE_CHARS))
        .find(|line| !line.is_empty())
        .unwrap_or_default()
}

fn part_text(part: &ResultPart) -> Option<&str> {
    match part {
        ResultPart::Text { text } => Some(text),
        ResultPart::Image(_) | ResultPart::Foreign(_) => None,
    }
}

fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use strata_conversation::history::{MessageKind, NewMessage, ToolOutcome};
    use strata_conversation::urls::Page;

    use super::*;

    fn title(session: &Session, key: &ItemKey) -> String {
        Titles::new(session).item_title(key)
    }

    #[test]
    fn message_titles_have_the_speaker_and_the_first_words() {
        let mut session = Session::new("s");
        let call =
            |name: &str| ContentBlock::ToolCall { id: "c".into(), name: name.into(), input: json!({}) };
        let result = ContentBlock::ToolResult {
            call_id: "c".into(),
            content: vec![ResultPart::Text { text: "exit 1\nmore".into() }],
            outcome: ToolOutcome::Error,
        };
        let thinking = ContentBlock::Thinking { text: "Hm.".into(), signature: None };
        let messages = [
            NewMessage::text(Role::User, "\n Why does\nthis\tfail? "),
            NewMessage::new(
                Role::Assistant,
                vec![thinking.clone(), ContentBlock::text("I look."), call("read")],
            ),
            NewMessage::new(Role::Assistant, vec![thinking, call("run")]),
            NewMessage { kind: MessageKind::ToolResult, ..NewMessage::new(Role::User, vec![result]) },
            NewMessage::text(Role::User, " "),
        ];
        let ids = messages.map(|message| session.history.add(message));
        let titles = ids.map(|id| title(&session, &ItemKey::History(id)));
        let expected = [
            "User: Why does this fail?",
            "Assistant: I look.",
            "Assistant: run",
            "Tool result: exit 1 more",
            "User",
        ];
        assert_eq!(titles, expected);
        let long = session.history.add(NewMessage::text(Role::User, "word ".repeat(100)));
        assert!(title(&session, &ItemKey::History(long)).chars().count() <= MAX_TITLE_CHARS + "User: ".len());
        assert_eq!(title(&session, &ItemKey::History(MessageId(99))), "Message 99");
    }

    #[test]
    fn files_are_named_by_their_paths_and_pages_by_their_titles() {
        let mut session = Session::new("s");
        let page = |address: &str, title: Option<&str>| Page {
            address: address.into(),
            title: title.map(Into::into),
            text: "x".into(),
        };
        let pages =
            [page("https://a", Some("An\nA")), page("https://b", None), page("https://c", Some("\n"))];
        let keys = pages.each_ref().map(|page| ItemKey::Url(page.id()));
        for page in pages {
            session.pages.add(page);
        }
        assert_eq!(keys.map(|key| title(&session, &key)), ["An A", "https://b", "https://c"]);
        assert_eq!(title(&session, &ItemKey::Url(page("https://d", None).id())), "Web page");
        let lines = ItemKey::Lines("src/a.rs".into(), "L2-3".parse().unwrap());
        assert_eq!(title(&session, &lines), "src/a.rs L2-3");
        assert_eq!(title(&session, &ItemKey::Symbol("src/a.rs".into())), "src/a.rs");
    }
}
