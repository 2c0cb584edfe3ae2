"""Recomputes what `pclscope inspect` says of a dump that has all messages, with h5py and numpy alone.

By hand: /usr/bin/python3 tests/system/recompute.py RUN.h5     (a dump of `pclscope run --keep all`)

Each function returns complaints, lines that name the value, what is said and what was recomputed. Formulas:
docs/methods.md. Bounds: exact numbers must be equal; what is a sum of rounded values agrees to 1e-6 (typical ratios to
1e-3); medians to 1 %, as histograms have them.
"""
import collections
import math

import dump
import numpy

UNSEEN, INTER_NODE, VIOLATION, UNCLEAR = 1 << 31, 1 << 30, 1 << 29, 1 << 27
NO_LATENCY = UNSEEN | VIOLATION | UNCLEAR
NOT_BLOCKING, SENDRECV = 1 << 0 | 1 << 1 | 1 << 4, 1 << 26  # of the send: nonblocking, persistent, buffered
ENOUGH = 16  # messages of a bin, for its own median
MEDIAN_ERROR = 0.0085  # LogHistogram: 1/128, and half a nanosecond where times are short


def close(a, b, relative=1e-6, absolute=1e-9):
    return abs(a - b) <= max(absolute, relative * max(abs(a), abs(b)))


class Complaints(list):
    def equal(self, what, said, found):
        if said != found:
            self.append(f"{what}: {said} is said, {found} recomputed")

    def near(self, what, said, found, relative=1e-6, absolute=1e-9):
        if not close(said, found, relative, absolute):
            self.append(f"{what}: {said:.9g} is said, {found:.9g} recomputed")


def bin_of(size):
    """Bins of 50 bytes below 12,800, then 16 per octave."""
    if size < 12_800:
        return size // 50
    octave = size.bit_length() - 1
    return min(256 + (octave - 13) * 16 + ((size >> (octave - 4)) & 15) - 9, 822)


