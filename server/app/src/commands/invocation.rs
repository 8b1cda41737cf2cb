//! A command with its arguments, ready to run by a front end that does not know its types.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::definition::call;
use super::{Access, Command, CommandDefinition, CommandError, Context, DeferredReply, IndexNeed, Reply};
use crate::model::snapshot::Snapshot;
use crate::services::Services;

type RunFn = Box<dyn FnOnce(&mut Context<'_>) -> Result<Value, CommandError> + Send>;

pub struct Invocation {
    pub name: &'static str,
    pub access: Access,
    pub index: IndexNeed,
    may_await_reply: fn(&Snapshot, &Services) -> bool,
    run: RunFn,
}

impl Invocation {
    /// Creates an invocation whose reply is JSON.
    pub fn from_json(command: &CommandDefinition, arguments: Value) -> Self {
        let command = *command;
        let run: RunFn = Box::new(move |context| command.run(arguments, context));
        Self {
            name: command.name,
            access: command.access,
            index: command.index,
            may_await_reply: command.may_await_reply,
            run,
        }
    }

    /// Creates an invocation whose reply has the command's own type. Also returns the reply, known once it has run.
    pub(crate) fn new<C: Command<Args: Serialize>>(
        arguments: C::Args,
    ) -> (Self, DeferredReply<Reply<C::Reply>>) {
        let deferred = DeferredReply::default();
        let reply = deferred.clone();
        let run: RunFn = Box::new(move |context| {
            reply.provide(call::<C>(arguments, context)?);
            Ok(Value::Null)
        });
        let invocation = Self {
            name: C::NAME,
            access: C::ACCESS,
            index: C::INDEX,
            may_await_reply: C::may_await_reply,
            run,
        };
        (invocation, deferred)
    }

    /// See [`Command::may_await_reply`].
    pub fn may_await_reply(&self, snapshot: &Snapshot, services: &Services) -> bool {
        (self.may_await_reply)(snapshot, services)
    }

    pub(crate) fn run(self, context: &mut Context<'_>) -> Result<Value, CommandError> {
        (self.run)(context)
    }
}

impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invocation").field("name", &self.name).finish_non_exhaustive()
    }
}
