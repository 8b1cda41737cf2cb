//! Builds the system prompt: the base prompt, guidelines for tools if a request declares any, additions from the
//! settings, and the workspace's rules, skills and memory. The caller provides the files and decides whether the user
//! trusts them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use strata_base::key::FileKey;
use strata_base::text::clip;
use strata_conversation::conversation_facts::one_line;
use strata_conversation::providers::Tool;

use crate::settings::PromptSettings;

use crate::layout::inline_code;

/// Maximum length of the text quoted from a rule or memory file, in characters.
const MAX_RULE_FILE_CHARS: usize = 40_000;
/// Maximum number of skills to list.
const MAX_LISTED_SKILLS: usize = 100;
/// Maximum length of a skill's description, in characters.
const MAX_SKILL_DESCRIPTION_CHARS: usize = 300;

/// A file that the system prompt quotes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemContextText {
    pub path: FileKey,
    pub text: Arc<str>,
}

/// A skill: a file with instructions that a model reads when it needs them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skill {
    pub name: String,
    /// When to use the skill.
    pub description: String,
    /// Path of the file with the instructions.
    pub path: FileKey,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SystemContext {
    /// Rule files to quote in the system prompt.
    pub rules: Vec<SystemContextText>,
    /// Rule files for files that are only open or excerpted. A prompt quotes them after everything cacheable, because these
    /// files change often.
    pub scoped_rules: Vec<SystemContextText>,
    /// Skills to list in the system prompt.
    pub skills: Vec<Skill>,
    /// Memory files to quote in the system prompt.
    pub memory: Vec<SystemContextText>,
}

/// Workspace files that the system prompt quotes or lists.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SystemFiles {
    /// Rule files that the prompt quotes.
    pub rules: Vec<FileKey>,
    /// Skill files that the system prompt lists with their descriptions.
    pub skills: Vec<FileKey>,
    /// Memory files that the system prompt quotes.
    pub memory: Vec<FileKey>,
}

impl SystemContext {
    /// Returns the files that [`system_prompt`] quotes or lists.
    pub(super) fn files(&self) -> SystemFiles {
        let quoted = |texts: &[SystemContextText]| -> Vec<FileKey> {
            texts.iter().filter(|file| file.has_text()).map(|file| file.path.clone()).collect()
        };
        SystemFiles {
            rules: [quoted(&self.rules), quoted(&self.scoped_rules)].concat(),
            skills: self.skills.iter().take(MAX_LISTED_SKILLS).map(|skill| skill.path.clone()).collect(),
            memory: quoted(&self.memory),
        }
    }
}

impl SystemContext {
    /// Returns the text of the rules that apply to some files only. Empty if there are none.
    pub fn scoped_rules_text(&self) -> String {
        text_section("# Rules for files shown above or open in the editor", &self.scoped_rules)
            .unwrap_or_default()
    }
}

impl SystemContextText {
    fn has_text(&self) -> bool {
        !self.text.trim().is_empty()
    }
}

impl Skill {
    /// Parses a skill file. Its front matter, between two lines of `---` at the top, gives `name` and `description`.
    /// The name defaults to that of the file's directory. Returns `None` if there is no name.
    pub fn parse(path: &FileKey, text: &str) -> Option<Self> {
        let mut lines = text.trim_start_matches('\u{feff}').lines();
        let mut name = path.as_str().rsplit('/').nth(1).unwrap_or_default().to_owned();
        let mut description = String::new();
        if lines.next().is_some_and(|line| line.trim_end() == "---") {
            for line in lines.take_while(|line| line.trim_end() != "---") {
                let value =
                    |key| line.strip_prefix(key).map(|value: &str| value.trim().trim_matches(['"', '\'']));
                if let Some(value) = value("name:") {
                    value.clone_into(&mut name);
                } else if let Some(value) = value("description:") {
                    value.clone_into(&mut description);
                }
            }
        }
        (!name.is_empty()).then(|| Self { name, description, path: path.clone() })
    }
}

pub(super) fn system_prompt(settings: &PromptSettings, tools: &[Tool], context: &SystemContext) -> Arc<str> {
    let guidelines = if tools.is_empty() { "" } else { settings.tool_guidelines.as_str() };
    let mut parts: Vec<String> = [&settings.system, guidelines, &settings.system_extra]
        .into_iter()
        .map(|part| part.trim().to_owned())
        .filter(|part| !part.is_empty())
        .collect();
    parts.extend(text_section("# Rules of this workspace", &context.rules));
    parts.extend(skill_section(&context.skills));
    parts.extend(text_section("# Memory", &context.memory));
    parts.join("\n\n").into()
}

