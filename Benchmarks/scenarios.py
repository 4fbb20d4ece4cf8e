"""The scenarios, one per row, and the commands of the clients."""

import dataclasses
import json
import os
import pathlib
import re

BARE = "Linnet, bare"
CALL = "Linnet, by calls"
ARIA2 = "aria2c"
WRITES = "files from memory, synchronized"
ONE_BY_ONE, EMPTY_JOURNAL = "Linnet, one at a time", "Linnet, an empty journal"
AHC, URLSESSION, LIBCURL, CURL, WRK, H2LOAD = "async-http-client", "URLSession", "libcurl", "curl", "wrk", "h2load"
AHC_ON_LOOPS = "async-http-client, on the loops"
HEDGING = "Linnet, hedging"
FROM_SERVER = "Linnet, from the server"
WEBSOCKETS = "websockets"
PIXBUF = "libcurl and gdk-pixbuf"
OPENSSL, OPENSSL_PARSED = "OpenSSL, parsing each time", "OpenSSL, parsed once"
PROGRAMS = {"linnet": "bench-linnet", AHC: "bench-ahc", URLSESSION: "bench-urlsession", LIBCURL: "bench-libcurl"}


@dataclasses.dataclass
class Scenario:
    name: str
    operation: str
    peers: tuple
    kind: str = "HTTP"  # of the server
    path: str = "1k"
    concurrency: int = 1
    seconds: float = 1.5
    unit: str = "requests/s"
    scale: float = 1  # from what the programs print to the unit
    options: tuple = ()  # for all
    own: tuple = ()  # for Linnet alone
    lower: bool = False  # whether less is better
    memory: bool = False  # whether peak memory is a result, too
    one_core: bool = False  # whether clients and servers share a processor core
    why_not: str = ""  # why a peer that one would expect is not measured
    rate: int = 0  # requests a second of an open load
    is_own_rate: bool = False  # whether that is a share of the client's own maximum
    closed_seconds: float = 1.5  # for a maximum


PYTHON = pathlib.Path(__file__).resolve().parent.parent / ".build" / "linnet-venv" / "bin" / "python"
WEBSOCKET_CLIENT = pathlib.Path(__file__).resolve().parent / "websocket_client.py"
GATEWAY = pathlib.Path(__file__).resolve().parent.parent / "Examples" / "Gateway" / "Load" / "rate"
TIMED = pathlib.Path(__file__).resolve().parent / "timed.py"
NO_AUTHORITY = "URLSession is missing, because it cannot trust a custom authority"

