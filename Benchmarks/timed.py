#!/usr/bin/env python3
"""Runs a program that says nothing about its time, and prints the bytes a second like the other programs: timed BYTES FILE COMMAND..."""

import json
import pathlib
import subprocess
import sys
import time

count, file, command = int(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
file.unlink(missing_ok=True)
begin = time.monotonic()
subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
seconds = time.monotonic() - begin
if file.stat().st_size != count:
    sys.exit(f"{file.stat().st_size} bytes arrived instead of {count}")
file.unlink()
print(json.dumps({"value": count / seconds}))
