//! Generates `docs/providers.md`, with the format, address, key and model names of every provider, from the list of
//! providers.

use std::fmt::Write as _;

use serde_json::Value;
use strata_conversation::providers::{Endpoint, ProviderName};

/// Returns the text of the page.
pub(crate) fn page(settings: &Value) -> String {
    let mut out = String::from(
        "# Providers\n\n\
         Use the name of a provider in the setting `provider.name`, or before the name of a model (`openai/gpt-5.6-sol`). The column *format* is the \
         name of the request format in the setting `format` and in `--format`.\n\n",
    );
    let _ = writeln!(out, "This page is generated from the Rust types by `{}`.\n", super::RENEW);
    out.push_str("| name | format | API |\n|---|---|---|\n");
    for provider in ProviderName::ALL {
        let (name, format) = (provider.as_str(), provider.format().as_str());
        let _ = writeln!(out, "| `{name}` | `{format}` | {} |", description(settings, name));
    }
    out.push_str(
        "\n## Addresses and keys\n\n\
         The setting `provider.base_url` replaces the address, and `provider.key_env` replaces the variable with the key.\n\n\
         | name | address | path of a request | key | models |\n|---|---|---|---|---|\n",
    );
    for provider in ProviderName::ALL {
        let endpoint = provider.endpoint();
        let Endpoint { base_url, path, .. } = endpoint;
        let _ = writeln!(
            out,
            "| `{}` | `{base_url}` | `{path}` | {} | {} |",
            provider.as_str(),
            key(endpoint),
            models(endpoint)
        );
    }
    out.push_str(
        "\n`{model}` in a path stands for the model, which the body then does not contain, and `REGION` for the region.\n\
         The last column lists the beginnings of model names that imply the provider of [summaries](compaction.md#http-a-provider). `#` stands for a digit.\n",
    );
    out
}

fn description<'a>(settings: &'a Value, name: &str) -> &'a str {
    let names = settings["$defs"]["ProviderName"]["oneOf"].as_array().unwrap();
    let named = names.iter().find(|entry| entry["const"] == name).unwrap();
    named["description"].as_str().unwrap()
}

fn key(endpoint: &Endpoint) -> String {
    let Some(variable) = endpoint.key_variable else { return "none".to_owned() };
    let optional = if endpoint.is_key_optional_elsewhere { "; optional at another address" } else { "" };
    let headers: Vec<String> = endpoint
        .key_headers
        .iter()
        .rev()
        .map(|header| {
            let host = if header.host.is_empty() { String::new() } else { format!(" (`{}`)", header.host) };
            format!("`{}`{host}", header.name)
        })
        .collect();
    format!("`{variable}` in {}{optional}", headers.join(", "))
}

fn models(endpoint: &Endpoint) -> String {
    endpoint.implied_by.iter().map(|beginning| format!("`{beginning}`")).collect::<Vec<_>>().join(", ")
}
