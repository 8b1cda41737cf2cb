"""Talks to the server through its pipes, as a client without an editor."""

import json
import pathlib
import subprocess

from session import LIMIT, until


class Server:
    def __init__(self, repo: pathlib.Path, environment: dict[str, str]):
        argv = [environment["STRATA_BIN"], "serve"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, cwd=repo, env=environment)
        self.repo, self.number = repo, 0
        folder = {"uri": repo.as_uri(), "name": repo.name}
        self.call("initialize", capabilities={}, workspaceFolders=[folder])
        self.notify("initialized")
        until(lambda: self.run("server.status")["index"] == "ready", "the repository is indexed")

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def notify(self, method: str, **params):
        self.send(method=method, params=params)

    def call(self, method: str, **params):
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        while True:
            headers = [self.process.stdout.readline()]
            assert headers[0], "the server ended"
            while headers[-1] != b"\r\n":
                headers.append(self.process.stdout.readline())
            message = json.loads(self.process.stdout.read(int(headers[0].split(b":")[1])))
            if message.get("id") == self.number and "method" not in message:
                assert "error" not in message, message["error"]
                return message["result"]

    def run(self, name: str, **argument):
        return self.call("workspace/executeCommand", command=f"strata.{name}", arguments=[argument])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(LIMIT)
        finally:
            self.process.kill()
            self.process.wait()
