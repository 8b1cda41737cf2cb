"""Tests that the settings in docs/add-a-provider.md are accepted verbatim."""

import os
import pathlib
import re
import subprocess

PAGE = pathlib.Path(__file__).parents[2] / "docs/add-a-provider.md"
(SETTINGS,) = re.findall(r"^```toml\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def strata(home: pathlib.Path, *arguments: str) -> str:
    """Runs a command in a repository with one file, and returns what it prints."""
    repo = home / "repo"
    (repo / ".git").mkdir(parents=True, exist_ok=True)
    (repo / "main.rs").write_text("fn main() {}\n")
    (home / "strata").mkdir(exist_ok=True)
    (home / "strata" / "strata.toml").write_text(SETTINGS)
    places = {name: str(home / name) for name in ("STRATA_STATE_DIR", "STRATA_CACHE_DIR")}
    environment = {**os.environ, **places, "XDG_CONFIG_HOME": str(home), "EXAMPLE_API_KEY": "key"}
    argv = [os.environ["STRATA_BIN"], *arguments]
    ran = subprocess.run(argv, cwd=repo, env=environment, capture_output=True, text=True, check=True)
    return ran.stdout + ran.stderr


def test_the_provider_is_configured(tmp_path):
    said = strata(tmp_path, "doctor")
    assert "openai at https://llm.example.com/v1, example-large: configured" in said, said
    assert "warning" not in said, said


def test_the_model_is_known(tmp_path):
    said = strata(tmp_path, "tokens", "--model", "example-large", "main.rs")
    assert "counted for example-large" in said, said
    assert "warning" not in said, said
