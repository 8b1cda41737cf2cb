//! Each import style in small file trees.

use std::sync::Arc;

use proptest::prelude::*;
use strata_base::key::FileKey;
use strata_grammars::{ImportStyle, LanguageId};

use super::*;
use crate::symbols::manifests::Manifests;

/// Creates a resolver for files given by path, and the texts of the project files among them.
fn resolver(files: &[&str], manifests: &[(&str, &str)]) -> Resolver {
    let read: Vec<(FileKey, &str)> =
        manifests.iter().map(|(path, text)| (FileKey::from(*path), *text)).collect();
    let manifests = Manifests::read(read.iter().map(|(key, text)| (key, *text)));
    let files = files.iter().map(|path| {
        (
            FileKey::from(*path),
            LanguageId::by_path(path, "").unwrap_or(LanguageId::by_name("python").unwrap()),
        )
    });
    Resolver::new(files, Arc::new(manifests))
}

/// Returns the files that an import refers to.
fn resolved(resolver: &Resolver, from: &FileKey, language: LanguageId, import: &str) -> Vec<FileKey> {
    let numbers = resolver.imported_file_numbers(from, language, import).into_iter();
    numbers.map(|number| resolver.files()[number as usize].clone()).collect()
}

/// Checks the targets of imports. Each row contains the importing file, the import and the expected files.
#[track_caller]
fn check(resolver: &Resolver, table: &[(&str, &str, &[&str])]) {
    for (from, import, expected) in table {
        let from = FileKey::from(*from);
        let language = LanguageId::by_path(from.as_str(), "").unwrap();
        let resolved_files = resolved(resolver, &from, language, import);
        let resolved_files: Vec<&str> = resolved_files.iter().map(FileKey::as_str).collect();
        assert_eq!(resolved_files, *expected, "`{import}` in {from:?}");
    }
}

#[test]
fn dotted_names_resolve_to_modules_and_packages() {
    let resolver = resolver(
        &[
            "src/shop/__init__.py",
            "src/shop/base.py",
            "src/shop/json/__init__.py",
            "src/shop/json/tag.py",
            "src/shop/types.pyi",
            "tests/test_base.py",
            "tests/helpers.py",
            "tools/gen/model.py",
            "docs/base.js",
        ],
        &[],
    );
    check(
        &resolver,
        &[
            ("src/shop/json/tag.py", ".", &["src/shop/json/__init__.py"]),
            ("src/shop/json/tag.py", "..base", &["src/shop/base.py"]),
            ("src/shop/json/tag.py", "..", &["src/shop/__init__.py"]),
            ("src/shop/base.py", ".types", &["src/shop/types.pyi"]),
            ("tests/test_base.py", "shop", &["src/shop/__init__.py"]),
            ("tests/test_base.py", "shop.json.tag", &["src/shop/json/tag.py"]),
            ("tests/test_base.py", "helpers", &["tests/helpers.py"]),
            ("tests/test_base.py", "gen.model", &["tools/gen/model.py"]),
            // Inside a package, a bare name refers to a library.
            ("src/shop/base.py", "json", &[]),
            ("src/shop/base.py", "os.path", &[]),
            ("src/shop/base.py", "....far", &[]),
            ("src/shop/base.py", "......far", &[]),
        ],
    );
}

