"""A model provider on this machine for the pictures: speaks Anthropic's Messages API, gives scripted answers, and bills them by the
published rules of its prompt cache. Knows nothing of Strata."""

import hashlib
import http.server
import json
import math
import re
import threading

# A marked block looks for a cached prefix that ends at one of this many blocks before it.
LOOKBACK = 20
# What Strata expects of this model's tokens, so that the prompt and its bill agree.
CHARACTERS_PER_TOKEN = 2.6
# The shortest prefix that is cached, in tokens.
MINIMUM = 512


class Provider:
    """Answers the requests to `url`, each with the next of these texts."""

    def __init__(self, answers: list[str]):
        provider, self.cached, self.answers = self, set(), iter(answers)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for event in events(provider.bill(body), next(provider.answers)):
                    self.wfile.write(event.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def bill(self, body: dict) -> dict:
        """The usage of a request. Remembers what it writes to the cache."""
        prefixes, all_tokens, digest = [], 0, hashlib.sha256(body["model"].encode())
        for content, size, is_marked in blocks(body):
            digest.update(content)
            all_tokens += size
            prefixes.append((digest.digest(), all_tokens, is_marked))
        marked = [at for at, (_, _, is_marked) in enumerate(prefixes) if is_marked]
        looked_at = {at for mark in marked for at in range(max(mark - LOOKBACK + 1, 0), mark + 1)}
        read = max((prefixes[at][1] for at in looked_at if prefixes[at][0] in self.cached), default=0)
        kept = [prefixes[at] for at in marked if prefixes[at][1] >= MINIMUM]
        self.cached.update(prefix for prefix, _, _ in kept)
        written = max(max((size for _, size, _ in kept), default=0) - read, 0)
        return {"input_tokens": all_tokens - read - written, "cache_read_input_tokens": read, "cache_creation_input_tokens": written}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()


def tokens(text: str) -> int:
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def blocks(body: dict):
    """The blocks of a request in the order of the cache: what each says, its tokens, and whether it is a breakpoint."""
    messages = [[message["role"], message["content"]] for message in body["messages"]]
    parts = [["tools", body.get("tools", [])], ["system", body.get("system", [])], *messages]
    for role, content in parts:
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            said = json.dumps([role, {name: value for name, value in block.items() if name != "cache_control"}])
            text = block["text"] if block.get("type") == "text" else said
            yield said.encode(), tokens(text), "cache_control" in block


def events(usage: dict, answer: str):
    """The stream of an answer, a word at a time."""

    def event(kind: str, **fields) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": {**usage, "output_tokens": 1}}
    yield event("message_start", message=message)
    yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for word in re.findall(r"\S+\s*", answer):
        yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": word})
    yield event("content_block_stop", index=0)
    yield event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": tokens(answer)})
    yield event("message_stop")
