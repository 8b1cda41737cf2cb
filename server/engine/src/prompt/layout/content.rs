//! The content of a prompt before ordering: every piece with its text, hash and size. Policies (`tiers`) read only this.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::code::symbols::{FileList, file_list};
use crate::conversation::history::{ContentBlock, MessageId};
use crate::hash::ContentHash;
use crate::key::FileKey;
use crate::prompt::trust::Trust;

use super::blocks::Part;
use super::item::ItemKey;
use crate::conversation::dialect::Speaker;

/// Counts the tokens of a text, for the prompt's model.
pub(crate) type Count<'a> = &'a dyn Fn(&str) -> usize;

/// A tracked piece of text: a map block, a fenced file, a web page.
#[derive(Clone, PartialEq, Debug)]
pub struct Piece {
    /// Its name.
    pub key: ItemKey,
    /// The text as sent.
    pub text: Arc<str>,
    /// The hash of `text`.
    pub hash: ContentHash,
    /// Its weight on its own, in tokens.
    pub tokens: usize,
    /// The text without its heading and fence, as used in diffs.
    pub body: Arc<str>,
    /// A note about the text, such as a doubt about its currency; usually empty.
    pub notice: Arc<str>,
}

impl Piece {
    /// A piece whose hash and weight are taken from its text.
    pub fn new(key: ItemKey, text: impl Into<Arc<str>>, count: Count<'_>) -> Self {
        let text = text.into();
        Self {
            key,
            hash: ContentHash::of(&text),
            tokens: count(&text),
            body: Arc::clone(&text),
            notice: Arc::default(),
            text,
        }
    }
}

/// A block of a message with its weight.
#[derive(Clone, PartialEq, Debug)]
pub struct WeighedBlock {
    /// The content sent.
    pub content: ContentBlock,
    /// Its weight in tokens.
    pub tokens: usize,
}

/// A message of the conversation as sent.
#[derive(Clone, PartialEq, Debug)]
pub struct SentMessage {
    /// The message it comes from.
    pub id: MessageId,
    /// The speaker.
    pub speaker: Speaker,
    /// Its blocks; never empty.
    pub blocks: Vec<WeighedBlock>,
}

impl SentMessage {
    /// Its weight in tokens.
    pub fn tokens(&self) -> usize {
        self.blocks.iter().map(|block| block.tokens).sum()
    }

    /// A hash of all it says.
    pub(crate) fn hash(&self) -> ContentHash {
        Self::hash_of(self.speaker, &self.blocks)
    }

    /// The [`hash`](Self::hash) of a message with these blocks.
    pub(crate) fn hash_of(speaker: Speaker, blocks: &[WeighedBlock]) -> ContentHash {
        let contents: Vec<&ContentBlock> = blocks.iter().map(|block| &block.content).collect();
        ContentHash::of(&serde_json::to_string(&(speaker, contents)).unwrap_or_default())
    }

    pub(crate) fn calls_a_tool(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block.content, ContentBlock::ToolCall { .. }))
    }

    /// Whether it answers a tool call.
    pub(crate) fn answers_a_tool(&self) -> bool {
        self.blocks.iter().any(|block| block.content.is_tool_result())
    }
}

/// How a policy may spread map blocks over its tiers at the start of a session.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Seeds {
    /// Files that other files refer to, the most referenced first.
    pub referenced: Vec<FileKey>,
    /// Files that refer to each other, directly or through others; each file in at most one cluster.
    pub clusters: Vec<Vec<FileKey>>,
}

/// The repository file list before it is written: that takes a while and is only done where it is rebuilt.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tree {
    /// The listed files, in key order.
    pub files: Vec<FileKey>,
    /// The other files of the repository, in key order: the map has a block of each.
    pub outlined: Vec<FileKey>,
    /// The files whose surroundings are named first when not all can be.
    pub focus: Vec<FileKey>,
    /// Maximum tokens. 0 omits it.
    pub budget: usize,
}

impl Tree {
    /// Writes it.
    pub(crate) fn list(&self, count: Count<'_>) -> FileList {
        file_list(&self.files, &self.focus, self.budget, count)
    }

