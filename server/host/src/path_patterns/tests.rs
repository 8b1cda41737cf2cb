//! Tests of files, directories and globs in a selection.

use strata_base::cancel::Cancel;

use super::*;
use crate::testing::TestTree;
use crate::walk::{WalkOptions, walk};

fn tree() -> TestTree {
    let tree = TestTree::new(&[
        "root/README.md",
        "root/src/lib.rs",
        "root/src/main.rs",
        "root/src/deep/mod.rs",
        "root/src/.env",
        "root/src/.hidden.rs",
        "root/src2/x.rs",
        "root/app/[id].tsx",
        "root/app/i.tsx",
        "root/.github/workflows/ci.yml",
        "root/debug.log",
        "root/logs/debug.log",
        "outside/secret.txt",
    ]);
    tree.write("root/.gitignore", "*.log\n");
    tree
}

/// Returns the files, then the withheld ones with a minus; or the error.
fn expanded(roots: &Roots, text: &str) -> Result<String, PatternError> {
    let (options, cancel) = (WalkOptions::default(), Cancel::new());
    let all = walk(roots, &options, &cancel).unwrap().entries;
    let expansion = expand_path_pattern(roots, &all, text)?;
    // A scan of the pattern's directory alone gives the same files.
    if let Some(listed) = list_below(roots, text, &options, &cancel).unwrap() {
        assert_eq!(expand_path_pattern(roots, &listed, text).as_ref(), Ok(&expansion), "{text}");
    }
    let files = expansion.files.iter().map(|key| key.as_str().to_owned());
    let withheld = expansion.withheld.iter().map(|(key, _)| format!("-{}", key.as_str()));
    Ok(files.chain(withheld).collect::<Vec<_>>().join(" "))
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let tree = tree();
    assert_eq!(expanded(&tree.roots(), text).as_deref(), Ok(expected), "{text}");
}

#[test]
fn files() {
    check("src/lib.rs", "src/lib.rs");
    check("./src//lib.rs", "src/lib.rs");
    check("debug.log", "debug.log"); // ignored, but named
    check("src/.hidden.rs", "src/.hidden.rs");
    check("src/.env", "-src/.env");
}

#[test]
fn folders() {
    check("src", "src/deep/mod.rs src/lib.rs src/main.rs -src/.env -src/.hidden.rs");
    check("src/", "src/deep/mod.rs src/lib.rs src/main.rs -src/.env -src/.hidden.rs");
    check(".github", ".github/workflows/ci.yml");
    let everything = "README.md app/[id].tsx app/i.tsx src/deep/mod.rs src/lib.rs src/main.rs src2/x.rs \
                      -.github/workflows/ci.yml -.gitignore -src/.env -src/.hidden.rs";
    check(".", everything);
    check("**", everything);
}

#[test]
fn globs() {
    check("src/*.rs", "src/lib.rs src/main.rs -src/.hidden.rs");
    check("./src/*.rs", "src/lib.rs src/main.rs -src/.hidden.rs");
    check("src/**/*.rs", "src/deep/mod.rs src/lib.rs src/main.rs -src/.hidden.rs");
    check("**/mod.rs", "src/deep/mod.rs");
    check("*.md", "README.md");
    check("src*/x.rs", "src2/x.rs");
    check("src/{lib,main}.rs", "src/lib.rs src/main.rs");
    check("src/[l]ib.rs", "src/lib.rs");
    check("src/???.rs", "src/lib.rs");
    check("src/.*.rs", "src/.hidden.rs");
    check("src/.*", "src/.hidden.rs -src/.env");
    check(".github/**", ".github/workflows/ci.yml");
    check("app/[id].tsx", "app/[id].tsx"); // a file's name first, a pattern second
}

#[test]
fn an_existing_name_takes_precedence_over_a_pattern() {
    let tree = TestTree::new(&[
        "root/app/[slug]/page.tsx",
        "root/app/[slug]/[id]/page.tsx",
        "root/app/s/page.tsx",
        "root/app/l/d/page.tsx",
        "root/{a,b}/x.ts",
        "root/a/x.ts",
    ]);
    let expanded = |text| expanded(&tree.roots(), text).unwrap();
    assert_eq!(expanded("app/[slug]/*"), "app/[slug]/page.tsx");
    assert_eq!(expanded("app/[slug]/**"), "app/[slug]/[id]/page.tsx app/[slug]/page.tsx");
    assert_eq!(expanded("app/*/[id]/page.tsx"), "app/[slug]/[id]/page.tsx");
    assert_eq!(expanded("**/[slug]/*.[jt]sx"), "app/[slug]/page.tsx");
    assert_eq!(expanded("app/[slx]/*"), "app/s/page.tsx");
    assert_eq!(expanded("{a,b}/*"), "{a,b}/x.ts");
    assert_eq!(expanded("{a,c}/*"), "a/x.ts");
}

#[test]
fn absolute_globs() {
    let tree = tree();
    let inside = tree.path("root/src/*.rs").display().to_string();
    assert_eq!(expanded(&tree.roots(), &inside).as_deref(), Ok("src/lib.rs src/main.rs -src/.hidden.rs"));
    for outside in ["outside/*", "*/secret.txt", "root/../outside/*"] {
        let outside = tree.path(outside).display().to_string();
        assert!(matches!(expanded(&tree.roots(), &outside), Err(PatternError::Path(_))), "{outside}");
    }
    assert!(matches!(expanded(&tree.roots(), "/*"), Err(PatternError::Path(_))));
    assert!(matches!(expanded(&tree.roots(), "src/**/../../../outside/*"), Err(PatternError::Path(_))));
}

#[test]
fn an_error_names_the_path_or_pattern_without_matches() {
    let tree = tree();
    let roots = tree.roots();
    let error = |text: &str| expanded(&roots, text).unwrap_err();
    let empty = |folder: &str, reason| PatternError::EmptyFolder { folder: folder.into(), reason };
    tree.write("root/node_modules/a/index.js", "");
    std::fs::create_dir_all(tree.path("root/links/deep")).unwrap();
    #[cfg(unix)]
    tree.create_link("../src", "root/links/to_src");
    assert_eq!(error("missing.rs"), PatternError::NotFound("missing.rs".into()));
    assert_eq!(error("*.java"), PatternError::NoMatch("*.java".into()));
    assert_eq!(error("missing/*.rs"), PatternError::NoMatch("missing/*.rs".into()));
    assert_eq!(error("logs"), empty("logs", UnlistedReason::Ignored));
    assert_eq!(error("node_modules"), empty("node_modules", UnlistedReason::Generated));
    assert_eq!(error("links"), empty("links", UnlistedReason::Nothing));
    assert!(matches!(error("src/[a"), PatternError::BadGlob { .. }));
    assert!(matches!(error(&"*".repeat(2000)), PatternError::BadGlob { .. }));
    assert!(matches!(error("../outside/secret.txt"), PatternError::Path(_)));
}

#[test]
fn several_roots() {
    let tree = TestTree::new(&["web/src/a.ts", "web/top.ts", "api/src/b.ts", "api/top.ts"]);
    let roots = tree.several_roots(&["web", "api"]);
    let expanded = |text| expanded(&roots, text).unwrap();
    assert_eq!(expanded("web"), "web/src/a.ts web/top.ts");
    assert_eq!(expanded("web/**"), "web/src/a.ts web/top.ts");
    assert_eq!(expanded("*/src/*.ts"), "api/src/b.ts web/src/a.ts");
    assert_eq!(expanded("top.*"), "api/top.ts web/top.ts");
    assert_eq!(expanded("**/a.ts"), "web/src/a.ts");
}
