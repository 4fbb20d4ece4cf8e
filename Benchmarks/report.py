"""Generates Docs/Benchmarks.md and its chart from the results."""

import html
import math

import results
from latency import PERCENTILES
from scenarios import AHC, CURL, LIBCURL, URLSESSION

COLOURS = ["#0a66c2", "#d1495b", "#2e8b57", "#b8860b", "#6a4c93", "#5f6b73", "#00838f", "#ad1457"]
# A circle, a square and a diamond, as paths around the origin.
SHAPES = ["M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0", "M-4.5 -4.5h9v9h-9z", "M0 -6.5L6.5 0L0 6.5L-6.5 0z"]
# What the chart of README.md shows.
README_SCENARIOS = {
    "get-1k-c1", "get-1k-c32", "tls-get-1k-c32", "h2-get-1k-c32", "json-get-c32", "body-256m", "tls-body-256m",
    "download-1g-file", "upload-1g-file", "tls-upload-1g-file", "handshakes-per-second", "idle-connections-memory",
    "waiting-requests-memory"}
README_PEERS = {AHC, URLSESSION, LIBCURL, CURL}
ABOUT = """\
# Benchmarks

`make bench` compares Linnet with other clients, with one nginx with one worker on loopback, and writes this page.
`make bench SCENARIO=get-1k-c32 ROUNDS=3` measures one scenario and keeps the results of the others.

Every scenario is measured in rounds, alternating between Linnet and its peers, each in a separate process; the figures are
the medians of the rounds. A ratio is the median of the rounds' ratios, and above 1 Linnet is better; the minimum and the
maximum are in brackets. `machines` is the number of machines on which a ratio was measured, with the range of their ratios; the
other columns show the last machine. A measurement during which other programs used more than a tenth of a core is repeated, up to
twice. All clients use the same URL and the same concurrency, read the whole body, and check the status and
the length. Client and server share the machine, so the figures are comparable with each other only. nginx opens a file for
each request, its default; with `open_file_cache` it has half the work per request, and wrk reaches about 1.6 times as many
requests per second. In each scenario with TLS the server always sends the same chain, which Linnet verifies once in half an
hour ([Decisions](Decisions.md), 30), and its peers verify for each connection. `evaluate-chain` measures the verification,
with new anchors for each chain; OpenSSL is measured with certificates that are parsed each time, as in its TLS, and once, as
in Linnet. Large files are in memory on both sides, so that the disk is not measured.

Linnet is measured with `HTTPSession`; async-http-client with one client's `execute` and `collect`, and as many
connections as there are concurrent requests; URLSession comes from FoundationNetworking; libcurl is the multi interface with
epoll on one thread; websockets is the Python package's asyncio client, measured with the same echo server as Linnet (SwiftNIO,
one thread, texts of 32 bytes); wrk and h2load are load generators that do the minimum of work, and show the limit.

In the scenarios that end in `-onecore`, the clients and the server share one processor core. Clients that send one request at
a time are measured there without the time that a sleeping core takes to wake up, which in virtual machines is often longer
than their work.

`gateway` is wrk with 32 connections before [Examples/Gateway](../Examples/Gateway), which forwards each request to nginx. Both
gateways have the same server with its metrics and traces, on the same event loops, and differ in the client. Linnet measures and
traces the client's requests; async-http-client traces them, and has no metrics. In `gateway-bare`, neither has metrics or traces.
Linnet's tasks run on the event loops of the server, for which its sessions have executors. async-http-client is measured with the
default executor, and with an executor of the program's own that does the same.

`image-pipeline` downloads 200 JPEGs of 1600 x 1200 pixels and 500 KB, each once, decodes them and scales them to 128 pixels, and
keeps all of the small pictures. Linnet is `ImageDownloader` with its defaults and the processor `.scaled(toFit: 128)`. Its peer is
a program in C, whose threads pass the bytes from libcurl's easy interface at once to gdk-pixbuf's loader, which knows the
wanted size. It has as many threads as Linnet decodes at a time, one fewer than there are cores and at most four.

The `background-` scenarios measure a session of LinnetBackground, which notes each task in a journal and synchronizes each file;
its peers do neither. `background-small-files` downloads 10,000 files of 10 KB, 16 at a time, from the first addition to the last
end, in memory; `background-small-files-disk` does so on the disk, beside files of the same size that come from no network and are
synchronized alike, which is the bound of the disk. `background-accept` counts tasks that are on the disk when they are accepted, 100 at once beside one at a time;
`background-open-100k` is the time in which a session with 100,000 tasks opens, and becomes the one that transfers.

![Linnet compared with other clients](benchmarks.svg)
"""

