//! Computes the token cost of an image from its size, by the formula of the provider.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tokens assumed for an image of unknown size, if the provider's formula depends on the size.
pub const UNKNOWN_IMAGE_TOKENS: usize = 1_200;

/// Width and height of an image, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageSize {
    pub width: u32,
    pub height: u32,
}

impl ImageSize {
    /// Returns the length of the longer side, in pixels.
    pub fn longer_side(self) -> u32 {
        self.width.max(self.height)
    }
}

/// How a model's provider computes the tokens of an image.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ImageFormula {
    /// Anthropic: one token for each full or partial square of 28 x 28 pixels, after scaling the image down to
    /// fit both limits (platform.claude.com/docs/en/build-with-claude/vision, "Image costs").
    Cells {
        /// Maximum length of the longer side, in pixels.
        max_side: u32,
        /// Token limit for one image.
        max_tokens: u32,
    },
    /// OpenAI up to GPT-4o, o1, o3 and GPT-5: scaled to fit 2,048 x 2,048 pixels, then to a shorter side of
    /// 768 pixels, then counted in squares of 512 x 512 pixels
    /// (developers.openai.com/api/docs/guides/images-vision, "Calculating costs", high detail).
    Tiles {
        /// Tokens of every image, regardless of its size.
        base: u32,
        /// Tokens per square.
        tile: u32,
    },
    /// OpenAI from GPT-4.1 mini on: scaled down to at most `max_patches` squares of 32 x 32 pixels, whose number is
    /// multiplied by `factor` (developers.openai.com/api/docs/guides/images-vision, "Calculating costs").
    Patches {
        /// Maximum number of squares per image.
        max_patches: u32,
        /// Tokens per square.
        factor: f64,
    },
    /// Gemini: one tile for an image of at most 384 x 384 pixels, otherwise one for each full or partial square
    /// of 768 x 768 pixels (ai.google.dev/gemini-api/docs/tokens).
    LargeTiles {
        /// Tokens per tile.
        tile: u32,
    },
    /// The same number of tokens for every image, including images of unknown size.
    Fixed {
        /// Tokens per image.
        tokens: u32,
    },
}

impl ImageFormula {
    /// Formula for models whose provider does not publish one.
    pub(crate) const UNKNOWN: Self = Self::Fixed { tokens: UNKNOWN_IMAGE_TOKENS as u32 };

    /// Returns the tokens of an image. `size` is `None` if it is unknown.
    pub fn tokens(&self, size: Option<ImageSize>) -> usize {
        if let Self::Fixed { tokens } = *self {
            return tokens as usize;
        }
        let Some(size) = size.filter(|size| size.width > 0 && size.height > 0) else {
            return UNKNOWN_IMAGE_TOKENS;
        };
        let (width, height) = (f64::from(size.width), f64::from(size.height));
        match *self {
            Self::Cells { max_side, max_tokens } => {
                scaled_square_count(width, height, 28.0, f64::from(max_side), f64::from(max_tokens))
            }
            Self::Tiles { base, tile } => {
                let into_square = (2048.0 / width.max(height)).min(1.0);
                let to_short_side = (768.0 / (into_square * width.min(height))).min(1.0);
                let scale = into_square * to_short_side;
                base as usize + square_count(width * scale, height * scale, 512.0) * tile as usize
            }
            Self::Patches { max_patches, factor } => {
                let patches = scaled_square_count(width, height, 32.0, f64::INFINITY, f64::from(max_patches));
                (patches as f64 * factor).ceil() as usize
            }
            Self::LargeTiles { tile } => {
                let small = size.width <= 384 && size.height <= 384;
                if small { tile as usize } else { square_count(width, height, 768.0) * tile as usize }
            }
            Self::Fixed { tokens } => tokens as usize,
        }
    }
}

