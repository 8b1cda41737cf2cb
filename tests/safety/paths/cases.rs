//! The paths, and what becomes of each: `=key` for a file inside, else the name of the refusal.

use super::workspace::{Field, ROOT};

/// A path as someone writes it.
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) verdict: &'static str,
}

/// Below the workspace folder, whatever leads there. Each is also asked for as an absolute path and as a URI.
const BELOW: &[(&str, &str)] = &[
    // Spellings of what is inside.
    ("a.rs", "=a.rs"),
    ("src//lib.rs", "=src/lib.rs"),
    ("src/./deep/mod.rs", "=src/deep/mod.rs"),
    ("a b.txt", "=a b.txt"),
    ("[id].tsx", "=[id].tsx"),
    ("caf\u{e9}.rs", "=caf\u{e9}.rs"),
    ("cafe\u{301}.rs", "=cafe\u{301}.rs"),
    ("CAF\u{c9}.RS", "=CAF\u{c9}.RS"),
    ("A.RS", "=A.RS"),
    ("SRC/LIB.RS", "=SRC/LIB.RS"),
    ("100%.txt", "=100%.txt"),
    ("c#.cs", "=c#.cs"),
    ("..dots", "=..dots"),
    ("...", "=..."),
    (".../x", "Unreachable"),
    (".. /outside/secret.txt", "=.. /outside/secret.txt"),
    (" ../outside/secret.txt", "= ../outside/secret.txt"),
    ("..\u{200b}/outside", "=..\u{200b}/outside"),
    ("\u{2025}/outside/secret.txt", "=\u{2025}/outside/secret.txt"),
    ("\u{ff0e}\u{ff0e}/outside", "=\u{ff0e}\u{ff0e}/outside"),
    ("..\u{2215}outside", "=..\u{2215}outside"),
    ("%2e%2e/in.txt", "=%2e%2e/in.txt"),
    ("%2e%2e%2foutside%2fsecret.txt", "=%2e%2e%2foutside%2fsecret.txt"),
    ("%252e%252e/outside/secret.txt", "=%252e%252e/outside/secret.txt"),
    ("..%c0%afoutside", "=..%c0%afoutside"),
    ("~/home.txt", "=~/home.txt"),
    ("$HOME/.ssh/id_rsa", "=$HOME/.ssh/id_rsa"),
    ("${HOME}", "=${HOME}"),
    ("`id`", "=`id`"),
    ("line\nbreak.txt", "=line\nbreak.txt"),
    ("a.rs\n../outside/secret.txt", "=a.rs\n../outside/secret.txt"),
    ("new/file.rs", "=new/file.rs"),
    // Links that stay inside.
    ("link.rs", "=a.rs"),
    ("folder/deep/mod.rs", "=src/deep/mod.rs"),
    ("round-trip/lib.rs", "=src/lib.rs"),
    ("hard.txt", "=hard.txt"),
    ("to-fifo", "=fifo"),
    ("fifo", "=fifo"),
    ("socket", "=socket"),
    ("parent/r\u{f6}ot/a.rs", "=a.rs"),
    // Steps up, wherever they lead.
    ("..", "ParentStep"),
    ("../", "ParentStep"),
    ("../outside/secret.txt", "ParentStep"),
    ("./../outside/secret.txt", "ParentStep"),
    ("src/../a.rs", "ParentStep"),
    ("src/..", "ParentStep"),
    ("src/../../outside/secret.txt", "ParentStep"),
    ("src/deep/../../../outside/secret.txt", "ParentStep"),
    ("missing/../../outside/secret.txt", "ParentStep"),
    ("a.rs/../../outside/secret.txt", "ParentStep"),
    ("..//outside/secret.txt", "ParentStep"),
    (".././outside/secret.txt", "ParentStep"),
    ("../r\u{f6}ot/a.rs", "ParentStep"),
    ("../r\u{f6}ot-evil/secret.txt", "ParentStep"),
    ("../ro\u{308}ot/secret.txt", "ParentStep"),
    ("to-outside/../outside/secret.txt", "ParentStep"),
    ("link.rs/../../outside/secret.txt", "ParentStep"),
    // Links that leave.
    ("to-outside", "LinkOutside"),
    ("to-outside/", "LinkOutside"),
    ("to-outside/secret.txt", "LinkOutside"),
    ("to-outside/sub/secret.txt", "LinkOutside"),
    ("to-outside/not-there.txt", "LinkOutside"),
    ("to-secret", "LinkOutside"),
    ("absolute-secret", "LinkOutside"),
    ("through-proc/secret.txt", "LinkOutside"),
    ("src/up", "LinkOutside"),
    ("src/up/secret.txt", "LinkOutside"),
    ("folder/up/secret.txt", "LinkOutside"),
    ("to-top", "LinkOutside"),
    ("to-top/etc/passwd", "LinkOutside"),
    ("to-proc-root/etc/passwd", "LinkOutside"),
    ("proc/environ", "LinkOutside"),
    ("proc/self/environ", "LinkOutside"),
    ("cwd", "LinkOutside"),
    ("environ", "LinkOutside"),
    ("zero", "LinkOutside"),
    ("fd/0", "LinkOutside"),
    ("sys/notes", "LinkOutside"),
    ("evil/secret.txt", "LinkOutside"),
    ("decomposed/secret.txt", "LinkOutside"),
    ("chain-0/secret.txt", "LinkOutside"),
    ("chain-1", "LinkOutside"),
    ("chain-2/secret.txt", "LinkOutside"),
    ("zigzag", "LinkOutside"),
    ("parent", "LinkOutside"),
    ("parent/outside/secret.txt", "LinkOutside"),
    ("slash/secret.txt", "LinkOutside"),
    ("long-30", "LinkOutside"),
    ("c#L1", "LinkOutside"),
    ("x.ipynb/secret.txt", "LinkOutside"),
    ("AGENTS.md", "LinkOutside"),
    ("MEMORY.md", "LinkOutside"),
    (".strata.toml", "LinkOutside"),
    (".strata.yaml", "LinkOutside"),
    (".cursor/secret.txt", "LinkOutside"),
    // Links to nothing, and in circles.
    ("dangling", "BrokenLink"),
    ("dangling/a", "BrokenLink"),
    ("dangling-up", "BrokenLink"),
    ("one", "LinkLoop"),
    ("two/a", "LinkLoop"),
    ("self", "LinkLoop"),
    ("self/self", "LinkLoop"),
    ("self-folder", "LinkLoop"),
    ("long-0", "LinkLoop"),
    // What no system opens.
    ("a.rs/b", "Unreachable"),
    ("fifo/b", "Unreachable"),
];

