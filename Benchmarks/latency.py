"""Latencies under an open load: the rates, the measurements, and the rows of results.json, one for each client.

Each client first sends as many requests as it can, with as many at a time as it may have connections. A load is a share of the
lowest of these maxima, the same for all clients, or a share of the client's own.
"""

import dataclasses
import statistics

import facts
from scenarios import HEDGING

SHARE = 0.8
PERCENTILES = ("p50", "p99", "p99.9")


def rows(bench, scenario):
    everyone = ["linnet", *scenario.peers]
    closed = dataclasses.replace(scenario, operation="get", seconds=scenario.closed_seconds)
    maxima = measured(bench, {who: closed for who in everyone}, min(3, bench.rounds))
    maxima = {who: statistics.median(value for value, _ in values) for who, values in maxima.items() if values}
    # Hedging is a choice of the client, not the load of all.
    lowest = min((most for who, most in maxima.items() if who != HEDGING), default=0)
    loads = {who: dataclasses.replace(scenario, rate=two_digits(SHARE * (most if scenario.is_own_rate else lowest)))
             for who, most in maxima.items()}
    found = measured(bench, loads, bench.rounds)
    return [row(loads[who], who, maxima[who], [value for value, _ in values]) for who, values in found.items()]


def measured(bench, scenarios, rounds):
    """Client -> what each of its rounds measured; a round that failed is left out."""
    values = {who: [] for who in scenarios}
    for number in range(rounds):
        for who, scenario in scenarios.items():
            value = bench.attempt(scenario, who, number)
            values[who] += [] if value is None else [value]
    return values


def two_digits(rate):
    step = 10 ** max(0, len(str(int(rate))) - 2)
    return int(rate // step * step)


def row(scenario, who, most, values):
    """One object of results.json, without percentiles when each round failed."""
    def median(name):
        return float(f"{statistics.median(value[name] for value in values):.4g}") if values else None

    return {
        "scenario": scenario.name, "client": who, "maximum": float(f"{most:.4g}"), "rate": scenario.rate,
        **{name: median(name) for name in PERCENTILES}, "errors": sum(value["errors"] for value in values),
        "rounds": len(values), "versions": facts.versions("Linnet" if who == "linnet" else who),
    }
