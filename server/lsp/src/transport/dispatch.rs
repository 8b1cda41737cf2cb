//! Calls the service immediately and in wire order, and polls each call once before the next message is handled.
//!
//! Tracks active calls with their ids, handles panics, and sends exactly one answer per request. A call that is not
//! finished after its first poll continues as a task, so it does not delay later messages. While `initialize` is
//! pending, later messages are held in order. The dispatcher never reads input and never waits.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use futures::{FutureExt, Stream};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tower_lsp::jsonrpc::{Id, Request, Response};
use tower_service::Service;

use super::exit::{ExitCause, ExitSignal};
use super::loopback::OutgoingCallForwarder;
use super::lost::LostClientMessage;
use super::options::TransportOptions;
use super::outbox::{Coalescing, Outbox};
use super::refusal;
use super::watchdog;

const CANCEL: &str = "$/cancelRequest";

/// Estimated memory, in bytes, for a message that is held until `initialize` is answered, in addition to its body.
const HELD_MESSAGE_OVERHEAD_BYTES: usize = 256;

/// A service whose calls the dispatcher can poll. `LspService` implements it.
pub trait CallService:
    Service<Request, Response = Option<Response>, Future: Send + Unpin + 'static> + Send + 'static
{
}

impl<T> CallService for T
where
    T: Service<Request, Response = Option<Response>> + Send + 'static,
    T::Future: Send + Unpin + 'static,
{
}

pub(super) struct Dispatcher<T, R> {
    core: Mutex<DispatcherState<T>>,
    loopback: Arc<OutgoingCallForwarder<R>>,
    outbox: Arc<Outbox>,
    pending: Arc<CallCounter>,
    exit: Arc<ExitSignal>,
    shutdown: AtomicBool,
    watched: Once,
    options: TransportOptions,
    runtime: Handle,
}

/// Called with each message that was lost.
pub(super) type LossHandler = Box<dyn FnMut(LostClientMessage) + Send>;

/// State that only one message at a time may access.
struct DispatcherState<T> {
    service: T,
    on_loss: LossHandler,
    phase: InitializationPhase,
    held_messages: VecDeque<HeldMessage>,
    /// Total size of the held messages in bytes, limited to about the maximum size of one message.
    held_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InitializationPhase {
    Fresh,
    Initializing,
    Ready,
}

/// What is held until `initialize` is answered.
enum HeldMessage {
    Call {
        request: Request,
        /// Estimated memory for the request, in bytes.
        size: usize,
    },
    Lost(LostClientMessage),
}

struct ActiveCall {
    id: Option<Id>,
    method: String,
    kind: CallKind,
    /// Released before the answer is queued, so that the slot is free for the client's next request.
    slot: Option<PendingSlot>,
    /// Marks the call as active until the answer is queued and the messages that were held until then are handled.
    _guard: ActiveCallGuard,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallKind {
    Initialize,
    Shutdown,
    Exit,
    Other,
}

/// Counts pending requests and active calls.
#[derive(Debug)]
pub(super) struct CallCounter {
    slots: AtomicUsize,
    limit: usize,
    active: AtomicUsize,
    idle: Notify,
}

/// One of the limited slots for pending requests.
struct PendingSlot(Arc<CallCounter>);

/// Marks a call as active until its answer is queued.
struct ActiveCallGuard(Arc<CallCounter>);

type CallOutcome<E> = thread::Result<Result<Option<Response>, E>>;

impl CallCounter {
    pub(super) fn new(limit: usize) -> Self {
        Self { slots: AtomicUsize::new(0), limit, active: AtomicUsize::new(0), idle: Notify::new() }
    }

    /// Waits until no call is active.
    pub(super) async fn wait_until_idle(&self) {
        loop {
            let idle = self.idle.notified();
            if self.active.load(Ordering::SeqCst) == 0 {
                return;
            }
            idle.await;
        }
    }

    fn take_slot(self: &Arc<Self>) -> Option<PendingSlot> {
        let more = |slots| (slots < self.limit).then_some(slots + 1);
        self.slots.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).ok()?;
        Some(PendingSlot(Arc::clone(self)))
    }

