//! Tests properties of the frame decoder.

use proptest::prelude::*;
use strata_lsp::transport::{DecodedFrame, Fault, FrameDecoder, FrameLimits};

use crate::bytes::{Piece, pieces};
use crate::mock::frame_bytes;

const LIMITS: FrameLimits = FrameLimits { message: 1000, header: 200, skip: 5000 };

fn decode(bytes: &[u8], cuts: &[usize]) -> Vec<DecodedFrame> {
    let mut decoder = FrameDecoder::new(LIMITS);
    let mut decoded = Vec::new();
    let mut rest = bytes;
    for cut in cuts.iter().cycle().take(if cuts.is_empty() { 0 } else { bytes.len() }) {
        let (piece, after) = rest.split_at((*cut).min(rest.len()));
        decoded.extend(decoder.push(piece));
        rest = after;
    }
    decoded.extend(decoder.push(rest));
    decoded
}

fn bodies(decoded: Vec<DecodedFrame>) -> Vec<Vec<u8>> {
    decoded
        .into_iter()
        .filter_map(|decoded| match decoded {
            DecodedFrame::Frame(body) => Some(body),
            DecodedFrame::Fault(_) => None,
        })
        .collect()
}

fn faults(bytes: &[u8]) -> Vec<Fault> {
    decode(bytes, &[])
        .into_iter()
        .filter_map(|decoded| match decoded {
            DecodedFrame::Frame(_) => None,
            DecodedFrame::Fault(fault) => Some(fault),
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_result_does_not_depend_on_how_the_stream_is_divided(pieces in pieces(), cuts in prop::collection::vec(0..40usize, 0..20)) {
        let bytes: Vec<u8> = pieces.iter().flat_map(Piece::bytes).collect();
        prop_assert_eq!(decode(&bytes, &cuts), decode(&bytes, &[]));
    }

    #[test]
    fn a_stream_of_single_bytes_is_decoded_alike(pieces in pieces()) {
        let bytes: Vec<u8> = pieces.iter().flat_map(Piece::bytes).collect();
        prop_assert_eq!(decode(&bytes, &[1]), decode(&bytes, &[]));
    }

    /// Frames are decoded completely and in order, regardless of the bytes between them.
    #[test]
    fn garbage_between_frames_loses_no_frame(pieces in pieces()) {
        let bytes: Vec<u8> = pieces.iter().flat_map(Piece::bytes).collect();
        let frames: Vec<_> = pieces.iter().filter_map(Piece::body).collect();
        prop_assert_eq!(bodies(decode(&bytes, &[])), frames);
    }

    /// A lost boundary between two frames is reported at most once.
    #[test]
    fn a_run_of_garbage_is_reported_as_one_fault(garbage in prop::collection::vec(any::<u8>(), 0..5000)) {
        let bytes = [garbage, frame_bytes(b"{}")].concat();
        prop_assert!(faults(&bytes).len() <= 1 + bytes.windows(15).filter(|name| name.eq_ignore_ascii_case(b"content-length:")).count());
    }

    #[test]
    fn bytes_of_any_kind_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..3000), cuts in prop::collection::vec(0..99usize, 0..9)) {
        prop_assert_eq!(decode(&bytes, &cuts), decode(&bytes, &[]));
    }

    /// Text with fragments of headers, which reaches more states of the decoder.
    #[test]
    fn arbitrary_headers_do_not_panic(text in "((Content-Length|content-type|X)?[: ]{0,2}[0-9;=a]{0,4}(\r?\n){0,2}){0,40}", cuts in prop::collection::vec(0..9usize, 0..9)) {
        prop_assert_eq!(decode(text.as_bytes(), &cuts), decode(text.as_bytes(), &[]));
    }
}

#[test]
fn headers_are_read_leniently() {
    for header in [
        "content-length: 2\r\n\r\n",
        "CONTENT-LENGTH:2\r\n\r\n",
        "Content-Length : 2 \r\n\r\n",
        "Content-Length: 2\n\n",
        "\r\n\r\nContent-Length: 0002\r\n\r\n",
        "Content-Length: 2\r\nContent-Length: 2\r\n\r\n",
        "Content-Type: application/vscode-jsonrpc; charset=utf8\r\nContent-Length: 2\r\n\r\n",
        "Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc\r\nX-Other: a: b\r\n\r\n",
        "Content-Length: 2\r\nContent-Type: a/b; Charset=\"UTF-8\"\r\n\r\n",
    ] {
        let bytes = [header.as_bytes(), b"{}"].concat();
        assert_eq!(decode(&bytes, &[]), [DecodedFrame::Frame(b"{}".to_vec())], "{header:?}");
    }
}

#[test]
fn each_kind_of_invalid_frame_has_its_own_fault() {
    let long = format!("X: {}\r\n", "x".repeat(LIMITS.header));
    for (bytes, fault) in [
        ("hello\r\n", Fault::Garbage),
        (&*long, Fault::HeaderTooLong),
        ("X: 1\r\n\r\n", Fault::MissingLength),
        ("Content-Length: +1\r\n\r\n", Fault::BrokenLength),
        ("Content-Length: 0x1\r\n\r\n", Fault::BrokenLength),
        ("Content-Length: 1\r\nContent-Length: 2\r\n\r\n", Fault::ConflictingLengths),
        ("Content-Length: 5001\r\n\r\n", Fault::AbsurdLength),
        ("Content-Length: 99999999999999999999\r\n\r\n", Fault::AbsurdLength),
        ("Content-Length: 1\r\nContent-Type: a/b; charset=utf-16\r\n\r\n", Fault::UnsupportedCharset),
    ] {
        assert_eq!(faults(bytes.as_bytes()), [fault], "{bytes:?}");
    }
}

#[test]
fn a_message_that_is_too_large_is_skipped_by_its_length() {
    let large = frame_bytes(&[b'x'; 1001]);
    let bytes = [large, frame_bytes(&[b'y'; 1000]), frame_bytes(b"")].concat();
    assert_eq!(
        decode(&bytes, &[7]),
        [
            DecodedFrame::Fault(Fault::TooLarge { length: 1001, opening: vec![b'x'; 1001] }),
            DecodedFrame::Frame(vec![b'y'; 1000]),
            DecodedFrame::Frame(Vec::new())
        ]
    );
}

/// A claimed length takes no memory before bytes arrive. Garbage and skipped messages never take memory.
#[test]
fn memory_grows_only_with_received_bytes() {
    let piece = [b'x'; 4096];
    let mut decoder = FrameDecoder::default();
    assert_eq!(decoder.push(b"Content-Length: 67108864\r\n\r\n").count(), 0);
    for _ in 0..100 {
        assert_eq!(decoder.push(&piece).count(), 0);
    }
    assert!(decoder.allocated_bytes() < 3 * 100 * 4096, "{}", decoder.allocated_bytes());

    let mut decoder = FrameDecoder::default();
    assert_eq!(decoder.push(b"Content-Length: 1000000000\r\n\r\n").count(), 0);
    for _ in 0..10_000 {
        decoder.push(&piece).for_each(drop);
    }
    assert!(decoder.allocated_bytes() < 64 * 1024, "{}", decoder.allocated_bytes());

    let mut decoder = FrameDecoder::default();
    for _ in 0..10_000 {
        decoder.push(&piece).for_each(drop);
    }
    assert!(decoder.allocated_bytes() < 64 * 1024, "{}", decoder.allocated_bytes());
}
