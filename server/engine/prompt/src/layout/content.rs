//! The content of a prompt before it is ordered: every piece with its text, hash and size. It is the only input of the
//! policies (`tiers`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strata_base::hash::ContentHash;
use strata_base::key::FileKey;
use strata_code::symbols::{FileList, file_list};
use strata_conversation::history::{ContentBlock, MessageId};
use strata_conversation::providers::Speaker;

use crate::trust::Trust;

use super::blocks::Part;
use super::item::ItemKey;

/// A function that counts the tokens of a text with the tokenizer of the prompt's model.
pub(crate) type CountFn<'a> = &'a dyn Fn(&str) -> usize;

/// A tracked piece of text, such as a map block, a fenced file or a web page.
#[derive(Clone, PartialEq, Debug)]
pub struct PromptPiece {
    pub key: ItemKey,
    /// Text of the piece as sent, with heading and fence.
    pub text: Arc<str>,
    pub hash: ContentHash,
    pub tokens: usize,
    /// Text without heading and fence, as used in diffs.
    pub body: Arc<str>,
    /// A note about the text for the model, such as that it may be out of date; usually empty.
    pub notice: Arc<str>,
}

impl PromptPiece {
    /// Creates a piece, and computes the hash and the token count of its text.
    pub fn new(key: ItemKey, text: impl Into<Arc<str>>, count: CountFn<'_>) -> Self {
        let text = text.into();
        Self {
            key,
            hash: ContentHash::from_text(&text),
            tokens: count(&text),
            body: Arc::clone(&text),
            notice: Arc::default(),
            text,
        }
    }
}

/// A content block with its token count.
#[derive(Clone, PartialEq, Debug)]
pub struct CountedBlock {
    pub content: ContentBlock,
    pub tokens: usize,
}

/// A message of the conversation as sent to the provider.
#[derive(Clone, PartialEq, Debug)]
pub struct SentMessage {
    /// Id of the message in the history.
    pub id: MessageId,
    pub speaker: Speaker,
    /// Blocks of the message; never empty.
    pub blocks: Vec<CountedBlock>,
}

impl SentMessage {
    /// Counts the tokens of the message, without the overhead of the format.
    pub fn tokens(&self) -> usize {
        self.blocks.iter().map(|block| block.tokens).sum()
    }

    /// Returns a hash of the speaker and the content.
    pub(crate) fn hash(&self) -> ContentHash {
        Self::hash_blocks(self.speaker, &self.blocks)
    }

    /// Returns the [`hash`](Self::hash) of a message from `speaker` with these blocks.
    pub(crate) fn hash_blocks(speaker: Speaker, blocks: &[CountedBlock]) -> ContentHash {
        let contents: Vec<&ContentBlock> = blocks.iter().map(|block| &block.content).collect();
        ContentHash::from_text(&serde_json::to_string(&(speaker, contents)).unwrap_or_default())
    }

    pub(crate) fn has_tool_call(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block.content, ContentBlock::ToolCall { .. }))
    }

    /// Whether any block is a tool result.
    pub(crate) fn has_tool_result(&self) -> bool {
        self.blocks.iter().any(|block| block.content.is_tool_result())
    }
}

/// Files to place in particular tiers at the start of a session, from the reference graph.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TierSeeds {
    /// Files that other files refer to, most referenced first.
    pub referenced: Vec<FileKey>,
    /// Groups of files that refer to each other, directly or indirectly. Each file is in at most one group.
    pub clusters: Vec<Vec<FileKey>>,
}

/// Input for the repository file list. Formatting the list is slow, so it happens only when the list is rebuilt.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileListInput {
    /// Files to list, in key order.
    pub files: Vec<FileKey>,
    /// Files that the list omits because the map already outlines them, in key order.
    pub outlined: Vec<FileKey>,
    /// Files whose directories are listed first if the budget is too small for the whole list.
    pub focus: Vec<FileKey>,
    /// Token limit for the list. 0 omits it.
    pub budget: usize,
}

impl FileListInput {
    pub(crate) fn list(&self, count: CountFn<'_>) -> FileList {
        file_list(&self.files, &self.focus, self.budget, count)
    }

    /// Returns the heading of the file list. The heading says whether outlined files are omitted.
    pub(crate) fn heading(&self) -> &'static str {
        if self.outlined.is_empty() {
            "# Repository Files"
        } else {
            "# Repository Files\n\nThose without an outline:"
        }
    }
}

/// How much of the repository the file list of a prompt covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FileListCoverage {
    /// Number of files listed by name.
    pub names: usize,
    /// Number of files covered only by the name of their directory.
    pub collapsed: usize,
}

