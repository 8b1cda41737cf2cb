//! The conversation: messages with stable numbers, in order. It never calls a model and never decides
//! what is dropped (`compaction` does).

mod change;
mod foreign;
mod list;
mod message;
mod open_calls;
mod picture;
mod repair;
mod role;

pub use change::Change;
pub(crate) use foreign::drop_marks;
pub use foreign::{Foreign, ForeignPosition, Provider};
pub use list::{Entry, History, HistoryChange, NoSuchMessage, emergency_truncate};
pub use message::{
    ContentBlock, Image, ImageSource, Kind, Message, MessageId, NewMessage, Outcome, Pin, ResultPart,
    Visibility,
};
pub use open_calls::OpenCalls;
pub(crate) use open_calls::answered_calls;
pub use picture::{Sides, media_type_of, sides};
pub(crate) use repair::OPENAI_STRING_CHARS;
pub use repair::{
    EARLIER_LEFT_OUT, FAILED_SILENTLY, NO_RESPONSE, PICTURE_LEFT_OUT, ProjectedMessage, Projection,
    UNDERSTOOD, archived_stub, project,
};
pub use role::Role;
