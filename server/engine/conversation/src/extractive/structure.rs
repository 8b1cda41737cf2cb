//! The sections of each kind of summary, used with and without a model.

use super::lines::LineTopic;

/// Kind of summary, which determines its sections.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum SummaryStructure {
    /// Analysis by phases, then a summary by themes (`continuation`).
    Continuation,
    /// Goal, constraints, progress, decisions, next steps, context, files (`checkpoint`).
    Checkpoint,
    /// Decisions, approaches that worked, approaches that failed, current state, next steps (`rolling`).
    Rolling,
    /// Short account of an earlier topic (`topic`).
    Topic,
    /// Seven sections for an agent that takes over in the middle of the work (`handoff`).
    Handoff,
}

/// A section of a summary. A section without parts is the heading of a group of sections.
pub(super) struct Section {
    pub heading: &'static str,
    /// Instructions for a model; empty if the subsections have them.
    instructions: &'static str,
    /// Parts whose lines the section contains in a summary without a model, in order.
    pub parts: &'static [LineTopic],
}

const fn section(heading: &'static str, instructions: &'static str, parts: &'static [LineTopic]) -> Section {
    Section { heading, instructions, parts }
}

impl SummaryStructure {
    /// Returns the sections in order. Each part belongs to at most one section.
    pub(super) const fn sections(self) -> &'static [Section] {
        match self {
            Self::Continuation => CONTINUATION,
            Self::Checkpoint => CHECKPOINT,
            Self::Rolling => ROLLING,
            Self::Topic => TOPIC_SECTIONS,
            Self::Handoff => HANDOFF,
        }
    }

    /// Returns the template for a model: each heading, followed by its instructions in brackets.
    pub(crate) fn template(self) -> String {
        let section = |section: &Section| match section.instructions {
            "" => section.heading.to_owned(),
            instructions => format!("{}\n[{instructions}]", section.heading),
        };
        self.sections().iter().map(section).collect::<Vec<_>>().join("\n\n")
    }

    /// Whether `text` has headings: a line begins with one of the requested ones, however it is marked (`## Goal`,
    /// `**Goal:** a text`, `1. Goal`), or several lines are marked as headings, since models translate them.
    pub(crate) fn has_heading_in(self, text: &str) -> bool {
        let is_marked = |line: &&str| line.starts_with('#') || line.starts_with("**");
        if text.lines().map(str::trim_start).filter(is_marked).nth(1).is_some() {
            return true;
        }
        let name = |line: &str| line.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        let headings: Vec<String> = self.sections().iter().map(|section| name(section.heading)).collect();
        text.lines().any(|line| headings.contains(&name(line.split(':').next().unwrap_or(line))))
    }

    /// Returns the maximum number of files to list that were read but not changed.
    pub(super) const fn max_read_files(self) -> usize {
        match self {
            // As many files as the `continuation` profile asks a model to name.
            Self::Continuation => 20,
            Self::Topic => 10,
            Self::Checkpoint | Self::Rolling | Self::Handoff => 40,
        }
    }
}

const CONTINUATION: &[Section] = &[
    section("## Analysis", "what happened, in order", &[]),
    section("### Initial Request", "what the user wanted at the start", &[LineTopic::FirstRequest]),
    section(
        "### Exploration Phase",
        "what was investigated and compared, and what was discovered",
        &[LineTopic::Explored, LineTopic::Findings],
    ),
    section(
        "### Planning / Design Phase",
        "architecture, workflows and plans that were worked out",
        &[LineTopic::Plans],
    ),
    section(
        "### Decisions / Constraints",
        "what was chosen and why, what was rejected, which constraints hold",
        &[LineTopic::Constraints, LineTopic::Decisions],
    ),
    section(
        "### Implementation Work",
        "what was created, modified or wired up",
        &[LineTopic::MostWorked, LineTopic::Completed, LineTopic::Commands],
    ),
    section(
        "### Open Issues / Remaining Work",
        "what is not finished or not resolved",
        &[LineTopic::Errors, LineTopic::Failures, LineTopic::Remaining],
    ),
    section("## Summary", "the same content by theme", &[]),
    section(
        "### Primary Request and Intent",
        "the overarching goal and every hard requirement",
        &[LineTopic::Requests, LineTopic::LastRequest],
    ),
    section(
        "### Key Technical Concepts",
        "core ideas and mechanisms, one per line as `concept: description`",
        &[LineTopic::Concepts],
    ),
    section(
        "### Artifacts and Code Sections",
        "one line for each file: its path, what kind of file it is, what it is responsible for, what was done to it",
        &[LineTopic::Changed, LineTopic::Read, LineTopic::FileNotes],
    ),
    section(
        "### Open Tasks / Next Steps",
        "one line for each, marked ✅ done, 🔄 in progress or ⏳ pending",
        &[
            LineTopic::TasksDone,
            LineTopic::TasksActive,
            LineTopic::TasksOpen,
            LineTopic::LastCalls,
            LineTopic::LastWords,
        ],
    ),
];

