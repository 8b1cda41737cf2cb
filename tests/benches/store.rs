//! How long the store takes: loading a session of 10,000 messages, searching 100,000 messages for rare and for common
//! words, and appending one message durably. `cargo bench -p e2e --bench store [-- MESSAGES]`.
//!
//! Words are drawn from a vocabulary whose frequencies fall as those of a language do (Zipf), so that the commonest stand
//! in almost every message. A third of the messages are results of tools, which are longer.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on must fail")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use e2e::Times;
use serde_json::json;
use strata_conversation::history::{
    ContentBlock, Message, MessageId, NewMessage, ResultPart, Role, ToolOutcome,
};
use strata_host::store::{
    NewSession, RankingCoverage, SessionAccess, SessionChange, SessionId, Store, StoreError, WorkspaceKey,
};

/// Maximum number of hits of a search.
const HITS: usize = 20;
/// Messages of one session.
const SESSION: usize = 10_000;
const APPENDS: usize = 1_000;
const ROUNDS: usize = 30;
const VOCABULARY: usize = 40_000;

fn main() -> Result<(), StoreError> {
    let asked = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let messages: usize = asked.unwrap_or(100_000);
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let workspace = WorkspaceKey::for_folder(directory.path())?;
    let mut store = Store::open(&state, &workspace)?.store;
    fill(&mut store, messages)?;
    println!("{messages} messages in {} sessions, {:.0} MB on disk", store.list()?.len(), size(&state) / 1e6);
    let open = || Store::open(&state, &workspace).map(drop);
    println!("open                            {}", times(5, open)?);
    println!("list                            {}", times(5, || store.list().map(drop))?);
    let id: SessionId = "bench-0".parse()?;
    let load = || store.load_session(&id).map(drop);
    println!(
        "load {:6} messages            {}",
        store.load_session(&id)?.messages.len(),
        times(ROUNDS, load)?
    );
    search(&store)?;
    append(&mut store, &id)
}

fn search(store: &Store) -> Result<(), StoreError> {
    let rank = |ranks: &[usize]| ranks.iter().map(|&rank| word(rank)).collect::<Vec<_>>().join(" ");
    for (label, query) in [
        ("rare word", rank(&[30_000])),
        ("middling word", rank(&[1_000])),
        ("frequent word", rank(&[60])),
        ("commonest word", rank(&[0])),
        ("five commonest words", rank(&[0, 1, 2, 3, 4])),
        ("commonest and a rare one", rank(&[0, 30_000])),
        ("ten words, some unknown", format!("{} nowhere", rank(&[0, 3, 7, 50, 100, 500, 900, 2_000, 5_000]))),
        ("two commonest as a phrase", format!("{}_{}", word(0), word(1))),
        ("a phrase of common words", format!("{}/{}.{}", word(5), word(3), word(9))),
        ("path of a rare file", format!("{}/{}.{}", word(0), word(20_000), word(1))),
    ] {
        let found = store.search(&query, HITS)?;
        let coverage = match found.coverage {
            RankingCoverage::All => "all".to_owned(),
            RankingCoverage::Newest(newest) => format!("newest {newest}"),
        };
        let took = times(ROUNDS, || store.search(&query, HITS).map(drop))?;
        println!("search {label:26}{took}  {:2} hits of {coverage}", found.hits.len());
    }
    Ok(())
}

fn append(store: &mut Store, id: &SessionId) -> Result<(), StoreError> {
    let handle = store.open_session(id, SessionAccess::Write)?;
    let mut words = Words(7);
    let mut next = store.load_session(id)?.next_id;
    let took = times(APPENDS, || {
        let appended = vec![words.message(next)];
        next += 1;
        store.commit(
            &handle,
            &SessionChange { appended, next_id: next, state: Some(json!({})), ..SessionChange::default() },
        )
    })?;
    println!("append one message              {took}");
    Ok(())
}

fn fill(store: &mut Store, messages: usize) -> Result<(), StoreError> {
    let mut words = Words(1);
    for session in 0..messages.div_ceil(SESSION) {
        let count = SESSION.min(messages - session * SESSION);
        let messages: Vec<Arc<Message>> = (0..count as u64).map(|number| words.message(number)).collect();
        let id = format!("bench-{session}").parse()?;
        let new = NewSession { id, name: String::new(), created_ms: session as u64 };
        let handle = store.create(&new)?;
        store.commit(
            &handle,
            &SessionChange { appended: messages, next_id: count as u64, ..SessionChange::default() },
        )?;
    }
    Ok(())
}

/// Draws words; the same ones in every run.
struct Words(u64);

impl Words {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    /// The rank of a word: each is half as likely as one of half its rank.
    fn rank(&mut self) -> usize {
        let share = self.below(1 << 30) as f64 / f64::from(1 << 30);
        (VOCABULARY as f64).powf(share) as usize - 1
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| word(self.rank())).collect::<Vec<_>>().join(" ")
    }

    fn message(&mut self, number: u64) -> Arc<Message> {
        let (short, long) = (20 + self.below(100), 100 + self.below(500));
        let body = match number % 3 {
            0 => NewMessage::text(Role::User, self.text(short)),
            1 => NewMessage::text(Role::Assistant, self.text(short)),
            _ => {
                let content = vec![ResultPart::Text { text: self.text(long) }];
                let call_id = format!("call-{number}");
                NewMessage::new(
                    Role::User,
                    vec![ContentBlock::ToolResult { call_id, content, outcome: ToolOutcome::Ok }],
                )
            }
        };
        Arc::new(Message { id: MessageId(number), body })
    }
}

/// A word of letters for a rank.
fn word(rank: usize) -> String {
    let mut word = String::from("w");
    let mut left = rank;
    loop {
        word.push(char::from(b'a' + (left % 26) as u8));
        left /= 26;
        if left == 0 {
            return word;
        }
    }
}

fn size(folder: &Path) -> f64 {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| match entry.metadata().unwrap() {
            metadata if metadata.is_dir() => size(&entry.path()),
            metadata => metadata.len() as f64,
        })
        .sum()
}

/// How long each of so many rounds takes.
fn times(rounds: usize, mut work: impl FnMut() -> Result<(), StoreError>) -> Result<Times, StoreError> {
    let time = |()| {
        let started = Instant::now();
        work().map(|()| started.elapsed())
    };
    std::iter::repeat_n((), rounds).map(time).collect()
}
