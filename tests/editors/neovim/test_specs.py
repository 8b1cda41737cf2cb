"""Runs each file of Lua specs in its own Neovim."""

import os
import pathlib
import subprocess

import pytest
from driver import HERE

SPECS = sorted(path.stem for path in (HERE / "specs").glob("*.lua") if path.stem != "run")


@pytest.mark.parametrize("spec", SPECS)
def test_specs(spec: str, tmp_path: pathlib.Path):
    folders = {name: str(tmp_path / name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
    environment = {**os.environ, **folders, "HOME": str(tmp_path)}
    files = [str(HERE / "specs" / f"{name}.lua") for name in ("run", spec)]
    argv = [os.environ["NVIM"], "--headless", "--clean", "-l", *files]
    run = subprocess.run(argv, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