    fn start_call(self: &Arc<Self>) -> ActiveCallGuard {
        self.active.fetch_add(1, Ordering::SeqCst);
        ActiveCallGuard(Arc::clone(self))
    }
}

impl Drop for PendingSlot {
    fn drop(&mut self) {
        self.0.slots.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for ActiveCallGuard {
    fn drop(&mut self) {
        if self.0.active.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.idle.notify_waiters();
        }
    }
}

impl CallKind {
    fn from_request(request: &Request) -> Self {
        match (request.method(), request.id()) {
            ("initialize", Some(_)) => Self::Initialize,
            ("shutdown", Some(_)) => Self::Shutdown,
            ("exit", _) => Self::Exit,
            _ => Self::Other,
        }
    }
}

impl<T: CallService, R: Stream<Item = Request> + Unpin + Send + 'static> Dispatcher<T, R> {
    pub(super) fn new(
        service: T,
        on_loss: LossHandler,
        loopback: Arc<OutgoingCallForwarder<R>>,
        outbox: Arc<Outbox>,
        exit: Arc<ExitSignal>,
        options: TransportOptions,
    ) -> Self {
        let core = DispatcherState {
            service,
            on_loss,
            phase: InitializationPhase::Fresh,
            held_messages: VecDeque::new(),
            held_bytes: 0,
        };
        Self {
            core: Mutex::new(core),
            loopback,
            outbox,
            pending: Arc::new(CallCounter::new(options.pending_requests)),
            exit,
            shutdown: AtomicBool::new(false),
            watched: Once::new(),
            options,
            runtime: Handle::current(),
        }
    }

    /// Handles the next call from the wire. `size` is the size of its body in bytes.
    pub(super) fn accept(self: &Arc<Self>, request: Request, size: usize) {
        let mut core = self.lock();
        if core.phase != InitializationPhase::Initializing
            || CallKind::from_request(&request) == CallKind::Exit
        {
            self.begin(&mut core, request);
        } else if request.method() == CANCEL {
            match core.remove_held_request(&request) {
                Some(id) => self.send_response(&refusal::cancelled_error(id)),
                None => self.begin(&mut core, request),
            }
        } else if core.held_bytes + size <= self.options.limits.message {
            let size = size + HELD_MESSAGE_OVERHEAD_BYTES;
            core.held_bytes += size;
            core.held_messages.push_back(HeldMessage::Call { request, size });
        } else if let Some(id) = request.id() {
            self.send_response(&refusal::not_initialized_error(id.clone()));
        } else {
            let problem = "too many messages before initialize was answered; notification dropped";
            tracing::warn!(problem);
            core.report_lost(LostClientMessage::from_problem(problem.to_owned()));
        }
    }

    /// Reports a lost message in wire order.
    pub(super) fn report_lost(&self, lost: LostClientMessage) {
        self.lock().report_lost(lost);
    }

    /// Queues a response after all messages that the server has sent so far.
    pub(super) fn send_response(&self, response: &Response) {
        self.loopback.forward_pending_calls();
        self.outbox.push(response, Coalescing::Event);
    }

    pub(super) fn call_counter(&self) -> &CallCounter {
        &self.pending
    }

    /// Whether the client has sent `shutdown`.
    pub(super) fn is_shut_down(&self) -> bool {
        self.shutdown.load(Ordering::SeqCst)
    }

    /// Passes a request or notification to the service, and polls the resulting future once.
    fn begin(self: &Arc<Self>, core: &mut DispatcherState<T>, request: Request) {
        let kind = CallKind::from_request(&request);
        let id = request.id().cloned();
        let slot = match &id {
            Some(id) if matches!(kind, CallKind::Initialize | CallKind::Other) => {
                let Some(slot) = self.pending.take_slot() else {
                    return self.send_response(&refusal::busy_error(id.clone(), self.pending.limit));
                };
                Some(slot)
            }
            _ => None,
        };
        let method = request.method().to_owned();
        let mut call = ActiveCall { id, method, kind, slot, _guard: self.pending.start_call() };
        match kind {
            CallKind::Initialize if core.phase == InitializationPhase::Fresh => {
                core.phase = InitializationPhase::Initializing;
                self.watch_client(&request);
            }
            CallKind::Shutdown if core.phase == InitializationPhase::Ready => {
                self.shutdown.store(true, Ordering::SeqCst);
            }
            _ => {}
        }
        let first = catch_unwind(AssertUnwindSafe(|| core.call(request)));
        if kind == CallKind::Exit {
            self.exit.raise(ExitCause::ExitNotification);
        }
        match first {
            Ok(FirstPoll::Done(result)) => self.finish(core, &mut call, Ok(result)),
            Err(panic) => self.finish(core, &mut call, Err(panic)),
            Ok(FirstPoll::Pending(future)) => self.finish_later(call, future),
        }
    }

    /// Spawns a task that completes a call whose first poll returned pending.
    fn finish_later(self: &Arc<Self>, mut call: ActiveCall, future: T::Future) {
        let dispatcher = Arc::clone(self);
        self.runtime.spawn(async move {
            let outcome = AssertUnwindSafe(future).catch_unwind().await;
            // Take the lock only for outcomes that affect how later messages are handled.
            if call.kind == CallKind::Initialize || outcome.is_err() {
                dispatcher.finish(&mut dispatcher.lock(), &mut call, outcome);
            } else {
                dispatcher.reply(&mut call, outcome);
            }
        });
    }

