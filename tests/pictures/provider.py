"""A local model provider for the pictures. Implements Anthropic's Messages API with scripted answers, and bills by the published rules of
its prompt cache, independently of Strata."""

import hashlib
import http.server
import json
import math
import re
import threading

# Number of blocks, ending with a breakpoint, at which the provider looks for the end of a cached prefix.
LOOKBACK = 20
# Characters per token that Strata estimates for this model, so that the prompt's token count equals the billed one.
CHARACTERS_PER_TOKEN = 2.6
# Minimum length of a cached prefix, in tokens.
MINIMUM = 512


class Provider:
    """Answers each request to `url` with the next of `answers`."""

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
        """Returns the usage of a request, and records the prefixes that it writes to the cache."""
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
    """Yields the blocks of a request in cache order, each with its content, its tokens, and whether it is a breakpoint."""
    messages = [[message["role"], message["content"]] for message in body["messages"]]
    parts = [["tools", body.get("tools", [])], ["system", body.get("system", [])], *messages]
    for role, content in parts:
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            said = json.dumps([role, {name: value for name, value in block.items() if name != "cache_control"}])
            text = block["text"] if block.get("type") == "text" else said
            yield said.encode(), tokens(text), "cache_control" in block


def events(usage: dict, answer: str):
    """Yields the stream of an answer, word by word."""

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
