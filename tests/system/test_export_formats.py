"""`pclscope export` in all formats but OTF2: what is in the files is what `pclscope inspect` says of the dump, event by
event: Perfetto's slices, flows and counters, tables, graphs, trees. Depends on: launcher."""
import collections
import csv
import gzip
import json
import re
import shutil
import subprocess
import sys

import dump  # noqa: F401  skips where h5py is missing
import h5py
import harness
import numpy

sys.path.insert(0, str(harness.SOURCE / "analysis" / "python"))
import pclscope  # noqa: E402

FORMATS = ("perfetto", "csv", "dot", "hatchet", "folded")
# A command that cannot write into files; its words come through a pipe.
NO_ROOM = """import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stderr=subprocess.PIPE, text=True,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
sys.stderr.write(done.stderr)
sys.exit(done.returncode)"""
PROTO = "viewer/export/perfetto.proto"
TOKEN = re.compile(r'([\w.]+)\s*\{|\}|(\w+): ("(?:[^"\\]|\\.)*"|\S+)')


def parsed(text):
    """protoc's text format: a message is {field: [values]}."""
    stack = [collections.defaultdict(list)]
    for name, field, value in TOKEN.findall(text):
        if name:
            stack.append(collections.defaultdict(list))
            stack[-2][name].append(stack[-1])
        elif field:
            stack[-1][field].append(value[1:-1] if value.startswith('"') else value)
        else:
            stack.pop()
    return stack[0]


def ns(seconds):
    return round(float(seconds) * 1e9)


class Trace:
    """A Perfetto trace as a reader of it sees it: events by time, of equal ones in the order of the file."""

    def __init__(self, box, path):
        with open(path, "rb") as file:
            done = subprocess.run(["protoc", "--decode=pclscope.exporting.perfetto.Trace", PROTO], stdin=file,
                                  capture_output=True, text=True, check=True, cwd=harness.SOURCE)
        self.unknown = re.findall(r"^\s*\d+: ", done.stdout, re.MULTILINE)
        self.parents, self.names, self.units, texts = {}, {}, {}, collections.defaultdict(dict)
        packets = parsed(done.stdout)["packet"]
        self.origin = int(packets[0]["clock_snapshot"][0]["clocks"][0]["timestamp"][0])
        events = []
        for packet in packets:
            for track in packet["track_descriptor"]:
                number = track["uuid"][0]
                self.names[number], self.parents[number] = track["name"][0], (track["parent_uuid"] or [None])[0]
                self.units[number] = (track["counter"] or [{"unit_name": [None]}])[0]["unit_name"][0]
            for kind, entries in (packet["interned_data"] or [{}])[0].items():
                for entry in entries:
                    texts[kind][entry["iid"][0]] = entry
            for event in packet["track_event"]:
                events.append((int(packet["timestamp"][0]) - self.origin, event))
        self.events = sorted(events, key=lambda one: one[0])
        self.texts = texts

    def name(self, event):
        return self.texts["event_names"][event["name_iid"][0]]["name"][0]

    def category(self, event):
        return self.texts["event_categories"][event["category_iids"][0]]["name"][0]

    def notes(self, event):
        names = self.texts["debug_annotation_names"]
        return {names[note["name_iid"][0]]["name"][0]: next(v[0] for k, v in note.items() if k.endswith("_value"))
                for note in event["debug_annotations"]}

    def slices(self):
        """(track, category, name, begin, end, how deep) of each; ends belong to what began last."""
        found, open_ = [], collections.defaultdict(list)
        for at, event in self.events:
            track, kind = event["track_uuid"][0], event["type"][0]
            if kind == "TYPE_SLICE_BEGIN":
                open_[track].append((self.category(event), self.name(event), at))
            elif kind == "TYPE_SLICE_END":
                category, name, begin = open_[track].pop()
                found.append((self.names[track], category, name, begin, at, len(open_[track])))
        assert not any(open_.values()), "a slice that never ends"
        return found


