//! The table of all commands: what each is called, what it does in a sentence, and which function answers it. Routing and the
//! description of the protocol are both made of it, so no command can be in one and not in the other.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    CommandError, Context, budget, compaction, files, here, history, iteration, memory, prompt, redaction,
    server, session, symbols, tiers, tool_output, url,
};
use crate::schema::{Message, Shapes};

/// What answers a command: the types of its arguments and of its reply are known from it.
type Command<P, R> = fn(P, &mut Context<'_>) -> Result<R, CommandError>;

macro_rules! commands {
    ($(#[doc = $doc:literal] $name:literal => $command:path,)+) => {
        /// All commands, in the order of the documentation.
        pub const NAMES: &[&str] = &[$($name),+];

        /// Runs the command of this name.
        pub(super) fn route(name: &str, arguments: Value, context: &mut Context<'_>) -> Result<Value, CommandError> {
            match name {
                $($name => super::call($name, arguments, context, $command),)+
                _ => Err(CommandError::Unknown(name.to_owned())),
            }
        }

        /// All commands with the types that they take and reply, in the order of the documentation.
        pub fn described(shapes: &mut Shapes) -> Vec<Message> {
            vec![$(described_as($name, $doc, $command, shapes)),+]
        }
    };
}

commands! {
    /// Shows files in full.
    "strata.files.select" => files::select,
    /// Shows files as map blocks again.
    "strata.files.deselect" => files::deselect,
    /// Shows these files in full and no others.
    "strata.files.set" => files::set,
    /// Keeps files out of prompts altogether.
    "strata.files.exclude" => files::exclude,
    /// Takes an exclusion back.
    "strata.files.include" => files::include,
    /// Lists the files that the session chose.
    "strata.files.list" => files::list,
    /// Shows a text under a path, whatever the disk has there.
    "strata.files.add" => files::add,
    /// Does the same as `strata.files.deselect`.
    "strata.files.remove" => files::deselect,
    /// Has the selection follow files that were renamed.
    "strata.files.rename" => files::rename,
    /// Forgets every choice.
    "strata.files.clear" => files::clear,
    /// Finds files of the workspace by letters of their paths.
    "strata.files.find" => files::find,
    /// Reads the current text of a file: the buffer's, else the disk's.
    "strata.files.read" => files::read,
    /// Says whether a file is shown in full.
    "strata.files.has" => files::has,
    /// Takes note that files were read outside of what Strata sees.
    "strata.files.markRead" => files::mark_read,
    /// Shows the document at hand in full, or the lines of a range, and tells the person.
    "strata.here.select" => here::select,
    /// Shows the document at hand as its map block again, and tells the person.
    "strata.here.deselect" => here::deselect,
    /// Selects the document at hand, or deselects it when it is selected, and tells the person.
    "strata.here.toggle" => here::toggle,
    /// Keeps the document at hand out of prompts altogether, and tells the person.
    "strata.here.exclude" => here::exclude,
    /// Takes its exclusion back, and tells the person.
    "strata.here.include" => here::include,
    /// Writes the next prompt into a file, and opens that in the editor or tells the person where it is.
    "strata.here.preview" => here::preview,
    /// Tells the person in one line how the context stands.
    "strata.here.status" => here::status,
    /// Makes a prompt: a request body that a provider takes, with all that is known of it.
    "strata.prompt.assemble" => prompt::assemble,
    /// Reports what came of a prompt, which commits the turn.
    "strata.prompt.record" => prompt::record,
    /// Drops a prompt that was not sent.
    "strata.prompt.discard" => prompt::discard,
    /// Shows what would be sent, as a document to read.
    "strata.prompt.preview" => prompt::preview,
    /// Compares what would be sent with an earlier preview of it.
    "strata.prompt.changes" => prompt::changes,
    /// Counts the tokens of a text.
    "strata.prompt.estimate" => prompt::estimate,
    /// Says what stands where in the next prompt, and why.
    "strata.tiers.report" => tiers::report,
    /// Has the next prompt laid afresh.
    "strata.tiers.rebuild" => tiers::rebuild,
    /// Says which policy lays out prompts, and chooses the session's own.
    "strata.tiers.policy" => tiers::policy,
    /// Explains why the last recorded prompt did not begin as the one before.
    "strata.tiers.explainBreak" => tiers::explain_break,
    /// Says what a pause or another model would cost.
    "strata.tiers.forecast" => tiers::forecast,
    /// Adds a message.
    "strata.history.add" => history::add,
    /// Adds a question and its answer.
    "strata.history.addExchange" => history::add_exchange,
    /// Reads all messages, hidden ones included.
    "strata.history.get" => history::get,
    /// Counts the messages, and the tokens of what the model sees of them.
    "strata.history.count" => history::count,
    /// Replaces the conversation.
    "strata.history.set" => history::set,
    /// Empties the conversation.
    "strata.history.clear" => history::clear,
    /// Drops a message and all behind it.
    "strata.history.truncate" => history::truncate,
    /// Replaces the content of a message.
    "strata.history.edit" => history::edit,
    /// Keeps a message word for word in every compaction, or no longer.
    "strata.history.pin" => history::pin,
    /// Hides a message from the model or the person, or shows it again.
    "strata.history.hide" => history::hide,
    /// Forgets the places of messages in the tiers; the conversation stays.
    "strata.history.reregister" => history::reregister,
    /// Adds a conversation that another program recorded.
    "strata.history.import" => history::import,
    /// Cuts an output of a tool to what is kept of it, and adds it to the conversation when it names its call.
    "strata.toolOutput.add" => tool_output::add,
    /// Reads on in an output that was cut.
    "strata.toolOutput.read" => tool_output::read,
    /// Remembers an iteration of an autonomous loop.
    "strata.iteration.add" => iteration::add,
    /// Makes what the next iteration begins with.
    "strata.iteration.prompt" => iteration::prompt,
    /// Says where the loop stands.
    "strata.iteration.status" => iteration::status,
    /// Keeps a note that outlives the session.
    "strata.memory.add" => memory::add,
    /// Finds words in all notes and conversations of the workspace.
    "strata.memory.search" => memory::search,
    /// Lists the notes.
    "strata.memory.list" => memory::list,
    /// Removes a note.
    "strata.memory.remove" => memory::remove,
    /// Begins a session and shows it.
    "strata.session.new" => session::new,
    /// Begins a session with the same files in view and shows it.
    "strata.session.reset" => session::reset,
    /// Lists the sessions, the one written to last first.
    "strata.session.list" => session::list,
    /// Opens a stored session and shows it.
    "strata.session.load" => session::load,
    /// Lists what the tools did in the session.
    "strata.session.steps" => session::steps,
    /// Begins a session with the messages of this one and shows it.
    "strata.session.fork" => session::fork,
    /// Gives a session a name.
    "strata.session.rename" => session::rename,
    /// Deletes a session.
    "strata.session.delete" => session::delete,
    /// Writes a session out as text.
    "strata.session.export" => session::export,
    /// Makes a session of a text that `strata.session.export` or another program wrote.
    "strata.session.import" => session::import,
    /// Finds words in the session.
    "strata.session.search" => session::search,
    /// Shows a web page that the client fetched.
    "strata.url.add" => url::add,
    /// Shows a web page no longer.
    "strata.url.remove" => url::remove,
    /// Lists the web pages that are shown.
    "strata.url.list" => url::list,
    /// Says what the next request weighs before its prompt.
    "strata.budget.report" => budget::report,
    /// Says how near a compaction is.
    "strata.compaction.status" => compaction::status,
    /// Makes the conversation shorter; answered when that is done.
    "strata.compaction.run" => compaction::run,
    /// Takes the last compaction back.
    "strata.compaction.undo" => compaction::undo,
    /// Makes the conversation shorter after the provider said that a prompt was too long; answered when that is done.
    "strata.compaction.contextLimitExceeded" => compaction::context_limit_exceeded,
    /// Lists the secrets in whose place placeholders stand.
    "strata.redaction.list" => redaction::list,
    /// Puts the secrets back into a text that is to be applied.
    "strata.redaction.restore" => redaction::restore,
    /// Makes the symbol map.
    "strata.symbols.map" => symbols::map,
    /// Outlines one file.
    "strata.symbols.file" => symbols::file,
    /// Says who mentions a name.
    "strata.symbols.references" => symbols::references,
    /// Says which files a file depends on, and which depend on it.
    "strata.symbols.dependents" => symbols::dependents,
    /// Finds definitions by letters of their names.
    "strata.symbols.find" => symbols::find,
    /// Names the files and definitions that a text is about.
    "strata.symbols.relevant" => symbols::relevant,
    /// Says how the server stands.
    "strata.server.status" => server::status,
    /// Walks and outlines the repository anew.
    "strata.server.reindex" => server::reindex,
    /// Shows the settings in force.
    "strata.server.settings" => server::settings,
    /// Lists what is known of models.
    "strata.server.models" => server::models,
}

fn described_as<P: JsonSchema + DeserializeOwned, R: JsonSchema + Serialize>(
    name: &'static str,
    doc: &str,
    _: Command<P, R>,
    shapes: &mut Shapes,
) -> Message {
    shapes.command::<P, R>(name, doc.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_area_and_verb_and_stand_once() {
        let mut names: Vec<&str> = NAMES.to_vec();
        assert!(names.iter().all(|name| name.starts_with("strata.") && name.split('.').count() == 3));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), NAMES.len());
    }
}