/// Written exactly so.
const ALONE: &[(&str, &str)] = &[
    ("", "Empty"),
    (".", "IsRoot"),
    ("./", "IsRoot"),
    ("./a.rs", "=a.rs"),
    ("././/a.rs", "=a.rs"),
    ("note: this.md", "=note: this.md"),
    ("back\\slash.rs", "=back\\slash.rs"),
    ("src\\lib.rs", "=src/lib.rs"),
    ("..\\outside\\secret.txt", "ParentStep"),
    ("src\\..\\..\\outside\\secret.txt", "ParentStep"),
    (".\\..\\outside/secret.txt", "ParentStep"),
    ("to-outside\\secret.txt", "LinkOutside"),
    ("./untitled:x", "NoKey"),
    ("untitled:Untitled-1", "Uri"),
    ("/", "Outside"),
    ("//", "Outside"),
    ("/etc/passwd", "Outside"),
    ("//etc/passwd", "Outside"),
    ("///etc///passwd", "Outside"),
    ("/./etc/passwd", "Outside"),
    ("/etc/passwd/", "Outside"),
    ("/etc\\passwd", "Outside"),
    ("/nowhere/at/all", "Outside"),
    ("/a.rs", "Outside"),
    ("/etc/../etc/passwd", "ParentStep"),
    ("\\etc\\passwd", "Outside"),
    ("/proc/self/environ", "SystemFile"),
    ("/proc/self/cwd/a.rs", "SystemFile"),
    ("/proc/self/fd/0", "SystemFile"),
    ("/proc/1/root/etc/passwd", "SystemFile"),
    ("/proc/thread-self/root/etc/passwd", "SystemFile"),
    ("//proc/self/mem", "SystemFile"),
    ("/proc/./self/maps", "SystemFile"),
    ("/dev/zero", "SystemFile"),
    ("/dev/fd/0", "SystemFile"),
    ("/dev/stdin", "SystemFile"),
    ("/dev/tty", "SystemFile"),
    ("/dev/shm", "SystemFile"),
    ("/sys/kernel/notes", "SystemFile"),
    ("C:\\Windows\\win.ini", "Drive"),
    ("c:/Windows/win.ini", "Drive"),
    ("C:/../../etc/passwd", "Drive"),
    ("\\\\server\\share\\x", "Drive"),
    ("\\\\?\\C:\\x", "Drive"),
    ("\\\\.\\PhysicalDrive0", "Drive"),
    ("a\0.rs", "Nul"),
    ("a.rs\0../../etc/passwd", "Nul"),
    ("\0", "Nul"),
    ("file:///etc/passwd", "Outside"),
    ("FILE:///etc/passwd", "Outside"),
    ("file:/etc/passwd", "Outside"),
    ("file:////etc/passwd", "Outside"),
    ("file:///etc%2Fpasswd", "Outside"),
    ("file://localhost/etc/passwd", "Outside"),
    ("file:///c%3A/Windows/win.ini", "Outside"),
    ("file:///proc/self/environ", "SystemFile"),
    ("file:///proc%2Fself%2Fenviron", "SystemFile"),
    ("file:///dev/fd/0", "SystemFile"),
    ("file:///../etc/passwd", "ParentStep"),
    ("file:///%2e%2e/etc/passwd", "ParentStep"),
    ("file:", "Uri"),
    ("file://", "Uri"),
    ("file:a.rs", "Uri"),
    ("file:../outside/secret.txt", "Uri"),
    ("file://evil.example/etc/passwd", "Uri"),
    ("file://127.0.0.1/etc/passwd", "Uri"),
    ("file://%2fetc%2fpasswd", "Uri"),
    ("file://user@localhost/etc/passwd", "Uri"),
    ("file:///etc/passwd?x", "Uri"),
    ("file:///etc/passwd#L1", "Uri"),
    ("file:///etc/passwd%00.rs", "Uri"),
    ("file:///%ff", "Uri"),
    ("file:///%c0%ae%c0%ae/etc/passwd", "Uri"),
    ("http://localhost/a.rs", "Uri"),
    ("git:/a.rs?HEAD", "Uri"),
    ("vscode-notebook-cell:/a.ipynb", "Uri"),
    ("vscode-remote://ssh/etc/passwd", "Uri"),
    ("jar:file:/etc/passwd", "=jar:file:/etc/passwd"),
    ("data:/etc/passwd", "Uri"),
];

