//! `redaction.*`: lists the secrets that placeholders replace, and restores them in a text to be applied to a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::key::FileKey;
use strata_base::text::LineStarts;
use strata_conversation::history::{ContentBlock, MessageId, ResultPart};
use strata_tokens::redaction::{
    Destination, FoundSecret, Placeholder, Restoration, RestoredText, placeholders,
};

use super::{Access, Command, CommandError, Context, NoArguments};

/// A text in which to restore secrets.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RestoreParams {
    /// Text that contains placeholders, such as a model's answer.
    text: String,
}

/// The text with its secrets restored. Apply it to a file; do not send it to a model.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RestoredText")]
pub(super) struct RestoreReply {
    /// Text with known secrets restored.
    #[schemars(with = "String")]
    text: RestoredText,
    /// Number of placeholders that were replaced.
    restored: usize,
    /// Placeholders that were not replaced because their secrets are unknown: the file is not selected, or the secret
    /// was found in a message during an earlier run of the server.
    #[schemars(with = "Vec<String>")]
    unknown: Vec<Placeholder>,
    /// Placeholders that were not replaced because they are inside an address, or in the target of a link or an image,
    /// and the secret was not found in the same address.
    #[schemars(with = "Vec<String>")]
    withheld: Vec<Placeholder>,
}

/// The secrets that placeholders replace in the session's content.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RedactedSecrets")]
pub(super) struct SecretList {
    /// Secrets in files, sorted by path, then secrets in web pages, then secrets in messages.
    secrets: Vec<ListedSecret>,
}

/// An occurrence of a secret. Never contains the secret itself.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RedactedSecret")]
struct ListedSecret {
    /// Rule that found the secret. For a secret from an earlier run of the server, the label in its placeholder.
    rule: String,
    /// Placeholder that the model sees instead of the secret.
    #[schemars(with = "String")]
    placeholder: Placeholder,
    /// Path of the file that contains the secret. Absent if it is not in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<FileKey>,
    /// Address of the web page that contains the secret. Absent if it is not in a web page.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Number of the message that contains the secret. Absent if it is not in a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<MessageId>,
    /// Line of the secret in the file, the page, or the block of the message, counted from 1.
    line: usize,
}

impl ListedSecret {
    fn new(rule: &str, placeholder: Placeholder, line: usize) -> Self {
        Self { rule: rule.to_owned(), placeholder, path: None, url: None, message: None, line }
    }
}

pub(super) struct ListSecrets;

impl Command for ListSecrets {
    const NAME: &str = "strata.redaction.list";
    const SUMMARY: &str = "Lists the secrets replaced by placeholders.";
    const ACCESS: Access = Access::Reads;
    type Args = NoArguments;
    type Reply = SecretList;

    fn run(_: NoArguments, context: &mut Context<'_>) -> Result<SecretList, CommandError> {
        let Context { snapshot, session, .. } = context;
        let mut secrets = Vec::new();
        for key in session.selection.selected.keys() {
            // Skip unreadable files, which have no secrets to list.
            let Ok(file) = snapshot.text(key, &session.selection) else { continue };
            let listed = |FoundSecret { rule, line, placeholder }: &FoundSecret| ListedSecret {
                path: Some(key.clone()),
                ..ListedSecret::new(rule, placeholder.clone(), *line)
            };
            secrets.extend(file.redacted.iter().map(listed));
        }
        let found_in = |text: &str| -> Vec<ListedSecret> {
            let lines = LineStarts::new(text);
            let secrets_in_text = placeholders(text).map(|(range, placeholder)| {
                let line = lines.line(range.start) as usize;
                let rule = snapshot.screen.rule_of(&placeholder).map(str::to_owned);
                ListedSecret::new(&rule.unwrap_or_else(|| placeholder.label().to_owned()), placeholder, line)
            });
            secrets_in_text.collect()
        };
        for page in session.pages.iter() {
            let url = page.address.to_string();
            secrets.extend(
                found_in(&page.text)
                    .into_iter()
                    .map(|listed| ListedSecret { url: Some(url.clone()), ..listed }),
            );
        }
        for message in session.history.messages() {
            let texts = message.body.content.iter().flat_map(texts_of);
            let listed = texts.flat_map(|text| found_in(&text));
            secrets.extend(listed.map(|listed| ListedSecret { message: Some(message.id), ..listed }));
        }
        Ok(SecretList { secrets })
    }
}

pub(super) struct RestoreSecrets;

impl Command for RestoreSecrets {
    const NAME: &str = "strata.redaction.restore";
    const SUMMARY: &str =
        "Replaces placeholders with the secrets they stand for, so that the text can be written to a file.";
    const ACCESS: Access = Access::Reads;
    const SCREENED: bool = false;
    type Args = RestoreParams;
    type Reply = RestoreReply;

    fn run(params: RestoreParams, context: &mut Context<'_>) -> Result<RestoreReply, CommandError> {
        let Context { snapshot, session, .. } = context;
        // Reading the selected files makes their secrets known again after a restart.
        for key in session.selection.selected.keys() {
            let _ = snapshot.text(key, &session.selection);
        }
        let restoration = snapshot.screen.restore(&params.text, Destination::Edit);
        let Restoration { text, restored, unknown, withheld } = restoration;
        Ok(RestoreReply { text, restored, unknown, withheld })
    }
}

/// Returns the strings in a block that can contain placeholders.
fn texts_of(block: &ContentBlock) -> Vec<String> {
    let part = |part: &ResultPart| match part {
        ResultPart::Text { text } => Some(text.clone()),
        ResultPart::Foreign(foreign) => Some(foreign.value.to_string()),
        ResultPart::Image(_) => None,
    };
    match block {
        ContentBlock::Text { text } | ContentBlock::Thinking { text, .. } => vec![text.clone()],
        ContentBlock::ToolCall { input, .. } => vec![input.to_string()],
        ContentBlock::ToolResult { content, .. } => content.iter().filter_map(part).collect(),
        ContentBlock::Foreign(foreign) => vec![foreign.value.to_string()],
        ContentBlock::Image(_) | ContentBlock::RedactedThinking { .. } => Vec::new(),
    }
}
