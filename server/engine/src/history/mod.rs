//! The conversation: messages with stable numbers, in order. It never calls a model and never decides
//! what is dropped (`compaction` does).

mod message;

pub use message::{
    ContentBlock, Image, ImageSource, Kind, Message, MessageId, NewMessage, Outcome, ResultPart, Role,
    Visibility,
};
