//! Tests of external paths: where they lead, and why they are rejected.

#[cfg(unix)]
use std::io;

use proptest::prelude::*;

use super::canonical::without_verbatim_prefix;
use super::*;
use crate::testing::TestTree;
use crate::uri::UriError;

const INSIDE: &[&str] = &[
    "root/a.rs",
    "root/src/lib.rs",
    "root/src/deep/mod.rs",
    "root/a b.txt",
    "root/[id].tsx",
    "root/café.rs", // composed
    "root/100%.txt",
    "root/c#.cs",
    "root/.hidden",
    "root/..dots",
];

/// Names that Windows interprets differently.
const INSIDE_ON_UNIX: &[&str] = &["root/note: this.md", "root/..."];

fn tree() -> TestTree {
    let mut files = INSIDE.to_vec();
    if cfg!(unix) {
        files.extend(INSIDE_ON_UNIX);
    }
    files.extend(["outside/secret.txt", "root-evil/secret.txt", "rootless.txt"]);
    TestTree::new(&files)
}

#[track_caller]
fn check(roots: &Roots, text: &str, expected: &Result<&str, PathRefusal>) {
    let resolved = roots.resolve(text);
    let resolved = resolved.as_ref().map(FileKey::as_str).map_err(|error| error.reason.clone());
    assert_eq!(resolved, *expected, "{text:?}");
}

#[test]
fn spellings_of_files_inside() {
    let tree = tree();
    let roots = tree.roots();
    let absolute = |below: &str| tree.path(below).display().to_string();
    let top = tree.top().display().to_string().replace('\\', "/");
    // The path of a URI begins with a slash, also before a drive.
    let top = format!("/{}", top.trim_start_matches('/'));
    for (text, key) in [
        ("a.rs", "a.rs"),
        ("./a.rs", "a.rs"),
        ("././/a.rs", "a.rs"),
        ("src//lib.rs", "src/lib.rs"),
        ("src/./deep/mod.rs", "src/deep/mod.rs"),
        ("src/", "src"),
        ("src/deep/.", "src/deep"),
        ("src\\lib.rs", "src/lib.rs"),
        (".\\src\\deep\\mod.rs", "src/deep/mod.rs"),
        ("a b.txt", "a b.txt"),
        ("[id].tsx", "[id].tsx"),
        ("café.rs", "café.rs"),
        ("100%.txt", "100%.txt"),
        ("c#.cs", "c#.cs"),
        (".hidden", ".hidden"),
        ("..dots", "..dots"),
        ("new/file.rs", "new/file.rs"),
        ("~/a.rs", "~/a.rs"),
        ("$HOME", "$HOME"),
        ("%2e%2e/a.rs", "%2e%2e/a.rs"),
        (&absolute("root/a.rs"), "a.rs"),
        (&absolute("root/./src//lib.rs"), "src/lib.rs"),
        (&absolute("root/new.rs"), "new.rs"),
        (&format!("file://{top}/root/src/lib.rs"), "src/lib.rs"),
        (&format!("file://localhost{top}/root/a%20b.txt"), "a b.txt"),
        (&format!("file://{top}/root/caf%C3%A9.rs"), "café.rs"),
        (&format!("file://{top}/root/c%23.cs"), "c#.cs"),
        (&format!("file://{top}/root/100%25.txt"), "100%.txt"),
        (&format!("FILE:{top}/root/a.rs"), "a.rs"),
    ] {
        check(&roots, text, &Ok(key));
    }
    for name in ["note: this.md", "..."] {
        let expected = if cfg!(windows) { Err(PathRefusal::Ambiguous) } else { Ok(name) };
        check(&roots, name, &expected);
    }
}

#[cfg(windows)]
#[test]
fn a_file_has_one_key_in_any_case_and_with_any_drive() {
    let tree = tree();
    let roots = Roots::single(tree.path("ROOT")).unwrap();
    let path = tree.path(r"root\SRC\Lib.RS").display().to_string();
    let (drive, below) = path.split_at(1);
    for text in [
        "SRC/LIB.rs".to_owned(),
        "Src\\lib.rs".to_owned(),
        path.clone(),
        path.to_uppercase(),
        format!("{}{below}", drive.to_lowercase()),
        format!("\\\\?\\{path}"),
        format!("file:///{path}").replace('\\', "/"),
        format!("file:///{}%3A{}", drive.to_lowercase(), below.trim_start_matches(':').replace('\\', "/")),
    ] {
        check(&roots, &text, &Ok("src/lib.rs"));
    }
    check(&roots, "SRC/New.rs", &Ok("src/New.rs"));
    assert_eq!(roots[0].real, tree.path("root"));
    assert!(!roots[0].real.display().to_string().contains('?'));
}

