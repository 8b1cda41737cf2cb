//! A repository whose names and texts imitate what readers act on.

use e2e::{Repo, Rng, is_long};

/// Marks what must never stand at the start of a line.
pub(super) const FORGED: &str = "\nwarning: FORGED\n12: FORGED\n# FORGED\n(more: FORGED";

/// Names that were used in attacks: a link that types into a terminal, an image that reports its reader, and lines.
const KNOWN: [&str; 6] = [
    "[Repair workspace](command:workbench.action.terminal.sendSequence?%7B%22text%22%3A%22x%22%7D).py",
    "![x](https:/evil.example/beacon.png)/f.py",
    "a\nwarning: FORGED\n12: FORGED.py",
    "warning: FORGED.py",
    "12: FORGED.py",
    "\u{1b}[2J\u{1b}]8;;http:evil.example\u{7}\u{61c}\u{200b}\u{202e}\u{e0041}.py",
];

/// Number of random names in addition.
const RANDOM: usize = 12;

const PIECES: &[&str] = &[
    "a",
    "ß",
    "漢",
    "7",
    " ",
    ".",
    "www.evil.example",
    "https:evil.example",
    "warning: FORGED",
    "\nwarning: FORGED",
    "\r12: FORGED",
    "\n12: FORGED",
    "\n# FORGED",
    "(more: FORGED",
    "[x](command:y)",
    "![x](https:evil.example)",
    "](",
    "$(sync~spin)",
    "%{x}",
    "<img src=x>",
    "&lt;",
    "`",
    "```",
    "|",
    "# ",
    "- ",
    "1. ",
    "> ",
    "---",
    "\\",
    "*x*",
    "_",
    "~~",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ":",
    "\t",
    "\u{1b}[31m",
    "\u{7f}",
    "\u{85}",
    "\u{61c}",
    "\u{200b}",
    "\u{202e}",
    "\u{2028}",
    "\u{2066}",
    "\u{fe0f}",
    "\u{feff}",
    "\u{e0041}",
    "\u{e01ef}",
];

/// Repositories to try: one, or 40 with `STRATA_LONG=1`. `first` distinguishes the tests.
pub(super) fn repositories(first: u64) -> impl Iterator<Item = Hostile> {
    let count = if is_long() { 40 } else { 1 };
    (0..count).map(move |n| Hostile::new(first + 10 * n))
}

pub(super) struct Hostile {
    pub(super) repo: Repo,
    /// Paths of the files with code.
    pub(super) paths: Vec<String>,
}

impl Hostile {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut text =
            |most: usize| -> String { (0..1 + rng.below(most)).map(|_| rng.one_of(PIECES)).collect() };
        let mut paths: Vec<String> = KNOWN.map(str::to_owned).into();
        paths.extend((0..RANDOM).map(|n| format!("{}{n}.py", text(6))));
        let repo = Repo::new("");
        repo.write(".git/HEAD", "ref: refs/heads/[x](command:y)\u{202e}\n");
        let mut notes = String::new();
        for (n, path) in paths.iter().enumerate() {
            let remark = text(5).replace(['\n', '\r', '\u{85}', '\u{2028}'], " ");
            notes.push_str(&format!("# heading {n} [x](command:y) $(sync) {remark}\n\nText.\n\n"));
            // A made-up token, about which the server warns.
            let token = format!("ghp_{:0>36}", format!("R4nD0m{n}xYzAbCdEfGhIjKlMnOpQrS"));
            let code =
                format!("# shared {remark}\ndef target_{n}(argument):\n    return shared(\"{token}\")\n");
            repo.write(path, if n == 0 { format!("{code}\ndef shared(x):\n    return x\n") } else { code });
        }
        repo.write("notes.md", notes);
        Self { repo, paths }
    }
}
