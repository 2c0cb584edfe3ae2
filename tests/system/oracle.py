"""Compares stored pairs with what the random program wrote down (tests/programs/random_program.cpp, random_ledger.hpp).

A stored row has no payload. It is identified by its communicator, ranks, tag and size, and by its times: send_begin
lies within the call by which the program started that send, recv_post within the call by which it posted that receive,
as the program timed them itself. (Where the posting may not have been recorded: recv_wait or recv_end within the
call that completed it.) The oracle's and the tool's clock are tied together by messages with a tag of their own.
"""
import pathlib

import numpy

MOST = 20  # differences listed
TO_MYSELF = 30001  # tag of the messages that tie the clocks
UNSEEN = -1        # when a receive completed that nobody saw complete
EMPTY = -1         # number of a send without payload

SENT = numpy.dtype([("before", "i8"), ("after", "i8"), ("number", "i8"), ("label", "i4"), ("destination", "i4"),
                    ("tag", "i4"), ("bytes", "i4"), ("interval", "i4"), ("thread", "i4"), ("how", "i4"), ("", "i4")])
RECEIVED = numpy.dtype([("before", "i8"), ("after", "i8"), ("wait_before", "i8"), ("wait_after", "i8"),
                        ("number", "i8"), ("label", "i4"), ("source", "i4"),
                        ("tag", "i4"), ("bytes", "i4"), ("posted", "i4"), ("done", "i4"), ("thread", "i4"),
                        ("how", "i4")])


def load(directory, name, dtype, ranks):
    """The records of all ranks, and the rank of each."""
    parts = [numpy.fromfile(directory / f"{name}.{rank}", dtype) for rank in range(ranks)]
    return numpy.concatenate(parts), numpy.repeat(numpy.arange(ranks), [len(part) for part in parts])


def key_of(*columns):
    """One integer per row, equal where all columns are (non-negative, and small enough together)."""
    key = numpy.zeros(len(columns[0]), numpy.int64)
    for column in columns:
        key = key * (int(column.max(initial=0)) + 1) + column
    return key


def place_in_group(key):
    """For each row: which one it is among the rows with its key, in the order of rows."""
    order = numpy.argsort(key, kind="stable")
    first = numpy.r_[True, key[order][1:] != key[order][:-1]]
    start = numpy.maximum.accumulate(numpy.where(first, numpy.arange(len(key)), 0))
    place = numpy.empty(len(key), numpy.int64)
    place[order] = numpy.arange(len(key)) - start
    return place


class Messages:
    """Columns of equal length, one row per message."""

    def __init__(self, **columns):
        self.__dict__.update(columns)
        self.names = list(columns)

    def __len__(self):
        return len(getattr(self, self.names[0]))