#[cfg(windows)]
#[test]
fn windows_paths_that_lead_outside_are_rejected() {
    use PathRefusal::*;

    let tree = tree();
    let roots = tree.roots();
    let absolute = |below: &str| tree.path(below).display().to_string();
    let cases: &[(&str, PathRefusal)] = &[
        ("..\\outside\\secret.txt", ParentStep),
        ("src\\..\\..\\outside\\secret.txt", ParentStep),
        (&absolute("root\\..\\outside\\secret.txt"), ParentStep),
        (&absolute("outside\\secret.txt"), Outside),
        (&absolute("root-evil\\secret.txt"), Outside),
        ("C:\\Windows\\win.ini", Outside),
        ("c:/Windows/win.ini", Outside),
        ("C:a.rs", HalfAbsolute),
        ("\\Windows\\win.ini", HalfAbsolute),
        ("/Windows/win.ini", HalfAbsolute),
        ("\\\\.\\PhysicalDrive0", Outside),
        ("\\\\server.example\\share\\a.rs", Outside),
        ("file://server.example/share/a.rs", Outside),
        ("a.rs::$DATA", Ambiguous),
        ("a.rs.", Ambiguous),
        ("src /lib.rs", Ambiguous),
        ("NUL", Ambiguous),
        ("src/con.rs", Ambiguous),
        (&absolute("root\\COM1.txt"), Ambiguous),
        ("file:///etc/passwd", Uri(UriError::Relative)),
        ("file://%3F/C:/Windows/win.ini", Uri(UriError::Relative)),
    ];
    for (text, reason) in cases {
        check(&roots, text, &Err(reason.clone()));
    }
}

/// Windows sends the user's credentials to a server when a program only asks whether a file exists there.
#[cfg(windows)]
#[test]
fn only_the_shares_of_workspace_folders_are_accessed() {
    let root = |path: &str| Root { name: "root".to_owned(), given: path.into(), real: path.into() };
    let roots = Roots(vec![root(r"C:\work"), root(r"\\Server\Share\work")]);
    for (path, is_foreign) in [
        (r"C:\elsewhere\a.rs", false),
        (r"\\?\C:\work\a.rs", false),
        (r"\\server\share\work\a.rs", false),
        (r"\\?\UNC\server\share\a.rs", false),
        (r"//server/share/a.rs", false),
        (r"\\server\other\a.rs", true),
        (r"\\other\share\a.rs", true),
        (r"\\?\UNC\other\share\a.rs", true),
        (r"\\.\pipe\a", true),
        (r"\\?\pipe\a", true),
    ] {
        assert_eq!(roots.is_device_or_foreign_share(Path::new(path)), is_foreign, "{path}");
    }
}

