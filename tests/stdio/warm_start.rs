//! The second start: what was outlined once is not outlined again, whatever happened to the process that did it.

use std::fs::{self, File};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use e2e::{Editor, LIMIT, Repo, Setup};
use serde_json::{Value, json};

const FILES: usize = 200;

/// Files that no one has touched for an hour: what changed just now is read again in any case.
fn many() -> Repo {
    let repo = Repo::new("");
    for n in 0..FILES {
        repo.write(&path(n), text(n));
        settle(&repo, &path(n));
    }
    repo
}

fn path(n: usize) -> String {
    format!("part_{}/module_{n}.py", n % 7)
}

fn text(n: usize) -> String {
    format!("from part_1 import module_{n}\n\nclass Class{n}:\n    def method_{n}(self): ...\n")
}

fn settle(repo: &Repo, path: &str) {
    let hour_ago = SystemTime::now() - Duration::from_secs(3_600);
    File::options().write(true).open(repo.path(path)).unwrap().set_modified(hour_ago).unwrap();
}

fn start(repo: &Repo, state: &Path) -> Editor {
    Setup::new(repo).state(state).start()
}

/// What the server has read and parsed, and the whole map.
fn found(editor: &mut Editor) -> (u64, u64, Value) {
    let efforts = editor.run("server.status", json!({}))["efforts"].take();
    let map = editor.run("symbols.map", json!({ "budget": 100_000 }));
    (efforts["read"].as_u64().unwrap(), efforts["parsed"].as_u64().unwrap(), map)
}

/// Starts servers until one has nothing to parse: what is kept is written when no one waits for it.
fn start_warm(repo: &Repo, state: &Path) -> Editor {
    let start_time = Instant::now();
    loop {
        let mut editor = start(repo, state);
        if found(&mut editor).1 == 0 {
            return editor;
        }
        assert!(start_time.elapsed() < LIMIT, "nothing is ever kept");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_second_start_parses_what_changed_and_nothing_else() {
    let (repo, state) = (many(), tempfile::tempdir().unwrap());
    let mut cold = start(&repo, state.path());
    let (read, parsed, map) = found(&mut cold);
    assert_eq!((read, parsed), (200, 200));
    assert!(map.to_string().contains("class Class199"), "{map}");
    drop(cold);

    drop(start_warm(&repo, state.path()));
    let mut warm = start(&repo, state.path());
    assert_eq!(found(&mut warm), (0, 0, map));
    drop(warm);

    repo.write(&path(3), "class Changed: ...\n");
    // The same text at another time, and under another name.
    repo.write(&path(4), text(4));
    repo.rename(&path(5), "part_1/renamed.py");
    fs::remove_file(repo.path(&path(6))).unwrap();
    let mut changed = start(&repo, state.path());
    let (read, parsed, map) = found(&mut changed);
    assert_eq!((read, parsed), (3, 1));
    let map = map.to_string();
    assert!(
        map.contains("class Changed") && map.contains("part_1/renamed.py") && !map.contains("Class6\\n"),
        "{map}"
    );
}

#[test]
fn two_servers_on_one_cache_know_the_same() {
    let (repo, state) = (many(), tempfile::tempdir().unwrap());
    let setup = Setup::new(&repo).state(state.path());
    let mut both = [setup.start_without_waiting(), setup.start_without_waiting()];
    let maps = both.each_mut().map(|editor| {
        editor.wait_until_indexed();
        found(editor).2
    });
    assert_eq!(maps[0], maps[1]);
    assert_eq!(found(&mut start_warm(&repo, state.path())).2, maps[0]);
}

#[test]
fn a_server_that_is_killed_while_it_writes_leaves_nothing_wrong() {
    let (repo, state) = (many(), tempfile::tempdir().unwrap());
    let map = found(&mut Editor::start(&repo)).2;
    for pause in [0, 1, 2, 4, 8, 16, 32] {
        let mut editor = start(&repo, state.path());
        assert_eq!(found(&mut editor).2, map);
        // New texts, so that there is something to write.
        for n in 0..FILES {
            repo.write(&path(n), format!("{}\n# {pause}\n", text(n)));
        }
        editor.run("server.reindex", json!({}));
        thread::sleep(Duration::from_millis(pause));
        editor.abandon();
        editor.server.kill();
    }
    assert_eq!(found(&mut start_warm(&repo, state.path())).2, map);
}

#[test]
fn a_broken_or_impossible_cache_does_no_harm() {
    let repo = many();
    let map = found(&mut Editor::start(&repo)).2;
    for damage in 0..4 {
        let state = tempfile::tempdir().unwrap();
        drop(start(&repo, state.path()));
        drop(start_warm(&repo, state.path()));
        let database = state.path().join("cache/outlines/outlines-1.db");
        let mut bytes = fs::read(&database).unwrap();
        match damage {
            0 => bytes.truncate(bytes.len() / 2),
            1 => bytes = b"garbage".repeat(10_000),
            2 => bytes[4_096..].fill(0xff),
            _ => bytes[200..].iter_mut().step_by(997).for_each(|byte| *byte ^= 1),
        }
        fs::write(&database, bytes).unwrap();
        assert_eq!(found(&mut start(&repo, state.path())).2, map, "damage {damage}");
        assert_eq!(found(&mut start_warm(&repo, state.path())).2, map, "damage {damage}");
    }
    let state = tempfile::tempdir().unwrap();
    fs::write(state.path().join("cache"), "a file").unwrap();
    for _ in 0..2 {
        assert_eq!(found(&mut start(&repo, state.path())), (200, 200, map.clone()));
    }
}
