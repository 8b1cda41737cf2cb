//! Classifies sentences by cue words. Supports only English; sentences in other languages have no cues.

use std::sync::LazyLock;

use regex::RegexSet;

use crate::history::Role;

use super::NoteKind;

/// How a sentence constrains later work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StatementKind {
    /// The sentence commits to a choice.
    Decision,
    /// The sentence demands or forbids something.
    Constraint,
}

/// Matches phrases that commit to a choice.
const DECISION: &str = r"(?i-u)\b(?:decided?|decision|let'?s (?:go|use|keep|do|not|make|drop|stick)|go(?:ing)? with|went with|chose|chosen|choosing|opted|settled on|agreed|we(?:'ll| will) (?:use|keep|go|not|do)|i(?:'ll| will) (?:use|keep|go with)|will use|(?:us(?:e|ing)|keep(?:ing)?|do(?:ing)?|mak(?:e|ing)|put(?:ting)?|stor(?:e|ing)|return(?:ing)?)\b[ -~]{1,60}(?:instead of|rather than)|prefer(?:red)?|stick(?:ing)? with|switch(?:ed|ing)? to|won'?t (?:use|do|support)|not worth|out of scope|approved)\b";
/// Matches phrases that demand or forbid something.
const CONSTRAINT: &str = r"(?i-u)(?:\b(?:must(?:n'?t)?|(?:do not|don'?t) (?:add|break|call|change|commit|create|delete|do|ever|forget|give|ignore|just|make|modify|need|push|put|rely|remove|show|touch|use|want|write)|should(?:n'?t| not| only| never| always| be)|(?:we|you|it) (?:ha(?:s|ve)|needs?) to|make sure|ensure that|required to|requirement|at (?:most|least)|no more than|not allowed|forbidden|keep (?:it|the|in)|constraint|without (?:breaking|changing|adding)|(?:please|also|but|and|,) (?:never|always|avoid|ensure|only use))\b|^(?:please )?(?:never|always|avoid|ensure|only|no) )";
/// Matches phrases that announce a plan.
const PLAN: &str = r"(?i-u)\b(?:plan(?:ned)?(?: is| to|:)|the approach|the design|steps?:|phase \d|step \d|first,? (?:i|we)|then (?:i|we)|propos(?:e|al|ed)|next,? (?:i|we)|will (?:add|create|implement|extract|introduce|refactor|move|split))\b";
/// Matches phrases that report completed work.
const DONE: &str = r"(?i-u)\b(?:(?:i|we|i've|we've|have|has|been|now|successfully|all) (?:[a-z]+ )?(?:added|created|implemented|fixed|updated|removed|replaced|refactored|moved|renamed|wired|extracted|wrote|written|completed?|finished|done|passe?[sd]?|works?|working|committed|merged)|(?:added|created|implemented|fixed|updated|removed|replaced|refactored|moved|renamed|extracted|wired|wrote) |tests? (?:now )?pass|is (?:complete|done|fixed|ready))";
/// Matches phrases that report a finding.
const FINDING: &str = r"(?i-u)\b(?:found|turns out|the (?:issue|problem|cause|root cause|bug|reason) (?:is|was)|root cause|because|discovered|noticed|i see|appears|it seems|confirms?|shows? that|this means|key (?:finding|insight))\b";
/// Matches phrases that report a failure.
const FAILURE: &str = r"(?i-u)\b(?:fail(?:s|ed|ing|ure)?|did(?:n't| not) work|does(?:n't| not) work|broke|broken|revert(?:ed|ing)?|rolled back|unable to|abandon(?:ed)?|problem with|caused? (?:issues|problems)|crash(?:es|ed)?|still (?:broken|fails|failing))\b";

/// The patterns, in the order of the bits of [`SentenceCues`]. `None` only if a pattern is invalid, which a test
/// would catch.
static CUES: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| RegexSet::new([DECISION, CONSTRAINT, FAILURE, PLAN, FINDING, DONE]).ok());

/// Set of cues found in a sentence, one bit for each pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct SentenceCues(u8);

impl SentenceCues {
    pub(super) fn from_sentence(sentence: &str) -> Self {
        let Some(cues) = &*CUES else { return Self::default() };
        Self(cues.matches(sentence).iter().fold(0, |bits, at| bits | 1 << at))
    }

    /// Returns whether a sentence by `by` is a constraint or a decision; `None` if it is neither. Both are kept
    /// verbatim. Only the user can set constraints.
    pub(super) fn statement_kind(self, by: Role) -> Option<StatementKind> {
        if by == Role::User && self.has_cue(1) {
            Some(StatementKind::Constraint)
        } else if self.has_cue(0) {
            Some(StatementKind::Decision)
        } else {
            None
        }
    }

    /// Returns the kind of note that a sentence with these cues is; `None` if it is not a note. If several
    /// kinds apply, the rarest one wins.
    pub(super) fn note_kind(self) -> Option<NoteKind> {
        const KINDS: [(u8, NoteKind); 4] =
            [(2, NoteKind::Failure), (3, NoteKind::Plan), (4, NoteKind::Finding), (5, NoteKind::Done)];
        KINDS.iter().find(|(bit, _)| self.has_cue(*bit)).map(|&(_, kind)| kind)
    }

    fn has_cue(self, bit: u8) -> bool {
        self.0 & (1 << bit) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cue_words_determine_the_binding() {
        for (sentence, by, binding) in [
            ("Let's use SQLite for this.", Role::User, Some(StatementKind::Decision)),
            ("We decided to keep the old name.", Role::Assistant, Some(StatementKind::Decision)),
            ("You must never touch main.", Role::User, Some(StatementKind::Constraint)),
            ("This must be a bug.", Role::Assistant, None),
            ("Let me look at the file.", Role::Assistant, None),
            ("Going with bcrypt instead of argon2.", Role::Assistant, Some(StatementKind::Decision)),
            ("Mustard is yellow.", Role::User, None),
            ("go: cannot find main module", Role::User, None),
            ("Always run the linter", Role::User, Some(StatementKind::Constraint)),
            ("Instead of lines 3-5 it has one.", Role::Assistant, None),
            ("Use a map instead of a list", Role::User, Some(StatementKind::Decision)),
        ] {
            assert_eq!(SentenceCues::from_sentence(sentence).statement_kind(by), binding, "{sentence}");
        }
    }

    #[test]
    fn cue_words_determine_the_kind_of_note() {
        for (sentence, kind) in [
            ("All tests pass now.", Some(NoteKind::Done)),
            ("I've updated the parser.", Some(NoteKind::Done)),
            ("Redis caching caused issues, reverted", Some(NoteKind::Failure)),
            ("The root cause was a race.", Some(NoteKind::Finding)),
            ("The plan is to split the file", Some(NoteKind::Plan)),
            ("Let me look at the file.", None),
        ] {
            assert_eq!(SentenceCues::from_sentence(sentence).note_kind(), kind, "{sentence}");
        }
    }
}