#[cfg(unix)]
#[test]
fn paths_whose_text_leads_outside_are_rejected() {
    use PathRefusal::*;

    let tree = tree();
    let roots = tree.roots();
    let absolute = |below: &str| tree.path(below).display().to_string();
    let top = tree.top().display();
    let long = "x/".repeat(40_000);
    let proc_root = format!("/proc/self/root{}", absolute("root/a.rs"));
    let cases: &[(&str, PathRefusal)] = &[
        ("", Empty),
        (".", IsRoot),
        ("./", IsRoot),
        (&absolute("root"), IsRoot),
        (&absolute("root/"), IsRoot),
        // parent components, wherever they lead
        ("..", ParentStep),
        ("../", ParentStep),
        ("../a.rs", ParentStep),
        ("./../outside/secret.txt", ParentStep),
        ("../outside/secret.txt", ParentStep),
        ("src/../a.rs", ParentStep),
        ("src/../../outside/secret.txt", ParentStep),
        ("src/deep/../../../outside/secret.txt", ParentStep),
        ("../root/a.rs", ParentStep),
        ("missing/../../outside/secret.txt", ParentStep),
        ("src/..", ParentStep),
        ("..\\outside\\secret.txt", ParentStep),
        ("src\\..\\..\\outside\\secret.txt", ParentStep),
        (".\\..\\outside/secret.txt", ParentStep),
        ("..//outside/secret.txt", ParentStep),
        (&absolute("root/../outside/secret.txt"), ParentStep),
        (&absolute("root/src/../../root-evil/secret.txt"), ParentStep),
        (&format!("file://{top}/root/../outside/secret.txt"), ParentStep),
        (&format!("file://{top}/root/%2e%2e/outside/secret.txt"), ParentStep),
        (&format!("file://{top}/root/%2E%2E%2Foutside/secret.txt"), ParentStep),
        (&format!("file://{top}/root/.%2e/outside/secret.txt"), ParentStep),
        // absolute paths elsewhere
        ("/", Outside),
        ("//", Outside),
        ("/etc/passwd", Outside),
        ("//etc/passwd", Outside),
        ("///etc/passwd", Outside),
        ("/./etc/passwd", Outside),
        ("/etc/passwd/", Outside),
        ("/nowhere/at/all", Outside),
        ("/a.rs", Outside),
        ("/etc\\passwd", Outside),
        (&absolute(""), Outside),
        (&absolute("outside"), Outside),
        (&absolute("outside/secret.txt"), Outside),
        (&absolute("outside/not-there"), Outside),
        // siblings with the same prefix
        (&absolute("root-evil/secret.txt"), Outside),
        (&absolute("root-evil"), Outside),
        (&absolute("rootless.txt"), Outside),
        (&absolute("root.rs"), Outside),
        (&absolute("roo"), Outside),
        // names that differ only in case or normalization
        (&absolute("ROOT/a.rs"), Outside),
        (&absolute("Root/src/lib.rs"), Outside),
        (&absolute("root\u{200b}/a.rs"), Outside),
        (&absolute("ｒｏｏｔ/a.rs"), Outside),
        (&absolute("root /a.rs"), Outside),
        // URIs
        ("file:///etc/passwd", Outside),
        ("file:///etc%2Fpasswd", Outside),
        ("file:////etc/passwd", Outside),
        ("file:/etc/passwd", Outside),
        ("file:///c%3A/Windows/win.ini", Outside),
        (&format!("file://{top}/root-evil/secret.txt"), Outside),
        ("file://", Uri(UriError::Relative)),
        ("file:a.rs", Uri(UriError::Relative)),
        ("file://evil.example/etc/passwd", Uri(UriError::Host("evil.example".into()))),
        ("file:///a?x", Uri(UriError::QueryOrFragment)),
        ("file:///a#x", Uri(UriError::QueryOrFragment)),
        ("file:///a%00", Uri(UriError::Nul)),
        ("file:///%ff", Uri(UriError::NotText)),
        ("http://localhost/a.rs", Uri(UriError::Scheme("http".into()))),
        ("git:/a.rs?HEAD", Uri(UriError::Scheme("git".into()))),
        ("untitled:Untitled-1", Uri(UriError::Scheme("untitled".into()))),
        ("vscode-notebook-cell:/a.ipynb", Uri(UriError::Scheme("vscode-notebook-cell".into()))),
        // kernel interfaces, even those that lead back inside
        ("/proc/self/environ", SystemFile),
        (&proc_root, SystemFile),
        ("/proc/self/cwd/a.rs", SystemFile),
        ("/proc/1/root/etc/passwd", SystemFile),
        ("//proc/self/mem", SystemFile),
        ("/dev/zero", SystemFile),
        ("/dev/fd/0", SystemFile),
        ("/dev/stdin", SystemFile),
        ("/sys/kernel/notes", SystemFile),
        ("file:///proc/self/environ", SystemFile),
        // Windows forms
        ("C:\\Windows\\win.ini", Drive),
        ("c:/Windows/win.ini", Drive),
        ("\\\\server\\share\\x", Drive),
        ("\\\\?\\C:\\x", Drive),
        ("\\\\.\\PhysicalDrive0", Drive),
        // paths that no system opens or that have no key
        ("a\0.rs", Nul),
        ("a.rs\0../../etc/passwd", Nul),
        (&long, TooLong),
        ("./untitled:x", NoKey),
        ("a.rs/b", Unreachable(io::ErrorKind::NotADirectory)),
        (&"n".repeat(300), Unreachable(io::ErrorKind::InvalidFilename)),
    ];
    for (text, reason) in cases {
        check(&roots, text, &Err(reason.clone()));
    }
}

