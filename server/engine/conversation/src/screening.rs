//! Redacts messages before they are sent: every text passes through `tokens::redaction`. Data that has the
//! form of image bytes, or of content encrypted by a provider, is left unchanged.

use strata_tokens::redaction::{SecretRedactor, is_base64_text};

use crate::history::{ContentBlock, Image, ImageSource, NewMessage, ResultPart};

impl NewMessage {
    /// Replaces secrets in the message with placeholders.
    pub fn screen(&mut self, screen: &SecretRedactor) {
        self.content = screen_blocks(screen, std::mem::take(&mut self.content));
    }
}

/// Replaces secrets in content blocks with placeholders. Removes reasoning that contains a secret, because
/// providers only accept unchanged reasoning.
pub(crate) fn screen_blocks(screen: &SecretRedactor, blocks: Vec<ContentBlock>) -> Vec<ContentBlock> {
    blocks.into_iter().filter_map(|block| redact_or_drop_block(screen, block)).collect()
}

pub(crate) fn screen_parts(screen: &SecretRedactor, parts: Vec<ResultPart>) -> Vec<ResultPart> {
    let part = |part| match part {
        ResultPart::Text { text } => ResultPart::Text { text: screen.redact_string(text) },
        ResultPart::Image(image) => ResultPart::Image(screen_image(screen, image)),
        ResultPart::Foreign(mut foreign) => {
            screen.redact_value(&mut foreign.value);
            ResultPart::Foreign(foreign)
        }
    };
    parts.into_iter().map(part).collect()
}

fn redact_or_drop_block(screen: &SecretRedactor, block: ContentBlock) -> Option<ContentBlock> {
    Some(match block {
        ContentBlock::Text { text } => ContentBlock::Text { text: screen.redact_string(text) },
        ContentBlock::Thinking { text, signature } => {
            let clean = screen.has_no_secrets(&text)
                && signature.as_deref().is_none_or(|seal| screen.is_safe_reasoning_data(seal));
            return clean.then_some(ContentBlock::Thinking { text, signature });
        }
        ContentBlock::ToolCall { id, name, mut input } => {
            screen.redact_value(&mut input);
            ContentBlock::ToolCall { id: screen.redact_string(id), name: screen.redact_string(name), input }
        }
        ContentBlock::ToolResult { call_id, content, outcome } => ContentBlock::ToolResult {
            call_id: screen.redact_string(call_id),
            content: screen_parts(screen, content),
            outcome,
        },
        ContentBlock::Foreign(mut foreign) => {
            screen.redact_value(&mut foreign.value);
            ContentBlock::Foreign(foreign)
        }
        ContentBlock::Image(image) => ContentBlock::Image(screen_image(screen, image)),
        ContentBlock::RedactedThinking { ref data } => {
            return screen.is_safe_reasoning_data(data).then_some(block);
        }
    })
}

fn screen_image(screen: &SecretRedactor, image: Image) -> Image {
    let source = match image.source {
        ImageSource::Base64 { media_type, data } => ImageSource::Base64 {
            media_type: screen.redact_string(media_type),
            data: if is_base64_text(&data) { data } else { screen.redact_string(data) },
        },
        ImageSource::Url { url } => ImageSource::Url { url: screen.redact_string(url) },
    };
    Image { source, ..image }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use strata_tokens::redaction::PlaceholderKey;

    use super::*;
    use crate::history::{Role, ToolOutcome};

    fn screen() -> SecretRedactor {
        SecretRedactor::new(|| PlaceholderKey::new([7; 32]))
    }

    /// An invalid token in GitHub's format, written in parts, so that secret scanners do not report this
    /// file.
    fn random() -> String {
        format!("gh{}_{}", 'p', "9fK2mQ7xR4tV8bN1cL6zW3yH5jD0sGpEuTiX")
    }

    #[test]
    fn every_string_in_messages_and_json_is_screened() {
        let screen = screen();
        let secret = random();
        let password = ["xK9#mP2$", "vL5n"].concat();
        let input = json!({ "cmd": ["echo", &secret], "env": { "password": password }, "n": 3 });
        let mut message = NewMessage::new(
            Role::Assistant,
            vec![
                ContentBlock::Thinking { text: format!("so {secret}"), signature: Some("sealed".to_owned()) },
                ContentBlock::text(format!("it is {secret}")),
                ContentBlock::ToolCall { id: "1".to_owned(), name: "sh".to_owned(), input },
            ],
        );
        message.screen(&screen);
        let out = serde_json::to_string(&message).unwrap();
        assert!(!out.contains(&secret) && !out.contains("vL5n"), "{out}");
        assert!(!out.contains("sealed"), "sealed reasoning goes as a whole: {out}");
    }

    #[test]
    fn calls_and_their_results_keep_the_same_id() {
        let screen = screen();
        let secret = random();
        let call =
            ContentBlock::ToolCall { id: secret.clone(), name: format!("run {secret}"), input: json!({}) };
        let result = ContentBlock::ToolResult {
            call_id: secret.clone(),
            content: Vec::new(),
            outcome: ToolOutcome::default(),
        };
        let blocks = screen_blocks(&screen, vec![call, result]);
        let [ContentBlock::ToolCall { id, name, .. }, ContentBlock::ToolResult { call_id, .. }] = &blocks[..]
        else {
            panic!("{blocks:?}")
        };
        assert!(id == call_id && !id.contains(&secret) && !name.contains(&secret), "{blocks:?}");
    }

    #[test]
    fn screening_keeps_only_the_bytes_of_images() {
        let screen = screen();
        let secret = random();
        let image = |source| Image { source, width: None, height: None };
        let bytes = |media_type: &str, data: &str| {
            image(ImageSource::Base64 { media_type: media_type.to_owned(), data: data.to_owned() })
        };
        let key = ["AKI", "A2345ABCDEFGHJKLM"].concat();
        let picture = bytes("image/png", &key);
        let pictures = [
            image(ImageSource::Url { url: format!("https://example.org/a.png?token={secret}") }),
            bytes("image/png", &format!("token {secret}")),
            bytes(&secret, "AAAA"),
            picture.clone(),
        ];
        let sealed = vec![
            ContentBlock::Thinking { text: "so".to_owned(), signature: Some(format!("it is {secret}")) },
            ContentBlock::RedactedThinking { data: format!("it is {secret}") },
        ];
        let blocks = screen_blocks(
            &screen,
            sealed.into_iter().chain(pictures.clone().map(ContentBlock::Image)).collect::<Vec<_>>(),
        );
        let parts = screen_parts(&screen, pictures.map(ResultPart::Image).to_vec());
        assert!(!format!("{blocks:?} {parts:?}").contains(&secret), "{blocks:?} {parts:?}");
        assert_eq!((blocks.len(), blocks.last()), (4, Some(&ContentBlock::Image(picture.clone()))));
        assert_eq!(parts.last(), Some(&ResultPart::Image(picture)));
    }
}
