"""Tests that the clients in editors/examples assemble prompts, post them to a provider, and record the answers."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "editors/examples"

# Timeout in seconds, reached only if something hangs.
LIMIT = 60


def command(example: str) -> list[str]:
    if example.endswith(".py"):
        return [sys.executable, str(EXAMPLES / example)]
    # Node looks for packages in the directories above the file.
    copy = pathlib.Path(os.environ["PACKAGES"]) / example
    shutil.copy(EXAMPLES / example, copy)
    return ["node", str(copy)]


@pytest.fixture
def provider():
    process = subprocess.Popen([sys.executable, EXAMPLES / "provider.py"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    yield process.stdout.readline().strip().removeprefix("PROVIDER=")
    process.kill()
    process.wait()


def ask(example: str, repo: pathlib.Path, provider: str, questions: str, *paths: str):
    places = {name: str(repo.parent / "state") for name in ("STRATA_STATE_DIR", "STRATA_CACHE_DIR")}
    environment = {**os.environ, **places, "STRATA": os.environ["STRATA_BIN"], "PROVIDER": provider}
    argv = command(example) + list(paths)
    return subprocess.run(argv, cwd=repo, env=environment, input=questions, capture_output=True, text=True, timeout=LIMIT)


def strata(repo: pathlib.Path, *arguments: str) -> str:
    places = {name: str(repo.parent / "state") for name in ("STRATA_STATE_DIR", "STRATA_CACHE_DIR")}
    argv = [os.environ["STRATA_BIN"], *arguments]
    return subprocess.run(argv, cwd=repo, env={**os.environ, **places}, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def repo(tmp_path: pathlib.Path) -> pathlib.Path:
    repo = tmp_path / "a répo"
    (repo / "src").mkdir(parents=True)
    (repo / "src/greet.rs").write_text("pub fn greet() {}\n")
    return repo


@pytest.mark.parametrize("example", ["ask.py", "ask.mjs"])
def test_two_turns(example: str, repo: pathlib.Path, provider: str):
    run = ask(example, repo, provider, "What é is this?\nAnd why?\n", "src/greet.rs")
    assert run.returncode == 0, run.stderr
    answers = run.stdout.splitlines()
    assert [answer[:19] for answer in answers] == ["You sent 1 messages", "You sent 3 messages"], run.stdout
    sessions = strata(repo, "sessions", "list")
    assert "What é is this?" in sessions, sessions
    assert "You sent 1 messages" in strata(repo, "sessions", "search", "messages"), "the answer is recorded"


@pytest.mark.parametrize("paths", ["src", "**/*.rs"])
@pytest.mark.parametrize("example", ["ask.py", "ask.mjs"])
def test_a_directory_and_a_glob_right_after_the_start(example: str, paths: str, repo: pathlib.Path, provider: str):
    run = ask(example, repo, provider, "What is this?\n", paths)
    assert run.returncode == 0, run.stderr
    assert "You sent 1 messages" in run.stdout, run.stdout


@pytest.mark.parametrize("example", ["ask.py", "ask.mjs"])
def test_a_file_that_is_not_there(example: str, repo: pathlib.Path, provider: str):
    run = ask(example, repo, provider, "What?\n", "src/missing.rs")
    assert run.returncode == 1
    assert "does not exist" in run.stderr


@pytest.mark.parametrize("example", ["ask.py", "ask.mjs"])
def test_it_is_as_short_as_it_says(example: str):
    lines = (EXAMPLES / example).read_text().splitlines()
    code = [line for line in lines if line.strip() and not line.startswith(("//", '"""'))]
    assert len(code) <= 30, len(code)
