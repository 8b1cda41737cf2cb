//! Applies any sequence of changes to the store and to a model in memory, reopening at any time, and compares them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// A change. Numbers select among the existing items.
#[derive(Debug, Clone)]
enum Step {
    Create,
    Append(usize, u8),
    Change(usize, usize),
    Insert(usize, usize),
    Remove(usize, usize),
    Shuffle(usize, usize),
    Fork(usize, usize),
    Delete(usize),
    Rename(usize),
    Reopen,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Model {
    name: String,
    messages: Vec<Arc<Message>>,
    state: Value,
    next: u64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (session, at) = (any::<usize>(), any::<usize>());
    let step = prop_oneof![
        2 => Just(Step::Create),
        5 => (session, 0..4_u8).prop_map(|(session, count)| Step::Append(session, count)),
        3 => (session, at).prop_map(|(session, at)| Step::Change(session, at)),
        3 => (session, at).prop_map(|(session, at)| Step::Insert(session, at)),
        2 => (session, at).prop_map(|(session, at)| Step::Remove(session, at)),
        1 => (session, at).prop_map(|(session, at)| Step::Shuffle(session, at)),
        1 => (session, at).prop_map(|(session, at)| Step::Fork(session, at)),
        1 => session.prop_map(Step::Delete),
        1 => session.prop_map(Step::Rename),
        2 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..40)
}

/// The store and the model side by side.
struct StoreAndModel {
    home: Home,
    store: Option<Store>,
    models: BTreeMap<SessionId, Model>,
    counter: u64,
    clock: u64,
}

impl StoreAndModel {
    fn new() -> Self {
        let home = Home::new();
        Self { store: Some(home.open()), home, models: BTreeMap::new(), counter: 0, clock: 1 << 40 }
    }

    fn pick(&self, session: usize) -> Option<SessionId> {
        self.models.keys().nth(session % self.models.len().max(1)).cloned()
    }

    fn new_session_with_unique_id(&mut self) -> NewSession {
        self.counter += 1;
        new_session(&format!("s{}", self.counter))
    }

    /// Creates a message with a unique word.
    fn message(&mut self, number: u64) -> Arc<Message> {
        self.counter += 1;
        text_message(number, &format!("unique{} word", self.counter))
    }

    fn store(&mut self) -> &mut Store {
        self.store.as_mut().unwrap()
    }

    /// Applies a change to both. The clock goes backwards.
    fn commit(&mut self, id: &SessionId, model: Model, mut commit: SessionChange) {
        self.clock -= 1_000;
        commit.now_ms = self.clock;
        commit.next_id = model.next;
        if !self.counter.is_multiple_of(3) {
            commit.state = Some(model.state.clone());
        }
        let store = self.store();
        let handle = store.open_session(id, SessionAccess::Write).unwrap();
        store.commit(&handle, &commit).unwrap();
        let state = commit.state.unwrap_or_else(|| self.models[id].state.clone());
        self.models.insert(id.clone(), Model { state, ..model });
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Create => {
                let new = self.new_session_with_unique_id();
                drop(self.store().create(&new).unwrap());
                self.models.insert(new.id, Model { name: new.name, ..Model::default() });
            }
            Step::Reopen => {
                self.store = None;
                self.store = Some(self.home.open());
            }
            Step::Append(session, count) => {
                let Some(id) = self.pick(session) else { return };
                let mut model = self.models[&id].clone();
                let mut commit = SessionChange::default();
                for _ in 0..count {
                    commit.appended.push(self.message(model.next));
                    model.next += 1;
                }
                model.messages.extend(commit.appended.iter().cloned());
                model.state = json!({"appended": self.counter});
                self.commit(&id, model, commit);
            }
            Step::Change(session, at) => {
                let Some((id, mut model, at)) = self.pick_message(session, at) else { return };
                let changed = self.message(model.messages[at].id.0);
                model.messages[at] = Arc::clone(&changed);
                self.commit(&id, model, SessionChange { changed: vec![changed], ..SessionChange::default() });
            }
            Step::Insert(session, at) => {
                let Some((id, mut model, at)) = self.pick_message(session, at) else { return };
                let inserted = self.message(model.next);
                model.next += 1;
                model.messages.insert(at, Arc::clone(&inserted));
                let order = Some(model.messages.iter().map(|message| message.id).collect());
                self.commit(
                    &id,
                    model,
                    SessionChange { appended: vec![inserted], order, ..SessionChange::default() },
                );
            }
            Step::Remove(session, at) => {
                let Some((id, mut model, at)) = self.pick_message(session, at) else { return };
                let removed = vec![model.messages.remove(at).id];
                self.commit(&id, model, SessionChange { removed, ..SessionChange::default() });
            }
            Step::Shuffle(session, at) => {
                let Some((id, mut model, at)) = self.pick_message(session, at) else { return };
                model.messages.rotate_left(at);
                let order = Some(model.messages.iter().map(|message| message.id).collect());
                self.commit(&id, model, SessionChange { order, ..SessionChange::default() });
            }
            Step::Fork(session, at) => {
                let Some(id) = self.pick(session) else { return };
                let mut model = self.models[&id].clone();
                let until = (!model.messages.is_empty() && at % 3 > 0).then(|| {
                    model.messages.truncate(at % model.messages.len() + 1);
                    model.messages[model.messages.len() - 1].id
                });
                let new = self.new_session_with_unique_id();
                drop(self.store().fork(&id, &new, until).unwrap());
                self.models.insert(new.id, Model { name: new.name, ..model });
            }
            Step::Delete(session) => {
                let Some(id) = self.pick(session) else { return };
                self.store().delete(&id).unwrap();
                self.models.remove(&id);
            }
            Step::Rename(session) => {
                let Some(id) = self.pick(session) else { return };
                let name = format!("renamed {}", self.counter);
                self.store().rename(&id, &name).unwrap();
                self.models.get_mut(&id).unwrap().name = name;
            }
        }
    }

    fn pick_message(&self, session: usize, at: usize) -> Option<(SessionId, Model, usize)> {
        let id = self.pick(session)?;
        let model = self.models[&id].clone();
        let at = at.checked_rem(model.messages.len())?;
        Some((id, model, at))
    }

    fn compare(&mut self) {
        let models = self.models.clone();
        let store = self.store();
        assert_eq!(store.list().unwrap().len(), models.len());
        for (id, model) in &models {
            let stored = store.load_session(id).unwrap();
            let actual = Model {
                name: stored.name,
                messages: stored.messages,
                state: stored.state,
                next: stored.next_id,
            };
            assert_eq!(actual, *model);
        }
        // The index matches the tables exactly.
        let words: Vec<String> =
            models.values().flat_map(|model| &model.messages).map(|message| message.text()).collect();
        for number in 1..=self.counter {
            let word = format!("unique{number}");
            let expected = words.iter().filter(|text| text.split(' ').next() == Some(&word)).count();
            let results = self.store().search(&word, 20).unwrap();
            assert_eq!(results.hits.len(), expected, "{word}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_store_agrees_with_a_model_in_memory(steps in steps()) {
        let mut both = StoreAndModel::new();
        for step in &steps {
            both.step(step);
        }
        both.compare();
        both.step(&Step::Reopen);
        both.compare();
    }
}
