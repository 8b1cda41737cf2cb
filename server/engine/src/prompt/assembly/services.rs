//! What prompts are made with, whatever they hold.

use crate::prompt::settings::Settings;
use crate::tokens::counting::TokenCounter;
use crate::tokens::models::Models;

/// What a prompt is made with, besides its content.
#[derive(Clone, Copy)]
pub struct PromptServices<'a> {
    /// The models there are.
    pub models: &'a Models,
    /// Weighs text.
    pub counter: &'a TokenCounter,
    /// The settings in force.
    pub settings: &'a Settings,
}
