//! Recorded sessions, played through the real engine: the same selection, edits, tiers and assembly that editors use.
//! What a session costs under each layout, and whether every prompt keeps what `docs/tiers.md` promises. A trace is made
//! elsewhere (the host reads git histories and files); this module does no I/O and reads no clock.

pub mod baseline;
mod chars;
mod conversation;
mod cut;
pub mod fidelity;
mod lane;
mod play;
pub mod predictions;
mod stage;
mod tally;
mod totals;
mod trace;
mod verify;

pub use chars::{ByChars, play_by_chars};
pub use conversation::{Conversation, billed_share};
pub use cut::{Cut, Recording, Shortened, Stayed};
pub use lane::{CutShort, Lane, Play, ReplayError};
pub use play::Replay;
pub use stage::{Content, Stage};
pub use tally::Tally;
pub use totals::{Column, Totals};
pub use trace::{SelectionRule, SelectionRuleError, Trace, TraceTurn};
pub use verify::{Broken, verify};
