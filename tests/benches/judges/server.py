"""Talks to `strata serve`. Each server has its own state, and all servers share a cache of outlines."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

from excerpts import HEADING, Excerpt

# Timeout in seconds for indexing a repository.
LIMIT = 900


class ServerError(Exception):
    pass


class Server:
    """Runs with the default settings, except for those that STRATA_... variables of the environment set."""

    def __init__(self, binary: str, folder: pathlib.Path, cache: pathlib.Path):
        self.state = tempfile.TemporaryDirectory()
        state = self.state.name
        environment = {**os.environ, "XDG_CONFIG_HOME": state, "STRATA_STATE_DIR": f"{state}/state", "STRATA_CACHE_DIR": str(cache)}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [binary, "serve"], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=folder, env=environment
        )
        self.number = 0
        workspace = {"uri": folder.as_uri(), "name": folder.name}
        self.call("initialize", {"capabilities": {}, "workspaceFolders": [workspace], "initializationOptions": {"trusted": True}})
        self.notify("initialized", {})
        # A prompt before the index is complete would miss code.
        deadline = time.monotonic() + LIMIT
        while self.run("server.status")["index"] != "ready":
            if time.monotonic() > deadline:
                raise ServerError(f"{folder} is not indexed after {LIMIT} seconds")
            time.sleep(0.05)

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self) -> dict:
        length = None
        while (line := self.process.stdout.readline()) != b"\r\n":
            if not line:
                raise ServerError("the server ended")
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))

    def notify(self, method: str, params: dict):
        self.send(method=method, params=params)

    def call(self, method: str, params: dict | None):
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        while True:
            message = self.receive()
            if "method" in message:
                if "id" in message:
                    self.send(id=message["id"], result=None)
            elif message["id"] == self.number:
                if "error" in message:
                    raise ServerError(f"{method}: {message['error']['message']}")
                return message["result"]

    def run(self, command: str, **argument):
        return self.call("workspace/executeCommand", {"command": f"strata.{command}", "arguments": [argument]})

    def excerpts(self, question: str, budget: int | None = None) -> list[Excerpt]:
        """The code that a prompt with this question contains, best first; without a budget, by the default settings."""
        argument = {"prompt": question} | ({} if budget is None else {"autoBudget": budget})
        found = []
        for excerpt in self.run("context.list", **argument)["excerpts"]:
            first, last = re.fullmatch(r"L(\d+)(?:-(\d+))?", excerpt["lines"]).groups()
            found.append(Excerpt(excerpt["path"], int(first), int(last or first), excerpt["tokens"] + HEADING))
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("shutdown", None)
            self.send(method="exit")
            self.process.wait(20)
        except (ServerError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.state.cleanup()
