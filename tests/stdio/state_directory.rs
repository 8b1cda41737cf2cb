//! What the server keeps on disk: closed to everybody else, and in order when the disk is full, in the midst of any file.

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use e2e::{LIMIT, Rng, Setup, credentials, is_long};
use serde_json::json;

use super::small;

/// All files below a directory, by their paths in it; fails when anything can be looked into by others, or is neither
/// file nor directory nor the server's socket.
fn closed(state: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut open: Vec<PathBuf> = vec![state.to_owned()];
    while let Some(path) = open.pop() {
        // Logs of SQLite come and go.
        let Ok(metadata) = path.symlink_metadata() else { continue };
        let mode = metadata.permissions().mode() & 0o7777;
        let name = path.strip_prefix(state).unwrap().display().to_string();
        if metadata.is_dir() {
            assert_eq!(mode, 0o700, "{name}/");
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            assert!(metadata.is_file() || metadata.file_type().is_socket(), "{name}");
            assert_eq!(mode, 0o600, "{name}");
            files.push(name);
        }
    }
    files
}

fn secret() -> String {
    let planted = credentials::planted(&mut Rng::new(3), 5);
    planted.secrets[0].clone()
}

#[test]
fn all_files_are_private_even_with_a_permissive_umask() {
    let state = tempfile::tempdir().unwrap();
    for path in ["spill", "workspaces", "cache/preview", "cache/outlines"] {
        fs::create_dir_all(state.path().join(path)).unwrap();
    }
    for path in ["", "spill", "workspaces", "cache", "cache/preview", "cache/outlines"] {
        fs::set_permissions(state.path().join(path), fs::Permissions::from_mode(0o777)).unwrap();
    }
    let repo = small();
    let settings = json!({ "tool_output": { "large_output_threshold": 4_000 } });
    let setup = Setup::new(&repo).settings(settings).state(state.path());
    let mut editor = setup.started_by(&["sh", "-c", "umask 0; exec \"$@\"", "sh"]).start();
    editor.select(&["src/lib.rs"]);
    editor.run("history.addExchange", json!({ "user": secret(), "assistant": "Keep it to yourself." }));
    editor.run("toolOutput.add", json!({ "content": "a line of output\n".repeat(1_000) }));
    editor.run("memory.add", json!({ "text": "a note" }));
    editor.run("here.preview", json!({}));
    editor.run("session.fork", json!({}));
    let wanted = [
        "sessions.db",
        "sessions.db-wal",
        "folder.txt",
        "locks/opening",
        "locks/session-",
        "spill/lock",
        "spill/",
        "placeholder.key",
        "live/",
        "cache/preview/s-",
        "cache/outlines/lock",
        "cache/outlines/outlines-1.db",
    ];
    // The cache is written when no one waits.
    let start = Instant::now();
    let missing = |files: &[String]| {
        wanted
            .into_iter()
            .filter(|wanted| !files.iter().any(|file| file.contains(wanted)))
            .collect::<Vec<_>>()
    };
    while let missing = missing(&closed(state.path()))
        && !missing.is_empty()
    {
        assert!(start.elapsed() < LIMIT, "never written: {missing:?}");
    }
    editor.quit();
    closed(state.path());
}

/// The disk of a running server.
#[cfg(target_os = "linux")]
mod full {
    use e2e::{Editor, Repo};
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
    use serde_json::Value;

    use super::*;

    /// No file of this process can grow beyond this, in bytes; `None` for any size.
    fn limit(editor: &Editor, bytes: Option<u64>) {
        let process = Pid::from_raw(editor.server.process_id().try_into().unwrap());
        let maximum = getrlimit(Resource::Fsize).maximum;
        prlimit(process, Resource::Fsize, Rlimit { current: bytes.or(maximum), maximum }).unwrap();
    }

    fn start(repo: &Repo, state: &Path, options: Value) -> Editor {
        let settings = json!({ "tool_output": { "large_output_threshold": 4_000 } });
        let setup = Setup::new(repo).settings(settings).state(state).options(options);
        // A write beyond the limit is an error then, and not the end.
        setup.started_by(&["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"]).start()
    }