#[test]
fn projects_of_one_repository_import_each_other() {
    let resolver = resolver(
        &[
            "apps/web/web/app.py",
            "apps/web/tests/test_app.py",
            "apps/api/tests/test_api.py",
            "libs/store/src/store/__init__.py",
            "libs/store/src/store/sql.py",
            "libs/mail/code/mail.py",
            "libs/old/tests/helpers.py",
            "libs/old/old.py",
        ],
        &[
            ("apps/web/pyproject.toml", "[project]\nname = \"web\"\n"),
            ("apps/api/setup.py", "setup()\n"),
            (
                "libs/store/pyproject.toml",
                "[tool.poetry]\npackages = [{ include = \"store\", from = \"src\" }]\n",
            ),
            ("libs/mail/pyproject.toml", "[tool.setuptools]\npackage-dir = { \"\" = \"code\" }\n"),
            ("libs/old/setup.cfg", "[metadata]\n"),
        ],
    );
    check(
        &resolver,
        &[
            ("apps/web/web/app.py", "store", &["libs/store/src/store/__init__.py"]),
            ("apps/web/web/app.py", "store.sql", &["libs/store/src/store/sql.py"]),
            ("apps/web/web/app.py", "mail", &["libs/mail/code/mail.py"]),
            ("apps/web/web/app.py", "old", &["libs/old/old.py"]),
            // Each project has its own tests.
            ("apps/web/tests/test_app.py", "helpers", &[]),
            ("apps/web/web/app.py", "requests", &[]),
        ],
    );
}

#[test]
fn paths_resolve_to_files_index_files_aliases_and_packages() {
    let resolver = resolver(
        &[
            "apps/web/src/app.ts",
            "apps/web/src/lib/index.ts",
            "apps/web/src/lib/api.ts",
            "apps/web/src/view.tsx",
            "packages/core/source/main.ts",
            "packages/core/src/part.ts",
            "shared/tool.js",
            "old/a.js",
            "old/index.js",
        ],
        &[
            (
                "apps/web/tsconfig.json",
                "{ // paths\n \"compilerOptions\": {\"baseUrl\": \"./src\", \"paths\": {\"@lib/*\": [\"lib/*\"], \"tool\": [\"../../../shared/tool\"],} /* end */ } }",
            ),
            ("packages/core/package.json", "{\"name\": \"@me/core\", \"main\": \"source/main.ts\"}"),
        ],
    );
    check(
        &resolver,
        &[
            ("apps/web/src/app.ts", "./lib", &["apps/web/src/lib/index.ts"]),
            ("apps/web/src/app.ts", "./view.js", &["apps/web/src/view.tsx"]),
            ("apps/web/src/lib/api.ts", "..", &[]),
            ("apps/web/src/lib/api.ts", ".", &["apps/web/src/lib/index.ts"]),
            ("apps/web/src/app.ts", "@lib/api", &["apps/web/src/lib/api.ts"]),
            ("apps/web/src/app.ts", "tool", &["shared/tool.js"]),
            ("apps/web/src/app.ts", "lib/api", &["apps/web/src/lib/api.ts"]),
            ("apps/web/src/app.ts", "@/view", &["apps/web/src/view.tsx"]),
            ("old/a.js", "@lib/api", &[]),
            ("old/a.js", "@me/core", &["packages/core/source/main.ts"]),
            ("old/a.js", "@me/core/part", &["packages/core/src/part.ts"]),
            ("old/a.js", "@me/core-other", &[]),
            ("old/a.js", "./", &["old/index.js"]),
            ("old/a.js", "../../../etc/passwd", &[]),
            ("old/a.js", "react", &[]),
        ],
    );
}

/// Packages publish compiled files, which the repository does not contain.
#[test]
fn exports_resolve_to_the_sources_of_compiled_files() {
    let resolver = resolver(
        &[
            "packages/core/src/index.ts",
            "packages/core/src/node/index.ts",
            "packages/core/src/locales/de.ts",
            "packages/core/client.d.ts",
            "packages/core/types/hot.d.ts",
            "packages/root/index.ts",
            "packages/legacy/src/main.ts",
            "apps/a/main.ts",
        ],
        &[
            (
                "packages/core/package.json",
                r##"{"name": "@me/core", "exports": {
                    ".": {"import": {"types": "./dist/node/index.d.mts", "default": "./dist/node/index.mjs"}},
                    "./client": {"types": "./client.d.ts"},
                    "./locales/*": "./dist/locales/*.js",
                    "./locales/hidden": null
                }, "imports": {"#types/*": "./types/*.d.ts"}}"##,
            ),
            ("packages/root/package.json", r#"{"name": "root", "exports": "./dist/index.js"}"#),
            ("packages/legacy/package.json", r#"{"name": "legacy", "main": "./lib/main.js"}"#),
        ],
    );
    check(
        &resolver,
        &[
            ("apps/a/main.ts", "@me/core", &["packages/core/src/node/index.ts"]),
            ("apps/a/main.ts", "@me/core/client", &["packages/core/client.d.ts"]),
            ("apps/a/main.ts", "@me/core/locales/de", &["packages/core/src/locales/de.ts"]),
            ("apps/a/main.ts", "root", &["packages/root/index.ts"]),
            ("apps/a/main.ts", "legacy", &["packages/legacy/src/main.ts"]),
            ("packages/core/src/index.ts", "#types/hot", &["packages/core/types/hot.d.ts"]),
            ("apps/a/main.ts", "#types/hot", &[]),
        ],
    );
}

