//! The one place where state changes. Takes mail in order, makes the next world of it, installs that whole or not
//! at all, and starts what is to be done outside. Never computes for long itself and never waits for anything but
//! mail: parsing, indexing and commands run on the pool and come back as mail. What panics changes nothing of the world, and whoever
//! waits for it is let go (`debt`).
//!
//! Commands of one session run one after the other, each on the workspace as it was when it arrived; those of
//! different sessions, and everything about documents, do not wait for them.

mod compactions;
mod debt;
mod indexing;
mod offers;
mod queue;
mod watching;

use std::collections::BTreeSet;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use strata_engine::ageing::{Aged, Ageing};
use strata_engine::buffer::{Buffer, Parsed};
use strata_engine::cancel::Cancel;
use strata_engine::compaction::Draft;
use strata_engine::key::FileKey;
use strata_engine::session::Session;
use strata_host::config::Layer;
use strata_host::deadline::{OUTLINE_TIME, within};
use strata_host::pool::{Lane, Panicked, Pool, catch};
use strata_host::roots::Roots;
use strata_host::store::Access;
use strata_host::uri;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tower_lsp::ls_types::{DidChangeWorkspaceFoldersParams, InitializeParams, InitializeResult};

use crate::capabilities;
use crate::client::{Can, ClientInfo, InitializationOptions};
use crate::commands::{self, CommandError, Compacting, Context, Effect};
use crate::compacting::{Job, News, Reason, sum_up};
use crate::faults::{self, Point, carried};
use crate::folders::{Folders, folders_of};
use crate::keeper::Keeper;
use crate::mail::{Answer, Call, Done, IndexEnd, Mail, Waits};
use crate::meter;
use crate::navigation::{self, Feature, Question};
use crate::outgoing::{Outgoing, Warning, Work};
use crate::probe::Measured;
use crate::services::Services;
use crate::settings::{self, Found};
use crate::shown::Shown;
use crate::snapshot::{Snapshot, outlines_of_user};
use crate::world::{Action, MAIN_SESSION, World};

use compactions::{Compactions, Running};
use debt::Debt;
use indexing::Indexing;
use offers::Offers;
use queue::{Queues, Task, Waiting, Whose};
use watching::Watching;

/// The meter is sent at most this often (`strata/status`, four a second).
const METER_EVERY: Duration = Duration::from_millis(250);

