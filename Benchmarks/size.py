"""The size of a program that sends one GET request, statically linked with the Swift library and stripped."""

import os
import pathlib
import re
import subprocess

import results
from scenarios import AHC, URLSESSION

HERE = pathlib.Path(__file__).resolve().parent
SCRATCH = HERE.parent / ".build-bench-static"
PROGRAMS = {"linnet": "size-linnet", AHC: "size-ahc", URLSESSION: "size-urlsession"}


def measure(who, server):
    """Returns the size in megabytes and the dynamically linked libraries. The program is run once to check that it works."""
    program = PROGRAMS[who]
    subprocess.run(
        ["swift", "build", "-c", "release", "--static-swift-stdlib", "--package-path", HERE, "--scratch-path", SCRATCH,
         "--product", program], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    stripped = server.directory / program
    subprocess.run(["strip", "-o", stripped, SCRATCH / "release" / program], check=True)
    arguments = [server.url("HTTP", "1k")]
    if who == "linnet":
        arguments = [server.url("HTTPS", ""), server.pin, server.directory / "root.pem"]
    said = subprocess.run([stripped, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    if said.stdout.split() != ["200", "1024"]:
        raise RuntimeError(f"its output was {(said.stdout + said.stderr).strip()[:200]!r}")
    dynamic = subprocess.run(["readelf", "-d", stripped], capture_output=True, text=True, check=True).stdout
    return os.path.getsize(stripped) / 1e6, re.findall(r"NEEDED.*\[(.*)\]", dynamic)


def rows(scenario, server, problems):
    sizes = {}
    for who in ["linnet", *scenario.peers]:
        try:
            sizes[who] = measure(who, server)
        except (RuntimeError, OSError, subprocess.SubprocessError) as failure:
            problems.append(f"{scenario.name}: {who} failed: {failure}")
    rows = []
    for peer in scenario.peers:
        pairs = [(sizes["linnet"][0], sizes[peer][0])] if "linnet" in sizes and peer in sizes else []
        row = results.row(scenario.name, peer, scenario.unit, pairs, True)
        for who in ("linnet", peer):
            if who in sizes:
                row["versions"][f"{who} links"] = " ".join(sizes[who][1])
        rows.append(row)
    return rows
