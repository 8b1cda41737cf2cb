//! The parts of a prompt that count toward its tokens: texts and images. Does not count tokens.

use std::borrow::Cow;

use serde_json::Value;
use strata_tokens::counting::ImageSize;

use crate::history::{ContentBlock, Image, ImageSource, ResultPart, image_size};

/// A part of a prompt that counts toward its tokens: text or an image.
#[derive(Clone, PartialEq, Debug)]
pub enum TextOrImage<'a> {
    /// Text as it is sent. Arguments of a tool call and foreign blocks are compact JSON.
    Text(Cow<'a, str>),
    /// An image, with its size if known.
    Picture(Option<ImageSize>),
}

impl<'a> TextOrImage<'a> {
    pub fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// Creates a piece with `value` as compact JSON.
    pub fn json(value: &Value) -> Self {
        Self::Text(Cow::Owned(value.to_string()))
    }
}

/// Returns the pieces of a block, in order. The size of an image is read from its data if possible, and
/// otherwise taken from its declared size.
pub fn texts_and_images(block: &ContentBlock) -> Vec<TextOrImage<'_>> {
    match block {
        ContentBlock::Text { text } => vec![TextOrImage::text(text)],
        ContentBlock::Image(image) => vec![picture(image)],
        ContentBlock::Thinking { text, .. } => vec![TextOrImage::text(text)],
        ContentBlock::RedactedThinking { data } => vec![TextOrImage::text(data)],
        ContentBlock::Foreign(foreign) => vec![TextOrImage::json(&foreign.value)],
        ContentBlock::ToolCall { name, input, .. } => vec![TextOrImage::text(name), TextOrImage::json(input)],
        ContentBlock::ToolResult { content, .. } => content
            .iter()
            .map(|part| match part {
                ResultPart::Text { text } => TextOrImage::text(text),
                ResultPart::Image(image) => picture(image),
                ResultPart::Foreign(foreign) => TextOrImage::json(&foreign.value),
            })
            .collect(),
    }
}

fn picture(image: &Image) -> TextOrImage<'_> {
    let read = match &image.source {
        ImageSource::Base64 { data, .. } => image_size(data),
        ImageSource::Url { .. } => None,
    };
    let declared = || Some(ImageSize { width: image.width?, height: image.height? });
    TextOrImage::Picture(read.or_else(declared))
}
