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
pub(crate) use change::Change;
pub(crate) use foreign::ForeignPosition;
pub(crate) use foreign::drop_marks;
pub use foreign::{Foreign, Provider};
pub(crate) use list::Entry;
pub use list::{History, NoSuchMessage};
pub(crate) use list::{HistoryChange, emergency_truncate};
pub use message::{
    ContentBlock, Image, ImageSource, Kind, Message, MessageId, NewMessage, Outcome, Pin, ResultPart,
    Visibility,
};
pub(crate) use open_calls::{OpenCalls, answered_calls};
pub(crate) use picture::{media_type_of, sides};
pub(crate) use repair::OPENAI_STRING_CHARS;
#[cfg(test)]
pub(crate) use repair::{EARLIER_LEFT_OUT, NO_RESPONSE, PICTURE_LEFT_OUT, Projection};
pub(crate) use repair::{ProjectedMessage, archived_stub, project};
pub use role::Role;
pub use text_or_list::TextOrList;
