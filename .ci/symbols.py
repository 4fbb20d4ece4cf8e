"""The public symbols of the library products, as the compiler's symbol graphs describe them. Requires a debug build."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess

import build_plan


def find_tool(name):
    """A tool of the toolchain, of which only `swift` may be in PATH. A tool of the same name in PATH can be of another version."""
    swift = shutil.which("swift")
    beside = pathlib.Path(swift).resolve().parent / name if swift else None
    return str(beside) if beside and beside.exists() else shutil.which(name) or name


def run(*command):
    result = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return result.returncode, (result.stdout + result.stderr).strip()


def extract(module, arguments, folder):
    """Writes the symbol graphs of a module to an empty folder. Raises a RuntimeError."""
    if module not in arguments:
        raise RuntimeError(f"{module} was not built")
    status, text = run(
        find_tool("swift-symbolgraph-extract"), "-module-name", module, "-output-dir", folder,
        "-minimum-access-level", "public", "-skip-inherited-docs", "-emit-extension-block-symbols",
        *build_plan.import_flags(arguments[module]))
    if status != 0:
        raise RuntimeError(f"{module}: the symbols could not be extracted:\n{text}")
    # `docc` would treat a symbol graph of another module in the folder as part of this module's catalogue.
    for file in pathlib.Path(folder).iterdir():
        if not re.fullmatch(rf"{module}(@\w+)?\.symbols\.json", file.name):
            file.unlink()


def graphs(folder):
    """The symbol graphs of a folder: of a module itself, and of its extensions of other modules."""
    return [json.loads(file.read_text()) for file in sorted(pathlib.Path(folder).iterdir())]


def for_each(modules, work):
    """Calls `work(module)` for the modules, some at a time, and returns its results in their order."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, modules))
