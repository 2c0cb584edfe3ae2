"""Compares the tables of the Python package with what `pclscope inspect --json` says of the same dump or job."""
import collections
import math
import sys

import dump  # noqa: F401  skips where h5py is missing
import harness
import numpy

sys.path.insert(0, str(harness.SOURCE / "analysis" / "python"))
import pclscope  # noqa: E402

# Besides messages(), timeline() and collectives().
PROPERTIES = sorted(name for name in dir(pclscope.Dump) if isinstance(value := getattr(pclscope.Dump, name), property)
                    and value.fget.__annotations__.get("return") == "Table")
NULL = {"pid": 0, "offset": 0, "deadlock": -1}  # what stands for null, where it is not -1


def flat(objects, inner, **named):
    """The rows of inner lists, with fields of the objects that have them."""
    return [{**{name: one[field] for name, field in named.items()}, **row} for one in objects for row in one[inner]]


# Table: the topic of inspect, and its JSON's rows in the same order.
ROWS = {
    "regions": ("regions", lambda j: [{k: v for k, v in r.items() if k != "periods"} for r in j["regions"]]),
    "links": ("links", lambda j: j["links"]),
    "periods": ("evolution", lambda j: flat(j["regions"], "periods", region="id")),
    "ranks": ("ranks", lambda j: j["ranks"]),
    "criteria": ("criteria", lambda j: j["criteria"]),
    "functions": ("calls", lambda j: j["functions"]),
    "calls": ("calls", lambda j: j["sites"]),
    "inside": ("calls", lambda j: j["inside"]),
    "deadlocks": ("calls", lambda j: flat(j["deadlocks"], "members", found_s="found_s", on_finished="on_finished")),
    "delays": ("delays", lambda j: [{**{k: v for k, v in d.items() if k != "victims"},
                                     "victims": [v["rank"] for v in d["victims"]],
                                     "victim_s": [v["cost_s"] for v in d["victims"]]} for d in j["delays"]]),
    "waits": ("waits", lambda j: j["wait_states"]),
    "node_links": ("nodes", lambda j: j["links"]),
    "clocks": ("summary", lambda j: j["network"]["clocks"]),
    "findings": ("findings", lambda j: [{**{k: v for k, v in f.items() if k != "period"}, **f["period"],
                                         "nodes": [[n["from"], n["to"]] for n in f["nodes"]],
                                         "periods": [[p["begin_s"], p["end_s"], p["lost_s"]] for p in f["periods"]]}
                                        for f in j["findings"]]),
    "conditions": ("conditions", lambda j: [{k: v for k, v in c.items() if k not in ("sentence", "advice")}
                                            for c in j["conditions"]]),
    "markers": ("markers", lambda j: j["markers"]),
    "attribution": ("attribution", lambda j: j["slices"]),
    "transfer_lines": ("attribution", lambda j: j["transfer_lines"]),
    "traffic": ("traffic", lambda j: j["traffic"]),
    "bindings": ("machine", lambda j: [{k: r[k] for k in ("rank", "node", "hardware_threads", "changes")}
                                       for r in j["ranks"]]),
    "machines": ("machine", lambda j: [{"machine": m, **t} for m, machine in enumerate(j["machines"])
                                       for t in machine["threads"]]),
}
IN_DUMPS_ONLY = {"traffic", "bindings", "machines"}  # inspect needs the traffic for its page about machines


def plain(value):
    """As JSON has it: lists, None."""
    if isinstance(value, numpy.generic):
        value = value.item()
    if isinstance(value, (list, tuple, numpy.ndarray)):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def column(table, name):
    return [plain(value) for value in (table[name].tolist() if hasattr(table[name], "tolist") else table[name])]


def names_of(table):
    return list(table.dtype.names) if isinstance(table, numpy.ndarray) else list(table.columns)


