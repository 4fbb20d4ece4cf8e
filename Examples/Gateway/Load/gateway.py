"""Runs a gateway, and reads its metrics."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[^"\\}]|"(?:[^"\\]|\\.)*")*)\})? (\S+)')


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Gateway:
    """`with Gateway(program, upstream) as gateway`: ready at the beginning, ended at the end."""

    def __init__(self, program, upstream, **settings):
        self.port = free_port()
        values = {"UPSTREAM": upstream, "PORT": str(self.port), **settings}
        self.process = subprocess.Popen(
            [str(program)], env={**os.environ, **values}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def __enter__(self):
        deadline = time.monotonic() + 10
        while True:
            try:
                if self.text("/readyz") == "ready\n":
                    return self
            except OSError:
                pass
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.__exit__()
                raise RuntimeError("the gateway did not start")
            time.sleep(0.02)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def text(self, path):
        with urllib.request.urlopen(self.url(path), timeout=10) as response:
            return response.read().decode()

    def metrics(self):
        """The samples of /metrics: (name, labels, value)."""
        lines = (line for line in self.text("/metrics").splitlines() if not line.startswith("#"))
        return [(match[1], match[2] or "", float(match[3])) for match in map(SAMPLE.fullmatch, lines)]

    def memory(self):
        """The resident memory in MB."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s*(\d+)", text)[1]) / 1024


def total(samples, name, *labels):
    """The sum of all series of a name that have the labels."""
    return sum(value for each, own, value in samples if each == name and all(label in own for label in labels))
