//! The libraries below the front ends, in this process: documents, counts, and commands on a headless workspace under random
//! input, each against a model that is simpler than the code; the store under processes that die; the providers of summaries.
//! No language server is involved.

mod bedrock_requests;
mod compaction_limits;
mod configured_provider;
mod document_edits;
mod grammar_robustness;
#[cfg(target_os = "linux")]
mod ignore_rules;
mod local_windows;
mod provider_misbehaviour;
mod repeated_key;
mod restored_secrets;
mod store_durability;
mod summary_provider_log;
mod summary_providers;
mod token_recounts;

use std::time::Duration;

use strata_host::provider::RequestLimits;

/// Ten minutes for a reply, which may be silent for five, and two retries.
pub(crate) fn limits() -> RequestLimits {
    RequestLimits {
        deadline: Duration::from_secs(600),
        stall: Duration::from_secs(300),
        max_reply_bytes: 16 << 20,
        retries: 2,
    }
}
