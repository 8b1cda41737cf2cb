//! Formats the gap as two tables: by session, and by cause.

use crate::columns::LayoutColumn;
use crate::replay::Replay;
use crate::report::{numeric_table, truncate_name};
use crate::session::SessionStats;

use super::{CostGap, GapCause};

/// Columns of the table with one row for each session, and the causes whose costs each column adds up.
const CAUSE_COLUMNS: [(&str, &[GapCause]); 12] = [
    ("kept", &[GapCause::KeptFiles, GapCause::KeptOutlines, GapCause::KeptUpdates, GapCause::Wording]),
    ("first", &[GapCause::FirstWrites]),
    ("back", &[GapCause::Returned]),
    ("update", &[GapCause::Updates, GapCause::Volatile]),
    ("left", &[GapCause::Deselected]),
    ("window", &[GapCause::Shed, GapCause::Rebuilt]),
    ("outdated", &[GapCause::OutdatedText]),
    ("talk", &[GapCause::Conversation, GapCause::Expired]),
    ("mark", &[GapCause::NoBreakpoint]),
    ("end", &[GapCause::Uncached]),
    ("unread", &[GapCause::UnreadInside, GapCause::UnreadEnd, GapCause::UnreadLast]),
    ("long", &[GapCause::LongPrompts]),
];

impl Replay {
    /// Explains why `ledger` costs more than the bound, as a percentage of the cost without a cache.
    pub fn gap_report(&self) -> String {
        let sessions: Vec<(&SessionStats, &CostGap)> = self
            .sessions
            .iter()
            .filter(|session| session.problem.is_none())
            .filter_map(|session| Some((session, session.gap.as_ref()?)))
            .collect();
        if sessions.is_empty() {
            return "No session was played under `ledger`\n".to_owned();
        }
        format!(
            "Why ledger costs more than the bound, as a percentage of the cost without a cache\n\n{}\n{}",
            session_table(&sessions),
            cause_table(&sessions)
        )
    }
}

fn session_table(sessions: &[(&SessionStats, &CostGap)]) -> String {
    let mut table = numeric_table();
    let names = CAUSE_COLUMNS.map(|(name, _)| name);
    let mut head = ["session", "ledger", "bound", "gap"].to_vec();
    head.extend(names);
    table.add_row(row(head.into_iter().map(str::to_owned)));
    for (session, gap) in sessions {
        let ledger = session.columns.get(&LayoutColumn::Ledger).map_or(0.0, |column| column.share);
        let groups =
            CAUSE_COLUMNS.map(|(_, causes)| causes.iter().map(|cause| gap.cost(*cause)).sum::<f64>());
        let figures = [ledger, session.bound, gap.total()].into_iter().chain(groups).map(format_percent);
        table.add_row(row([truncate_name(&session.name)].into_iter().chain(figures)));
    }
    table.render()
}

/// Creates a row of the table with one row for each session.
fn row(cells: impl IntoIterator<Item = String>) -> [String; CAUSE_COLUMNS.len() + 4] {
    let mut cells = cells.into_iter();
    std::array::from_fn(|_| cells.next().unwrap_or_default())
}

fn cause_table(sessions: &[(&SessionStats, &CostGap)]) -> String {
    let gaps: Vec<&CostGap> = sessions.iter().map(|(_, gap)| *gap).collect();
    let mean = CostGap::mean(&gaps);
    let mut table = numeric_table();
    table.add_row(["cause", "mean", "of the gap", "most"].map(str::to_owned));
    for cause in GapCause::ALL {
        let most = gaps.iter().map(|gap| gap.cost(cause)).fold(f64::NEG_INFINITY, f64::max);
        let part = crate::columns::share(mean.cost(cause), mean.total());
        table.add_row([
            cause.to_string(),
            format_percent(mean.cost(cause)),
            format!("{:.0}%", part * 100.0),
            format_percent(most),
        ]);
    }
    let most = gaps.iter().map(|gap| gap.total()).fold(f64::NEG_INFINITY, f64::max);
    table.add_row(["gap".to_owned(), format_percent(mean.total()), "100%".to_owned(), format_percent(most)]);
    table.render()
}

fn format_percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    if text == "-0.0" { "0.0".to_owned() } else { text }
}
