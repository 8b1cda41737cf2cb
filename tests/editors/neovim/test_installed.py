"""Tests that the plugin finds a server that a package manager or its own script installed."""

import os
import pathlib
import shutil
import subprocess

import pytest
from driver import HERE, Editor

TOP = HERE.parents[2]

# As `strata` and `vim.lsp.config` are after a start without options.
FIND = """
vim.g.strata = {}
vim.env.PATH = ...
vim.lsp.config("strata", require("strata.server").config())
return vim.fn.exepath(require("strata.server").program() or "")
"""


@pytest.fixture(scope="session")
def installed() -> pathlib.Path:
    run = subprocess.run([TOP / "tests/installation/prefixes"], check=True, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(run.stdout.strip())


def system_path() -> list[str]:
    """Returns directories with Git, Node.js and the system's programs, but without a `strata`."""
    folders = os.environ["PATH"].split(os.pathsep)
    return [folder for folder in folders if not (pathlib.Path(folder) / "strata").exists()]


@pytest.mark.parametrize("manager", ["pip", "npm"])
def test_a_package_is_found_in_the_path_and_started(plugin: Editor, installed: pathlib.Path, manager: str):
    folder = installed / manager / "bin"
    assert plugin.lua(FIND, os.pathsep.join([str(folder), *system_path()])) == str(folder / "strata")
    plugin.edit("src/greet.rs")
    plugin.run("files.select", paths=["src/greet.rs"])
    assert "on disk" in plugin.prompt()


def test_the_script_downloads_a_release(installed: pathlib.Path, tmp_path: pathlib.Path):
    checkout = tmp_path / "plugin"
    shutil.copytree(TOP / "editors/neovim", checkout, ignore=shutil.ignore_patterns("bin"))
    release = tmp_path / "release"
    shutil.copytree(installed / "release", release)
    program = checkout / "bin/strata"
    run = lambda: subprocess.run(
        [os.environ["NVIM"], "--clean", "--headless", "-l", str(checkout / "scripts/install.lua")],
        env={**os.environ, "STRATA_RELEASE": release.as_uri()},
        capture_output=True,
        text=True,
    )
    done = run()
    assert done.returncode == 0, done.stderr
    assert "strata 0." in subprocess.run([program, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    # The plugin prefers it to another `strata`.
    lua = "lua io.stdout:write(require('strata.server').program())"
    nvim = [os.environ["NVIM"], "--clean", "--headless", "--cmd", f"set runtimepath^={checkout}", "-c", lua, "-c", "quit"]
    assert subprocess.run(nvim, check=True, stdout=subprocess.PIPE, text=True).stdout == str(program)
    # An archive that is not the one that was released is not installed, and the program stays.
    for archive in release.glob("*.tar.gz"):
        archive.write_bytes(archive.read_bytes()[:-1] + b"x")
    done = run()
    assert done.returncode != 0 and "the SHA-256 of" in done.stderr, done.stderr
    assert program.exists()


@pytest.mark.parametrize(
    ("remote", "expected"),
    [
        ("git@github.com:owner/name.git", "https://github.com/owner/name/releases/latest/download/"),
        ("https://github.com/owner/name", "https://github.com/owner/name/releases/latest/download/"),
        ("https://example.org/owner/name", "is not a repository on GitHub"),
    ],
)
def test_the_release_is_that_of_the_clone(tmp_path: pathlib.Path, remote: str, expected: str):
    script = tmp_path / "editors/neovim/scripts/install.lua"
    script.parent.mkdir(parents=True)
    shutil.copy(TOP / "editors/neovim/scripts/install.lua", script)
    git = lambda *arguments: subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    git("init", "--quiet")
    git("remote", "add", "origin", remote)
    # A replacement for curl that fails, so that the error shows the address.
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "curl").write_text("#!/bin/sh\nexit 22\n")
    (tools / "curl").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("STRATA_RELEASE", None)
    nvim = [os.environ["NVIM"], "--clean", "--headless", "-l", str(script)]
    done = subprocess.run(nvim, env=environment, capture_output=True, text=True)
    assert done.returncode != 0 and expected in done.stderr, done.stderr
