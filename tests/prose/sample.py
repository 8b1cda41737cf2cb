#!/usr/bin/env python3
"""Prints sentences of the project at random, for a reader who has not written them.

    tests/prose/sample.py [SEED]

Draws 60 sentences of pages, 60 doc comments, 30 settings, 30 messages and 30 lines of the change log. A place is drawn by the
hash of its name, not by its text, so two versions of the tree show the same places.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEED = sys.argv[1] if len(sys.argv) > 1 else "1"
GENERATED = ["CHANGELOG.md", "docs/PROTOCOL.md", "docs/SUMMARY.md", "docs/providers.md", "docs/settings.md"]
MESSAGE = re.compile(r'"((?:[^"\\\n]|\\.){16,})"')


def tracked(*patterns: str) -> list[str]:
    """Paths of the repository that match Git's patterns."""
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


def is_test(path: str) -> bool:
    return "/tests/" in path or path.endswith("tests.rs") or path.startswith("tests/")


def product(path: str) -> str:
    """The text of a Rust file up to its tests."""
    return (ROOT / path).read_text().split("#[cfg(test)]\nmod tests {")[0]


def doc_comments(path: str):
    """Doc comments with the first line of what they describe."""
    comment = []
    for line in product(path).splitlines():
        stripped = line.strip()
        if stripped.startswith("///"):
            comment.append(stripped[3:].strip())
        elif comment and not stripped.startswith("#["):
            yield stripped, " ".join(comment)
            comment = []


def sentences(path: str):
    """Sentences of a page and of its tables, each with the sentence before it. Leaves out blocks of code."""
    text = re.sub(r"^ *(```+).*?^ *\1$", "", (ROOT / path).read_text(), flags=re.S | re.M)
    for block in re.split(r"\n(?:\s*\n| *[-*] | *\d+\. |(?=\|))", text):
        before = ""
        cells = block.strip().strip("|").split(" | ") if block.strip().startswith("|") else [block]
        for cell in cells:
            for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z`*\[])", " ".join(cell.split())):
                if sentence.count(" ") > 3 and not sentence.startswith(("#", "![", "|-")):
                    yield f"({before}) {sentence}" if before else sentence
                before = sentence


def places():
    """Every kind with its places: a stable name, and the text that stands there."""
    sources = [path for path in tracked("server/*.rs") if not is_test(path)]
    docs = [(f"{path}: {item}", text) for path in sources for item, text in doc_comments(path)]
    rows = re.findall(r"^\| `([^`]+)` \|.*\| (.+) \|$", (ROOT / "docs/settings.md").read_text(), re.M)
    manifest = json.loads((ROOT / "editors/vscode/package.json").read_text())
    messages = [(command["command"], command["title"]) for command in manifest["contributes"]["commands"]]
    for path in [*sources, *tracked("editors/vscode/src/*.ts", "editors/neovim/lua/*.lua")]:
        text = product(path) if path.endswith(".rs") else (ROOT / path).read_text()
        code = "\n".join(line for line in text.splitlines() if not line.strip().startswith(("//", "--", "#[", "*")))
        strings = [text for text in MESSAGE.findall(code) if text.count(" ") > 2]
        messages += [(f"{path} #{count}", text) for count, text in enumerate(strings)]
    log = [line[2:] for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("- ")]
    listed = [path for path in tracked("*.md", "docs/*.md", "editors/*.md") if path not in GENERATED]
    pages = [(f"{path} #{count}", text) for path in listed for count, text in enumerate(sentences(path))]
    return [
        ("sentences of pages", 60, pages),
        ("doc comments", 60, docs),
        ("settings", 30, rows),
        ("messages", 30, messages),
        ("lines of the change log", 30, [(f"entry {count}", text) for count, text in enumerate(log)]),
    ]


for kind, count, candidates in places():
    drawn = sorted(candidates, key=lambda place: hashlib.sha256(f"{SEED} {place[0]}".encode()).digest())[:count]
    print(f"# {len(drawn)} {kind} of {len(candidates)}\n")
    for name, text in drawn:
        print(f"- {name}\n  {text}")
    print()
