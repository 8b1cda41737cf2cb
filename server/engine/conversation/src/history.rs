//! The messages of a conversation, in order and with stable ids. `compaction` decides what to remove.

mod change;
mod foreign;
mod list;
mod message;
mod open_calls;
mod picture;
mod repair;
mod role;
mod text_or_list;

#[cfg(test)]
pub(crate) use change::HistoryDiff;
pub(crate) use foreign::remove_cache_marks;
pub use foreign::{Foreign, ForeignPosition, ForeignProvider};
pub(crate) use list::HistoryChange;
pub(crate) use list::RebuildStep;
pub use list::{History, NoSuchMessage, emergency_truncate};
pub use message::{
    ContentBlock, Image, ImageSource, Message, MessageId, MessageKind, NewMessage, Pin, ResultPart,
    ToolOutcome, Visibility,
};
pub(crate) use open_calls::{OpenCalls, answered_calls};
pub(crate) use picture::detect_media_type;
pub use picture::{image_size, media_type};
pub(crate) use repair::MAX_OPENAI_STRING_CHARS;
#[cfg(test)]
pub(crate) use repair::NO_RESPONSE;
pub use repair::{EARLIER_LEFT_OUT, PICTURE_LEFT_OUT, ProjectedMessage, Projection, archived_stub, project};
pub use role::Role;
pub use text_or_list::TextOrList;
