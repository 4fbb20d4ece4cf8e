"""The compiler flags and the files of the package's last debug build."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
for line in (ROOT / ".ci" / "environment").read_text().splitlines():
    if line.startswith("export "):
        os.environ.setdefault(*line.removeprefix("export ").split("=", 1))
PRODUCTS = ROOT / ".build" / "debug"


def manifest(root=ROOT):
    """The manifest of a package, as SwiftPM prints it. Raises a RuntimeError when it is invalid."""
    # Without the lock it does not wait for a build to end, and says so.
    done = subprocess.run(
        ["swift", "package", "--ignore-lock", "dump-package"], cwd=root, stdin=subprocess.DEVNULL, capture_output=True,
        text=True)
    if done.returncode != 0:
        raise RuntimeError(f"`swift package dump-package` failed:\n{done.stderr}".rstrip())
    return json.loads(done.stdout)


def dependency_name(dependency):
    return next(iter(dependency.values()))[0]


def library_targets(package):
    """The targets of the library products; each product has one target with the same name."""
    libraries = [product for product in package["products"] if "library" in product["type"]]
    return [name for product in libraries for name in product["targets"]]


def compiler_arguments():
    """Target -> its arguments for swiftc, from the build plan beside the products."""
    found = {}
    for line in (ROOT / ".build" / "debug.yaml").read_text().splitlines():
        text = line.strip()
        if text.startswith('args: ["') and '"-module-name"' in text:
            words = json.loads(text.removeprefix("args: "))
            if words[0].endswith("swiftc") and "-emit-module" in words:
                found[words[words.index("-module-name") + 1]] = words
    return found


def import_flags(words):
    """The arguments of a target that another tool needs to import the same modules."""
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
    """The object files of a Swift target, without those of deleted sources."""
    module = target.replace("-", "_")
    entries = json.loads((PRODUCTS / f"{module}.build" / "output-file-map.json").read_text())
    return sorted(entry["object"] for source, entry in entries.items() if source and "object" in entry)
