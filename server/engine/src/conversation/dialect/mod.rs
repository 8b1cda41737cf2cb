//! Providers' message formats, and the rules that providers enforce. Each dialect has one file that writes
//! messages and blocks, and one that checks finished bodies independently of the first. Does not assemble
//! bodies or place breakpoints.

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

pub(crate) use check::check;
pub use check::{pieces, violations};
pub use format::{Breakpoints, Format};
pub(crate) use piece::arguments;
pub use piece::{Piece, pieces_of};
pub use request::{ask_for_stream, limit_output, ollama_question, question};
pub use rule::{Rule, Violation};
pub use spoken::Speaker;
pub(crate) use spoken::results_first;
pub(crate) use spoken::{Carriers, SpokenBlock, SpokenMessage};
