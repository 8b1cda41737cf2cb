//! Chooses the images to send: those that the provider accepts, or only the newest of them if there are too many.

use std::collections::VecDeque;

use strata_tokens::counting::ImageSize;

use super::utterance::{PICTURE_LEFT_OUT, Utterance};
use crate::history::{
    ContentBlock, ForeignProvider, Image, ImageSource, ResultPart, detect_media_type, image_size,
};

/// Maximum pixels per side of an image, regardless of the number of images (Anthropic, "Vision").
const MAX_IMAGE_SIDE_PIXELS: u32 = 8_000;
/// Maximum pixels per side of an image in a request with more than [`MAX_LARGE_IMAGES`] images (Anthropic, "Vision").
const MANY_IMAGES_MAX_SIDE: u32 = 2_000;
/// Maximum number of images in a request if any is larger than [`MANY_IMAGES_MAX_SIDE`] (Anthropic, "Vision").
const MAX_LARGE_IMAGES: usize = 20;
/// Maximum base64 characters of an image (Anthropic, "image exceeds 5 MB maximum: 5316852 bytes > 5242880
/// bytes").
const MAX_IMAGE_BASE64_BYTES: usize = 5 * 1024 * 1024;
/// Maximum base64 bytes of all images in a request. Leaves room for text within Anthropic's 32 MB limit for a
/// body.
const MAX_TOTAL_IMAGE_BYTES: usize = 24 * 1024 * 1024;
/// Maximum base64 bytes of the images kept after [`MAX_TOTAL_IMAGE_BYTES`] is exceeded. Lower than that limit, so that
/// the next requests omit the same images and the prompt cache stays valid.
const MAX_KEPT_IMAGE_BYTES: usize = 12 * 1024 * 1024;
/// Maximum number of images kept after the limit of [`MAX_LARGE_IMAGES`] images is exceeded. Lower than that limit, so
/// that the next requests omit the same images and the prompt cache stays valid.
const MAX_IMAGES_KEPT_OVER_LIMIT: usize = 10;

/// Corrects the media types of images. Replaces images that the provider would reject, and the oldest ones if
/// there are too many, with a placeholder. Keeps the images of the new request, so that its sender gets the
/// provider's error.
pub(super) fn replace_unsendable_images(
    mut utterances: Vec<Utterance>,
    recipient: Option<ForeignProvider>,
) -> Vec<Utterance> {
    for block in utterances.iter_mut().flat_map(|utterance| &mut utterance.content) {
        replace_rejected_images(block, &mut |image| {
            correct_media_type(image);
            true
        });
    }
    replace_history_images(&mut utterances, |image| is_accepted_image(image, recipient));
    let mut number_to_drop = excess_image_count(&utterances);
    replace_history_images(&mut utterances, |_| {
        let is_dropped = number_to_drop > 0;
        number_to_drop -= usize::from(is_dropped);
        !is_dropped
    });
    utterances
}

/// Replaces the images of the history for which `keeps` returns `false`.
fn replace_history_images(utterances: &mut [Utterance], mut keeps: impl FnMut(&mut Image) -> bool) {
    let recorded = utterances.iter_mut().filter(|utterance| utterance.id.is_some());
    recorded
        .flat_map(|utterance| &mut utterance.content)
        .for_each(|block| replace_rejected_images(block, &mut keeps));
}

/// Replaces the images of a block for which `keeps` returns `false`. `keeps` may change an image.
fn replace_rejected_images(block: &mut ContentBlock, keeps: &mut impl FnMut(&mut Image) -> bool) {
    if let ContentBlock::Image(image) = block
        && !keeps(image)
    {
        *block = ContentBlock::text(PICTURE_LEFT_OUT);
    } else if let ContentBlock::ToolResult { content, .. } = block {
        for part in content {
            if let ResultPart::Image(image) = part
                && !keeps(image)
            {
                *part = ResultPart::Text { text: PICTURE_LEFT_OUT.into() };
            }
        }
    }
}

/// Number and size of images, which providers limit.
#[derive(Clone, Copy, Default)]
struct ImageTotals {
    pictures: usize,
    /// Number of images larger than [`MANY_IMAGES_MAX_SIDE`].
    large: usize,
    /// Base64 bytes of the images; 0 for images that the provider fetches.
    bytes: usize,
}

