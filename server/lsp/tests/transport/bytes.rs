//! Generates byte streams that mix frames with garbage.

use proptest::prelude::*;

use crate::mock::frame_bytes;

/// A part of a stream.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Frame(Vec<u8>),
    /// Bytes that are not a frame and cannot begin one.
    Garbage(Vec<u8>),
    /// An invalid header section, followed by a body.
    Broken(&'static str),
}

impl Piece {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Frame(body) => frame_bytes(body),
            Self::Garbage(bytes) => bytes.clone(),
            Self::Broken(text) => text.as_bytes().to_vec(),
        }
    }

    pub(crate) fn body(&self) -> Option<Vec<u8>> {
        match self {
            Self::Frame(body) => Some(body.clone()),
            _ => None,
        }
    }
}

/// Generates streams that end with a frame. Garbage contains no colon, so it cannot be or swallow a header.
pub(crate) fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let body = || {
        prop_oneof![prop::collection::vec(any::<u8>(), 0..300), Just(b"Content-Length: 3\r\n\r\n".to_vec())]
    };
    let garbage = prop::collection::vec(any::<u8>().prop_filter("no colon", |byte| *byte != b':'), 0..600);
    let broken = prop::sample::select(vec![
        "Content-Length: abc\r\n\r\n{}",
        "Content-Length: 1\r\nContent-Length: x\r\n\r\n{}",
        "Content-Length: 123456789012345678901234567890\r\n\r\n{}",
        "Content-Length: 999999\r\n\r\n{}",
        "Content-Length\r\n\r\n{}",
        "X-Content-Length 2\r\n\r\n{}",
        "Content-Type: x\r\n\r\n",
    ]);
    let piece = prop_oneof![
        3 => body().prop_map(Piece::Frame),
        2 => garbage.prop_map(Piece::Garbage),
        1 => broken.prop_map(Piece::Broken),
    ];
    (prop::collection::vec(piece, 0..8), body()).prop_map(|(mut pieces, last)| {
        pieces.push(Piece::Frame(last));
        pieces
    })
}
