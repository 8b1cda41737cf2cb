//! The files of one run: on disk, in the editor, and what the server was told of them. Links lead to each file, so an
//! editor may open it under several paths.

use std::fs;

use e2e::{Editor, Repo, Rng, Unit};
use serde_json::json;

use super::message::{Damage, notification, spelled};
use super::text::{HALVES, Text};

/// Names of files as users choose them.
const NAMES: &[&str] = &[
    "a.ts",
    "[id].ts",
    "[[...slug]].ts",
    "b c.ts",
    "é.ts",
    "日本.ts",
    "x{y}^.ts",
    "q#1.ts",
    "p%41.ts",
    "+page@(a)!$&'=,;~.ts",
    #[cfg(unix)]
    "w?.ts",
    #[cfg(unix)]
    "p|q\"<>.ts",
];

/// The paths that lead to a file: its own, one through a link to its folder, and a link to the file.
const PATHS: usize = if cfg!(unix) { 3 } else { 1 };

/// One run: a folder with a few selected files.
pub(super) struct Scene<'e> {
    pub(super) rng: Rng,
    /// What happened so far.
    pub(super) log: Vec<String>,
    editor: &'e mut Editor,
    repo: &'e Repo,
    unit: Unit,
    folder: String,
    files: Vec<File>,
    /// Number of edits so far.
    edits: usize,
    /// Number of renamed files so far.
    renames: usize,
    /// Whether the link to the folder leads to the folder, and not to another one.
    link_leads_here: bool,
}

/// A file, as its user sees it.
struct File {
    /// Its own path.
    key: String,
    /// `None` if the file does not exist.
    disk: Option<Text>,
    /// The buffers, by the paths under which they are open.
    buffers: [Option<OpenBuffer>; PATHS],
    /// For each path, whether a message was lost since the server last heard the whole text, so that a warning is
    /// allowed.
    is_doubtful: [bool; PATHS],
    /// Whether the server may not know which buffer was edited last.
    is_order_lost: bool,
}

struct OpenBuffer {
    text: Text,
    version: i32,
    /// Earlier texts.
    undo: Vec<Text>,
    /// When it was edited last. 0 if it was only opened.
    edited_at: usize,
}

/// A document: the number of a file, and that of the path under which it is open.
type Document = (usize, usize);

impl File {
    fn buffer(&mut self, path: usize) -> Option<&mut OpenBuffer> {
        self.buffers[path].as_mut()
    }
}

/// What a prompt shows of the files.
#[derive(Default)]
pub(super) struct Check {
    pub(super) files: usize,
    pub(super) doubted: usize,
    pub(super) errors: Vec<String>,
}

impl<'e> Scene<'e> {
    pub(super) fn new(number: usize, editor: &'e mut Editor, repo: &'e Repo, unit: Unit) -> Self {
        let mut rng = Rng::new(number as u64);
        let folder = format!("run{number}");
        let first = rng.below(NAMES.len());
        let second = (first + 1 + rng.below(NAMES.len() - 1)) % NAMES.len();
        let files = [first, second].map(|name| {
            let text = Text::random(&mut rng);
            let key = format!("{folder}/{}", NAMES[name]);
            repo.write(&key, String::from_utf16_lossy(&text.0));
            let buffers = [const { None }; PATHS];
            let is_doubtful = [false; PATHS];
            File { key, disk: Some(text), buffers, is_doubtful, is_order_lost: false }
        });
        editor.select(&[&files[0].key, &files[1].key]);
        let mut scene = Self {
            rng,
            log: Vec::new(),
            editor,
            repo,
            unit,
            folder,
            files: files.into_iter().collect(),
            edits: 0,
            renames: 0,
            link_leads_here: true,
        };
        scene.lead_link_to(&scene.folder.clone());
        for file in 0..scene.files.len() {
            scene.link_file(file);
        }
        scene.mention_all();
        scene.log.extend(scene.files.iter().map(|file| format!("{}: {:?}", file.key, file.disk)));
        scene
    }

    /// Opens and closes all documents. Losses of earlier runs may have been about them.
    fn mention_all(&mut self) {
        for document in self.documents() {
            self.tell_opened(document);
            self.tell_closed(document);
        }
    }

    fn documents(&self) -> Vec<Document> {
        (0..self.files.len()).flat_map(|file| (0..PATHS).map(move |path| (file, path))).collect()
    }