#[test]
fn crate_paths_follow_the_module_tree() {
    let resolver = resolver(
        &[
            "engine/src/lib.rs",
            "engine/src/key.rs",
            "engine/src/outline/mod.rs",
            "engine/src/outline/block.rs",
            "engine/src/outline/tests.rs",
            "engine/tests/whole.rs",
            "engine/tests/common/mod.rs",
            "cli/src/main.rs",
            "cli/src/args.rs",
            "odd-name/src/lib.rs",
            "ext/lib/start.rs",
            "ext/lib/more.rs",
        ],
        &[
            ("engine/Cargo.toml", "[package]\nname = \"my-engine\"\n"),
            (
                "cli/Cargo.toml",
                "[package]\nname = \"cli\"\n[dependencies]\nserde = \"1\"\n\
                 motor = { package = \"my-engine\", path = \"../engine\" }\n",
            ),
            (
                "ext/Cargo.toml",
                "[package]\nname = \"x\"\n[lib]\nname = \"ext_lib\"\npath = \"lib/start.rs\"\n",
            ),
        ],
    );
    check(
        &resolver,
        &[
            ("engine/src/outline/block.rs", "crate::key::FileKey", &["engine/src/key.rs"]),
            ("engine/src/outline/block.rs", "super::Outline", &["engine/src/outline/mod.rs"]),
            ("engine/src/outline/tests.rs", "super::super::key", &["engine/src/key.rs"]),
            ("engine/src/outline/mod.rs", "self::block::Block", &["engine/src/outline/block.rs"]),
            ("engine/src/lib.rs", "outline::block", &["engine/src/outline/block.rs"]),
            (
                "cli/src/main.rs",
                "my_engine::{key::FileKey, outline::{self, block::*}}",
                &["engine/src/key.rs", "engine/src/outline/block.rs", "engine/src/outline/mod.rs"],
            ),
            ("cli/src/main.rs", "crate::args as a", &["cli/src/args.rs"]),
            ("cli/src/args.rs", "odd_name::Thing", &["odd-name/src/lib.rs"]),
            ("cli/src/args.rs", "ext_lib::more::X", &["ext/lib/more.rs"]),
            ("engine/tests/whole.rs", "common", &["engine/tests/common/mod.rs"]),
            ("engine/tests/whole.rs", "my_engine::key", &["engine/src/key.rs"]),
            ("cli/src/main.rs", "motor::key", &["engine/src/key.rs"]),
            ("ext/lib/more.rs", "motor::key", &[]),
            ("cli/src/main.rs", "std::collections::{BTreeMap, HashMap as Map}", &[]),
            ("cli/src/main.rs", "serde::Serialize", &[]),
            // Truncated as long imports are.
            ("cli/src/main.rs", "my_engine::{key::FileK…", &["engine/src/key.rs"]),
        ],
    );
}