def alike(found, told, name):
    if isinstance(told, list) and isinstance(found, list):
        return len(found) == len(told) and all(alike(a, b, name) for a, b in zip(found, told))
    if told is None:
        return found is None or found == NULL.get(name, -1)
    if isinstance(told, float) and isinstance(found, float):
        return math.isclose(found, told, rel_tol=1e-12, abs_tol=1e-15)
    return found == told and isinstance(found, bool) == isinstance(told, bool)


class PythonTest(harness.SystemTest):
    def inspect(self, target, *words_):
        return self.box.json("inspect", target, *words_, "--json")

    def assertTable(self, table, rows, what):
        """Every field of the JSON rows, and every row."""
        self.assertEqual(len(table), len(rows), what)
        units = pclscope.units(table)
        self.assertEqual(list(units), names_of(table), what)
        for name in rows[0] if rows else ():
            self.assertIn(name, units, what)
            for place, (found, row) in enumerate(zip(column(table, name), rows)):
                if not alike(found, row[name], name):
                    self.fail(f"{what}: row {place}, {name}: {found!r}, but inspect says {row[name]!r}")

    def assertSummary(self, run, told):
        found = run.summary
        del found["live"]
        if isinstance(run, pclscope.Snapshot):
            del found["time"]["elapsed_s"]  # it goes on
        for group, fields in found.items():
            for name, value in fields.items():
                self.assertTrue(alike(value, told[group][name], name), (group, name, value, told[group][name]))

    def assertTables(self, run, target, but=()):
        told = {}
        for table, (topic, rows_of) in ROWS.items():
            if table in but:
                continue
            if topic not in told:
                told[topic] = self.inspect(target, topic)
            self.assertTable(getattr(run, table), rows_of(told[topic]), f"{table} of {target}")
        self.assertSummary(run, told["summary"])

    def assertOverTime(self, run, path):
        """Activity, durations and windows, which inspect groups otherwise."""
        told = self.inspect(path, "activity")["activity"]
        sums = collections.Counter()
        activity = run.activity
        fields = ("function", "begin_s", "inside_s")
        for function, begin_s, inside_s in zip(*(column(activity, name) for name in fields)):
            sums[function, begin_s] += round(inside_s * 1e9)
        self.assertEqual({key: ns for key, ns in sums.items() if ns},
                         {(f["function"], s["begin_s"]): round(s["inside_s"] * 1e9)
                          for f in told["functions"] for s in f["slices"] if s["inside_s"]})
        told = self.inspect(path, "durations")["durations"]
        durations = run.durations
        fields = ("begin_s", "from_s", "to_s", "starts", "ends")
        found = {}
        for function, *row in zip(*(column(durations, name) for name in ("function", *fields))):
            found.setdefault(function, []).append(row)
        self.assertEqual({f for f, rows in found.items() if any(row[4] for row in rows)},
                         {f["function"] for f in told["functions"]})
        for function in told["functions"]:
            for row, bin_ in zip(found[function["function"]], function["bins"], strict=True):
                self.assertTrue(all(alike(value, bin_[name], name) for value, name in zip(row, fields)), (row, bin_))
        told = [{k: v for k, v in w.items() if k != "typical_ratio"} for w in flat(
            sorted(self.inspect(path, "evolution")["regions"], key=lambda r: r["id"]), "windows", region="id")]
        windows = run.region_windows
        regions, known = column(windows, "region"), {*column(run.regions, "id")}
        order = sorted((row for row in range(len(windows)) if regions[row] in known),
                       key=lambda row: (regions[row], row))
        self.assertEqual(len(order), len(told))
        for name in told[0] if told else ():
            values = column(windows, name)
            self.assertTrue(all(alike(values[row], one[name], name) for row, one in zip(order, told)), name)

    def assertRows(self, run, path):
        """Single messages, calls and collectives."""
        told = self.inspect(path, "messages")
        for one in told["messages"]:
            one["comm"] = int(one["comm"], 16)
        messages = run.messages()
        self.assertTable(messages, told["messages"], "messages")
        self.assertEqual(run.not_stored["messages"], told["not_stored"])
        if run.version >= (2, 6):
            told = self.inspect(path, "timeline")
            calls = [{k: v for k, v in c.items() if k not in ("waited_s", "waited_for", "wait_state")}
                     for c in told["calls"]]
            for one in calls:
                one["comm"] = int(one["comm"], 16)
            self.assertTable(run.timeline(), calls, "timeline")
        told = {f["function"]: f for f in self.inspect(path, "collectives")["functions"]}
        rows = run.collectives()
        sums = {}
        for function, comm, ordinal, wait_s, nonblocking in zip(*(column(rows, name) for name in (
                "function", "comm", "ordinal", "wait_s", "nonblocking"))):
            entry = sums.setdefault(function, [set(), 0, 0, 0.0, 0.0])
            entry[0].add((comm, ordinal))
            entry[1] += 1
            entry[2] += nonblocking
            entry[3] += wait_s
            entry[4] = max(entry[4], wait_s)
        self.assertLessEqual(told.keys(), sums.keys())
        for function, one in told.items():  # without windows, files and MPI_Init
            operations, calls, nonblocking, wait_s, worst_s = sums[function]
            self.assertEqual((len(operations), calls, nonblocking),
                             (one["operations"], one["calls"], one["nonblocking"]), function)
            self.assertAlmostEqual(wait_s, one["wait_s"], 9)
            self.assertAlmostEqual(worst_s, one["worst_s"], 12)
        return messages

    def assertAll(self, path, **options):
        run = pclscope.open(path, **options)
        self.assertTables(run, path)
        self.assertOverTime(run, path)
        return run, self.assertRows(run, path)

    def assertParts(self, run, path, messages):
        """What is asked for of a part is that part of the whole."""
        whole = {name: numpy.array(column(messages, name), dtype=object) for name in names_of(messages)}
        sent, received = whole["start_s"].astype(float), whole["recv_end_s"].astype(float)
        ends = numpy.array([whole["source"], whole["destination"]]).astype(int)
        middle, late = (float(numpy.quantile(sent, part)) for part in (0.4, 0.7))
        rank = int(ends[0][0])
        told = self.inspect(path, "messages", "--from", f"{middle:.9f}s", "--to", f"{late:.9f}s", "--rank", str(rank))
        some = run.messages(ranks=rank, start=round(middle, 9), end=round(late, 9))
        for one in told["messages"]:
            one["comm"] = int(one["comm"], 16)
        self.assertTable(some, told["messages"], "messages of a part")
        self.assertGreater(len(some), 0)
        regions = run.regions
        for number, ranks, from_s, until_s in zip(*(column(regions, name) for name in ("id", "ranks", "from_s",
                                                                                     "until_s"))):
            inside = numpy.isin(ends, ranks).all(axis=0) & (received >= from_s)
            inside &= received < (until_s if until_s >= 0 else math.inf)
            found = run.messages(region=number, columns=["source", "recv_end_s"])
            self.assertEqual(column(found, "recv_end_s"), whole["recv_end_s"][inside].tolist(), number)
        calls = run.timeline()
        begin_s, duration_s = (numpy.array(column(calls, name), dtype=float) for name in ("begin_s", "duration_s"))
        whole_calls = list(zip(column(calls, "rank"), column(calls, "begin_s"), column(calls, "function")))
        part = run.timeline(ranks=[rank], start=round(middle, 9), end=round(late, 9))
        ends_s = begin_s + numpy.nan_to_num(duration_s)
        here = (numpy.array(column(calls, "rank")) == rank) & (ends_s >= middle) & (begin_s < late)
        here &= ~numpy.isnan(duration_s)
        found = [row for row, known in zip(zip(*(column(part, n) for n in ("rank", "begin_s", "function"))),
                                           column(part, "duration_s")) if known is not None]
        self.assertEqual(found, [row for row, is_here in zip(whole_calls, here) if is_here])
