//! Random work in editors and on the disk against a model of what an agent must see.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, SystemTime};

use e2e::{Editor, Repo, Rng, Shell, is_long};
use serde_json::Value;

use super::{editor, read, save, settle};

const FILES: [&str; 3] = ["a.txt", "b.py", "c/d.rs"];
/// Steps of a run, and of a long run, which the environment variable `STRATA_LONG` asks for.
const STEPS: [usize; 2] = [600, 2_000];

/// A file: its text on disk, and its text in the editor if it is open there.
#[derive(Default)]
struct Model {
    disk: String,
    buffer: Option<Buffer>,
    /// The text that the agent saw last.
    seen: Option<String>,
}

struct Buffer {
    text: String,
    is_edited: bool,
}

impl Model {
    /// The text that an agent must see.
    fn text(&self) -> &str {
        match &self.buffer {
            Some(buffer) if buffer.is_edited => &buffer.text,
            _ => &self.disk,
        }
    }
}

#[expect(clippy::print_stdout, reason = "the run says how much it compared")]
#[test]
fn no_agent_sees_a_stale_text_without_a_note() {
    let repo = Repo::new("\n//- a.txt\none\n//- b.py\ntwo\n//- c/d.rs\nthree\n");
    let shell = Shell::new(&repo);
    let mut files: BTreeMap<&str, Model> =
        FILES.iter().map(|name| (*name, Model { disk: repo.read(name), ..Model::default() })).collect();
    let mut rng = Rng::new(47);
    let mut agent = shell.agent();
    let mut running: Option<Editor> = None;
    let mut clock = SystemTime::now();
    let (mut reads, mut notes) = (0, 0);
    let steps = STEPS[usize::from(is_long())];
    for step in 0..steps {
        let name = rng.one_of(&FILES);
        let file = files.get_mut(name).unwrap();
        match (rng.below(10), &mut running) {
            (0, None) => running = Some(editor(&repo, &shell)),
            (0, Some(_)) if rng.once_in(4) => {
                let mut gone = running.take().unwrap();
                gone.server.kill();
                gone.abandon();
                files.values_mut().for_each(|file| file.buffer = None);
            }
            (1, Some(editor)) if file.buffer.is_none() => {
                editor.open(name);
                settle(editor);
                file.buffer = Some(Buffer { text: file.disk.clone(), is_edited: false });
            }
            (2, Some(editor)) if file.buffer.is_some() && rng.once_in(3) => {
                editor.close(name);
                settle(editor);
                file.buffer = None;
            }
            (3, Some(editor)) if file.buffer.is_some() => {
                save(editor, &repo, name);
                let buffer = file.buffer.as_mut().unwrap();
                buffer.is_edited = false;
                file.disk.clone_from(&buffer.text);
            }
            (4, _) => {
                // A moment later each time, however fast the test runs.
                clock = clock.max(SystemTime::now()) + Duration::from_millis(50);
                file.disk = format!("disk {step}\n");
                repo.write(name, &file.disk);
                let written = fs::File::options().write(true).open(repo.path(name)).unwrap();
                written.set_modified(clock).unwrap();
                while SystemTime::now() < clock {
                    std::thread::yield_now();
                }
            }
            (5 | 6, Some(editor)) => {
                if let Some(buffer) = &mut file.buffer {
                    let undo = buffer.is_edited && rng.once_in(3);
                    let text =
                        if undo { file.disk.clone() } else { format!("{}typed {step}\n", buffer.text) };
                    editor.change(name, |document| vec![document.replace_all(&text)]);
                    settle(editor);
                    *buffer = Buffer { text, is_edited: true };
                }
            }
            _ => {
                let reply = read(&mut agent, name);
                reads += 1;
                let expected = file.text().to_owned();
                assert_eq!(reply["text"], expected, "step {step}: {reply}");
                let is_unsaved = expected != file.disk;
                assert_eq!(reply["source"] == "buffer", is_unsaved, "step {step}: {reply}");
                assert_eq!(named(&reply, "unsaved").contains(&name), is_unsaved, "step {step}: {reply}");
                let changed = named(&reply, "changed");
                notes += changed.len();
                for (other, known) in &mut files {
                    let now = known.text().to_owned();
                    if known.seen.as_ref().is_some_and(|seen| *seen != now) {
                        assert!(changed.contains(other), "step {step}: {other} is stale: {reply}");
                        known.seen = Some(now);
                    }
                }
                files.get_mut(name).unwrap().seen = Some(expected);
            }
        }
    }
    assert!(reads > steps / 10 && notes > steps / 20, "{reads} reads, {notes} notes");
    println!("{steps} steps, {reads} reads, {notes} notes of changes, no stale text without a note");
    agent.end();
}

/// Returns the files in a part of a reply's notes.
fn named<'a>(reply: &'a Value, part: &str) -> Vec<&'a str> {
    let files = reply["freshness"][part].as_array().into_iter().flatten();
    files.map(|file| file.as_str().or(file["path"].as_str()).unwrap_or_default()).collect()
}
