//! Encodes an outline with `postcard`, prefixed with a hash of its key and of the encoded bytes. The hash detects
//! flipped bits, rows stored under the wrong key, and rows written by other programs.

use strata_base::hash::ContentHash;
use strata_code::outline::Outline;

use super::entry::OutlineKey;

const HASH_LENGTH: usize = 16;

/// Encodes an outline. Returns `None` if serialization fails, which does not happen in practice.
pub(super) fn encode(key: OutlineKey, outline: &Outline) -> Option<Vec<u8>> {
    let mut bytes = postcard::to_extend(outline, vec![0; HASH_LENGTH]).ok()?;
    let (stored_hash, payload) = bytes.split_at_mut_checked(HASH_LENGTH)?;
    stored_hash.copy_from_slice(&payload_hash(key, payload));
    Some(bytes)
}

/// Decodes an outline. Returns `None` unless the bytes were written by [`encode`] for this key.
pub(super) fn decode(key: OutlineKey, bytes: &[u8]) -> Option<Outline> {
    let (stored_hash, payload) = bytes.split_at_checked(HASH_LENGTH)?;
    if stored_hash != payload_hash(key, payload) {
        return None;
    }
    match postcard::take_from_bytes(payload) {
        Ok((outline, [])) => Some(outline),
        _ => None,
    }
}

fn payload_hash(key: OutlineKey, payload: &[u8]) -> [u8; HASH_LENGTH] {
    ContentHash::from_parts([&key.to_bytes()[..], payload]).to_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use strata_base::cancel::Cancel;
    use strata_base::key::FileKey;
    use strata_code::outline::language_of;

    use super::*;

    fn sample() -> (OutlineKey, Outline) {
        let text =
            "import os\n\nclass A(B):\n    @property\n    def f(self, a: int) -> str:\n        self.x = 1\n";
        let language = language_of(&FileKey::from("a.py"), "").unwrap();
        let outline = Outline::read(language, text, &Cancel::new()).unwrap();
        assert!(outline.symbols.len() == 2 && !outline.imports.is_empty());
        (OutlineKey::new(ContentHash::from_text(text), ContentHash::from_text("edition")), outline)
    }

    #[test]
    fn an_outline_is_decoded_only_with_its_key() {
        let (key, outline) = sample();
        let bytes = encode(key, &outline).unwrap();
        assert_eq!(decode(key, &bytes), Some(outline));
        assert_eq!(
            decode(
                OutlineKey::new(ContentHash::from_text("other"), ContentHash::from_text("edition")),
                &bytes
            ),
            None
        );
    }

    #[test]
    fn the_key_depends_on_the_edition() {
        let text = ContentHash::from_text("text");
        assert_ne!(
            OutlineKey::new(text, ContentHash::from_text("1")),
            OutlineKey::new(text, ContentHash::from_text("2"))
        );
    }

    proptest! {
        /// A wrong hash is rejected before decoding, and the decoder copes with any bytes that have the right hash.
        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), has_valid_hash: bool) {
            let (key, _) = sample();
            if has_valid_hash && let Some((stored_hash, payload)) = bytes.split_at_mut_checked(HASH_LENGTH) {
                stored_hash.copy_from_slice(&payload_hash(key, payload));
            }
            let _ = decode(key, &bytes);
        }

        #[test]
        fn bytes_with_a_changed_byte_are_rejected(at: prop::sample::Index, flip in 1..=255_u8) {
            let (key, outline) = sample();
            let mut bytes = encode(key, &outline).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            prop_assert_eq!(decode(key, &bytes), None);
        }
    }
}