SCENARIOS = [
    Scenario("get-1k-c1", "get", (AHC, URLSESSION, LIBCURL, WRK)),
    Scenario("get-1k-c1-onecore", "get", (AHC, URLSESSION, LIBCURL, WRK), one_core=True),
    Scenario("get-1k-c32", "get", (AHC, URLSESSION, LIBCURL, WRK), concurrency=32),
    Scenario("get-1k-c32-onloop", "get", (AHC, URLSESSION, LIBCURL, WRK), concurrency=32, own=("onloop", "loops=1")),
    Scenario("get-1k-c256", "get", (AHC, URLSESSION, LIBCURL, WRK), concurrency=256),
    Scenario("tls-get-1k-c32", "get", (AHC, LIBCURL, WRK), kind="HTTPS", concurrency=32, why_not=NO_AUTHORITY),
    Scenario("get-1k-c32-equipped", "get", (BARE,), path="plain", concurrency=32, own=("equipped",)),
    Scenario("get-1k-c32-credential", "get", (BARE,), concurrency=32, own=("credential",)),
    Scenario("get-1k-c32-observed", "get", (BARE,), concurrency=32, own=("observed",)),
    Scenario("get-1k-c32-observed-discarded", "get", (BARE,), concurrency=32, own=("observed=discarded",)),
    Scenario("get-1k-c32-handle", "get", (CALL,), concurrency=32, own=("handle",)),
    Scenario("get-1k-c32-manager", "get", (CALL,), concurrency=32, own=("manager",)),
    Scenario("h2-get-1k-c32", "get", (AHC, LIBCURL, H2LOAD), kind="HTTP2", concurrency=32, options=("http=2",),
             why_not=NO_AUTHORITY),
    Scenario("gateway", "gateway", (AHC, AHC_ON_LOOPS), concurrency=32, seconds=10),
    Scenario("gateway-bare", "gateway", (AHC, AHC_ON_LOOPS), concurrency=32, seconds=10, options=("OBSERVED=false",)),
    Scenario("json-get-c32", "json", (AHC, URLSESSION), path="json", concurrency=32),
    Scenario("cache-hit-memory", "cache", (FROM_SERVER,), path="cached", own=("store=memory",)),
    Scenario("cache-hit-disk", "cache", (FROM_SERVER,), path="cached", own=("store=disk",)),
    Scenario("websocket-echo", "echo", (WEBSOCKETS,), kind="WebSocket", path="echo", unit="messages/s"),
    Scenario("websocket-echo-onecore", "echo", (WEBSOCKETS,), kind="WebSocket", path="echo", unit="messages/s",
             one_core=True),
    Scenario("websocket-echo-onloop", "echo", (WEBSOCKETS,), kind="WebSocket", path="echo", unit="messages/s",
             own=("onloop",)),
    Scenario("websocket-echo-c32", "echo", (WEBSOCKETS,), kind="WebSocket", path="echo", concurrency=32,
             unit="messages/s"),
    Scenario("websocket-echo-c32-onloop", "echo", (WEBSOCKETS,), kind="WebSocket", path="echo", concurrency=32,
             unit="messages/s", own=("onloop",)),
    Scenario("body-256m", "body", (AHC, URLSESSION, LIBCURL), path="256m", unit="MB/s", scale=1e-6),
    Scenario("tls-body-256m", "body", (AHC, LIBCURL), kind="HTTPS", path="256m", unit="MB/s", scale=1e-6,
             why_not=NO_AUTHORITY),
    Scenario("h2-body-256m", "body", (AHC, LIBCURL), kind="HTTP2", path="256m", unit="MB/s", scale=1e-6,
             options=("http=2",), why_not=NO_AUTHORITY),
    Scenario("gzip-body", "body", (LIBCURL,), path="gzip/text", unit="MB/s", scale=1e-6, options=("compressed",)),
    Scenario("download-1g-file", "download", (CURL, AHC, URLSESSION), path="1g", seconds=0, unit="MB/s", scale=1e-6,
             memory=True),
    # The peers do not synchronize the file to the disk.
    Scenario("background-1g-file", "background", (CURL, ARIA2), path="1g", seconds=0, unit="MB/s", scale=1e-6),
    Scenario("background-4-segments", "background", (ARIA2,), path="limited/256m", seconds=0, unit="MB/s", scale=1e-6,
             options=("segments=4",)),
    # aria2c notes nothing, and synchronizes nothing.
    Scenario("background-small-files", "background-files", (ARIA2,), path="10k", concurrency=16, unit="files/s"),
    # On the disk of the package, with its bound. aria2c synchronizes nothing here either.
    Scenario("background-small-files-disk", "background-files", (ARIA2, WRITES), path="10k", concurrency=16,
             unit="files/s", own=("disk",)),
    # On the disk of the package. Each task is on the disk when it is accepted.
    Scenario("background-accept", "background-accept", (ONE_BY_ONE,), unit="tasks/s", own=("tasks=20000", "batch=100")),
    Scenario("background-open-100k", "background-open", (EMPTY_JOURNAL,), unit="ms", lower=True, own=("tasks=100000",)),
    Scenario("upload-1g-file", "upload", (CURL, AHC, URLSESSION), path="upload/1g", seconds=0, unit="MB/s", scale=1e-6,
             memory=True),
    Scenario("tls-upload-1g-file", "upload", (CURL, AHC), kind="HTTPS", path="upload/1g", seconds=0, unit="MB/s",
             scale=1e-6, why_not=NO_AUTHORITY),
    Scenario("h2-upload-1g-file", "upload", (CURL, AHC), kind="HTTP2", path="upload/1g", seconds=0, unit="MB/s",
             scale=1e-6, options=("http=2",), why_not=NO_AUTHORITY),
    Scenario("image-pipeline", "images", (PIXBUF,), path="pictures/", concurrency=4, seconds=0, unit="images/s",
             memory=True),
    Scenario("handshake-pinned-vs-unpinned", "get", ("Linnet, not pinned",), kind="HTTPS", path="close",
             unit="handshakes/s", own=("pin",)),
    Scenario("handshakes-per-second", "get", (AHC, LIBCURL), kind="HTTPS", path="close", concurrency=8,
             unit="handshakes/s", own=("pin",), why_not=NO_AUTHORITY),
    Scenario("idle-connections-memory", "idle", (AHC, LIBCURL), kind="HTTPS", path="held", concurrency=1000,
             unit="KiB/connection", lower=True, why_not=NO_AUTHORITY),
    Scenario("idle-connections-memory-10k", "idle", (AHC, LIBCURL), kind="HTTPS", path="held-long", concurrency=10_000,
             unit="KiB/connection", lower=True, why_not=NO_AUTHORITY),
    Scenario("h2-idle-connections-memory", "idle", (LIBCURL,), kind="HTTP2Single", path="held-long", concurrency=1000,
             unit="KiB/connection", lower=True, options=("http=2",), why_not=NO_AUTHORITY),
    Scenario("waiting-requests-memory", "waiting", (AHC,), path="held", concurrency=10_000, seconds=1,
             unit="KiB/request", lower=True, why_not="libcurl and URLSession have no queue that can be observed"),
    Scenario("h2-unread-bodies-memory", "unread", (AHC,), kind="HTTP2", path="256m", concurrency=100, seconds=3,
             unit="MB", scale=1 / 1024, lower=True, options=("http=2",), why_not=NO_AUTHORITY),
    Scenario("latency-1k", "latency", (AHC, LIBCURL), concurrency=32, seconds=5),
    Scenario("latency-1k-own", "latency", (AHC, LIBCURL), concurrency=32, seconds=5, is_own_rate=True),
    Scenario("latency-1k-slow", "latency", (AHC, LIBCURL, HEDGING), path="mixed", concurrency=32, seconds=5),
    Scenario("latency-1k-loss", "latency", (AHC, LIBCURL, HEDGING), kind="Lossy", concurrency=32, seconds=15,
             closed_seconds=6),
    Scenario("binary-size", "size", (AHC, URLSESSION), unit="MB", lower=True),
    Scenario("encode-query", "encode-query", ("URLComponents", "a loop by hand"), unit="µs", lower=True, seconds=0.5),
    Scenario("decode-json-10m", "decode-json-10m", ("JSONDecoder",), unit="µs", lower=True),
    Scenario("decode-json-2k", "decode-json-2k", ("JSONDecoder",), unit="µs", lower=True, seconds=0.5),
    # Linnet caches parsed certificates, so only the second row is the same work.
    Scenario("evaluate-chain", "evaluate-chain", (OPENSSL, OPENSSL_PARSED), unit="µs", lower=True, seconds=0.5),
]


