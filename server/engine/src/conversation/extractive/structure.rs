//! Which sections each kind of summary has, and what stands in each. Data only.

use super::lines::Part;

/// Which sections a summary has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Structure {
    /// An analysis by phases, then a summary by themes (`continuation`).
    Continuation,
    /// Goal, constraints, progress, decisions, next steps, context, files (`checkpoint`).
    Checkpoint,
    /// What was decided, what worked and what did not, where it stands (`rolling`).
    Rolling,
    /// A short account of an older topic (`topic`).
    Topic,
    /// Seven sections for somebody who takes over in the middle (`handoff`).
    Handoff,
}

/// One section: its heading and what stands below it, in that order. Without parts it is a heading over sections.
pub(super) struct Section {
    /// The line above it.
    pub heading: &'static str,
    /// What it holds.
    pub parts: &'static [Part],
}

const fn section(heading: &'static str, parts: &'static [Part]) -> Section {
    Section { heading, parts }
}

impl Structure {
    /// The sections in their order. No part stands in two of them.
    pub(super) const fn sections(self) -> &'static [Section] {
        match self {
            Self::Continuation => CONTINUATION,
            Self::Checkpoint => CHECKPOINT,
            Self::Rolling => ROLLING,
            Self::Topic => TOPIC,
            Self::Handoff => HANDOFF,
        }
    }

    /// How many files that were only read are named at most.
    pub(super) const fn files_read(self) -> usize {
        match self {
            // "Known files: up to 20" of the profile.
            Self::Continuation => 20,
            Self::Topic => 10,
            Self::Checkpoint | Self::Rolling | Self::Handoff => 40,
        }
    }
}

const CONTINUATION: &[Section] = &[
    section("## Analysis", &[]),
    section("### Initial Request", &[Part::FirstRequest]),
    section("### Exploration Phase", &[Part::Explored, Part::Findings]),
    section("### Planning / Design Phase", &[Part::Plans]),
    section("### Decisions / Constraints", &[Part::Constraints, Part::Decisions]),
    section("### Implementation Work", &[Part::Completed, Part::Commands]),
    section("### Open Issues / Remaining Work", &[Part::Errors, Part::Failures]),
    section("## Summary", &[]),
    section("### Primary Request and Intent", &[Part::Requests, Part::LastRequest]),
    section("### Key Technical Concepts", &[Part::Concepts]),
    section("### Artifacts and Code Sections", &[Part::MostWorked, Part::Changed, Part::Read]),
    section(
        "### Open Tasks / Next Steps",
        &[Part::TasksDone, Part::TasksActive, Part::TasksOpen, Part::LastCalls, Part::LastWords],
    ),
];

const CHECKPOINT: &[Section] = &[
    section("## Goal", &[Part::FirstRequest, Part::Requests, Part::LastRequest]),
    section("## Constraints", &[Part::Constraints]),
    section("## Progress", &[]),
    section("### Done", &[Part::TasksDone, Part::Completed]),
    section("### In Progress", &[Part::TasksActive, Part::LastCalls, Part::LastWords]),
    section("### Blocked", &[Part::Errors, Part::Failures]),
    section("## Key Decisions", &[Part::Decisions]),
    section("## Next Steps", &[Part::TasksOpen, Part::Plans]),
    section("## Critical Context", &[Part::Explored, Part::Findings, Part::Concepts, Part::Commands]),
    section("## Files Read", &[Part::Read]),
    section("## Files Modified", &[Part::MostWorked, Part::Changed]),
];

const ROLLING: &[Section] = &[
    section("## Key Decisions", &[Part::Constraints, Part::Decisions]),
    section("## Working Approaches", &[Part::Completed, Part::Findings]),
    section("## Failed Approaches", &[Part::Failures, Part::Errors]),
    section(
        "## Current State",
        &[
            Part::FirstRequest,
            Part::Requests,
            Part::LastRequest,
            Part::TasksDone,
            Part::Changed,
            Part::Read,
            Part::Commands,
            Part::LastWords,
        ],
    ),
    section("## Next Steps", &[Part::TasksActive, Part::TasksOpen, Part::Plans]),
];

const TOPIC: &[Section] = &[
    section("## Asked", &[Part::FirstRequest, Part::Requests, Part::LastRequest]),
    section("## Decided", &[Part::Constraints, Part::Decisions]),
    section("## Done", &[Part::Changed, Part::Read, Part::Completed, Part::Commands, Part::LastWords]),
    section("## Open", &[Part::Errors, Part::TasksActive, Part::TasksOpen]),
];

const HANDOFF: &[Section] = &[
    section(
        "## 1. User's Primary Goals and Intent",
        &[Part::FirstRequest, Part::Requests, Part::Constraints],
    ),
    section("## 2. Conversation Timeline and Progress", &[Part::Explored, Part::Plans, Part::Completed]),
    section("## 3. Technical Context and Decisions", &[Part::Decisions, Part::Concepts, Part::Findings]),
    section("## 4. Files and Code Changes", &[Part::MostWorked, Part::Changed, Part::Read]),
    section(
        "## 5. Active Work and Last Actions",
        &[Part::TasksActive, Part::Commands, Part::LastCalls, Part::LastWords],
    ),
    section(
        "## 6. Unresolved Issues and Pending Tasks",
        &[Part::Errors, Part::Failures, Part::TasksDone, Part::TasksOpen],
    ),
    section("## 7. Immediate Next Step", &[Part::NextStep, Part::LastRequest]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_stands_in_two_sections_and_what_must_be_kept_stands_in_one() {
        const KEPT: [Part; 9] = [
            Part::FirstRequest,
            Part::LastRequest,
            Part::Requests,
            Part::Decisions,
            Part::Constraints,
            Part::Changed,
            Part::Read,
            Part::Errors,
            Part::TasksOpen,
        ];
        for structure in [
            Structure::Continuation,
            Structure::Checkpoint,
            Structure::Rolling,
            Structure::Topic,
            Structure::Handoff,
        ] {
            let parts: Vec<Part> =
                structure.sections().iter().flat_map(|section| section.parts).copied().collect();
            for (at, part) in parts.iter().enumerate() {
                assert!(!parts[..at].contains(part), "{structure:?} has {part:?} twice");
            }
            for part in KEPT {
                assert!(parts.contains(&part), "{structure:?} lacks {part:?}");
            }
        }
    }
}
