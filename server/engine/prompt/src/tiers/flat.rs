//! Policy `flat`: one fixed order without breakpoints. It is used until the repository is indexed, and for comparison
//! (`docs/tiers.md`, "Policy `flat`"). The state of other policies is left unchanged.

use strata_conversation::providers::Speaker;

use crate::layout::{LayoutBuilder, LayoutContent, Part, PromptPiece, WORKING_FILES};

use super::policy::{Policy, PolicyOutput};
use super::rules::LayoutRules;
use super::state::TierState;

pub(super) struct FlatPolicy;

impl Policy for FlatPolicy {
    fn lay_out(&self, state: &TierState, content: &LayoutContent<'_>, _: &LayoutRules) -> PolicyOutput {
        let mut composer = LayoutBuilder::new(content.count);
        composer.add_system_prompt(&content.system);
        let map: Vec<&PromptPiece> = content.map.iter().collect();
        if !map.is_empty() {
            composer.add_first_map(content.workspace_speaker(), &map);
        }
        let file_list = composer.add_file_list(&content.tree);
        composer.add_web_pages(&content.urls.iter().collect::<Vec<_>>());
        let files: Vec<&PromptPiece> = content.files.iter().collect();
        if !files.is_empty() {
            composer.add_files(Speaker::User, WORKING_FILES, &files);
            composer.add_acknowledgement(Part::Files);
        }
        for message in &content.history {
            composer.add_message(message);
        }
        composer.add_volatile_parts(content);
        composer.add_request(&content.request);
        let layout = composer.finish();
        PolicyOutput { layout, new_state: state.clone(), file_list, expected_cached: None }
    }
}