/// So many compactions may wait for a model at a time; others wait for them.
const PATIENT_THREADS: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// The loop and what it holds besides the world.
pub struct MainLoop {
    world: World,
    folders: Folders,
    queues: Queues,
    compactions: Compactions,
    /// The sessions whose tool results are being summed up.
    ageing: BTreeSet<String>,
    /// The sessions whose next request the client is counting.
    measuring: BTreeSet<String>,
    indexing: Indexing,
    watching: Watching,
    offers: Offers,
    parsing: BTreeSet<FileKey>,
    meter: Meter,
    pool: Pool,
    /// What is to be told as soon as the client listens.
    greetings: Vec<(&'static str, String)>,
    /// For what may wait long for somebody outside.
    patient: Pool,
    services: Arc<Services>,
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
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn new(pool: Pool, mail: Sender<Mail>, outgoing: UnboundedSender<Outgoing>) -> io::Result<Self> {
        let services = Arc::new(Services::new(outgoing.clone()));
        let patient = Pool::new(PATIENT_THREADS)?;
        let mut world = World::new();
        world.snapshot.outlines = Arc::new(outlines_of_user());
        Ok(Self {
            world,
            folders: Folders::default(),
            queues: Queues::default(),
            compactions: Compactions::default(),
            ageing: BTreeSet::new(),
            measuring: BTreeSet::new(),
            indexing: Indexing::default(),
            watching: Watching::default(),
            offers: Offers::default(),
            parsing: BTreeSet::new(),
            meter: Meter::default(),
            pool,
            greetings: Vec::new(),
            patient,
            services,
            mail,
            outgoing,
        })
    }

    /// The same with nothing kept but below this directory, of sessions in this folder.
    #[cfg(test)]
    pub(crate) fn keeping_below(mut self, directory: &std::path::Path, folder: &std::path::Path) -> Self {
        let mut services = Services::new(self.outgoing.clone());
        services.keeper.settle_at(directory.join("state"), folder);
        services.previews = strata_host::preview_file::PreviewFiles::below(Some(directory.join("cache")));
        self.services = Arc::new(services);
        self.world.snapshot.outlines = Arc::default();
        self
    }

    /// Works until [`Mail::Goodbye`].
    pub fn run(mut self, mail: &Receiver<Mail>) {
        loop {
            let next = match self.time_to_meter().into_iter().chain(self.watching.time_to_look()).min() {
                Some(wait) => mail.recv_timeout(wait),
                None => mail.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match next {
                Ok(Mail::Goodbye) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(mail) => self.take(mail),
                Err(RecvTimeoutError::Timeout) => self.whole("time", Debt::Meter, Self::on_time),
            }
        }
    }

    fn take(&mut self, mail: Mail) {
        self.whole(mail.name(), Debt::of(&mail, &self.world.current), |this| this.handle(mail));
    }

    /// Does something that may panic. The world is as it was then, the person is told, and the debt is paid.
    fn whole(&mut self, what: &'static str, debt: Debt, work: impl FnOnce(&mut Self)) {
        let done = catch(|| {
            faults::reach(what, Point::Before);
            work(self);
        });
        let Err(panicked) = done else { return };
        tracing::error!(what, %panicked, "the state is as before");
        let message = format!("an internal error: nothing came of `{what}`; please report this");
        self.services.warn("internal", message);
        if let Err(panicked) = catch(|| self.pay(debt)) {
            tracing::error!(what, %panicked, "and could not be set right");
        }
    }

    fn handle(&mut self, mail: Mail) {
        match mail {
            Mail::Initialize(params, answer) => self.initialize(&params, answer),
            Mail::Initialized => self.initialized(),
            Mail::Opened(item) => self.transition(|world| world.opened(&item)),
            Mail::Changed(params) => self.transition(|world| world.changed(&params)),
            Mail::Saved(params) => self.transition(|world| world.saved(&params)),
            Mail::Closed(params) => self.transition(|world| world.closed(&params)),
            Mail::Misread(misread) => self.transition(|world| world.misread(misread)),
            Mail::Named(uri) => self.named(&uri),
            Mail::FilesChanged(params) => self.transition(|world| world.files_changed(&params)),
            Mail::FilesCameOrWent(uris) => self.transition(|world| world.files_came_or_went(&uris)),
            Mail::FilesRenamed(renamed) => self.files_renamed(&renamed),
            Mail::ClientDoesNotWatch => self.watch_ourselves(),
            Mail::Seen(sight) => self.transition(|world| world.seen(&sight)),
            Mail::Watched(watched) => self.watched(watched),
            Mail::FoldersChanged(params) => self.folders_changed(&params),
            Mail::SettingsChanged(tree) => self.settings_changed(tree),
            Mail::Settings(tree) => self.configured(Layer::Editor, settings::of_editor(tree)),
            Mail::WorkspaceSettings(found) => self.configured(Layer::Workspace, found),
            Mail::ProgressCancelled(token) => {
                self.indexing.cancel(&token);
                self.compactions.cancel(&token);
            }
            Mail::Drafted(session, number, draft) => self.drafted(&session, number, draft),
            Mail::Aged(session, aged) => self.aged(&session, aged),
            Mail::Measured(session, measured) => self.measured(&session, measured),
            Mail::Asked(question, cancel, answer) => self.asked(question, cancel, answer),
            Mail::Command(call) => self.enqueue(call),
            Mail::Show(shown) => self.show(shown),
            Mail::CommandDone(session, done) => self.command_done(&session, *done),
            Mail::Parsed(key, parsed) => {
                self.parsing.remove(&key);
                if let Some(parsed) = parsed {
                    self.transition(|world| world.parsed(key, parsed));
                }
            }
            Mail::IndexSoFar(run, index) => {
                if self.indexing.is_on(run) {
                    self.replace_index(|world| world.index_so_far(index));
                }
            }
            Mail::Indexed(run, end) => {
                self.indexed(run, end);
                self.start_indexing();
            }
            Mail::Metered(status) => {
                self.meter.reading = false;
                if let Some(status) = status {
                    self.say(Outgoing::Status(status));
                }
            }
            Mail::Goodbye => {}
        }
    }

    /// Makes the next world and installs it whole; when that panics, the world stays as it was.
    fn transition(&mut self, next: impl FnOnce(&mut World) -> Vec<Action>) {
        let mut world = self.world.clone();
        let actions = next(&mut world);
        faults::reach("transition", Point::Changed);
        self.world = world;
        actions.into_iter().for_each(|action| self.act(action));
    }

    /// A transition after which the index before may be nobody's: to drop that of a large repository takes a while.
    fn replace_index(&mut self, next: impl FnOnce(&mut World) -> Vec<Action>) {
        let before = Arc::clone(&self.world.snapshot.index);
        self.transition(next);
        self.watching.adjust(&self.world.snapshot.index.folders, &self.pool, &self.mail);
        self.pool.spawn(Lane::Background, move || drop(before), |_| ());
    }

    fn indexed(&mut self, run: u64, end: IndexEnd) {
        let outcome = match &end {
            IndexEnd::Done(_) => "done",
            IndexEnd::Stopped => "stopped",
            IndexEnd::Failed => "failed",
        };
        if !self.indexing.ended(run, outcome, &self.outgoing) {
            return;
        }
        match end {
            IndexEnd::Done(index) => self.replace_index(|world| world.indexed(*index)),
            IndexEnd::Stopped => {}
            IndexEnd::Failed => {
                let message = "an internal error stopped the look at the files, of which older things are known now; \
                               strata.server.reindex looks again, and please report this";
                self.services.warn("internal", message.to_owned());
            }
        }
    }

    /// What was waited for has come: reading the meter, or a look at all files.
    fn on_time(&mut self) {
        if self.watching.time_to_look().is_some_and(|wait| wait.is_zero()) {
            self.watching = Watching::now_and_then();
            self.act(Action::Rescan);
        }
        if self.time_to_meter().is_some_and(|wait| wait.is_zero()) {
            self.read_meter();
        }
    }

    /// Selections follow, by the command that says so, in the queue of each session.
    fn files_renamed(&mut self, renamed: &[(String, String)]) {
        let key = |uri: &str| self.world.key(uri);
        let renames: Vec<(FileKey, FileKey)> =
            renamed.iter().filter_map(|(from, to)| Some((key(from)?, key(to)?))).collect();
        let files: Vec<Value> = renames.iter().map(|(from, to)| json!({ "from": from, "to": to })).collect();
        if !files.is_empty() {
            let sessions: Vec<Arc<str>> = self.world.sessions.keys().cloned().collect();
            for session in sessions {
                let arguments = vec![json!({ "session": session, "files": files })];
                // Nobody waits for the answer.
                let (answer, _) = oneshot::channel();
                let name = "strata.files.rename".to_owned();
                self.enqueue(Call { name, arguments, cancel: Cancel::new(), answer });
            }
        }
        let uris: Vec<String> = renamed.iter().flat_map(|(from, to)| [from.clone(), to.clone()]).collect();
        self.transition(|world| world.files_came_or_went(&uris));
    }

    fn watch_ourselves(&mut self) {
        match Watching::ourselves(&self.mail) {
            Ok(watching) => {
                self.watching = watching;
                self.watching.adjust(&self.world.snapshot.index.folders, &self.pool, &self.mail);
            }
            Err(error) => self.cannot_watch(&error.to_string()),
        }
    }

    fn watched(&mut self, watched: Result<Vec<PathBuf>, String>) {
        match watched {
            Ok(new) if new.is_empty() => {}
            Ok(_) if self.watching.are_first() => self.act(Action::Rescan),
            Ok(new) => {
                let roots = &self.world.snapshot.roots;
                let keys: BTreeSet<FileKey> = new.iter().filter_map(|folder| roots.key_of(folder)).collect();
                if !keys.is_empty() {
                    self.act(Action::Refresh(keys));
                }
            }
            Err(error) => self.cannot_watch(&error),
        }
    }

    fn cannot_watch(&mut self, error: &str) {
        self.watching = Watching::now_and_then();
        let message = format!(
            "changes on disk are not noticed at once, only by a look at all files every minute: {error}"
        );
        self.services.warn("watch", message);
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Parse(key) => self.parse(key),
            Action::Refresh(keys) => {
                self.indexing.want_files(keys);
                self.start_indexing();
            }
            Action::Rescan => {
                self.indexing.want_changes();
                self.start_indexing();
            }
            Action::Reindex => {
                self.indexing.want_all();
                self.start_indexing();
            }
            Action::ReadSettings => {
                let roots = Arc::clone(&self.world.snapshot.roots);
                let mail = self.mail.clone();
                self.pool.spawn(
                    Lane::Interactive,
                    carried("read settings", move || settings::of_workspace(&roots)),
                    move |found| match found {
                        Ok(found) => drop(mail.send(Mail::WorkspaceSettings(found))),
                        Err(panicked) => tracing::error!(%panicked, "reading the settings files panicked"),
                    },
                );
            }
            Action::Warn { code, message, path } => {
                tracing::warn!(code, "{message}");
                self.say(Outgoing::Warning(Warning { code: code.to_owned(), message, path }));
            }
            Action::Meter => self.meter.wanted = true,
            Action::ReadTokenizer(file) => {
                let services = Arc::clone(&self.services);
                let read = move || {
                    if let Err(error) = file.check() {
                        services
                            .warn("tokenizer", format!("{error}; a quarter of the characters is counted"));
                    }
                };
                self.pool.spawn(Lane::Background, carried("read tokenizer", read), |_| ());
            }
        }
    }

    fn initialize(&mut self, params: &InitializeParams, answer: Answer<Result<InitializeResult, String>>) {
        // Of an attempt that failed.
        self.greetings.clear();
        let (options, problems) = InitializationOptions::read(params.initialization_options.as_ref());
        for problem in problems {
            self.greetings
                .push(("options", format!("not all of initializationOptions was taken: {problem}")));
        }
        let client = ClientInfo::new(&params.capabilities, &options);
        let encoding = client.encoding;
        self.folders = folders_of(params);
        let own = options.settings;
        let roots = self.folders.roots();
        let client = Arc::new(client);
        self.services.meet(Arc::clone(&client));
        let session = self.first_session(&client, &roots);
        let [user, environment] = settings::of_user();
        let workspace = (Layer::Workspace, settings::of_workspace(&roots));
        let editor = own.map(|tree| (Layer::Editor, settings::of_editor(tree)));
        let mut told = Vec::new();
        self.transition(|world| {
            world.client = Arc::clone(&client);
            world.snapshot.roots = Arc::new(roots);
            world.begin_with(session);
            world.trusted(client.trust);
            let layers = [user, workspace, environment].into_iter().chain(editor);
            let actions: Vec<Action> =
                layers.flat_map(|(layer, found)| world.configured(layer, found)).collect();
            let mut now = Vec::new();
            for action in actions {
                match action {
                    Action::Warn { code, message, .. } => told.push((code, message)),
                    // The index and the meter are asked for when the client is ready.
                    Action::Reindex | Action::Meter => {}
                    other => now.push(other),
                }
            }
            now
        });
        self.greetings.extend(told);
        // Nobody waits any more when the client cancelled its first request; the state is right all the same.
        let wanted = navigation::features(&self.world.snapshot.settings.lsp);
        let offered = self.offers.begin(&wanted, &self.world.client.registers);
        let _ = answer.send(Ok(capabilities::result(encoding, offered)));
    }

    /// The session that an editor starts with: a new one, or the one that it wishes to go on with. Nobody waits for
    /// anything else yet, so the disk may be waited for here.
    fn first_session(&mut self, client: &ClientInfo, roots: &Roots) -> Arc<Session> {
        let keeper = &self.services.keeper;
        let folder = roots.iter().next().map(strata_host::roots::Root::path);
        if let Some(Err(error)) = folder.map(|folder| keeper.settle(folder)) {
            self.greetings.push(("store", format!("sessions are not kept: {error}")));
        }
        if let Some(id) = &client.resume {
            match keeper.load(id, Access::Write) {
                Ok(session) => return session,
                Err(error) => {
                    self.greetings.push(("resume", format!("a new session was begun: {error}")));
                }
            }
        }
        let id = Keeper::new_id().unwrap_or_else(|_| MAIN_SESSION.to_owned());
        Arc::new(Session::new(id))
    }

    fn initialized(&mut self) {
        for (code, message) in std::mem::take(&mut self.greetings) {
            self.services.warn(code, message);
        }
        let client = Arc::clone(&self.world.client);
        if client.configuration == Can::Yes {
            self.say(Outgoing::AskSettings);
        }
        if client.watches_files == Can::Yes {
            self.say(Outgoing::WatchFiles);
        } else {
            self.watch_ourselves();
        }
        self.offer();
        let counter = Arc::clone(&self.world.snapshot.counter);
        let model = self.world.snapshot.models.resolve(&self.world.snapshot.settings.model).model;
        let warm_up = carried("warm up", move || counter.warm_up(model.tokenizer));
        self.pool.spawn(Lane::Background, warm_up, |_| ());
        self.act(Action::Reindex);
        self.act(Action::Meter);
    }

    fn folders_changed(&mut self, params: &DidChangeWorkspaceFoldersParams) {
        let mut folders = self.folders.clone();
        folders.change(params);
        let roots = folders.roots();
        if let Some(root) = roots.iter().next()
            && let Err(error) = self.services.keeper.settle(root.path())
        {
            self.services.warn("store", format!("sessions are not kept: {error}"));
        }
        self.transition(|world| world.folders_changed(roots));
        self.folders = folders;
    }

    /// A client that can be asked is asked; others send their settings along.
    fn settings_changed(&mut self, tree: Value) {
        if self.world.client.configuration == Can::Yes {
            self.say(Outgoing::AskSettings);
        } else {
            let tree = tree.get("strata").cloned().unwrap_or(tree);
            self.configured(Layer::Editor, settings::of_editor(tree));
        }
    }

    fn configured(&mut self, layer: Layer, found: Vec<Found>) {
        self.transition(|world| world.configured(layer, found));
        self.offer();
    }

    /// Tells the client what it may ask for by the settings as they are.
    fn offer(&mut self) {
        let wanted = navigation::features(&self.world.snapshot.settings.lsp);
        let (told, late) = self.offers.change(&wanted, &self.world.client.registers);
        told.into_iter().for_each(|told| self.say(told));
        if !late.is_empty() {
            let late: Vec<&str> = late.into_iter().map(Feature::method).collect();
            let message = format!(
                "this editor learns at the start only that it may ask for {}: set it in initializationOptions.settings",
                late.join(", ")
            );
            self.services.warn("settings", message);
        }
    }

    /// Answers a question of plain LSP, on the session as it was left last: nothing that runs in it is waited for.
    fn asked(&mut self, question: Question, cancel: Cancel, answer: Answer<Value>) {
        let Some(session) = self.world.shown().cloned() else { return };
        let snapshot = self.world.snapshot.clone();
        let client = Arc::clone(&self.world.client);
        let method = question.feature().method();
        let work = carried(method, move || question.answer(&snapshot, &session, &client, &cancel));
        self.pool.spawn(Lane::Interactive, work, move |found| match found {
            // The waiting side is gone when the request was cancelled.
            Ok(found) => drop(answer.send(found.unwrap_or_default())),
            Err(panicked) => tracing::error!(%panicked, "a question about names or symbols panicked"),
        });
    }

    fn parse(&mut self, key: FileKey) {
        let Some(buffer) = self.world.snapshot.buffers.get(&key).cloned() else { return };
        if !buffer.is_stale() || !self.parsing.insert(key.clone()) {
            return;
        }
        let mail = self.mail.clone();
        let of = key.clone();
        let snapshot = self.world.snapshot.clone();
        self.pool.spawn(
            Lane::Interactive,
            carried("parse", move || parsed(&buffer, &of, &snapshot)),
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
        let named = self.world.sessions.contains_key(session.as_str());
        let Some(session) = self.world.session_id(&session) else {
            let error = CommandError::invalid(
                "session",
                &format!("there is no session `{session}` open; strata.session.load opens a stored one"),
            );
            return respond(call.answer, Err(error));
        };
        let snapshot = self.world.snapshot.clone();
        let whose = if named { Whose::Named } else { Whose::Shown };
        self.queues.push(&session, Waiting { task: Task::Command(call, arguments), snapshot, whose });
        self.start_next(&session);
    }

    /// Starts what is next in a session unless something is running. What cannot be started is in nobody's way.
    fn start_next(&mut self, id: &str) {
        while let Some(waiting) = self.queues.next(id) {
            let compaction = waiting.task.compaction();
            match catch(|| self.start(id, waiting)) {
                Ok(Started::Yes) => return,
                Ok(Started::No) => {}
                Err(panicked) => {
                    tracing::error!(session = id, %panicked, "a task was not started");
                    if let Some(number) = compaction {
                        self.compaction_ended(id, number, Err(CommandError::failed(INTERNAL)));
                    }
                }
            }
            self.queues.finished(id);
        }
    }

    fn start(&mut self, id: &str, Waiting { task, snapshot, .. }: Waiting) -> Started {
        faults::reach("start", Point::Before);
        let Some(before) = self.world.sessions.get(id).cloned() else {
            self.nobody_there(id, task);
            return Started::No;
        };
        let services = Arc::clone(&self.services);
        let settled = {
            let (services, before) = (Arc::clone(&self.services), Arc::clone(&before));
            move |outcome: Result<Stored, Panicked>| {
                if outcome.is_err() {
                    undo(&before, &services);
                }
                outcome
            }
        };
        let folders_version = self.world.folders_version;
        let mail = self.mail.clone();
        let of = id.to_owned();
        let report = move |done| {
            let _ = mail.send(Mail::CommandDone(of, Box::new(done)));
        };
        match task {
            Task::Command(call, arguments) => {
                let Call { name, cancel, answer, .. } = call;
                let sessions = self.world.sessions.clone();
                let current = Arc::clone(&self.world.current);
                let waits = Waits::Caller(answer, cancel.clone());
                let waits_for_count = name == commands::ASSEMBLE && self.services.probe().is_some();
                let may_wait = waits_for_count || commands::may_wait(&name, &snapshot);
                let pool = if may_wait { &self.patient } else { &self.pool };
                let compacting = match self.compactions.is_running(id) {
                    true => Compacting::Yes,
                    false => Compacting::No,
                };
                let job = move || {
                    let span = tracing::info_span!("command", name);
                    let _inside = span.enter();
                    let mut session = Session::clone(&before);
                    let mark = session.mark();
                    let mut context = Context {
                        snapshot: &snapshot,
                        session: &mut session,
                        sessions: &sessions,
                        current: &current,
                        services: &services,
                        compacting,
                        now_ms: now_ms(),
                        cancel: &cancel,
                        effects: Vec::new(),
                        write: None,
                    };
                    let result = commands::run(&name, arguments, &mut context);
                    let effects = std::mem::take(&mut context.effects);
                    // What nobody waits for any more did not happen.
                    let keep = result.is_ok() && !cancel.is_cancelled();
                    let changed = session.mark() != mark;
                    let outcome = Outcome { session: changed.then_some(session), effects, result };
                    if keep { outcome.stored(&services) } else { outcome.undone() }
                };
                pool.spawn(Lane::Interactive, carried("command", job), move |outcome| {
                    report(done(settled(outcome), "command", folders_version, waits));
                });
            }
            Task::Compact(number, draft) => {
                let running = self.compactions.get(id, number);
                let cancel = running.map(|running| running.cancel.clone());
                let recovers = running.is_some_and(|running| running.job.reason == Reason::ContextLimit);
                let job = move || {
                    let mut session = Session::clone(&before);
                    let outcome = match cancel {
                        Some(cancel) if !cancel.is_cancelled() => {
                            put_in_place(&mut session, *draft, &snapshot)
                        }
                        _ => Err(CommandError::Cancelled),
                    };
                    let (session, result) = match outcome {
                        Ok(()) => {
                            if recovers {
                                session.recovered();
                            }
                            (Some(session), Ok(Value::Null))
                        }
                        Err(error) => (None, Err(error)),
                    };
                    Outcome { session, effects: Vec::new(), result }.stored(&services)
                };
                self.pool.spawn(Lane::Interactive, carried("compaction", job), move |outcome| {
                    report(done(settled(outcome), "compaction", folders_version, Waits::Compaction(number)));
                });
            }
            Task::Measure(Measured { model, estimated, counted }) => {
                let job = move || {
                    let mut session = Session::clone(&before);
                    session.measured(&model, estimated, counted);
                    let session = Some(session);
                    Outcome { session, effects: Vec::new(), result: Ok(Value::Null) }.stored(&services)
                };
                self.pool.spawn(Lane::Interactive, carried("measuring", job), move |outcome| {
                    report(done(settled(outcome), "measuring", folders_version, Waits::Nobody));
                });
            }
            Task::Age(aged) => {
                let job = move || {
                    let mut session = Session::clone(&before);
                    let mark = session.mark();
                    session.age(*aged);
                    let changed = session.mark() != mark;
                    let session = changed.then_some(session);
                    Outcome { session, effects: Vec::new(), result: Ok(Value::Null) }.stored(&services)
                };
                self.pool.spawn(Lane::Interactive, carried("ageing", job), move |outcome| {
                    report(done(settled(outcome), "ageing", folders_version, Waits::Nobody));
                });
            }
        }
        Started::Yes
    }

    /// Asks a model to sum up tool results, unless it is being asked about others of the session: the next turn will see
    /// to these.
    fn age(&mut self, id: &str, ageing: Ageing) {
        if !self.ageing.insert(id.to_owned()) {
            return;
        }
        let asker = self.services.asker(&self.world.snapshot);
        let mail = self.mail.clone();
        let of = id.to_owned();
        let work = carried("sum up", move || sum_up(ageing, &asker));
        self.patient.spawn(Lane::Interactive, work, move |aged| {
            if let Err(panicked) = &aged {
                tracing::error!(%panicked, "archiving tool results panicked; the conversation is as before");
            }
            let _ = mail.send(Mail::Aged(of, aged.ok().map(Box::new)));
        });
    }

    /// Has the client count what is left of a conversation that was compacted, where it can.
    fn measure(&mut self, id: &str) {
        let Some(probe) = self.services.probe() else { return };
        let Some(session) = self.world.sessions.get(id).cloned() else { return };
        if !self.measuring.insert(id.to_owned()) {
            return;
        }
        let (snapshot, mail, of) = (self.world.snapshot.clone(), self.mail.clone(), id.to_owned());
        let work =
            carried("count", move || probe.measure_next(&session, &snapshot, now_ms(), &Cancel::new()));
        self.patient.spawn(Lane::Interactive, work, move |measured| {
            let measured = match measured {
                Ok(Ok(measured)) => Some(measured),
                Ok(Err(problem)) => {
                    tracing::warn!(%problem, "what is left of the conversation is estimated");
                    None
                }
                Err(panicked) => {
                    tracing::error!(%panicked, "counting panicked; the conversation is as before");
                    None
                }
            };
            let _ = mail.send(Mail::Measured(of, measured));
        });
    }

    /// A count is learnt from when it is its turn in the session.
    fn measured(&mut self, id: &str, measured: Option<Measured>) {
        self.measuring.remove(id);
        if let Some(measured) = measured {
            let snapshot = self.world.snapshot.clone();
            self.queues.push(id, Waiting { task: Task::Measure(measured), snapshot, whose: Whose::Named });
            self.start_next(id);
        }
    }

    /// Results are archived when it is their turn in the session.
    fn aged(&mut self, id: &str, aged: Option<Box<Aged>>) {
        self.ageing.remove(id);
        if let Some(aged) = aged {
            let snapshot = self.world.snapshot.clone();
            self.queues.push(id, Waiting { task: Task::Age(aged), snapshot, whose: Whose::Named });
            self.start_next(id);
        }
    }

    /// The session of a task was deleted meanwhile.
    fn nobody_there(&mut self, id: &str, task: Task) {
        let gone = || CommandError::failed(format!("the session `{id}` was closed meanwhile"));
        match task {
            Task::Command(call, _) => respond(call.answer, Err(gone())),
            Task::Compact(number, _) => self.compaction_ended(id, number, Err(gone())),
            Task::Age(_) | Task::Measure(_) => {}
        }
    }

    fn command_done(&mut self, id: &str, done: Done) {
        let (before, shown) = (self.world.shown().cloned(), Arc::clone(&self.world.current));
        self.take_over(id, done);
        self.lenses_after(before.as_deref());
        // Last: what is owed for this mail is exactly this.
        self.turn_over(id, &shown);
    }

    /// The task of a session has ended, and the next one has its turn. `shown` is the session that was shown before.
    fn turn_over(&mut self, id: &str, shown: &str) {
        self.queues.finished(id);
        if *shown != *self.world.current {
            let now = self.world.current.to_string();
            self.queues.follow(shown, &now);
            self.start_next(&now);
        }
        self.start_next(id);
    }

    /// Lets go of whatever waits for a piece of mail that nothing came of.
    fn pay(&mut self, debt: Debt) {
        let failed = || CommandError::failed(INTERNAL);
        match debt {
            Debt::Nothing => {}
            Debt::Document(misread) => self.transition(|world| world.misread(misread)),
            Debt::Files => self.act(Action::Rescan),
            Debt::Parse(key) => {
                self.parsing.remove(&key);
            }
            Debt::Index(run) => self.indexed(run, IndexEnd::Failed),
            Debt::Meter => self.meter = Meter::default(),
            Debt::Compaction(session, number) => self.compaction_ended(&session, number, Err(failed())),
            Debt::Ageing(session) => {
                self.ageing.remove(&session);
            }
            Debt::Measuring(session) => {
                self.measuring.remove(&session);
            }
            Debt::Turn { session, compaction, shown } => {
                if let Some(before) = self.world.sessions.get(session.as_str()) {
                    // Once in a blue moon the disk is waited for here: the next task must not be stored before.
                    undo(before, &self.services);
                }
                if let Some(number) = compaction {
                    self.compaction_ended(&session, number, Err(failed()));
                }
                self.turn_over(&session, &shown);
            }
        }
    }

    fn take_over(&mut self, id: &str, done: Done) {
        let Done { folders_version, session, effects, mut result, waits } = done;
        if folders_version != self.world.folders_version {
            result = result.and(Err(CommandError::failed(
                "the workspace folders changed while this command ran, so nothing was changed; run it again",
            )));
        } else if let Some(session) = session {
            self.transition(|world| world.session_changed(session));
        }
        let mut waits = Some(waits);
        for effect in effects {
            match effect {
                Effect::Reindex => self.act(Action::Reindex),
                Effect::Open(session) => self.transition(|world| world.session_opened(session)),
                Effect::Show(id) => self.transition(|world| world.session_shown(&id)),
                Effect::Tell(news) => self.services.tell_compaction(*news),
                Effect::Close(id) => {
                    self.compactions.cancel_all_of(&id);
                    let next =
                        Arc::new(Session::new(Keeper::new_id().unwrap_or_else(|_| MAIN_SESSION.to_owned())));
                    self.transition(|world| world.session_closed(&id, next));
                }
                Effect::Age(ageing) => self.age(id, *ageing),
                Effect::Compact(job) => match (&job.reason, waits.take()) {
                    (Reason::Due(_), waiting) => {
                        waits = waiting;
                        self.compact(*job, Cancel::new(), None);
                    }
                    (_, Some(Waits::Caller(answer, cancel))) => self.compact(*job, cancel, Some(answer)),
                    (_, waiting) => waits = waiting,
                },
            }
        }
        match waits {
            Some(Waits::Caller(answer, _)) => respond(answer, result),
            Some(Waits::Compaction(number)) => self.compaction_ended(id, number, result),
            Some(Waits::Nobody) => {
                if let Err(error) = result {
                    tracing::warn!(%error, session = id, "what was done in the background was not kept");
                }
            }
            None => {}
        }
    }

    /// Begins a compaction. Meanwhile prompts are made of the conversation as it is.
    fn compact(&mut self, job: Job, cancel: Cancel, answer: Option<Answer<Result<Value, CommandError>>>) {
        if self.compactions.is_running(&job.session) {
            let error =
                "a compaction of this session is running already; wait for it, or cancel its progress";
            if let Some(answer) = answer {
                respond(answer, Err(CommandError::failed(error)));
            }
            return;
        }
        if let Reason::Due(reading) = job.reason
            && self.compactions.is_hopeless(&job.session, &reading)
        {
            return;
        }
        let Some(session) = self.world.sessions.get(job.session.as_str()).cloned() else { return };
        self.services.tell_compaction(job.started());
        let id = job.session.clone();
        let number = self.compactions.begin(job.clone(), cancel.clone(), answer);
        if self.world.client.shows_progress == Can::Yes {
            self.say(Outgoing::Begin(Work::Compacting(number)));
        }
        let snapshot = self.world.snapshot.clone();
        let asker = self.services.asker(&snapshot);
        let mail = self.mail.clone();
        let work = carried("draft", move || {
            let draft = job.draft(&session, &snapshot, &asker, &cancel);
            draft.map(Box::new).map_err(|error| error.to_string())
        });
        self.patient.spawn(Lane::Interactive, work, move |draft| {
            let draft = draft.unwrap_or_else(|panicked| {
                tracing::error!(%panicked, "a compaction panicked; the conversation is as before");
                Err("an internal error stopped the compaction; please report it".to_owned())
            });
            let _ = mail.send(Mail::Drafted(id, number, draft));
        });
    }

    /// A draft is put in place when it is its turn in the session.
    fn drafted(&mut self, session: &str, number: u64, draft: Result<Box<Draft>, String>) {
        match draft {
            Err(error) => self.compaction_ended(session, number, Err(CommandError::failed(error))),
            Ok(draft) => {
                if let Some(running) = self.compactions.running(session, number) {
                    running.news = Some(running.job.ended(&draft));
                }
                let snapshot = self.world.snapshot.clone();
                self.queues.push(
                    session,
                    Waiting { task: Task::Compact(number, draft), snapshot, whose: Whose::Named },
                );
                self.start_next(session);
            }
        }
    }

    fn compaction_ended(&mut self, session: &str, number: u64, result: Result<Value, CommandError>) {
        let Some(Running { job, answer, news, .. }) = self.compactions.end(session, number) else { return };
        let (news, result): (News, _) = match result {
            Ok(_) => {
                let news = news.unwrap_or_else(|| job.started());
                let mut reply = news.clone().into();
                if let Some(session) = self.world.sessions.get(session) {
                    reply = commands::versioned(reply, session);
                }
                (news, Ok(reply))
            }
            Err(error) => {
                self.compactions.failed(&job);
                (job.failed(&error), Err(error))
            }
        };
        if result.is_ok() {
            self.measure(session);
        }
        let outcome = if result.is_ok() { "done" } else { "the conversation is as it was" };
        self.say(Outgoing::End(Work::Compacting(number), outcome.to_owned()));
        if let (Err(error), None) = (&result, &answer) {
            self.services.warn("compaction", format!("the conversation was not compacted: {error}"));
        }
        self.services.tell_compaction(news);
        if let Some(answer) = answer {
            respond(answer, result);
        }
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
        let Some(session) = self.world.sessions.get(&self.world.current).cloned() else { return };
        self.meter = Meter { wanted: false, reading: true, last: Some(Instant::now()) };
        let snapshot = self.world.snapshot.clone();
        let mail = self.mail.clone();
        let services = Arc::clone(&self.services);
        self.pool.spawn(
            Lane::Background,
            carried("meter", move || {
                let keeping = services.keeper.keeping();
                meter::read(&snapshot, &session, keeping, now_ms(), &Cancel::new())
            }),
            move |status| {
                let _ = mail.send(Mail::Metered(status.ok().flatten()));
            },
        );
    }

    /// A preview that is looked at is not what the next command is about.
    fn named(&mut self, uri: &str) {
        let is_preview = uri::to_path(uri).is_ok_and(|path| self.services.previews.holds(&path));
        if !is_preview {
            self.transition(|world| world.named(uri));
        }
    }

    fn show(&self, shown: Shown) {
        let Shown { kind, message, document } = shown;
        self.say(match document.filter(|_| self.world.client.shows_documents == Can::Yes) {
            Some(uri) => Outgoing::Document { uri, otherwise: message },
            None => Outgoing::Message(kind, message),
        });
    }

    /// Has code lenses asked for again when what is selected is not what it was.
    fn lenses_after(&self, before: Option<&Session>) {
        let settings = &self.world.snapshot.settings.lsp;
        if Feature::CodeLens.is_wanted(settings)
            && self.world.client.refreshes_lenses == Can::Yes
            && self.world.shown().map(|session| &session.selection)
                != before.map(|session| &session.selection)
        {
            self.say(Outgoing::RefreshLenses);
        }
    }

    fn say(&self, outgoing: Outgoing) {
        // The task that speaks ends with the connection; then there is nobody to tell.
        let _ = self.outgoing.send(outgoing);
    }
}

/// What is said of something that panicked.
const INTERNAL: &str = "an internal error stopped this command; nothing was changed, please report it";

/// Whether a task is under way.
enum Started {
    Yes,
    No,
}

/// What a task made of its session.
struct Outcome {
    /// The session when it changed.
    session: Option<Session>,
    effects: Vec<Effect>,
    result: Result<Value, CommandError>,
}

impl Outcome {
    /// The same with the session on disk: what cannot be stored did not happen.
    fn stored(self, services: &Services) -> Stored {
        let Self { session, effects, result } = self;
        let session = session.map(Arc::new);
        let stored = session.as_ref().map_or(Ok(()), |session| services.keeper.commit(session, now_ms()));
        if let Some(news) = services.keeper.news() {
            services.warn("store", news);
        }
        match stored {
            Ok(()) => Stored { session, effects, result },
            Err(error) => {
                let message = format!("nothing was changed, because it could not be saved: {error}");
                Stored { session: None, effects: Vec::new(), result: Err(CommandError::failed(message)) }
            }
        }
    }

    /// Only the answer is left.
    fn undone(self) -> Stored {
        Stored { session: None, effects: Vec::new(), result: self.result }
    }
}

/// What a task made of its session, safely on disk.
struct Stored {
    session: Option<Arc<Session>>,
    effects: Vec<Effect>,
    result: Result<Value, CommandError>,
}

/// Has the store hold a session as it is again: what panicked may have got as far as being stored.
fn undo(session: &Arc<Session>, services: &Services) {
    if !matches!(catch(|| services.keeper.commit(session, now_ms())), Ok(Ok(()))) {
        tracing::error!(session = &*session.id, "what came to nothing is still stored");
    }
}

/// What is told of a task that has ended, by itself or with a panic.
fn done(outcome: Result<Stored, Panicked>, what: &str, folders_version: u64, waits: Waits) -> Done {
    let Stored { session, effects, result } = outcome.unwrap_or_else(|panicked| {
        tracing::error!(%panicked, what, "a task panicked; its session is as before");
        Stored { session: None, effects: Vec::new(), result: Err(CommandError::failed(INTERNAL)) }
    });
    Done { folders_version, session, effects, result, waits }
}

/// Puts a draft in place by the rules that are in force now.
/// A buffer's outline, and its map block counted in tokens of the model in force, so that nobody waits for that later.
/// What takes too long is given up until the text changes.
fn parsed(buffer: &Buffer, key: &FileKey, snapshot: &Snapshot) -> Option<Parsed> {
    let Ok(parsed) = buffer.parse(key, &within(&Cancel::new(), OUTLINE_TIME)) else {
        tracing::warn!(%key, "outlining takes too long; the buffer has no symbols until it changes");
        return buffer.unparsed(key);
    };
    let parsed = parsed?;
    let block = &parsed.symbols().block;
    let tokenizer = snapshot.models.resolve(&snapshot.settings.model).model.tokenizer;
    let counter = &snapshot.counter;
    match buffer.last().map(|last| &last.symbols().block) {
        Some(last) if last.text_hash == block.text_hash => {}
        Some(last) => {
            let (before, after) = ((&*last.text, last.text_hash), (&*block.text, block.text_hash));
            counter.recount(tokenizer, before, after);
        }
        None => {
            counter.count_hashed(tokenizer, &block.text, block.text_hash);
        }
    }
    Some(parsed)
}

fn put_in_place(session: &mut Session, draft: Draft, snapshot: &Snapshot) -> Result<(), CommandError> {
    let settings = &snapshot.settings;
    let profile = settings.compaction.profile_named(&draft.profile.name)?;
    session.compact(draft, &profile, &settings.tools, now_ms())?;
    Ok(())
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
