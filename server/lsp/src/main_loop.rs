//! The one place where state changes. Takes mail in order, makes the next world of it, installs that whole or not
//! at all, and starts what is to be done outside. Never computes for long itself and never waits for anything but
//! mail: parsing, indexing and commands run on the pool and come back as mail.
//!
//! Commands of one session run one after the other, each on the workspace as it was when it arrived; those of
//! different sessions, and everything about documents, do not wait for them.

mod indexing;
mod queue;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use strata_engine::cancel::Cancel;
use strata_engine::key::FileKey;
use strata_host::pool::{Lane, Pool};
use tokio::sync::mpsc::UnboundedSender;
use tower_lsp::ls_types::{DidChangeWorkspaceFoldersParams, InitializeParams, InitializeResult};

use crate::capabilities;
use crate::client::{Can, ClientInfo};
use crate::commands::{self, CommandError, Context, Effect};
use crate::folders::{Folders, folders_of};
use crate::mail::{Answer, Call, Done, Mail};
use crate::meter;
use crate::outgoing::Outgoing;
use crate::world::{Action, MAIN_SESSION, World};

use indexing::Indexing;
use queue::{Queues, Waiting};

/// The meter is sent at most this often (`strata/status`, four a second).
const METER_EVERY: Duration = Duration::from_millis(250);

/// The loop and what it holds besides the world.
pub struct MainLoop {
    world: World,
    folders: Folders,
    queues: Queues,
    indexing: Indexing,
    parsing: BTreeSet<FileKey>,
    meter: Meter,
    pool: Pool,
    mail: Sender<Mail>,
    outgoing: UnboundedSender<Outgoing>,
}

/// Whether the meter has to be read, and since when it may.
#[derive(Default)]
struct Meter {
    wanted: bool,
    reading: bool,
    last: Option<Instant>,
}

impl MainLoop {
    /// A loop over a new world. `mail` is the sending end of the mail it will be given to [`run`](Self::run) on.
    pub fn new(pool: Pool, mail: Sender<Mail>, outgoing: UnboundedSender<Outgoing>) -> Self {
        Self {
            world: World::new(),
            folders: Folders::default(),
            queues: Queues::default(),
            indexing: Indexing::default(),
            parsing: BTreeSet::new(),
            meter: Meter::default(),
            pool,
            mail,
            outgoing,
        }
    }