/// Returns the number of squares of `side` pixels that cover an image. Rounding errors of a previous scaling
/// do not add a square.
fn square_count(width: f64, height: f64, side: f64) -> usize {
    let squares_along = |length: f64| (length / side - 1e-9).ceil().max(1.0) as usize;
    squares_along(width).saturating_mul(squares_along(height))
}

/// Returns the number of squares after scaling the image down, with its aspect ratio kept, to at most
/// `max_side` pixels and `max_cells` squares.
fn scaled_square_count(width: f64, height: f64, side: f64, max_side: f64, max_cells: f64) -> usize {
    let scale = (max_side / width.max(height)).min(1.0);
    let (width, height) = (width * scale, height * scale);
    let unscaled = square_count(width, height, side);
    if unscaled as f64 <= max_cells {
        return unscaled;
    }
    // Scale to an area of `max_cells` squares, then further to whole squares along the side that needs the
    // smaller reduction.
    let shrink = (max_cells * side * side / (width * height)).sqrt();
    let (across, down) = (width * shrink / side, height * shrink / side);
    let fit = (across.floor().max(1.0) / across).min(down.floor().max(1.0) / down);
    square_count(across * fit * side, down * fit * side, side).min(max_cells as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CLAUDE: ImageFormula = ImageFormula::Cells { max_side: 1568, max_tokens: 1568 };
    const GPT_4O: ImageFormula = ImageFormula::Tiles { base: 85, tile: 170 };
    const GPT_4_1_MINI: ImageFormula = ImageFormula::Patches { max_patches: 1536, factor: 1.62 };
    const GEMINI: ImageFormula = ImageFormula::LargeTiles { tile: 258 };

    fn tokens(formula: ImageFormula, width: u32, height: u32) -> usize {
        formula.tokens(Some(ImageSize { width, height }))
    }

    #[test]
    fn images_cost_as_in_the_providers_examples() {
        // ceil(200/28)^2 and ceil(1000/28)^2; 1092 is 39 cells, and 39 * 39 = 1521 is within the limit.
        assert_eq!(tokens(CLAUDE, 200, 200), 64);
        assert_eq!(tokens(CLAUDE, 1000, 1000), 1296);
        assert_eq!(tokens(CLAUDE, 1092, 1092), 1521);
        // "a 1024 x 1024 square image in high detail costs 765", "2048 x 4096 ... costs 1105"
        assert_eq!(tokens(GPT_4O, 1024, 1024), 765);
        assert_eq!(tokens(GPT_4O, 2048, 4096), 1105);
        // "1024 x 1024: 1024 patches", "1800 x 2400: 1452 patches"
        let patches = ImageFormula::Patches { max_patches: 1536, factor: 1.0 };
        assert_eq!(tokens(patches, 1024, 1024), 1024);
        assert_eq!(tokens(patches, 1800, 2400), 1452);
        assert_eq!(tokens(GPT_4_1_MINI, 1024, 1024), 1659);
        assert_eq!(tokens(GEMINI, 384, 384), 258);
        assert_eq!(tokens(GEMINI, 1536, 769), 4 * 258);
    }

    #[test]
    fn an_image_of_unknown_size_has_a_fixed_cost() {
        assert_eq!(CLAUDE.tokens(None), 1_200);
        assert_eq!(tokens(GPT_4O, 0, 10), 1_200);
        assert_eq!(ImageFormula::Fixed { tokens: 256 }.tokens(None), 256);
    }

    proptest! {
        #[test]
        fn limits_hold_for_every_size(width: u32, height: u32) {
            prop_assume!(width > 0 && height > 0);
            prop_assert!((1..=1568).contains(&tokens(CLAUDE, width, height)));
            // At most 2,048 x 768 pixels, which is 4 x 2 squares.
            prop_assert!((255..=85 + 8 * 170).contains(&tokens(GPT_4O, width, height)));
            prop_assert!((1..=2489).contains(&tokens(GPT_4_1_MINI, width, height)));
        }
    }
}
