#!/usr/bin/python3
"""Draws a sweep of scale_benchmark: plot.py nodes|ranks FILE.csv... > FILE.svg

Three panels over the swept size, both axes logarithmic: processor time per window, bytes per window, memory. A colour
per part of the tree, a dash per pattern.
"""

import csv
import math
import sys

COLOURS = {"root": "#c0392b", "inner": "#2471a3", "leaf": "#1e8449"}
DASHES = {"halo": "", "cg": "6 3", "irregular": "2 3"}
KINDS = ("sends", "report", "raw", "orders")
WIDTH, HEIGHT, LEFT, TOP, GAP = 250, 220, 56, 34, 66


def traffic(row):
    return sum(float(row[f"{kind}_{way}"]) for kind in KINDS for way in ("sent", "received")) / 1e3


PANELS = (
    ("time per window of 100 ms [ms]", lambda row: float(row["mean_ms"])),
    ("sent and received per window [kB]", traffic),
    ("memory [MB]", lambda row: float(row["memory_mb"])),
)


def decades(low, high):
    return range(math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9) + 1)


def panel(out, left, title, lines, sizes, xlabel):
    values = [y for points in lines.values() for _, y in points]
    powers = decades(min(values), max(values))
    low, high = powers[0], max(powers[-1], powers[0] + 1)
    first, last = math.log2(min(sizes)), math.log2(max(sizes))

    def at(x, y):
        return (left + (math.log2(x) - first) / (last - first) * WIDTH,
                TOP + HEIGHT - (math.log10(y) - low) / (high - low) * HEIGHT)

    out.append(f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>')
    out.append(f'<text x="{left + WIDTH / 2}" y="{TOP - 10}" text-anchor="middle">{title}</text>')
    out.append(f'<text x="{left + WIDTH / 2}" y="{TOP + HEIGHT + 32}" text-anchor="middle">{xlabel}</text>')
    for power in range(low, high + 1):
        y = TOP + HEIGHT - (power - low) / (high - low) * HEIGHT
        out.append(f'<line x1="{left}" x2="{left + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 4}" y="{y + 4:.1f}" text-anchor="end">{10.0 ** power:g}</text>')
    for size in sizes:
        x = at(size, 10.0 ** low)[0]
        out.append(f'<text x="{x:.1f}" y="{TOP + HEIGHT + 15}" text-anchor="middle">{size}</text>')
    for (part, pattern), points in lines.items():
        path = " ".join("{:.1f},{:.1f}".format(*at(x, y)) for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[part]}" stroke-width="1.6" '
                   f'stroke-dasharray="{DASHES.get(pattern, "")}"/>')


def main():
    sweep, files = sys.argv[1], sys.argv[2:]
    size = "nodes" if sweep == "nodes" else "ranks_per_node"
    rows = [row for name in files for row in csv.DictReader(open(name)) if row["sweep"] == sweep]
    if not rows:
        sys.exit("plot.py: no rows of this sweep: give files that scale_benchmark --csv wrote")
    sizes = sorted({int(row[size]) for row in rows})
    width = len(PANELS) * (WIDTH + GAP) + LEFT
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + 66}" '
           'font-family="sans-serif" font-size="11">', '<rect width="100%" height="100%" fill="white"/>']
    for i, (title, of) in enumerate(PANELS):
        lines = {}
        for row in rows:
            lines.setdefault((row["part"], row["pattern"]), []).append((int(row[size]), max(of(row), 1e-3)))
        label = "nodes of 16 ranks" if sweep == "nodes" else "ranks per node, 64 nodes"
        panel(out, LEFT + i * (WIDTH + GAP), title, lines, sizes, label)
    x = LEFT
    for name, style in [(n, f'stroke="{c}"') for n, c in COLOURS.items()] + [
            (n, f'stroke="#333" stroke-dasharray="{d}"') for n, d in DASHES.items()]:
        y = TOP + HEIGHT + 54
        out.append(f'<line x1="{x}" x2="{x + 26}" y1="{y}" y2="{y}" stroke-width="1.6" {style}/>')
        out.append(f'<text x="{x + 31}" y="{y + 4}">{name}</text>')
        x += 105
    print("\n".join(out + ["</svg>"]))


if __name__ == "__main__":
    main()
