"""Repositories of a mirror, and work trees of their commits.

A mirror is a directory with bare repositories as OWNER+NAME/repo. Nothing is downloaded.
"""

import collections
import functools
import os
import pathlib
import shutil
import subprocess

from definitions import Definition, definitions

LIST = pathlib.Path(__file__).with_name("repositories.txt")


def listed(kind: str) -> list[str]:
    """The repositories of a kind, as OWNER/NAME: `code` for questions and issues, `recorded` for edits and conversations."""
    entries = [line.split("#")[0].split() for line in LIST.read_text().splitlines()]
    return [entry[1] for entry in entries if entry and entry[0] == kind]


def git(folder: str | os.PathLike, *arguments: str) -> str:
    run = subprocess.run(["git", "-C", str(folder), "-c", "core.quotePath=false", *arguments], capture_output=True)
    return run.stdout.decode("utf-8", "replace")


class Mirror:
    def __init__(self, folder: str):
        self.folder = pathlib.Path(folder).resolve()
        self.missing: list[str] = []

    def find(self, name: str) -> pathlib.Path | None:
        """The bare repository of OWNER/NAME. One that is not in the mirror is listed in `missing`."""
        path = self.folder / name.replace("/", "+") / "repo"
        if path.is_dir():
            return path
        if name not in self.missing:
            self.missing.append(name)
        return None


class WorkTree:
    """A work tree of a bare repository, which moves from commit to commit. Files that a snapshot lacks are missing from it."""

    def __init__(self, repository: pathlib.Path, path: pathlib.Path):
        self.path = path
        shutil.rmtree(path, ignore_errors=True)
        subprocess.run(["git", "init", "--quiet", path], check=True, capture_output=True)
        (path / ".git/objects/info/alternates").write_text(f"{repository}/objects\n")
        for setting, value in {"core.hooksPath": "/dev/null", "gc.auto": "0", "core.autocrlf": "false"}.items():
            git(path, "config", setting, value)

    def move(self, commit: str) -> bool:
        """Checks out a commit, without files of others. Returns false if the repository does not contain the commit."""
        if not git(self.path, "rev-parse", "--quiet", "--verify", commit + "^{commit}"):
            return False
        git(self.path, "update-ref", "--no-deref", "HEAD", commit)
        git(self.path, "read-tree", commit)
        git(self.path, "clean", "-ffdxq")
        git(self.path, "checkout-index", "--force", "--index", "--all")
        return True

    def files(self) -> "Files":
        return Files(self.path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


class Files:
    """The tracked files of a work tree at one commit, which are read when needed."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.paths = [path for path in git(folder, "ls-files", "-z").split("\0") if path and (folder / path).is_file()]
        self.by_name: dict[str, list[str]] = collections.defaultdict(list)
        for path in self.paths:
            self.by_name[path.rsplit("/", 1)[-1]].append(path)
        self.lines = functools.cache(self._lines)
        self.definitions = functools.cache(self._definitions)

    def _lines(self, path: str) -> list[str]:
        try:
            return (self.folder / path).read_bytes().decode("utf-8", "replace").split("\n")
        except OSError:
            return [""]

    def _definitions(self, path: str) -> tuple[Definition, ...]:
        """The definitions of a Python file; none of other files."""
        return definitions(path, "\n".join(self.lines(path))) if path.endswith(".py") else ()

    def characters(self, path: str, first: int, last: int) -> int:
        return len("\n".join(self.lines(path)[first - 1 : last]))

    def enclosing(self, path: str, first: int, last: int) -> Definition | None:
        """The innermost definition that contains some lines."""
        around = [definition for definition in self.definitions(path) if definition.first <= first and last <= definition.last]
        return max(around, key=lambda definition: (definition.first, -definition.last), default=None)

    def meant_by(self, text: str) -> list[str]:
        """The files that a path or file name in prose can mean."""
        text = text.strip("`./")
        # The path may be absolute, or begin above the repository.
        for _ in range(3):
            found = [path for path in self.by_name.get(text.rsplit("/", 1)[-1], ()) if path == text or path.endswith("/" + text)]
            if found or "/" not in text:
                return found
            text = text.split("/", 1)[1]
        return []
