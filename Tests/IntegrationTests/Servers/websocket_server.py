"""A WebSocket server with the package `websockets`: websocket_server.py PORT DIR

/echo sends each message back; /fragments sends each message back in pieces of 10; /close closes with 4000 after the first
message; /large sends one message of 3 MB; /count sends 10,000 messages; /last-words sends 600 messages, a Close frame and the end
of the stream, and then only reads. All speak the subprotocol "chat.v2", if it is offered. DIR is not used: with it, `stop` recognizes the process.
"""

import asyncio
import sys

import websockets


async def serve(connection):
    path = connection.request.path
    if path == "/large":
        await connection.send(b"x" * 3_000_000)
    if path == "/count":
        for number in range(10_000):
            await connection.send(str(number))
    if path == "/last-words":
        for number in range(600):
            await connection.send(str(number))
        connection.protocol.send_close(4001, "the end")
        connection.send_data()
        connection.transport.write_eof()
    async for message in connection:
        if path == "/fragments":
            await connection.send(message[start:start + 10] for start in range(0, len(message), 10))
        elif path == "/close":
            await connection.close(4000, "as asked")
        else:
            await connection.send(message)


def select(_, offered):
    return "chat.v2" if "chat.v2" in offered else None


async def main():
    port = int(sys.argv[1])
    # Its own pings show that they are answered: it closes a connection that does not within the time.
    async with websockets.serve(
            serve, "127.0.0.1", port, select_subprotocol=select, max_size=64 * 1024 * 1024,
            ping_interval=0.2, ping_timeout=20) as server:
        await server.serve_forever()


asyncio.run(main())