#[cfg(unix)]
#[test]
fn links_that_lead_outside_are_rejected() {
    use PathRefusal::*;

    let tree = tree();
    let outside = tree.path("outside");
    tree.create_link(&outside, "root/to-outside");
    tree.create_link("../outside/secret.txt", "root/to-secret");
    tree.create_link("../../outside", "root/src/up");
    tree.create_link("/", "root/to-top");
    tree.create_link("/proc/self/root", "root/to-proc");
    tree.create_link("/proc/self", "root/proc");
    tree.create_link("/dev/zero", "root/zero");
    tree.create_link("../root-evil", "root/evil");
    tree.create_link("one", "root/two");
    tree.create_link("two", "root/one");
    tree.create_link("self", "root/self");
    tree.create_link("chain-1", "root/chain-0");
    tree.create_link("src/../to-outside", "root/chain-1");
    tree.create_link("nowhere", "root/dangling");
    tree.create_link(outside.join("nowhere"), "root/dangling-outside");
    tree.create_link("../root/to-outside/secret.txt", "outside/back-and-out");
    tree.create_link("../outside/back-and-out", "root/zigzag");
    let roots = tree.roots();
    let top = tree.top().strip_prefix("/").unwrap().display();
    let cases: &[(&str, PathRefusal)] = &[
        ("to-outside", LinkOutside),
        ("to-outside/secret.txt", LinkOutside),
        ("to-outside/new.txt", LinkOutside),
        ("to-outside\\secret.txt", LinkOutside),
        ("to-secret", LinkOutside),
        ("src/up/secret.txt", LinkOutside),
        ("to-top", LinkOutside),
        ("to-top/etc/passwd", LinkOutside),
        ("to-proc/etc/passwd", LinkOutside),
        ("proc/environ", LinkOutside),
        ("zero", LinkOutside),
        ("evil/secret.txt", LinkOutside),
        ("one", LinkLoop),
        ("two/a", LinkLoop),
        ("self", LinkLoop),
        ("self/self/self", LinkLoop),
        ("chain-0/secret.txt", LinkOutside),
        ("dangling", BrokenLink),
        ("dangling/a", BrokenLink),
        ("dangling-outside", BrokenLink),
        ("zigzag", LinkOutside),
    ];
    for (text, reason) in cases {
        check(&roots, text, &Err(reason.clone()));
        check(&roots, &tree.path("root").join(text).display().to_string(), &Err(reason.clone()));
        // An editor's document with such a name is not part of the workspace either.
        assert_eq!(
            roots.is_linked_outside(&FileKey::new(*text)),
            *reason != LinkLoop && !text.contains('\\'),
            "{text}"
        );
    }
    assert!(!roots.is_linked_outside(&FileKey::new("src/new.rs")));
    // Leads outside and back inside: only the final location matters.
    check(&roots, &format!("to-top/{top}/root/src/lib.rs"), &Ok("src/lib.rs"));
}

#[cfg(unix)]
#[test]
fn a_file_has_one_key_however_it_is_reached() {
    let tree = tree();
    tree.create_link("a.rs", "root/link.rs");
    tree.create_link("link.rs", "root/link-to-link.rs");
    tree.create_link("src", "root/folder");
    tree.create_link(tree.path("root/src/lib.rs"), "root/absolute.rs");
    tree.create_link("root", "other-name");
    tree.create_link("root/src", "shortcut");
    let roots = tree.roots();
    check(&roots, "link.rs", &Ok("a.rs"));
    check(&roots, "link-to-link.rs", &Ok("a.rs"));
    check(&roots, "folder/deep/mod.rs", &Ok("src/deep/mod.rs"));
    check(&roots, "folder/new.rs", &Ok("src/new.rs"));
    check(&roots, "absolute.rs", &Ok("src/lib.rs"));
    check(&roots, &tree.path("shortcut/lib.rs").display().to_string(), &Ok("src/lib.rs"));

    // A client that opened the workspace under another name keeps using that name.
    let roots = Roots::single(tree.path("other-name")).unwrap();
    assert_eq!(roots.key_of(&tree.path("other-name/src/lib.rs")), Some("src/lib.rs".into()));
    assert_eq!(roots.key_of(&tree.path("root/src/lib.rs")), Some("src/lib.rs".into()));
    assert_eq!(roots[0].real, tree.path("root"));
    check(&roots, &tree.path("other-name/new.rs").display().to_string(), &Ok("new.rs"));
}

