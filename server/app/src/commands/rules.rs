//! `prompt.rules`: which rule files apply to files, and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_base::key::FileKey;
use strata_prompt::trust::Trust;

use super::{Access, Command, CommandError, Context};
use crate::model::rule_scope::{RuleReason, rules};
use crate::model::workspace_context::selected_open_or_shown_files;

/// The files to list rules for.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RulesParams {
    /// Paths of files, which need not exist. Defaults to the files that are selected, open, or excerpted in the last prompt.
    pub paths: Option<Vec<String>>,
}

/// The rule files of the workspace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RulesReply {
    /// Whether the user trusts the workspace. If not, no rule is part of a prompt.
    pub trusted: bool,
    /// Rule files that apply to the files, in the order of the prompt. If they disagree, the last one counts.
    pub rules: Vec<ListedRule>,
    /// Rule files that do not apply to the files.
    pub others: Vec<ListedRule>,
}

/// A rule file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedRule {
    /// Path of the rule file.
    pub path: FileKey,
    /// Why the rule applies, or why not.
    pub reason: RuleReason,
}

pub struct ListRules;

impl Command for ListRules {
    const NAME: &str = "strata.prompt.rules";
    const SUMMARY: &str = "Lists the rule files (`prompt.rules`) that apply to files, and why.";
    const ACCESS: Access = Access::Reads;
    type Args = RulesParams;
    type Reply = RulesReply;

    fn run(params: RulesParams, context: &mut Context<'_>) -> Result<RulesReply, CommandError> {
        let files: Vec<FileKey> = match &params.paths {
            Some(paths) => {
                let files = paths.iter().enumerate();
                let files = files.map(|(at, path)| context.resolve_file(&format!("paths[{at}]"), path));
                files.collect::<Result<_, _>>()?
            }
            None => selected_open_or_shown_files(context.snapshot, context.session),
        };
        let (mut applying, mut others) = (Vec::new(), Vec::new());
        for rule in rules(context.snapshot, context.session, &files) {
            let list = if rule.reason.is_applicable() { &mut applying } else { &mut others };
            list.push(ListedRule { path: rule.file.path, reason: rule.reason });
        }
        let trusted = context.snapshot.trust == Trust::Trusted;
        Ok(RulesReply { trusted, rules: applying, others })
    }
}