const CHECKPOINT: &[Section] = &[
    section(
        "## Goal",
        "what the user wants to achieve",
        &[LineTopic::FirstRequest, LineTopic::Requests, LineTopic::LastRequest],
    ),
    section("## Constraints", "what the user demands or forbids", &[LineTopic::Constraints]),
    section("## Progress", "", &[]),
    section("### Done", "what is finished", &[LineTopic::TasksDone, LineTopic::Completed]),
    section(
        "### In Progress",
        "what was started, and how far along it is",
        &[LineTopic::TasksActive, LineTopic::LastCalls, LineTopic::LastWords],
    ),
    section("### Blocked", "what is failing or blocked, and why", &[LineTopic::Errors, LineTopic::Failures]),
    section("## Key Decisions", "each with its reason", &[LineTopic::Decisions]),
    section("## Next Steps", "in order", &[LineTopic::TasksOpen, LineTopic::Plans]),
    section(
        "## Critical Context",
        "whatever else is needed to continue",
        &[LineTopic::Explored, LineTopic::Findings, LineTopic::Concepts, LineTopic::Commands],
    ),
    section("## Files Read", "full paths", &[LineTopic::Read]),
    section(
        "## Files Modified",
        "full paths, with what changed",
        &[LineTopic::MostWorked, LineTopic::Changed],
    ),
];

const ROLLING: &[Section] = &[
    section("## Key Decisions", "each with its reason", &[LineTopic::Constraints, LineTopic::Decisions]),
    section(
        "## Working Approaches",
        "what worked and is in use",
        &[LineTopic::Completed, LineTopic::Findings],
    ),
    section(
        "## Failed Approaches",
        "what did not work, so that it is not tried again",
        &[LineTopic::Failures, LineTopic::Errors],
    ),
    section(
        "## Current State",
        "what is done and what is not, and the files that matter",
        &[
            LineTopic::FirstRequest,
            LineTopic::Requests,
            LineTopic::LastRequest,
            LineTopic::TasksDone,
            LineTopic::Changed,
            LineTopic::Read,
            LineTopic::Commands,
            LineTopic::LastWords,
        ],
    ),
    section("## Next Steps", "in order", &[LineTopic::TasksActive, LineTopic::TasksOpen, LineTopic::Plans]),
];

const TOPIC_SECTIONS: &[Section] = &[
    section(
        "## Asked",
        "what the user wants",
        &[LineTopic::FirstRequest, LineTopic::Requests, LineTopic::LastRequest],
    ),
    section("## Decided", "decisions and constraints", &[LineTopic::Constraints, LineTopic::Decisions]),
    section(
        "## Done",
        "what was done, with every file that matters",
        &[
            LineTopic::Changed,
            LineTopic::Read,
            LineTopic::Completed,
            LineTopic::Commands,
            LineTopic::LastWords,
        ],
    ),
    section(
        "## Open",
        "remaining errors and tasks",
        &[LineTopic::Errors, LineTopic::TasksActive, LineTopic::TasksOpen],
    ),
];

const HANDOFF: &[Section] = &[
    section(
        "## 1. User's Primary Goals and Intent",
        "every explicit request and objective, with the exact priorities and constraints",
        &[LineTopic::FirstRequest, LineTopic::Requests, LineTopic::Constraints],
    ),
    section(
        "## 2. Conversation Timeline and Progress",
        "the key phases in order; the initial requests and how each was addressed; major decisions and why; problems and how \
         they were solved; where things stand",
        &[LineTopic::Explored, LineTopic::Plans, LineTopic::Completed],
    ),
    section(
        "## 3. Technical Context and Decisions",
        "technologies, frameworks and tools; architectural patterns and design decisions; technical constraints; code patterns \
         that were established",
        &[LineTopic::Decisions, LineTopic::Concepts, LineTopic::Findings],
    ),
    section(
        "## 4. Files and Code Changes",
        "for each file its full path, its purpose and why it matters, what changed with the key lines of code, its current state",
        &[
            LineTopic::MostWorked,
            LineTopic::Changed,
            LineTopic::Read,
            LineTopic::FileNotes,
            LineTopic::Changes,
        ],
    ),
    section(
        "## 5. Active Work and Last Actions (CRITICAL)",
        "the task in hand, the last completed action, whatever is partial or in the middle of being implemented, with the code \
         that it is about",
        &[
            LineTopic::TasksActive,
            LineTopic::Commands,
            LineTopic::LastCalls,
            LineTopic::LastChange,
            LineTopic::LastWords,
        ],
    ),
    section(
        "## 6. Unresolved Issues and Pending Tasks",
        "errors that still need attention, tasks that were requested and not started, decisions that await the user",
        &[LineTopic::Errors, LineTopic::Failures, LineTopic::TasksDone, LineTopic::TasksOpen],
    ),
    section(
        "## 7. Immediate Next Step",
        "one SPECIFIC action that follows from the user's most recent request, the current state of the implementation, and work that \
         was interrupted",
        &[LineTopic::NextStep, LineTopic::LastRequest],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_in_at_most_one_section_and_required_parts_in_exactly_one() {
        const KEPT: [LineTopic; 9] = [
            LineTopic::FirstRequest,
            LineTopic::LastRequest,
            LineTopic::Requests,
            LineTopic::Decisions,
            LineTopic::Constraints,
            LineTopic::Changed,
            LineTopic::Read,
            LineTopic::Errors,
            LineTopic::TasksOpen,
        ];
        for structure in [
            SummaryStructure::Continuation,
            SummaryStructure::Checkpoint,
            SummaryStructure::Rolling,
            SummaryStructure::Topic,
            SummaryStructure::Handoff,
        ] {
            let parts: Vec<LineTopic> =
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
