"""results.json: one object for each scenario and peer, or for each client when latencies are measured."""

import json
import pathlib
import statistics

import facts

RESULTS = pathlib.Path(__file__).resolve().parent / "results.json"


def row(name, peer, unit, pairs, lower, ours=()):
    """One object of results.json, without figures when there are none."""
    ratios = sorted(theirs / mine if lower else mine / theirs for mine, theirs in pairs)
    mine = [pair[0] for pair in pairs] or list(ours)

    def rounded(values):
        return float(f"{statistics.median(values):.4g}") if values else None

    return {
        "scenario": name, "peer": peer, "unit": unit, "linnet": rounded(mine),
        "other": rounded([pair[1] for pair in pairs]), "ratio": round(statistics.median(ratios), 3) if ratios else None,
        "ratio_min": round(ratios[0], 3) if ratios else None, "ratio_max": round(ratios[-1], 3) if ratios else None,
        "rounds": len(pairs), "versions": facts.versions(peer),
        "machines": {facts.machine(): round(statistics.median(ratios), 3)} if ratios else {},
    }


def is_of_latencies(row):
    return "client" in row


def machines(row):
    """The median ratio on each machine on which a row was measured."""
    return row.get("machines") or ({row["versions"]["machine"]: row["ratio"]} if row["ratio"] else {})


def merge(rows, measured, order):
    """Replaces the results of the measured scenarios, writes all results, and returns them."""
    def scenario(row):
        """The scenario of a row. A scenario that also measures memory has rows with another name."""
        name = row["scenario"]
        return name if name in order else name.removesuffix("-memory")

    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    # The ratios on other machines stay.
    compared = [row for row in kept if not is_of_latencies(row)]
    seen = {(row["scenario"], row["peer"]): machines(row) for row in compared}
    for row in rows:
        if not is_of_latencies(row):
            row["machines"] = seen.get((row["scenario"], row["peer"]), {}) | row["machines"]
    rows = [row for row in kept if scenario(row) not in measured] + rows
    rows = [row for row in rows if scenario(row) in order]
    rows.sort(key=lambda row: (order.index(scenario(row)), len(row["scenario"])))
    RESULTS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    return rows
