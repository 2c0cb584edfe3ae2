"""Reads a dump with h5py alone, as FORMAT.md says, and compares with what h5py_test.cpp wrote.

usage: check_dump.py FILE MESSAGES COMPLETE(0|1) FORMAT.md    exit 0: as expected; 77: no h5py here
       check_dump.py --example FORMAT.md    runs the worked example of that page on ./run.h5
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


def helpers(page):
    """`packed`, `messages`, `collectives` and `calls` as FORMAT.md prints them."""
    text = open(page, encoding="utf-8").read().split("## Worked example")[1].split("## ")[0]
    code = "\n".join(line[4:] for line in text.splitlines() if not line or line.startswith("    "))
    functions = [part for part in code.split("\n\n") if part.startswith("def ")]
    assert len(functions) == 6, [part.splitlines()[0] for part in functions]
    names = {"h5py": h5py, "numpy": numpy}
    exec("\n\n".join(functions), names)  # pylint: disable=exec-used
    return code, names


def main(path, count, complete, page):
    with h5py.File(path, "r") as dump:
        assert dump.attrs["format"].decode() == "pclscope"
        assert dump.attrs["version_major"] == 2 and dump.attrs["version_minor"] == 6
        assert dump.attrs["complete"] == complete and dump.attrs["closed"] == complete
        assert dump.attrs["command"].decode() == "lmp -in 'melt \u00e9.in'"
        assert dump.attrs["mpi"].decode() == "Open MPI v4.1.4"
        assert dump.attrs["job"].decode() == "melt-17"

        messages = helpers(page)[1]["messages"](dump)
        assert all(len(column) == count for column in messages.values()), [len(c) for c in messages.values()]
        row = numpy.arange(count, dtype=numpy.int64)
        assert (messages["source"] == row % 64).all()
        assert (messages["destination"] == row % 61).all()
        assert (messages["send_begin"] == row * 1000 + 1).all()
        assert (messages["send_end"] == messages["send_begin"] + 7).all()
        assert (messages["recv_wait"] == messages["send_begin"] + 3).all()
        assert (messages["recv_post"] == messages["send_begin"] - 5).all()
        for i in range(0, count, 97):
            assert int(messages["comm"][i]) == mix(i) | 1
            assert int(messages["bytes"][i]) == mix(i + 3) >> 20
            assert int(messages["flags"][i]) == mix(i + 2) & 0xFFFFFFFF
            assert int(messages["recv_end"][i]) == i * 1000 + 1 + mix(i + 4) % 1000
            assert int(messages["recv_site"][i]) == mix(i + 6) | 1
        for name, units in {"send_to_end": "ns", "bytes": "bytes", "recv_end_step": "ns, zigzag"}.items():
            assert dump["messages"][name].attrs["units"].decode() == units

        # The formulas of FORMAT.md.
        time = messages["recv_end"] - messages["send_begin"]
        late_sender = numpy.maximum(0, messages["send_begin"] - messages["recv_wait"])
        late_receiver = numpy.clip(messages["recv_post"] - messages["send_begin"], 0, time)
        assert (time >= 0).all() and (late_sender == 0).all() and (late_receiver == 0).all()

        calls = helpers(page)[1]["collectives"](dump)
        assert all(len(column) == count // 10 for column in calls.values())
        for i in range(0, count // 10, 7):
            begin = i * 700 + mix(i) % 900
            assert int(calls["begin"][i]) == begin and int(calls["end"][i]) == begin + mix(i + 4) % 10_000
            assert int(calls["awaited_begin"][i]) == begin + mix(i + 5) % 5000 - 1000
            assert int(calls["ordinal"][i]) == i // 3 and int(calls["awaited"][i]) == mix(i) % 8 - 1

        single = helpers(page)[1]["calls"](dump)
        assert all(len(column) == count for column in single.values())
        begin = row % 20 * 1000 + row // 160 * 20_000
        assert (single["begin"] == begin).all() and (single["rank"] == row // 20 % 8).all()
        assert (single["function"] == 300 + row % 20).all() and (single["site"] == 1 + row % 3).all()
        for i in range(0, count, 11):
            assert int(single["end"][i]) == int(begin[i]) + (0 if i % 23 == 0 else mix(i + 1) % 900)
            assert int(single["outside"][i]) == (-1 if i % 20 == 0 else mix(i + 2) % 500)
            assert int(single["peer"][i]) == mix(i) % 10 - 2 and int(single["bytes"][i]) == mix(i + 3) >> 40

        summary = dump["summary"][str(dump["summary"].attrs["current"])]
        assert summary.attrs["matched"] == 12345 and summary.attrs["ranks"] == 3
        assert summary.attrs["p99_s"] == 0.25
        regions, ranks = table(summary["regions"]), table(summary["region_ranks"])["rank"]
        lists = [list(ranks[b:b + n]) for b, n in zip(regions["ranks_begin"], regions["ranks_count"])]
        assert lists == [[0, 2], [1]], lists
        assert list(regions["id"]) == [4, 9]
        assert [name.decode() for name in table(summary["nodes"])["name"]] == ["node-a", "node-b"]
        assert list(table(summary["node_of_rank"])["node"]) == [0, 1, -1]

        # Lists are ranges: of ranks, of shares, of texts. The last row of a site counts.
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

        periods = table(summary["region_periods"])
        lists = [list(periods["kind"][b:b + n]) for b, n in zip(regions["periods_begin"], regions["periods_count"])]
        assert lists == [[1, 2], []], lists
        assert list(periods["mean_ratio"]) == [1.5, 2.5] and list(periods["open"]) == [0, 1]
        links = table(summary["links"])
        assert list(links["a"]) == [4] and list(links["b"]) == [9] and list(links["mean_transfer_ratio"]) == [0.5]
        assert summary.attrs["method"].decode() == "free-energy" and summary.attrs["modularity"] == 0.75
        assert list(table(summary["leaf_of_rank"])["leaf"]) == [0, -1, 1]
        assert list(table(summary["merges"])["height"]) == [1.25]
        delays, victims = table(summary["delays"]), table(summary["delay_victims"])
        assert list(delays["cost_s"]) == [2.5] and list(victims["rank"]) == [2, 0]
        assert list(victims["lost_s"]) == [2, 0.5] and delays["victims_count"][0] == 2
        assert summary.attrs["collective_operations"] == 3 and summary.attrs["collective_wait_s"] == 1.5
        assert summary.attrs["clock_unclear"] == 11 and summary.attrs["network_traffic_bytes"] == 7
        clocks, corrections = table(summary["clocks"]), table(summary["clock_corrections"])
        assert list(clocks["node"]) == [1] and list(clocks["offset_s"]) == [-0.5] and list(clocks["error_s"]) == [0.25]
        assert list(corrections["at_s"]) == [1, 2] and list(corrections["correction_s"]) == [0.125, 0.375]
        assert list(table(summary["dead_nodes"])["node"]) == [1]
        packed = table(summary["call_density"])["byte"]
        density = helpers(page)[1]["density"]
        assert density(packed) == ([(-1, 7, 2, 300)], [(7, 2, 65, 1, 1)]), list(packed)
        assert list(packed[:4]) == [1, 20, 20, 8] and density(packed[:0]) == ([], [])
        findings, bytes_of = table(summary["findings"]), table(summary["finding_texts"])["byte"].tobytes()
        piece = lambda name, row: bytes_of[findings[name + "_begin"][row]:][:findings[name + "_count"][row]].decode()
        assert list(findings["cause"]) == [5, 4] and list(findings["lost_s"]) == [12.5, 3]
        assert piece("evidence", 0).splitlines() == ["rank 1 is late", "twice"] and piece("advice", 1) == "wait"
        assert list(table(summary["finding_ranks"])["rank"]) == [1]
        assert list(table(summary["finding_nodes"])["node"]) == [0, 1]
        assert list(table(summary["attribution_slices"])["inter_messages"]) == [3, 4]
        assert list(table(summary["transfer_values"])["normalised"]) == [1, 2.5]
        traffic = table(summary["traffic"])
        assert list(traffic["source"]) == [0, 2] and list(traffic["bytes"]) == [100, 7]
        assert summary.attrs["keep"] == 1 and summary.attrs["messages_left_out"] == 6

        texts = table(dump["texts"])["byte"].tobytes()
        text = lambda t, name, row: texts[t[name + "_begin"][row]:][:t[name + "_count"][row]].decode()
        sites, modules = table(dump["sites"]), table(dump["modules"])
        assert list(sites["id"]) == ([1, 2, 3] if complete else [1, 2, 3, 2])  # a closed dump has been compacted
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
    if sys.argv[1] == "--example":
        exec(helpers(sys.argv[2])[0], {})  # pylint: disable=exec-used
    else:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
