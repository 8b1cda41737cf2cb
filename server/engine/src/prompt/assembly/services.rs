//! Services for assembling prompts, independent of their content.

use crate::prompt::settings::Settings;
use crate::tokens::counting::TokenCounter;
use crate::tokens::models::Models;

/// Services for assembling a prompt.
#[derive(Clone, Copy)]
pub struct PromptServices<'a> {
    /// The model table.
    pub models: &'a Models,
    pub counter: &'a TokenCounter,
    /// The current settings.
    pub settings: &'a Settings,
}
