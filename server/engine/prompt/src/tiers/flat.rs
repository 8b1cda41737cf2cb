//! Policy `flat`: one fixed order without breakpoints. It is used until the repository is indexed, and for comparison
//! (`docs/tiers.md`, "Policy `flat`"). The state of other policies is left unchanged.

use strata_conversation::providers::Speaker;

use crate::layout::{Composer, Content, Part, Piece, WORKING_FILES};

use super::policy::{Policy, PolicyOutput};
use super::rules::Rules;
use super::state::TierState;

pub(super) struct Flat;

impl Policy for Flat {
    fn lay(&self, state: &TierState, content: &Content<'_>, _: &Rules) -> PolicyOutput {
        let mut composer = Composer::new(content.count);
        composer.system(&content.system);
        let map: Vec<&Piece> = content.map.iter().collect();
        if !map.is_empty() {
            composer.map_in_front(content.in_front(), &map);
        }
        let listed = composer.file_list(&content.tree);
        composer.urls(&content.urls.iter().collect::<Vec<_>>());
        let files: Vec<&Piece> = content.files.iter().collect();
        if !files.is_empty() {
            composer.files(Speaker::User, WORKING_FILES, &files);
            composer.acknowledge(Part::Files);
        }
        for said in &content.history {
            composer.said(said);
        }
        composer.session_state(content);
        composer.request(&content.request);
        let layout = composer.finish();
        PolicyOutput { layout, recorded: state.clone(), listed, relied_on: None }
    }
}