#[cfg(unix)]
#[test]
fn a_file_may_have_a_backslash_in_its_name() {
    let tree = TestTree::new(&["root/a\\b.rs", "root/a/b.rs", "root/c/d.rs"]);
    check(&tree.roots(), "a\\b.rs", &Ok("a\\b.rs"));
    check(&tree.roots(), "c\\d.rs", &Ok("c/d.rs"));
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf8_has_no_key() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let tree = tree();
    let path = tree.path("root").join(OsStr::from_bytes(b"\xff.rs"));
    std::fs::write(&path, "").unwrap();
    assert_eq!(tree.roots().key_of(&path), None);
    assert_eq!(tree.roots().locate_absolute(&path), Err(PathRefusal::NoKey));
}

#[test]
fn several_roots() {
    let tree = TestTree::new(&["web/src/a.ts", "web/only.ts", "api/src/a.ts", "api/web/b.ts", "c/api/x.ts"]);
    let roots = tree.several_roots(&["web", "api", "c/api", "web"]);
    assert_eq!(roots.iter().map(|root| root.name.as_str()).collect::<Vec<_>>(), ["web", "api", "api-2"]);
    check(&roots, "web/src/a.ts", &Ok("web/src/a.ts"));
    check(&roots, "api/web/b.ts", &Ok("api/web/b.ts"));
    check(&roots, "api-2/x.ts", &Ok("api-2/x.ts"));
    check(&roots, "only.ts", &Ok("web/only.ts"));
    check(&roots, "web", &Err(PathRefusal::IsRoot));
    check(&roots, "web/new.ts", &Ok("web/new.ts"));
    check(&roots, "src/a.ts", &Err(PathRefusal::SeveralRoots("web, api".into())));
    check(&roots, "src/new.ts", &Err(PathRefusal::NoSuchRoot("web, api, api-2".into())));
    check(&roots, "api-2/../web/only.ts", &Err(PathRefusal::ParentStep));
    check(&roots, &tree.path("c/api/x.ts").display().to_string(), &Ok("api-2/x.ts"));
    check(&roots, &tree.path("c/x.ts").display().to_string(), &Err(PathRefusal::Outside));
    assert_eq!(roots.path_of(&"api-2/x.ts".into()), Ok(tree.path("c/api/x.ts")));
}

#[cfg(unix)]
#[test]
fn a_link_from_one_root_into_another_is_followed() {
    let tree = TestTree::new(&["web/", "api/a.rs"]);
    tree.create_link("../api", "web/link");
    check(&tree.several_roots(&["web", "api"]), "web/link/a.rs", &Ok("api/a.rs"));
    check(&tree.several_roots(&["web"]), "link/a.rs", &Err(PathRefusal::LinkOutside));
}

#[test]
fn a_file_belongs_to_the_innermost_of_nested_roots() {
    let tree = TestTree::new(&["outer/inner/a.rs", "outer/b.rs"]);
    for folders in [["outer", "outer/inner"], ["outer/inner", "outer"]] {
        let roots = tree.several_roots(&folders);
        assert_eq!(roots.key_of(&tree.path("outer/inner/a.rs")), Some("inner/a.rs".into()));
        check(&roots, "outer/inner/a.rs", &Ok("inner/a.rs"));
        check(&roots, "outer/b.rs", &Ok("outer/b.rs"));
    }
}

#[test]
fn names_of_roots_contain_no_slash() {
    let tree = TestTree::new(&[]);
    let named = ["web", "a/b", "", "..", "web", "web-2", " c:d "].into_iter().enumerate();
    let folders = named
        .map(|(n, name)| RootFolder { name: Some(name.to_owned()), path: tree.path(&format!("folder-{n}")) });
    let roots = Roots::new(folders).unwrap();
    let names: Vec<&str> = roots.iter().map(|root| root.name.as_str()).collect();
    assert_eq!(names, ["web", "a-b", "root", "root-2", "web-2", "web-2-2", "c-d"]);
}

#[test]
fn keys_from_clients_are_validated() {
    let tree = tree();
    let roots = tree.roots();
    for (key, reason) in [
        ("../outside/secret.txt", PathRefusal::ParentStep),
        ("src/../../outside/secret.txt", PathRefusal::ParentStep),
        ("/etc/passwd", PathRefusal::NoKey),
        ("src//lib.rs", PathRefusal::NoKey),
        ("./a.rs", PathRefusal::NoKey),
        ("src/", PathRefusal::NoKey),
        ("", PathRefusal::Empty),
        ("a\0b", PathRefusal::Nul),
        ("untitled:a", PathRefusal::Untitled),
    ] {
        assert_eq!(roots.path_of(&key.into()).unwrap_err().reason, reason, "{key:?}");
    }
    assert_eq!(Roots::default().path_of(&"a".into()).unwrap_err().reason, PathRefusal::NoRoots);
    check(&Roots::default(), "a", &Err(PathRefusal::NoRoots));
    let several = tree.several_roots(&["root", "outside"]);
    assert!(matches!(several.path_of(&"a.rs".into()).unwrap_err().reason, PathRefusal::NoSuchRoot(_)));
    assert_eq!(several.path_of(&"root".into()).unwrap_err().reason, PathRefusal::IsRoot);
}

