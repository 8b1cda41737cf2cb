//! The parts of a prompt that a tokenizer would see: texts and pictures. Counts nothing itself.

use std::borrow::Cow;

use serde_json::Value;

use crate::conversation::history::{ContentBlock, Image, ImageSource, ResultPart, sides};
use crate::tokens::counting::ImageSize;

/// One text or picture.
#[derive(Clone, PartialEq, Debug)]
pub enum Piece<'a> {
    /// A text, unchanged; a tool call's arguments and foreign blocks are their compact JSON.
    Text(Cow<'a, str>),
    /// A picture with its sides, when they can be read.
    Picture(Option<ImageSize>),
}

impl<'a> Piece<'a> {
    /// A borrowed text.
    pub(super) fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// A value as its compact JSON.
    pub(super) fn json(value: &Value) -> Self {
        Self::Text(Cow::Owned(arguments(value)))
    }
}

/// The pieces of one block, in order. A picture's sides are read from its data, else taken as declared.
pub fn pieces_of(block: &ContentBlock) -> Vec<Piece<'_>> {
    match block {
        ContentBlock::Text { text } => vec![Piece::text(text)],
        ContentBlock::Image(image) => vec![picture(image)],
        ContentBlock::Thinking { text, .. } => vec![Piece::text(text)],
        ContentBlock::RedactedThinking { data } => vec![Piece::text(data)],
        ContentBlock::Foreign(foreign) => vec![Piece::json(&foreign.value)],
        ContentBlock::ToolCall { name, input, .. } => vec![Piece::text(name), Piece::json(input)],
        ContentBlock::ToolResult { content, .. } => content
            .iter()
            .map(|part| match part {
                ResultPart::Text { text } => Piece::text(text),
                ResultPart::Image(image) => picture(image),
                ResultPart::Foreign(foreign) => Piece::json(&foreign.value),
            })
            .collect(),
    }
}

/// A tool call's arguments as compact JSON, keys in the order the model wrote them.
pub(crate) fn arguments(input: &Value) -> String {
    input.to_string()
}

fn picture(image: &Image) -> Piece<'_> {
    let read = match &image.source {
        ImageSource::Base64 { data, .. } => sides(data),
        ImageSource::Url { .. } => None,
    };
    let declared = || Some(ImageSize { width: image.width?, height: image.height? });
    Piece::Picture(read.or_else(declared))
}
