"""The PyPI package websockets, as the other programs: websocket_client.py echo URL CONCURRENCY SECONDS bytes=N"""

import asyncio
import json
import sys
import time

from websockets.asyncio.client import connect


async def measure(url, concurrency, seconds, size):
    text = "x" * size
    sockets = [await connect(url, compression=None, ping_interval=None, proxy=None) for _ in range(concurrency)]
    begin = time.monotonic() + min(0.4, seconds / 4)
    end = begin + seconds

    async def work(socket):
        count = 0
        while True:
            await socket.send(text)
            if await socket.recv() != text:
                raise RuntimeError("the echo is another message")
            now = time.monotonic()
            if now >= end:
                return count
            if now >= begin:
                count += 1

    total = sum(await asyncio.gather(*(work(socket) for socket in sockets)))
    for socket in sockets:
        await socket.close()
    print(json.dumps({"value": total / seconds, "unit": "messages/s", "count": total}))


def main():
    operation, url, concurrency, seconds, *options = sys.argv[1:]
    if operation != "echo":
        sys.exit(f"no operation {operation}")
    size = int(dict(option.partition("=")[::2] for option in options)["bytes"])
    asyncio.run(measure(url, int(concurrency), float(seconds), size))


main()
