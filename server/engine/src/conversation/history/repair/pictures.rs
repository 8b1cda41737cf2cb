//! Chooses which pictures to send: those that the provider accepts, and the newest if there are too many.

use std::collections::VecDeque;

use super::utterance::{PICTURE_LEFT_OUT, Utterance};
use crate::conversation::history::{
    ContentBlock, Image, ImageSource, Provider, ResultPart, media_type_of, sides,
};
use crate::tokens::counting::ImageSize;

/// A picture of more pixels on one side is refused in any number (Anthropic, vision).
const SIDE_OF_FEW: u32 = 8_000;
/// Among more than `FEW` pictures, one of more than these (Anthropic, vision).
const SIDE_OF_MANY: u32 = 2_000;
/// Up to here the larger limit holds.
const FEW: usize = 20;
/// A picture of more base64 is refused (Anthropic, "image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes").
const PICTURE_BYTES: usize = 5 * 1024 * 1024;
/// All pictures of a request together: of the 32 MB that a body may have (Anthropic), some stay free for the texts.
const ALL_PICTURES: usize = 24 * 1024 * 1024;
/// Bytes and pictures to keep after exceeding a limit. Less than allowed, so that the next requests omit the same pictures and
/// the cached rest stays valid.
const AFTER_A_CUT: usize = 12 * 1024 * 1024;
const FEW_AFTER_A_CUT: usize = 10;

/// Replaces unacceptable pictures, and the oldest if there are too many, and corrects the media types of the others. Leaves the
/// new request's own pictures, so that its sender gets an error.
pub(super) fn sendable(mut utterances: Vec<Utterance>, recipient: Option<Provider>) -> Vec<Utterance> {
    for block in utterances.iter_mut().flat_map(|utterance| &mut utterance.content) {
        keep(block, &mut |image| {
            name_kind(image);
            true
        });
    }
    keep_recorded(&mut utterances, |image| fits(image, recipient));
    let mut surplus = surplus(&utterances);
    keep_recorded(&mut utterances, |_| {
        let goes = surplus > 0;
        surplus -= usize::from(goes);
        !goes
    });
    utterances
}

/// Leaves out what `keeps` does not keep of the recorded pictures.
fn keep_recorded(utterances: &mut [Utterance], mut keeps: impl FnMut(&mut Image) -> bool) {
    let recorded = utterances.iter_mut().filter(|utterance| utterance.id.is_some());
    recorded.flat_map(|utterance| &mut utterance.content).for_each(|block| keep(block, &mut keeps));
}

/// Leaves out what `keeps` does not keep of a block's pictures, which it may repair.
fn keep(block: &mut ContentBlock, keeps: &mut impl FnMut(&mut Image) -> bool) {
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

/// The limited quantities of pictures.
#[derive(Clone, Copy, Default)]
struct Load {
    pictures: usize,
    /// Pictures too large to be sent among many.
    large: usize,
    /// Their bytes in a request; 0 if the provider fetches them.
    bytes: usize,
}

/// Number of recorded pictures to drop, oldest first. Computed as the pictures arrived, so that a growing conversation omits the
/// same ones until the next limit.
fn surplus(utterances: &[Utterance]) -> usize {
    // The recorded ones, which may be left out, and the load of all.
    let mut held: VecDeque<Load> = VecDeque::new();
    let (mut all, mut gone) = (Load::default(), 0);
    for utterance in utterances {
        for block in &utterance.content {
            all.pictures += uploaded_in(block);
            for load in block.images().map(Load::of) {
                all.add(load);
                if utterance.id.is_some() {
                    held.push_back(load);
                }
            }
            let most = if all.are_too_many() { FEW_AFTER_A_CUT } else { FEW };
            let most_bytes = if all.bytes > ALL_PICTURES { AFTER_A_CUT } else { ALL_PICTURES };
            while ((all.large > 0 && all.pictures > most) || (all.bytes > most_bytes && all.pictures > 1))
                && let Some(oldest) = held.pop_front()
            {
                all.remove(oldest);
                gone += 1;
            }
        }
    }
    gone
}

impl Load {
    fn of(image: &Image) -> Self {
        let (bytes, side) = match &image.source {
            ImageSource::Base64 { data, .. } => (data.len(), sides(data).map_or(0, ImageSize::longest)),
            ImageSource::Url { .. } => (0, 0),
        };
        Self { pictures: 1, large: usize::from(side > SIDE_OF_MANY), bytes }
    }

    fn are_too_many(self) -> bool {
        self.large > 0 && self.pictures > FEW
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

/// How many pictures of a block lie with the provider.
fn uploaded_in(block: &ContentBlock) -> usize {
    let parts = match block {
        ContentBlock::Foreign(foreign) => return usize::from(foreign.is_picture()),
        ContentBlock::ToolResult { content, .. } => content.iter(),
        _ => return 0,
    };
    parts.filter(|part| matches!(part, ResultPart::Foreign(foreign) if foreign.is_picture())).count()
}

/// A picture under the name of another kind, which a provider refuses, gets its own.
fn name_kind(image: &mut Image) {
    if let ImageSource::Base64 { media_type, data } = &mut image.source
        && let Some(kind) = media_type_of(data)
    {
        kind.clone_into(media_type);
    }
}

/// Whether `recipient` accepts a picture on its own.
fn fits(image: &Image, recipient: Option<Provider>) -> bool {
    match &image.source {
        ImageSource::Url { url } => url.starts_with("https://") || url.starts_with("http://"),
        // Gemini, "Image understanding": PNG, JPEG, WebP, HEIC, HEIF.
        ImageSource::Base64 { media_type, .. }
            if recipient == Some(Provider::Gemini) && media_type == "image/gif" =>
        {
            false
        }
        ImageSource::Base64 { data, .. } => {
            let is_strict = matches!(recipient, Some(Provider::Anthropic | Provider::Bedrock));
            let light = !is_strict || data.len() <= PICTURE_BYTES;
            let side = sides(data).map(ImageSize::longest);
            light && is_base64(data) && side.is_some_and(|side| side <= SIDE_OF_FEW)
        }
    }
}

/// Whether a text is well-formed base64: groups of four characters, padded only at the end.
fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    text.len().is_multiple_of(4) && text.len() - digits.len() <= 2 && digits.bytes().all(is_digit)
}
