"""Fixtures: a repository, Neovim without plugins, and Neovim with the plugin."""

import pathlib

import pytest
from driver import GREET, Editor


@pytest.fixture
def repo(tmp_path: pathlib.Path) -> pathlib.Path:
    repo = tmp_path / "a répo"
    (repo / ".git").mkdir(parents=True)
    (repo / "src").mkdir()
    (repo / "src/greet.rs").write_text(GREET)
    (repo / "src/lib.rs").write_text("mod greet;\n\npub fn add() {}\n")
    (repo / "dos.txt").write_bytes("first é\r\nsecond\r\n".encode())
    return repo


@pytest.fixture
def editor(repo: pathlib.Path, tmp_path: pathlib.Path):
    editor = Editor(repo, tmp_path / "home", "init.lua")
    yield editor
    editor.quit()


@pytest.fixture
def plugin(repo: pathlib.Path, tmp_path: pathlib.Path):
    editor = Editor(repo, tmp_path / "home", "plugin.lua")
    yield editor
    editor.quit()
