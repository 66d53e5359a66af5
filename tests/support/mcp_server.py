"""A server of tools by the official package, as a program: `python -P mcp_server.py stdio`, or
`http PORT`. Its tools answer, fail, end the program, or never answer.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys

from mcp.server import MCPServer

server = MCPServer("home")


@server.tool()
def lamp_on(room: str) -> str:
    """Turns on the lamp of a room."""
    return f"the lamp in the {room} is on"


@server.tool()
def broken() -> str:
    """Does not work."""
    raise ValueError("the fuse is blown")


@server.tool()
def die() -> str:
    """Ends the server."""
    os._exit(3)


@server.tool()
async def hang() -> str:
    """Never answers."""
    await asyncio.Event().wait()
    return "at last"


@server.tool()
def secret(variable: str) -> str:
    """Tells an environment variable."""
    return os.environ.get(variable, "nothing")


def serve(port: int) -> None:
    """Serve over HTTP, at any port where that is 0; it is printed once it listens."""
    import uvicorn

    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    listening.listen()
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="error")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run(transport="stdio")
    else:
        serve(int(sys.argv[2]))
