"""Tests that the code in docs/write-a-client.md works verbatim."""

import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import threading

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "docs/write-a-client.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)

# Timeout in seconds, reached only if something hangs.
LIMIT = 60

USAGE = {"input_tokens": 10, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 5, "output_tokens": 1}


def events(blocks: list[dict], ends: bool) -> list[dict]:
    """Returns the events of a stream in Anthropic's format."""
    made = [{"type": "message_start", "message": {"usage": USAGE}}]
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            halves = [block["text"][:3], block["text"][3:]]
            deltas = [{"type": "text_delta", "text": half} for half in halves]
            start = {"type": "text", "text": ""}
        else:
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
            start = {**block, "input": {}}
        made.append({"type": "content_block_start", "index": index, "content_block": start})
        made += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        made.append({"type": "content_block_stop", "index": index})
    if ends:
        reason = "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"
        made.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}})
        made.append({"type": "message_stop"})
    return made


class Provider(http.server.BaseHTTPRequestHandler):
    """Answers from a list, and records the requests."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        answer = self.server.answers.pop(0)
        self.send_response(400 if "error" in answer else 200)
        self.send_header("content-type", "application/json" if "error" in answer else "text/event-stream")
        self.end_headers()
        if "error" in answer:
            self.wfile.write(json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": answer["error"]}}).encode())
            return
        for event in events(answer["blocks"], answer.get("ends", True)):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def provider():
    server = http.server.HTTPServer(("127.0.0.1", 0), Provider)
    server.asked, server.answers = [], []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


@pytest.fixture
def repo(tmp_path: pathlib.Path) -> pathlib.Path:
    repo = tmp_path / "a répo"
    (repo / "src").mkdir(parents=True)
    (repo / "src/greet.rs").write_text("pub fn greet() {}\n")
    return repo


def places(repo: pathlib.Path) -> dict[str, str]:
    names = {"STRATA_STATE_DIR": "state", "STRATA_CACHE_DIR": "cache", "HOME": "home", "XDG_CONFIG_HOME": "home"}
    return {**os.environ, **{name: str(repo.parent / folder) for name, folder in names.items()}}


def run(repo: pathlib.Path, blocks: list[str], questions: str, path: str = "src/greet.rs", **more: str):
    program = repo.parent / "client.py"
    program.write_text("\n".join(blocks))
    environment = {**places(repo), "STRATA": os.environ["STRATA_BIN"], "ANTHROPIC_API_KEY": "a key", **more}
    argv = [sys.executable, str(program), path]
    return subprocess.run(argv, cwd=repo, env=environment, input=questions, capture_output=True, text=True, timeout=LIMIT)


def recorded(repo: pathlib.Path) -> str:
    def strata(*arguments: str) -> str:
        argv = [os.environ["STRATA_BIN"], "sessions", *arguments]
        return subprocess.run(argv, cwd=repo, env=places(repo), capture_output=True, text=True, check=True).stdout

    session = re.search(r"\bs-\w+", strata("list")).group()
    return strata("export", session, "--format", "markdown")


def text(words: str) -> dict:
    return {"type": "text", "text": words}


CALL = {"type": "tool_use", "id": "toolu_1", "name": "time", "input": {}}


def you_send(repo: pathlib.Path, provider: http.server.HTTPServer, questions: str, path: str = "src/greet.rs"):
    return run(repo, BLOCKS[:3], questions, path, PROVIDER=f"http://127.0.0.1:{provider.server_port}/v1/messages")


def test_the_page_has_the_blocks_that_are_run():
    assert len(BLOCKS) == 4


def test_answers_stream_and_tools_run(repo: pathlib.Path, provider):
    provider.answers = [{"blocks": [text("I look é."), CALL]}, {"blocks": [text("It is late.")]}, {"blocks": [text("Very.")]}]
    ran = you_send(repo, provider, "What time?\nReally?\n")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == ["I look é.", "It is late.", "Very."], ran.stdout
    results = provider.asked[1]["messages"][-1]["content"]
    assert results[0]["type"] == "tool_result" and results[0]["tool_use_id"] == "toolu_1", results
    assert "greet" in json.dumps(provider.asked[0]) and provider.asked[0]["stream"] is True
    said = recorded(repo)
    for words in ("What time?", "I look é.", "It is late.", "Really?", "Very."):
        assert words in said, said


def test_what_goes_wrong_is_recorded_as_it_went(repo: pathlib.Path, provider):
    turns = [{"blocks": [text(f"Answer {number}. " * 40)]} for number in range(8)]
    provider.answers = [*turns, {"error": "prompt is too long: 210000 tokens > 200000 maximum"}, {"blocks": [text("It fits.")]},
                        {"blocks": [text("Half of it")], "ends": False}, {"error": "no such thing"}]
    questions = "".join(f"Question {number}?\n" for number in range(8)) + "Too long?\nHalf?\nRefused?\n"
    ran = you_send(repo, provider, questions)
    assert ran.returncode == 0, ran.stderr
    assert "It fits." in ran.stdout and len(provider.asked) == 12
    said = recorded(repo)
    assert "It fits." in said and "Half of it" in said, said
    assert "Refused?" not in said, "a rejected request is part of the conversation"


@pytest.mark.parametrize("path", ["src", "**/*.rs"])
def test_a_directory_and_a_glob_right_after_the_start(repo: pathlib.Path, provider, path: str):
    provider.answers = [{"blocks": [text("It greets.")]}]
    ran = you_send(repo, provider, "What is it?\n", path)
    assert ran.returncode == 0, ran.stderr
    assert "pub fn greet() {}" in json.dumps(provider.asked[0])


@pytest.mark.parametrize("path", ["src/greet.rs", "src", "**/*.rs"])
def test_strata_sends(repo: pathlib.Path, provider, path: str):
    grep = {"type": "tool_use", "id": "toolu_1", "name": "grep", "input": {"pattern": "greet"}}
    provider.answers = [{"blocks": [text("I look é."), grep]}, {"blocks": [text("It greets.")]}]
    settings = {"NAME": "anthropic", "BASE_URL": f"http://127.0.0.1:{provider.server_port}"}
    more = {f"STRATA_PROVIDER_{name}": value for name, value in settings.items()}
    ran = run(repo, [BLOCKS[0], BLOCKS[3]], "What is it?\n", path, **more)
    assert ran.returncode == 0, ran.stderr
    assert "I look é." in ran.stdout and "It greets." in ran.stdout, ran.stdout
    assert "looks up: grep" in ran.stderr
    assert "It greets." in recorded(repo)
