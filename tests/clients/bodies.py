"""Bodies of `prompt.assemble` posted as they are, by a client that does nothing else."""

from server import Server
from session import FILES, Place, Provider, turns

# What a body needs besides, by its form.
FORMS = {
    "anthropic": ("/v1/messages", {"max_tokens": 1024}),
    "openai": ("/v1/chat/completions", {"max_completion_tokens": 1024}),
}

# The most that a session may cost, as a share of its price without a cache.
LIMITS = {
    "claude-sonnet-5-5": 0.11,
    "claude-sonnet-4-5": 0.16,
    "gpt-5.1": 0.15,
    "gpt-5.6-sol": 0.18,
    "gpt-6": 0.18,
}


def form(model: str) -> str:
    return "anthropic" if model.startswith("claude") else "openai"


def usage_of(reply: dict) -> dict:
    """What was billed, as Strata counts it."""
    usage = reply["usage"]
    if "prompt_tokens" in usage:
        details = usage["prompt_tokens_details"]
        read, written = details["cached_tokens"], details.get("cache_write_tokens", 0)
        plain, output = usage["prompt_tokens"] - read - written, usage["completion_tokens"]
    else:
        read, written = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
        plain, output = usage["input_tokens"], usage["output_tokens"]
    return {"input": plain, "output": output, "cacheRead": read, "cacheWrite": written}


def answer_of(reply: dict) -> str:
    if "choices" in reply:
        return reply["choices"][0]["message"]["content"]
    return "".join(block["text"] for block in reply["content"])


def play(model: str, place: Place, provider: Provider) -> None:
    path, more = FORMS[form(model)]
    with Server(place.repo, place.environment) as server:
        buffers = {}
        for file in FILES:
            buffers[file] = (place.repo / file).read_text()
            document = {"uri": (place.repo / file).as_uri(), "languageId": "python", "version": 0, "text": buffers[file]}
            server.notify("textDocument/didOpen", textDocument=document)
        server.run("files.select", paths=FILES)
        for turn in turns():
            buffers[turn.path] = turn.typed_into(buffers[turn.path])
            uri = (place.repo / turn.path).as_uri()
            changes = [{"text": buffers[turn.path]}]
            server.notify("textDocument/didChange", textDocument={"uri": uri, "version": turn.number + 1}, contentChanges=changes)
            prompt = server.run("prompt.assemble", prompt=turn.question, format=form(model), model=model)
            reply = provider.post(path, {**prompt["body"], **more})
            server.run("prompt.record", id=prompt["id"], response=answer_of(reply), usage=usage_of(reply))