    /// Works until [`Mail::Goodbye`].
    pub fn run(mut self, mail: &Receiver<Mail>) {
        loop {
            let next = match self.time_to_meter() {
                Some(wait) => mail.recv_timeout(wait),
                None => mail.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match next {
                Ok(Mail::Goodbye) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(mail) => self.handle(mail),
                Err(RecvTimeoutError::Timeout) => self.read_meter(),
            }
        }
    }

    fn handle(&mut self, mail: Mail) {
        match mail {
            Mail::Initialize(params, answer) => self.initialize(&params, answer),
            Mail::Initialized => self.initialized(),
            Mail::Opened(item) => self.transition("didOpen", |world| world.opened(&item)),
            Mail::Changed(params) => self.transition("didChange", |world| world.changed(&params)),
            Mail::Saved(params) => self.transition("didSave", |world| world.saved(&params)),
            Mail::Closed(params) => self.transition("didClose", |world| world.closed(&params)),
            Mail::Misread(misread) => self.transition("misread", |world| world.misread(misread)),
            Mail::FilesChanged(params) => {
                self.transition("didChangeWatchedFiles", |world| world.files_changed(&params));
            }
            Mail::FoldersChanged(params) => self.folders_changed(&params),
            Mail::SettingsChanged(tree) => self.settings_changed(tree),
            Mail::Settings(tree) => self.transition("settings", |world| world.configured(tree)),
            Mail::ProgressCancelled(token) => self.indexing.cancel(&token),
            Mail::Command(call) => self.enqueue(call),
            Mail::CommandDone(session, done) => self.command_done(&session, *done),
            Mail::Parsed(key, parsed) => {
                self.parsing.remove(&key);
                if let Some(parsed) = parsed {
                    self.transition("parsed", |world| world.parsed(key, parsed));
                }
            }
            Mail::Indexed(run, index) => {
                let outcome = if index.is_some() { "done" } else { "stopped" };
                if self.indexing.ended(run, outcome, &self.outgoing)
                    && let Some(index) = index
                {
                    self.transition("indexed", |world| world.indexed(index));
                }
                self.start_indexing();
            }
            Mail::Metered(status) => {
                self.meter.reading = false;
                if !status.is_null() {
                    self.say(Outgoing::Status(status));
                }
            }
            Mail::Goodbye => {}
        }
    }

    /// Makes the next world and installs it whole; when that panics, the world stays as it was.
    fn transition(&mut self, what: &'static str, next: impl FnOnce(&mut World) -> Vec<Action>) {
        let mut world = self.world.clone();
        let result = catch_unwind(AssertUnwindSafe(|| {
            let actions = next(&mut world);
            (world, actions)
        }));
        match result {
            Ok((world, actions)) => {
                self.world = world;
                actions.into_iter().for_each(|action| self.act(action));
            }
            Err(_) => tracing::error!(what, "a transition panicked; the state is as before"),
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Parse(key) => self.parse(key),
            Action::Refresh(keys) => {
                self.indexing.want_files(keys);
                self.start_indexing();
            }
            Action::Reindex => {
                self.indexing.want_all();
                self.start_indexing();
            }
            Action::Warn { code, message, path } => {
                tracing::warn!(code, "{message}");
                let warning = json!({ "code": code, "message": message, "path": path });
                self.say(Outgoing::Warning(warning, message));
            }
            Action::Meter => self.meter.wanted = true,
        }
    }

    fn initialize(&mut self, params: &InitializeParams, answer: Answer<Result<InitializeResult, String>>) {
        let client = ClientInfo::new(params);
        let encoding = client.encoding;
        self.folders = folders_of(params);
        let options = params.initialization_options.as_ref();
        let settings = options.and_then(|options| options.get("settings")).cloned();
        let roots = self.folders.roots();
        self.transition("initialize", |world| {
            world.client = Arc::new(client);
            world.snapshot.roots = Arc::new(roots);
            settings.map_or(Vec::new(), |tree| world.configured(tree))
        });
        // Nobody waits any more when the client cancelled its first request; the state is right all the same.
        let _ = answer.send(Ok(capabilities::result(encoding)));
    }

    fn initialized(&mut self) {
        let client = Arc::clone(&self.world.client);
        if client.configuration == Can::Yes {
            self.say(Outgoing::AskSettings);
        }
        if client.watches_files == Can::Yes {
            self.say(Outgoing::WatchFiles);
        }
        let counter = Arc::clone(&self.world.snapshot.counter);
        let model = self.world.snapshot.models.resolve(&self.world.snapshot.settings.model).model;
        self.pool.spawn(Lane::Background, move || counter.warm_up(model.tokenizer), |_| ());
        self.act(Action::Reindex);
        self.act(Action::Meter);
    }

    fn folders_changed(&mut self, params: &DidChangeWorkspaceFoldersParams) {
        self.folders.change(params);
        let roots = self.folders.roots();
        self.transition("didChangeWorkspaceFolders", |world| world.folders_changed(roots));
    }

    /// A client that can be asked is asked; others send their settings along.
    fn settings_changed(&mut self, tree: Value) {
        if self.world.client.configuration == Can::Yes {
            self.say(Outgoing::AskSettings);
        } else {
            let tree = tree.get("strata").cloned().unwrap_or(tree);
            self.transition("didChangeConfiguration", |world| world.configured(tree));
        }
    }

    fn parse(&mut self, key: FileKey) {
        let Some(buffer) = self.world.snapshot.buffers.get(&key).cloned() else { return };
        if !buffer.is_stale() || !self.parsing.insert(key.clone()) {
            return;
        }
        let mail = self.mail.clone();
        let of = key.clone();
        self.pool.spawn(
            Lane::Interactive,
            move || buffer.parse(&of, &Cancel::new()).ok().flatten(),
            move |parsed| {
                if let Err(panicked) = &parsed {
                    tracing::error!(%key, %panicked, "parsing a buffer failed");
                }
                let _ = mail.send(Mail::Parsed(key, parsed.ok().flatten()));
            },
        );
    }

    fn start_indexing(&mut self) {
        let snapshot = self.world.snapshot.clone();
        self.indexing.start(&snapshot, &self.pool, &self.mail, &self.outgoing, &self.world.client);
    }

    fn enqueue(&mut self, mut call: Call) {
        let (session, arguments) = match commands::split_arguments(std::mem::take(&mut call.arguments)) {
            Ok((session, arguments)) => (session.unwrap_or_else(|| MAIN_SESSION.to_owned()), arguments),
            Err(error) => return respond(call.answer, Err(error)),
        };
        if !self.world.sessions.contains_key(session.as_str()) {
            let error = CommandError::invalid("session", &format!("there is no session `{session}`"));
            return respond(call.answer, Err(error));
        }
        let snapshot = self.world.snapshot.clone();
        self.queues.push(&session, Waiting { call, arguments, snapshot });
        self.start_command(&session);
    }

    /// Starts the next command of a session unless one is running.
    fn start_command(&mut self, id: &str) {
        let Some(Waiting { call, arguments, snapshot }) = self.queues.next(id) else { return };
        let Some(session) = self.world.sessions.get(id).map(|session| (**session).clone()) else {
            self.queues.finished(id);
            return;
        };
        let Call { name, cancel, answer, .. } = call;
        let mail = self.mail.clone();
        let folders_version = self.world.folders_version;
        let id = id.to_owned();
        let job = move || {
            let span = tracing::info_span!("command", name);
            let _inside = span.enter();
            let mut session = session;
            let before = session.mark();
            let mut context = Context {
                snapshot: &snapshot,
                session: &mut session,
                now_ms: now_ms(),
                cancel: &cancel,
                effects: Vec::new(),
            };
            let result = commands::run(&name, arguments, &mut context);
            let effects = std::mem::take(&mut context.effects);
            // What nobody waits for any more did not happen.
            let keep = result.is_ok() && !cancel.is_cancelled();
            let changed = session.mark() != before;
            ((keep && changed).then_some(session), if keep { effects } else { Vec::new() }, result)
        };
        self.pool.spawn(Lane::Interactive, job, move |outcome| {
            let (session, effects, result) = outcome.unwrap_or_else(|panicked| {
                tracing::error!(%panicked, "a command panicked; its session is as before");
                let message = "an internal error stopped this command; nothing was changed, please report it";
                (None, Vec::new(), Err(CommandError::failed(message)))
            });
            let done = Done { folders_version, session, effects, result, answer };
            let _ = mail.send(Mail::CommandDone(id, Box::new(done)));
        });
    }

    fn command_done(&mut self, id: &str, done: Done) {
        let Done { folders_version, session, effects, mut result, answer } = done;
        if folders_version != self.world.folders_version {
            result = result.and(Err(CommandError::failed(
                "the workspace folders changed while this command ran, so nothing was changed; run it again",
            )));
        } else if let Some(session) = session {
            self.transition("command", |world| world.session_changed(session));
        }
        for effect in effects {
            match effect {
                Effect::Reindex => self.act(Action::Reindex),
            }
        }
        respond(answer, result);
        self.queues.finished(id);
        self.start_command(id);
    }

    /// How long until the meter may be read; `None` when nobody wants it or it is being read.
    fn time_to_meter(&self) -> Option<Duration> {
        if !self.meter.wanted || self.meter.reading {
            return None;
        }
        let since = self.meter.last.map_or(METER_EVERY, |last| last.elapsed());
        Some(METER_EVERY.saturating_sub(since))
    }

    fn read_meter(&mut self) {
        let Some(session) = self.world.sessions.get(MAIN_SESSION).cloned() else { return };
        self.meter = Meter { wanted: false, reading: true, last: Some(Instant::now()) };
        let snapshot = self.world.snapshot.clone();
        let mail = self.mail.clone();
        self.pool.spawn(
            Lane::Background,
            move || meter::read(&snapshot, &session, now_ms(), &Cancel::new()),
            move |status| {
                let _ = mail.send(Mail::Metered(status.ok().flatten().unwrap_or(Value::Null)));
            },
        );
    }

    fn say(&self, outgoing: Outgoing) {
        // The task that speaks ends with the connection; then there is nobody to tell.
        let _ = self.outgoing.send(outgoing);
    }
}

fn respond(answer: Answer<Result<Value, CommandError>>, result: Result<Value, CommandError>) {
    // The waiting side is gone when the request was cancelled.
    let _ = answer.send(result);
}

/// The clock, read at the edge: the engine takes time as an argument.
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