    fn texts(editor: &mut Editor) -> Vec<String> {
        let messages = editor.run("history.get", json!({}));
        let text = |message: &Value| message["content"][0]["text"].as_str().unwrap().to_owned();
        messages["messages"].as_array().unwrap().iter().map(text).collect()
    }

    fn length_of_log(state: &Path) -> u64 {
        let workspaces = fs::read_dir(state.join("workspaces")).unwrap();
        let logs = workspaces.map(|workspace| workspace.unwrap().path().join("sessions.db-wal"));
        logs.filter_map(|log| Some(log.metadata().ok()?.len())).sum()
    }

    fn say(editor: &mut Editor, text: &str) -> Result<(), String> {
        let exchange = json!({ "user": text, "assistant": "said" });
        editor.try_run("history.addExchange", exchange).map(drop).map_err(|refused| refused.message)
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "prints the results of the run")]
    fn a_disk_that_is_full_costs_errors_and_no_message() {
        let state = tempfile::tempdir().unwrap();
        let repo = small();
        let mut editor = start(&repo, state.path(), Value::Null);
        let mut acknowledged: Vec<String> = Vec::new();
        let (mut refused, mut spilled) = (0, 0);
        let output = "a line of output\n".repeat(3_000);
        say(&mut editor, "begun").unwrap();
        acknowledged.push("begun".to_owned());
        let sizes = if is_long() { 120 } else { 40 };
        for number in 0..sizes {
            // Now within the files that are written again, now within the store's log, which is longer; never at the end of a page.
            let further = number * number * 7_919 % 100_000;
            limit(
                &editor,
                Some(if number % 2 == 0 { further } else { length_of_log(state.path()) + further }),
            );
            for text in [format!("short {number}"), format!("long {number} {}", "and words ".repeat(2_000))] {
                match say(&mut editor, &text) {
                    Ok(()) => acknowledged.push(text),
                    Err(_) => refused += 1,
                }
            }
            match editor.try_run("toolOutput.add", json!({ "content": output })) {
                Ok(reply) => spilled += usize::from(reply.to_string().contains("SHA-256")),
                Err(_) => refused += 1,
            }
            for (command, argument) in
                [("memory.add", json!({ "text": "a note ".repeat(500) })), ("here.preview", json!({}))]
            {
                refused += usize::from(editor.try_run(command, argument).is_err());
            }
            limit(&editor, None);
            // What could not be written was told.
            editor.server.heard("window/showMessage");
            // It goes on as if nothing had been.
            let text = format!("after {number}");
            assert_eq!(say(&mut editor, &text), Ok(()));
            acknowledged.push(text);
        }
        let said = |texts: Vec<String>| texts.into_iter().filter(|text| text != "said").collect::<Vec<_>>();
        assert!(said(texts(&mut editor)) == acknowledged, "what was refused changed nothing");
        let listed = editor.run("session.list", json!({}));
        let id = listed["sessions"][0]["id"].clone();
        editor.abandon();
        editor.server.kill();
        drop(editor);
        let files = closed(state.path());
        let outputs: Vec<&String> =
            files.iter().filter(|file| file.starts_with("spill/") && !file.ends_with("lock")).collect();
        assert!(
            outputs
                .iter()
                .all(|file| state.path().join(file).metadata().unwrap().len() == output.len() as u64)
        );
        assert_eq!(outputs.len(), spilled, "half an output is none");
        assert!(!files.iter().any(|file| file.contains("damaged") || file.ends_with(".half")), "{files:?}");
        let mut editor = start(&repo, state.path(), json!({ "resume": id }));
        assert!(said(texts(&mut editor)) == acknowledged, "what was acknowledged is there");
        println!(
            "{sizes} sizes that no file may exceed: {} messages acknowledged, {refused} commands refused, {} of {spilled} \
             outputs in files, 0 messages lost",
            acknowledged.len(),
            outputs.len()
        );
        assert!(refused > 20, "the disk was full often enough: {refused}");
    }
}