class Failed(Exception):
    pass


def command(scenario, who, server, programs):
    """The command that measures one client, and the function that parses its output."""
    url, seconds = server.url(scenario.kind, scenario.path), scenario.seconds
    scheme = [] if url.startswith("http:") else [f"ca={server.directory / 'root.pem'}"]
    if who == WRK:
        return ["wrk", "-t1", f"-c{scenario.concurrency}", f"-d{max(1, round(seconds))}s", url], read_wrk
    if who == H2LOAD:
        return ["h2load", "-t1", "-c1", f"-m{scenario.concurrency}", f"-D{max(1, round(seconds))}", url], read_h2load
    if who == CURL:
        return curl_command(scenario, server, url)
    if who == ARIA2:
        return aria2_command(scenario, server, url, programs), read_line
    if scenario.operation in ("background-accept", "background-open"):
        own = {ONE_BY_ONE: ("tasks=1000", "batch=1"), EMPTY_JOURNAL: ("tasks=0",)}.get(who, scenario.own)
        return [programs / "bench-background", scenario.operation, url, scenario.concurrency, scenario.seconds,
                f"file={programs.parent / 'journal'}", *own], read_line
    if scenario.operation in ("encode-query", "decode-json-10m", "decode-json-2k", "evaluate-chain"):
        return values_command(scenario, who, server, programs), read_line
    if scenario.operation == "echo":
        return echo_command(scenario, who, url, programs), read_line
    if scenario.operation == "gateway":
        return gateway_command(scenario, who, server, programs), read_line
    if scenario.operation == "images":
        return images_command(scenario, who, server, url, programs), read_line
    if who == WRITES:
        return [programs / "bench-background", "background-writes", url, scenario.concurrency, scenario.seconds,
                f"file={programs.parent / 'download'}", f"files={server.make_ten_kilobytes()}",
                f"bytes={server.file('10k/0').stat().st_size}"], read_line
    own = scenario.own if who == "linnet" else ("hedge=10",) if who == HEDGING else ()
    options = [f"pin={server.pin}" if option == "pin" else option for option in own]
    source = scenario.path.removeprefix("upload/").removeprefix("gzip/").removeprefix("limited/")
    if scenario.operation == "upload":
        options.append(f"file={server.file(source)}")
    elif scenario.operation in ("download", "background", "background-files"):
        options.append(f"file={(programs.parent if 'disk' in own else server.directory) / 'download'}")
    options += [f"rate={scenario.rate}"] if scenario.rate else []
    small = ("plain", "mixed", "close", "held", "held-long", "cached")
    if scenario.operation == "background-files":
        options.append(f"files={server.make_ten_kilobytes()}")
    served = "10k/0" if scenario.operation == "background-files" else "1k" if source in small else source
    length = server.file(served).stat().st_size
    program = programs / PROGRAMS.get(who, PROGRAMS["linnet"])
    if scenario.operation == "cache":
        program = programs / "bench-cache"
    elif scenario.operation.startswith("background"):
        program = programs / "bench-background"
    elif "manager" in options:
        program = programs / "bench-afnetworking"
    return [program, scenario.operation, url, scenario.concurrency, seconds, f"bytes={length}",
            *scheme, *scenario.options, *options], read_latencies if scenario.operation == "latency" else read_line


