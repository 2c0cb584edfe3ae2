"""The rules of numbers in a record (interpose/record/FORMAT.md), checked on whatever a test reads: per process each
send and each posted receive has a number, dense from 0, once; a receive ends once at most; a communicator's
collectives are numbered without gaps. job.launch() does it with every record; where rings are read otherwise:
check()."""

import collections

NUMBER = (1 << 40) - 1  # the lower part of the ordinal of sends and receives; above: how many began meanwhile
ENDS = ("recv_done", "recv_cancelled", "recv_freed")
MOST = 5  # numbers told of one kind of problem


class Process:
    """Of the events of all its threads: what numbers were used for."""

    def __init__(self, events):
        self.sends, self.lost = collections.Counter(), {False: [], True: []}
        self.posts, self.ends = collections.defaultdict(list), collections.defaultdict(list)
        self.collectives = collections.defaultdict(collections.Counter)
        self.exact = True  # nothing is missing that no later event tells of
        self.muted = False
        for e in events:
            number = e.ordinal & NUMBER
            if e.kind == "send":
                self.sends[number] += 1
            elif e.kind == "recv_post":
                self.posts[number].append(e)
            elif e.kind in ENDS:
                self.ends[number].append(e)
            elif e.kind == "lost_number":
                self.lost["of_receives" in e.flags].append((e.ordinal, e.bytes))
            elif e.kind == "collective":
                self.collectives[e.comm][e.ordinal] += 1
            elif e.kind == "lost":
                self.muted = True
                self.exact &= "summarised" in e.flags

    def lost_numbers(self, of_receives):
        return [n for first, count in self.lost[of_receives] for n in range(first, first + count)]

    def open_receives(self):
        """Numbers of posted receives without an end."""
        return sorted(n for n in self.posts if n not in self.ends)


def some(numbers):
    told = ", ".join(str(n) for n in sorted(numbers)[:MOST])
    return told + (f" and {len(numbers) - MOST} more" if len(numbers) > MOST else "")


def not_dense(what, counts, whole):
    """`counts`: how often each number was used. `whole`: gaps are problems as well."""
    problems = []
    if twice := [n for n, count in counts.items() if count > 1]:
        problems.append(f"{what} used twice: {some(twice)}")
    if whole and (missing := set(range(max(counts, default=-1) + 1)) - set(counts)):
        problems.append(f"{what} missing: {some(missing)} of {len(counts) + len(missing)}")
    return problems


def wrong_receive(posts, ends):
    """What is wrong with the events of one number, or None."""
    if len(ends) > 1:
        return "ended twice"
    first = [p for p in posts if "entered" in p.flags]
    rest = [p for p in posts if "entered" not in p.flags]
    if len(first) > 1 or len(rest) > 1 or (first and rest and "matched_probe" not in rest[0].flags):
        return "posted twice"
    for e in ends:
        if posts and e.kind == "recv_done" and "posted" not in e.flags:
            return "posted, and then complete as if it were not"
        if not posts and (e.kind == "recv_freed" or "posted" in e.flags):
            return "ended without a post"
        if not posts and e.kind == "recv_cancelled" and "failed" not in e.flags:
            return "cancelled without a post"
    return None


def problems_of(process, whole=True, collectives=True):
    """`whole`: the process ended in MPI_Finalize and everything was read."""
    whole = whole and process.exact
    sends = process.sends + collections.Counter(process.lost_numbers(False))
    found = not_dense("numbers of sends", sends, whole)
    lost = collections.Counter(process.lost_numbers(True))
    used = set(process.posts) | set(process.ends)
    found += not_dense("numbers of receives", lost + collections.Counter(used), whole)
    wrong = collections.defaultdict(list)
    for number in used:
        if what := wrong_receive(process.posts[number] if number in process.posts else [],
                                 process.ends[number] if number in process.ends else []):
            if whole or "without" not in what:
                wrong[what].append(number)
    found += [f"receives {what}: {some(numbers)}" for what, numbers in sorted(wrong.items())]
    for comm, counts in process.collectives.items():
        found += not_dense(f"collectives of communicator {comm:x}", counts,
                           whole and collectives and not process.muted)
    return found


def check(processes, whole=True, collectives=True):
    """`processes`: {rank: events of all its threads}. Raises AssertionError with short lines. `collectives=False`: some
    failed after they were numbered and left no event."""
    found = [f"rank {rank}: {line}" for rank, events in sorted(processes.items())
             for line in problems_of(Process(events), whole, collectives)]
    if found:
        raise AssertionError("\n".join(["numbers in the record:"] + found[:4 * MOST]))


def check_segments(segments, **how):
    """Those that launch() found. A process that did not reach MPI_Finalize, or could not write its last summary, may
    leave gaps; and where rings were emptied meanwhile, only their last events are seen here."""
    ranks = collections.defaultdict(list)
    for segment in segments:
        ranks[segment.rank].append(segment)
    for rank, own in sorted(ranks.items()):
        events = [e for s in own for e in s.events]
        told = sum(e.ordinal for e in events if e.kind == "lost")
        whole = all(s.state == 2 and s.written == len(s.events) for s in own) and sum(s.dropped for s in own) == told
        check({rank: events}, whole, **how)
