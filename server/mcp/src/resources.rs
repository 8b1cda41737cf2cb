//! Resources for agents: the map of the repository, the map block of each file, and the prompt. Translates their
//! addresses into commands.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value, json};
use strata_app::commands::{Access, CommandError};
use strata_app::jobs::tools::text;
use strata_app::model::index::OutlineProgress;
use strata_app::runtime::headless::Cancel;

use crate::view::{CallNeeds, RequiredIndex, WorkspaceView};

/// Address of the map of the repository.
pub(crate) const MAP: &str = "strata://map";
/// Address of the prompt for the current context, without a request.
pub(crate) const PROMPT: &str = "strata://prompt";
/// Maximum number of resources per page.
const PAGE_SIZE: usize = 100;

/// Characters to percent-encode in a path: all except letters, digits and `-._~/`.
const PATH_ENCODE_SET: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ResourceAddress {
    Map,
    /// The map block of a file.
    Block(String),
    /// The next prompt, optionally with a given request and for a given model.
    Prompt {
        text: Option<String>,
        model: Option<String>,
    },
}

/// An entry in the reply to `resources/list`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ListedResource {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) kind: &'static str,
}

/// A page of resources, with the cursor of the next page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ResourcePage {
    pub(crate) entries: Vec<ListedResource>,
    pub(crate) next: Option<String>,
}

/// The content of a resource and its media type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ResourceText {
    pub(crate) text: String,
    pub(crate) kind: &'static str,
}

/// A family of addresses, as a URI template (RFC 6570).
#[derive(Debug)]
pub(crate) struct UriTemplate {
    pub(crate) uri: &'static str,
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) kind: &'static str,
}

/// All URI templates that the server offers.
pub(crate) const TEMPLATES: &[UriTemplate] = &[
    UriTemplate {
        uri: "strata://map/{+path}",
        name: "map_block",
        title: "Map block of a file",
        description: "The definitions of a file, without bodies.",
        kind: PLAIN,
    },
    UriTemplate {
        uri: "strata://prompt{?text,model}",
        name: "prompt_for",
        title: "Prompt for a request",
        description: "The prompt for this request and model, as a document to read.",
        kind: MARKDOWN,
    },
];

const PLAIN: &str = "text/plain";
const MARKDOWN: &str = "text/markdown";

impl ResourceAddress {
    /// Parses the address of a resource. Returns `None` for any other address.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        if uri == MAP {
            return Some(Self::Map);
        }
        if let Some(path) = uri.strip_prefix(MAP).and_then(|rest| rest.strip_prefix('/')) {
            return percent_decode(path).filter(|path| !path.is_empty()).map(Self::Block);
        }
        let query = match uri.strip_prefix(PROMPT)? {
            "" => "",
            rest => rest.strip_prefix('?')?,
        };
        let (mut text, mut model) = (None, None);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=')? {
                ("text", value) => text = Some(percent_decode(value)?),
                ("model", value) => model = Some(percent_decode(value)?),
                _ => return None,
            }
        }
        Some(Self::Prompt { text, model })
    }

    fn map_block_uri(path: &str) -> String {
        format!("{MAP}/{}", utf8_percent_encode(path, PATH_ENCODE_SET))
    }
}

/// Lists one page of resources, starting after the resource that ended the previous page.
///
/// # Errors
/// Returns a [`CommandError`] if the workspace cannot be prepared for reading.
pub(crate) fn list(
    after: Option<&str>,
    view: &mut WorkspaceView,
    cancel: &Cancel,
    progress: impl FnMut(OutlineProgress),
) -> Result<ResourcePage, CommandError> {
    let needs = CallNeeds { access: Access::Reads, index: RequiredIndex::All };
    view.prepare_and_run(needs, cancel, progress, |view| {
        let mut entries = if after.is_none() { fixed_resources() } else { Vec::new() };
        let symbols = &view.headless().snapshot().index.symbols;
        let mut keys = symbols.keys().filter(|key| after.is_none_or(|after| key.as_str() > after)).peekable();
        let mut last = None;
        while let Some(key) = keys.next_if(|_| entries.len() < PAGE_SIZE) {
            let path = key.as_str();
            entries.push(ListedResource {
                uri: ResourceAddress::map_block_uri(path),
                name: path.to_owned(),
                title: key.external().label().to_string(),
                description: "Definitions in this file, without bodies.".to_owned(),
                kind: PLAIN,
            });
            last = Some(path.to_owned());
        }
        let next = keys.peek().and(last);
        Ok(ResourcePage { entries, next })
    })
}

