//! Decides whether a folder that the user did not name is trusted. Anyone can put rules into a shared directory, and a
//! project of another user has that user's rules. Does not read any rule.

use std::path::Path;

use strata_host::file_owner::{ForeignControl, ProcessUser};
use strata_host::rule_files::{foreign_rule_path, rule_files};
use strata_prompt::layout::inline_code;
use strata_prompt::trust::Trust;

use crate::model::snapshot::Snapshot;

/// Stops trusting the workspace if other users can change its rules, skills or memory. Returns a warning if any of
/// these are left out.
pub(super) fn distrust_foreign_rules(snapshot: &mut Snapshot) -> Option<String> {
    let prompt = &snapshot.settings.prompt;
    let patterns = [&*prompt.rules, &*prompt.skills, &*prompt.memory].concat();
    let (place, control) = foreign_rule_path(&snapshot.roots, &patterns, &ProcessUser::current())?;
    snapshot.trust = Trust::Untrusted;
    let omitted = rule_files(&snapshot.roots, &patterns);
    (!omitted.is_empty()).then(|| foreign_control_warning(&place, control))
}

fn foreign_control_warning(place: &Path, control: ForeignControl) -> String {
    let place = inline_code(&place.to_string_lossy());
    let reason = match control {
        ForeignControl::Owned => format!("{place} belongs to another user"),
        ForeignControl::Writable => format!("other users can write to {place}"),
    };
    format!(
        "rules, skills and memory are left out of prompts, since {reason}; to include them, name the folder (`--repo DIR`, \
         or FOLDER of `strata mcp`)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_one_line_and_says_what_to_do() {
        let warning = foreign_control_warning(Path::new("/tmp/a\nb"), ForeignControl::Writable);
        assert_eq!(
            warning,
            "rules, skills and memory are left out of prompts, since other users can write to `/tmp/a\\u{a}b`; to include \
             them, name the folder (`--repo DIR`, or FOLDER of `strata mcp`)"
        );
    }
}