class Oracle:
    def __init__(self, directory, ranks):
        directory = pathlib.Path(directory)
        self.ranks = ranks
        self.members = {}
        for rank in range(ranks):
            for line in (directory / f"comms.{rank}").read_text().splitlines():
                label, *members = map(int, line.split())
                self.members.setdefault(label, set()).update(members)
        sent, source = load(directory, "sent", SENT, ranks)
        received, destination = load(directory, "received", RECEIVED, ranks)
        self.faults = []
        at = self.sends_of(sent, source, received, destination)
        if not self.faults:
            self.join(sent[at], source[at], received, destination)

    def sends_of(self, sent, source, received, destination):
        """For each receive: the row of its send. Payloads say it; of empty messages their place on the channel."""
        if len(sent) != len(received):
            self.faults.append(f"{len(sent)} sends, {len(received)} receives")
            return []
        tags = max(sent["tag"].max(), received["tag"].max()) + 1
        labels = max(sent["label"].max(), received["label"].max()) + 1
        channel = [key_of(numpy.r_[label, labels], numpy.r_[a, self.ranks], numpy.r_[b, self.ranks],
                          numpy.r_[tag, tags])[:-1]
                   for label, a, b, tag in ((sent["label"], source, sent["destination"], sent["tag"]),
                                            (received["label"], received["source"], destination, received["tag"]))]
        # k-th send of a channel and k-th receive: one thread each, so the order of the files is the order of the calls.
        place = [place_in_group(key) for key in channel]
        by_place = [numpy.lexsort((p, key)) for p, key in zip(place, channel)]
        if (channel[0][by_place[0]] != channel[1][by_place[1]]).any():
            self.faults.append("a channel has not as many sends as receives")
            return []
        at = numpy.empty(len(received), numpy.int64)
        at[by_place[1]] = by_place[0]
        raced = self.raced(channel[0], sent["thread"]) | self.raced(channel[1], received["thread"])
        raced = numpy.isin(channel[1], numpy.array(sorted(raced), numpy.int64))
        told = received["number"] != EMPTY
        wrong = told & ~raced & ((received["number"] != sent["number"][at]) | (received["bytes"] != sent["bytes"][at]))
        if wrong.any():
            self.faults.append(f"{wrong.sum()} messages overtook others on their channel")
        of_number = {pair: row for row, pair in enumerate(zip(source[:], sent["number"]))} if raced.any() else {}
        for row in numpy.flatnonzero(raced):
            at[row] = of_number[received["source"][row], received["number"][row]]
        if len(numpy.unique(at)) != len(at):
            self.faults.append("a message was received twice")
        return at

    @staticmethod
    def raced(channel, thread):
        """Channels that several threads use."""
        pairs = numpy.unique(numpy.stack([channel, thread.astype(numpy.int64)]), axis=1)[0]
        keys, count = numpy.unique(pairs, return_counts=True)
        return set(keys[count > 1].tolist())

    def join(self, sent, source, received, destination):
        self.all = Messages(label=sent["label"], source=source, destination=destination, tag=sent["tag"],
                            bytes=sent["bytes"], send_before=sent["before"], send_after=sent["after"],
                            post_before=received["before"], post_after=received["after"], interval=sent["interval"],
                            wait_before=received["wait_before"], wait_after=received["wait_after"],
                            posted=received["posted"], done=received["done"], send_how=sent["how"], how=received["how"])

    def messages(self):
        return len(self.all)

    def bytes(self):
        return int(self.all.bytes.sum())

    # Of runs that switch recording off and on: what can be told of each message. Odd intervals are off.
    def recorded_on_both_sides(self):
        return (self.all.interval % 2 == 0) & (self.all.posted % 2 == 0) & (self.all.done % 2 == 0)

    def recorded_on_neither_side(self):
        """Sent while off, completed while off."""
        return (self.all.interval % 2 == 1) & (self.all.done % 2 == 1) & (self.all.done != UNSEEN)

    def posted_unrecorded(self):
        """Posted while off, and outstanding when recording was switched on: its place among the others may be
        unknown."""
        return (self.all.posted % 2 == 1) & (self.all.done != self.all.posted)

    def overtaken(self):
        """Posted while off and outstanding at the end of the interval, though a receive posted later on the same
        channel completed in it: which of the two took a message that was recorded cannot be known, so counts may be off
        by one."""
        truth = self.all
        channel = key_of(
            *(column.astype(numpy.int64) for column in (truth.label, truth.source, truth.destination, truth.tag)),
            truth.posted.astype(numpy.int64))
        off = truth.posted % 2 == 1
        completed = off & (truth.done == truth.posted)
        # Rows are in posting order.
        last = dict(zip(channel[completed].tolist(), numpy.flatnonzero(completed).tolist()))
        rows = numpy.flatnonzero(off & (truth.done != truth.posted))
        return sum(last.get(key, -1) > row for row, key in zip(rows.tolist(), channel[rows].tolist()))


