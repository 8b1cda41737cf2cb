//! How providers write messages and what they accept. For each dialect, one file writes messages and blocks, and checks finished
//! bodies independently of how they were written. Lays out no body and decides on no breakpoint.

pub(crate) mod anthropic;
pub(crate) mod bedrock;
mod check;
mod findings;
mod format;
pub(crate) mod gemini;
pub(crate) mod openai;
mod piece;
mod request;
pub(crate) mod responses;
mod rule;
mod spoken;

pub use check::{check, pieces, violations};
pub use format::{Breakpoints, Format};
pub(crate) use piece::arguments;
pub use piece::{Piece, pieces_of};
pub use request::{ask_for_stream, ollama_question, question};
pub use rule::{Rule, Violation};
pub use spoken::Speaker;
pub(crate) use spoken::results_first;
pub(crate) use spoken::{Carriers, SpokenBlock, SpokenMessage};
