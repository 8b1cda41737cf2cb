//! The sides of an inline picture, read from its first bytes. Never decodes a picture.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// As much base64 as is looked at: JPEG files may carry some hundred kilobytes of metadata before the
/// frame that states their size.
const LOOKED_AT: usize = 1 << 20;

/// Width and height in pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sides {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
}

impl Sides {
    /// The longer of the two.
    pub fn longest(self) -> u32 {
        self.width.max(self.height)
    }
}

/// The sides of a PNG, JPEG, GIF or WebP picture; `None` when the data is of another kind or broken.
pub fn sides(base64: &str) -> Option<Sides> {
    let head = base64.as_bytes().get(..LOOKED_AT).unwrap_or(base64.as_bytes());
    let bytes = STANDARD.decode(head).ok()?;
    let size = imagesize::blob_size(&bytes).ok()?;
    Some(Sides { width: u32::try_from(size.width).ok()?, height: u32::try_from(size.height).ok()? })
}