class ExportFormats(harness.SystemTest):
    def export(self, path, form, *options):
        output = self.box.directory / f"out-{self.box.files}.{form}"
        self.box.files += 1
        done = self.box.pclscope("export", path, "--to", form, "-o", output, *options)
        self.assertWorked(done)
        return output, done.stderr

    def formats(self):
        """Those that are built."""
        if "built without protobuf" not in self.box.pclscope("export", "--help").stdout:
            return FORMATS
        print("no protobuf here: nothing is said of --to perfetto")
        return FORMATS[1:]

    def test_a_real_run(self):
        path = self.box.directory / "run.h5"
        mpi = harness.MPIS[0]
        self.assertWorked(self.box.traced(4, harness.program("planted_groups", mpi), "200", "2", "200",
                                          options=("--dump", path, "--keep", "all")))
        told = {topic: self.box.json("inspect", path, topic, "--json") for topic in ("timeline", "messages", "tree")}
        if "perfetto" in self.formats() and shutil.which("protoc"):
            self.perfetto(path, told)
        self.tables(path)
        self.graph(path)
        self.trees(path, told["tree"]["tree"])

    def perfetto(self, path, told):
        output, said = self.export(path, "perfetto")
        trace = Trace(self.box, output)
        self.assertEqual(trace.unknown, [])
        slices = trace.slices()
        calls = [(f"rank {c['rank']}", c["function"], ns(c["begin_s"]), ns(c["begin_s"]) + ns(c["duration_s"] or 0))
                 for c in told["timeline"]["calls"] if c["ending"] != "running"]
        self.assertEqual(sorted((track, name, begin, end) for track, category, name, begin, end, _ in slices
                                if category == "MPI"), sorted(calls))
        waits = collections.Counter()
        for track, category, name, begin, end, depth in slices:
            if name != "wait at finalize":  # that call leaves no time of its return
                self.assertEqual(depth, category == "wait", "waits lie in calls")
                waits[track] += (end - begin) * (category == "wait")
        expected = collections.Counter()
        for call in told["timeline"]["calls"]:
            expected[f"rank {call['rank']}"] += ns(call["waited_s"] or 0)
        self.assertEqual(waits, expected)
        self.assertIn(f"{len(slices):,} slices of 4 tracks", said)
        ends = collections.defaultdict(dict)
        for at, event in trace.events:
            for field, side in (("flow_ids", "from"), ("terminating_flow_ids", "to")):
                for flow in event[field]:
                    self.assertNotIn(side, ends[flow])
                    ends[flow][side] = trace.names[event["track_uuid"][0]], at, trace.notes(event)
        found = sorted((e["from"][0], e["to"][0], e["from"][1], e["to"][1], int(e["from"][2]["bytes"]),
                        int(e["to"][2]["tag"])) for e in ends.values())
        self.assertEqual(found, sorted((f"rank {m['source']}", f"rank {m['destination']}", ns(m["start_s"]),
                                        ns(m["start_s"]) + ns(m["time_s"]), m["bytes"], m["tag"])
                                       for m in told["messages"]["messages"]))
        self.counters_and_findings(path, trace)
        regions = {rank: region["id"] for region in self.box.json("inspect", path, "regions", "--json")["regions"]
                   for rank in region["ranks"]}
        for track, name in trace.names.items():
            if name.startswith("rank "):
                self.assertRegex(trace.names[trace.parents[track]], f"region {regions[int(name[5:])]} ")
                self.assertRegex(trace.names[trace.parents[trace.parents[track]]], "^node ")
        # A part: what begins in it, and concerns these ranks.
        middle = sorted(m["start_s"] for m in told["messages"]["messages"])[len(told["messages"]["messages"]) // 2]
        output, _ = self.export(path, "perfetto", "--from", f"{middle:.9f}s", "--rank", "1")
        part = Trace(self.box, output).slices()
        self.assertEqual(sorted((name, begin, end) for _, category, name, begin, end, _ in part if category == "MPI"),
                         sorted(call[1:] for call in calls if call[0] == "rank 1" and call[2] >= ns(f"{middle:.9f}")))

    def counters_and_findings(self, path, trace):
        run = pclscope.open(path, pandas=False)
        values = collections.defaultdict(list)
        for at, event in trace.events:
            if event["type"] == ["TYPE_COUNTER"]:
                values[trace.names[event["track_uuid"][0]]].append((at, float(event["double_counter_value"][0])))
        windows, lost = collections.defaultdict(list), collections.defaultdict(list)
        for row in run.region_windows:
            windows[row["region"]].append(row["typical_ratio"])
            lost[row["region"]].append(sum(row[name] for name in ("late_sender_s", "late_receiver_s", "transfer_s")) /
                                       row["length_s"])
        self.assertTrue(windows)
        for region, ratios in windows.items():
            self.assertEqual([value for _, value in values[f"region {region}: time / usual time"]], ratios)
            for (_, value), expected in zip(values[f"region {region}: time lost"], lost[region], strict=True):
                self.assertAlmostEqual(value, expected, 12)
        inside = collections.Counter()
        for row in run.activity:
            inside[row["function"]] += row["inside_s"]
        for function, inside_s in inside.items():
            steps = values[f"ranks inside {function}"]
            area = sum(value * (after - at) for (at, value), (after, _) in zip(steps, steps[1:]))
            self.assertAlmostEqual(area / 1e9, inside_s, 6)
            self.assertEqual(steps[-1][1], 0)
        told = [trace.name(event) for _, event in trace.events
                if event["type"] == ["TYPE_INSTANT"] and trace.category(event) == "finding"]
        self.assertEqual(sorted(int(name.split(".")[0]) for name in told), run.findings["number"].tolist())

    def tables(self, path):
        folder, _ = self.export(path, "csv")
        def rows(name):
            with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
                return list(csv.DictReader(file))
        def printed(*topic):
            return list(csv.DictReader(self.box.pclscope("inspect", path, *topic, "--csv").stdout.splitlines()))
        def numbers(table):
            return sorted(tuple((k, float(v)) if k == "ratio" and v else (k, v) for k, v in row.items())
                          for row in table)
        self.assertEqual(numbers(rows("messages")), numbers(printed("messages")))
        waits = ("waited_s", "waited_for", "wait_state")
        def calls(table):
            return sorted(tuple((k, round(float(v) * 1e9) if k.endswith("_s") and v else v)
                                for k, v in row.items() if k not in waits) for row in table)
        self.assertEqual(calls(rows("calls")), calls(row for row in printed("timeline") if row["ending"] != "running"))
        ours = pclscope.open(path, pandas=False).collectives()
        def parts(table):
            return sorted((int(r["rank"]), r["function"], ns(r["begin_s"]), ns(r["wait_s"])) for r in table)
        self.assertEqual(parts(rows("collectives")), parts(ours))
        for name, topic in (("summary", "summary"), ("regions", "regions"), ("links", "links"),
                            ("periods", "evolution"),
                            ("ranks", "ranks"), ("criteria", "criteria"), ("sites", "calls"), ("delays", "delays"),
                            ("waits", "waits"), ("nodes", "nodes"), ("findings", "findings"),
                            ("conditions", "conditions"), ("markers", "markers"), ("attribution", "attribution")):
            self.assertEqual((folder / f"{name}.csv").read_text(),
                             self.box.pclscope("inspect", path, topic, "--csv").stdout, name)

    def graph(self, path):
        output, _ = self.export(path, "dot")
        edges = {(int(a), int(b)): (int(messages), int(sent)) for a, b, messages, sent in re.findall(
            r"r(\d+) -> r(\d+) \[.*messages=(\d+), bytes=(\d+)", output.read_text())}
        self.assertEqual(edges, {(pair["source"], pair["destination"]): (pair["messages"], pair["bytes"])
                                 for pair in self.box.json("inspect", path, "traffic", "--json")["traffic"]})
        if shutil.which("dot"):
            self.assertIn("<svg", self.box.run("dot", "-Tsvg", output).stdout)

    def trees(self, path, tree):
        output, _ = self.export(path, "hatchet")
        def checked(literal, node):
            metrics, below = literal["metrics"], 0.0
            self.assertAlmostEqual(metrics["time (inc)"], node["inside_s"], 12)
            self.assertEqual((metrics["calls (inc)"], len(literal["children"])), (node["calls"], len(node["callees"])))
            self.assertEqual(literal["frame"]["name"], node["function"] or node["place"] or "all")
            for child, callee in zip(literal["children"], node["callees"]):
                checked(child, callee)
                below += child["metrics"]["time (inc)"]
            self.assertAlmostEqual(metrics["time"] + below, metrics["time (inc)"], 6)
        roots = json.loads(output.read_text())
        self.assertEqual(len(roots), 1)
        checked(roots[0], tree)
        output, _ = self.export(path, "folded")
        self.assertEqual(output.read_text(), self.box.pclscope("inspect", path, "tree", "--folded").stdout)
        self.assertGreater(len(output.read_text().splitlines()), 3)

    def test_odd_dumps(self):
        """Cut off, without a message, of an old version: all formats are written, with the messages that are there."""
        made = {}
        for how, messages in (("cut", 100), ("large", 0)):
            made[how] = self.box.directory / f"{how}.h5", messages
            self.assertWorked(self.box.run(harness.BUILD / "tests" / "viewer_make_dump", made[how][0], how))
        made["1.1"] = self.box.directory / "old.h5", 99
        with gzip.open(harness.DATA / "store" / "version_1_1.h5.gz") as packed:
            made["1.1"][0].write_bytes(packed.read())
        for path, messages in made.values():
            for form in self.formats():
                output, said = self.export(path, form)
                if form == "perfetto":  # of ranks that there are
                    ranks = self.box.json("inspect", path, "--json")["application"]["ranks"]
                    known = sum(max(m["source"], m["destination"]) < ranks
                                for m in self.box.json("inspect", path, "messages", "--json")["messages"])
                    self.assertIn(f" tracks, {known} messages", said)
                elif form == "csv":
                    self.assertEqual(len((output / "messages.csv").read_text().splitlines()), 1 + messages)
                elif form == "dot":
                    sent = re.findall(r" -> .* messages=(\d+)", output.read_text())
                    self.assertEqual(sum(map(int, sent)), messages)

    def test_complete_or_nothing(self):
        """What is there stays; where there is no room, one line and no file."""
        path = self.box.directory / "made.h5"
        self.assertWorked(self.box.run(harness.BUILD / "tests" / "viewer_make_dump", path))
        for form in self.formats():
            output, _ = self.export(path, form)
            again = self.box.pclscope("export", path, "--to", form, "-o", output)
            self.assertRefused(again, 1, "exists", "--force")
            folder = self.box.directory / f"full-{form}"
            folder.mkdir()
            full = self.box.run(sys.executable, "-B", "-c", NO_ROOM, harness.PCLSCOPE, "export", path, "--to", form,
                                "-o", folder / "out")
            self.assertRefused(full, 1, "cannot write", "out")
            self.assertEqual(list(folder.iterdir()), [])

    def test_many_ranks_are_drawn_by_region(self):
        path = self.box.directory / "made.h5"
        self.assertWorked(self.box.run(harness.BUILD / "tests" / "viewer_make_logical_dump", path, "exchange", "200",
                                       "4"))
        messages = self.box.json("inspect", path, "messages", "--json")["messages"]
        ranks = 1 + max(max(m["source"], m["destination"]) for m in messages)
        self.assertGreater(ranks, 128)
        with h5py.File(path, "r+") as file:  # two regions
            summary = file["summary"][str(int(file["summary"].attrs["current"]))]
            for table, rows, values in (
                    ("regions", 2, {"id": [3, 8], "ranks_begin": [0, 100], "ranks_count": [100, ranks - 100],
                                    "until_s": [-1, -1]}),
                    ("region_ranks", ranks, {"rank": range(ranks)})):
                for name, column in summary[table].items():
                    column.resize((rows,))
                    column[:] = list(values.get(name, [0] * rows))
                summary[table].attrs.modify("rows", numpy.uint64(rows))
        output, said = self.export(path, "dot")
        self.assertIn("2 regions, ", said)
        found = {(int(a), int(b)): int(count) for a, b, count in re.findall(
            r"region(\d+) -> region(\d+) \[.*messages=(\d+)", output.read_text())}
        expected = collections.Counter(
            tuple(3 if rank < 100 else 8 for rank in (m["source"], m["destination"]))
            for m in messages)
        self.assertEqual(found, expected)
        self.assertEqual(len(found), 4)


if __name__ == "__main__":
    harness.main()
