//! What asking a model writes into the log: nothing of the question, the answer or the key. Alone in its process, as
//! the log of a process is one.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use e2e::{Dialect, LIMIT, ModelServer, Reply};
use strata_engine::cancel::Cancel;
use strata_host::summarise::{Key, Kind, Provider, Question};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

static LOG: Mutex<String> = Mutex::new(String::new());

/// Takes down everything at every level.
struct Everything(AtomicU64);

struct Line;

fn log() -> MutexGuard<'static, String> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        log().push_str(&format!("{field}={value:?} "));
    }
}

impl Subscriber for Everything {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Line);
        Id::from_u64(self.0.fetch_add(1, Ordering::Relaxed))
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Line);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Line);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn nothing_that_is_said_is_in_the_log() {
    tracing::subscriber::set_global_default(Everything(AtomicU64::new(1))).unwrap();
    tracing::info!("the log works");
    for (dialect, kind) in Dialect::ALL.into_iter().zip(Kind::ALL) {
        let wrong = Reply::Body("application/json", "{\"marked\": \"answer\"}".to_owned());
        for reply in [Reply::Text("marked answer".to_owned()), wrong, Reply::Refuse(401, vec![])] {
            let server = ModelServer::start(dialect, vec![reply]);
            let provider =
                Provider { kind, base_url: Some(server.base_url()), model: "m".to_owned(), key_env: None };
            let question = Question {
                system: "marked system".to_owned(),
                prompt: "marked question".to_owned(),
                max_output_tokens: 9,
            };
            let _ = provider.ask_with(Key::new("marked-key"), &question, LIMIT, &Cancel::new());
            assert_eq!(server.asked().len(), 1, "{dialect:?}");
        }
    }
    let log = log();
    assert!(log.contains("the log works"));
    assert!(!log.contains("marked"), "{log}");
}
