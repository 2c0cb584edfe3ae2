"""Reads a dump with h5py alone, as FORMAT.md says, and compares with what h5py_test.cpp wrote.

usage: check_dump.py FILE MESSAGES COMPLETE(0|1)    exit 0: as expected; 77: no h5py here
"""
import sys

try:
    import h5py
    import numpy
except ImportError:
    sys.exit(77)

MASK = (1 << 64) - 1


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


def table(group):
    rows = group.attrs["rows"]
    return {name: column[:rows] for name, column in group.items()}


def main(path, count, complete):
    with h5py.File(path, "r") as dump:
        assert dump.attrs["format"].decode() == "pclscope"
        assert dump.attrs["version_major"] == 1 and dump.attrs["version_minor"] == 1
        assert dump.attrs["complete"] == complete
        assert dump.attrs["command"].decode() == "lmp -in 'melt \u00e9.in'"
        assert dump.attrs["mpi"].decode() == "Open MPI v4.1.4"
        assert dump.attrs["job"].decode() == "melt-17"

        messages = table(dump["messages"])
        assert all(len(column) == count for column in messages.values()), [len(c) for c in messages.values()]
        row = numpy.arange(count, dtype=numpy.int64)
        assert (messages["source"] == row % 64).all()
        assert (messages["destination"] == row % 61).all()
        assert (messages["send_begin"] == row * 1000 + 1).all()
        assert (messages["recv_post"] == messages["send_begin"] - 5).all()
        for i in range(0, count, 97):
            assert int(messages["comm"][i]) == mix(i) | 1
            assert int(messages["bytes"][i]) == mix(i + 3) >> 20
            assert int(messages["flags"][i]) == mix(i + 2) & 0xFFFFFFFF
        for name, units in {"send_begin": "ns", "bytes": "bytes", "source": "rank"}.items():
            assert dump["messages"][name].attrs["units"].decode() == units

        # The formulas of FORMAT.md.
        time = messages["recv_end"] - messages["send_begin"]
        late_sender = numpy.maximum(0, messages["send_begin"] - messages["recv_wait"])
        late_receiver = numpy.clip(messages["recv_post"] - messages["send_begin"], 0, time)
        assert (time >= 0).all() and (late_sender == 0).all() and (late_receiver == 0).all()

        summary = dump["summary"][str(dump["summary"].attrs["current"])]
        assert summary.attrs["matched"] == 12345 and summary.attrs["ranks"] == 3
        assert summary.attrs["p99_s"] == 0.25
        regions, ranks = table(summary["regions"]), table(summary["region_ranks"])["rank"]
        lists = [list(ranks[b:b + n]) for b, n in zip(regions["ranks_begin"], regions["ranks_count"])]
        assert lists == [[0, 2], [1]], lists
        assert list(regions["id"]) == [4, 9]
        assert [name.decode() for name in table(summary["nodes"])["name"]] == ["node-a", "node-b"]
        assert list(table(summary["node_of_rank"])["node"]) == [0, 1, -1]

        # Lists are stretches: of ranks, of shares, of texts. The last row of a site counts.
        functions, shares = table(summary["functions"]), table(summary["function_history"])["share"]
        assert [name.decode() for name in functions["name"]] == ["MPI_Send", "MPI_Recv"], functions["name"]
        assert list(functions["calls"]) == [5, 1] and list(functions["inside_s"]) == [0.5, 0.25]
        lists = [list(shares[b:b + n]) for b, n in zip(functions["history_begin"], functions["history_count"])]
        assert lists == [[0.25, 0.75], []], lists
        waits, of_ranks = table(summary["waits_for"])["rank"], table(summary["ranks"])
        assert list(waits[of_ranks["waits_begin"][2]:][:of_ranks["waits_count"][2]]) == [0, 1]
        members = table(summary["deadlock_members"])
        assert list(members["rank"]) == [0, 1] and list(members["since_s"]) == [1.5, 2.5]
        assert [list(waits[b:b + n]) for b, n in zip(members["waits_begin"], members["waits_count"])] == [[1], [0]]
        assert list(table(summary["deadlocks"])["members_count"]) == [2]
        assert list(table(summary["site_activity"])["late_sender_s"]) == [0.5]

        texts = table(dump["texts"])["byte"].tobytes()
        text = lambda t, name, row: texts[t[name + "_begin"][row]:][:t[name + "_count"][row]].decode()
        sites, modules = table(dump["sites"]), table(dump["modules"])
        assert list(sites["id"]) == [1, 2, 3, 2]
        rows = {sites["id"][row]: row for row in range(len(sites["id"]))}
        assert text(sites, "file", rows[2]) == "/src/with blanks/2.cpp" and sites["line"][rows[2]] == 3
        assert text(sites, "function", rows[2]) == "solver::step2(int)" and sites["line"][rows[1]] == 0
        assert text(modules, "path", sites["module"][rows[2]]) == "/opt/" + "m" * 600 + "/app2"
        assert modules["build_id"][sites["module"][rows[2]]].decode() == "00ff2"

        windows, parts = table(dump["windows"]), table(dump["window_regions"])
        assert len(windows["begin_s"]) == 50
        for w in range(50):
            begin, n = windows["regions_begin"][w], windows["regions_count"][w]
            assert n == mix(w + 9) % 5
            assert list(parts["region"][begin:begin + n]) == list(range(n))
            assert (parts["window"][begin:begin + n] == w).all()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