impl From<&FileList> for FileListCoverage {
    fn from(list: &FileList) -> Self {
        Self { names: list.names, collapsed: list.collapsed }
    }
}

/// Excerpts of earlier prompts. They are not placed again, but may keep their positions and receive updates.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RetainedExcerpts {
    /// Excerpts with their current text.
    pub pieces: Vec<PromptPiece>,
    /// Number of tokens of retained excerpts that may stay without counting as outdated text, which the policy
    /// `ledger` limits.
    pub allowance: usize,
}

impl RetainedExcerpts {
    /// Counts the tokens of retained excerpts, up to the allowance.
    pub(crate) fn tokens(&self) -> usize {
        self.pieces.iter().map(|piece| piece.tokens).sum::<usize>().min(self.allowance)
    }
}

/// Everything that one prompt may contain.
#[derive(Clone)]
pub struct LayoutContent<'a> {
    /// System prompt; omitted if empty.
    pub system: Arc<str>,
    /// Map blocks to show, in the order in which their files joined the map.
    pub map: Vec<PromptPiece>,
    /// Hashes of the map blocks to hide, because the prompt shows the file's full text or the block does not fit.
    pub hidden: BTreeMap<FileKey, ContentHash>,
    /// Fenced texts of selected files, in key order, then fenced excerpts.
    pub files: Vec<PromptPiece>,
    /// Excerpts that are relevant only to earlier questions.
    pub retained_excerpts: RetainedExcerpts,
    /// Web pages.
    pub urls: Vec<PromptPiece>,
    /// Input for the repository file list.
    pub tree: FileListInput,
    /// Messages of the conversation, oldest first. Ends between a tool call and its result only if the request contains
    /// that result.
    pub history: Vec<SentMessage>,
    /// Blocks of the new prompt or the new tool results; empty if the request is measured without them.
    pub request: Vec<CountedBlock>,
    /// The session state: volatile facts that follow all cacheable content; omitted if empty.
    pub session_state: Arc<str>,
    /// The context frame, placed after the session state; omitted if empty.
    pub context_frame: Arc<str>,
    pub trust: Trust,
    /// Files that must not be mentioned.
    pub excluded: &'a BTreeSet<FileKey>,
    /// Initial tiers of map blocks, from the reference graph.
    pub seeds: &'a TierSeeds,
    /// Overhead of a content block beyond its text, in tokens.
    pub framing: usize,
    /// Counts the tokens of a text. Used for texts that are combined from pieces.
    pub count: CountFn<'a>,
}

impl<'a> LayoutContent<'a> {
    pub fn empty(seeds: &'a TierSeeds, excluded: &'a BTreeSet<FileKey>, count: CountFn<'a>) -> Self {
        Self {
            system: Arc::default(),
            map: Vec::new(),
            hidden: BTreeMap::new(),
            files: Vec::new(),
            retained_excerpts: RetainedExcerpts::default(),
            urls: Vec::new(),
            tree: FileListInput::default(),
            history: Vec::new(),
            request: Vec::new(),
            session_state: Arc::default(),
            context_frame: Arc::default(),
            trust: Trust::default(),
            excluded,
            seeds,
            framing: 0,
            count,
        }
    }

    /// Returns the pieces that show text of files: those of selected files, then excerpts, including retained ones.
    pub(crate) fn file_texts(&self) -> impl Iterator<Item = &PromptPiece> {
        self.files.iter().chain(&self.retained_excerpts.pieces)
    }

    /// Returns the speaker of workspace content: the system if the workspace is trusted, otherwise the user, because
    /// content of an untrusted workspace never appears in the system message.
    pub(crate) fn workspace_speaker(&self) -> Speaker {
        match self.trust {
            Trust::Trusted => Speaker::System,
            Trust::Untrusted => Speaker::User,
        }
    }

    /// Returns the content that follows everything cacheable and is not kept in the conversation.
    pub(crate) fn volatile_parts(&self) -> impl Iterator<Item = (&str, Part)> {
        let parts = [(&self.session_state, Part::SessionState), (&self.context_frame, Part::ContextFrame)];
        parts.into_iter().filter(|(text, _)| !text.is_empty()).map(|(text, part)| (&**text, part))
    }

    /// Whether a file exists. An existing file whose text is no longer shown was deselected, not deleted.
    pub(crate) fn exists_in_workspace(&self, path: &FileKey) -> bool {
        self.hidden.contains_key(path)
            || self.tree.files.binary_search(path).is_ok()
            || self.tree.outlined.binary_search(path).is_ok()
    }
}