LATENCIES = """\
## Latency under load

In the scenarios that begin with `latency-`, requests come at a rate, however long those before them take: each client begins them at
the same instants, which are random as those of many users (a Poisson process with a fixed seed), and has at most 32 connections. A
latency counts from the instant at which the request was due, not from its beginning, so that a client that begins requests late,
because it is busy or has no free connection, cannot hide it (the correction of "coordinated omission"). The requests that wait have
no limit. The first second is not recorded. The `maximum` is what a client reaches with 32 requests at a time. The rate is 80 % of
the lowest maximum, the same for all clients; in `latency-1k-own` it is 80 % of each client's own. The percentiles are the medians
of the rounds.

In `latency-1k-slow`, the server delays every hundredth answer of a connection by 50 ms, which is a little less than 1 % of all: p99
is among the slowest of the other answers, and shows whether the slow ones hold them up. In `latency-1k-loss`, the server is behind a
router that loses 5 % of the packets in each direction (a network namespace, so this requires root). The kernel sends a lost packet
again after 200 ms at the earliest, and the connection is busy until then. "Linnet, hedging" has `HedgingPolicy(after:
.milliseconds(10))`, which sends a request once more when its answer is late, and a `RetryBudget`, which limits that to a tenth of the
requests. It is not the default; the peers have no such function. The maximum of this client does not count for the rate.
"""


def figure(value):
    if value is None:
        return "failed"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f}"


def ratio(row):
    if row["ratio"] is None:
        return "failed"
    return f"{row['ratio']:.2f} ({row['ratio_min']:.2f} to {row['ratio_max']:.2f})"


def machines(row):
    """The number of machines on which a row was measured, and the range of their ratios."""
    ratios = sorted(results.machines(row).values())
    return f"{len(ratios)}" if len(ratios) < 2 else f"{len(ratios)} ({ratios[0]:.2f} to {ratios[-1]:.2f})"


def milliseconds(value):
    """Three digits."""
    if value is None:
        return "failed"
    value /= 1000
    return f"{value:,.{max(0, 2 - math.floor(math.log10(value)))}f}" if value > 0 else "0"


def client(row):
    name = "Linnet" if row["client"] == "linnet" else row["client"]
    return f"{name}, {row['errors']:,} failed" if row["errors"] else name


def line(row):
    if results.is_of_latencies(row):
        percentiles = ", ".join(f"{part} {milliseconds(row[part])} ms" for part in PERCENTILES)
        return f"{row['scenario']}, {client(row)}: {percentiles}, {row['rate']:,} of {figure(row['maximum'])} requests/s"
    return f"Linnet {figure(row['linnet'])}, {row['peer']} {figure(row['other'])} {row['unit']}: {ratio(row)}"


def marked(rows):
    """Each row, and whether it is the first one of its scenario, which alone shows the name."""
    before = None
    for row in rows:
        yield row, row["scenario"] != before
        before = row["scenario"]


def table(rows):
    lines = ["| scenario | unit | Linnet | peer | its figure | ratio | rounds | machines |",
             "|---|---|--:|---|--:|---|--:|---|"]
    for row, is_first in marked(rows):
        name, unit = (f"`{row['scenario']}`", row["unit"]) if is_first else ("", "")
        lines.append(f"| {name} | {unit} | {figure(row['linnet'])} | {row['peer']} | {figure(row['other'])} | "
                     f"{ratio(row)} | {row['rounds']} | {machines(row)} |")
    return "\n".join(lines)


def latency_table(rows):
    lines = ["| scenario | client | maximum, requests/s | rate, requests/s | p50, ms | p99, ms | p99.9, ms | rounds |",
             "|---|---|--:|--:|--:|--:|--:|--:|"]
    for row, is_first in marked(rows):
        name = f"`{row['scenario']}`" if is_first else ""
        percentiles = " | ".join(milliseconds(row[part]) for part in PERCENTILES)
        lines.append(f"| {name} | {client(row)} | {figure(row['maximum'])} | {row['rate']:,} | {percentiles} | {row['rounds']} |")
    return "\n".join(lines)


def measured_with(rows):
    """One line for each property that a figure depends on, with all of its values when the results are of several runs."""
    values = {}
    for row in rows:
        for name, value in row["versions"].items():
            if not name.endswith(" links"):
                values.setdefault(name, {})[value] = None
    lines = [f"| {name} | {', '.join(each)} |" for name, each in values.items()]
    return "\n".join(["| | |", "|---|---|", *lines])


def linked(rows):
    lines = {}
    for row in rows:
        for name, value in row["versions"].items():
            if name.endswith(" links"):
                who = name.removesuffix(" links")
                lines["Linnet" if who == "linnet" else who] = value
    return [f"- `binary-size`: {who} still needs {value}." for who, value in lines.items()]


