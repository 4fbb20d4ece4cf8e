"""Runs Prometheus for the time of a measurement, and reads its values by its HTTP interface."""

import contextlib
import json
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

from gateway import free_port


class Database:
    def __init__(self, port):
        self.port = port

    def query(self, expression):
        """The value of an expression; None if there is none yet."""
        query = urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/query?{query}", timeout=10) as response:
            result = json.load(response)["data"]["result"]
        return float(result[0]["value"][1]) if result else None

    def wait_for(self, expression, value):
        """Waits until the expression has the value, for at most 20 seconds, and returns its last value."""
        deadline, found = time.monotonic() + 20, None
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                found = self.query(expression)
                if found == value:
                    break
            time.sleep(0.5)
        return found if found is not None else -1


@contextlib.contextmanager
def scraping(target):
    """Scrapes a port once a second; yields None if Prometheus is not installed."""
    program = shutil.which("prometheus")
    if program is None:
        yield None
        return
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        settings = pathlib.Path(folder) / "prometheus.yml"
        settings.write_text(
            "scrape_configs:\n  - job_name: gateway\n    scrape_interval: 1s\n    static_configs:\n"
            f"      - targets: ['127.0.0.1:{target}']\n")
        process = subprocess.Popen(
            [program, f"--config.file={settings}", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            yield Database(port)
        finally:
            process.terminate()
            process.wait()