    /// Closes and removes the files.
    pub(super) fn end(mut self) {
        self.mention_all();
        let keys: Vec<&str> = self.files.iter().map(|file| file.key.as_str()).collect();
        self.editor.run("files.deselect", json!({ "paths": keys }));
        self.repo.remove_folder(&self.folder);
        if PATHS > 1 {
            fs::remove_file(self.repo.path(&self.folder_link())).unwrap();
            let _ = fs::remove_dir_all(self.repo.path(&format!("other-{}", self.folder)));
            for file in 0..self.files.len() {
                fs::remove_file(self.repo.path(&self.path((file, 2)))).unwrap();
            }
        }
    }

    fn folder_link(&self) -> String {
        format!("link-{}", self.folder)
    }

    /// Returns a path that leads to a file, below the root.
    fn path(&self, (file, path): Document) -> String {
        let key = &self.files[file].key;
        match path {
            0 => key.clone(),
            1 => format!("link-{key}"),
            _ => format!("{}-{file}.ts", self.folder_link()),
        }
    }

    /// Whether a path leads to its file at the moment.
    fn leads_here(&self, path: usize) -> bool {
        path != 1 || self.link_leads_here
    }

    #[cfg(unix)]
    fn lead_link_to(&self, folder: &str) {
        let link = self.repo.path(&self.folder_link());
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(folder, link).unwrap();
    }

    #[cfg(not(unix))]
    fn lead_link_to(&self, _: &str) {}

    /// Makes the link to a file lead to where the file is now.
    #[cfg(unix)]
    fn link_file(&self, file: usize) {
        let link = self.repo.path(&self.path((file, 2)));
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(&self.files[file].key, link).unwrap();
    }

    #[cfg(not(unix))]
    fn link_file(&self, _: usize) {}

    /// Compares a prompt with what the user sees.
    pub(super) fn check(&mut self) -> Check {
        let prompt = self.editor.assemble();
        let mut check = Check::default();
        for file in &self.files {
            let is_warned = prompt.warnings().iter().any(|(_, path)| *path == file.key);
            let mut open: Vec<&OpenBuffer> = (0..PATHS)
                .filter(|path| self.leads_here(*path))
                .filter_map(|path| file.buffers[path].as_ref())
                .collect();
            open.sort_by_key(|buffer| buffer.edited_at);
            let seen = open.last().map(|buffer| &buffer.text).or(file.disk.as_ref());
            let is_seen_alike = open.iter().all(|buffer| Some(buffer.text.shown()) == seen.map(Text::shown));
            // Two buffers that differ in their last line end look alike, but a warning about them is true.
            let is_same = is_seen_alike && open.iter().all(|buffer| Some(&buffer.text) == seen);
            let is_order_known = !file.is_order_lost && open.last().is_none_or(|last| last.edited_at > 0);
            let is_doubtful = file.is_doubtful.contains(&true);
            let shown = prompt.full_text(&file.key);
            let is_shown = seen.map(Text::shown) == shown;
            check.files += 1;
            check.doubted += usize::from(is_warned);
            let is_missing = seen.is_none();
            if is_missing && !is_warned {
                check.errors.push(format!("no warning: {} does not exist", file.key));
            } else if !(is_warned || is_shown && is_seen_alike) {
                check.errors.push(format!("silent: {}\nuser   {seen:?}\nprompt {shown:?}", file.key));
            } else if is_warned && !is_doubtful && is_same && !is_missing {
                check.errors.push(format!("needless warning: {}: {}", file.key, prompt.0["warnings"]));
            } else if !is_shown && !is_doubtful && (is_seen_alike || is_order_known) && !is_missing {
                check.errors.push(format!("wrong: {}\nuser   {seen:?}\nprompt {shown:?}", file.key));
            }
        }
        check
    }

    /// A document that is open, or closed. Those that the file's own path names are more likely.
    fn one(&mut self, is_open: bool) -> Option<Document> {
        let mut documents = self.documents();
        documents.retain(|(file, path)| self.files[*file].buffers[*path].is_some() == is_open);
        // The other folder has files of its own.
        documents.retain(|(_, path)| is_open || self.leads_here(*path));
        let own: Vec<Document> = documents.iter().copied().filter(|(_, path)| *path == 0).collect();
        let some = if !own.is_empty() && !self.rng.once_in(3) { own } else { documents };
        (!some.is_empty()).then(|| self.rng.one_of(&some))
    }

    fn address(&mut self, document: Document) -> String {
        let path = self.repo.path(&self.path(document));
        spelled(&mut self.rng, &path)
    }

