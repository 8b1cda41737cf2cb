//! Converts tokens of progress from and to the protocol.

use strata_app::runtime::session_runtime::ProgressToken;
use tower_lsp::ls_types::NumberOrString;

pub(crate) fn from_lsp(token: NumberOrString) -> ProgressToken {
    match token {
        NumberOrString::Number(number) => ProgressToken::Number(number),
        NumberOrString::String(text) => ProgressToken::Text(text),
    }
}

pub(crate) fn to_lsp(token: ProgressToken) -> NumberOrString {
    match token {
        ProgressToken::Number(number) => NumberOrString::Number(number),
        ProgressToken::Text(text) => NumberOrString::String(text),
    }
}
