"""The versions and the machine that the results depend on; the machine without its name."""

import functools
import json
import os
import pathlib
import platform
import re
import subprocess

from scenarios import PYTHON

HERE = pathlib.Path(__file__).resolve().parent


def output(*words):
    try:
        done = subprocess.run(words, cwd=HERE, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        return done.stdout + done.stderr
    except OSError:
        return ""


def found(pattern, *words):
    match = re.search(pattern, output(*words))
    return match[1] if match else "unknown"


def package(name):
    for pin in json.loads((HERE / "Package.resolved").read_text())["pins"]:
        if pin["identity"] == name:
            return pin["state"].get("version", "unknown")
    return "unknown"


def linnet():
    """The measured commit."""
    changed = "-changed" if output("git", "status", "--porcelain", "--", "../Modules", "../Package.swift") else ""
    return output("git", "rev-parse", "--short", "HEAD").strip() + changed


@functools.cache
def version(name):
    swift = lambda: found(r"Swift version ([\d.]+)", "swift", "--version")
    openssl = lambda: found(r"OpenSSL ([\w.]+)", "openssl", "version")
    known = {
        "Linnet": linnet, "Swift": swift, "URLSession": swift, "URLComponents": swift, "OpenSSL": openssl,
        "nginx": lambda: found(r"nginx/([\d.]+)", "/usr/sbin/nginx", "-v"),
        "swift-nio": lambda: package("swift-nio"),
        "async-http-client": lambda: package("async-http-client"),
        "async-http-client, on the loops": lambda: package("async-http-client"),
        "libcurl": lambda: found(r"libcurl/([\d.]+)", "curl", "--version"),
        "libcurl and gdk-pixbuf": lambda: f"{version('libcurl')} and {version('gdk-pixbuf')}",
        "gdk-pixbuf": lambda: found(r"([\d.]+)", "pkg-config", "--modversion", "gdk-pixbuf-2.0"),
        "curl": lambda: found(r"^curl ([\d.]+)", "curl", "--version"),
        "websockets": lambda: found(r"Version: ([\d.]+)", PYTHON, "-m", "pip", "show", "websockets"),
        "wrk": lambda: found(r"(\d+\.\d+\.\d+)", "wrk", "-v"),
        "h2load": lambda: found(r"nghttp2/([\d.]+)", "h2load", "--version"),
    }
    return known[name]() if name in known else None


@functools.cache
def machine():
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} cores" + (f", {cpu[1]}" if cpu else "")


def versions(peer):
    names = ["Linnet", peer, "Swift", "swift-nio", "OpenSSL", "nginx"]
    return {name: version(name) for name in dict.fromkeys(names) if version(name)} | {
        "kernel": platform.release(), "machine": machine()}
