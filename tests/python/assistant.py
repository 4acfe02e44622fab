"""Asks for the leak of the sample as an assistant does, by the reference client of the Model Context Protocol.

Usage: assistant.py PROGRAM FOLDER. Standard output is the text of each answer.
"""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    server = StdioServerParameters(command=sys.argv[1], args=["mcp", sys.argv[2]])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        names = [tool.name for tool in (await session.list_tools()).tools]
        assert {"open", "report", "analyse"} <= set(names), names
        for name, arguments in [("open", {"paths": ["person-leak"]}), ("report", {"input": "d1"})]:
            answer = await session.call_tool(name, arguments)
            for content in answer.content:
                print(content.text)


asyncio.run(main())
