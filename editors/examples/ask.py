"""A client of Strata in thirty lines: `ask.py PATH...` asks a provider each line of standard input about files of this folder."""

import json, os, pathlib, subprocess, sys, urllib.request

server = subprocess.Popen([os.environ.get("STRATA", "strata"), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

def send(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    server.stdin.flush()

def call(method, params):
    send(id=method, method=method, params=params)
    while True:
        headers = list(iter(server.stdout.readline, b"\r\n"))
        message = json.loads(server.stdout.read(int(headers[0].split(b":")[1])))
        if message.get("id") == method:  # Ignore notifications.
            return message["result"] if "result" in message else sys.exit(message["error"]["message"])

def strata(name, **argument):
    return call("workspace/executeCommand", {"command": f"strata.{name}", "arguments": [argument]})

here = pathlib.Path.cwd()
call("initialize", {"capabilities": {}, "workspaceFolders": [{"uri": here.as_uri(), "name": here.name}]})
send(method="initialized", params={})
strata("files.select", paths=sys.argv[1:])
key = {"x-api-key": os.environ.get("ANTHROPIC_API_KEY", ""), "anthropic-version": "2023-06-01", "content-type": "application/json"}
bill = {"cacheRead": "cache_read_input_tokens", "cacheWrite": "cache_creation_input_tokens", "output": "output_tokens", "input": "input_tokens"}
for question in sys.stdin:
    prompt = strata("prompt.assemble", prompt=question.strip(), format="anthropic")
    body = json.dumps({**prompt["body"], "max_tokens": 4096}).encode()
    request = urllib.request.Request(os.environ.get("PROVIDER", "https://api.anthropic.com/v1/messages"), body, key)
    reply = json.load(urllib.request.urlopen(request))
    usage = {name: reply["usage"].get(theirs) or 0 for name, theirs in bill.items()}
    strata("prompt.record", id=prompt["id"], response=reply["content"], usage=usage)
    print("".join(block.get("text", "") for block in reply["content"]), flush=True)
