"""The Python package (analysis/python) tells what `pclscope inspect --json` tells, table by table and number by number:
of real dumps of both MPIs, hand-made ones, old versions, several nodes, jobs that run or were killed. Bad files are
one exception with a sentence. Depends on: launcher."""
import collections
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import sys
import unittest
import zipfile
from unittest import mock

import dump
import h5py
import harness
import notebook
import numpy
from python_tables import IN_DUMPS_ONLY, PROPERTIES, PythonTest, column, pclscope
from pclscope import density, function_name, words
from pclscope.table import pandas

try:
    import zmq
except ImportError:
    zmq = None  # running jobs cannot be looked at

PACKAGE = pathlib.Path(pclscope.__file__).parent


class Python(PythonTest):
    # --- real jobs ---
    def traced_dump(self, mpi, program, *arguments, ranks=4):
        path = str(self.box.directory / f"{program}-{mpi}.h5")
        self.assertWorked(self.box.traced(ranks, harness.program(program, mpi), *arguments,
                                          options=("--dump", path, "--keep", "all")))
        return path

    def test_every_table_of_real_dumps(self):
        for mpi, program, arguments in (("openmpi", "markers", (str(self.box.directory), "20", "1000")),
                                        ("mpich", "planted_groups", ("500", "2", "500"))):
            if mpi not in harness.MPIS:
                continue
            with self.subTest(mpi=mpi):
                path = self.traced_dump(mpi, program, *arguments)
                run, messages = self.assertAll(path, pandas=False)
                self.assertTrue(run.complete)
                self.assertEqual(len(messages), run.summary["messages"]["matched"])
                if program == "planted_groups":
                    self.assertParts(run, path, messages)
                    self.of_several_nodes(path)
                    self.with_and_without_pandas(path)
                    self.documents(path)

    def with_and_without_pandas(self, path):
        """The same tables; a DataFrame knows its units."""
        if pandas is None:
            return
        frames, arrays = pclscope.open(path, pandas=True), pclscope.open(path, pandas=False)
        self.assertGreater(len(PROPERTIES), 25)
        for name in [*PROPERTIES, "messages", "timeline", "collectives"]:
            frame, array = (value() if callable(value) else value for value in (getattr(frames, name),
                                                                                getattr(arrays, name)))
            self.assertIsInstance(frame, pandas.DataFrame)
            self.assertEqual(pclscope.units(frame), pclscope.units(array))
            for field in array.dtype.names:
                self.assertEqual(column(frame, field), column(array, field), (name, field))

    def documents(self, path):
        """The notebook runs, and the page names every table."""
        page = (harness.SOURCE / "docs" / "python.md").read_text()
        for name in [*PROPERTIES, "messages()", "timeline()", "collectives()"]:
            self.assertIn(f"`{name}`", page)
        cells = json.loads(notebook.NOTEBOOK.read_text())
        code = [cell for cell in cells["cells"] if cell["cell_type"] == "code"]
        self.assertTrue(all(cell["outputs"] for cell in code), "its outputs are in it")
        try:
            import matplotlib  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
        except ImportError:
            return
        if pandas is None:
            return
        shutil.copy(path, self.box.directory / "run.h5")
        outputs = notebook.run(cells, self.box.directory)
        self.assertEqual([{output["output_type"] for output in cell["outputs"]} for cell in code],
                         [{output["output_type"] for output in each} for each in outputs])

    def of_several_nodes(self, path):
        """Two nodes whose clocks were estimated anew: times, errors and flags as our reader corrects them."""
        several = path.replace(".h5", "-nodes.h5")
        shutil.copy(path, several)
        tables = {"nodes": {"name": [b"a", b"b"]}, "node_of_rank": {"node": [0, 1, 0, 1]},
                  "clocks": {"node": [1], "at_s": [1.0], "offset_s": [0.5], "drift": [1e-6], "error_s": [2e-6]},
                  "clock_corrections": {"node": [1, 1, 1], "at_s": [0.1, 0.2, 0.3], "error_s": [1e-6, 3e-6, 2e-6],
                                        "correction_s": [-2e-5, 4.00000017e-5, 1e-3]}}
        with h5py.File(several, "r+") as file:
            summary = file["summary"][str(int(file["summary"].attrs["current"]))]
            for table, columns in tables.items():
                for name, values in columns.items():
                    summary[table][name].resize((max(len(values), len(summary[table][name])),))
                    summary[table][name][:len(values)] = values
                    summary[table].attrs.modify("rows", numpy.uint64(len(values)))
            messages = file["messages"]
            rows = int(messages.attrs["rows"][0])
            between = messages["source"][:rows] % 2 != messages["destination"][:rows] % 2
            flags = messages["flags"][:rows]
            messages["flags"][:rows] = numpy.where(between, flags | words.INTER_NODE, flags)
            self.assertTrue(between.any())
        run = pclscope.open(several)
        found = self.assertRows(run, several)
        self.assertTrue(any(column(found, "clock_violation")) or any(column(found, "clock_unclear")))
        self.assertNotEqual(column(found, "start_s"), column(pclscope.open(path).messages(), "start_s"))

    @unittest.skipIf(zmq is None, "no python3-zmq here")
    def test_a_running_job(self):
        """Its dump grows while it is read, and its snapshots come."""
        path = str(self.box.directory / "running.h5")
        job = self.box.start_traced(2, harness.program("halo2d", harness.MPIS[0]), "1000000", "8", "1000",
                                    self.box.until(), options=("--dump", path, "--keep", "all"))

        def opened():
            try:
                run = pclscope.open(path)
            except pclscope.Error as error:
                self.assertRegex(str(error), "no such file|changes while")
                return None
            return run if len(run.messages(columns="source")) > 1000 else None
        early = self.box.wait_for("messages", opened, running=job)
        self.assertFalse(early.closed)
        before = early.messages(columns=["source", "destination", "tag", "start_s"])
        os.environ["XDG_RUNTIME_DIR"] = str(self.box.runtime)
        name = self.box.job_name(job)
        self.assertEqual([one["name"] for one in pclscope.jobs()], [name])
        with pclscope.connect(name) as session:
            snapshots = iter(session)
            first = next(snapshots)
            self.assertEqual((first.job, len(first.ranks), first.ended), (name, 2, False))
            self.assertLess(first.sequence, next(snapshots).sequence)
            self.assertWorked(self.box.end(job))
            *_, last = snapshots
        self.assertTrue(last.ended)
        done = pclscope.open(path)
        self.assertTrue(done.complete)
        self.assertEqual(last.summary["messages"], done.summary["messages"])
        for field in ("source", "destination", "tag", "start_s"):
            now = done.messages(columns=field)
            self.assertEqual(column(now, field)[:len(before)], column(before, field))

    # --- hand-made ---
    def made(self, *how):
        path = str(self.box.directory / f"made{'-'.join(how)}.h5")
        self.assertWorked(self.box.run(harness.BUILD / "tests" / "viewer_make_dump", path, *how))
        return path

    def test_hand_made_dumps(self):
        for how in ((), ("cut",), ("dropped",)):
            with self.subTest(how=how):
                run, _ = self.assertAll(self.made(*how))
                self.assertEqual(run.complete, how != ("cut",))
        run = pclscope.open(self.made())
        # What no topic of inspect prints.
        tree = [list(row) for row in zip(*(column(run.dendrogram, name) for name in ("left", "right", "height")))]
        self.assertEqual(tree, [[0, 1, 0.25], [3, 4, 0.5], [2, 6, 0.75], [5, 7, 1.0], [8, 9, 3.0]])
        self.assertEqual(column(run.windows, "messages"), [10] * 10)
        self.assertEqual([round(value, 9) for value in column(run.windows, "begin_s")], [i / 100 for i in range(10)])
        self.assertEqual(column(run.worst, "ratio"), [41.0])
        self.assertTables(pclscope.open(self.made("large")), self.made("large"))

    @unittest.skipIf(zmq is None, "no python3-zmq here")
    def test_a_made_up_job(self):
        """Every table that travels, beside what inspect shows of the same job."""
        sign = self.box.directory / "stop"
        endpoint = f"ipc://{self.box.directory}/job"
        job = self.box.start(harness.BUILD / "tests" / "viewer_fake_job", "made-up", endpoint, sign)
        try:
            with pclscope.connect(endpoint) as session:
                snapshot = session.next()
                while snapshot is None:  # it may not have begun
                    self.assertTrue(job.running())
                    snapshot = session.next()
                self.assertTables(snapshot, endpoint, but=IN_DUMPS_ONLY)
            with mock.patch("pclscope.session.os.geteuid", return_value=os.geteuid() + 1):
                with pclscope.connect(endpoint) as session, self.assertRaisesRegex(pclscope.Error, "another user"):
                    session.next()
            self.damaged_frames(endpoint)
        finally:
            sign.touch()
            job.finish()

    def damaged_frames(self, endpoint):
        """Bytes changed or cut off at random: a sentence or tables, no other end."""
        socket = zmq.Context.instance().socket(zmq.SUB)
        socket.connect(endpoint + ".pub")
        socket.subscribe(b"")
        self.assertTrue(socket.poll(harness.PATIENCE * 1000))
        good = socket.recv()
        socket.close(0)
        chance, outcomes = random.Random(11), collections.Counter()
        for _ in range(harness.thinned(3000, 100)):
            frame = bytearray(good[:chance.choice([len(good), chance.randrange(len(good))])])
            for _ in range(chance.randrange(4)):
                frame[chance.randrange(len(frame))] ^= 1 << chance.randrange(8)
            try:
                snapshot = pclscope.Snapshot(bytes(frame), False)
                for name in PROPERTIES:
                    if hasattr(pclscope.Snapshot, name):
                        getattr(snapshot, name)
                outcomes["read"] += 1
            except pclscope.Error:
                outcomes["refused"] += 1
        self.assertEqual(len(outcomes), 2, outcomes)

    @unittest.skipIf(zmq is None, "no python3-zmq here")
    def test_a_port_needs_the_keys(self):
        sign, endpoint = self.box.directory / "stop", "tcp://127.0.0.1:5570"
        keys = self.box.directory / "keys"
        with mock.patch.dict(os.environ, PCLSCOPE_KEY_FILE=str(keys)):
            with self.assertRaisesRegex(pclscope.Error, "cannot read key file"):
                pclscope.connect(endpoint)
            job = self.box.start("env", f"PCLSCOPE_KEY_FILE={keys}", harness.BUILD / "tests" / "viewer_fake_job",
                                 "made-up", endpoint, sign)
            try:
                self.box.wait_for("keys", keys.exists, running=job)
                with pclscope.connect(endpoint) as session:
                    snapshot = self.box.wait_for("snapshot", lambda: session.next(1.0), running=job)
                    self.assertEqual(len(snapshot.ranks), 6)
                keys.chmod(0o644)
                with self.assertRaisesRegex(pclscope.Error, "can be read by others"):
                    pclscope.connect(endpoint)
            finally:
                sign.touch()
                job.finish()

    def test_old_versions(self):
        path = str(self.box.directory / "1.1.h5")
        with gzip.open(harness.DATA / "store" / "version_1_1.h5.gz") as packed:
            pathlib.Path(path).write_bytes(packed.read())
        run, messages = self.assertAll(path)
        self.assertEqual((run.version, len(messages)), ((1, 1), 99))
        with self.assertRaisesRegex(pclscope.Error, "no single calls"):
            run.timeline()
        with h5py.File(path, "r+") as file:
            file.attrs["version_minor"] = numpy.int32(0)
        run = pclscope.open(path)  # addresses do not pass for call sites
        self.assertEqual({*column(run.messages(), "send_site")}, {None})
        path = self.made()
        dump.forget_calls(path)
        run = pclscope.open(path)
        self.assertEqual((run.version, len(run.messages())), ((2, 5), 100))
        self.assertRows(run, path)

    def test_bad_files(self):
        """One exception with a sentence, whatever is wrong."""
        good = pathlib.Path(self.made()).read_bytes()
        path = self.box.directory / "bad.h5"
        for content, told in ((None, "no such file"), (b"", "not a dump"), (b"no dump at all" * 100, "not a dump"),
                              (good[:len(good) // 2], "cut off|damaged")):
            if content is not None:
                path.write_bytes(content)
            with self.assertRaisesRegex(pclscope.Error, told):
                pclscope.open(path)
        with self.assertRaisesRegex(pclscope.Error, "is not a file"):
            pclscope.open(self.box.directory)
        path.write_bytes(good)
        dump.set_version(path, 3)
        with self.assertRaisesRegex(pclscope.Error, "version 3"):
            pclscope.open(path)
        path.write_bytes(good)
        with h5py.File(path, "r+") as file:
            del file.attrs["format"]
        with self.assertRaisesRegex(pclscope.Error, "not a dump"):
            pclscope.open(path)
        run = pclscope.open(self.made())
        with self.assertRaisesRegex(pclscope.Error, "no region 99"):
            run.messages(region=99)
        with self.assertRaisesRegex(pclscope.Error, "no column sender; there are source"):
            run.messages(columns=["sender"])
        self.damaged_numbers(good, path)

    def damaged_numbers(self, good, path):
        """Attributes and indices of the file's tables that lie, at random: a sentence or an answer, no other end."""
        chance = random.Random(7)
        outcomes = collections.Counter()
        for _ in range(harness.thinned(300, 20)):
            path.write_bytes(good)
            with h5py.File(path, "r+") as file:
                groups = []
                file.visititems(lambda _, node, to=groups: to.append(node) if "rows" in node.attrs else None)
                group = chance.choice(groups)
                lie = chance.choice([0, 1, 7, 1 << 20, 1 << 40, (1 << 63) - 1])
                if chance.random() < 0.5:
                    rows = numpy.array(group.attrs["rows"])
                    changed = rows.reshape(-1).copy()
                    changed[chance.randrange(len(changed))] = lie
                    group.attrs.modify("rows", changed.reshape(rows.shape))
                else:
                    name = chance.choice([name for name in group if isinstance(group[name], h5py.Dataset)] or [None])
                    if name and group[name].dtype.kind in "iu" and len(group[name]):
                        top = numpy.iinfo(group[name].dtype).max
                        group[name][chance.randrange(len(group[name]))] = min(lie, top)
            try:
                run = pclscope.open(path)
                for name in PROPERTIES:
                    getattr(run, name)
                run.messages(), run.collectives(), run.timeline()
                outcomes["read"] += 1
            except pclscope.Error as error:
                self.assertNotIn("\n", str(error))
                outcomes["refused"] += 1
        self.assertEqual(len(outcomes), 2, outcomes)

    def test_packed_density_of_the_page(self):
        """The example of FORMAT.md, and bytes that are none."""
        page = (harness.SOURCE / "analysis" / "store" / "FORMAT.md").read_text()
        example = re.search(r"^    (01 14 14 08 [0-9a-f ]+)$", page, re.MULTILINE)[1]
        raw = numpy.frombuffer(bytes.fromhex(example), numpy.uint8)
        found = density.unpack(raw)
        self.assertEqual({name: values.tolist() for name, values in found.inside.items()},
                         {"region": [-1], "function": [7], "slice": [2], "ns": [300]})
        self.assertEqual({name: values.tolist() for name, values in found.calls.items()},
                         {"function": [7], "slice": [2], "bin": [65], "starts": [1], "ends": [1]})
        for end in range(1, len(raw) - 1):
            with self.assertRaises(pclscope.Error):
                density.unpack(raw[:end])

    def test_functions_have_the_names_that_inspect_writes(self):
        lines = (harness.SOURCE / "tests/data/function_names.txt").read_text().splitlines()
        self.assertGreater(len(lines), 15)
        for line in lines:
            whole, short = line.split("\t")
            self.assertEqual(function_name.short_function(whole), short)
            self.assertEqual(function_name.same_function(whole), whole if short.startswith("std::") else short)

    def test_words_are_those_of_inspect(self):
        """Lists that are in the viewer, too."""
        def words_in(file, name):
            return tuple(re.findall(r'"([^"]+)"', re.search(
                rf"{name}\[\] = \{{(.*?)\}};", (harness.SOURCE / file).read_text(), re.S)[1]))
        self.assertEqual(words.CAUSES, words_in("viewer/views/finding_rows.cpp", "words"))
        self.assertEqual(words.CONDITIONS, words_in("viewer/views/condition_rows.cpp", "condition_words"))
        flags = (harness.SOURCE / "interpose/record/event.hpp").read_text()
        for name in ("nonblocking", "persistent", "buffered"):
            self.assertEqual(getattr(words, name.upper()), 1 << int(re.search(rf"\b{name} = 1u << (\d+)", flags)[1]))
        flags = (harness.SOURCE / "analysis/values/message.hpp").read_text()
        for name in ("clock_unclear", "clock_violation", "inter_node", "unseen_completion"):
            self.assertEqual(getattr(words, name.upper()), 1 << int(re.search(rf"\b{name} = 1u << (\d+)", flags)[1]))

    def test_installed_and_as_a_wheel(self):
        """What CMake and pip install is the whole package, and of this version."""
        prefix = self.box.directory / "prefix"
        self.assertWorked(self.box.run("cmake", "--install", harness.BUILD, "--prefix", prefix, "--component",
                                       "python"))
        installed = prefix / "lib" / "python3" / "dist-packages" / "pclscope"
        ours = {file.name: file.read_bytes() for file in [*PACKAGE.glob("*.py"), PACKAGE / "py.typed"]}
        self.assertEqual({file.name: file.read_bytes() for file in installed.iterdir()}, ours)
        project = (harness.SOURCE / "CMakeLists.txt").read_text()
        version = re.search(r"^project\(pclscope VERSION ([\d.]+)", project, re.MULTILINE)[1]
        self.assertEqual(pclscope.__version__, version)
        source = self.box.directory / "python"
        shutil.copytree(PACKAGE.parent, source, ignore=shutil.ignore_patterns("__pycache__"))
        build = "import setuptools.build_meta as build; print(build.build_wheel('.'))"
        done = self.box.run(sys.executable, "-B", "-c", build, directory=source)
        if "No module named" in done.stderr:
            print("no wheel: Debian's python3-setuptools or python3-wheel is missing")
            return
        self.assertWorked(done)
        with zipfile.ZipFile(source / f"pclscope-{version}-py3-none-any.whl") as wheel:
            self.assertEqual({name: wheel.read(name) for name in wheel.namelist() if name.startswith("pclscope/")},
                             {f"pclscope/{name}": content for name, content in ours.items()})

    def test_the_package_imports_no_more_than_it_says(self):
        """numpy and h5py are needed, pandas and pyzmq when they are there."""
        script = ("import sys; sys.modules['pandas'] = sys.modules['zmq'] = None; sys.path.insert(0, sys.argv[1]);"
                  "import pclscope; run = pclscope.open(sys.argv[2]); print(len(run.messages()), len(run.ranks));"
                  "pclscope.connect('ipc:///nowhere')")
        done = self.box.run(sys.executable, "-B", "-c", script, PACKAGE.parent, self.made())
        self.assertEqual(done.stdout, "100 6\n")
        self.assertIn("pyzmq is not installed", done.stderr)


if __name__ == "__main__":
    harness.main()
