//! Normalizes the URIs of messages, so that the library accepts what editors send, and each document has one URI in the
//! server. Replies contain the spelling with which the client opened the document.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use strata_host::uri;

/// Names of fields that contain a URI, in any message.
const URI_FIELDS: [&str; 9] =
    ["uri", "oldUri", "newUri", "rootUri", "targetUri", "baseUri", "scopeUri", "href", "document"];

/// Names of fields whose content belongs to a command, a setting or the client.
const OPAQUE_FIELDS: [&str; 5] = ["arguments", "settings", "initializationOptions", "capabilities", "data"];

/// How the client spells the URIs of its open documents, if not as [`uri::normalize_uri`] does. By normalized URI.
pub(super) type UriSpellings = Arc<HashMap<String, String>>;

/// Normalizes all URIs in the parameters of a message.
pub(super) fn normalize_uris(params: &mut Value) {
    replace_uris(params, &mut |address| {
        let normalized = uri::normalize_uri(address);
        (normalized != *address).then_some(normalized)
    });
}

/// Replaces the URIs of open documents in a reply with those that the client uses.
pub(super) fn respell(reply: &mut Value, spellings: &UriSpellings) {
    if !spellings.is_empty() {
        replace_uris(reply, &mut |address| spellings.get(address).cloned());
    }
}

/// Records how the client spells the URI of a document that it opens. `params` are those of the message, as received.
pub(super) fn record_spelling(spellings: &mut UriSpellings, params: &Value) {
    let Some(spelling) = params.pointer("/textDocument/uri").and_then(Value::as_str) else { return };
    let normalized = uri::normalize_uri(spelling);
    if normalized == spelling {
        forget_spelling(spellings, &normalized);
    } else {
        Arc::make_mut(spellings).insert(normalized, spelling.to_owned());
    }
}

/// Forgets the spelling of a document that is closed.
pub(super) fn forget_spelling(spellings: &mut UriSpellings, normalized: &str) {
    if spellings.contains_key(normalized) {
        Arc::make_mut(spellings).remove(normalized);
    }
}

/// Replaces each URI for which `replace` returns another one.
fn replace_uris(value: &mut Value, replace: &mut impl FnMut(&str) -> Option<String>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace_uris(item, replace)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(address) if URI_FIELDS.contains(&name.as_str()) => {
                        if let Some(replacement) = replace(address) {
                            *address = replacement;
                        }
                    }
                    Value::Array(_) | Value::Object(_) if !OPAQUE_FIELDS.contains(&name.as_str()) => {
                        replace_uris(value, replace);
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use tower_lsp::ls_types::Uri;

    use super::*;

    #[test]
    fn uris_are_normalized_wherever_they_are() {
        let mut params = json!({
            "textDocument": { "uri": "git:/[a]", "text": "git:/[a]" },
            "files": [{ "oldUri": "git:/[a]", "newUri": "git:/b c" }],
            "cells": [{ "document": "git:/[a]" }],
            "arguments": [{ "uri": "git:/[a]" }],
        });
        normalize_uris(&mut params);
        let expected = json!({
            "textDocument": { "uri": "git:/%5Ba%5D", "text": "git:/[a]" },
            "files": [{ "oldUri": "git:/%5Ba%5D", "newUri": "git:/b%20c" }],
            "cells": [{ "document": "git:/%5Ba%5D" }],
            "arguments": [{ "uri": "git:/[a]" }],
        });
        assert_eq!(params, expected);
    }

    #[test]
    fn replies_spell_a_uri_as_the_client_does() {
        let mut spellings = UriSpellings::default();
        let named = |uri: &str| json!({ "textDocument": { "uri": uri } });
        record_spelling(&mut spellings, &named("git:/[a]"));
        let mut reply = json!([{ "uri": "git:/%5Ba%5D" }, { "uri": "git:/b" }]);
        respell(&mut reply, &spellings);
        assert_eq!(reply, json!([{ "uri": "git:/[a]" }, { "uri": "git:/b" }]));
        record_spelling(&mut spellings, &named("git:/%5Ba%5D"));
        assert!(spellings.is_empty(), "the last spelling counts");
        record_spelling(&mut spellings, &named("git:/[a]"));
        forget_spelling(&mut spellings, "git:/%5Ba%5D");
        assert!(spellings.is_empty());
    }

    proptest! {
        /// Whatever follows the scheme, the library accepts it.
        #[test]
        fn the_library_accepts_normalized_uris(text in "(file|FILE|untitled|git|a\\+b-c\\.d):/?[^/]{0,10}/.{0,30}") {
            let normalized = uri::normalize_uri(&text);
            prop_assert!(normalized.parse::<Uri>().is_ok(), "{text}: {normalized}");
        }

        #[test]
        fn the_library_accepts_normalized_file_uris(text in "file://(localhost)?/.{0,40}") {
            let normalized = uri::normalize_uri(&text);
            prop_assert!(normalized.parse::<Uri>().is_ok(), "{text}: {normalized}");
        }
    }
}
