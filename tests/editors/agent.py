"""An agent for the tests in editors: the official Python client of the Model Context Protocol, connected to `strata mcp`.

    agent.py STRATA [ARGUMENT...] FOLDER

Prints the server's instructions as a line of JSON. Then reads lines of JSON, each with the name of a tool and its arguments, and prints the
structured reply to each. A reply of a tool that failed is its text. Ends at the end of the input.
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters

def show(value):
    print(json.dumps(value), flush=True)


async def main(strata: str, *arguments: str):
    server = StdioServerParameters(command=strata, args=["mcp", *arguments], env=dict(os.environ))
    async with Client(server, mode="legacy") as client:
        show(client.instructions)
        while line := await asyncio.to_thread(sys.stdin.readline):
            tool, values = json.loads(line)
            result = await client.call_tool(tool, values)
            show(result.content[0].text if result.is_error else result.structured_content)


asyncio.run(main(*sys.argv[1:]))