#[test]
fn go_packages_resolve_to_directories() {
    let files =
        ["go/geo/point.go", "go/geo/area.go", "go/geo/point_test.go", "go/main.go", "lib/far/deep/x.go"];
    let resolver_with_module =
        resolver(&files, &[("go/go.mod", "module example.com/team/go // v1\n\ngo 1.22\n")]);
    check(
        &resolver_with_module,
        &[
            ("go/main.go", "example.com/team/go/geo", &["go/geo/area.go", "go/geo/point.go"]),
            ("go/geo/point.go", "example.com/team/go", &["go/main.go"]),
            ("go/main.go", "example.com/team/gone/geo", &[]),
            ("go/main.go", "fmt", &[]),
        ],
    );
    check(&resolver(&files, &[]), &[("go/main.go", "example.com/far/deep", &["lib/far/deep/x.go"])]);
}

/// Styles that may have no language in the registry yet; their modules are called directly.
#[test]
fn files_resolve_relative_to_the_importer_the_top_or_by_a_unique_suffix() {
    let language = LanguageId::by_name("python").unwrap();
    let files = [
        "src/net/sock.h",
        "src/net/sock.c",
        "include/lib/sock.h",
        "include/lib/only.h",
        "lua/core/init.py",
        "lua/core/a.py",
        "README.md",
    ];
    let table = table::PathTable::new(files.iter().map(|path| (FileKey::from(*path), language)));
    let from = FileKey::from("src/net/sock.c");
    let found = |import: &str| -> Vec<String> {
        let numbers = file::resolve(&table, Importer { key: &from, language }, import);
        numbers.iter().filter_map(|number| table.key(*number)).map(|key| key.as_str().to_owned()).collect()
    };
    assert_eq!(found("sock.h"), ["src/net/sock.h"]);
    assert_eq!(found("<lib/sock.h>"), ["include/lib/sock.h"]);
    assert_eq!(found("\"only.h\""), ["include/lib/only.h"]);
    assert_eq!(found("../../README.md#top"), ["README.md"]);
    assert_eq!(found("core.a"), ["lua/core/a.py"]);
    assert_eq!(found("lua/core"), ["lua/core/init.py"]);
    assert_eq!(found("stdio.h"), Vec::<String>::new());
    assert_eq!(found("https://example.com/sock.h"), Vec::<String>::new());
}

fn any_path() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec!["a", "b", "src", "lib", "mod", "index", "__init__", "tests"]),
        1..5,
    )
    .prop_flat_map(|parts| {
        prop::sample::select(vec![".py", ".rs", ".ts", ".js", ".go", ".d.ts", ""])
            .prop_map(move |extension| format!("{}{extension}", parts.join("/")))
    })
}

fn any_import() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "b", "src", "crate", "super", "self", "::", ".", "..", "/", "{", "}", ",", "*", " as ", "@/",
        "…", "\\", "é", "-",
    ]);
    prop_oneof![any::<String>(), prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())]
}

proptest! {
    #[test]
    fn any_import_resolves_to_files_of_the_repository_or_nothing(
        files in prop::collection::vec(any_path(), 1..30),
        import in any_import(),
    ) {
        let manifests = Arc::default();
        let keyed = |path: &String| {
            let language = LanguageId::by_path(path, "").unwrap_or(LanguageId::by_name("python").unwrap());
            (FileKey::from(path.as_str()), language)
        };
        let resolver = Resolver::new(files.iter().map(keyed), Arc::clone(&manifests));
        let reversed = Resolver::new(files.iter().rev().map(keyed), manifests);
        let from = FileKey::from(files[0].as_str());
        for language in LanguageId::all() {
            let found = resolved(&resolver, &from, language, &import);
            prop_assert!(found.iter().all(|key| *key != from && files.iter().any(|file| file == key.as_str())));
            prop_assert!(found.is_sorted());
            prop_assert_eq!(resolved(&reversed, &from, language, &import), found.clone());
            prop_assert!(language.imports != ImportStyle::None || found.is_empty());
        }
        let importer = Importer { key: &from, language: LanguageId::by_name("python").unwrap() };
        for found in [file::resolve(&resolver.table, importer, &import), namespace::resolve(&resolver.table, importer, &import)] {
            prop_assert!(found.iter().all(|number| resolver.table.key(*number).is_some()));
        }
    }
}
