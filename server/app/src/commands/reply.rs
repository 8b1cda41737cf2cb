//! The reply to a command with the version of its session, and replies that are provided after the command has run.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::ser::{SerializeStruct as _, Serializer};

use super::CommandError;

/// The reply to a command. Derefs to the command's own reply, and serializes with `stateVersion` in addition.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reply<R> {
    #[serde(flatten)]
    reply: R,
    /// Number of changes to the session so far.
    state_version: u64,
}

impl<R> Reply<R> {
    pub(crate) fn new(reply: R, state_version: u64) -> Self {
        Self { reply, state_version }
    }

    pub fn into_inner(self) -> R {
        self.reply
    }
}

impl<R> Deref for Reply<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.reply
    }
}

/// A reply of type `R` that is not known yet: the write that a command schedules provides it, the job that it starts, or
/// the invocation of a command. Serializes as an empty object until then, or if a job provides the reply in another way.
#[derive(Debug)]
pub struct DeferredReply<R>(Arc<OnceLock<R>>);

impl<R> DeferredReply<R> {
    pub(crate) fn provide(&self, reply: R) {
        // A command schedules one write or starts one job, and an invocation runs once.
        let _ = self.0.set(reply);
    }

    /// Returns the reply.
    ///
    /// # Errors
    /// Returns [`CommandError::Internal`] if nothing has provided it.
    pub fn get(&self) -> Result<&R, CommandError> {
        self.0.get().ok_or(CommandError::Internal)
    }

    /// Returns the reply, without its provider.
    ///
    /// # Errors
    /// Returns [`CommandError::Internal`] if nothing has provided it, or if the provider still exists.
    pub(crate) fn take(self) -> Result<R, CommandError> {
        Arc::into_inner(self.0).and_then(OnceLock::into_inner).ok_or(CommandError::Internal)
    }
}

impl<R> Default for DeferredReply<R> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<R> Clone for DeferredReply<R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<R: Serialize> Serialize for DeferredReply<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.get() {
            Some(reply) => reply.serialize(serializer),
            None => serializer.serialize_struct("Deferred", 0)?.end(),
        }
    }
}

impl<R: JsonSchema> JsonSchema for DeferredReply<R> {
    fn schema_name() -> Cow<'static, str> {
        R::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        R::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        R::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Added {
        id: u32,
    }

    #[test]
    fn the_version_follows_the_reply() {
        let early = serde_json::to_string(&Reply::new(Added { id: 1 }, 2)).unwrap();
        assert_eq!(early, r#"{"id":1,"stateVersion":2}"#);
        let deferred = DeferredReply::default();
        let late = Reply::new(deferred.clone(), 2);
        let json = |late: &Reply<DeferredReply<Added>>| serde_json::to_string(late).unwrap();
        assert_eq!(json(&late), r#"{"stateVersion":2}"#);
        assert!(late.get().is_err());
        deferred.provide(Added { id: 1 });
        assert_eq!(json(&late), r#"{"id":1,"stateVersion":2}"#);
        assert_eq!(late.get().unwrap().id, 1);
    }
}
