//! What a sentence does, told from the words in it. English only; a language it does not know has no cues.

use std::sync::LazyLock;

use regex::RegexSet;

use crate::history::Role;

/// What a sentence does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Cue {
    /// It commits to one way.
    Decision,
    /// It demands or forbids.
    Constraint,
    /// It says what is to be done.
    Plan,
    /// It says what was done.
    Done,
    /// It says what was found out.
    Finding,
    /// It says that something did not work.
    Failure,
}

/// Words of commitment.
const DECISION: &str = r"(?i)\b(?:decided?|decision|let'?s (?:go|use|keep|do|not|make|drop|stick)|go(?:ing)? with|chose|chosen|choosing|opted|settled on|agreed|instead of|rather than|we(?:'ll| will) (?:use|keep|go|not|do)|i(?:'ll| will) (?:use|keep|go with)|will use|prefer(?:red)?|stick(?:ing)? with|switch(?:ed|ing)? to|won'?t (?:use|do|support)|no longer (?:need|use)|not worth|out of scope|approved|confirmed)\b";
/// Words of demand.
const CONSTRAINT: &str = r"(?i)\b(?:must(?:n'?t)?|never|always|do not|don'?t|should(?:n'?t| not)|ha(?:s|ve) to|need(?:s)? to|make sure|ensure|require[sd]?|avoid|without (?:breaking|changing|adding)|only (?:use|if|when|for|the)|at (?:most|least)|no more than|not allowed|forbidden|keep (?:it|the|in)|constraint|cannot|can'?t)\b";
/// Words of intent.
const PLAN: &str = r"(?i)\b(?:plan(?:ned)?(?: is| to|:)|approach|design|architecture|strategy|steps?:|phase \d|step \d|first,? (?:i|we)|then (?:i|we)|propos(?:e|al|ed)|next,? (?:i|we)|will (?:add|create|implement|extract|introduce|refactor|move|split))\b";
/// Words of completion.
const DONE: &str = r"(?i)\b(?:(?:i|we|i've|we've|have|has|been|now|successfully|all) (?:\w+ )?(?:added|created|implemented|fixed|updated|removed|replaced|refactored|moved|renamed|wired|extracted|wrote|written|completed?|finished|done|passe?[sd]?|works?|working|committed|merged)|(?:added|created|implemented|fixed|updated|removed|replaced|refactored|moved|renamed|extracted|wired|wrote) |tests? (?:now )?pass|is (?:complete|done|fixed|ready))";
/// Words of discovery.
const FINDING: &str = r"(?i)\b(?:found|turns out|the (?:issue|problem|cause|root cause|bug|reason) (?:is|was)|root cause|because|discovered|noticed|i see|appears|it seems|confirms?|shows? that|this means|key (?:finding|insight))\b";
/// Words of failure.
const FAILURE: &str = r"(?i)\b(?:fail(?:s|ed|ing|ure)?|did(?:n't| not) work|does(?:n't| not) work|broke|broken|revert(?:ed|ing)?|rolled back|unable to|abandon(?:ed)?|problem with|caused? (?:issues|problems)|crash(?:es|ed)?|still (?:broken|fails|failing))\b";

/// In the order of [`Cue`]. `None` only if a pattern above were wrong, which the tests would show.
static CUES: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| RegexSet::new([DECISION, CONSTRAINT, PLAN, DONE, FINDING, FAILURE]).ok());

/// What was recognised in a sentence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Cues(u8);

impl Cues {
    /// What `sentence` does.
    pub(crate) fn of(sentence: &str) -> Self {
        let Some(cues) = &*CUES else { return Self::default() };
        Self(cues.matches(sentence).iter().fold(0, |found, at| found | 1 << at))
    }

    /// Whether it does that.
    pub(crate) fn has(self, cue: Cue) -> bool {
        self.0 & (1 << cue as u8) != 0
    }

    /// Whether somebody commits to something or demands it, which is kept word for word. The user's demands bind; what
    /// the assistant says must be done is talk.
    pub(super) fn binding(self, by: Role) -> Option<Cue> {
        if by == Role::User && self.has(Cue::Constraint) {
            Some(Cue::Constraint)
        } else if self.has(Cue::Decision) {
            Some(Cue::Decision)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cues_are_told_from_words() {
        for (sentence, by, cue) in [
            ("Let's use SQLite for this.", Role::User, Some(Cue::Decision)),
            ("We decided to keep the old name.", Role::Assistant, Some(Cue::Decision)),
            ("You must never touch main.", Role::User, Some(Cue::Constraint)),
            ("This must be a bug.", Role::Assistant, None),
            ("Let me look at the file.", Role::Assistant, None),
            ("Going with bcrypt instead of argon2.", Role::Assistant, Some(Cue::Decision)),
            ("Mustard is yellow.", Role::User, None),
        ] {
            assert_eq!(Cues::of(sentence).binding(by), cue, "{sentence}");
        }
        assert!(Cues::of("All tests pass now.").has(Cue::Done));
        assert!(Cues::of("Redis caching caused issues, reverted").has(Cue::Failure));
        assert!(Cues::of("The root cause was a race.").has(Cue::Finding));
        assert!(Cues::of("The plan is simple").has(Cue::Plan));
    }
}
