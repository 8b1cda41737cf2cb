//! The sections of each kind of summary, used with and without a model.

use super::lines::Part;

/// Kind of summary, which determines its sections.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Structure {
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
    pub parts: &'static [Part],
}

const fn section(heading: &'static str, instructions: &'static str, parts: &'static [Part]) -> Section {
    Section { heading, instructions, parts }
}

impl Structure {
    /// Returns the sections in order. Each part belongs to at most one section.
    pub(super) const fn sections(self) -> &'static [Section] {
        match self {
            Self::Continuation => CONTINUATION,
            Self::Checkpoint => CHECKPOINT,
            Self::Rolling => ROLLING,
            Self::Topic => TOPIC,
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
    pub(super) const fn files_read(self) -> usize {
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
    section("### Initial Request", "what the user wanted at the start", &[Part::FirstRequest]),
    section(
        "### Exploration Phase",
        "what was investigated and compared, and what was discovered",
        &[Part::Explored, Part::Findings],
    ),
    section(
        "### Planning / Design Phase",
        "architecture, workflows and plans that were worked out",
        &[Part::Plans],
    ),
    section(
        "### Decisions / Constraints",
        "what was chosen and why, what was rejected, which constraints hold",
        &[Part::Constraints, Part::Decisions],
    ),
    section(
        "### Implementation Work",
        "what was created, modified or wired up",
        &[Part::MostWorked, Part::Completed, Part::Commands],
    ),
    section(
        "### Open Issues / Remaining Work",
        "what is not finished or not resolved",
        &[Part::Errors, Part::Failures, Part::Remaining],
    ),
    section("## Summary", "the same content by theme", &[]),
    section(
        "### Primary Request and Intent",
        "the overarching goal and every hard requirement",
        &[Part::Requests, Part::LastRequest],
    ),
    section(
        "### Key Technical Concepts",
        "core ideas and mechanisms, one per line as `concept: description`",
        &[Part::Concepts],
    ),
    section(
        "### Artifacts and Code Sections",
        "one line for each file: its path, what kind of file it is, what it is responsible for, what was done to it",
        &[Part::Changed, Part::Read, Part::FileNotes],
    ),
    section(
        "### Open Tasks / Next Steps",
        "one line for each, marked ✅ done, 🔄 in progress or ⏳ pending",
        &[Part::TasksDone, Part::TasksActive, Part::TasksOpen, Part::LastCalls, Part::LastWords],
    ),
];

const CHECKPOINT: &[Section] = &[
    section(
        "## Goal",
        "what the user wants to achieve",
        &[Part::FirstRequest, Part::Requests, Part::LastRequest],
    ),
    section("## Constraints", "what the user demands or forbids", &[Part::Constraints]),
    section("## Progress", "", &[]),
    section("### Done", "what is finished", &[Part::TasksDone, Part::Completed]),
    section(
        "### In Progress",
        "what was started, and how far along it is",
        &[Part::TasksActive, Part::LastCalls, Part::LastWords],
    ),
    section("### Blocked", "what is failing or blocked, and why", &[Part::Errors, Part::Failures]),
    section("## Key Decisions", "each with its reason", &[Part::Decisions]),
    section("## Next Steps", "in order", &[Part::TasksOpen, Part::Plans]),
    section(
        "## Critical Context",
        "whatever else is needed to continue",
        &[Part::Explored, Part::Findings, Part::Concepts, Part::Commands],
    ),
    section("## Files Read", "full paths", &[Part::Read]),
    section("## Files Modified", "full paths, with what changed", &[Part::MostWorked, Part::Changed]),
];

const ROLLING: &[Section] = &[
    section("## Key Decisions", "each with its reason", &[Part::Constraints, Part::Decisions]),
    section("## Working Approaches", "what worked and is in use", &[Part::Completed, Part::Findings]),
    section(
        "## Failed Approaches",
        "what did not work, so that it is not tried again",
        &[Part::Failures, Part::Errors],
    ),
    section(
        "## Current State",
        "what is done and what is not, and the files that matter",
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
    section("## Next Steps", "in order", &[Part::TasksActive, Part::TasksOpen, Part::Plans]),
];

const TOPIC: &[Section] = &[
    section("## Asked", "what the user wants", &[Part::FirstRequest, Part::Requests, Part::LastRequest]),
    section("## Decided", "decisions and constraints", &[Part::Constraints, Part::Decisions]),
    section(
        "## Done",
        "what was done, with every file that matters",
        &[Part::Changed, Part::Read, Part::Completed, Part::Commands, Part::LastWords],
    ),
    section("## Open", "remaining errors and tasks", &[Part::Errors, Part::TasksActive, Part::TasksOpen]),
];

const HANDOFF: &[Section] = &[
    section(
        "## 1. User's Primary Goals and Intent",
        "every explicit request and objective, with the exact priorities and constraints",
        &[Part::FirstRequest, Part::Requests, Part::Constraints],
    ),
    section(
        "## 2. Conversation Timeline and Progress",
        "the key phases in order; the initial requests and how each was addressed; major decisions and why; problems and how \
         they were solved; where things stand",
        &[Part::Explored, Part::Plans, Part::Completed],
    ),
    section(
        "## 3. Technical Context and Decisions",
        "technologies, frameworks and tools; architectural patterns and design decisions; technical constraints; code patterns \
         that were established",
        &[Part::Decisions, Part::Concepts, Part::Findings],
    ),
    section(
        "## 4. Files and Code Changes",
        "for each file its full path, its purpose and why it matters, what changed with the key lines of code, its current state",
        &[Part::MostWorked, Part::Changed, Part::Read, Part::FileNotes, Part::Changes],
    ),
    section(
        "## 5. Active Work and Last Actions (CRITICAL)",
        "the task in hand, the last completed action, whatever is partial or in the middle of being implemented, with the code \
         that it is about",
        &[Part::TasksActive, Part::Commands, Part::LastCalls, Part::LastChange, Part::LastWords],
    ),
    section(
        "## 6. Unresolved Issues and Pending Tasks",
        "errors that still need attention, tasks that were requested and not started, decisions that await the user",
        &[Part::Errors, Part::Failures, Part::TasksDone, Part::TasksOpen],
    ),
    section(
        "## 7. Immediate Next Step",
        "one SPECIFIC action that follows from the user's most recent request, the current state of the implementation, and work that \
         was interrupted",
        &[Part::NextStep, Part::LastRequest],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_in_at_most_one_section_and_required_parts_in_exactly_one() {
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
