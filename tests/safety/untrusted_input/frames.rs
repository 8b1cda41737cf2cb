//! Bytes of a client, in pieces of any size: what comes out does not depend on the pieces, memory stays bounded, and a
//! message after them is found.
use strata_lsp::transport::{DecodedFrame, FrameDecoder, FrameLimits};

/// Small, so that inputs of a few hundred bytes go over them.
const LIMITS: FrameLimits = FrameLimits { message: 1 << 9, header: 128, skip: 1 << 10 };
const VALID: &str = r#"{"jsonrpc":"2.0","id":7,"method":"shutdown"}"#;

fn decoded<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<DecodedFrame> {
    let mut decoder = FrameDecoder::new(LIMITS);
    let mut all = Vec::new();
    for piece in pieces {
        all.extend(decoder.push(piece));
        assert!(decoder.allocated_bytes() <= 2 * (LIMITS.message + LIMITS.header + piece.len()) + 4_096);
    }
    all
}

/// Takes any input.
pub(crate) fn check(input: &[u8]) {
    let Some((size, bytes)) = input.split_first() else { return };
    // What is skipped by its length takes whatever stands there.
    let mut end = vec![b'\n'; LIMITS.skip as usize + LIMITS.header];
    let valid = format!("Content-Length: {}\r\n\r\n{VALID}", VALID.len());
    // The first may end a header that was started, the second a line that was.
    for _ in 0..3 {
        end.extend_from_slice(valid.as_bytes());
    }
    let whole = decoded(std::iter::once([bytes, &end].concat().as_slice()));
    let pieces = decoded(bytes.chunks(usize::from(*size).max(1)).chain([end.as_slice()]));
    assert_eq!(whole, pieces);
    assert!(
        matches!(whole.last(), Some(DecodedFrame::Frame(body)) if body == VALID.as_bytes()),
        "{:?}",
        whole.last()
    );
}