#[test]
fn a_root_must_be_absolute_and_need_not_exist() {
    let relative = Roots::single("src").unwrap_err();
    assert_eq!((relative.path.as_str(), relative.reason), ("src", PathRefusal::RelativeRoot));
    let tree = TestTree::new(&[]);
    let roots = tree.several_roots(&["root/later"]);
    check(&roots, "a.rs", &Ok("a.rs"));
}

#[test]
fn an_error_escapes_invisible_characters_in_the_path() {
    let roots = tree().roots();
    let error = roots.resolve("../a\u{202e}b\nc").unwrap_err();
    assert_eq!(error.to_string(), format!("`../a\\u{{202e}}b\\u{{a}}c`: {}", PathRefusal::ParentStep));
    let error = roots.resolve(&format!("../{}", "é".repeat(1000))).unwrap_err();
    assert_eq!(error.path.chars().count(), 201);
}

/// Names of files. Without those that Windows takes for something else, of which random names have too many to reject.
const NAME: &str = if cfg!(windows) { "[a-zé ._-]{0,5}[a-zé_-]" } else { "[a-zé .:_-]{1,6}" };

proptest! {
    /// For any text, the resulting key names a path in the root, and converts back from that path.
    #[test]
    fn arbitrary_text_never_resolves_outside_the_roots(text in r"(\.|\.\.|/|\\|src|a\.rs|file:|%2e|%2F|[^/]|C:|root|~|é){0,8}") {
        let tree = TestTree::new(&["root/src/a.rs", "root/a.rs"]);
        let roots = tree.roots();
        if let Ok(key) = roots.resolve(&text) {
            let path = roots.path_of(&key).unwrap();
            prop_assert!(path.starts_with(tree.path("root")) && path != tree.path("root"));
            prop_assert!(path.components().all(|part| part != Component::ParentDir));
            prop_assert_eq!(roots.key_of(&path), Some(key.clone()));
            prop_assert_eq!(roots.resolve(&path.display().to_string()), Ok(key));
        }
    }

    #[test]
    fn a_key_and_its_path_are_one_to_one(parts in prop::collection::vec(NAME, 1..4)) {
        prop_assume!(parts.iter().all(|part| part != "." && part != "..") && !parts[0].starts_with("untitled:"));
        prop_assume!(cfg!(unix) || !parts.iter().any(|part| is_ambiguous_on_windows(part)));
        let roots = Roots::single(std::env::temp_dir().join("nowhere/root")).unwrap();
        let key = FileKey::new(parts.join("/"));
        prop_assert_eq!(roots.key_of(&roots.path_of(&key).unwrap()), Some(key));
    }
}

#[test]
fn ambiguous_windows_names_are_rejected() {
    for name in ["a.rs::$DATA", "a.rs.", "a.rs ", "nul", "NUL.txt", "con .rs", "Com1", "lpt9.rs", "com¹"] {
        assert!(super::is_ambiguous_on_windows(name), "{name}");
    }
    for name in ["a.rs", "com", "com10", "lpt.rs", "null", "console.rs", "aux1", "é"] {
        assert!(!super::is_ambiguous_on_windows(name), "{name}");
    }
}

#[test]
fn the_verbatim_prefix_of_windows_paths_is_removed() {
    assert_eq!(without_verbatim_prefix(r"\\?\C:\Users\me").as_deref(), Some(r"C:\Users\me"));
    assert_eq!(without_verbatim_prefix(r"\\?\C:\").as_deref(), Some(r"C:\"));
    assert_eq!(without_verbatim_prefix(r"\\?\UNC\host\share\a").as_deref(), Some(r"\\host\share\a"));
    assert_eq!(without_verbatim_prefix(r"\\?\Volume{0b0f}\a"), None);
    assert_eq!(without_verbatim_prefix(r"C:\Users\me"), None);
    assert_eq!(without_verbatim_prefix("/home/me"), None);
}
