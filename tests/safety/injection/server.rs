//! The same from files on disk, through the real binary.

use std::fs;

use e2e::{Editor, Repo, Setup, is_long};
use serde_json::{Value, json};

use super::attacks::{Attack, attacks};
use super::shape::{furniture, shape, system};

/// Attacks in one workspace.
const TOGETHER: usize = 50;

/// A workspace with a branch, an attack in the names of two files and a folder, and in what they hold.
fn workspace(attacks: &[Attack]) -> (Repo, Vec<String>) {
    let repo = Repo::new(
        "
        //- src/lib.rs
        pub fn add(left: u32, right: u32) -> u32 { large_0_0(left) + right }
        //- .git/HEAD
        ref: refs/heads/main
        //- .git/config
        [core]
        	repositoryformatversion = 0
        ",
    );
    for part in [".git/objects/info", ".git/refs/heads"] {
        fs::create_dir_all(repo.path(part)).unwrap();
    }
    // Under `ripple`, the large files fill every tier, the referenced one L0, so that no tier depends on the other files.
    for file in 0..7 {
        let function = |n| format!("pub fn large_{file}_{n}(value: u32) -> u32 {{ value }}\n");
        repo.write(&format!("src/large_{file}.rs"), (0..150).map(function).collect::<String>());
    }
    let mut names = Vec::new();
    for (at, Attack { name, text }) in attacks.iter().enumerate() {
        // Two attacks may have one name.
        let path = format!("{at:03}/{name}");
        repo.write(&path, text);
        repo.write(&format!("folder {at:03}/{name}/inner.rs"), format!("/* {text} */\nfn inner() {{}}\n"));
        names.push(path);
    }
    (repo, names)
}

fn bodies(editor: &mut Editor) -> Vec<Value> {
    let mut bodies = Vec::new();
    for policy in ["ledger", "ripple", "flat"] {
        for format in ["anthropic", "openai"] {
            let argument =
                json!({ "prompt": "What does add do?", "policy": policy, "format": format, "dryRun": true });
            bodies.push(editor.assemble_with(argument).0["body"].take());
        }
    }
    bodies
}

/// Requests about each file in turn.
fn requests(attacks: &[Attack]) -> Vec<Vec<Value>> {
    let (repo, names) = workspace(attacks);
    let state = tempfile::tempdir().unwrap();
    let settings = json!({
        // Room for all, so that what is shown does not depend on what it weighs or how much it is meant.
        "context_frame": { "inject": true, "min_score": 0.0 },
        "context": { "auto_budget": 0 },
        "symbols": { "map_budget": 400_000 },
        "files": { "list_budget": 100_000 },
    });
    let mut editor = Setup::new(&repo).state(state.path()).settings(settings).start();
    let mut requests = Vec::new();
    for name in &names {
        // A name may look like a pattern or like lines of another file; as a URI it is what it is.
        editor.run("files.select", json!({ "paths": [repo.uri(name)] }));
        requests.push(bodies(&mut editor));
        editor.run("files.clear", json!({}));
    }
    editor.server.heard("strata/warning");
    requests
}

#[test]
fn files_on_disk_do_not_change_the_shape_of_a_request() {
    // All of them with `STRATA_LONG=1`, otherwise every twentieth: each is asked for in six requests.
    let step = if is_long() { 1 } else { 20 };
    let all: Vec<Attack> = attacks().into_iter().step_by(step).collect();
    let mut count = 0;
    for attacks in all.chunks(TOGETHER) {
        let controls: Vec<Attack> = attacks
            .iter()
            .enumerate()
            .map(|(at, attack)| {
                let ending = attack.name.rsplit_once('.').map_or("", |(_, ending)| ending);
                let plain = !ending.is_empty() && ending.chars().all(|c| c.is_ascii_alphanumeric());
                let name = if plain { format!("harmless{at}.{ending}") } else { format!("harmless{at}") };
                Attack { name, text: "harmless words\n".to_owned() }
            })
            .collect();
        let (hostile, harmless) = (requests(attacks), requests(&controls));
        for ((attack, hostile), harmless) in attacks.iter().zip(hostile).zip(harmless) {
            for (body, control) in hostile.iter().zip(&harmless) {
                let place = format!("{attack:?}\n{}", body["model"]);
                assert_eq!(system(body), system(control), "{place}");
                let (seen, expected) = (without_groups(&shape(body)), without_groups(&shape(control)));
                assert_eq!(seen, expected, "{place}");
                assert_eq!(furniture(body, |_| true), furniture(control, |_| true), "{place}");
                count += 1;
            }
        }
    }
    eprintln!(
        "{} attacks on disk, {count} requests of the real binary: the shape of harmless ones",
        all.len()
    );
}

/// Outlines of many files share blocks up to a weight, so that heavier ones take more of them: how many blocks there are is
/// counted at the engine.
fn without_groups(shape: &[String]) -> Vec<String> {
    let together = |line: &String| {
        let mut words: Vec<&str> = line.split(' ').collect();
        words.dedup();
        words.join(" ")
    };
    shape.iter().map(together).collect()
}