def tie(rows, truth):
    """Rows and their messages for two clocks that differ by a constant: the one that makes most rows fit a message."""
    others = numpy.flatnonzero(rows.tag != TO_MYSELF)
    row = numpy.concatenate([numpy.flatnonzero(rows.tag == TO_MYSELF), others[:200]])
    names = ("source", "destination", "tag", "bytes")
    true = {}
    for at, key in enumerate(zip(*(getattr(truth, name).tolist() for name in names))):
        true.setdefault(key, []).append(at)
    keys = list(zip(*(getattr(rows, name)[row].tolist() for name in names)))
    same = [numpy.array(sorted(true.get(key, []), key=lambda at: truth.send_before[at]), numpy.int64) for key in keys]
    t, ended = (times[row].astype(numpy.int64) for times in (rows.send_begin, rows.send_end))
    offsets = numpy.unique(numpy.concatenate([truth.send_before[at] - time for at, time in zip(same[:50], t)]))
    score = numpy.zeros(len(offsets), numpy.int64)
    for at, time, end in zip(same, t, ended):
        place = numpy.searchsorted(truth.send_before[at], time + offsets, side="right") - 1
        score += (place >= 0) & (end + offsets <= truth.send_after[at][place])
    received = [(truth.post_before, truth.post_after, rows.recv_post[row].astype(numpy.int64)),
                (truth.wait_before, truth.wait_after, rows.recv_wait[row].astype(numpy.int64)),
                (truth.wait_before, truth.wait_after, rows.recv_end[row].astype(numpy.int64))]
    def was_received(i, at, offset):
        more = truth.send_after[at] - truth.send_before[at] - (ended[i] - t[i])  # the offset may be larger by as much
        return truth.done[at] == UNSEEN or any(low[at] - more <= time[i] + offset <= high[at]
                                               for low, high, time in received)

    def fitting(offset):
        places = [numpy.searchsorted(truth.send_before[at], time + offset, side="right") - 1
                  for at, time in zip(same, t)]
        return {i: at[p] for i, (at, p, end) in enumerate(zip(same, places, ended))
                if p >= 0 and end + offset <= truth.send_after[at][p] and was_received(i, at[p], offset)}

    found = max(map(fitting, offsets[score == score.max()][:1000]), key=lambda found: len(set(found.values())))
    return row[list(found)], numpy.array(list(found.values()), numpy.int64)


def argmax_of_concave(function, guess):
    """Within 5 % of the guess."""
    low, high = 0.95 * guess, 1.05 * guess
    for _ in range(120):
        third = (high - low) / 3
        if function(low + third) < function(high - third):
            low += third
        else:
            high -= third
    return (low + high) / 2


class Clock:
    """The oracle's ticks of the tool's times: ticks = offset + rate * ns, good to `tolerance` ticks."""
    NO_LINE = 100  # times are rounded to nanoseconds

    def __init__(self, rows, oracle, monotonic):
        truth = oracle.all
        t, ended, low, high = [], [], [], []
        for rank in range(oracle.ranks):
            row = numpy.flatnonzero((rows.tag == TO_MYSELF) & (rows.source == rank))
            true = numpy.flatnonzero((truth.tag == TO_MYSELF) & (truth.source == rank))
            row, true = row[numpy.argsort(rows.send_begin[row])], true[numpy.argsort(truth.send_before[true])]
            if len(row) != len(true):  # some are not stored
                if not monotonic:
                    raise AssertionError(f"rank {rank}: the messages that tie the clocks are not stored")
                row, true = tie(rows, truth)
            t.append(rows.send_begin[row].astype(float))
            ended.append(rows.send_end[row].astype(float))
            low.append(truth.send_before[true])
            high.append(truth.send_after[true])
        t, ended, low, high = (numpy.concatenate(part) for part in (t, ended, low, high))
        self.origin = low.min()
        low, high = (low - self.origin).astype(float), (high - self.origin).astype(float)
        # The tool takes its times between those of the oracle. Of the lines for which that holds, the one in the middle
        # is not further from the true one than half of the room that there is. (Among the first messages all may be
        # slow: the earliest times alone would tilt the line.)
        def room(rate):
            """Between the lowest and the highest line of this slope; negative: there is none."""
            return (high - rate * ended).min() - (low - rate * t).max()
        self.rate = 1.0 if monotonic else argmax_of_concave(room, (low[-1] - low[0]) / (t[-1] - t[0]))
        self.offset = (low - self.rate * t).max() + room(self.rate) / 2
        self.tolerance = 100 + abs(room(self.rate)) / 2
        if room(self.rate) < -self.NO_LINE:
            off = -room(self.rate) / 2
            raise AssertionError(f"the tool's clock and the oracle's are not one: off by {off:.0f} ticks")
        self.monotonic = monotonic

    def ticks(self, ns):
        return self.offset + self.rate * ns.astype(float)


