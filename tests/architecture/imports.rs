//! What each part of the project may use. Checks the paths in the source text.

use crate::repo::File;
use crate::source::{PathUse, parse, paths, tokens, tokens_of};

/// A directory, paths that its files must not use, and the reason.
struct Wall {
    inside: &'static str,
    never: &'static [&'static str],
    except: &'static [&'static str],
    because: &'static str,
}

/// Access to the outside world.
const OUTSIDE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::os",
    "std::process",
    "std::time::Instant",
    "std::time::SystemTime",
    "std::time::UNIX_EPOCH",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
];

/// Background work.
const THREADS: &[&str] = &["std::thread"];

/// Libraries for communicating with an editor.
const PROTOCOL: &[&str] =
    &["tower_lsp", "tower_lsp_server", "tower_service", "ls_types", "lsp_types", "jsonrpc"];

/// Runtimes, databases and clients.
const MACHINERY: &[&str] =
    &["tokio", "async_std", "smol", "futures", "rusqlite", "reqwest", "hyper", "ureq", "isahc", "tracing"];

/// The crates that `app` puts together.
const BELOW_APP: &[&str] = &[
    "strata_base",
    "strata_code",
    "strata_conversation",
    "strata_grammars",
    "strata_host",
    "strata_prompt",
    "strata_tokens",
];

const WALLS: &[Wall] = &[
    Wall {
        inside: "server/engine/",
        never: OUTSIDE,
        except: &["server/engine/code/build.rs", "server/engine/tokens/build.rs"],
        because: "the engine does not do I/O or read the clock or environment",
    },
    Wall {
        inside: "server/engine/",
        never: THREADS,
        // This file checks that counts do not depend on other threads.
        except: &["server/engine/tokens/src/counting/tests.rs"],
        because: "the engine does not spawn threads or wait",
    },
    Wall {
        inside: "server/engine/",
        never: MACHINERY,
        except: &[],
        because: "the engine is synchronous and does not use runtimes or clients",
    },
    Wall {
        inside: "server/engine/",
        never: &["dashmap"],
        except: &["server/engine/base/src/cache.rs"],
        because: "DashMap is only for the cache that pool threads share",
    },
    Wall {
        inside: "grammars/src/",
        never: OUTSIDE,
        except: &[],
        because: "grammars are compiled in and do not access the outside world",
    },
    Wall {
        inside: "",
        never: PROTOCOL,
        except: &["server/lsp/"],
        because: "only server/lsp speaks the protocol",
    },
    Wall {
        inside: "",
        never: &["rmcp"],
        except: &["server/mcp/"],
        because: "only server/mcp communicates with agents",
    },
    Wall {
        inside: "server/mcp/src/",
        never: BELOW_APP,
        except: &[],
        because: "the MCP server has no logic of its own: it runs the commands of app",
    },
    Wall {
        inside: "server/host/src/",
        never: &[
            "strata_prompt::budget",
            "strata_conversation::compaction",
            "strata_prompt::assembly",
            "strata_prompt::session",
            "strata_prompt::tiers",
            "strata_prompt::wire",
        ],
        except: &[],
        because: "the host provides data and does not decide what is in the context",
    },
    Wall {
        inside: "server/host/src/",
        never: &["strata_conversation::history"],
        except: &[
            "server/host/src/store.rs",
            "server/host/src/store/",
            "server/host/src/provider/key_filter.rs",
        ],
        because: "in the host, only the store and the filter of a provider's key handle messages, without interpreting them",
    },
    Wall {
        inside: "server/cli/src/",
        never: BELOW_APP,
        except: &[],
        because: "the command line has no logic of its own: it runs the commands of app",
    },
];

/// Returns the uses of forbidden paths.
pub(crate) fn across_walls(files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let walls = WALLS.iter().filter(|wall| wall.stands_in(&file.path));
        let walls: Vec<&Wall> = walls.collect();
        if walls.is_empty() {
            continue;
        }
        for named in paths(&file.text) {
            for wall in walls.iter().filter(|wall| wall.forbids(&named)) {
                let place = format!("{}:{}", file.path, named.line);
                found.push(format!("{place} uses {}, but {}", named.text(), wall.because));
            }
        }
    }
    found
}

/// Returns the asynchronous code in crates that must not have any.
pub(crate) fn awaiting(files: &[File]) -> Vec<String> {
    let plain =
        |file: &&File| ["server/engine/", "grammars/src/"].iter().any(|folder| file.path.starts_with(folder));
    let mut found = Vec::new();
    for file in files.iter().filter(plain) {
        for token in tokens(&file.text).iter().filter(|token| matches!(token.text, "async" | "await")) {
            found.push(format!("{}:{} contains `{}`", file.path, token.line, token.text));
        }
    }
    found
}

