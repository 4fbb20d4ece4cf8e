"""Draws the figures of a run from the samples of /metrics, as a dashboard shows them."""

import html
import re

from gateway import total

WIDTH, HEIGHT, GAP, LEFT = 360, 150, 60, 60
DURATION = "http_server_request_duration_seconds"
COLOURS = ["#0a66c2", "#d1495b"]


def rates(samples):
    """Requests a second between two samples."""
    counts = [(time, total(metrics, DURATION + "_count")) for time, _, metrics in samples]
    return [(late, (after - before) / (late - early)) for (early, before), (late, after) in zip(counts, counts[1:])]


def quantiles(samples, share):
    """A quantile of the durations between two samples in milliseconds, within a bucket by its bounds."""
    points = []
    for (_, _, before), (time, _, after) in zip(samples, samples[1:]):
        counts = [(bound, count - buckets(before).get(bound, 0)) for bound, count in sorted(buckets(after).items())]
        wanted, low, below = share * counts[-1][1] if counts else 0, 0.0, 0
        for bound, count in counts:
            if count >= wanted and count > below:
                points.append((time, 1000 * (low + (min(bound, 10) - low) * (wanted - below) / (count - below))))
                break
            low, below = bound, count
    return points


def buckets(metrics):
    """The cumulative counts of the durations, by bound, over all labels."""
    counts = {}
    for name, labels, value in metrics:
        if name == DURATION + "_bucket":
            bound = float(re.search(r'le="([^"]+)"', labels)[1].replace("+Inf", "inf"))
            counts[bound] = counts.get(bound, 0) + value
    return counts


def draw(samples):
    connections = "http_client_open_connections"
    panels = [
        ("Requests a second", [("", rates(samples))]),
        ("Duration in the gateway, ms", [("p50", quantiles(samples, 0.5)), ("p99", quantiles(samples, 0.99))]),
        ("Connections to the upstream", [
            (state, [(time, total(metrics, connections, f'http_connection_state="{state}"')) for time, _, metrics in samples])
            for state in ("active", "idle")]),
        ("Resident memory, MB", [("", [(time, memory) for time, memory, _ in samples])]),
    ]
    width, height = 2 * (LEFT + WIDTH) + 30, 2 * (HEIGHT + GAP) + 20
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           "<title>Figures of the gateway under load</title>", '<rect width="100%" height="100%" fill="#ffffff"/>']
    for index, (title, lines) in enumerate(panels):
        out += panel(title, lines, LEFT + index % 2 * (LEFT + WIDTH), 40 + index // 2 * (HEIGHT + GAP))
    return "\n".join([*out, "</svg>", ""])


def panel(title, lines, left, top):
    values = [value for _, points in lines for _, value in points]
    end = max((time for _, points in lines for time, _ in points), default=1) or 1
    most = max(values, default=0) * 1.15 or 1
    out = [f'<text x="{left}" y="{top - 12}" font-size="13" fill="#222">{html.escape(title)}</text>']
    for step in range(3):
        y = top + HEIGHT * (1 - step / 2)
        out.append(f'<line x1="{left}" x2="{left + WIDTH}" y1="{y}" y2="{y}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y + 4}" text-anchor="end" fill="#555">{most * step / 2:,.{0 if most > 20 else 1}f}</text>')
    out.append(f'<text x="{left + WIDTH}" y="{top + HEIGHT + 16}" text-anchor="end" fill="#555">{end:,.0f} s</text>')
    for number, (name, points) in enumerate(lines):
        places = " ".join(f"{left + WIDTH * time / end:.1f},{top + HEIGHT * (1 - value / most):.1f}" for time, value in points)
        colour = COLOURS[number]
        out.append(f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
                   f'<text x="{left + WIDTH - 80 + 45 * number}" y="{top - 12}" fill="{colour}">{html.escape(name)}</text>')
    return out