def find(rows, truth, clock, unseen_posts, label_of_comm=None):
    """For each stored row the message that it is, -1 when it is none. Without labels of the communicators:
    whichever."""
    begin, post, wait, end = (clock.ticks(times)
                              for times in (rows.send_begin, rows.recv_post, rows.recv_wait, rows.recv_end))
    columns = [("source", "destination", "tag", "bytes")] * 2
    row_key, true_key = ([getattr(table, name).astype(numpy.int64) for name in names]
                         for table, names in zip((rows, truth), columns))
    if label_of_comm is not None:
        row_key.insert(0, numpy.array([label_of_comm[comm] for comm in rows.comm.tolist()], numpy.int64))
        true_key.insert(0, truth.label.astype(numpy.int64))
    key = key_of(*(numpy.concatenate(pair) for pair in zip(row_key, true_key)))
    tolerance = clock.tolerance
    sides = [(truth.send_before - clock.origin - tolerance, truth.send_after - clock.origin + tolerance),
             (truth.post_before - clock.origin - tolerance, truth.post_after - clock.origin + tolerance),
             (truth.wait_before - clock.origin - tolerance, truth.wait_after - clock.origin + tolerance)]
    n = len(rows)
    order = numpy.lexsort((numpy.r_[numpy.ones(n), numpy.zeros(len(truth))], numpy.r_[begin, sides[0][0]], key))
    is_row = order < n
    sorted_truth = order[~is_row] - n
    last = numpy.empty(n, numpy.int64)  # place in sorted_truth of the last message that began before the row
    last[order[is_row]] = (numpy.cumsum(~is_row) - 1)[is_row]
    found, used, row_key, true_key = numpy.full(n, -1), numpy.zeros(len(truth), bool), key[:n], key[n:]
    for back in range(64):
        open_rows = numpy.flatnonzero((found < 0) & (last - back >= 0))
        at = sorted_truth[last[open_rows] - back]
        received = (sides[1][0][at] <= post[open_rows]) & (post[open_rows] <= sides[1][1][at])
        if unseen_posts:
            for time in (wait[open_rows], end[open_rows]):  # of a loop of polls the truth is the last, the wait is all
                received |= (sides[2][0][at] <= time) & (time <= sides[2][1][at])
            received |= truth.done[at] == UNSEEN
        fits = (true_key[at] == row_key[open_rows]) & ~used[at] & (begin[open_rows] <= sides[0][1][at]) & received
        _, first = numpy.unique(at[fits], return_index=True)
        taken = open_rows[fits][first]
        found[taken] = at[fits][first]
        used[found[taken]] = True
    return found


def labels_of_communicators(rows, truth, found, differences):
    """The label that each communicator id stands for. Ids and labels belong together one to one."""
    label_of_comm = {}
    known = found >= 0
    for comm in numpy.unique(rows.comm).tolist():
        labels, count = numpy.unique(truth.label[found[known & (rows.comm == comm)]], return_counts=True)
        label_of_comm[comm] = int(labels[count.argmax()]) if len(labels) else 0
    seen = {}
    for comm, label in label_of_comm.items():
        if label in seen:
            differences.append(f"communicator {label}: two ids, {seen[label]:#x} and {comm:#x}")
        seen[label] = comm
    return label_of_comm