    /// Its heading.
    pub(crate) fn heading(&self) -> &'static str {
        if self.outlined.is_empty() {
            "# Repository Files"
        } else {
            "# Repository Files\n\nThose without an outline:"
        }
    }
}

/// How much of the repository file list a prompt holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FileListCoverage {
    /// Files that are named.
    pub names: usize,
    /// Files covered by a directory's name only.
    pub collapsed: usize,
}

impl From<&FileList> for FileListCoverage {
    fn from(list: &FileList) -> Self {
        Self { names: list.names, collapsed: list.collapsed }
    }
}

/// Excerpts of earlier prompts. They are not laid out again, but may stay where they were kept, and are updated.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Lingering {
    /// Their current texts.
    pub pieces: Vec<Piece>,
    /// Maximum tokens of them before they count as ballast.
    pub allowance: usize,
}

impl Lingering {
    /// Tokens of those still worth keeping.
    pub(crate) fn tokens(&self) -> usize {
        self.pieces.iter().map(|piece| piece.tokens).sum::<usize>().min(self.allowance)
    }
}

/// Everything that one prompt may hold.
#[derive(Clone)]
pub struct Content<'a> {
    /// The system prompt; not sent when empty.
    pub system: Arc<str>,
    /// The map blocks to show, in the order of their membership.
    pub map: Vec<Piece>,
    /// Members of the map whose block is hidden: their full text is shown, or they do not fit.
    pub hidden: BTreeMap<FileKey, ContentHash>,
    /// The fenced texts of the selected files, in key order, then those of excerpts.
    pub files: Vec<Piece>,
    /// Excerpts that no question is about any more.
    pub lingering: Lingering,
    /// Web pages.
    pub urls: Vec<Piece>,
    /// The repository file list.
    pub tree: Tree,
    /// The conversation, oldest first; never ends between a tool call and its result unless the request
    /// brings that result.
    pub history: Vec<SentMessage>,
    /// The new prompt or the new tool results. Empty when only the rest is to be weighed.
    pub request: Vec<WeighedBlock>,
    /// Volatile facts after everything that may be cached; omitted if empty.
    pub session_state: Arc<str>,
    /// Names relevant to the request, next to the session state; omitted if empty.
    pub context_frame: Arc<str>,
    /// Whether the user trusts the workspace that the texts come from.
    pub trust: Trust,
    /// Files that must not be mentioned.
    pub excluded: &'a BTreeSet<FileKey>,
    /// Seeds from the reference graph for the files of the map.
    pub seeds: &'a Seeds,
    /// Tokens that a content block costs beyond its text.
    pub framing: usize,
    /// Counts combined texts.
    pub count: Count<'a>,
}

impl<'a> Content<'a> {
    /// Empty content, to be filled in.
    pub fn empty(seeds: &'a Seeds, excluded: &'a BTreeSet<FileKey>, count: Count<'a>) -> Self {
        Self {
            system: Arc::default(),
            map: Vec::new(),
            hidden: BTreeMap::new(),
            files: Vec::new(),
            lingering: Lingering::default(),
            urls: Vec::new(),
            tree: Tree::default(),
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

    /// The texts of files: selected ones, then excerpts, lingering ones included.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Piece> {
        self.files.iter().chain(&self.lingering.pieces)
    }

    /// The speaker of workspace context. Untrusted content never appears in the system message.
    pub(crate) fn in_front(&self) -> Speaker {
        match self.trust {
            Trust::Trusted => Speaker::System,
            Trust::Untrusted => Speaker::User,
        }
    }

    /// Content that follows everything cacheable and is not part of the conversation.
    pub(crate) fn volatile(&self) -> impl Iterator<Item = (&str, Part)> {
        let parts = [(&self.session_state, Part::SessionState), (&self.context_frame, Part::ContextFrame)];
        parts.into_iter().filter(|(text, _)| !text.is_empty()).map(|(text, part)| (&**text, part))
    }

    /// Whether there is such a file: it was deselected when its text is not shown, not deleted.
    pub(crate) fn is_known(&self, path: &FileKey) -> bool {
        self.hidden.contains_key(path)
            || self.tree.files.binary_search(path).is_ok()
            || self.tree.outlined.binary_search(path).is_ok()
    }
}
