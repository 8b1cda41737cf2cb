"""Tests that the manual matches the annotations, and that Neovim can read it."""

import os
import pathlib
import shutil
import subprocess

from driver import HERE

TOP = HERE.parents[2]
PLUGIN = TOP / "editors/neovim"


def nvim(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([os.environ["NVIM"], "--headless", "--clean", *arguments], capture_output=True, text=True)


def test_it_is_not_stale():
    run = nvim("-l", str(PLUGIN / "scripts/vimdoc.lua"), "--check")
    assert run.returncode == 0, run.stderr


def test_a_stale_one_is_found(tmp_path: pathlib.Path):
    for folder in ("editors/neovim", "docs"):
        shutil.copytree(TOP / folder, tmp_path / folder)
    copy = tmp_path / "editors/neovim"
    check = ("-l", str(copy / "scripts/vimdoc.lua"), "--check")
    assert nvim(*check).returncode == 0
    source = copy / "lua/strata/init.lua"
    source.write_text(source.read_text().replace("Assembles a prompt.", "Assembles no prompt."))
    run = nvim(*check)
    assert run.returncode == 1 and "stale" in run.stderr, run.stderr


def test_its_tags_are_found_and_lead_somewhere(tmp_path: pathlib.Path):
    copy = tmp_path / "plugin"
    shutil.copytree(PLUGIN, copy)
    run = nvim("-c", f"helptags {copy}/doc", "-c", "qall!")
    assert run.stderr.strip() == "", run.stderr
    tags = {line.split("\t")[0] for line in (copy / "doc/tags").read_text().splitlines()}
    assert {"strata", "strata.assemble()", ":Strata-context", "<Plug>(strata-add)", "strata-option-path"} <= tags
    text = (copy / "doc/strata.txt").read_text()
    links = {word.strip("|") for line in text.splitlines() for word in line.split() if word.startswith("|strata")}
    assert {link.split("|")[0] for link in links} <= tags