/// Beside the workspace folder, given as absolute paths and as URIs.
const BESIDE: &[(&str, &str)] = &[
    ("", "Outside"),
    ("outside", "Outside"),
    ("outside/", "Outside"),
    ("outside/secret.txt", "Outside"),
    ("outside/not-there.txt", "Outside"),
    ("r\u{f6}ot-evil/secret.txt", "Outside"),
    ("r\u{f6}ot-evil", "Outside"),
    ("r\u{f6}otless.txt", "Outside"),
    ("r\u{f6}ot.rs", "Outside"),
    ("r\u{f6}o", "Outside"),
    ("r\u{f6}o/secret.txt", "Outside"),
    ("ro\u{308}ot/a.rs", "Outside"),
    ("ro\u{308}ot/secret.txt", "Outside"),
    ("R\u{d6}OT/a.rs", "Outside"),
    ("R\u{f6}ot/a.rs", "Outside"),
    ("root/a.rs", "Outside"),
    ("r\u{f6}ot /a.rs", "Outside"),
    ("r\u{f6}ot./a.rs", "Outside"),
    ("r\u{f6}ot\u{200b}/a.rs", "Outside"),
    ("\u{ff52}\u{f6}ot/a.rs", "Outside"),
    ("outside/../outside/secret.txt", "ParentStep"),
    ("outside/../r\u{f6}ot/a.rs", "ParentStep"),
    ("r\u{f6}ot-evil/../outside/secret.txt", "ParentStep"),
    ("outside/back", "Outside"),
    ("other-name/a.rs", "=a.rs"),
    ("other-name/to-secret", "Outside"),
];

/// All of them.
pub(crate) fn cases(field: &Field) -> Vec<Case> {
    let top = field.top().to_str().unwrap();
    let mut cases: Vec<Case> = Vec::new();
    let mut put = |text: String, verdict| cases.push(Case { text, verdict });
    for (text, verdict) in ALONE {
        put((*text).to_owned(), verdict);
    }
    for (below, verdict) in BELOW {
        put((*below).to_owned(), verdict);
        put(format!("{top}/{ROOT}/{below}"), verdict);
        put(format!("file://{}", encoded(&format!("{top}/{ROOT}/{below}"), usual)), verdict);
    }
    for (beside, verdict) in BESIDE {
        put(format!("{top}/{beside}"), verdict);
        put(format!("file://{}", encoded(&format!("{top}/{beside}"), usual)), verdict);
        put(format!("file://{}", encoded(&format!("{top}/{beside}"), |_| true)), verdict);
        put(
            format!("/proc/self/root{top}/{beside}"),
            if verdict == &"ParentStep" { verdict } else { "SystemFile" },
        );
    }
    put("x/".repeat(40_000), "TooLong");
    put("../".repeat(5_000) + "etc/passwd", "ParentStep");
    put("n".repeat(300), "Unreachable");
    cases
}

/// What an editor encodes in a URI.
fn usual(byte: u8) -> bool {
    !byte.is_ascii_alphanumeric() && !b"-._~/".contains(&byte)
}

fn encoded(path: &str, is_encoded: impl Fn(u8) -> bool) -> String {
    let first = path.bytes().take(1);
    let rest = path.bytes().skip(1);
    let one =
        |byte: u8, encode: bool| if encode { format!("%{byte:02x}") } else { char::from(byte).to_string() };
    first.map(|byte| one(byte, false)).chain(rest.map(|byte| one(byte, is_encoded(byte)))).collect()
}
