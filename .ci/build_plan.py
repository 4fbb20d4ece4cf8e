"""What the last debug build of the package did: which flags its targets were compiled with, and which files it made."""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRODUCTS = ROOT / ".build" / "debug"


def manifest():
    text = subprocess.run(
        ["swift", "package", "dump-package"], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
        text=True).stdout
    return json.loads(text)


def dependency_name(dependency):
    return next(iter(dependency.values()))[0]


def library_targets(package):
    """The target of each library product; each has one, of its own name."""
    libraries = [product for product in package["products"] if "library" in product["type"]]
    return [name for product in libraries for name in product["targets"]]


def compiler_arguments():
    """Target -> the arguments that swiftc was called with, from the plan that the build leaves beside its products."""
    found = {}
    for line in (ROOT / ".build" / "debug.yaml").read_text().splitlines():
        text = line.strip()
        if text.startswith('args: ["') and '"-module-name"' in text:
            words = json.loads(text.removeprefix("args: "))
            if words[0].endswith("swiftc") and "-emit-module" in words:
                found[words[words.index("-module-name") + 1]] = words
    return found


def import_flags(words):
    """Of a target's arguments those that another tool needs to import what the target imports."""
    flags, i = [], 0
    while i < len(words):
        if words[i] in ("-I", "-target", "-sdk", "-resource-dir"):
            flags += words[i : i + 2]
            i += 2
        elif words[i] == "-Xcc" and i + 1 < len(words):
            flags += words[i : i + 2]
            i += 2
        elif words[i].startswith("-I"):
            flags.append(words[i])
            i += 1
        else:
            i += 1
    return flags


def objects(target):
    """The object files of a Swift target, without those that sources left behind which are gone now."""
    module = target.replace("-", "_")
    entries = json.loads((PRODUCTS / f"{module}.build" / "output-file-map.json").read_text())
    return sorted(entry["object"] for source, entry in entries.items() if source and "object" in entry)