def remarks(rows, scenarios):
    measured = {row["scenario"] for row in rows}
    groups = {}  # remark -> the scenarios that it is on
    for row in rows:
        if not results.is_of_latencies(row) and row["ratio"] is None:
            groups.setdefault(f"{row['peer']} or Linnet failed, so there is no ratio", []).append(row["scenario"])
    for scenario in scenarios:
        if scenario.name not in measured:
            groups.setdefault("Not measured yet", []).append(scenario.name)
        if scenario.why_not:
            groups.setdefault(scenario.why_not, []).append(scenario.name)
    lines = [f"- {remark}: {', '.join(f'`{name}`' for name in names)}." for remark, names in groups.items()]
    return "\n".join([*lines, *linked(rows)])


def write(rows, docs, scenarios):
    compared = [row for row in rows if not results.is_of_latencies(row)]
    latencies = [row for row in rows if results.is_of_latencies(row)]
    (docs / "benchmarks.svg").write_text(chart(compared))
    of_readme = [row for row in compared if row["scenario"] in README_SCENARIOS and row["peer"] in README_PEERS]
    (docs / "pictures" / "speed.svg").write_text(chart(of_readme))
    (docs / "Benchmarks.md").write_text(
        f"{ABOUT}\n{table(compared)}\n\n{LATENCIES}\n{latency_table(latencies)}\n\n## Remarks\n\n{remarks(rows, scenarios)}\n\n"
        f"## Measured with\n\n{measured_with(rows)}\n")


# The chart: a line for each scenario, a dot for each peer, on a logarithmic axis of ratios


def colour(index):
    return COLOURS[index % len(COLOURS)]


def mark(index, x, y, inside=""):
    """The mark of a peer: the colours are repeated with another shape."""
    path = SHAPES[index // len(COLOURS) % len(SHAPES)]
    return f'<path transform="translate({x:.1f} {y:.1f})" d="{path}" fill="{colour(index)}">{inside}</path>'


def legend(peers, right):
    """The elements, and the height of their lines."""
    out, x, y = [], 14, 44
    for index, peer in enumerate(peers):
        width = 34 + 6.6 * len(peer)
        if x + width > right and x > 14:
            x, y = 14, y + 20
        out.append(f'{mark(index, x + 5, y)}<text x="{x + 15:.1f}" y="{y + 4}" fill="#222">{html.escape(peer)}</text>')
        x += width
    return out, y - 44


def chart(rows):
    rows = [row for row in rows if row["ratio"]]
    scenarios = list(dict.fromkeys(row["scenario"] for row in rows))
    peers = list(dict.fromkeys(row["peer"] for row in rows))
    left, width, step = 250, 560, 26
    names, more = legend(peers, left + width)
    top = 78 + more
    height = top + step * len(scenarios) + 40
    low = min([0.5, *(row["ratio_min"] for row in rows)])
    high = max([2.0, *(row["ratio_max"] for row in rows)])

    def x(value):
        return left + width * (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 30} {height}" '
        'font-family="sans-serif" font-size="12">',
        '<title>Linnet compared with other clients: ratio for each scenario, above 1 Linnet is better</title>',
        f'<rect width="100%" height="100%" fill="#ffffff"/>',
        '<text x="14" y="24" font-size="15" fill="#222">Linnet compared with other clients: right of the line Linnet is better</text>',
        *names]
    for tick in (0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64):
        if low <= tick <= high:
            stroke = ' stroke="#222" stroke-width="1.5"' if tick == 1 else ' stroke="#ddd"'
            out.append(f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top - 10}" y2="{height - 34}"{stroke}/>'
                       f'<text x="{x(tick):.1f}" y="{height - 16}" text-anchor="middle" fill="#555">{tick:g}</text>')
    for index, scenario in enumerate(scenarios):
        y = top + step * index + step / 2
        out.append(f'<text x="{left - 12}" y="{y + 4:.1f}" text-anchor="end" fill="#222">{html.escape(scenario)}</text>'
                   f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#f0f0f0"/>')
        for row in rows:
            if row["scenario"] == scenario:
                place = peers.index(row["peer"])
                out.append(f'<line x1="{x(row["ratio_min"]):.1f}" x2="{x(row["ratio_max"]):.1f}" y1="{y:.1f}" '
                           f'y2="{y:.1f}" stroke="{colour(place)}" stroke-width="2"/>'
                           + mark(place, x(row["ratio"]), y,
                                  f'<title>{html.escape(row["peer"])}: {row["ratio"]:.2f}</title>'))
    return "\n".join([*out, "</svg>", ""])