def curl_command(scenario, server, url):
    words = ["curl", "--silent", "--show-error", "--fail", "--write-out",
             "%{size_download} %{size_upload} %{time_total}"]
    if scenario.kind != "HTTP":
        words += ["--cacert", server.directory / "root.pem", "--http2" if scenario.kind == "HTTP2" else "--http1.1"]
    if scenario.operation == "upload":
        return words + ["-o", "/dev/null", "-T", server.file("1g"), url], read_curl
    return words + ["-o", server.directory / "download", url], read_curl


def aria2_command(scenario, server, url, programs):
    if scenario.operation == "background-files":
        count, length = server.make_ten_kilobytes(), server.file("10k/0").stat().st_size
        folder = (programs.parent if "disk" in scenario.own else server.directory) / "download"
        uris = server.directory / "uris"
        uris.write_text("".join(f"{url}/{number}\n" for number in range(count)))
        return [TIMED, f"{count}x{length}", folder, "aria2c", "--quiet", "--file-allocation=none",
                f"--max-concurrent-downloads={scenario.concurrency}", f"--dir={folder}", f"--input-file={uris}"]
    source = server.file(scenario.path.removeprefix("limited/"))
    connections = "4" if "segments=4" in scenario.options else "1"
    return [TIMED, source.stat().st_size, server.directory / "download", "aria2c", "--quiet", "--file-allocation=none",
            f"--split={connections}", f"--max-connection-per-server={connections}", "--min-split-size=1M",
            f"--dir={server.directory}", "--out=download", url]


