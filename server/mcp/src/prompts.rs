//! Prompts for the user of an agent, which clients offer as slash commands. Each is a message with the parts of the
//! workspace that it is about.

use serde_json::{Map, Value, json};
use strata_app::commands::{Access, CommandError};
use strata_app::jobs::tools::{self, Tool};
use strata_app::model::index::OutlineProgress;
use strata_app::runtime::headless::Cancel;

use crate::resources::{self, ResourceAddress};
use crate::view::{CallNeeds, RequiredIndex, WorkspaceView};

/// A prompt that the server offers.
#[derive(Debug)]
pub(crate) struct PromptTemplate {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    /// Name and description of its only argument.
    pub(crate) argument: Option<(&'static str, &'static str)>,
    text: fn(&str, &mut WorkspaceView) -> Result<String, CommandError>,
}

/// All prompts, in the order in which they are listed.
pub(crate) const PROMPTS: &[PromptTemplate] = &[
    PromptTemplate {
        name: "ask",
        title: "Ask with context",
        description: "Asks a question, with the code that is relevant to it and your selected files.",
        argument: Some(("question", "The question or task")),
        text: ask_prompt,
    },
    PromptTemplate {
        name: "explain",
        title: "Explain a file",
        description: "Explains a file, or a definition in it, with its text and the files that depend on it.",
        argument: Some(("path", "The file, or `path#Type.method`")),
        text: explain_prompt,
    },
    PromptTemplate {
        name: "continue",
        title: "Continue the conversation",
        description: "Continues the conversation in your editor, with its context.",
        argument: None,
        text: continue_prompt,
    },
];

impl PromptTemplate {
    pub(crate) fn by_name(name: &str) -> Option<&'static Self> {
        PROMPTS.iter().find(|prompt| prompt.name == name)
    }

    /// Writes the prompt.
    ///
    /// # Errors
    /// Returns a [`CommandError`] if the argument is missing or invalid, or the workspace cannot be read.
    pub(crate) fn render(
        &self,
        arguments: &Map<String, Value>,
        view: &mut WorkspaceView,
        cancel: &Cancel,
        progress: impl FnMut(OutlineProgress),
    ) -> Result<String, CommandError> {
        let argument = match self.argument {
            None => "",
            Some((name, _)) => {
                let value = arguments.get(name).and_then(Value::as_str).map(str::trim);
                value.filter(|text| !text.is_empty()).ok_or_else(|| {
                    CommandError::invalid(name, "this argument is required and must not be empty")
                })?
            }
        };
        let needs = CallNeeds { access: Access::Reads, index: RequiredIndex::All };
        view.prepare_and_run(needs, cancel, progress, |view| (self.text)(argument, view))
    }
}

fn ask_prompt(question: &str, view: &mut WorkspaceView) -> Result<String, CommandError> {
    let address = ResourceAddress::Prompt { text: Some(question.to_owned()), model: None };
    Ok(resources::contents(&address, view)?.text)
}

fn explain_prompt(path: &str, view: &mut WorkspaceView) -> Result<String, CommandError> {
    let text = call_tool("files_read", path, view)?;
    // A file without an outline has no known dependents.
    let dependents =
        call_tool("dependents", path, view).map(|text| format!("\n\n{text}")).unwrap_or_default();
    Ok(format!(
        "Explain `{path}`: what it is for, how it works, and what depends on it. Read other files only where this is not clear \
         from what follows.\n\n{text}{dependents}"
    ))
}

fn continue_prompt(_: &str, view: &mut WorkspaceView) -> Result<String, CommandError> {
    if view.run("strata.history.count", json!({}))?["messages"] == 0 {
        return Err(CommandError::failed(
            "there is no conversation to continue; start the server with `--session latest`, after a conversation in the editor",
        ));
    }
    let context = resources::contents(&ResourceAddress::Prompt { text: None, model: None }, view)?.text;
    Ok(format!("Continue the conversation that follows, with the context that it had.\n\n{context}"))
}

fn call_tool(tool: &str, path: &str, view: &mut WorkspaceView) -> Result<String, CommandError> {
    let tool = Tool::by_name(tool).ok_or(CommandError::Internal)?;
    let arguments = Map::from_iter([("path".to_owned(), path.into())]);
    Ok(tools::call_tool(tool, arguments, view.headless_mut())?.text)
}