    fn edited(&mut self, (file, path): Document) {
        self.edits += 1;
        let edited_at = self.edits;
        self.files[file].is_order_lost &= !self.leads_here(path);
        if let Some(buffer) = self.files[file].buffer(path) {
            buffer.edited_at = edited_at;
        }
    }

    fn tell(&mut self, message: &str) {
        self.log.push(format!("  {message}"));
        self.editor.server.send_body(message.as_bytes());
    }

    /// Loses a message about a document, and with it what the server knows of it, or of all if it cannot be seen which
    /// it was. `None` for a message about none.
    fn lose(&mut self, message: &str, document: Option<Document>) {
        let damage = Damage::any(&mut self.rng);
        self.log.push(format!("  lost ({damage:?}): {message}"));
        let bytes = damage.apply(message, &mut self.rng);
        self.editor.server.send_bytes(&bytes);
        for (number, file) in self.files.iter_mut().enumerate() {
            for path in 0..PATHS {
                if !damage.keeps_document() || document == Some((number, path)) {
                    file.is_doubtful[path] = true;
                    file.is_order_lost = true;
                }
            }
        }
    }

    fn opening(&mut self, document: Document) -> String {
        let uri = self.address(document);
        let File { disk, buffers, .. } = &self.files[document.0];
        let buffer = buffers[document.1].as_ref();
        let text = buffer.map(|buffer| &buffer.text).or(disk.as_ref()).cloned().unwrap_or_default();
        let version = buffer.map_or(1, |buffer| buffer.version);
        let item = format!(
            r#"{{"uri":{uri},"languageId":"typescript","version":{version},"text":{}}}"#,
            text.json()
        );
        notification("textDocument/didOpen", &format!(r#"{{"textDocument":{item}}}"#))
    }

    fn closing(&mut self, document: Document) -> String {
        let params = format!(r#"{{"textDocument":{{"uri":{}}}}}"#, self.address(document));
        notification("textDocument/didClose", &params)
    }

    fn tell_opened(&mut self, document: Document) {
        let message = self.opening(document);
        self.tell(&message);
        let (file, path) = document;
        let halves = |buffer: &OpenBuffer| !buffer.text.is_whole();
        self.files[file].is_doubtful[path] = self.files[file].buffers[path].as_ref().is_some_and(halves);
    }

    fn tell_closed(&mut self, document: Document) {
        let message = self.closing(document);
        self.tell(&message);
        self.files[document.0].is_doubtful[document.1] = false;
    }

    /// Opens a document with this text in the editor, of which the server hears later.
    fn show(&mut self, (file, path): Document, text: Text) {
        self.files[file].buffers[path] =
            Some(OpenBuffer { text, version: 1, undo: Vec::new(), edited_at: 0 });
    }

    pub(super) fn open(&mut self) {
        let Some(document) = self.one(false) else { return };
        let Some(text) = self.files[document.0].disk.clone() else { return };
        self.show(document, text);
        self.tell_opened(document);
    }

    pub(super) fn open_unsaved(&mut self) {
        let Some(document) = self.one(false) else { return };
        let text = Text::random(&mut self.rng);
        self.show(document, text);
        self.tell_opened(document);
    }

    /// One random edit of an open document. Returns its change event.
    fn typed(&mut self, (file, path): Document, text: &Text) -> String {
        self.edited((file, path));
        let Some(buffer) = self.files[file].buffers[path].as_mut() else { return String::new() };
        let start = buffer.text.place(&mut self.rng, 0);
        let end = if self.rng.once_in(3) { buffer.text.place(&mut self.rng, start) } else { start };
        let range = format!(
            r#"{{"start":{},"end":{}}}"#,
            buffer.text.position(start, self.unit),
            buffer.text.position(end, self.unit)
        );
        let length = match self.rng.below(3) {
            0 => format!(r#","rangeLength":{}"#, end - start),
            _ => String::new(),
        };
        buffer.undo.push(buffer.text.clone());
        buffer.text.replace(start..end, text);
        format!(r#"{{"range":{range}{length},"text":{}}}"#, text.json())
    }

    fn change_message(&mut self, document: Document, changes: &[String]) -> String {
        let uri = self.address(document);
        let Some(buffer) = self.files[document.0].buffers[document.1].as_mut() else { return String::new() };
        if !changes.is_empty() {
            buffer.version += self.rng.one_of(&[1, 1, 1, 5]);
        }
        let params = format!(
            r#"{{"textDocument":{{"uri":{uri},"version":{}}},"contentChanges":[{}]}}"#,
            buffer.version,
            changes.join(",")
        );
        notification("textDocument/didChange", &params)
    }

    fn edit_times(&mut self, times: usize) {
        let Some(document) = self.one(true) else { return };
        let changes: Vec<String> = (0..times)
            .map(|_| {
                let text = Text::random(&mut self.rng);
                self.typed(document, &text)
            })
            .collect();
        let message = self.change_message(document, &changes);
        self.tell(&message);
    }

    pub(super) fn edit(&mut self) {
        self.edit_times(1);
    }

    pub(super) fn edit_in_batch(&mut self) {
        let times = 2 + self.rng.below(3);
        self.edit_times(times);
    }

    pub(super) fn edit_half(&mut self) {
        let Some(document) = self.one(true) else { return };
        let half = Text(vec![self.rng.one_of(&HALVES)]);
        let change = self.typed(document, &half);
        let message = self.change_message(document, &[change]);
        self.tell(&message);
        self.files[document.0].is_doubtful[document.1] = true;
    }

    pub(super) fn replace_all(&mut self) {
        let Some((file, path)) = self.one(true) else { return };
        let text = Text::random(&mut self.rng);
        let change = format!(r#"{{"text":{}}}"#, text.json());
        if let Some(buffer) = self.files[file].buffer(path) {
            buffer.undo.push(std::mem::replace(&mut buffer.text, text));
        }
        self.edited((file, path));
        let message = self.change_message((file, path), &[change]);
        self.tell(&message);
        self.files[file].is_doubtful[path] = false;
    }

    /// Tells the server of a change that is none, with the last version or with one that the next change repeats.
    pub(super) fn change_nothing(&mut self) {
        let Some((file, path)) = self.one(true) else { return };
        let is_new = self.rng.once_in(2);
        if let Some(buffer) = self.files[file].buffer(path).filter(|_| is_new) {
            buffer.version += 1;
        }
        let message = self.change_message((file, path), &[]);
        self.tell(&message);
        if let Some(buffer) = self.files[file].buffer(path).filter(|_| is_new) {
            buffer.version -= 1;
        }
        // The next change has this version or a higher one, unless it skips one.
    }

    pub(super) fn undo(&mut self) {
        let Some((file, path)) = self.one(true) else { return };
        let Some(buffer) = self.files[file].buffers[path].as_mut() else { return };
        let Some(before) = buffer.undo.pop() else { return };
        let start = buffer.text.position(0, self.unit);
        let end = buffer.text.position(buffer.text.0.len(), self.unit);
        let text = before.json();
        buffer.text = before;
        let change = format!(r#"{{"range":{{"start":{start},"end":{end}}},"text":{text}}}"#);
        self.edited((file, path));
        let message = self.change_message((file, path), &[change]);
        self.tell(&message);
    }

    fn write_to_disk(&mut self, file: usize, text: Text) {
        self.repo.write(&self.files[file].key, String::from_utf16_lossy(&text.0));
        self.files[file].disk = Some(Text::new(&String::from_utf16_lossy(&text.0)));
    }

    fn saving(&mut self, document: Document, text: Option<&Text>) -> String {
        let uri = self.address(document);
        let text = text.map_or_else(String::new, |text| format!(r#","text":{}"#, text.json()));
        notification("textDocument/didSave", &format!(r#"{{"textDocument":{{"uri":{uri}}}{text}}}"#))
    }

    /// A document that can be saved, and its text.
    fn one_to_save(&mut self) -> Option<(Document, Text)> {
        let (file, path) = self.one(true)?;
        let text = self.files[file].buffer(path)?.text.clone();
        self.leads_here(path).then_some(((file, path), text))
    }

    pub(super) fn save(&mut self) {
        let Some(((file, path), text)) = self.one_to_save() else { return };
        self.write_to_disk(file, text.clone());
        let with_text = self.rng.once_in(2);
        let message = self.saving((file, path), with_text.then_some(&text));
        self.tell(&message);
        if with_text && text.is_whole() {
            // The server takes the text as an edit if it did not know it.
            self.files[file].is_order_lost |= self.files[file].is_doubtful[path];
            self.files[file].is_doubtful[path] = false;
        }
    }

    pub(super) fn close(&mut self) {
        let Some((file, path)) = self.one(true) else { return };
        self.files[file].buffers[path] = None;
        self.tell_closed((file, path));
    }

    pub(super) fn lose_opening(&mut self) {
        let Some(document) = self.one(false) else { return };
        let text = Text::random(&mut self.rng);
        self.show(document, text);
        let message = self.opening(document);
        self.lose(&message, Some(document));
    }

    pub(super) fn lose_change(&mut self) {
        let Some(document) = self.one(true) else { return };
        let text = Text::random(&mut self.rng);
        let change = self.typed(document, &text);
        let message = self.change_message(document, &[change]);
        self.lose(&message, Some(document));
    }

    pub(super) fn lose_save(&mut self) {
        let Some((document, text)) = self.one_to_save() else { return };
        self.write_to_disk(document.0, text.clone());
        let message = self.saving(document, Some(&text));
        // The text on disk is read when it is needed.
        self.lose(&message, None);
    }

    pub(super) fn lose_closing(&mut self) {
        let Some((file, path)) = self.one(true) else { return };
        self.files[file].buffers[path] = None;
        let message = self.closing((file, path));
        self.lose(&message, Some((file, path)));
    }

    /// Renames a file on disk, with the documents that its own path names, as editors do.
    pub(super) fn rename_on_disk(&mut self) {
        let file = self.rng.below(self.files.len());
        if self.files[file].disk.is_none() || !self.link_leads_here {
            return;
        }
        let was_reported_first = self.rng.once_in(2);
        let old: Vec<String> = (0..PATHS).map(|path| self.address((file, path))).collect();
        let closings: Vec<String> = (0..2.min(PATHS)).map(|path| self.closing((file, path))).collect();
        self.renames += 1;
        let (folder, name) = self.files[file].key.split_once('/').unwrap();
        let renamed =
            format!("{folder}/{}-{}", self.renames, name.rsplit_once('-').map_or(name, |(_, name)| name));
        self.repo.rename(&self.files[file].key, &renamed);
        self.files[file].key = renamed;
        self.link_file(file);
        let new = self.address((file, 0));
        let pair = format!(r#"{{"oldUri":{},"newUri":{new}}}"#, old[0]);
        let report = notification("workspace/didRenameFiles", &format!(r#"{{"files":[{pair}]}}"#));
        if was_reported_first {
            self.tell(&report);
        }
        for (path, closing) in closings.iter().enumerate() {
            self.tell(closing);
            // Losses of the past may have been about any name.
            self.files[file].is_doubtful[path] = true;
            if self.files[file].buffers[path].is_some() {
                self.tell_opened((file, path));
            }
        }
        self.files[file].is_order_lost = true;
        if !was_reported_first {
            self.tell(&report);
        }
    }

    /// Makes the link to the folder lead to another folder, or back.
    pub(super) fn turn_link(&mut self) {
        if PATHS == 1 {
            return;
        }
        let elsewhere = format!("other-{}", self.folder);
        fs::create_dir_all(self.repo.path(&elsewhere)).unwrap();
        self.link_leads_here = !self.link_leads_here;
        let target = if self.link_leads_here { self.folder.clone() } else { elsewhere };
        self.lead_link_to(&target);
        let link = self.repo.path(&self.folder_link());
        let uri = spelled(&mut self.rng, &link);
        let change = format!(r#"{{"changes":[{{"uri":{uri},"type":2}}]}}"#);
        self.tell(&notification("workspace/didChangeWatchedFiles", &change));
    }

    pub(super) fn change_on_disk(&mut self) {
        let file = self.rng.below(self.files.len());
        let text = Text::random(&mut self.rng);
        self.write_to_disk(file, text);
    }

    pub(super) fn delete_on_disk(&mut self) {
        let file = self.rng.below(self.files.len());
        if self.files[file].disk.take().is_some() {
            fs::remove_file(self.repo.path(&self.files[file].key)).unwrap();
        }
    }

    fn report(&mut self) -> String {
        let uris: Vec<String> = (0..self.files.len()).map(|file| self.address((file, 0))).collect();
        let mut items: Vec<String> = uris.iter().map(|uri| format!(r#"{{"uri":{uri},"type":2}}"#)).collect();
        if self.rng.once_in(2) {
            items.insert(
                self.rng.below(3),
                self.rng.one_of(&["7", r#"{"uri":""}"#, r#"{"type":1}"#]).to_owned(),
            );
        }
        notification("workspace/didChangeWatchedFiles", &format!(r#"{{"changes":[{}]}}"#, items.join(",")))
    }

    pub(super) fn report_files(&mut self) {
        let message = self.report();
        self.tell(&message);
    }

    pub(super) fn lose_report(&mut self) {
        let message = self.report();
        self.lose(&message, None);
    }

    pub(super) fn refuse_request(&mut self) {
        let body = b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"textDocument/hover\",\"params\":{}}";
        self.editor.server.send_body(body);
    }
}