def echo_command(scenario, who, url, programs):
    client = [PYTHON, WEBSOCKET_CLIENT] if who == WEBSOCKETS else [programs / "bench-websocket"]
    if who == WEBSOCKETS and not PYTHON.exists():
        raise Failed("the package websockets is not installed: .ci/setup bench")
    url = url.replace("http://", "ws://") if who == WEBSOCKETS else url
    options = [] if who == WEBSOCKETS else scenario.own
    return [*client, "echo", url, scenario.concurrency, scenario.seconds, "bytes=32", *options]


def gateway_command(scenario, who, server, programs):
    """wrk before a gateway, which is another package (Examples/Gateway), before the server."""
    program = programs.parent.parent / ".build-gateway" / "release" / (
        "gateway" if who == "linnet" else "gateway-async-http-client")
    settings = ["LOOPS=true"] if who == AHC_ON_LOOPS else []
    return [GATEWAY, program, server.url("HTTP", "").rstrip("/"), scenario.path, scenario.concurrency,
            round(scenario.seconds), *scenario.options, *settings]


def images_command(scenario, who, server, url, programs):
    server.make_pictures()
    # The default of Linnet's ImageDownloader, which bench-images checks.
    threads = max(1, min(4, len(os.sched_getaffinity(0)) - 1))
    return [programs / ("bench-pixbuf" if who == PIXBUF else "bench-images"), "images", url, scenario.concurrency, scenario.seconds,
            "pictures=200", "side=128", f"threads={threads}"]


def values_command(scenario, who, server, programs):
    files = [f"chain={server.directory / 'all.pem'}", f"ca={server.directory / 'root.pem'}", f"pin={server.pin}"]
    program, operation = "bench-values", scenario.operation
    if who in (OPENSSL, OPENSSL_PARSED):
        program = "bench-openssl"
        files += ["parsed"] if who == OPENSSL_PARSED else []
    elif who == "URLComponents":
        operation += "-urlcomponents"
    elif who == "a loop by hand":
        operation += "-loop"
    elif who == "JSONDecoder":
        operation += "-foundation"
    return [programs / program, operation, "-", 1, scenario.seconds, *files]


# The output of the programs: value, peak memory above idle in MB or None


def read_line(text, _):
    result = json.loads(text.strip().splitlines()[-1])
    peak = result.get("peak")
    return result["value"], None if peak is None else peak / 1024


def read_latencies(text, _):
    """The whole object, whose percentiles are in microseconds."""
    return json.loads(text.strip().splitlines()[-1]), None


def read_wrk(text, _):
    if "Non-2xx" in text or "Socket errors" in text:
        raise Failed(text.strip().splitlines()[-1])
    return float(re.search(r"Requests/sec: *([\d.]+)", text)[1]), None


def read_h2load(text, _):
    if "2xx, 0 3xx, 0 4xx, 0 5xx" not in text or " 0 failed, 0 errored" not in text:
        raise Failed("not every response had status 200")
    return float(re.search(r"finished in .*?, ([\d.]+) req/s", text)[1]), None


def read_curl(text, peak):
    down, up, seconds = text.split()
    if max(int(down), int(up)) != 1 << 30:
        raise Failed(f"{max(int(down), int(up))} bytes instead of {1 << 30}")
    return (1 << 30) / float(seconds), peak
