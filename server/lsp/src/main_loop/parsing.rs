//! Parses buffers on the thread pool, with one parse per buffer at a time. Edits during a parse are parsed together
//! afterwards.

use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_code::buffer::{Buffer, ParsedBuffer};

use super::MainLoop;
use crate::event::Event;
use strata_app::faults::with_fault_points;
use strata_app::model::snapshot::Snapshot;

impl MainLoop {
    pub(super) fn parse(&mut self, key: FileKey) {
        let Some(buffer) = self.world.snapshot.documents.buffer(&key).cloned() else { return };
        if !buffer.is_stale() || !self.parsing.insert(key.clone()) {
            return;
        }
        let events = self.events.clone();
        let parsed_key = key.clone();
        let snapshot = self.world.snapshot.clone();
        self.pool.spawn(
            with_fault_points("parse", move || parse_and_count(&buffer, &parsed_key, &snapshot)),
            move |parsed| {
                if let Err(panicked) = &parsed {
                    tracing::error!(key = %key.notice(), %panicked, "parsing a buffer failed");
                }
                let _ = events.send(Event::Parsed(key, parsed.ok().flatten()));
            },
        );
    }

    /// Handles the end of a parse. `None` if the parse was cancelled or panicked.
    pub(super) fn parse_finished(&mut self, key: FileKey, parsed: Option<ParsedBuffer>) {
        self.parsing.remove(&key);
        if let Some(parsed) = parsed {
            self.install_next_state(|world| world.install_parse(key, parsed));
        }
    }
}

/// Outlines a buffer and counts the tokens of its map block for the current model, so that prompts do not have to wait.
/// A buffer that is not parsed has no outline until its text changes.
fn parse_and_count(buffer: &Buffer, key: &FileKey, snapshot: &Snapshot) -> Option<ParsedBuffer> {
    let parsed = snapshot.parse_buffer(key, buffer, &Cancel::new()).ok().flatten()?;
    if let Some(reason) = parsed.symbols.outline.unparsed {
        tracing::warn!(key = %key.notice(), %reason, "the buffer could not be parsed, so it has no symbols until you edit it");
    }
    let block = &parsed.symbols.block;
    let tokenizer = snapshot.models.resolve(&snapshot.settings.model).model.tokenizer;
    let counter = &snapshot.counter;
    match buffer.last_parse().map(|last| &last.symbols.block) {
        Some(last) if last.text_hash == block.text_hash => {}
        Some(last) => {
            let (before, after) = ((&*last.text, last.text_hash), (&*block.text, block.text_hash));
            counter.recount(tokenizer, before, after);
        }
        None => {
            counter.count_hashed(tokenizer, &block.text, block.text_hash);
        }
    }
    Some(parsed)
}
