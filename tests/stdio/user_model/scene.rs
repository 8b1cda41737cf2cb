//! The files of one run: on disk, in the editor, and what the server was told of them.

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
}

/// A file, as its user sees it.
struct File {
    key: String,
    /// `None` if the file does not exist.
    disk: Option<Text>,
    buffer: Option<OpenBuffer>,
    /// Whether a message was lost since the server last heard the whole text, so that a warning is allowed.
    is_doubtful: bool,
}

struct OpenBuffer {
    text: Text,
    version: i32,
    /// Earlier texts.
    undo: Vec<Text>,
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
            File { key, disk: Some(text), buffer: None, is_doubtful: false }
        });
        editor.select(&[&files[0].key, &files[1].key]);
        let mut scene =
            Self { rng, log: Vec::new(), editor, repo, unit, folder, files: files.into_iter().collect() };
        // Losses of earlier runs may have been about these files, of which the server hears now.
        for file in 0..scene.files.len() {
            scene.tell_opened(file);
            scene.tell_closed(file);
        }
        scene.log.extend(scene.files.iter().map(|file| format!("{}: {:?}", file.key, file.disk)));
        scene
    }

    /// Closes and removes the files.
    pub(super) fn end(mut self) {
        for file in 0..self.files.len() {
            self.tell_opened(file);
            self.tell_closed(file);
        }
        let keys: Vec<&str> = self.files.iter().map(|file| file.key.as_str()).collect();
        self.editor.run("files.deselect", json!({ "paths": keys }));
        fs::remove_dir_all(self.repo.path(&self.folder)).unwrap();
    }

    /// Compares a prompt with what the user sees.
    pub(super) fn check(&mut self) -> Check {
        let prompt = self.editor.assemble();
        let mut check = Check::default();
        for file in &self.files {
            let is_warned = prompt.warnings().iter().any(|(_, path)| *path == file.key);
            let seen = file.buffer.as_ref().map(|buffer| &buffer.text).or(file.disk.as_ref());
            let shown = prompt.full_text(&file.key);
            let is_shown = seen.map(Text::shown) == shown;
            check.files += 1;
            check.doubted += usize::from(is_warned);
            let is_missing = seen.is_none();
            if is_missing && !is_warned {
                check.errors.push(format!("no warning: {} does not exist", file.key));
            } else if !is_shown && !is_warned {
                check.errors.push(format!("silent: {}\nuser   {seen:?}\nprompt {shown:?}", file.key));
            } else if is_warned && !file.is_doubtful && !is_missing {
                check.errors.push(format!("needless warning: {}: {}", file.key, prompt.0["warnings"]));
            } else if !is_shown && !file.is_doubtful && !is_missing {
                check.errors.push(format!("wrong: {}\nuser   {seen:?}\nprompt {shown:?}", file.key));
            }
        }
        check
    }

    /// The number of a file whose document is open, or closed.
    fn one(&mut self, is_open: bool) -> Option<usize> {
        let fits = |file: &File| file.buffer.is_some() == is_open;
        let numbers: Vec<usize> = (0..self.files.len()).filter(|number| fits(&self.files[*number])).collect();
        (!numbers.is_empty()).then(|| self.rng.one_of(&numbers))
    }

    fn address(&mut self, file: usize) -> String {
        spelled(&mut self.rng, &self.repo.path(&self.files[file].key))
    }

    fn tell(&mut self, message: &str) {
        self.log.push(format!("  {message}"));
        self.editor.server.send_body(message.as_bytes());
    }

    /// Loses a message about documents, and with it what the server knows of them, or of all if it cannot be seen which
    /// they were.
    fn lose(&mut self, message: &str, documents: &[usize]) {
        let damage = Damage::any(&mut self.rng);
        self.log.push(format!("  lost ({damage:?}): {message}"));
        let bytes = damage.apply(message, &mut self.rng);
        self.editor.server.send_bytes(&bytes);
        for (number, file) in self.files.iter_mut().enumerate() {
            file.is_doubtful |= !damage.keeps_document() || documents.contains(&number);
        }
    }

    fn opening(&mut self, file: usize) -> String {
        let uri = self.address(file);
        let File { disk, buffer, .. } = &self.files[file];
        let text = buffer.as_ref().map(|buffer| &buffer.text).or(disk.as_ref()).cloned().unwrap_or_default();
        let version = buffer.as_ref().map_or(1, |buffer| buffer.version);
        let item = format!(
            r#"{{"uri":{uri},"languageId":"typescript","version":{version},"text":{}}}"#,
            text.json()
        );
        notification("textDocument/didOpen", &format!(r#"{{"textDocument":{item}}}"#))
    }

    fn closing(&mut self, file: usize) -> String {
        let params = format!(r#"{{"textDocument":{{"uri":{}}}}}"#, self.address(file));
        notification("textDocument/didClose", &params)
    }

    fn tell_opened(&mut self, file: usize) {
        let message = self.opening(file);
        self.tell(&message);
        let halves = |buffer: &OpenBuffer| !buffer.text.is_whole();
        self.files[file].is_doubtful = self.files[file].buffer.as_ref().is_some_and(halves);
    }

    fn tell_closed(&mut self, file: usize) {
        let message = self.closing(file);
        self.tell(&message);
        self.files[file].is_doubtful = false;
    }

    /// Opens a document with this text in the editor, of which the server hears later.
    fn show(&mut self, file: usize, text: Text) {
        self.files[file].buffer = Some(OpenBuffer { text, version: 1, undo: Vec::new() });
    }

    pub(super) fn open(&mut self) {
        let Some(file) = self.one(false) else { return };
        let Some(text) = self.files[file].disk.clone() else { return };
        self.show(file, text);
        self.tell_opened(file);
    }

    pub(super) fn open_unsaved(&mut self) {
        let Some(file) = self.one(false) else { return };
        let text = Text::random(&mut self.rng);
        self.show(file, text);
        self.tell_opened(file);
    }

    /// One random edit of an open document. Returns its change event.
    fn typed(&mut self, file: usize, text: &Text) -> String {
        let Some(buffer) = &mut self.files[file].buffer else { return String::new() };
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

    fn change_message(&mut self, file: usize, changes: &[String]) -> String {
        let uri = self.address(file);
        let Some(buffer) = &mut self.files[file].buffer else { return String::new() };
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
        let Some(file) = self.one(true) else { return };
        let changes: Vec<String> = (0..times)
            .map(|_| {
                let text = Text::random(&mut self.rng);
                self.typed(file, &text)
            })
            .collect();
        let message = self.change_message(file, &changes);
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
        let Some(file) = self.one(true) else { return };
        let half = Text(vec![self.rng.one_of(&HALVES)]);
        let change = self.typed(file, &half);
        let message = self.change_message(file, &[change]);
        self.tell(&message);
        self.files[file].is_doubtful = true;
    }

    pub(super) fn replace_all(&mut self) {
        let Some(file) = self.one(true) else { return };
        let text = Text::random(&mut self.rng);
        let change = format!(r#"{{"text":{}}}"#, text.json());
        if let Some(buffer) = &mut self.files[file].buffer {
            buffer.undo.push(std::mem::replace(&mut buffer.text, text));
        }
        let message = self.change_message(file, &[change]);
        self.tell(&message);
        self.files[file].is_doubtful = false;
    }

    /// Tells the server of a change that is none, with the last version or with one that the next change repeats.
    pub(super) fn change_nothing(&mut self) {
        let Some(file) = self.one(true) else { return };
        let is_new = self.rng.once_in(2);
        if let Some(buffer) = self.files[file].buffer.as_mut().filter(|_| is_new) {
            buffer.version += 1;
        }
        let message = self.change_message(file, &[]);
        self.tell(&message);
        if let Some(buffer) = self.files[file].buffer.as_mut().filter(|_| is_new) {
            buffer.version -= 1;
        }
        // The next change has this version or a higher one, unless it skips one.
    }

    pub(super) fn undo(&mut self) {
        let Some(file) = self.one(true) else { return };
        let Some(buffer) = &mut self.files[file].buffer else { return };
        let Some(before) = buffer.undo.pop() else { return };
        let start = buffer.text.position(0, self.unit);
        let end = buffer.text.position(buffer.text.0.len(), self.unit);
        let text = before.json();
        buffer.text = before;
        let change = format!(r#"{{"range":{{"start":{start},"end":{end}}},"text":{text}}}"#);
        let message = self.change_message(file, &[change]);
        self.tell(&message);
    }

    fn write_to_disk(&mut self, file: usize, text: Text) {
        self.repo.write(&self.files[file].key, String::from_utf16_lossy(&text.0));
        self.files[file].disk = Some(Text::new(&String::from_utf16_lossy(&text.0)));
    }

    fn saving(&mut self, file: usize, text: Option<&Text>) -> String {
        let uri = self.address(file);
        let text = text.map_or_else(String::new, |text| format!(r#","text":{}"#, text.json()));
        notification("textDocument/didSave", &format!(r#"{{"textDocument":{{"uri":{uri}}}{text}}}"#))
    }

    pub(super) fn save(&mut self) {
        let Some(file) = self.one(true) else { return };
        let Some(text) = self.files[file].buffer.as_ref().map(|buffer| buffer.text.clone()) else { return };
        self.write_to_disk(file, text.clone());
        let with_text = self.rng.once_in(2);
        let message = self.saving(file, with_text.then_some(&text));
        self.tell(&message);
        if with_text && text.is_whole() {
            self.files[file].is_doubtful = false;
        }
    }

    pub(super) fn close(&mut self) {
        let Some(file) = self.one(true) else { return };
        self.files[file].buffer = None;
        self.tell_closed(file);
    }

    pub(super) fn lose_opening(&mut self) {
        let Some(file) = self.one(false) else { return };
        let text = Text::random(&mut self.rng);
        self.show(file, text);
        let message = self.opening(file);
        self.lose(&message, &[file]);
    }

    pub(super) fn lose_change(&mut self) {
        let Some(file) = self.one(true) else { return };
        let text = Text::random(&mut self.rng);
        let change = self.typed(file, &text);
        let message = self.change_message(file, &[change]);
        self.lose(&message, &[file]);
    }

    pub(super) fn lose_save(&mut self) {
        let Some(file) = self.one(true) else { return };
        let Some(text) = self.files[file].buffer.as_ref().map(|buffer| buffer.text.clone()) else { return };
        self.write_to_disk(file, text.clone());
        let message = self.saving(file, Some(&text));
        // The text on disk is read when it is needed.
        self.lose(&message, &[]);
    }

    pub(super) fn lose_closing(&mut self) {
        let Some(file) = self.one(true) else { return };
        self.files[file].buffer = None;
        let message = self.closing(file);
        self.lose(&message, &[file]);
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
        let uris: Vec<String> = (0..self.files.len()).map(|file| self.address(file)).collect();
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
        self.lose(&message, &[]);
    }

    pub(super) fn refuse_request(&mut self) {
        let body = b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"textDocument/hover\",\"params\":{}}";
        self.editor.server.send_body(body);
    }
}