/// Returns the methods of the backend that await something before they post their event.
pub(crate) fn late_events(file: &File) -> Vec<String> {
    let tree = parse(&file.text);
    let mut found = Vec::new();
    let mut methods = 0;
    let mut open = vec![tree.root_node()];
    while let Some(node) = open.pop() {
        if node.kind() == "function_item" {
            let tokens = tokens_of(node, &file.text);
            let first = |word: &str| tokens.iter().position(|token| token.text == word);
            methods += usize::from(first("async").is_some());
            if let Some(awaits) = first("await")
                && first("post").is_none_or(|posts| posts > awaits)
            {
                let line = node.start_position().row + 1;
                found.push(format!("{}:{line} awaits before posting its event", file.path));
            }
            continue;
        }
        let mut cursor = node.walk();
        open.extend(node.children(&mut cursor));
    }
    if methods == 0 {
        found.push(format!("{} has no asynchronous methods; has the backend moved?", file.path));
    }
    found
}

/// Returns the conversions between bytes and UTF-16 outside the module for them. The host decodes files in UTF-16.
pub(crate) fn positions(files: &[File]) -> Vec<String> {
    const ALLOWED: &[&str] = &["server/lsp/src/position.rs", "server/host/src/disk/"];
    let converts = |word: &str| word.contains("utf16") && !word.contains("UTF");
    let product = |file: &&File| {
        file.path.contains("/src/")
            && !file.path.starts_with("tests/")
            && !ALLOWED.iter().any(|place| file.path.starts_with(place))
    };
    let mut found = Vec::new();
    for file in files.iter().filter(product) {
        for token in tokens(&file.text).iter().filter(|token| converts(token.text)) {
            found.push(format!("{}:{} calls `{}`", file.path, token.line, token.text));
        }
    }
    found
}

impl Wall {
    fn stands_in(&self, path: &str) -> bool {
        path.starts_with(self.inside) && !self.except.iter().any(|place| path.starts_with(place))
    }

    fn forbids(&self, named: &PathUse) -> bool {
        self.never.iter().any(|prefix| named.is_below(prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        across_walls(&[File::new(path, text)]).len()
    }

    #[test]
    fn every_wall_can_be_run_into() {
        for wall in WALLS {
            for path in wall.never {
                let file = format!("{}x.rs", wall.inside);
                assert!(found(&file, &format!("use {path}::Thing;")) > 0, "{path} in {file}");
            }
        }
    }

    #[test]
    fn the_engine_touches_nothing_outside() {
        let file = "server/engine/code/src/a.rs";
        assert_eq!(found(file, "use std::{collections::BTreeMap, fs};"), 1);
        assert_eq!(found(file, "fn f() { let now = std::time::Instant::now(); }"), 1);
        assert_eq!(found(file, "fn f() { format!(\"{}\", std::env::var(\"HOME\")) }"), 1);
        assert_eq!(found(file, "// std::fs::read\nuse std::time::Duration;\nuse std::io::Write;"), 0);
    }

    #[test]
    fn what_is_forbidden_here_is_allowed_where_it_belongs() {
        assert_eq!(found("server/engine/prompt/src/assembly/a.rs", "use dashmap::DashMap;"), 1);
        assert_eq!(found("server/engine/base/src/cache.rs", "use dashmap::DashMap;"), 0);
        assert_eq!(found("server/host/src/a.rs", "use tower_lsp::ls_types::Range;"), 1);
        assert_eq!(found("server/lsp/src/a.rs", "use tower_lsp::ls_types::Range;"), 0);
        assert_eq!(found("server/host/src/a.rs", "use strata_base::key::FileKey;"), 0);
    }

    #[test]
    fn awaiting_is_found() {
        let bad = File::new("server/engine/code/src/a.rs", "pub async fn f() { g().await }");
        assert_eq!(awaiting(&[bad]).len(), 2);
        let elsewhere = File::new("server/lsp/src/a.rs", "pub async fn f() { g().await }");
        assert_eq!(awaiting(&[elsewhere]).len(), 0);
    }

    #[test]
    fn late_events_is_found() {
        let check = |body: &str| {
            let text = format!("impl LanguageServer for Backend {{ async fn f(&self) {{ {body} }} }}");
            late_events(&File::new("backend.rs", &text)).len()
        };
        assert_eq!(check("self.post(a); wait.await"), 0);
        assert_eq!(check("self.post(a);"), 0);
        assert_eq!(check("wait.await; self.post(a);"), 1);
        assert_eq!(check("wait.await"), 1);
        assert_eq!(late_events(&File::new("backend.rs", "struct Backend;")).len(), 1);
    }

    #[test]
    fn stray_conversions_are_found() {
        let text = "fn f(text: &str) -> usize { text.encode_utf16().count() }";
        assert_eq!(positions(&[File::new("server/engine/code/src/a.rs", text)]).len(), 1);
        assert_eq!(positions(&[File::new("server/lsp/src/position.rs", text)]).len(), 0);
    }
}