fn text_section(heading: &str, texts: &[SystemContextText]) -> Option<String> {
    let quoted = texts.iter().filter(|file| file.has_text());
    let quoted: Vec<String> = quoted
        .map(|SystemContextText { path, text }| {
            let text = text.trim();
            let shown = clip(text, MAX_RULE_FILE_CHARS);
            let cut = if shown.len() < text.len() { "\n\n[the rest of this file is left out]" } else { "" };
            format!("## {}\n\n{shown}{cut}", inline_code(path.as_str()))
        })
        .collect();
    (!quoted.is_empty()).then(|| format!("{heading}\n\n{}", quoted.join("\n\n")))
}

fn skill_section(skills: &[Skill]) -> Option<String> {
    let listed: Vec<String> = skills
        .iter()
        .take(MAX_LISTED_SKILLS)
        .map(|Skill { name, description, path }| {
            let (name, description) =
                (one_line(name, 80), one_line(description, MAX_SKILL_DESCRIPTION_CHARS));
            let colon = if description.is_empty() { "" } else { ": " };
            format!("- {name}{colon}{description} ({})", inline_code(path.as_str()))
        })
        .collect();
    (!listed.is_empty())
        .then(|| format!("# Skills\n\nRead the file of a skill before you use it.\n\n{}", listed.join("\n")))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::Value;

    use super::*;

    #[test]
    fn base_extra_rules_skills_and_memory_come_in_this_order() {
        let text = |path: &str, text: &str| SystemContextText { path: path.into(), text: text.into() };
        let skill = "---\nname: release\ndescription: \"How to make\na release\"\n---\n# Steps\n";
        let context = SystemContext {
            rules: vec![text("AGENTS.md", "Use tabs.\n"), text("CLAUDE.md", " \n")],
            scoped_rules: vec![text("web/AGENTS.md", "Use blanks.")],
            skills: vec![Skill::parse(&".claude/skills/release/SKILL.md".into(), skill).unwrap()],
            memory: vec![text("MEMORY.md", "The parser is slow.")],
        };
        let settings = PromptSettings {
            system: "Base.".into(),
            system_extra: "Extra.".into(),
            ..PromptSettings::default()
        };
        expect![[r##"
            Base.

            Extra.

            # Rules of this workspace

            ## `AGENTS.md`

            Use tabs.

            # Skills

            Read the file of a skill before you use it.

            - release: How to make (`.claude/skills/release/SKILL.md`)

            # Memory

            ## `MEMORY.md`

            The parser is slow."##]]
        .assert_eq(&system_prompt(&settings, &[], &context));
        assert_eq!(&*system_prompt(&settings, &[], &SystemContext::default()), "Base.\n\nExtra.");
    }

    #[test]
    fn tools_add_guidelines_to_the_system_prompt() {
        let tool = Tool { name: "read".into(), description: String::new(), input_schema: Value::Null };
        let prompt_with = |guidelines: &str, tools: &[Tool]| {
            let settings = PromptSettings {
                system: "Base.".into(),
                tool_guidelines: guidelines.into(),
                system_extra: "Extra.".into(),
                ..PromptSettings::default()
            };
            system_prompt(&settings, tools, &SystemContext::default())
        };
        let tools = [tool];
        assert_eq!(&*prompt_with("Use them.", &tools), "Base.\n\nUse them.\n\nExtra.");
        assert_eq!(&*prompt_with("Use them.", &[]), "Base.\n\nExtra.");
        assert_eq!(&*prompt_with(" ", &tools), "Base.\n\nExtra.");
        let shipped = system_prompt(&PromptSettings::default(), &tools, &SystemContext::default());
        assert!(shipped.starts_with("You are a software engineer"), "{shipped}");
        assert!(shipped.contains("\n\n# Tools\n\n- ") && shipped.contains("\n\n# Answers\n\n"), "{shipped}");
    }

    #[test]
    fn a_long_file_is_cut_with_a_note() {
        let rules = vec![SystemContextText {
            path: "AGENTS.md".into(),
            text: "é".repeat(MAX_RULE_FILE_CHARS + 1).into(),
        }];
        let prompt = system_prompt(
            &PromptSettings::default(),
            &[],
            &SystemContext { rules, ..SystemContext::default() },
        );
        assert!(prompt.ends_with("é\n\n[the rest of this file is left out]"));
    }

    #[test]
    fn a_skill_without_front_matter_is_named_after_its_directory() {
        let skill = Skill::parse(&"skills/tidy/SKILL.md".into(), "Just text.").unwrap();
        assert_eq!((skill.name.as_str(), skill.description.as_str()), ("tidy", ""));
    }
}