/// Returns the number of images to drop from the history, oldest first. Applies the limits in the order in
/// which the images arrived, so that a growing conversation omits the same images until a limit is exceeded
/// again.
fn excess_image_count(utterances: &[Utterance]) -> usize {
    // `droppable` contains the images of the history, which may be dropped. `all` is the load of all images.
    let mut droppable: VecDeque<ImageTotals> = VecDeque::new();
    let (mut all, mut dropped) = (ImageTotals::default(), 0);
    for utterance in utterances {
        for block in &utterance.content {
            all.pictures += count_uploaded_images(block);
            for picture in block.images().map(ImageTotals::from_image) {
                all.add(picture);
                if utterance.id.is_some() {
                    droppable.push_back(picture);
                }
            }
            let most = if all.is_over_limit() { MAX_IMAGES_KEPT_OVER_LIMIT } else { MAX_LARGE_IMAGES };
            let most_bytes =
                if all.bytes > MAX_TOTAL_IMAGE_BYTES { MAX_KEPT_IMAGE_BYTES } else { MAX_TOTAL_IMAGE_BYTES };
            while ((all.large > 0 && all.pictures > most) || (all.bytes > most_bytes && all.pictures > 1))
                && let Some(oldest) = droppable.pop_front()
            {
                all.remove(oldest);
                dropped += 1;
            }
        }
    }
    dropped
}

impl ImageTotals {
    fn from_image(image: &Image) -> Self {
        let (bytes, side) = match &image.source {
            ImageSource::Base64 { data, .. } => {
                (data.len(), image_size(data).map_or(0, ImageSize::longer_side))
            }
            ImageSource::Url { .. } => (0, 0),
        };
        Self { pictures: 1, large: usize::from(side > MANY_IMAGES_MAX_SIDE), bytes }
    }

    fn is_over_limit(self) -> bool {
        self.large > 0 && self.pictures > MAX_LARGE_IMAGES
    }

    fn add(&mut self, other: Self) {
        self.pictures += other.pictures;
        self.large += other.large;
        self.bytes += other.bytes;
    }

    fn remove(&mut self, other: Self) {
        self.pictures -= other.pictures;
        self.large -= other.large;
        self.bytes -= other.bytes;
    }
}

/// Returns the number of images in a block that are stored with the provider.
fn count_uploaded_images(block: &ContentBlock) -> usize {
    let parts = match block {
        ContentBlock::Foreign(foreign) => return usize::from(foreign.is_uploaded_image()),
        ContentBlock::ToolResult { content, .. } => content.iter(),
        _ => return 0,
    };
    parts.filter(|part| matches!(part, ResultPart::Foreign(foreign) if foreign.is_uploaded_image())).count()
}

/// Corrects the media type of an image, because providers reject a wrong one.
fn correct_media_type(image: &mut Image) {
    if let ImageSource::Base64 { media_type, data } = &mut image.source
        && let Some(kind) = detect_media_type(data)
    {
        kind.clone_into(media_type);
    }
}

/// Whether `recipient` accepts an image, regardless of other images.
fn is_accepted_image(image: &Image, recipient: Option<ForeignProvider>) -> bool {
    match &image.source {
        ImageSource::Url { url } => url.starts_with("https://") || url.starts_with("http://"),
        // Gemini, "Image understanding", supports PNG, JPEG, WebP, HEIC and HEIF.
        ImageSource::Base64 { media_type, .. }
            if recipient == Some(ForeignProvider::Gemini) && media_type == "image/gif" =>
        {
            false
        }
        ImageSource::Base64 { data, .. } => {
            let is_strict = matches!(recipient, Some(ForeignProvider::Anthropic | ForeignProvider::Bedrock));
            let light = !is_strict || data.len() <= MAX_IMAGE_BASE64_BYTES;
            let side = image_size(data).map(ImageSize::longer_side);
            light && is_base64(data) && side.is_some_and(|side| side <= MAX_IMAGE_SIDE_PIXELS)
        }
    }
}

/// Whether `text` is well-formed base64: groups of four characters, padded only at the end.
fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    text.len().is_multiple_of(4) && text.len() - digits.len() <= 2 && digits.bytes().all(is_digit)
}