def compare(rows, oracle, monotonic=False, required=None, may_miss=0):
    """A list of differences, empty when every stored pair is the oracle's. required: messages that must be stored, but
    for so many; None: all, then every posting was recorded."""
    differences = []
    truth = oracle.all
    if not len(rows) and required is not None and required.sum() <= may_miss:
        return differences  # nothing stored, and nothing asked for
    clock = Clock(rows, oracle, monotonic)
    label_of_comm = labels_of_communicators(rows, truth, find(rows, truth, clock, required is not None), differences)
    found = find(rows, truth, clock, required is not None, label_of_comm)
    for row in numpy.flatnonzero(found < 0)[:MOST]:
        differences.append("stored, but not so: " + describe(rows, row) + explain(rows, row, truth, clock))
    missing = numpy.ones(len(truth), bool) if required is None else required.copy()
    missing[found[found >= 0]] = False
    if missing.sum() <= may_miss:
        missing[:] = False
    for at in numpy.flatnonzero(missing)[:MOST]:
        differences.append(f"not stored: {describe(truth, at)} how {truth.send_how[at]} {truth.how[at]} "
                           f"at {truth.send_before[at] - clock.origin}")
    for comm, label in label_of_comm.items():
        users = set(rows.source[rows.comm == comm].tolist()) | set(rows.destination[rows.comm == comm].tolist())
        if not users <= oracle.members.get(label, set()):
            differences.append(f"communicator {comm:#x} ({label}) is used by {sorted(users)}")
    more = max(0, int((found < 0).sum()) - MOST) + max(0, int(missing.sum()) - MOST)
    return differences + ([f"and {more} more"] if more else [])


def places(side, time, ranks):
    """For each entry: the first and the last place of its time among those of its rank, as numbers unique over
    ranks."""
    first, last, begin = numpy.empty(len(time), numpy.int64), numpy.empty(len(time), numpy.int64), 0
    for rank in range(ranks):
        at = numpy.flatnonzero(side == rank)
        sorted_times = numpy.sort(time[at])
        first[at] = begin + numpy.searchsorted(sorted_times, time[at], side="left")
        last[at] = begin + numpy.searchsorted(sorted_times, time[at], side="right") - 1
        begin += len(at)
    return first, last


def compare_by_order(rows, oracle):
    """For clocks that are no straight line (several nodes), when everything was recorded and no rank has several
    threads: the k-th send of a rank is the oracle's k-th, the k-th posted receive likewise; a row is right when both
    are one message."""
    truth = oracle.all
    if len(rows) != len(truth):
        return [f"{len(rows)} rows, {len(truth)} messages"]
    sent_first, sent_last = places(rows.source, rows.send_begin, oracle.ranks)
    got_first, got_last = places(rows.destination, rows.recv_post, oracle.ranks)
    send_place = numpy.lexsort((truth.send_before, truth.source)).argsort()
    post_place = numpy.lexsort((truth.post_before, truth.destination)).argsort()
    by_send = numpy.empty(len(truth), numpy.int64)
    by_send[send_place] = numpy.arange(len(truth))
    differences = []
    for row in range(len(rows)):
        for at in by_send[sent_first[row]:sent_last[row] + 1].tolist():
            same = all(getattr(rows, name)[row] == getattr(truth, name)[at]
                       for name in ("source", "destination", "tag", "bytes"))
            if same and got_first[row] <= post_place[at] <= got_last[row]:
                break
        else:
            differences.append("stored, but not so: " + describe(rows, row))
    return differences[:MOST] + ([f"and {len(differences) - MOST} more"] if len(differences) > MOST else [])


def explain(rows, row, truth, clock):
    """Which message was sent at the row's send_begin, and which one the receive posted at its recv_post took."""
    same = ((truth.source == rows.source[row]) & (truth.destination == rows.destination[row]) &
            (truth.tag == rows.tag[row]))
    begin, post = clock.ticks(rows.send_begin)[row] + clock.origin, clock.ticks(rows.recv_post)[row] + clock.origin
    words = []
    for side, time, before, after in (("send", begin, truth.send_before, truth.send_after),
                                      ("receive", post, truth.post_before, truth.post_after)):
        at = numpy.flatnonzero(same & (before - clock.tolerance <= time) & (time <= after + clock.tolerance))
        words += [f"; {side} at {time - clock.origin:.0f}: message {i} of {truth.bytes[i]} bytes (intervals: sent "
                  f"{truth.interval[i]}, posted {truth.posted[i]}, done {truth.done[i]}; "
                  f"how {truth.send_how[i]} {truth.how[i]})"
                  for i in at[:3]] or [f"; {side} at {time - clock.origin:.0f}: none"]
    return "".join(words)


def describe(table, row):
    return " ".join(f"{name} {getattr(table, name)[row]}" for name in ("source", "destination", "tag", "bytes"))
