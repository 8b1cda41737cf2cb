//! Detects the media type and size of inline images from their first bytes. Does not decode images.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use imagesize::ImageType;
use strata_tokens::counting::ImageSize;

/// Number of base64 characters to examine first. JPEG files may contain several hundred kilobytes of metadata
/// before the frame with their size.
const IMAGE_SIZE_SCAN_CHARS: usize = 1 << 20;

/// Number of base64 characters that contain the twelve bytes needed to detect the media type.
const MEDIA_TYPE_PREFIX_CHARS: usize = 16;

/// Like [`media_type`], for an image in base64.
pub(crate) fn detect_media_type(base64: &str) -> Option<&'static str> {
    media_type(&STANDARD.decode(base64.as_bytes().get(..MEDIA_TYPE_PREFIX_CHARS)?).ok()?)
}

/// Detects the media type of a PNG, JPEG, GIF or WebP image from its first bytes; `None` for other data.
pub fn media_type(head: &[u8]) -> Option<&'static str> {
    match imagesize::image_type(head).ok()? {
        ImageType::Png => Some("image/png"),
        ImageType::Jpeg => Some("image/jpeg"),
        ImageType::Gif => Some("image/gif"),
        ImageType::Webp => Some("image/webp"),
        _ => None,
    }
}

/// Returns the size of a PNG, JPEG, GIF or WebP image; `None` for other or invalid data.
pub fn image_size(base64: &str) -> Option<ImageSize> {
    detect_media_type(base64)?;
    let all = base64.as_bytes();
    match all.get(..IMAGE_SIZE_SCAN_CHARS) {
        Some(head) => decode_image_size(head).or_else(|| decode_image_size(all)),
        None => decode_image_size(all),
    }
}

fn decode_image_size(base64: &[u8]) -> Option<ImageSize> {
    let size = imagesize::blob_size(&STANDARD.decode(base64).ok()?).ok()?;
    let sides =
        ImageSize { width: u32::try_from(size.width).ok()?, height: u32::try_from(size.height).ok()? };
    (sides.width > 0 && sides.height > 0).then_some(sides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_media_type_is_detected_from_the_bytes() {
        let kinds: [(&[u8], &str); 4] = [
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
            (b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01", "image/jpeg"),
            (b"GIF89a\x01\0\x01\0\0\0", "image/gif"),
            (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        ];
        for (bytes, kind) in kinds {
            assert_eq!(detect_media_type(&STANDARD.encode(bytes)), Some(kind));
        }
        let svg = STANDARD.encode("<svg viewBox='0 0 1 1'/>");
        for none in ["", "AAAA", "not base64 at all", svg.as_str()] {
            assert_eq!((detect_media_type(none), image_size(none)), (None, None), "{none}");
        }
    }

    #[test]
    fn image_sizes_are_found_after_metadata_and_are_never_zero() {
        // A JPEG file whose frame follows a megabyte of metadata, in segments of the maximum size.
        let segment = [b"\xff\xe2\xff\xff".to_vec(), vec![0; 0xfffd]].concat();
        let frame = b"\xff\xc0\0\x11\x08\0\x07\0\x09\x03".to_vec();
        let jpeg = |segments: usize| [b"\xff\xd8".to_vec(), segment.repeat(segments), frame.clone()].concat();
        for segments in [1, 16] {
            let data = STANDARD.encode(jpeg(segments));
            assert_eq!(image_size(&data), Some(ImageSize { width: 9, height: 7 }), "{segments} segments");
        }
        let flat = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x05\0\0\0\0\x08\x02\0\0\0";
        assert_eq!(image_size(&STANDARD.encode(flat)), None);
    }
}