def low_of(number):
    if number < 256:
        return number * 50
    number += 9 - 256
    return (16 + number % 16) << (13 + number // 16 - 4)


class Judged:
    """The messages of a dump with their ratios by the criteria that it names."""

    def __init__(self, path, criteria):
        rows = self.rows = dump.read_messages(path)
        self.inter = (rows.flags & INTER_NODE) != 0
        self.timed = (rows.flags & NO_LATENCY) == 0
        self.time = rows.recv_end - rows.send_begin
        self.transfer = self.time - numpy.clip(rows.recv_post - rows.send_begin, 0, numpy.maximum(self.time, 0))
        self.bins = numpy.array([bin_of(int(size)) for size in rows.bytes.tolist()], dtype=numpy.int64)
        usual, usual_transfer = numpy.full(len(rows), numpy.nan), numpy.full(len(rows), numpy.nan)
        for c in criteria:
            here = (self.inter == c["inter_node"]) & (rows.bytes >= c["bytes_low"]) & (rows.bytes < c["bytes_high"])
            usual[here], usual_transfer[here] = c["criterion_s"] * 1e9, c["transfer_criterion_s"] * 1e9
        self.ratio, self.transfer_ratio = self.time / usual, self.transfer / usual_transfer

    def sums(self, chosen):
        """What summaries say of these messages."""
        timed = chosen & self.timed
        n = int(timed.sum())
        return {"messages": int(chosen.sum()), "bytes": int(self.rows.bytes[chosen].sum()), "timed": n,
                "mean": float(self.ratio[timed].mean()) if n else 0.0,
                "transfer": float(self.transfer_ratio[timed].mean()) if n else 0.0,
                "typical": float(numpy.exp(numpy.log(numpy.maximum(self.ratio[timed], 1e-12)).mean())) if n else 0.0}


def check_criteria(judged, criteria):
    """Medians from the messages themselves, and which of them a bin is judged by."""
    found = Complaints()
    named = {(c["inter_node"], bin_of(c["bytes_low"])): c for c in criteria}
    bins = collections.defaultdict(list)
    for inter, number, index in zip(judged.inter.tolist(), judged.bins.tolist(), range(len(judged.rows))):
        if judged.timed[index]:
            bins[inter, number].append(index)
    found.equal("criteria: classes and sizes", sorted(named), sorted(bins))
    medians = {}
    for key, indices in bins.items():
        if key not in named:
            continue
        c, times = named[key], numpy.sort(judged.time[indices])
        transfers = numpy.sort(judged.transfer[indices])
        place = (len(times) + 1) // 2 - 1  # the lower one in the middle
        what = f"criterion of {c['bytes_low']} bytes, inter-node {key[0]}"
        found.equal(f"{what}: count", c["count"], len(times))
        found.equal(f"{what}: end", c["bytes_high"], low_of(key[1] + 1))
        found.near(f"{what}: median", c["median_s"], max(times[place], 1) * 1e-9, MEDIAN_ERROR, 2e-9)
        found.near(f"{what}: median of transfers", c["transfer_median_s"], max(transfers[place], 1) * 1e-9,
                   MEDIAN_ERROR, 2e-9)
        medians[key] = len(times), c["median_s"]
    for (inter, number), (count, median) in medians.items():
        expected = median
        if count < ENOUGH:
            size = low_of(number) + 25
            for distance in range(1, 823):
                others = [number - distance, number + distance]
                reach = [o for o in others if 0 <= o < 823
                         and max(low_of(o) + 25, size) < 2 * min(low_of(o) + 25, size)]
                good = [o for o in reach if medians.get((inter, o), (0, 0))[0] >= ENOUGH]
                if good or not reach:
                    expected = medians[inter, good[0]][1] if good else median
                    break
        found.near(f"criterion in force of {low_of(number)} bytes", named[inter, number]["criterion_s"], expected)
    return found


def check_summary(judged, summary):
    found = Complaints()
    said, messages = judged.sums(numpy.ones(len(judged.rows), bool)), summary["messages"]
    found.equal("matched", messages["matched"], said["messages"])
    found.equal("bytes", messages["bytes"], said["bytes"])
    latency = summary["latency"]
    found.near("mean ratio", latency["mean_ratio"], said["mean"])
    found.near("typical ratio", latency["typical_ratio"], said["typical"], 1e-3)
    ratios, times = judged.ratio[judged.timed], numpy.sort(judged.time[judged.timed])
    for name, share in (("median_s", 0.5), ("p99_s", 0.99)):
        if len(times):
            found.near(name, latency[name], times[max(math.ceil(share * len(times)), 1) - 1] * 1e-9, MEDIAN_ERROR, 2e-9)
    near = int((numpy.abs(ratios - 1) < 1 / 64).sum())  # in the bucket of their criterion
    if abs(messages["delayed"] - int((ratios > 1).sum())) > near + 1:
        found.append(f"delayed: {messages['delayed']} is said, {int((ratios > 1).sum())} recomputed, {near} near 1")
    for name, flag in (("clock_violations", VIOLATION), ("clock_unclear", UNCLEAR)):
        found.equal(name, messages[name], int(((judged.rows.flags & flag) != 0).sum()))
    return found


def exact_mean(judged):
    """The mean ratio by exact medians of each class and size of at least ENOUGH messages."""
    key = judged.bins * 2 + judged.inter
    total, count = 0.0, 0
    for one in numpy.unique(key[judged.timed]):
        times = judged.time[judged.timed & (key == one)]
        if len(times) >= ENOUGH:
            total, count = total + float((times / max(numpy.median(times), 1)).sum()), count + len(times)
    return total / count if count else 0.0, count


def check_ranks(judged, ranks):
    found = Complaints()
    rows = judged.rows
    for rank in ranks:
        sent, received = rows.source == rank["rank"], rows.destination == rank["rank"]
        what = f"rank {rank['rank']}"
        found.equal(f"{what}: sends", rank["sends"], int(sent.sum()))
        found.equal(f"{what}: bytes sent", rank["bytes_sent"], int(rows.bytes[sent].sum()))
        sums = judged.sums(received)
        found.equal(f"{what}: receives", rank["receives"], sums["messages"])
        found.equal(f"{what}: bytes received", rank["bytes_received"], sums["bytes"])
        found.near(f"{what}: mean ratio", rank["mean_latency_ratio"], sums["mean"])
    return found


def check_part(found, what, part, sums, near=0):
    """`near`: messages that the moment of a change may have put to the one side or the other."""
    if near:
        if abs(part["messages"] - sums["messages"]) > near:
            found.append(f"{what}: {part['messages']} messages are said, {sums['messages']} recomputed, {near} near")
        return
    found.equal(f"{what}: messages", part["messages"], sums["messages"])
    found.equal(f"{what}: bytes", part["bytes"], sums["bytes"])
    found.near(f"{what}: mean ratio", part["mean_latency_ratio"], sums["mean"])
    found.near(f"{what}: mean ratio of transfers", part["mean_transfer_ratio"], sums["transfer"])
    if "typical_ratio" in part:
        found.near(f"{what}: typical ratio", part["typical_ratio"], sums["typical"], 1e-3)


def check_regions(judged, regions, links):
    """Regions, what is between them, each in its interval, and the rest are the whole."""
    found = Complaints()
    rows = judged.rows
    size, end = int(max(rows.source.max(), rows.destination.max())) + 1, rows.recv_end * 1e-9
    changes = {r["from_s"] for r in regions if r["from_s"] > 0} | {r["until_s"] for r in regions if r["until_s"] >= 0}
    near = int(sum(((end > change - 0.2) & (end < change + 0.2)).sum() for change in changes))

    def members(region):
        of_rank = numpy.zeros(size, bool)
        of_rank[region["ranks"]] = True
        return of_rank

    def while_it_lasted(*of):
        began = max(region["from_s"] for region in of)
        over = min(region["until_s"] if region["until_s"] >= 0 else numpy.inf for region in of)
        return (end >= began if began > 0 else end == end) & (end < over)

    known = {region["id"]: region for region in regions}
    found.equal("numbers of regions", len(known), len(regions))
    for rank in range(size):
        lives = sorted((r["from_s"], r["until_s"] if r["until_s"] >= 0 else numpy.inf)
                       for r in regions if rank in r["ranks"])
        if any(second[0] < first[1] for first, second in zip(lives, lives[1:])):
            found.append(f"rank {rank} is in two regions at a time: {lives}")
    for region in regions:
        inside = members(region)[rows.source] & members(region)[rows.destination] & while_it_lasted(region)
        check_part(found, f"region {region['id']}", region, judged.sums(inside), near)
    for link in links:
        if link["a"] not in known or link["b"] not in known:
            found.append(f"link {link['a']} - {link['b']}: no such regions")
            continue
        a, b = members(known[link["a"]]), members(known[link["b"]])
        between = (a[rows.source] & b[rows.destination]) | (b[rows.source] & a[rows.destination])
        between &= while_it_lasted(known[link["a"]], known[link["b"]])
        check_part(found, f"link {link['a']} - {link['b']}", link, judged.sums(between), near)
    placed = numpy.zeros(size, bool)
    for region in regions:
        placed |= members(region)
    of_placed = int((placed[rows.source] & placed[rows.destination]).sum())
    said = sum(part["messages"] for part in [*regions, *links])
    if not of_placed - near <= said <= of_placed:
        found.append(f"regions and links have {said} messages, {of_placed} recomputed, {near} near a change")
    return found


SEND, PROBE = 9, 10  # shapes of calls that completed a posted send, that probed


def blocked(judged, path):
    """{rank: [late sender, late receiver, exposed transfer]} in ns: each call's time once, for who was in it."""
    rows, calls = judged.rows, {}
    for i in numpy.flatnonzero(judged.timed).tolist():
        flags, source, destination = int(rows.flags[i]), int(rows.source[i]), int(rows.destination[i])
        call = calls.setdefault((destination, int(rows.recv_wait[i]), int(rows.recv_end[i])), [None, None])
        call[0] = int(rows.send_begin[i]) if call[0] is None else max(call[0], int(rows.send_begin[i]))
        if flags & NOT_BLOCKING or (flags & SENDRECV and flags & INTER_NODE):
            continue
        call = calls.setdefault((source, int(rows.send_begin[i]), int(rows.send_end[i])), [None, None])
        call[1] = int(rows.recv_post[i])
    others = dump.read_collectives(path)
    for i in numpy.flatnonzero(others["shape"] >= SEND).tolist():
        call = calls.setdefault((int(others["rank"][i]), int(others["begin"][i]), int(others["end"][i])), [None, None])
        side = 1 if others["shape"][i] == SEND else 0
        moment = int(others["awaited_begin"][i])
        call[side] = moment if call[side] is None else max(call[side], moment)
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for (rank, begin, end), (sent, posted) in calls.items():
        late_sender = min(max(sent, begin), end) - begin if sent is not None else 0
        late = max(late_sender, min(max(posted, begin), end) - begin if posted is not None else 0)
        for part, value in enumerate((late_sender, late - late_sender, end - begin - late)):
            sums[rank][part] += max(value, 0)
    return sums


def with_late_messages(judged, path):
    """Ranks of messages that were matched after the window of their completion had closed. Rows come window by window,
    and windows tell how many they have."""
    length, begin, count = dump.read_windows(path, "length_s", "begin_s", "messages")
    length_ns = float(length[0]) * 1e9
    window = numpy.floor(judged.rows.recv_end / length_ns)
    late = window != numpy.repeat(numpy.round(begin / length), count.astype(int))
    # So is a Sendrecv of which what it sent was received later.
    late |= ((judged.rows.flags & SENDRECV) != 0) & (window > numpy.floor(judged.rows.send_end / length_ns))
    return set(judged.rows.source[late].tolist()) | set(judged.rows.destination[late].tolist())


def check_blocked(judged, path, ranks, duration_s):
    """Time inside MPI is the sum of its parts, and those of messages are their calls'. It is no longer than the run:
    from second 0 to the newest event, on the axis of all nodes, on which a rank's times may be wrong at both ends."""
    found = Complaints()
    clocks = dump.Clocks(path)
    sums, late = blocked(judged, path), with_late_messages(judged, path)
    for rank in ranks:
        what = f"rank {rank['rank']}"
        parts = [rank[name] for name in ("late_sender_s", "late_receiver_s", "transfer_s", "collective_wait_s",
                                         "one_sided_s", "file_s", "other_s", "init_s", "finalize_s")]
        found.near(f"{what}: inside MPI", rank["mpi_s"], sum(parts), 1e-6, 1e-6)
        wrong_s = 2 * clocks.most_wrong_s(rank["rank"])
        if min(parts) < -1e-9 or rank["mpi_s"] > rank["threads"] * (duration_s * (1 + 1e-6) + 1e-6 + wrong_s):
            found.append(f"{what}: parts {parts} of {rank['mpi_s']} s inside MPI in {duration_s} s, its clock may be "
                         f"{wrong_s / 2} s wrong")
        # What was matched too late for its window adds nothing: then it is no more than recomputed.
        whole = sum(parts[:3]), sum(sums[rank["rank"]]) * 1e-9
        if whole[0] > whole[1] * 1.000001 + 1e-6:
            found.append(f"{what}: {whole[0]:.6f} s blocked for messages are said, {whole[1]:.6f} recomputed")
        for name, value in zip(("late_sender_s", "late_receiver_s", "transfer_s"), sums[rank["rank"]]):
            if rank["rank"] not in late and not close(rank[name], value * 1e-9, 1e-6, 1e-6):
                found.append(f"{what}: {name} {rank[name]:.6f} is said, {value * 1e-9:.6f} recomputed")
    return found


def check_windows(judged, path):
    found = Complaints()
    with dump.h5py.File(path, "r") as file:
        windows, regions = file["windows"], file["window_regions"]
        rows = int(windows.attrs["rows"])
        messages, begin = windows["messages"][:rows], windows["begin_s"][:rows]
        first, count = windows["regions_begin"][:rows], windows["regions_count"][:rows]
        of_regions = regions["messages"][:int(regions.attrs["rows"])]
    found.equal("messages of all windows", int(messages.sum()), len(judged.rows))
    # Until the first window with messages has closed, a silent one may turn out to have some.
    if (numpy.diff(begin[messages > 0]) <= 0).any():
        found.append("windows do not come one after the other")
    for i in range(rows):
        if of_regions[first[i]:first[i] + count[i]].sum() > messages[i]:
            found.append(f"window at {begin[i]} s: its regions have more messages than it has")
    return found


def check_traffic(judged, traffic):
    found = Complaints()
    rows = judged.rows
    pairs = collections.Counter(zip(rows.source.tolist(), rows.destination.tolist()))
    size = collections.Counter()
    for source, destination, number in zip(rows.source.tolist(), rows.destination.tolist(), rows.bytes.tolist()):
        size[source, destination] += number
    said = {(t["source"], t["destination"]): (t["messages"], t["bytes"]) for t in traffic}
    found.equal("traffic", said, {pair: (count, size[pair]) for pair, count in pairs.items()})
    return found


def check_nodes(judged, links, node_of_rank):
    found = Complaints()
    rows, nodes = judged.rows, numpy.array(node_of_rank)
    a, b = nodes[rows.source], nodes[rows.destination]
    for link in links:
        chosen = (a == link["source"]) & (b == link["destination"])
        check_part(found, f"nodes {link['source']} to {link['destination']}", link, judged.sums(chosen))
    found.equal("messages between nodes", sum(link["messages"] for link in links), int((a != b).sum()))
    return found


def is_collective(calls):
    """Not of windows and files, MPI_Init and MPI_Finalize, nor calls that waited for the other side of a message."""
    names = dump.function_names()
    others = {number for number, name in names.items()
              if name.startswith(("Win_", "File_")) or name in ("Init", "Init_thread", "Session_init", "Finalize",
                                                                 "Session_finalize")}
    return ~numpy.isin(calls["function"], list(others)) & (calls["shape"] < SEND)


def check_collectives(path, summary, ranks):
    """Waits by the entry of who was awaited, within each call."""
    found = Complaints()
    calls = dump.read_collectives(path)
    chosen = is_collective(calls)
    calls = {name: column[chosen] for name, column in calls.items()}
    wait = numpy.clip(numpy.minimum(calls["awaited_begin"], calls["end"]) - calls["wait_begin"], 0, None)
    wait[calls["awaited"] < 0] = 0
    once = {}  # a call that completed several waited for the last of all
    for i in numpy.flatnonzero((calls["nonblocking"] == 1) & (wait > 0)).tolist():
        before = once.setdefault((calls["rank"][i], calls["end"][i]), i)
        if before != i:
            longest, wait[before], wait[i] = max(wait[before], wait[i]), 0, 0
            wait[i] = longest
            once[calls["rank"][i], calls["end"][i]] = i
    entered = dict(zip(zip(calls["comm"].tolist(), calls["ordinal"].tolist(), calls["rank"].tolist()),
                       calls["begin"].tolist()))
    awaited = numpy.flatnonzero(wait > 0)
    wrong = [i for i in awaited if entered.get((calls["comm"][i], calls["ordinal"][i], calls["awaited"][i]))
             != calls["awaited_begin"][i]]
    found.equal("calls whose awaited rank entered at another time", 0, len(wrong))
    found.equal("calls of collectives", summary["collectives"]["calls"], len(wait))
    found.near("waited in collectives", summary["collectives"]["wait_s"], float(wait.sum()) * 1e-9)
    for rank in ranks:
        mine = wait[calls["rank"] == rank["rank"]]
        found.near(f"rank {rank['rank']}: waited in collectives", rank["collective_wait_s"], float(mine.sum()) * 1e-9)
    return found


def check_delays(delays, ranks):
    found = Complaints()
    totals = delays["totals"]
    found.near("delays: where the waits went", totals["waited_s"],
               totals["attributed_s"] + totals["inside_mpi_s"] + totals["unknown_s"], 1e-6, 1e-6)
    caused = collections.Counter()
    for origin in delays["delays"]:
        caused[origin["rank"]] += origin["cost_s"]
        if origin["cost_s"] < origin["direct_s"] - 1e-9:
            found.append(f"delays: rank {origin['rank']} cost less than what it cost directly")
    for rank in ranks:
        found.near(f"rank {rank['rank']}: delay caused", rank["delay_caused_s"], caused[rank["rank"]], 1e-6, 1e-6)
    return found


def check(path, ask):
    """All complaints about a dump; ask(topic) gives what `pclscope inspect PATH TOPIC --json` says."""
    summary, criteria = ask("summary"), ask("criteria")["criteria"]
    regions, ranks = ask("regions"), ask("ranks")["ranks"]
    judged = Judged(path, criteria)
    if len(judged.rows) == 0:
        return ["there are no messages"]
    found = check_criteria(judged, criteria) + check_summary(judged, summary) + check_ranks(judged, ranks)
    found += check_regions(judged, regions["regions"], ask("links")["links"])
    found += check_windows(judged, path) + check_traffic(judged, ask("traffic")["traffic"])
    found += check_collectives(path, summary, ranks) + check_delays(ask("delays"), ranks)
    found += check_blocked(judged, path, ranks, summary["time"]["duration_s"])
    nodes = ask("nodes")
    if summary["application"]["nodes"] > 1:
        names = {name: number for number, name in enumerate(dict.fromkeys(r["node"] for r in ranks))}
        links = [dict(link, source=names[link["source"]], destination=names[link["destination"]])
                 for link in nodes["links"]]
        found += check_nodes(judged, links, [names[r["node"]] for r in ranks])
    exact, count = exact_mean(judged)
    if count == int(judged.timed.sum()) and not close(summary["latency"]["mean_ratio"], exact, 0.03):
        found.append(f"mean ratio: {summary['latency']['mean_ratio']} is said, {exact} by exact medians")
    return found


def main():
    import json  # noqa: PLC0415
    import os  # noqa: PLC0415
    import subprocess  # noqa: PLC0415
    import sys  # noqa: PLC0415
    program = os.path.join(os.environ.get("PCLSCOPE_BUILD", "build/release"), "bin", "pclscope")

    def ask(topic):
        return json.loads(subprocess.run([program, "inspect", sys.argv[1], topic, "--json"], check=True,
                                         capture_output=True).stdout)

    found = check(sys.argv[1], ask)
    print("\n".join(found) or "all agrees")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
