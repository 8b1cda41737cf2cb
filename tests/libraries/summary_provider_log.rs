//! What asking a model writes into the log: nothing of the question, the answer or the key. In a process of
//! its own, since a process has one log.

use std::env;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use e2e::{Dialect, LIMIT, ModelServer, Reply, rerun};
use serde_json::json;
use strata_base::cancel::Cancel;
use strata_host::provider::{ApiKey, KeySource, Provider};
use strata_host::summarise::SummaryQuestion;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::configured_provider::kind;

/// Set in the process that is started for the test.
const ALONE: &str = "STRATA_TEST_LOG";

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
fn questions_answers_and_keys_stay_out_of_the_log() {
    if env::var_os(ALONE).is_none() {
        let mut alone = rerun(module_path!(), "questions_answers_and_keys_stay_out_of_the_log");
        let output = alone.env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let has_run = output.status.success() && said.contains("1 passed");
        assert!(has_run, "{said}\n{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    tracing::subscriber::set_global_default(Everything(AtomicU64::new(1))).unwrap();
    tracing::info!("the log works");
    for dialect in Dialect::ALL {
        let kind = kind(dialect);
        let wrong = Reply::Body("application/json", "{\"marked\": \"answer\"}".to_owned());
        for reply in [Reply::Text("marked answer".to_owned()), wrong, Reply::Refuse(401, vec![])] {
            let server = ModelServer::start(dialect, vec![reply]);
            let key = KeySource::Given(ApiKey::new("marked-key").unwrap());
            let base_url = Some(server.base_url());
            let provider = Provider { kind, base_url, model: "m".to_owned(), key };
            let question = SummaryQuestion {
                system: "marked system".to_owned(),
                prompt: "marked question".to_owned(),
                max_output_tokens: 9,
            };
            let _ = provider.ask(&question, LIMIT, &Cancel::new());
            assert_eq!(server.asked().len(), 1, "{dialect:?}");
            let body = json!({"model": "m", "marked": "question"});
            let _ = provider.stream(&body, &crate::limits(), &Cancel::new(), &mut |_| ());
            assert_eq!(server.asked().len(), 2, "{dialect:?}");
        }
    }
    let log = log();
    assert!(log.contains("the log works"));
    assert!(!log.contains("marked"), "{log}");
}
