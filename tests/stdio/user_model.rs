//! Random behaviour of an editor against a model of what its user sees. A prompt shows the user's text, or its reply
//! carries a warning about the file; and there is no warning while nothing was lost. The model shares nothing with the
//! server but the protocol: it keeps UTF-16 units, as the editors do whose strings may contain half of a character.
//!
//! To add a behaviour, add a function to [`ACTIONS`] that changes [`Scene`] and tells the server of it.
//! `STRATA_LONG=1` makes 20,000 runs instead of 60.

mod message;
mod scene;
mod text;

use std::thread;

use e2e::{Editor, Repo, Rng, Setup, Unit, is_long};

use scene::Scene;

/// Something that a user, an editor or another program does. Does nothing if it is not possible at the moment.
struct Action {
    name: &'static str,
    /// How often it is done, compared with the others.
    weight: usize,
    act: fn(&mut Scene<'_>),
}

const ACTIONS: &[Action] = &[
    Action { name: "open", weight: 10, act: |scene| scene.open() },
    Action { name: "open with unsaved text", weight: 4, act: |scene| scene.open_unsaved() },
    Action { name: "type", weight: 30, act: |scene| scene.edit() },
    Action { name: "type several times at once", weight: 8, act: |scene| scene.edit_in_batch() },
    Action { name: "type half of a character", weight: 2, act: |scene| scene.edit_half() },
    Action { name: "replace all", weight: 2, act: |scene| scene.replace_all() },
    Action { name: "change nothing", weight: 4, act: |scene| scene.change_nothing() },
    Action { name: "undo", weight: 5, act: |scene| scene.undo() },
    Action { name: "save", weight: 6, act: |scene| scene.save() },
    Action { name: "close", weight: 5, act: |scene| scene.close() },
    Action { name: "lose an opening", weight: 2, act: |scene| scene.lose_opening() },
    Action { name: "lose a change", weight: 3, act: |scene| scene.lose_change() },
    Action { name: "lose a save", weight: 1, act: |scene| scene.lose_save() },
    Action { name: "lose a closing", weight: 1, act: |scene| scene.lose_closing() },
    Action { name: "change on disk", weight: 4, act: |scene| scene.change_on_disk() },
    Action { name: "delete on disk", weight: 1, act: |scene| scene.delete_on_disk() },
    Action { name: "rename on disk", weight: 2, act: |scene| scene.rename_on_disk() },
    Action { name: "turn a link", weight: 2, act: |scene| scene.turn_link() },
    Action { name: "report files", weight: 3, act: |scene| scene.report_files() },
    Action { name: "lose a report of files", weight: 1, act: |scene| scene.lose_report() },
    Action { name: "refuse a request", weight: 1, act: |scene| scene.refuse_request() },
];

/// Runs with one server, which all of them share.
const RUNS_PER_SERVER: usize = 500;

fn runs() -> usize {
    if is_long() { 20_000 } else { 60 }
}

fn one_action(rng: &mut Rng) -> &'static Action {
    let total: usize = ACTIONS.iter().map(|action| action.weight).sum();
    let mut left = rng.below(total);
    for action in ACTIONS {
        match left.checked_sub(action.weight) {
            Some(rest) => left = rest,
            None => return action,
        }
    }
    &ACTIONS[0]
}

/// What a number of runs found.
#[derive(Default)]
struct RunStats {
    prompts: usize,
    files: usize,
    doubted: usize,
    errors: Vec<String>,
}

impl RunStats {
    fn add(&mut self, other: Self) {
        self.prompts += other.prompts;
        self.files += other.files;
        self.doubted += other.doubted;
        self.errors.extend(other.errors);
    }
}

/// Makes the runs with these numbers in one server.
fn series(numbers: std::ops::Range<usize>, unit: Unit) -> RunStats {
    let repo = Repo::new("//- readme.md\n# Runs\n");
    let mut editor = Setup::new(&repo).counting_in(unit).start();
    let mut stats = RunStats::default();
    for number in numbers {
        stats.add(run(number, &mut editor, &repo, unit));
    }
    for method in ["strata/warning", "window/showMessage"] {
        editor.server.heard(method);
    }
    stats
}

fn run(number: usize, editor: &mut Editor, repo: &Repo, unit: Unit) -> RunStats {
    let mut stats = RunStats::default();
    let mut scene = Scene::new(number, editor, repo, unit);
    for _ in 0..12 {
        let action = one_action(&mut scene.rng);
        scene.log.push(format!("- {}", action.name));
        (action.act)(&mut scene);
        if scene.rng.once_in(3) {
            let check = scene.check();
            stats.prompts += 1;
            stats.files += check.files;
            stats.doubted += check.doubted;
            if !check.errors.is_empty() {
                let errors = check.errors.join("\n");
                stats.errors.push(format!("run {number}, {unit:?}:\n{}\n{errors}", scene.log.join("\n")));
                break;
            }
        }
    }
    scene.end();
    stats
}

#[expect(clippy::print_stderr, reason = "prints the results of the run")]
#[test]
fn a_prompt_shows_the_users_text_or_says_that_it_may_not() {
    let size = RUNS_PER_SERVER.min(runs().div_ceil(Unit::ALL.len()));
    let starts: Vec<usize> = (0..runs()).step_by(size).collect();
    let mut stats = RunStats::default();
    // Each server has a unit of its own, and a thread of this test.
    for some in starts.chunks(Unit::ALL.len()) {
        thread::scope(|scope| {
            let units = some.iter().zip(Unit::ALL);
            let threads: Vec<_> = units
                .map(|(&start, unit)| scope.spawn(move || series(start..(start + size).min(runs()), unit)))
                .collect();
            threads.into_iter().for_each(|thread| stats.add(thread.join().unwrap()));
        });
        eprintln!("{} prompts so far, {} runs wrong", stats.prompts, stats.errors.len());
    }
    let RunStats { prompts, files, doubted, errors } = stats;
    eprintln!("{} runs, {prompts} prompts, {files} files, {doubted} of them with a warning", runs());
    let (silent, loud): (Vec<_>, Vec<_>) = errors.iter().partition(|error| error.contains("\nsilent: "));
    let some: Vec<&str> = silent.iter().chain(&loud).take(3).map(|error| error.as_str()).collect();
    let wrong = errors.len();
    assert_eq!(
        wrong,
        0,
        "runs are wrong, {} of them silently, such as:\n{}",
        silent.len(),
        some.join("\n\n")
    );
    assert!(doubted * 20 > files && doubted * 2 < files, "both kinds were tried: {doubted} of {files}");
}
