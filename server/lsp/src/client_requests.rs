//! Strata's own requests to the client. Does not send them.

use strata_app::services::front_end::{CountTokens, Summarize, Summary, TokenCount};
use tower_lsp::ls_types::request::Request;

#[derive(Debug)]
pub(crate) enum SummarizeRequest {}

impl Request for SummarizeRequest {
    type Params = Summarize;
    type Result = Summary;
    const METHOD: &'static str = "strata/summarize";
}

#[derive(Debug)]
pub(crate) enum CountTokensRequest {}

impl Request for CountTokensRequest {
    type Params = CountTokens;
    type Result = TokenCount;
    const METHOD: &'static str = "strata/countTokens";
}
