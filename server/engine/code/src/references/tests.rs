//! References in small invented repositories.

use std::collections::BTreeMap;
use std::sync::Arc;

use strata_base::cancel::Cancel;
use strata_base::key::FileKey;
use strata_grammars::LanguageId;

use super::*;
use crate::symbols::{FileSymbols, ReferenceGraph, SymbolIndex};

struct Repo {
    texts: BTreeMap<FileKey, Arc<str>>,
    index: SymbolIndex,
    graph: ReferenceGraph,
}

impl Repo {
    /// Calls `run` with the repository, searched in two parts.
    fn search<R>(&self, run: impl FnOnce(ReferenceSources<'_>) -> R) -> R {
        let texts = |key: &FileKey| self.texts.get(key).cloned();
        let each_part = |search: SearchPartFn<'_>| (0..2).map(|part| search(part, 2)).collect();
        run(ReferenceSources {
            names: &FileScopesCache::default(),
            index: &self.index,
            graph: &self.graph,
            texts: &texts,
            each_part: &each_part,
        })
    }
}

fn repo(files: &[(&str, &str)]) -> Repo {
    let symbols = |path: &str, text: &str| {
        let (key, language) = (FileKey::from(path), LanguageId::by_path(path, "").unwrap());
        let read = FileSymbols::read(language, &key, text, &Cancel::new()).unwrap();
        (key, Arc::new(read))
    };
    let index: SymbolIndex = files.iter().map(|(path, text)| symbols(path, text)).collect();
    let graph = ReferenceGraph::build(&index, &Arc::default());
    let texts = files.iter().map(|(path, text)| (FileKey::from(*path), Arc::from(*text))).collect();
    Repo { texts, index, graph }
}

fn lines(report: &ReferenceReport) -> Vec<String> {
    let hit = |hit: &ReferenceHit| {
        let mark = match (hit.is_definition, hit.confidence) {
            (true, _) => "=",
            (false, Confidence::Certain) => "",
            (false, Confidence::Guess) => "?",
        };
        format!("{}:{}{mark}", hit.file.as_str(), hit.line)
    };
    report.hits.iter().map(hit).collect()
}

/// Returns the hits of a query: `=` marks definitions, `?` marks guesses.
fn hits(repo: &Repo, query: &str) -> Vec<String> {
    lines(
        &repo
            .search(|sources| find_references(sources, &ReferenceQuery::new(query, None), &Cancel::new()))
            .unwrap(),
    )
}

/// Returns the references to the target of the `occurrence`th mention of a name in a file.
fn hits_at(repo: &Repo, path: &str, name: &str, occurrence: usize) -> Vec<String> {
    let key = FileKey::from(path);
    let (start, _) = repo.texts[&key].match_indices(name).nth(occurrence).unwrap();
    lines(
        &repo
            .search(|sources| find_references_at(sources, &key, &(start..start + name.len()), &Cancel::new()))
            .unwrap(),
    )
}

#[test]
fn names_resolve_by_scope_and_imports() {
    let repo = repo(&[
        ("a.py", "def run(): ...\n\ndef go():\n    run()\n"),
        ("b.py", "from a import run as start, run\nstart()\nrun()\n"),
        ("c.py", "import a\na.run()\ndef own(run):\n    run()\n"),
        ("d.py", "run = 1\nprint(run)\n"),
        ("e.py", "run()\n"),
        ("f.py", "from a import *\nrun()\n"),
        ("g.py", "from subprocess import run\nrun()\n"),
        ("h.py", "def f():\n    run = 2\n    return run, dict(run=3)\n"),
    ]);
    let a = ["a.py:1=", "a.py:4", "b.py:1", "b.py:1", "b.py:3", "c.py:2", "f.py:2"];
    let query = ReferenceQuery::new("run", None);
    assert_eq!(query.name, "run");
    let all = hits(&repo, "run");
    assert_eq!(all, [&a[..6], &["d.py:1=", "d.py:2"], &a[6..]].concat());
    assert_eq!(hits(&repo, "a.run"), a);
    assert_eq!(hits(&repo, "d.run"), ["d.py:1=", "d.py:2"]);
    assert_eq!(hits_at(&repo, "c.py", "run", 0), a);
    assert_eq!(hits_at(&repo, "c.py", "run", 2), ["c.py:3", "c.py:4"], "a parameter is local");
}

#[test]
fn names_resolve_through_reexports_of_packages() {
    let repo = repo(&[
        ("shop/__init__.py", "from .cart import Cart as Cart\nfrom . import prices\n"),
        ("shop/cart.py", "class Cart: ...\n"),
        ("shop/prices.py", "def tax(): ...\n"),
        ("main.py", "import shop\nfrom shop import Cart\nshop.Cart()\nshop.prices.tax()\nCart()\n"),
        ("other/cart.py", "class Cart: ...\n"),
    ]);
    let cart = [
        "main.py:2",
        "main.py:3",
        "main.py:5",
        "shop/__init__.py:1",
        "shop/__init__.py:1",
        "shop/cart.py:1=",
    ];
    assert_eq!(hits(&repo, "shop.cart.Cart"), cart);
    assert_eq!(hits(&repo, "tax"), ["main.py:4", "shop/prices.py:1="]);
}

#[test]
fn members_resolve_by_the_type_of_their_value() {
    let repo = repo(&[
        ("base.py", "class Base:\n    def save(self): ...\n    def load(self):\n        self.save()\n"),
        (
            "user.py",
            "from base import Base\nclass User(Base):\n    def __init__(self):\n        self.disk = Disk()\n    \
             def keep(self):\n        self.save()\n        self.disk.save()\nclass Disk:\n    def save(self): ...\n",
        ),
        (
            "main.py",
            "from user import User, Disk\nimport other\ndef make() -> User: ...\ndef f(u: \"User\", d: Disk | None, x):\n    \
             u.save()\n    d.save()\n    x.save()\n    other.save()\n    make().save()\n    User().save()\n    \
             with Disk() as e:\n        e.save()\n    \"\".save()\n",
        ),
    ]);
    assert_eq!(
        hits(&repo, "Base.save"),
        ["base.py:2=", "base.py:4", "main.py:5", "main.py:7?", "main.py:9", "main.py:10", "user.py:6"]
    );
    assert_eq!(
        hits(&repo, "Disk.save"),
        ["main.py:6", "main.py:7?", "main.py:12", "user.py:7", "user.py:9="]
    );
    assert_eq!(hits(&repo, "User.disk"), ["user.py:4=", "user.py:7"]);
    assert_eq!(hits(&repo, "User.save"), hits(&repo, "Base.save"), "the member is inherited");
    assert_eq!(hits(&repo, "User.missing"), Vec::<String>::new());
}

#[test]
fn overriding_methods_are_references_to_each_other() {
    let repo = repo(&[
        (
            "a.py",
            "class A:\n    def go(self): ...\nclass B(A):\n    def go(self): ...\nclass C:\n    def go(self): ...\n",
        ),
        ("m.py", "from a import A, B, C\nA().go()\nB().go()\nC().go()\n"),
    ]);
    assert_eq!(hits(&repo, "B.go"), ["a.py:2", "a.py:4=", "m.py:2", "m.py:3"]);
}

/// The import graph does not track short and common names.
#[test]
fn short_and_common_names_have_references() {
    let repo = repo(&[
        ("a.py", "def f(): ...\nclass Store:\n    def get(self): ...\n"),
        ("b.py", "from a import f, Store\nf()\nStore().get()\ndef g(x):\n    x.get()\n"),
    ]);
    assert_eq!(hits(&repo, "f"), ["a.py:1=", "b.py:1", "b.py:2"]);
    assert_eq!(hits(&repo, "get"), ["a.py:3=", "b.py:3"]);
    let report = repo
        .search(|sources| find_references(sources, &ReferenceQuery::new("get", None), &Cancel::new()))
        .unwrap();
    assert_eq!(report.unlikely, 1, "a value of unknown type, and a built-in name");
    assert_eq!(&*report.hits[1].text, "Store().get()");
}

#[test]
fn typescript_names_resolve_by_imports_types_and_namespaces() {
    let repo = repo(&[
        (
            "src/shape.ts",
            "export interface Shape { area(): number; side: number }\nexport class Square implements Shape {\n  side = 1;\n  \
             area() { return this.side * this.side; }\n}\nexport default class Circle {\n  area() { return 3; }\n}\n",
        ),
        ("src/index.ts", "export * from './shape';\nexport { Square as Box } from './shape.js';\n"),
        (
            "main.ts",
            "import { Square, Shape } from './src';\nimport Round from './src/shape';\nimport * as all from './src';\n\
             const s = new Square();\ns.area();\nnew Round().area();\nfunction f(x: Shape, y) {\n  x.area();\n  y.area();\n}\n\
             const { side } = s;\nconst b: all.Square = s as Square;\n",
        ),
        ("local.ts", "function f(Square: any) { return Square; }\n"),
    ]);
    assert_eq!(
        hits(&repo, "Square"),
        ["main.ts:1", "main.ts:4", "main.ts:12", "main.ts:12", "src/index.ts:2", "src/shape.ts:2="]
    );
    assert_eq!(
        hits(&repo, "Square.area"),
        ["main.ts:5", "main.ts:8", "main.ts:9?", "src/shape.ts:1", "src/shape.ts:4="]
    );
    assert_eq!(hits(&repo, "Circle.area"), ["main.ts:6", "main.ts:9?", "src/shape.ts:7="]);
    assert_eq!(hits(&repo, "Circle"), ["src/shape.ts:6="]);
    assert!(hits(&repo, "side").contains(&"main.ts:11=".to_owned()));
}

/// Builders return the value on which they are called.
#[test]
fn a_method_may_return_its_receiver() {
    let repo = repo(&[
        (
            "plan.ts",
            "export interface Plan { min(n: number): this; wide: string }\nexport interface Wide extends Plan { max(n: number): this }\n\
             export const plan = (): Wide => make();\n",
        ),
        (
            "main.ts",
            "import * as p from './plan';\np.plan().min(1).max(2).min(3);\nlet y: p.Wide[\"max\"];\nlet z = p.plan()[\"wide\"];\n",
        ),
        ("parts.ts", "import * as all from './main2';\nconst { tools } = all;\ntools.plan();\n"),
        ("main2.ts", "export * as tools from './plan';\n"),
        (
            "b.py",
            "from typing import Self\nclass B:\n    def add(self) -> Self: ...\n    def end(self): ...\n",
        ),
        ("c.py", "from b import B\nB().add().add().end()\n"),
    ]);
    assert_eq!(hits(&repo, "Plan.min"), ["main.ts:2", "main.ts:2", "plan.ts:1="]);
    assert_eq!(hits(&repo, "Wide.max"), ["main.ts:2", "main.ts:3", "plan.ts:2="]);
    assert_eq!(hits(&repo, "Plan.wide"), ["main.ts:4", "plan.ts:1="]);
    assert_eq!(hits(&repo, "plan.plan"), ["main.ts:2", "main.ts:4", "parts.ts:3", "plan.ts:3="]);
    assert_eq!(hits(&repo, "B.end"), ["b.py:4=", "c.py:2"]);
}

/// A language without reference rules relies on the import graph.
#[test]
fn languages_without_rules_mark_guesses() {
    let repo = repo(&[
        ("a/lib.rb", "class Till\n  def ring_up\n  end\nend\n"),
        ("a/main.rb", "require_relative 'lib'\nTill.new.ring_up\n"),
        ("b/main.rb", "x.ring_up\n"),
    ]);
    assert_eq!(hits(&repo, "Till"), ["a/lib.rb:1=", "a/main.rb:2"]);
    assert_eq!(hits(&repo, "Till.ring_up"), ["a/lib.rb:2=", "a/main.rb:2", "b/main.rb:1?"]);
}

#[test]
fn members_of_prototypes_belong_to_their_type() {
    let repo = repo(&[
        (
            "list.js",
            "List.prototype.push = function (x) { this.grow(); };\nfunction List() {}\nList.prototype.grow = () => 1;\n\
             function Other() {}\nOther.prototype.push = function () {};\nmodule.exports = List;\n",
        ),
        ("main.js", "const List = require('./list');\nconst all = new List();\nall.push(1);\n"),
    ]);
    assert_eq!(hits(&repo, "List.push"), ["list.js:1=", "main.js:3"]);
    assert_eq!(hits(&repo, "List.grow"), ["list.js:1?", "list.js:3="]);
    assert_eq!(hits(&repo, "Other.push"), ["list.js:5="]);
}

/// Lists of expressions hold what is bound and what is mentioned.
#[test]
fn names_in_lists_are_references_unless_they_are_bound() {
    let uses = "package lex\n\nfunc f(x int) int {\n\tswitch x {\n\tcase itemStart, itemEnd:\n\t\treturn itemEnd\n\t}\n\t\
                y := itemEnd\n\tx = itemEnd\n\treturn y\n}\n";
    let repo = repo(&[
        ("lex/item.go", "package lex\n\nconst (\n\titemStart = 1\n\titemEnd = 2\n)\n"),
        ("lex/parse.go", uses),
        ("lex/kind.go", "package lex\n\ntype kind int\n"),
        ("lex/same.go", "package lex\n\nfunc h(kind kind) kind {\n\treturn kind\n}\n"),
        (
            "lex/own.go",
            "package lex\n\nfunc g() int {\n\tfor itemEnd, _ := range all {\n\t\treturn itemEnd\n\t}\n}\n",
        ),
    ]);
    let found = ["lex/item.go:5=", "lex/parse.go:5", "lex/parse.go:6", "lex/parse.go:8", "lex/parse.go:9"];
    assert_eq!(hits(&repo, "itemEnd"), found);
    assert_eq!(hits(&repo, "kind").len(), 5, "a parameter may have the name of its type");
}

/// Cycles of imports, base types and values.
#[test]
fn cycles_do_not_hang() {
    let repo = repo(&[
        ("a.py", "from b import *\nfrom b import x\nclass A(B):\n    go = x\ny = x\nx = y\ny.go\nA.go.go\n"),
        (
            "b.py",
            "from a import *\nfrom a import x\nclass B(A):\n    def go(self): return self.go\nz = z()\nz.go()\n",
        ),
        (
            "c.ts",
            "export * from './d';\ntype T = U; type U = T;\nexport default x; let x = x.go; declare let t: T; t.go;\n",
        ),
        (
            "d.ts",
            "export * from './c';\nimport q from './d';\nq.go; class K extends K { go() { return this.go; } }\n",
        ),
    ]);
    assert!(!hits(&repo, "go").is_empty());
    hits(&repo, "x");
}

/// Returns the numbers of other lines of code and of text, and of files that were not searched.
fn unlisted_counts(repo: &Repo, query: &str) -> (usize, usize, usize) {
    let report = repo
        .search(|sources| find_references(sources, &ReferenceQuery::new(query, None), &Cancel::new()))
        .unwrap();
    (report.other_lines.code, report.other_lines.text, report.unsearched)
}

/// Every line that contains the name is a hit or is counted.
#[test]
fn unlisted_lines_with_the_name_are_counted() {
    let mut repo = repo(&[
        ("a.py", "def run(): ...\n# run it, do not rerun or run_all it\nrun()\n"),
        ("b.py", "def run(): ...\nrun('run')\n"),
        ("c.md", "Call `run`.\n"),
        ("d.rs", "fn f() { run() }\n"),
    ]);
    assert_eq!(hits(&repo, "a.run"), ["a.py:1=", "a.py:3"]);
    assert_eq!(unlisted_counts(&repo, "a.run"), (3, 2, 0));
    assert_eq!(unlisted_counts(&repo, "run"), (1, 2, 0));
    repo.texts.remove(&FileKey::from("b.py"));
    assert_eq!(unlisted_counts(&repo, "a.run"), (1, 2, 1), "a file that cannot be read may contain the name");
}

#[test]
fn a_name_without_a_definition_has_its_mentions_as_guesses() {
    let repo = repo(&[
        ("a.ts", "import { useState } from 'react';\nuseState(); // useState\n"),
        ("b.py", "x.use_state()\n"),
        ("c.rs", "fn f() { use_state() }\n"),
    ]);
    assert_eq!(hits(&repo, "useState"), ["a.ts:1?", "a.ts:2?"]);
    assert_eq!(hits(&repo, "use_state"), ["b.py:1?", "c.rs:1?"]);
    assert_eq!(hits(&repo, "Hook.use_state"), ["b.py:1?", "c.rs:1?"]);
    assert_eq!(hits(&repo, "missing"), Vec::<String>::new());
}

/// A method is called without importing the package that defines it, here next to one that defines another.
#[test]
fn methods_of_other_packages_are_guesses() {
    let method = |package: &str, of: &str| {
        format!(
            "package {package}\n\ntype {of} struct{{}}\n\nfunc (it *{of}) Flush() {{}}\n\nfunc Open() *{of} {{ return nil }}\n"
        )
    };
    let repo = repo(&[
        ("store/store.go", &method("store", "Disk")),
        ("net/net.go", &method("net", "Net")),
        ("app/app.go", "package app\n\nimport \"example.com/m/store\"\n\nvar Main = store.Open()\n"),
        (
            "main.go",
            "package main\n\nimport (\n\t\"example.com/m/app\"\n\t\"example.com/m/net\"\n)\n\nvar n = net.Open()\n\n\
             func main() { app.Main.Flush() }\n",
        ),
    ]);
    let store = FileKey::from("store/store.go");
    let query = ReferenceQuery::new("Flush", Some(&store));
    let report = repo.search(|sources| find_references(sources, &query, &Cancel::new())).unwrap();
    assert_eq!(lines(&report), ["main.go:10?", "store/store.go:5="]);
    assert_eq!(report.other_lines, NonReferenceLineCounts { code: 1, text: 0 }, "the other definition");
}
