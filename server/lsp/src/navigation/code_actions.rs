//! Builds the code actions and the code lens of a document, which run commands of the area `here`. Uses only available
//! data: does not wait for the index or read an outline.

use serde_json::{Value, json};
use strata_base::external::ExternalText;
use strata_base::key::FileKey;
use strata_conversation::selection::{Choice, Extent};
use strata_prompt::session::Session;
use tower_lsp::ls_types::{CodeActionContext, CodeActionParams, CodeActionTriggerKind};

use super::lsp_feature::ACTION_KIND;
use crate::client::ClientInfo;
use crate::position;
use strata_app::format;
use strata_app::model::snapshot::Snapshot;
use strata_app::services::provider_client;

/// Returns the code actions for a document, depending on its state in the session.
pub(super) fn code_actions(
    params: &CodeActionParams,
    key: &FileKey,
    snapshot: &Snapshot,
    session: &Session,
    client: &ClientInfo,
) -> Value {
    if !is_strata_action_requested(&params.context) {
        return json!([]);
    }
    let uri = params.text_document.uri.as_str();
    let document = json!({ "uri": uri });
    let part = json!({ "uri": uri, "range": params.range });
    let add = ("Add to model context".to_owned(), "select", &document);
    let add_lines = position::touched_lines(params.range)
        .map(|lines| (format!("Add {} to model context", format::lines(lines)), "select", &part));
    let remove = ("Remove from model context".to_owned(), "deselect", &document);
    let exclude = ("Exclude from model context".to_owned(), "exclude", &document);
    let include = ("Include in model context again".to_owned(), "include", &document);
    let show = ("Preview the prompt".to_owned(), "preview", &document);
    let selection = &session.selection;
    let choices = match (selection.choice(key), selection.selected.get(key)) {
        (Choice::Selected, Some(Extent::Lines(_))) => {
            vec![Some(add), add_lines, Some(remove), Some(exclude)]
        }
        (Choice::Selected, _) => vec![Some(remove), Some(exclude)],
        (Choice::Deselected, _) => vec![Some(add), add_lines, Some(exclude)],
        (Choice::Excluded, _) => vec![Some(add), add_lines, Some(include)],
    };
    // A question needs a provider, and a file that the model may see.
    let can_ask =
        selection.choice(key) != Choice::Excluded && provider_client::is_configured(&snapshot.settings);
    let ask = can_ask.then(|| ("Ask Strata".to_owned(), "ask", &part));
    let choices = ask.into_iter().chain(choices.into_iter().flatten()).chain([show]);
    choices
        .map(|(title, verb, argument)| {
            let command = code_action_command(&title, verb, argument);
            match client.literal_actions {
                true => json!({ "title": title, "kind": ACTION_KIND, "command": command }),
                false => command,
            }
        })
        .collect()
}

/// Returns a code lens above the first line that shows how the document is included in the context.
pub(super) fn code_lens(uri: &str, key: &FileKey, snapshot: &Snapshot, session: &Session) -> Value {
    let title = format!("Context: {}", ExternalText::new(&snapshot.describe_inclusion(key, session)).label());
    let start = json!({ "line": 0, "character": 0 });
    let command = code_action_command(&title, "toggle", &json!({ "uri": uri }));
    json!([{ "range": { "start": start, "end": start }, "command": command }])
}

/// Whether the client asks for Strata's code actions. Excludes automatic light-bulb requests, and requests for other
/// kinds.
fn is_strata_action_requested(context: &CodeActionContext) -> bool {
    let is_strata_kind = |kind: &str| {
        kind.is_empty()
            || ACTION_KIND
                .strip_prefix(kind)
                .is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('.'))
    };
    context.trigger_kind != Some(CodeActionTriggerKind::AUTOMATIC)
        && context.only.as_ref().is_none_or(|only| only.iter().any(|kind| is_strata_kind(kind.as_str())))
}

fn code_action_command(title: &str, verb: &str, argument: &Value) -> Value {
    json!({ "title": title, "command": format!("strata.here.{verb}"), "arguments": [argument] })
}
