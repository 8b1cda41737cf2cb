"""A client that posts the bodies of `prompt.assemble` unchanged."""

import contextlib
import json
import pathlib

from server import Server
from session import FILES, FIVE_FILES, SHORTENED, Place, Provider, Turn, calls, random_turns, turns

# The path and the additional fields of a request, by format.
FORMS = {
    "anthropic": ("/v1/messages", {"max_tokens": 1024}),
    "openai": ("/v1/chat/completions", {"max_completion_tokens": 1024}),
    "responses": ("/v1/responses", {"max_output_tokens": 1024}),
    "gemini": ("/v1beta/models/{model}:generateContent", {"generationConfig": {"maxOutputTokens": 1024}}),
}

# Maximum cost of a session as a share of its price without a cache, by model and format.
LIMITS = {
    ("claude-sonnet-5-5", "anthropic"): 0.11,
    ("claude-sonnet-4-5", "anthropic"): 0.16,
    ("gpt-5.1", "openai"): 0.15,
    ("gpt-5.1", "responses"): 0.15,
    ("gpt-5.6-sol", "openai"): 0.18,
    ("gpt-5.6-sol", "responses"): 0.18,
    ("gpt-6", "openai"): 0.18,
    ("gemini-3-flash", "gemini"): 0.20,
}

# The same with people's pauses between the turns, by model.
LIMITS_WITH_PAUSES = {
    "claude-sonnet-5-5": 0.18,
    "gpt-5.1": 0.18,
    "gpt-5.6-sol": 0.20,
    "gpt-6": 0.20,
    "gemini-3-flash": 0.46,
}


def usage_of(reply: dict) -> dict:
    """Converts the billed usage to Strata's fields."""
    usage = reply.get("usage") or reply["usageMetadata"]
    if "promptTokenCount" in usage:
        read, written = usage.get("cachedContentTokenCount", 0), 0
        plain, output = usage["promptTokenCount"] - read, usage["candidatesTokenCount"]
    elif "input_tokens_details" in usage:
        details = usage["input_tokens_details"]
        read, written = details["cached_tokens"], details.get("cache_write_tokens", 0)
        plain, output = usage["input_tokens"] - read - written, usage["output_tokens"]
    elif "prompt_tokens" in usage:
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
    if "candidates" in reply:
        return "".join(part["text"] for part in reply["candidates"][0]["content"]["parts"])
    if "output" in reply:
        return "".join(part["text"] for item in reply["output"] for part in item["content"])
    return "".join(block["text"] for block in reply["content"])


# Maximum cost of a session that types into a random file of five, by model and seed.
LIMITS_OF_RANDOM_FILES = {("gpt-5.6-sol", 1): 0.15, ("gpt-6", 2): 0.15}


@contextlib.contextmanager
def opened(place: Place, files: list[str] = FILES):
    """Starts a server with selected files. Also returns a function that types the line of a turn."""
    with Server(place.repo, place.environment) as server:
        buffers = {}
        for file in files:
            buffers[file] = (place.repo / file).read_text()
            document = {"uri": (place.repo / file).as_uri(), "languageId": "python", "version": 0, "text": buffers[file]}
            server.notify("textDocument/didOpen", textDocument=document)
        server.run("files.select", paths=files)

        def type_into(turn: Turn):
            buffers[turn.path] = turn.typed_into(buffers[turn.path])
            uri = (place.repo / turn.path).as_uri()
            changes = [{"text": buffers[turn.path]}]
            server.notify("textDocument/didChange", textDocument={"uri": uri, "version": turn.number + 1}, contentChanges=changes)

        yield server, type_into


def play(form: str, model: str, place: Place, provider: Provider) -> None:
    play_turns(form, model, FILES, turns(), place, provider)


def play_random_files(form: str, seed: int, model: str, place: Place, provider: Provider) -> None:
    play_turns(form, model, FIVE_FILES, random_turns(seed), place, provider)


def play_turns(form: str, model: str, files: list[str], turns: list[Turn], place: Place, provider: Provider) -> None:
    path, more = FORMS[form]
    with opened(place, files) as (server, type_into):
        for turn in turns:
            type_into(turn)
            prompt = server.run("prompt.assemble", prompt=turn.question, format=form, model=model)
            body = {**prompt["body"], **more}
            if form == "gemini":
                # Gemini expects the model in the URL.
                del body["model"]
            reply = provider.post(path.format(model=model), body)
            server.run("prompt.record", id=prompt["id"], response=answer_of(reply), usage=usage_of(reply))


def play_with_tools(model: str, place: Place, provider: Provider) -> None:
    """The model calls tools of the VS Code extension before each answer."""
    path, more = FORMS["anthropic"]
    manifest = pathlib.Path(__file__).parents[2] / "editors/vscode/package.json"
    declared = {tool["name"]: tool for tool in json.loads(manifest.read_text())["contributes"]["languageModelTools"]}
    looking = [tool for name, tool in declared.items() if name not in ("strata_remember", "strata_select_files")]
    tools = [{"name": tool["name"], "description": tool["modelDescription"], "input_schema": tool["inputSchema"]} for tool in looking]
    with opened(place) as (server, type_into):
        for turn in turns(SHORTENED):
            type_into(turn)
            asks = {"prompt": turn.question}
            for call in [*calls(turn), None]:
                provider.say([call.scripted() if call else {"text": "Done."}])
                prompt = server.run("prompt.assemble", **asks, tools=tools, format="anthropic", model=model)
                reply = provider.post(path, {**prompt["body"], **more})
                blocks = [
                    {**block, "type": "tool_call"} if block["type"] == "tool_use" else {"type": "text", "text": block["text"]}
                    for block in reply["content"]
                ]
                server.run("prompt.record", id=prompt["id"], response=blocks, usage=usage_of(reply))
                if call:
                    result = json.dumps(server.run(call.command, **call.input), separators=(",", ":"), ensure_ascii=False)
                    asks = {"toolResults": [{"callId": blocks[-1]["id"], "content": [{"type": "text", "text": result}]}]}
    provider.say([{"text": "Done."}])