/// Reads the current content of a resource.
///
/// # Errors
/// Returns a [`CommandError`] if the workspace cannot be prepared for reading, or if the command fails.
pub(crate) fn read(
    address: &ResourceAddress,
    view: &mut WorkspaceView,
    cancel: &Cancel,
    progress: impl FnMut(OutlineProgress),
) -> Result<ResourceText, CommandError> {
    let needs = CallNeeds { access: Access::Reads, index: RequiredIndex::All };
    view.prepare_and_run(needs, cancel, progress, |view| contents(address, view))
}

/// Reads a resource in a view that has been prepared.
///
/// # Errors
/// Returns a [`CommandError`] if the command fails.
pub(crate) fn contents(
    address: &ResourceAddress,
    view: &mut WorkspaceView,
) -> Result<ResourceText, CommandError> {
    match address {
        ResourceAddress::Map => {
            let reply = view.run("strata.symbols.map", json!({}))?;
            Ok(ResourceText { text: map_text_with_addresses(&reply), kind: PLAIN })
        }
        ResourceAddress::Block(path) => {
            let reply = view.run("strata.symbols.file", json!({ "path": path }))?;
            Ok(ResourceText { text: text::render_outline(&reply), kind: PLAIN })
        }
        ResourceAddress::Prompt { text, model } => {
            let arguments = [("prompt", text), ("model", model)].into_iter();
            let ask: Map<String, Value> = arguments
                .filter_map(|(name, value)| Some((name.to_owned(), value.clone()?.into())))
                .collect();
            let reply = view.run("strata.prompt.preview", ask.into())?;
            Ok(ResourceText { text: reply["text"].as_str().unwrap_or_default().to_owned(), kind: MARKDOWN })
        }
    }
}

/// Formats the map. Resources take no arguments, so the text refers to the addresses of the files that the map omits.
fn map_text_with_addresses(reply: &Value) -> String {
    text::render_map_with_hint(reply, &format!("read a file's block at `{MAP}/` followed by its path"))
}

/// Returns the resources that every workspace has.
fn fixed_resources() -> Vec<ListedResource> {
    let listed = |uri: &str, name: &str, title: &str, description: &str, kind| ListedResource {
        uri: uri.to_owned(),
        name: name.to_owned(),
        title: title.to_owned(),
        description: description.to_owned(),
        kind,
    };
    vec![
        listed(
            MAP,
            "map",
            "Repository map",
            "The most important files with their definitions, as in the prompt.",
            PLAIN,
        ),
        listed(
            PROMPT,
            "prompt",
            "Prompt",
            "Everything the model would see now: rules, map, selected files and conversation.",
            MARKDOWN,
        ),
    ]
}

fn percent_decode(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_a_round_trip() {
        for path in ["src/lib.rs", "a b/ü#?.py", "100%/x&y=z.c", "🦀.rs"] {
            assert_eq!(
                ResourceAddress::parse(&ResourceAddress::map_block_uri(path)),
                Some(ResourceAddress::Block(path.to_owned()))
            );
        }
        assert_eq!(ResourceAddress::parse(MAP), Some(ResourceAddress::Map));
        assert_eq!(ResourceAddress::parse(PROMPT), Some(ResourceAddress::Prompt { text: None, model: None }));
        let expected =
            ResourceAddress::Prompt { text: Some("Why? & how".to_owned()), model: Some("gpt-4o".to_owned()) };
        assert_eq!(
            ResourceAddress::parse("strata://prompt?text=Why%3F%20%26%20how&model=gpt-4o"),
            Some(expected)
        );
    }

    #[test]
    fn invalid_addresses_are_not_parsed() {
        for uri in [
            "",
            "strata://",
            "strata://map/",
            "strata://maps",
            "file:///a",
            "strata://prompt?x=1",
            "strata://map/%FF",
        ] {
            assert_eq!(ResourceAddress::parse(uri), None, "{uri}");
        }
    }

    #[test]
    fn the_map_resource_refers_to_addresses_instead_of_arguments() {
        let truncated_reply = json!({ "legend": "A legend.\n", "text": "a.py\n def a()\n", "leftOut": 3 });
        let (resource, tool) =
            (map_text_with_addresses(&truncated_reply), text::render_map(&truncated_reply));
        assert!(resource.ends_with(
            "(3 more files have an outline: read a file's block at `strata://map/` followed by its path)"
        ));
        for argument in ["`focus`", "`max_tokens`"] {
            assert!(tool.contains(argument) && !resource.contains(argument), "{argument}: {tool}{resource}");
        }
        let complete_reply = json!({ "legend": "A legend.\n", "text": "a.py\n def a()\n", "leftOut": 0 });
        assert_eq!(map_text_with_addresses(&complete_reply), text::render_map(&complete_reply));
        assert_eq!(map_text_with_addresses(&complete_reply), "A legend.\n\na.py\n def a()\n");
    }
}
