//! `cost.*`: reports what the conversations of the workspace were billed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_conversation::conversation_facts::one_line;
use strata_tokens::cost::{Amount, Bill, DAY_MS};

use super::{Access, Command, CommandError, Context};

/// Maximum characters of the beginning of a conversation.
const PREVIEW_CHARS: usize = 120;

/// Which costs to report.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CostParams {
    /// Omit days that ended before this time, in milliseconds since 1970. Days are those of UTC. By default, all days
    /// count.
    pub since_ms: Option<u64>,
    /// What to add costs up by. Defaults to `session`.
    #[serde(default)]
    pub by: CostGrouping,
}

/// How to group costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CostGrouping {
    /// One entry for each conversation, most recently used first.
    #[default]
    Session,
    /// One entry for each model, by name.
    Model,
    /// One entry for each day, oldest first.
    Day,
}

/// What the stored and open conversations of the workspace were billed. Does not include summaries that a provider wrote,
/// nor conversations that were deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CostReport {
    /// Costs, added up as requested.
    pub entries: Vec<CostEntry>,
    /// Sum of all entries.
    pub total: Amount,
    /// Source and date of the prices.
    pub prices: String,
}

/// A part of the costs.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostEntry {
    /// Id of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Name or beginning of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Beginning of the day, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day_ms: Option<u64>,
    /// What was billed.
    #[serde(flatten)]
    pub amount: Amount,
}

struct BilledSession {
    id: String,
    about: String,
    bill: Bill,
}

pub struct ReportCosts;

impl Command for ReportCosts {
    const NAME: &str = "strata.cost.report";
    const SUMMARY: &str = "Reports what the conversations of the workspace were billed, in tokens and money.";
    const ACCESS: Access = Access::Reads;
    type Args = CostParams;
    type Reply = CostReport;

    fn run(params: CostParams, context: &mut Context<'_>) -> Result<CostReport, CommandError> {
        let since = params.since_ms.unwrap_or_default() / DAY_MS;
        let mut entries = Vec::new();
        let mut groups: BTreeMap<(String, u64), CostEntry> = BTreeMap::new();
        for BilledSession { id, about, bill } in billed_sessions(context)? {
            let recent = bill.entries().iter().filter(|entry| u64::from(entry.day) >= since);
            match params.by {
                CostGrouping::Session => {
                    let total = recent.map(|entry| entry.amount).reduce(|a, b| a + b);
                    entries.extend(total.map(|amount| CostEntry {
                        session: Some(id),
                        about: Some(about),
                        amount,
                        ..CostEntry::default()
                    }));
                }
                CostGrouping::Model => recent.for_each(|entry| {
                    let group = groups.entry((entry.model.clone(), 0)).or_default();
                    group.model = Some(entry.model.clone());
                    group.amount = group.amount + entry.amount;
                }),
                CostGrouping::Day => recent.for_each(|entry| {
                    let day_ms = u64::from(entry.day) * DAY_MS;
                    let group = groups.entry((String::new(), day_ms)).or_default();
                    group.day_ms = Some(day_ms);
                    group.amount = group.amount + entry.amount;
                }),
            }
        }
        entries.extend(groups.into_values());
        let total = entries.iter().fold(Amount::default(), |total, entry| total + entry.amount);
        Ok(CostReport { entries, total, prices: context.snapshot.models.price_source().to_owned() })
    }
}

/// Returns the bills of all conversations: of those that are not stored first, then of stored ones, most recently used
/// first.
fn billed_sessions(context: &Context<'_>) -> Result<Vec<BilledSession>, CommandError> {
    let stored = context.services.store.list()?;
    let mut bills = context.services.store.bills()?;
    let mut sessions: Vec<BilledSession> = Vec::new();
    for session in context.sessions.iter() {
        if !stored.iter().any(|info| *info.id.as_str() == *session.id) {
            let first = session.history.messages().first().map(|message| message.text()).unwrap_or_default();
            let about = one_line(&first, PREVIEW_CHARS);
            sessions.push(BilledSession { id: session.id.to_string(), about, bill: session.bill.clone() });
        }
    }
    sessions.extend(stored.into_iter().filter_map(|info| {
        let id = info.id.as_str().to_owned();
        let bill = bills.remove(&id)?;
        let about = if info.name.is_empty() { info.preview } else { info.name };
        Some(BilledSession { id, about, bill })
    }));
    Ok(sessions)
}
