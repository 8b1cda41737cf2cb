//! Services for making prompts, independent of their content.

use crate::prompt::settings::Settings;
use crate::tokens::counting::TokenCounter;
use crate::tokens::models::Models;

/// Services for making a prompt.
#[derive(Clone, Copy)]
pub struct PromptServices<'a> {
    /// The models there are.
    pub models: &'a Models,
    /// Counts tokens.
    pub counter: &'a TokenCounter,
    /// The settings in force.
    pub settings: &'a Settings,
}
