//! Services that prompt assembly uses, independent of the prompt's content.

use crate::prompt::settings::Settings;
use crate::tokens::counting::TokenCounter;
use crate::tokens::models::Models;

/// Services that prompt assembly uses.
#[derive(Clone, Copy)]
pub struct PromptServices<'a> {
    pub models: &'a Models,
    pub counter: &'a TokenCounter,
    pub settings: &'a Settings,
}
