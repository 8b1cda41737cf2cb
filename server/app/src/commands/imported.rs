//! Conversations from outside, without secrets. Does not decide where their messages go.

use strata_conversation::exchange::{self, ImportedConversation};
use strata_conversation::history::NewMessage;
use strata_tokens::redaction::SecretRedactor;

use super::CommandError;

/// Reads the messages of a conversation in any supported format.
pub(super) fn read_imported_messages(
    text: &str,
    screen: &SecretRedactor,
) -> Result<Vec<NewMessage>, CommandError> {
    Ok(read_imported_conversation(text, screen)?.messages)
}

/// Reads a conversation in any supported format, and replaces secrets with placeholders.
pub(super) fn read_imported_conversation(
    text: &str,
    screen: &SecretRedactor,
) -> Result<ImportedConversation, CommandError> {
    let mut imported = exchange::import_conversation(text)
        .map_err(|error| CommandError::invalid("text", &error.to_string()))?;
    imported.messages.iter_mut().for_each(|message| message.screen(screen));
    Ok(imported)
}