    /// Answers a call, and updates the state that affects how later messages are handled.
    fn finish(
        self: &Arc<Self>,
        core: &mut DispatcherState<T>,
        call: &mut ActiveCall,
        outcome: CallOutcome<T::Error>,
    ) {
        if outcome.is_err() {
            tracing::error!(method = call.method, "a handler panicked");
            core.forget_request(call.id.as_ref());
        }
        let initialized = matches!(&outcome, Ok(Ok(Some(response))) if response.is_ok());
        self.reply(call, outcome);
        if call.kind == CallKind::Initialize && core.phase == InitializationPhase::Initializing {
            core.phase = if initialized { InitializationPhase::Ready } else { InitializationPhase::Fresh };
            while core.phase != InitializationPhase::Initializing
                && let Some(held) = core.held_messages.pop_front()
            {
                match held {
                    HeldMessage::Call { request, size } => {
                        core.held_bytes -= size;
                        self.begin(core, request);
                    }
                    HeldMessage::Lost(lost) => core.report_lost(lost),
                }
            }
        }
    }

    fn reply(&self, call: &mut ActiveCall, outcome: CallOutcome<T::Error>) {
        call.slot = None;
        let Some(id) = &call.id else { return };
        let response = match outcome {
            Ok(Ok(Some(response))) => response,
            // The library sends no error for unknown methods that begin with `$/`, not even for requests.
            Ok(Ok(None)) => refusal::unknown_method_error(id.clone(), &call.method),
            Ok(Err(_)) => refusal::exited_error(id.clone()),
            Err(_) => refusal::panic_error(id.clone(), &call.method),
        };
        self.send_response(&response);
    }

    /// Watches the client's process, whose id is in the parameters of `initialize`.
    fn watch_client(&self, initialize: &Request) {
        let process = initialize.params().and_then(|params| params.get("processId")).and_then(Value::as_u64);
        if let Some(process) = process.and_then(|process| u32::try_from(process).ok()) {
            self.watched.call_once(|| watchdog::watch(process, self.options.watch_every, &self.exit));
        }
    }

    fn lock(&self) -> MutexGuard<'_, DispatcherState<T>> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// State of a call after its first poll.
enum FirstPoll<T: CallService> {
    Done(Result<T::Response, T::Error>),
    Pending(T::Future),
}

impl<T: CallService> DispatcherState<T> {
    fn call(&mut self, request: Request) -> FirstPoll<T> {
        let mut context = Context::from_waker(Waker::noop());
        // The service is ready except while `initialize` is pending, when messages are held, and after `exit`, when a
        // call fails with the same error. Readiness therefore adds no information.
        if let Poll::Ready(Err(error)) = self.service.poll_ready(&mut context) {
            return FirstPoll::Done(Err(error));
        }
        let mut future = self.service.call(request);
        match Pin::new(&mut future).poll(&mut context) {
            Poll::Ready(result) => FirstPoll::Done(result),
            // No wake-up is lost, because the task polls the future when it starts.
            Poll::Pending => FirstPoll::Pending(future),
        }
    }

    /// Reports a lost message, or holds it like a call. Before `initialize`, there is nothing to lose.
    fn report_lost(&mut self, lost: LostClientMessage) {
        match self.phase {
            InitializationPhase::Fresh => {}
            // Further losses add nothing to one that may have been about any document.
            InitializationPhase::Initializing if matches!(self.held_messages.back(), Some(HeldMessage::Lost(last)) if last.method.is_none()) =>
                {}
            InitializationPhase::Initializing => self.held_messages.push_back(HeldMessage::Lost(lost)),
            InitializationPhase::Ready => (self.on_loss)(lost),
        }
    }

    /// Removes the held request that a cancellation refers to. Returns the request's id.
    fn remove_held_request(&mut self, cancel: &Request) -> Option<Id> {
        let id = match cancel.params()?.get("id")? {
            Value::String(text) => Id::String(text.clone()),
            id => Id::Number(id.as_i64()?),
        };
        let is_target = |held: &HeldMessage| matches!(held, HeldMessage::Call { request, .. } if request.id() == Some(&id));
        let index = self.held_messages.iter().position(is_target)?;
        if let HeldMessage::Call { size, .. } = self.held_messages.remove(index)? {
            self.held_bytes -= size;
        }
        Some(id)
    }

    /// Makes the library forget a request whose handler panicked. Otherwise, it would reject further requests with this
    /// id.
    fn forget_request(&mut self, id: Option<&Id>) {
        let id = match id {
            Some(Id::Number(number)) => json!(number),
            Some(Id::String(text)) => json!(text),
            Some(Id::Null) | None => return,
        };
        let cancel = Request::build(CANCEL).params(json!({ "id": id })).finish();
        // The cancellation runs no code of the product, but another panic must not escape.
        let _ = catch_unwind(AssertUnwindSafe(|| self.call(cancel)));
    }
}
