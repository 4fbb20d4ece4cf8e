#!/usr/bin/env python3
"""Runs a program that says nothing about its time, and prints the bytes a second like the other programs: timed BYTES FILE COMMAND...

With FILESxBYTES, FILE is a folder with that many files, and the files a second are printed.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import time

files, _, count = sys.argv[1].rpartition("x")
count, file, command = int(count), pathlib.Path(sys.argv[2]), sys.argv[3:]


def remove():
    if file.is_dir():
        shutil.rmtree(file)
    file.unlink(missing_ok=True)


remove()
begin = time.monotonic()
subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
seconds = time.monotonic() - begin
sizes = [each.stat().st_size for each in (file.iterdir() if files else [file])]
remove()
if sizes != [count] * int(files or 1):
    sys.exit(f"{len(sizes)} files with {sum(sizes)} bytes arrived instead of {files or 1} with {count} each")
print(json.dumps({"value": (int(files) if files else count) / seconds}))
